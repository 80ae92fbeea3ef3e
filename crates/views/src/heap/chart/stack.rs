//! Layout of the bands of a heap chart, in values and in pixels.

use crate::heap::settings::Form;
use eventlog::ids::Nanos;
use scene::chart::byte_ticks;
use scene::format;
use scene::painter::Rect;
use scene::viewport::Viewport;
use session::heap::chart::{Chart, Stacks};

/// Maximum number of intervals on the value axis.
const PARTS: u32 = 5;
/// Distance of the first and the last census from the sides if the axis counts censuses, in pixels.
const ASIDE_PX: f64 = 26.0;

/// Chart laid out in a rectangle.
#[derive(Clone, Debug)]
pub(super) struct Plot<'a> {
    pub(super) chart: &'a Chart,
    pub(super) form: Form,
    /// Area of the values, without the axis.
    pub(super) area: Rect,
    /// Visible time across the width of the area.
    view: Viewport,
    /// Boundaries of the stacked bands, from the bottom of the first to the top of the last, with one value per
    /// stack. For lines: the values themselves.
    pub(super) edges: Vec<Vec<f64>>,
    /// Values at the bottom and at the top.
    scale: (f64, f64),
    /// Values of the grid lines, with their labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl<'a> Plot<'a> {
    /// Lays out the chart; `one_scale` only affects lines.
    pub(super) fn new(
        chart: &'a Chart,
        form: Form,
        one_scale: bool,
        view: Viewport,
        area: Rect,
    ) -> Self {
        let edges = match form {
            Form::Lines => lines(chart, one_scale),
            _ => stacked(&chart.stacks, chart.bands.len(), form),
        };
        let bytes = || {
            edges
                .iter()
                .flatten()
                .copied()
                .fold(0.0, f64::max)
                .max(over(chart))
        };
        let (scale, ticks) = match form {
            Form::Share => shares(),
            Form::Lines if !one_scale => shares(),
            Form::Stream => middle(edges.iter().flatten().copied().fold(0.0, f64::max)),
            _ => sizes(bytes()),
        };
        Self {
            chart,
            form,
            area,
            view,
            edges,
            scale,
            ticks,
        }
    }

    /// Returns the horizontal position of an axis value: a time in nanoseconds or a census index.
    pub(super) fn x(&self, at: f64) -> f64 {
        if self.chart.timed {
            return self.area.x + self.view.x_of(Nanos(at as u64));
        }
        self.area.x + ASIDE_PX + at * self.census_px()
    }

    /// Returns the axis value at a horizontal position.
    pub(super) fn axis_value(&self, x: f64) -> f64 {
        let x = x - self.area.x;
        if self.chart.timed {
            return self.view.time_at(x).0 as f64;
        }
        ((x - ASIDE_PX) / self.census_px()).max(0.0)
    }

    /// Returns the distance between censuses on an axis that counts them, in pixels.
    fn census_px(&self) -> f64 {
        let last = (self.chart.axis.duration().0 as f64).max(1.0);
        (self.area.w - 2.0 * ASIDE_PX).max(1.0) / last
    }

    /// Returns the vertical position of a value, in pixels.
    pub(super) fn y(&self, value: f64) -> f64 {
        let (bottom, top) = self.scale;
        let part = (value - bottom) / (top - bottom);
        self.area.y + self.area.h * (1.0 - part)
    }

    /// Returns the horizontal position of each stack.
    pub(super) fn xs(&self) -> Vec<f64> {
        self.chart.stacks.at.iter().map(|&at| self.x(at)).collect()
    }

    /// Returns the left and right edge of a stack's bar, which leaves a gap to its neighbors.
    pub(super) fn bar(&self, xs: &[f64], stack: usize) -> (f64, f64) {
        const MAX_PX: f64 = 46.0;
        let Some(&x) = xs.get(stack) else {
            return (0.0, 0.0);
        };
        let before = stack.checked_sub(1).and_then(|before| xs.get(before));
        let after = xs.get(stack + 1);
        let gap = [before, after]
            .into_iter()
            .flatten()
            .map(|other| (other - x).abs());
        let width = gap.fold(MAX_PX, f64::min);
        let width = if width > 4.0 { width * 0.86 } else { width };
        (x - width / 2.0, x + width / 2.0)
    }

    /// Returns whether stacks are drawn as bars.
    pub(super) fn has_bars(&self) -> bool {
        self.form == Form::Bars || (self.form != Form::Lines && self.chart.stacks.len() == 1)
    }
}

/// Returns the maximum of the memory lines drawn over the chart.
fn over(chart: &Chart) -> f64 {
    let memory = &chart.over.memory;
    let wanted = |series: &u8| chart.over.lines.get(usize::from(*series)) == Some(&true);
    let values = memory.series.iter().zip(&memory.max);
    let values = values.filter(|(series, _)| wanted(series));
    values.map(|(_, &value)| value).fold(0.0, f64::max)
}

fn stacked(stacks: &Stacks, bands: usize, form: Form) -> Vec<Vec<f64>> {
    let mut edges = vec![vec![0.0; stacks.len()]];
    for band in 0..bands {
        let values = stacks.band_bytes(band);
        let below = edges.last().into_iter().flatten();
        let above = below.zip(values).map(|(below, value)| below + value);
        edges.push(above.collect());
    }
    let sums = edges.last().cloned().unwrap_or_default();
    for edge in &mut edges {
        for (value, &sum) in edge.iter_mut().zip(&sums) {
            match form {
                Form::Share if sum > 0.0 => *value /= sum,
                Form::Stream => *value -= sum / 2.0,
                _ => {}
            }
        }
    }
    edges
}

fn lines(chart: &Chart, one_scale: bool) -> Vec<Vec<f64>> {
    let line = |band: usize| {
        let values = chart.stacks.band_bytes(band);
        let most = values.iter().copied().fold(0.0, f64::max);
        let unit = if one_scale || most == 0.0 { 1.0 } else { most };
        values.iter().map(|value| value / unit).collect()
    };
    (0..chart.bands.len()).map(line).collect()
}

type Scale = ((f64, f64), Vec<(f64, String)>);

fn sizes(greatest: f64) -> Scale {
    let ticks = byte_ticks(greatest, PARTS);
    let top = greatest.max(1.0) * 1.03;
    let words = |tick: f64| (tick, format::bytes(tick.round() as u64));
    let shown = ticks.into_iter().filter(|&tick| tick <= top).map(words);
    ((0.0, top), shown.collect())
}

fn shares() -> Scale {
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0];
    let words = |tick: f64| (tick, format!("{:.0}{}%", tick * 100.0, format::NBSP));
    ((0.0, 1.0), ticks.into_iter().map(words).collect())
}

/// Returns a symmetric scale around zero.
fn middle(half: f64) -> Scale {
    let half = half.max(0.5) * 1.03;
    let words = [(0.0, String::new())];
    ((-half, half), words.into_iter().collect())
}
