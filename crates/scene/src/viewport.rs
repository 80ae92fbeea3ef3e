//! The part of the log's time that is in view, and how zooming and panning
//! change it.

use eventlog::ids::Nanos;
use model::time::Interval;

/// A view on the time axis. Times are f64 nanoseconds here, exact up to 104
/// days, so that a gesture can move by less than a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    place: Place,
    width_px: f64,
    log: Interval,
    /// From when to when another log goes that is shown beside this one, on the
    /// axis of this one: maybe from before its zero.
    beside_ns: Option<(f64, f64)>,
}

/// Which times are in view, for another view to show the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The time at the left edge, in nanoseconds.
    pub start_ns: f64,
    /// Nanoseconds in a pixel.
    pub ns_per_px: f64,
}

/// An end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where it begins.
    First,
    /// Where it ends.
    Last,
}

/// The deepest zoom: a nanosecond is 20 pixels wide.
const MIN_NS_PER_PX: f64 = 0.05;
/// How much of the view may lie beyond the log's ends when all is shown.
const MARGIN: f64 = 0.02;

impl Viewport {
    /// Shows all of a log.
    #[must_use]
    pub fn new(log: Interval, width_px: f64) -> Self {
        let mut view = Self {
            place: Place {
                start_ns: 0.0,
                ns_per_px: 1.0,
            },
            width_px: width_px.max(1.0),
            log,
            beside_ns: None,
        };
        view.fit();
        view
    }

    /// From when to when there is something to see: the log, and the one beside it.
    fn reach_ns(&self) -> (f64, f64) {
        let (start, end) = (self.log.start().0 as f64, self.log.end().0 as f64);
        let (first, last) = self.beside_ns.unwrap_or((start, end));
        (start.min(first), end.max(last))
    }

    /// From when to when the log has nothing while the one beside it goes on: before its
    /// begin, and after its end.
    pub fn beyond_ns(&self) -> impl Iterator<Item = (End, f64, f64)> + use<> {
        let (start, end) = (self.log.start().0 as f64, self.log.end().0 as f64);
        let (first, last) = self.beside_ns.unwrap_or((start, end));
        let ends = [
            (End::First, first, start.min(last)),
            (End::Last, end.max(first), last),
        ];
        ends.into_iter().filter(|(_, from, to)| from < to)
    }

    /// How long that is.
    fn length_ns(&self) -> f64 {
        let (start, end) = self.reach_ns();
        (end - start).max(1.0)
    }

    fn max_ns_per_px(&self) -> f64 {
        (self.length_ns() * (1.0 + 2.0 * MARGIN) / self.width_px).max(MIN_NS_PER_PX)
    }

    /// The log's span.
    #[must_use]
    pub const fn log(&self) -> Interval {
        self.log
    }

    /// Pixels.
    #[must_use]
    pub const fn width_px(&self) -> f64 {
        self.width_px
    }

    /// Nanoseconds in a pixel.
    #[must_use]
    pub const fn ns_per_px(&self) -> f64 {
        self.place.ns_per_px
    }

    /// Which times are in view.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// Nanoseconds from edge to edge.
    #[must_use]
    pub fn width_ns(&self) -> f64 {
        self.place.ns_per_px * self.width_px
    }

    /// Whether all that there is to see is in view.
    #[must_use]
    pub(crate) fn is_fit(&self) -> bool {
        self.place.ns_per_px >= self.max_ns_per_px() * 0.999
    }

    /// The time in view, rounded outwards to whole nanoseconds and never
    /// beyond the times that there are.
    #[must_use]
    pub fn span(&self) -> Interval {
        let start = self.place.start_ns.max(0.0).floor();
        let end = (self.place.start_ns + self.width_ns())
            .max(start + 1.0)
            .ceil();
        Interval::new(Nanos(start as u64), Nanos(end as u64))
    }

    /// The time in view; `None` if that is all of the log.
    #[must_use]
    pub fn visible(&self) -> Option<Interval> {
        (!self.is_fit()).then(|| self.span())
    }

    /// Where a time stands, in pixels from the left edge.
    #[must_use]
    pub fn x_of(&self, time: Nanos) -> f64 {
        (time.0 as f64 - self.place.start_ns) / self.place.ns_per_px
    }

    /// From when to when the view goes that shows all that there is to see.
    #[must_use]
    pub fn all_ns(&self) -> (f64, f64) {
        let ((start, end), margin) = (self.reach_ns(), self.length_ns() * MARGIN);
        (start - margin, end.max(start + 1.0) + margin)
    }

    /// Where in that view a time in nanoseconds stands: 0 at its left edge, 1 at its right edge.
    #[must_use]
    pub fn part_of_all(&self, time_ns: f64) -> f64 {
        let (start, end) = self.all_ns();
        (time_ns - start) / (end - start)
    }

    /// The time in nanoseconds at such a part.
    #[must_use]
    pub fn at_part_ns(&self, part: f64) -> f64 {
        let (start, end) = self.all_ns();
        start + part.clamp(0.0, 1.0) * (end - start)
    }

    /// The times in view, to the fraction of a nanosecond and also before zero.
    #[must_use]
    pub fn edges_ns(&self) -> (f64, f64) {
        let start_ns = self.place.start_ns;
        (start_ns, start_ns + self.width_ns())
    }

    /// The time at a pixel, inside the log.
    #[must_use]
    pub fn time_at(&self, x: f64) -> Nanos {
        let time = self.place.start_ns + x * self.place.ns_per_px;
        let time = time.clamp(self.log.start().0 as f64, self.log.end().0 as f64);
        Nanos(time.round() as u64)
    }

    /// Shows all that there is to see.
    pub fn fit(&mut self) {
        self.place = Place {
            start_ns: self.reach_ns().0 - self.length_ns() * MARGIN,
            ns_per_px: self.max_ns_per_px(),
        };
        self.clamp();
    }

    /// Shows what another view shows.
    pub fn show_place(&mut self, place: Place) {
        self.place = place;
        self.clamp();
    }

    /// Brings a time in nanoseconds into the middle.
    pub fn centre_ns(&mut self, time_ns: f64) {
        self.place.start_ns = time_ns - self.width_ns() / 2.0;
        self.clamp();
    }

    /// Another log is shown beside this one, from when to when on this axis; or none is
    /// any more. What is in view stays, unless all was.
    pub fn set_beside(&mut self, beside_ns: Option<(f64, f64)>) {
        let fit = self.is_fit();
        self.beside_ns = beside_ns;
        if fit {
            self.fit();
        } else {
            self.clamp();
        }
    }

    /// Shows a range, with a little room at its sides.
    pub fn show(&mut self, range: Interval) {
        let ns = (range.duration().0 as f64).max(1.0);
        self.place.ns_per_px = ns * 1.1 / self.width_px;
        self.place.start_ns = range.start().0 as f64 - ns * 0.05;
        self.clamp();
    }

    /// Shows exactly a range: how a link is restored.
    pub fn show_exactly(&mut self, range: Interval) {
        self.place.ns_per_px = (range.duration().0 as f64).max(1.0) / self.width_px;
        self.place.start_ns = range.start().0 as f64;
        self.clamp();
    }

    /// Makes everything `factor` times as wide; what is at pixel `x` stays there.
    pub fn zoom(&mut self, factor: f64, x: f64) {
        let time = self.place.start_ns + x * self.place.ns_per_px;
        self.place.ns_per_px =
            (self.place.ns_per_px / factor).clamp(MIN_NS_PER_PX, self.max_ns_per_px());
        self.place.start_ns = time - x * self.place.ns_per_px;
        self.clamp();
    }

    /// Moves the view to the right by so many pixels.
    pub fn pan(&mut self, px: f64) {
        self.place.start_ns += px * self.place.ns_per_px;
        self.clamp();
    }

    /// The window has another width: the time in view stays.
    pub fn resize(&mut self, width_px: f64) {
        let (fit, width_ns) = (self.is_fit(), self.width_ns());
        self.width_px = width_px.max(1.0);
        self.place.ns_per_px = width_ns / self.width_px;
        if fit {
            self.fit();
        } else {
            self.clamp();
        }
    }

    /// More of the log is known: what is in view stays, unless all was.
    pub fn set_log(&mut self, log: Interval) {
        let fit = self.is_fit();
        self.log = log;
        if fit {
            self.fit();
        } else {
            self.clamp();
        }
    }

    fn clamp(&mut self) {
        self.place.ns_per_px = self
            .place
            .ns_per_px
            .clamp(MIN_NS_PER_PX, self.max_ns_per_px());
        let (start, end) = self.reach_ns();
        let margin = self.length_ns().min(self.width_ns()) * MARGIN;
        let first = start - margin;
        let last = (end + margin - self.width_ns()).max(first);
        self.place.start_ns = self.place.start_ns.clamp(first, last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log() -> Interval {
        Interval::new(Nanos(1_000), Nanos(9_000_000))
    }

    #[test]
    fn fit_shows_all_with_a_margin() {
        let view = Viewport::new(log(), 800.0);
        assert!(view.is_fit());
        assert!(view.x_of(log().start()) > 0.0 && view.x_of(log().end()) < 800.0);
    }

    #[test]
    fn a_moment_of_the_whole_log_stands_where_it_stands_in_small() {
        let view = Viewport::new(log(), 800.0);
        for time in [1_000, 70_000, 4_000_000, 9_000_000] {
            let x = view.x_of(Nanos(time));
            assert!((view.part_of_all(time as f64) * 800.0 - x).abs() < 1e-6);
            assert!((view.at_part_ns(x / 800.0) - time as f64).abs() < 1e-3);
        }
    }

    #[test]
    fn another_width_has_the_same_time_in_view() {
        let mut view = Viewport::new(log(), 800.0);
        view.show_exactly(Interval::new(Nanos(2_000_000), Nanos(3_000_000)));
        let before = view;
        view.resize(300.0);
        assert_eq!(view.span(), before.span());
        view.resize(800.0);
        assert_eq!(view.span(), before.span());
    }

    #[test]
    fn with_another_log_beside_it_all_of_both_is_seen() {
        let mut view = Viewport::new(log(), 800.0);
        view.set_beside(Some((-2_000_000.0, 12_000_000.0)));
        assert!(view.is_fit());
        let (start, end) = view.edges_ns();
        assert!(start < -2_000_000.0 && end > 12_000_000.0);
        // The other log has its own axis, half a second later.
        let shift = 500_000_000.0;
        let mut other = Viewport::new(Interval::new(Nanos(498_000_000), Nanos(512_000_000)), 800.0);
        other.set_beside(Some((shift + 1_000.0, shift + 9_000_000.0)));
        for (pan, factor) in [(-500.0, 3.0), (90.0, 7.0), (4000.0, 0.001), (-9000.0, 40.0)] {
            view.pan(pan);
            view.zoom(factor, 300.0);
            let Place {
                start_ns,
                ns_per_px,
            } = view.place();
            other.show_place(Place {
                start_ns: start_ns + shift,
                ns_per_px,
            });
            let apart = other.place().start_ns - shift - start_ns;
            assert!(apart.abs() < 0.01, "{apart}");
        }
        view.fit();
        view.set_beside(None);
        assert!(view.is_fit() && view.edges_ns().0 > -1_000_000.0);
    }

    proptest! {
        #[test]
        fn zoom_keeps_the_time_under_the_pointer(x in 100.0f64..700.0, factor in 1.01f64..50.0) {
            let mut view = Viewport::new(log(), 800.0);
            let before = view.time_at(x);
            view.zoom(factor, x);
            prop_assert!((view.x_of(before) - x).abs() * view.ns_per_px() <= 1.0);
        }

        #[test]
        fn any_gestures_stay_inside_the_log(gestures in prop::collection::vec((-2000.0f64..2000.0, 0.01f64..100.0), 0..40)) {
            let mut view = Viewport::new(log(), 800.0);
            for (pan, factor) in gestures {
                view.pan(pan);
                view.zoom(factor, pan.abs() % 800.0);
                let span = view.span();
                prop_assert!(span.start() < span.end());
                prop_assert!(span.end() >= log().start() && span.start() <= log().end());
                prop_assert!(view.ns_per_px() >= MIN_NS_PER_PX);
            }
        }
    }
}
