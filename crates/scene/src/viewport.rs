//! The visible part of the time of a log, with zooming and panning.

use eventlog::ids::Nanos;
use model::time::Interval;

/// A view of the time axis. Times are `f64` nanoseconds, exact up to 104 days, so that gestures can move by less
/// than a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    position: ViewPosition,
    width_px: f64,
    log: Interval,
    /// Start and end of another log shown next to this one, on the axis of this one; may be negative.
    other_log_ns: Option<(f64, f64)>,
}

/// Position and scale of a view, to show the same in another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewPosition {
    /// Time at the left edge, in nanoseconds.
    pub start_ns: f64,
    /// Nanoseconds per pixel.
    pub ns_per_px: f64,
}

/// An end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEnd {
    /// The start of the log.
    First,
    /// The end of the log.
    Last,
}

/// Scale of the deepest zoom: a nanosecond is 20 pixels wide.
const MIN_NS_PER_PX: f64 = 0.05;
/// Margin beyond each end of the log when all is shown, relative to its length.
const MARGIN: f64 = 0.02;

impl Viewport {
    /// Creates a view of the whole log.
    pub fn new(log: Interval, width_px: f64) -> Self {
        let mut view = Self {
            position: ViewPosition {
                start_ns: 0.0,
                ns_per_px: 1.0,
            },
            width_px: width_px.max(1.0),
            log,
            other_log_ns: None,
        };
        view.fit();
        view
    }

    /// Returns the start and end of the log and the other one together.
    fn reach_ns(&self) -> (f64, f64) {
        let (start, end) = (self.log.start().0 as f64, self.log.end().0 as f64);
        let (first, last) = self.other_log_ns.unwrap_or((start, end));
        (start.min(first), end.max(last))
    }

    /// Returns the stretches outside of the log in which the other one goes on, before the start and after the
    /// end.
    pub fn beyond_ns(&self) -> impl Iterator<Item = (LogEnd, f64, f64)> + use<> {
        let (start, end) = (self.log.start().0 as f64, self.log.end().0 as f64);
        let (first, last) = self.other_log_ns.unwrap_or((start, end));
        let ends = [
            (LogEnd::First, first, start.min(last)),
            (LogEnd::Last, end.max(first), last),
        ];
        ends.into_iter().filter(|(_, from, to)| from < to)
    }

    /// Returns the length of the log and the other one together.
    fn length_ns(&self) -> f64 {
        let (start, end) = self.reach_ns();
        (end - start).max(1.0)
    }

    fn max_ns_per_px(&self) -> f64 {
        (self.length_ns() * (1.0 + 2.0 * MARGIN) / self.width_px).max(MIN_NS_PER_PX)
    }

    /// Returns the interval of the log.
    pub const fn log(&self) -> Interval {
        self.log
    }

    /// Returns the width of the view in pixels.
    pub const fn width_px(&self) -> f64 {
        self.width_px
    }

    /// Returns the scale in nanoseconds per pixel.
    pub const fn ns_per_px(&self) -> f64 {
        self.position.ns_per_px
    }

    /// Returns the position and scale of the view.
    pub const fn position(&self) -> ViewPosition {
        self.position
    }

    /// Returns the width of the view in nanoseconds.
    pub fn width_ns(&self) -> f64 {
        self.position.ns_per_px * self.width_px
    }

    /// Returns whether everything is in view.
    pub(crate) fn is_fit(&self) -> bool {
        self.position.ns_per_px >= self.max_ns_per_px() * 0.999
    }

    /// Returns the visible interval, rounded outward to whole nanoseconds and cut off at 0.
    pub fn span(&self) -> Interval {
        let start = self.position.start_ns.max(0.0).floor();
        let end = (self.position.start_ns + self.width_ns())
            .max(start + 1.0)
            .ceil();
        Interval::new(Nanos(start as u64), Nanos(end as u64))
    }

    /// Returns the visible interval; `None` if everything is in view.
    pub fn visible(&self) -> Option<Interval> {
        (!self.is_fit()).then(|| self.span())
    }

    /// Returns the position of a time in pixels from the left edge.
    pub fn x_of(&self, time: Nanos) -> f64 {
        (time.0 as f64 - self.position.start_ns) / self.position.ns_per_px
    }

    /// Returns the start and end of the view that shows everything, with its margins, in nanoseconds.
    pub fn all_ns(&self) -> (f64, f64) {
        let ((start, end), margin) = (self.reach_ns(), self.length_ns() * MARGIN);
        (start - margin, end.max(start + 1.0) + margin)
    }

    /// Returns the position of a time within the view of everything: 0 at its left edge, 1 at its right edge.
    pub fn part_of_all(&self, time_ns: f64) -> f64 {
        let (start, end) = self.all_ns();
        (time_ns - start) / (end - start)
    }

    /// Returns the time in nanoseconds at a position from 0 to 1 within the view of everything.
    pub fn at_part_ns(&self, part: f64) -> f64 {
        let (start, end) = self.all_ns();
        start + part.clamp(0.0, 1.0) * (end - start)
    }

    /// Returns the times at the edges in nanoseconds, not rounded and possibly negative.
    pub fn edges_ns(&self) -> (f64, f64) {
        let start_ns = self.position.start_ns;
        (start_ns, start_ns + self.width_ns())
    }

    /// Returns the time at a pixel, clamped to the log.
    pub fn time_at(&self, x: f64) -> Nanos {
        let time = self.position.start_ns + x * self.position.ns_per_px;
        let time = time.clamp(self.log.start().0 as f64, self.log.end().0 as f64);
        Nanos(time.round() as u64)
    }

    /// Zooms out to show everything.
    pub fn fit(&mut self) {
        self.position = ViewPosition {
            start_ns: self.reach_ns().0 - self.length_ns() * MARGIN,
            ns_per_px: self.max_ns_per_px(),
        };
        self.clamp();
    }

    /// Sets position and scale, clamped to the limits.
    pub fn show_position(&mut self, position: ViewPosition) {
        self.position = position;
        self.clamp();
    }

    /// Centers the view at a time in nanoseconds.
    pub fn center_ns(&mut self, time_ns: f64) {
        self.position.start_ns = time_ns - self.width_ns() / 2.0;
        self.clamp();
    }

    /// Sets or removes the other log, by its start and end on this axis. Keeps the view, unless everything was in
    /// view.
    pub fn set_other_log(&mut self, other_log_ns: Option<(f64, f64)>) {
        let fit = self.is_fit();
        self.other_log_ns = other_log_ns;
        if fit {
            self.fit();
        } else {
            self.clamp();
        }
    }

    /// Zooms to a range with a small margin.
    pub fn show(&mut self, range: Interval) {
        let ns = (range.duration().0 as f64).max(1.0);
        self.position.ns_per_px = ns * 1.1 / self.width_px;
        self.position.start_ns = range.start().0 as f64 - ns * 0.05;
        self.clamp();
    }

    /// Zooms exactly to a range, to restore a link.
    pub fn show_exactly(&mut self, range: Interval) {
        self.position.ns_per_px = (range.duration().0 as f64).max(1.0) / self.width_px;
        self.position.start_ns = range.start().0 as f64;
        self.clamp();
    }

    /// Zooms in by `factor`, keeping the time at pixel `x` in place.
    pub fn zoom(&mut self, factor: f64, x: f64) {
        let time = self.position.start_ns + x * self.position.ns_per_px;
        self.position.ns_per_px =
            (self.position.ns_per_px / factor).clamp(MIN_NS_PER_PX, self.max_ns_per_px());
        self.position.start_ns = time - x * self.position.ns_per_px;
        self.clamp();
    }

    /// Moves the view right by this number of pixels.
    pub fn pan(&mut self, px: f64) {
        self.position.start_ns += px * self.position.ns_per_px;
        self.clamp();
    }

    /// Changes the width of the view, keeping the visible interval.
    pub fn resize(&mut self, width_px: f64) {
        let (fit, width_ns) = (self.is_fit(), self.width_ns());
        self.width_px = width_px.max(1.0);
        self.position.ns_per_px = width_ns / self.width_px;
        if fit {
            self.fit();
        } else {
            self.clamp();
        }
    }

    /// Updates the interval of the log as more of it is read. Keeps the view, unless everything was in view.
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
        self.position.ns_per_px = self
            .position
            .ns_per_px
            .clamp(MIN_NS_PER_PX, self.max_ns_per_px());
        let (start, end) = self.reach_ns();
        let margin = self.length_ns().min(self.width_ns()) * MARGIN;
        let first = start - margin;
        let last = (end + margin - self.width_ns()).max(first);
        self.position.start_ns = self.position.start_ns.clamp(first, last);
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
        view.set_other_log(Some((-2_000_000.0, 12_000_000.0)));
        assert!(view.is_fit());
        let (start, end) = view.edges_ns();
        assert!(start < -2_000_000.0 && end > 12_000_000.0);
        // The other log has its own axis, shifted by half a second.
        let shift = 500_000_000.0;
        let mut other = Viewport::new(Interval::new(Nanos(498_000_000), Nanos(512_000_000)), 800.0);
        other.set_other_log(Some((shift + 1_000.0, shift + 9_000_000.0)));
        for (pan, factor) in [(-500.0, 3.0), (90.0, 7.0), (4000.0, 0.001), (-9000.0, 40.0)] {
            view.pan(pan);
            view.zoom(factor, 300.0);
            let ViewPosition {
                start_ns,
                ns_per_px,
            } = view.position();
            other.show_position(ViewPosition {
                start_ns: start_ns + shift,
                ns_per_px,
            });
            let apart = other.position().start_ns - shift - start_ns;
            assert!(apart.abs() < 0.01, "{apart}");
        }
        view.fit();
        view.set_other_log(None);
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
