//! The bytes of a box over time, as an area below the axis of the timeline.

use std::fmt::Write;

use super::super::chart::value_ticks;
use super::super::format;
use crate::flame::area::FlameArea;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Where the numbers of an area are in a picture.
#[derive(Clone, Copy, Debug)]
pub struct AreaPlot<'a> {
    area: &'a FlameArea,
    /// The time that is as wide as the picture.
    span: Interval,
    /// Width and height, in CSS pixels.
    size: (f64, f64),
    /// Bytes at the upper edge.
    max: f64,
}

impl<'a> AreaPlot<'a> {
    /// An area in a picture of that size.
    #[must_use]
    pub fn new(area: &'a FlameArea, span: Interval, size: (f64, f64)) -> Self {
        let most = area.total.iter().copied().fold(0.0, f64::max);
        let max = value_ticks(most, 4).last().copied().unwrap_or(1.0);
        Self {
            area,
            span,
            size,
            max,
        }
    }

    /// How many censuses are drawn.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.area.time.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.area.time.is_empty()
    }

    /// The bytes at the upper edge.
    #[must_use]
    pub fn max_text(&self) -> String {
        format::bytes(self.max as u64)
    }

    /// When a census was.
    #[must_use]
    pub fn time(&self, index: usize) -> Option<Nanos> {
        self.area.time.get(index).map(|&time| Nanos(time as u64))
    }

    /// Where a moment is, in pixels; those outside are at the edge.
    #[must_use]
    pub fn x(&self, moment: Nanos) -> f64 {
        let from_start = self.span.nearest(moment).since(self.span.start()).0 as f64;
        from_start / (self.span.duration().0 as f64).max(1.0) * self.size.0
    }

    fn y(&self, bytes: f64) -> f64 {
        self.size.1 - (bytes / self.max.max(1.0)).clamp(0.0, 1.0) * self.size.1
    }

    /// The census that is nearest to a place.
    #[must_use]
    pub fn nearest(&self, x: f64) -> Option<usize> {
        let part = (x / self.size.0.max(1.0)).clamp(0.0, 1.0);
        let at = self.span.start().0 as f64 + part * self.span.duration().0 as f64;
        let after = self.area.time.partition_point(|&time| time < at);
        let before = after.checked_sub(1);
        let distance = |index: &usize| {
            let time = self.area.time.get(*index);
            time.map_or(f64::INFINITY, |time| (time - at).abs())
        };
        let near = before.into_iter().chain([after]);
        near.filter(|&index| index < self.len())
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// The outline of all bytes of the box, as a path of SVG.
    #[must_use]
    pub fn total(&self) -> String {
        self.outline(&self.area.total)
    }

    /// The outline of the bytes of the box itself.
    #[must_use]
    pub fn own(&self) -> String {
        self.outline(&self.area.own)
    }

    /// Straight lines between censuses: in between nothing is known. A single
    /// census is a bar.
    fn outline(&self, bytes: &[f64]) -> String {
        const BAR_PX: f64 = 1.5;
        let mut path = String::new();
        let places: Vec<f64> = (0..self.len())
            .filter_map(|index| self.time(index))
            .map(|time| self.x(time))
            .collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return path;
        };
        // Writing to a text cannot fail.
        let bottom = self.size.1;
        if places.len() == 1 {
            let y = self.y(bytes.first().copied().unwrap_or(0.0));
            let (left, right) = (first - BAR_PX, first + BAR_PX);
            let _ = write!(
                path,
                "M{left:.1} {bottom:.1}V{y:.1}H{right:.1}V{bottom:.1}Z"
            );
            return path;
        }
        let _ = write!(path, "M{first:.1} {bottom:.1}");
        for (x, &bytes) in places.iter().zip(bytes) {
            let _ = write!(path, "L{x:.1} {:.1}", self.y(bytes));
        }
        let _ = write!(path, "L{last:.1} {bottom:.1}Z");
        path
    }

    /// What the box had at a census: `12 MiB, 1 MiB itself`.
    #[must_use]
    pub fn words(&self, index: usize) -> Option<String> {
        let (total, own) = (self.area.total.get(index)?, self.area.own.get(index)?);
        let text = |bytes: f64| format::bytes(bytes as u64);
        Some(format!("{}, {} itself", text(*total), text(*own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area(times: &[f64]) -> FlameArea {
        FlameArea {
            time: times.to_vec(),
            total: times.iter().map(|time| time + 2.0).collect(),
            own: times.to_vec(),
            ..FlameArea::default()
        }
    }

    #[test]
    fn an_area_goes_there_and_back() {
        let area = area(&[0.0, 10.0, 18.0]);
        let plot = AreaPlot::new(&area, Interval::new(Nanos(0), Nanos(20)), (40.0, 20.0));
        assert_eq!(
            plot.total(),
            "M0.0 20.0L0.0 18.0L20.0 8.0L36.0 0.0L36.0 20.0Z"
        );
        assert_eq!(
            plot.own(),
            "M0.0 20.0L0.0 20.0L20.0 10.0L36.0 2.0L36.0 20.0Z"
        );
        let words = plot.words(1).unwrap_or_default();
        assert_eq!(words.replace(format::NBSP, " "), "12 B, 10 B itself");
        assert_eq!(plot.words(3), None);
        let none = FlameArea::default();
        let few = AreaPlot::new(&none, Interval::default(), (40.0, 20.0));
        assert_eq!((few.total(), few.nearest(3.0)), (String::new(), None));
    }

    proptest! {
        /// The census that is named is the one that is nearest in the picture.
        #[test]
        fn the_nearest_is_near(mut times in prop::collection::vec(0..1000_u64, 1..20), x in 0.0..300.0) {
            times.sort_unstable();
            let area = area(&times.iter().map(|&time| time as f64).collect::<Vec<_>>());
            let plot = AreaPlot::new(&area, Interval::new(Nanos(0), Nanos(1000)), (300.0, 20.0));
            let far = |index: usize| f64::abs(plot.x(plot.time(index).unwrap()) - x);
            let found = plot.nearest(x).unwrap();
            prop_assert!((0..times.len()).all(|index| far(found) <= far(index) + 1e-9));
        }
    }
}
