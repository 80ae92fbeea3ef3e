//! Graphs: lines and areas over time. The line of a level spans its minimum and maximum within each pixel, so
//! that no peak is lost.

use super::Strip;
use super::plot::{Band, Column, Outline, Plot, stacked};
use crate::color::Rgb;
use crate::gauge::{Gauge, SeriesStyle, Style, Unit, value};
use crate::painter::{Align, Face, Painter, Rect};
use eventlog::ids::Nanos;
use model::marks::{GaugePoint, Values};
use model::time::Interval;

/// Half of the line width, in pixels.
const HALF_LINE_PX: f64 = 0.75;
/// Length of a dash, and distance from dash to dash, in pixels.
const DASH_PX: (f64, f64) = (4.0, 7.0);

/// Points of a series: start and end in pixels, and the values.
type Points = Vec<(f64, f64, Values)>;

/// A gauge laid out in pixels.
#[derive(Debug)]
pub struct Graph {
    gauge: Gauge,
    /// Points of each series.
    series: Vec<Points>,
    /// Columns of each series, if the gauge is stacked.
    columns: Vec<Vec<Column>>,
}

impl Graph {
    /// Returns the maximum value in view.
    pub fn greatest(&self) -> f64 {
        let single = self.series.iter().flatten().map(|(.., values)| values.max);
        let tops = self.columns.iter().flatten().map(|column| column.upper);
        single.chain(tops).fold(0.0, f64::max)
    }
}

impl Strip<'_> {
    /// Lays out the points of a gauge that are in view.
    pub fn graph(
        &self,
        gauge: Gauge,
        points: impl Iterator<Item = (GaugePoint, Interval)>,
    ) -> Graph {
        let mut series = vec![Points::new(); gauge.series.len()];
        for (point, span) in points {
            let (from, to) = (self.x(span.start()), self.x(span.end()));
            if let Some(points) = series.get_mut(usize::from(point.series))
                && to >= self.area.x
                && from <= self.right()
            {
                points.push((from, to, point.values));
            }
        }
        let columns = if gauge.stacked {
            let lasts = |points: &Points| points.iter().map(|(a, b, v)| (*a, *b, v.last)).collect();
            stacked(&series.iter().map(lasts).collect::<Vec<_>>())
        } else {
            Vec::new()
        };
        Graph {
            gauge,
            series,
            columns,
        }
    }

    /// Paints a graph with a scale that includes `greatest`.
    pub fn paint_graph(&self, graph: &Graph, greatest: f64, painter: &mut dyn Painter) {
        let plot = Plot::new(self.area, graph.gauge.unit, greatest);
        self.paint_grid(&plot, painter);
        let looks = graph.gauge.series.iter().map(|series| series.look);
        if graph.gauge.stacked {
            // Areas are painted from the top of the stack down.
            for (columns, look) in graph.columns.iter().zip(looks).rev() {
                let color = (look.color)(self.palette);
                paint_stack(columns, look.style, color, &plot, painter);
            }
        } else {
            for (points, look) in graph.series.iter().zip(looks) {
                self.paint_level(points, look, &plot, painter);
            }
        }
        self.paint_scale(&plot, graph.gauge.unit, painter);
    }

    /// Paints a faint line at each tick of a plot except the lowest one.
    pub fn paint_grid(&self, plot: &Plot, painter: &mut dyn Painter) {
        for tick in plot.ticks.iter().skip(1) {
            let line = Rect::new(self.area.x, plot.y(*tick), self.area.w, 1.0);
            painter.fill(line, self.palette.faint_line.into());
        }
    }

    /// Labels the top of the scale, unless the plot is empty.
    pub fn paint_scale(&self, plot: &Plot, unit: Unit, painter: &mut dyn Painter) {
        if plot.is_empty {
            return;
        }
        let text = value(unit, plot.top);
        let back = Rect::new(
            self.area.x + 2.0,
            self.area.y + 2.0,
            painter.measure(&text, Face::Label) + 5.0,
            13.0,
        );
        painter.fill(back, self.palette.page.alpha(0.9));
        let at = (self.area.x + 4.0, self.area.y + 8.5);
        let ink = self.palette.ink3.into();
        painter.text(&text, at, Face::Label, Align::Left, ink);
    }

    /// Paints a sample of a series into a rectangle, as a legend key.
    pub fn paint_key(&self, look: SeriesStyle, rect: Rect, painter: &mut dyn Painter) {
        let color = (look.color)(self.palette);
        let middle = rect.y + rect.h / 2.0;
        let line = |x: f64, w: f64, y: f64| Rect::new(x, y - 1.0, w, 2.0);
        match look.style {
            Style::Filled => painter.fill(rect, color.into()),
            Style::Striped => {
                painter.hatch(rect, color.into());
                painter.fill(line(rect.x, rect.w, rect.y + 1.0), color.into());
            }
            Style::Area | Style::Spread => {
                painter.fill(rect, color.alpha(0.3));
                painter.fill(line(rect.x, rect.w, rect.y + 1.0), color.into());
            }
            Style::Line => painter.fill(line(rect.x, rect.w, middle), color.into()),
            Style::Dashed => {
                let (dash, period) = DASH_PX;
                let mut at = rect.x;
                while at < rect.x + rect.w {
                    let width = dash.min(rect.x + rect.w - at);
                    painter.fill(line(at, width, middle), color.into());
                    at += period;
                }
            }
        }
    }

    fn paint_level(
        &self,
        points: &Points,
        look: SeriesStyle,
        plot: &Plot,
        painter: &mut dyn Painter,
    ) {
        let color = (look.color)(self.palette);
        match look.style {
            Style::Filled | Style::Striped => {
                let mut outline = Outline::new(plot.bottom);
                for (from, to, values) in points {
                    outline.step(*from, *to, plot.height_of(values.max));
                }
                painter.polygon(&outline.finish(), color.into());
            }
            Style::Area => {
                let mut outline = Outline::new(plot.bottom);
                for (from, to, values) in points {
                    outline.step(*from, *to, plot.height_of(values.max));
                }
                painter.polygon(&outline.finish(), color.alpha(0.3));
                paint_line(points, color, plot, painter);
            }
            Style::Spread => {
                let (mut spread, mut mean) = (Band::default(), Band::default());
                let mut ground = Outline::new(plot.bottom);
                for (from, to, values) in points {
                    ground.step(*from, *to, plot.height_of(values.min));
                    spread.step(*from, *to, plot.y(values.max), plot.y(values.min));
                    let y = plot.y(values.mean);
                    mean.step(*from, *to, y - HALF_LINE_PX, y + HALF_LINE_PX);
                }
                painter.polygon(&ground.finish(), color.alpha(0.15));
                spread.paint(color.alpha(0.35), painter);
                mean.paint(color.into(), painter);
            }
            Style::Line => paint_line(points, color, plot, painter),
            Style::Dashed => self.paint_dashes(points, color, plot, painter),
        }
    }

    /// Paints a dashed line; the dashes stay fixed in time when the view is panned.
    fn paint_dashes(&self, points: &Points, color: Rgb, plot: &Plot, painter: &mut dyn Painter) {
        let (dash, period) = DASH_PX;
        let origin = self.x(Nanos(0)).rem_euclid(period);
        for (from, to, values) in points {
            let (top, bottom) = (plot.y(values.max) - 1.0, plot.y(values.min) + 1.0);
            let (from, to) = (from.max(self.area.x), to.min(self.right()));
            let mut at = ((from - origin) / period).floor() * period + origin;
            while at < to {
                let (left, right) = (at.max(from), (at + dash).min(to));
                if right > left {
                    let part = Rect::new(left, top, right - left, bottom - top);
                    painter.fill(part, color.into());
                }
                at += period;
            }
        }
    }
}

fn paint_line(points: &Points, color: Rgb, plot: &Plot, painter: &mut dyn Painter) {
    let mut band = Band::default();
    for (from, to, values) in points {
        let (top, bottom) = (plot.y(values.max), plot.y(values.min));
        band.step(*from, *to, top - HALF_LINE_PX, bottom + HALF_LINE_PX);
    }
    band.paint(color.into(), painter);
}

/// Paints one series of a stack, on top of the series below it.
fn paint_stack(
    columns: &[Column],
    style: Style,
    color: Rgb,
    plot: &Plot,
    painter: &mut dyn Painter,
) {
    let mut band = Band::default();
    let mut edge = Band::default();
    for column in columns.iter().filter(|column| column.upper > column.lower) {
        let (top, bottom) = (plot.y(column.upper), plot.y(column.lower));
        // At least 1 px, so that it is visible.
        let top = top.min(bottom - 1.0);
        band.step(column.left, column.right, top, bottom);
        edge.step(column.left, column.right, top, top + 2.0 * HALF_LINE_PX);
    }
    match style {
        Style::Area => {
            band.paint(color.alpha(0.5), painter);
            edge.paint(color.into(), painter);
        }
        Style::Striped => {
            for (left, right, top, bottom) in band.steps() {
                let rect = Rect::new(left, top, right - left, bottom - top);
                painter.hatch(rect, color.into());
            }
            edge.paint(color.into(), painter);
        }
        Style::Filled | Style::Spread | Style::Line | Style::Dashed => {
            band.paint(color.into(), painter)
        }
    }
}
