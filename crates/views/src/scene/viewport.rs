//! The part of the log's time that is in view, and how zooming and panning
//! change it.

use eventlog::ids::Nanos;
use model::time::Interval;

/// A view on the time axis. Times are f64 nanoseconds here, exact up to 104
/// days, so that a gesture can move by less than a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    start_ns: f64,
    ns_per_px: f64,
    width_px: f64,
    log: Interval,
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
            start_ns: 0.0,
            ns_per_px: 1.0,
            width_px: width_px.max(1.0),
            log,
        };
        view.fit();
        view
    }

    fn log_ns(&self) -> f64 {
        (self.log.duration().0 as f64).max(1.0)
    }

    fn max_ns_per_px(&self) -> f64 {
        (self.log_ns() * (1.0 + 2.0 * MARGIN) / self.width_px).max(MIN_NS_PER_PX)
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
    pub(crate) const fn ns_per_px(&self) -> f64 {
        self.ns_per_px
    }

    /// Nanoseconds from edge to edge.
    #[must_use]
    pub(crate) fn width_ns(&self) -> f64 {
        self.ns_per_px * self.width_px
    }

    /// Whether all of the log is in view.
    #[must_use]
    pub(crate) fn is_fit(&self) -> bool {
        self.ns_per_px >= self.max_ns_per_px() * 0.999
    }

    /// The time in view, rounded outwards to whole nanoseconds and never
    /// beyond the times that there are.
    #[must_use]
    pub fn span(&self) -> Interval {
        let start = self.start_ns.max(0.0).floor();
        let end = (self.start_ns + self.width_ns()).max(start + 1.0).ceil();
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
        (time.0 as f64 - self.start_ns) / self.ns_per_px
    }

    /// Where in the log a time is: 0 at its start, 1 at its end.
    #[must_use]
    pub(crate) fn part_of_log(&self, time: Nanos) -> f64 {
        (time.0 as f64 - self.log.start().0 as f64) / self.log_ns()
    }

    /// The time at a pixel, inside the log.
    #[must_use]
    pub fn time_at(&self, x: f64) -> Nanos {
        let time = self.start_ns + x * self.ns_per_px;
        let time = time.clamp(self.log.start().0 as f64, self.log.end().0 as f64);
        Nanos(time.round() as u64)
    }

    /// Shows all of the log.
    pub fn fit(&mut self) {
        self.ns_per_px = self.max_ns_per_px();
        self.start_ns = self.log.start().0 as f64 - self.log_ns() * MARGIN;
        self.clamp();
    }

    /// Shows a range, with a little room at its sides.
    pub fn show(&mut self, range: Interval) {
        let ns = (range.duration().0 as f64).max(1.0);
        self.ns_per_px = ns * 1.1 / self.width_px;
        self.start_ns = range.start().0 as f64 - ns * 0.05;
        self.clamp();
    }

    /// Shows exactly a range: how a link is restored.
    pub fn show_exactly(&mut self, range: Interval) {
        self.ns_per_px = (range.duration().0 as f64).max(1.0) / self.width_px;
        self.start_ns = range.start().0 as f64;
        self.clamp();
    }

    /// Makes everything `factor` times as wide; what is at pixel `x` stays there.
    pub fn zoom(&mut self, factor: f64, x: f64) {
        let time = self.start_ns + x * self.ns_per_px;
        self.ns_per_px = (self.ns_per_px / factor).clamp(MIN_NS_PER_PX, self.max_ns_per_px());
        self.start_ns = time - x * self.ns_per_px;
        self.clamp();
    }

    /// Moves the view to the right by so many pixels.
    pub fn pan(&mut self, px: f64) {
        self.start_ns += px * self.ns_per_px;
        self.clamp();
    }

    /// The window has another width: the left edge stays.
    pub fn resize(&mut self, width_px: f64) {
        let fit = self.is_fit();
        self.width_px = width_px.max(1.0);
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
        self.ns_per_px = self.ns_per_px.clamp(MIN_NS_PER_PX, self.max_ns_per_px());
        let margin = self.log_ns().min(self.width_ns()) * MARGIN;
        let first = self.log.start().0 as f64 - margin;
        let last = (self.log.end().0 as f64 + margin - self.width_ns()).max(first);
        self.start_ns = self.start_ns.clamp(first, last);
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
