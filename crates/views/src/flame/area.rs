//! Plot of the bytes of a box over time, as an area on the axis of the timeline.

use std::fmt::Write;

use eventlog::ids::Nanos;
use scene::chart::byte_ticks;
use scene::format;
use scene::viewport::Viewport;
use session::flame::area::FlameArea;

/// Coordinate mapping of an area plot.
#[derive(Clone, Copy, Debug)]
pub struct AreaPlot<'a> {
    area: &'a FlameArea,
    /// Visible time, shared with the timeline.
    view: Viewport,
    height_px: f64,
    /// Bytes at the top edge.
    max: f64,
}

impl<'a> AreaPlot<'a> {
    /// Creates the plot of an area in a picture of this height.
    pub fn new(area: &'a FlameArea, view: Viewport, height_px: f64) -> Self {
        let most = area.total.iter().copied().fold(0.0, f64::max);
        let max = byte_ticks(most, 4).last().copied().unwrap_or(1.0);
        Self {
            area,
            view,
            height_px,
            max,
        }
    }

    /// Returns the number of censuses.
    pub const fn len(&self) -> usize {
        self.area.time.len()
    }

    /// Returns whether there are no censuses.
    pub const fn is_empty(&self) -> bool {
        self.area.time.is_empty()
    }

    /// Formats the bytes at the top edge.
    pub fn max_text(&self) -> String {
        format::bytes(self.max as u64)
    }

    /// Returns the time of a census.
    pub fn time(&self, index: usize) -> Option<Nanos> {
        self.area.time.get(index).map(|&time| Nanos(time as u64))
    }

    /// Returns the horizontal position of a time, in pixels.
    pub fn x(&self, moment: Nanos) -> f64 {
        self.view.x_of(moment)
    }

    fn y(&self, bytes: f64) -> f64 {
        let part = (bytes / self.max.max(1.0)).clamp(0.0, 1.0);
        self.height_px * (1.0 - part)
    }

    /// Returns the visible census nearest to a horizontal position.
    pub fn nearest(&self, x: f64) -> Option<usize> {
        let places = (0..self.len()).filter_map(|index| Some((index, self.x(self.time(index)?))));
        let seen = places.filter(|(_, at)| (-0.5..=self.view.width_px() + 0.5).contains(at));
        let distance = |at: f64| (at - x).abs();
        seen.min_by(|(_, a), (_, b)| distance(*a).total_cmp(&distance(*b)))
            .map(|(index, _)| index)
    }

    /// Returns the outline of all bytes of the box, as an SVG path.
    pub fn total(&self) -> String {
        self.outline(&self.area.total)
    }

    /// Returns the outline of the box's own bytes, as an SVG path.
    pub fn own(&self) -> String {
        self.outline(&self.area.own)
    }

    /// Connects censuses by straight lines, because nothing is known in between. A single census becomes a bar.
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
        // Writing to a string cannot fail.
        let bottom = self.height_px;
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

    /// Describes the bytes of the box at a census: `12 MiB, 1 MiB itself`.
    pub fn words(&self, index: usize) -> Option<String> {
        let (total, own) = (self.area.total.get(index)?, self.area.own.get(index)?);
        let text = |bytes: f64| format::bytes(bytes as u64);
        Some(format!("{}, {} self", text(*total), text(*own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::time::Interval;

    fn area(times: &[f64]) -> FlameArea {
        FlameArea {
            time: times.to_vec(),
            total: times.iter().map(|time| time + 2.0).collect(),
            own: times.to_vec(),
            ..FlameArea::default()
        }
    }

    /// Returns a viewport of a log of this duration, without margins.
    fn view(log_ns: u64, width_px: f64) -> Viewport {
        let log = Interval::new(Nanos(0), Nanos(log_ns));
        let mut view = Viewport::new(log, width_px);
        view.show_exactly(log);
        view
    }

    #[test]
    fn an_area_goes_there_and_back() {
        let area = area(&[0.0, 10.0, 18.0]);
        let plot = AreaPlot::new(&area, view(20, 40.0), 20.0);
        assert_eq!(
            plot.total(),
            "M0.0 20.0L0.0 18.0L20.0 8.0L36.0 0.0L36.0 20.0Z"
        );
        assert_eq!(
            plot.own(),
            "M0.0 20.0L0.0 20.0L20.0 10.0L36.0 2.0L36.0 20.0Z"
        );
        let words = plot.words(1).unwrap_or_default();
        assert_eq!(words.replace(format::NBSP, " "), "12 B, 10 B self");
        assert_eq!(plot.words(3), None);
        let none = FlameArea::default();
        let few = AreaPlot::new(&none, view(20, 40.0), 20.0);
        assert_eq!((few.total(), few.nearest(3.0)), (String::new(), None));
    }

    #[test]
    fn what_is_out_of_view_is_not_pointed_at() {
        let area = area(&[0.0, 10.0, 18.0]);
        let mut part = view(20, 40.0);
        part.show_exactly(Interval::new(Nanos(11), Nanos(20)));
        let plot = AreaPlot::new(&area, part, 20.0);
        assert_eq!(plot.nearest(0.0), Some(2));
        part.show_exactly(Interval::new(Nanos(11), Nanos(17)));
        assert_eq!(AreaPlot::new(&area, part, 20.0).nearest(0.0), None);
    }
}
