//! Hit testing of heap charts.

use super::paint::Scene;
use super::stack::Plot;
use crate::heap::settings::Form;

/// Element under the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitTarget {
    /// Index of the stack (census) among those drawn.
    pub stack: usize,
    /// Index of the band.
    pub band: Option<usize>,
}

/// Hit distance of lines, in pixels.
const NEAR_PX: f64 = 12.0;

impl Scene<'_> {
    /// Returns the census nearest to a position, and the band there.
    pub fn hit(&self, x: f64, y: f64) -> Option<HitTarget> {
        let plot = self.plot();
        if x < plot.area.x || x > plot.area.x + plot.area.w {
            return None;
        }
        let stack = nearest(&plot, x)?;
        let band = match plot.form {
            Form::Lines => line_at(&plot, stack, y),
            _ => band_at(&plot, stack, x, y),
        };
        Some(HitTarget { stack, band })
    }

    /// Returns the center of the band in the stack; without a band, the vertical center of the plot.
    pub fn center_of(&self, pointed: HitTarget) -> (f64, f64) {
        let plot = self.plot();
        let at = plot.chart.stacks.at.get(pointed.stack).copied();
        let x = plot.x(at.unwrap_or_default());
        let value = |edge: usize| plot.edges.get(edge)?.get(pointed.stack).copied();
        let y = pointed.band.and_then(|band| match plot.form {
            Form::Lines => value(band).map(|value| plot.y(value)),
            _ => Some(f64::midpoint(
                plot.y(value(band)?),
                plot.y(value(band + 1)?),
            )),
        });
        (x, y.unwrap_or(plot.area.y + plot.area.h / 2.0))
    }
}

/// Returns the stack nearest to a horizontal position.
fn nearest(plot: &Plot<'_>, x: f64) -> Option<usize> {
    let at = plot.axis_value(x);
    let places = &plot.chart.stacks.at;
    let after = places.partition_point(|&place| place < at);
    let far = |place: &usize| {
        places
            .get(*place)
            .map_or(f64::INFINITY, |other| (other - at).abs())
    };
    let near = [after.checked_sub(1), Some(after)];
    let near = near
        .into_iter()
        .flatten()
        .filter(|place| *place < places.len());
    near.min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn band_at(plot: &Plot<'_>, stack: usize, x: f64, y: f64) -> Option<usize> {
    let xs = plot.xs();
    if plot.has_bars() {
        let (left, right) = plot.bar(&xs, stack);
        if x < left - 2.0 || x > right + 2.0 {
            return None;
        }
    }
    // Edges are interpolated linearly between censuses.
    let (other, part) = match xs.get(stack) {
        Some(&here) if !plot.has_bars() && here != x => {
            let other = if x < here {
                stack.checked_sub(1)?
            } else {
                stack + 1
            };
            let there = *xs.get(other)?;
            (other, (x - here) / (there - here))
        }
        _ => (stack, 0.0),
    };
    let edge = |edge: &Vec<f64>| {
        let (from, to) = (edge.get(stack)?, edge.get(other)?);
        Some(plot.y(from + (to - from) * part))
    };
    let heights: Vec<f64> = plot.edges.iter().filter_map(edge).collect();
    let inside = |pair: &[f64]| matches!(pair, [lower, upper] if *upper <= y && y < *lower);
    heights.windows(2).position(inside)
}

fn line_at(plot: &Plot<'_>, stack: usize, y: f64) -> Option<usize> {
    let far = |line: &Vec<f64>| {
        let value = line.get(stack).copied().unwrap_or_default();
        (plot.y(value) - y).abs()
    };
    let lines = plot.edges.iter().map(far).enumerate();
    let near = lines.filter(|(_, far)| *far <= NEAR_PX);
    let nearest = near.min_by(|(_, a), (_, b)| a.total_cmp(b));
    nearest.map(|(line, _)| line)
}
