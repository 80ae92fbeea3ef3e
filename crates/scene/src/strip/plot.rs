//! Geometry of graphs: stepped outlines, bands, stacks, and scales.

use crate::chart::{byte_ticks, count_ticks, value_ticks};
use crate::gauge::Unit;
use crate::painter::{Paint, Painter, Rect};
use model::sorting::CompactSort;

/// Vertical scale of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Position of 0, in pixels.
    pub bottom: f64,
    /// Height of the top value above the bottom, in pixels.
    height: f64,
    /// Value at the top, a round number.
    pub top: f64,
    /// Round values from 0 to the top.
    pub ticks: Vec<f64>,
    /// Whether there are no values above 0.
    pub is_empty: bool,
}

/// Maximum number of intervals of a scale.
const PARTS: u32 = 4;

impl Plot {
    /// Creates a scale up to a round number of at least `greatest`.
    pub fn new(area: Rect, unit: Unit, greatest: f64) -> Self {
        let ticks = match unit {
            Unit::Bytes | Unit::BytesPerSecond => byte_ticks(greatest, PARTS),
            Unit::Count | Unit::OfCapabilities => count_ticks(greatest.min(1e18) as u64, PARTS),
            Unit::Capabilities | Unit::PerSecond => value_ticks(greatest, PARTS),
        };
        let top = ticks.last().copied().unwrap_or(1.0);
        Self {
            bottom: area.y + area.h - 4.0,
            height: (area.h - 9.0).max(1.0),
            top: if top > 0.0 { top } else { 1.0 },
            ticks,
            is_empty: greatest <= 0.0,
        }
    }

    /// Returns the height of a value above the bottom, in pixels.
    pub fn height_of(&self, value: f64) -> f64 {
        self.height * (value / self.top).clamp(0.0, 1.0)
    }

    /// Returns the vertical position of a value, in pixels.
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - self.height_of(value)
    }
}

/// A rectangle of a stacked series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Left edge in pixels.
    pub left: f64,
    /// Right edge in pixels.
    pub right: f64,
    /// Sum of the series below.
    pub lower: f64,
    /// Sum of the series below and this one.
    pub upper: f64,
}

/// Stacks series of steps (from, to, value). Returns for each series one column per interval between neighboring
/// edges of all series.
pub fn stacked(series: &[Vec<(f64, f64, f64)>]) -> Vec<Vec<Column>> {
    let steps = series.iter().flatten();
    let mut edges: Vec<f64> = steps.flat_map(|&(from, to, _)| [from, to]).collect();
    edges.sort_small_by(f64::total_cmp);
    edges.dedup();
    let mut sums = vec![0.0; edges.len().saturating_sub(1)];
    let mut all = Vec::with_capacity(series.len());
    for steps in series {
        let mut steps = steps.iter().peekable();
        let mut columns = Vec::with_capacity(sums.len());
        for (pair, sum) in edges.windows(2).zip(&mut sums) {
            let (left, right) = (pair[0], pair[1]);
            while steps.next_if(|(_, to, _)| *to <= left).is_some() {}
            let lower = *sum;
            if let Some((from, _, value)) = steps.peek()
                && *from <= left
            {
                *sum += value;
            }
            columns.push(Column {
                left,
                right,
                lower,
                upper: *sum,
            });
        }
        all.push(columns);
    }
    all
}

/// Outline of an area with stepped top above a base line.
#[derive(Debug)]
pub struct Outline {
    bottom: f64,
    points: Vec<(f64, f64)>,
}

impl Outline {
    /// Creates an empty outline above a base line at `bottom`, in pixels.
    pub const fn new(bottom: f64) -> Self {
        Self {
            bottom,
            points: Vec::new(),
        }
    }

    /// Adds a step; all arguments are in pixels, and steps must come from left to right.
    pub fn step(&mut self, left: f64, right: f64, height: f64) {
        let y = self.bottom - height;
        match self.points.last_mut() {
            Some(last) if (last.0 - left).abs() < 0.5 => {
                // A step of equal height extends the previous one.
                if last.1 == y {
                    last.0 = right;
                    return;
                }
            }
            Some(&mut (x, _)) => self.points.extend([(x, self.bottom), (left, self.bottom)]),
            None => self.points.push((left, self.bottom)),
        }
        self.points.extend([(left, y), (right, y)]);
    }

    /// Returns the corners of the outline, as (x, y) in pixels.
    pub fn finish(mut self) -> Vec<(f64, f64)> {
        if let Some(&(x, _)) = self.points.last() {
            self.points.push((x, self.bottom));
        }
        self.points
    }
}

/// A stepped band: a line of varying width, or one series of a stack.
#[derive(Debug, Default)]
pub struct Band {
    /// Left, right, top and bottom of each step.
    steps: Vec<(f64, f64, f64, f64)>,
}

impl Band {
    /// Adds a step; all arguments are in pixels, and steps must come from left to right.
    pub fn step(&mut self, left: f64, right: f64, top: f64, bottom: f64) {
        match self.steps.last_mut() {
            Some(last) if last.1 == left && (last.2, last.3) == (top, bottom) => last.1 = right,
            _ => self.steps.push((left, right, top, bottom)),
        }
    }

    /// Returns the steps as (left, right, top, bottom) in pixels; equal neighbors are merged.
    pub fn steps(&self) -> impl Iterator<Item = (f64, f64, f64, f64)> + '_ {
        self.steps.iter().copied()
    }

    /// Paints each contiguous stretch as one polygon.
    pub fn paint(&self, paint: Paint, painter: &mut dyn Painter) {
        let joined = self
            .steps
            .chunk_by(|before, next| (before.1 - next.0).abs() < 0.5);
        for steps in joined {
            let there = steps.iter().flat_map(|s| [(s.0, s.2), (s.1, s.2)]);
            let back = steps.iter().rev().flat_map(|s| [(s.1, s.3), (s.0, s.3)]);
            let points: Vec<(f64, f64)> = there.chain(back).collect();
            painter.polygon(&points, paint);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        let area = Rect::new(0.0, 0.0, 100.0, 56.0);
        let top = |unit, greatest| Plot::new(area, unit, greatest).top;
        let mib = f64::from(1 << 20);
        assert_eq!(top(Unit::Bytes, 7.1 * mib), 8.0 * mib);
        assert_eq!(top(Unit::Bytes, 1000.0), 1000.0);
        assert_eq!(top(Unit::PerSecond, 11_300.0), 15_000.0);
        assert_eq!(top(Unit::Count, 3.0), 3.0);
        assert_eq!(top(Unit::Count, 0.0), 1.0);
        let plot = Plot::new(area, Unit::Count, 4.0);
        assert_eq!((plot.y(0.0), plot.y(4.0), plot.y(9.0)), (52.0, 5.0, 5.0));
    }

    proptest! {
        /// At any position, the columns of a stack add up to the values there.
        #[test]
        fn stacks_add_up(
            series in prop::collection::vec(prop::collection::vec((0u8..4, 1u8..9, 0u8..9), 0..20), 1..5),
            at in 0u8..200,
        ) {
            let place = |gaps: &Vec<(u8, u8, u8)>| {
                let mut x = 0.0;
                let step = |&(gap, width, value): &(u8, u8, u8)| {
                    let from = x + f64::from(gap);
                    x = from + f64::from(width);
                    (from, x, f64::from(value))
                };
                gaps.iter().map(step).collect::<Vec<_>>()
            };
            let series: Vec<Vec<_>> = series.iter().map(place).collect();
            let x = f64::from(at) + 0.5;
            let mut sum = 0.0;
            for (columns, steps) in stacked(&series).iter().zip(&series) {
                let value = steps.iter().find(|s| s.0 <= x && x < s.1).map_or(0.0, |s| s.2);
                if let Some(column) = columns.iter().find(|c| c.left <= x && x < c.right) {
                    prop_assert_eq!((column.lower, column.upper), (sum, sum + value));
                } else {
                    prop_assert_eq!(value, 0.0);
                }
                sum += value;
            }
        }
    }
}
