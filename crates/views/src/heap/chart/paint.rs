//! Painting of heap charts.

use super::hit::HitTarget;
use super::stack::Plot;
use crate::heap::settings::Form;
use model::sorting::CompactSort;
use model::time::Interval;
use scene::color::Rgb;
use scene::format;
use scene::painter::{Align, Face, Paint, Painter, Rect};
use scene::palette::Palette;
use scene::ruler::ticks;
use scene::viewport::Viewport;
use session::heap::chart::{Chart, ChartBand};
use session::heap::colors::color;

/// Chart with its display settings.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Chart data.
    pub chart: &'a Chart,
    /// Form of the chart.
    pub form: Form,
    /// Whether all lines share one scale.
    pub one_scale: bool,
    /// Visible time, which may have changed since the chart was queried.
    pub view: Viewport,
    /// Area of the chart, including its axis, in pixels.
    pub area: Rect,
    /// Color theme.
    pub palette: &'a Palette,
    /// Selected range.
    pub range: Option<Interval>,
    /// Element under the pointer.
    pub pointed: Option<HitTarget>,
}

/// Height of the axis below the chart, in pixels.
const AXIS_PX: f64 = 19.0;
/// Height of the space above the chart, in pixels.
const ABOVE_PX: f64 = 8.0;
/// Minimum distance between labeled times, in pixels.
const TICK_PX: f64 = 90.0;
/// Minimum mean distance of censuses that are marked by dots on lines, in pixels.
const DOTS_PX: f64 = 9.0;
/// Maximum width of a message over the chart, in pixels.
const MESSAGE_PX: f64 = 150.0;
/// Minimum height of a band that has room for its name, in pixels.
const NAMED_PX: f64 = 14.0;
/// Minimum distance of censuses that are marked on the axis, in pixels.
const CENSUS_PX: f64 = 3.0;
/// Number of candidate positions for a name.
const PLACES: u32 = 40;
/// Color intensity of other bands while one is followed.
const FADED: f64 = 0.4;

impl<'a> Scene<'a> {
    /// Returns the plot within the area.
    pub(super) fn plot(&self) -> Plot<'a> {
        let Rect { x, y, w, h } = self.area;
        let height = (h - ABOVE_PX - AXIS_PX).max(1.0);
        let area = Rect::new(x, y + ABOVE_PX, w.max(1.0), height);
        Plot::new(self.chart, self.form, self.one_scale, self.view, area)
    }

    /// Returns the axis value at a horizontal position, clamped to the view: a time in nanoseconds or a census
    /// index.
    pub fn axis_value(&self, x: f64) -> f64 {
        let plot = self.plot();
        let right = plot.area.x + plot.area.w;
        plot.axis_value(x.clamp(plot.area.x, right)).max(0.0)
    }

    /// Paints the chart with its axis.
    pub fn paint(&self, painter: &mut dyn Painter) {
        painter.fill(self.area, self.palette.page.into());
        let plot = self.plot();
        self.paint_grid(&plot, painter);
        let reach = Rect::new(
            plot.area.x,
            plot.area.y - ABOVE_PX,
            plot.area.w,
            plot.area.h + ABOVE_PX,
        );
        painter.clip(reach);
        match plot.form {
            Form::Lines => self.paint_lines(&plot, painter),
            _ if plot.has_bars() => self.paint_bars(&plot, painter),
            _ => self.paint_bands(&plot, painter),
        }
        self.paint_over(&plot, painter);
        self.paint_range(&plot, painter);
        self.paint_pointed(&plot, painter);
        painter.unclip();
        self.paint_values(&plot, painter);
        self.paint_axis(&plot, painter);
    }

    fn color(&self, band: &ChartBand) -> Rgb {
        color(band.slot, self.palette.is_dark())
    }

    /// Returns the color of a band, faded if another one is followed.
    fn shown_color(&self, place: usize) -> Rgb {
        let Some(band) = self.chart.bands.get(place) else {
            return self.palette.io;
        };
        let color = self.color(band);
        if self.chart.bands.iter().any(|band| band.pinned) && !band.pinned {
            color.mixed(self.palette.page, FADED)
        } else {
            color
        }
    }

    fn paint_grid(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        for (value, _) in &plot.ticks {
            let line = Rect::new(plot.area.x, plot.y(*value), plot.area.w, 1.0);
            painter.fill(line, self.palette.faint_line.into());
        }
    }

    /// Paints the labels of the grid lines, over the left edge of the chart.
    fn paint_values(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        for (value, text) in &plot.ticks {
            if *value == 0.0 || text.is_empty() {
                continue;
            }
            let y = (plot.y(*value) + 8.0).max(plot.area.y + 7.0);
            let width = painter.measure(text, Face::Label) + 6.0;
            let back = Rect::new(plot.area.x + 2.0, y - 7.0, width, 14.0);
            painter.fill(back, self.palette.page.alpha(0.85));
            let ink = self.palette.ink2.into();
            painter.text(text, (plot.area.x + 5.0, y), Face::Label, Align::Left, ink);
        }
    }

    /// Paints every band down to the baseline, topmost first, so that no gaps show between bands.
    fn paint_bands(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let xs = plot.xs();
        let line = |edge: &Vec<f64>| -> Vec<(f64, f64)> {
            let ys = edge.iter().map(|&value| plot.y(value));
            xs.iter().copied().zip(ys).collect()
        };
        let Some(ground) = plot.edges.first().map(line) else {
            return;
        };
        let edges: Vec<Vec<(f64, f64)>> = plot.edges.iter().skip(1).map(line).collect();
        for (place, edge) in edges.iter().enumerate().rev() {
            let outline: Vec<(f64, f64)> =
                edge.iter().chain(ground.iter().rev()).copied().collect();
            painter.polygon(&outline, self.shown_color(place).into());
        }
        // A line separates neighbors with similar colors.
        let between = self.palette.page.alpha(0.65);
        for edge in edges.split_last().map_or(&[][..], |(_, below)| below) {
            painter.polyline(edge, 1.0, between);
        }
        for (place, lower, upper) in neighbors(&ground, &edges) {
            if let Some(paint) = self.outline(place) {
                painter.polyline(lower, 1.5, paint);
                painter.polyline(upper, 1.5, paint);
            }
        }
        self.paint_names(plot, &xs, painter);
    }

    /// Returns the outline of a band that is followed or hovered.
    fn outline(&self, place: usize) -> Option<Paint> {
        let pinned = self.chart.bands.get(place)?.pinned;
        let pointed = self.pointed.and_then(|pointed| pointed.band) == Some(place);
        if pinned {
            Some(self.palette.ink.into())
        } else {
            pointed.then(|| self.palette.ink.alpha(0.7))
        }
    }

    /// Paints the number and name of each band where there is most room.
    fn paint_names(&self, plot: &Plot<'_>, xs: &[f64], painter: &mut dyn Painter) {
        for (place, (band, edges)) in self
            .chart
            .bands
            .iter()
            .zip(plot.edges.windows(2))
            .enumerate()
        {
            let [lower, upper] = edges else { continue };
            let number = number(self.chart, place);
            for text in [format!("{number} {}", band.name), number] {
                let half = painter.measure(&text, Face::Label) / 2.0 + 3.0;
                let Some(at) = roomiest(plot, xs, (lower, upper), half) else {
                    continue;
                };
                let ink = self.shown_color(place).text_on();
                painter.text(&text, at, Face::Label, Align::Center, ink.into());
                break;
            }
        }
    }

    fn paint_bars(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let xs = plot.xs();
        for (place, edges) in plot.edges.windows(2).enumerate() {
            let color = self.shown_color(place);
            for stack in 0..xs.len() {
                let value = |edge: &Vec<f64>| edge.get(stack).copied().unwrap_or_default();
                let (low, high) = (plot.y(value(&edges[0])), plot.y(value(&edges[1])));
                if low - high < 0.01 {
                    continue;
                }
                let (left, right) = plot.bar(&xs, stack);
                let rect = Rect::new(left, high, right - left, low - high);
                painter.fill(rect, color.into());
                if rect.h > 3.0 {
                    let edge = Rect::new(left, high, rect.w, 1.0);
                    painter.fill(edge, self.palette.page.alpha(0.65));
                }
                let text = number(self.chart, place);
                if rect.h >= NAMED_PX && painter.measure(&text, Face::Label) + 4.0 <= rect.w {
                    let at = (f64::midpoint(left, right), f64::midpoint(low, high));
                    painter.text(
                        &text,
                        at,
                        Face::Label,
                        Align::Center,
                        color.text_on().into(),
                    );
                }
                if let Some(paint) = self.outline(place) {
                    let (low, high) = (low.max(high + 1.0), high);
                    let corners = [
                        (left, low),
                        (left, high),
                        (right, high),
                        (right, low),
                        (left, low),
                    ];
                    painter.polyline(&corners, 1.5, paint);
                }
            }
        }
    }

    fn paint_lines(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let xs = plot.xs();
        let span = xs
            .last()
            .zip(xs.first())
            .map_or(0.0, |(last, first)| last - first);
        let dots = span / (xs.len().max(2) - 1) as f64 >= DOTS_PX;
        let right = plot.area.x + plot.area.w;
        // Followed and hovered lines are painted last.
        let mut order: Vec<usize> = (0..plot.edges.len()).collect();
        order.sort_small_by_key(|&place| self.outline(place).is_some());
        for place in order {
            let Some(line) = plot.edges.get(place) else {
                continue;
            };
            let color = self.shown_color(place);
            let ys = line.iter().map(|&value| plot.y(value));
            let points: Vec<(f64, f64)> = xs.iter().copied().zip(ys).collect();
            let width = if self.outline(place).is_some() {
                3.0
            } else {
                1.75
            };
            painter.polyline(&points, width, color.into());
            for &(x, y) in points.iter().filter(|_| dots) {
                painter.fill(Rect::new(x - 2.5, y - 2.5, 5.0, 5.0), color.into());
            }
            // The number is placed at the maximum.
            let in_view = points
                .iter()
                .filter(|(x, _)| plot.area.x <= *x && *x <= right);
            if let Some(&(x, y)) = in_view.min_by(|(_, a), (_, b)| a.total_cmp(b)) {
                let text = number(self.chart, place);
                let at = (x.min(right - 14.0) + 4.0, y + 8.0);
                let ink = self.palette.ink.into();
                painter.text(&text, at, Face::Label, Align::Left, ink);
            }
        }
    }

    /// Paints collections, memory lines (live bytes, heap size, blocks) and messages.
    fn paint_over(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let over = &self.chart.over;
        let bottom = plot.area.y + plot.area.h;
        for at in &over.collections {
            let x = plot.x(*at);
            let mark = [(x - 3.5, bottom), (x + 3.5, bottom), (x, bottom - 7.0)];
            painter.polygon(&mark, self.palette.gc.into());
        }
        if matches!(plot.form, Form::Area | Form::Bars) {
            let looks = [self.palette.ink, self.palette.foreign, self.palette.gc];
            for ((series, wanted), color) in (0..).zip(over.lines).zip(looks) {
                if wanted {
                    self.paint_memory(plot, series, color, painter);
                }
            }
        }
        let mut free_px = f64::NEG_INFINITY;
        for (time, text) in &over.messages {
            let x = plot.x(time.0 as f64);
            if x < plot.area.x {
                continue;
            }
            painter.dashed((x, plot.area.y), (x, bottom), self.palette.ink2.into());
            if x >= free_px {
                let measure = |text: &str| painter.measure(text, Face::Label);
                let text = format::truncate_middle(text, MESSAGE_PX, measure).into_owned();
                let width = painter.measure(&text, Face::Label) + 8.0;
                let back = Rect::new(x, plot.area.y, width, 14.0);
                painter.fill(back, self.palette.panel.alpha(0.9));
                let at = (x + 4.0, plot.area.y + 7.0);
                painter.text(&text, at, Face::Label, Align::Left, self.palette.ink.into());
                free_px = x + width;
            }
        }
    }

    /// Paints a memory statistic of the program as a step line with its name.
    fn paint_memory(&self, plot: &Plot<'_>, series: u8, color: Rgb, painter: &mut dyn Painter) {
        const NAMES: [&str; 3] = ["heap size", "blocks in use", "live bytes"];
        let memory = &self.chart.over.memory;
        let start = self.chart.axis.start().0 as f64;
        let mut points: Vec<(f64, f64)> = Vec::new();
        let all = memory
            .series
            .iter()
            .zip(&memory.start)
            .zip(&memory.end)
            .zip(&memory.max);
        for (((of, from), to), value) in all {
            if *of == series {
                let y = plot.y(*value);
                points.extend([(plot.x(start + from), y), (plot.x(start + to), y)]);
            }
        }
        painter.polyline(&points, 3.5, self.palette.page.alpha(0.7));
        painter.polyline(&points, 1.5, color.into());
        // Names are offset horizontally, so that they do not overlap.
        let at = plot.area.x + plot.area.w * (0.3 + 0.2 * f64::from(series));
        let place = points.partition_point(|(x, _)| *x < at);
        if let (Some(name), Some((_, y))) = (NAMES.get(usize::from(series)), points.get(place)) {
            let width = painter.measure(name, Face::Label) + 8.0;
            let back = Rect::new(at - width / 2.0, y - 7.0, width, 14.0);
            painter.fill(back, self.palette.page.alpha(0.85));
            painter.text(name, (at, *y), Face::Label, Align::Center, color.into());
        }
    }

    /// Paints the edges of the selected range.
    fn paint_range(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let Some(range) = self.range.filter(|_| self.chart.timed) else {
            return;
        };
        let right = plot.area.x + plot.area.w;
        let [from, to] = [range.start(), range.end()].map(|time| plot.x(time.0 as f64));
        let (top, height) = (plot.area.y, plot.area.h);
        // Everything outside of the range is dimmed.
        let veil = self.palette.page.alpha(0.5);
        painter.fill(
            Rect::new(plot.area.x, top, (from - plot.area.x).max(0.0), height),
            veil,
        );
        painter.fill(Rect::new(to, top, (right - to).max(0.0), height), veil);
        for x in [from, to] {
            let edge = Rect::new(x - 0.75, top - ABOVE_PX, 1.5, height + ABOVE_PX);
            painter.fill(edge, self.palette.accent.into());
        }
        let bar = Rect::new(from, top - ABOVE_PX, (to - from).max(1.0), 3.0);
        painter.fill(bar, self.palette.accent.into());
    }

    /// Paints a line through the hovered census and a dot on the hovered band.
    fn paint_pointed(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let Some(pointed) = self.pointed else { return };
        let (x, y) = self.center_of(pointed);
        let (top, bottom) = (plot.area.y, plot.area.y + plot.area.h);
        painter.dashed((x, top), (x, bottom), self.palette.ink.into());
        if pointed.band.is_some() {
            painter.fill(
                Rect::new(x - 3.5, y - 3.5, 7.0, 7.0),
                self.palette.page.into(),
            );
            painter.fill(
                Rect::new(x - 2.5, y - 2.5, 5.0, 5.0),
                self.palette.ink.into(),
            );
        }
    }

    /// Paints a mark on the axis for each census, if they are far enough apart.
    fn paint_censuses(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let xs = plot.xs();
        let apart = xs
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .fold(f64::MAX, f64::min);
        if apart < CENSUS_PX || self.chart.stacks.len() < self.chart.censuses_in_view as usize {
            return;
        }
        for x in xs {
            let mark = Rect::new(x - 0.5, plot.area.y + plot.area.h + 1.0, 1.0, 3.0);
            painter.fill(mark, self.palette.ink3.into());
        }
    }

    /// Paints the axis: times, or numbers of censuses.
    fn paint_axis(&self, plot: &Plot<'_>, painter: &mut dyn Painter) {
        let bottom = plot.area.y + plot.area.h;
        painter.fill(
            Rect::new(plot.area.x, bottom, plot.area.w, 1.0),
            self.palette.line.into(),
        );
        painter.clip(Rect::new(plot.area.x, bottom, plot.area.w, AXIS_PX));
        self.paint_censuses(plot, painter);
        let ink = self.palette.ink2.into();
        let mut named = |x: f64, text: &str| {
            painter.fill(Rect::new(x, bottom, 1.0, 5.0), self.palette.ink3.into());
            painter.text(text, (x + 4.0, bottom + 10.0), Face::Mono, Align::Left, ink);
        };
        if self.chart.timed {
            let ticks = ticks(self.view.span(), plot.area.w, TICK_PX);
            for tick in ticks.iter().filter(|tick| tick.major) {
                named(plot.x(tick.time.0 as f64), &tick.label);
            }
        } else {
            let last = self.chart.axis.end().0;
            let parts = (plot.area.w / TICK_PX).max(1.0) as u32;
            let step = ((last + 1) as f64 / f64::from(parts)).ceil().max(1.0) as usize;
            for census in (0..=last).step_by(step) {
                let text = format!("census {}", census + 1);
                named(plot.x(census as f64), &text);
            }
        }
        painter.unclip();
    }
}

/// Finds the position between two edges with most vertical room for a text of width `2 * half`; `None` if it does
/// not fit anywhere.
fn roomiest(
    plot: &Plot<'_>,
    xs: &[f64],
    (lower, upper): (&[f64], &[f64]),
    half: f64,
) -> Option<(f64, f64)> {
    let (left, right) = (plot.area.x + half, plot.area.x + plot.area.w - half);
    let (first, last) = (*xs.first()? + half, *xs.last()? - half);
    let room_at = |middle: f64| {
        let from = xs.partition_point(|&x| x <= middle - half);
        let to = xs.partition_point(|&x| x < middle + half).max(from);
        let ends = [middle - half, middle + half];
        let ys = |edge: &[f64]| -> Option<Vec<f64>> {
            let ends = ends.iter().map(|&x| between(xs, edge, x));
            let inside = edge.get(from..to)?.iter().copied();
            Some(ends.chain(inside).map(|value| plot.y(value)).collect())
        };
        let low = ys(lower)?.into_iter().fold(f64::MAX, f64::min);
        let high = ys(upper)?.into_iter().fold(f64::MIN, f64::max);
        Some((low - high, (middle, f64::midpoint(low, high))))
    };
    let (from, to) = (left.max(first), right.min(last));
    let places =
        (0..=PLACES).map(|place| from + (to - from) * f64::from(place) / f64::from(PLACES));
    let rooms = places.filter(|_| from <= to).filter_map(room_at);
    let best = rooms.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= NAMED_PX).then_some(best.1)
}

/// Interpolates an edge linearly between two censuses.
fn between(xs: &[f64], edge: &[f64], x: f64) -> f64 {
    let after = xs.partition_point(|&at| at < x).min(xs.len().max(1) - 1);
    let before = after.saturating_sub(1);
    let point = |place: usize| Some((*xs.get(place)?, *edge.get(place)?));
    match point(before).zip(point(after)) {
        Some(((left, low), (right, high))) if right > left => {
            low + (high - low) * ((x - left) / (right - left)).clamp(0.0, 1.0)
        }
        Some((_, (_, value))) => value,
        None => 0.0,
    }
}

/// Lower or upper edge of a band from left to right, in pixels.
type Edge<'e> = &'e [(f64, f64)];

/// Pairs each band with its lower and upper edge.
fn neighbors<'e>(
    ground: Edge<'e>,
    edges: &'e [Vec<(f64, f64)>],
) -> impl Iterator<Item = (usize, Edge<'e>, Edge<'e>)> {
    let lower = std::iter::once(ground).chain(edges.iter().map(Vec::as_slice));
    let pairs = lower.zip(edges).enumerate();
    pairs.map(|(place, (lower, upper))| (place, lower, upper.as_slice()))
}

/// Returns the number of a band, which identifies it without its color; `…` for the band that combines several.
pub fn number(chart: &Chart, place: usize) -> String {
    match chart.bands.get(place) {
        Some(band) if band.is_single() => (place + 1).to_string(),
        _ => "…".to_owned(),
    }
}
