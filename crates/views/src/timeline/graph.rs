//! Graphs: how many capabilities are busy, memory, sparks, counters. A level
//! is a line as thick as what it does in a pixel, so that no peak is lost.

use super::Scene;
use super::plot::{Band, Column, Outline, Plot, stacked};
use crate::scene::colour::Rgb;
use crate::scene::gauge::{Gauge, Look, Style};
use crate::scene::painter::{Align, Face, Painter, Rect};
use crate::tracks::Row;
use crate::tracks::activity::Activity;
use crate::tracks::item::Names;
use analysis::timeline::activity::COLLECTING;
use model::marks::Values;

/// Bands of capabilities thinner than this have no lines between them.
const SEPARATED_PX: f64 = 3.0;
/// Half of the thickness of a line.
const HALF_LINE_PX: f64 = 0.75;
/// How long a dash is, and a dash with the gap after it.
const DASH_PX: (f64, f64) = (4.0, 7.0);

/// The points of a series in pixels: from where to where, and the values.
type Points = Vec<(f64, f64, Values)>;

impl<N: Names> Scene<'_, N> {
    /// The points of one series of a row that are in view.
    fn series_points(&self, row: Row, number: u8) -> Points {
        let (labels, right) = (self.labels_px(), self.size.0);
        let points = self.marks.points(row);
        let points = points.filter(|(point, _)| point.series == number);
        let placed =
            points.map(|(point, span)| (self.x(span.start()), self.x(span.end()), point.values));
        placed
            .filter(|(from, to, _)| *to >= labels && *from <= right)
            .collect()
    }

    /// The series of a row in pixels, and stacked if they stand on each other.
    fn series_of(&self, row: Row, gauge: Gauge) -> (Vec<Points>, Vec<Vec<Column>>) {
        let numbers = 0..u8::try_from(gauge.series.len()).unwrap_or(u8::MAX);
        let all: Vec<Points> = numbers.map(|n| self.series_points(row, n)).collect();
        if !gauge.stacked {
            return (all, Vec::new());
        }
        let lasts = |points: &Points| points.iter().map(|(a, b, v)| (*a, *b, v.last)).collect();
        let values: Vec<Vec<_>> = all.iter().map(lasts).collect();
        let columns = stacked(&values);
        (all, columns)
    }

    /// The greatest value in view of all rows that share a row's scale: sparks
    /// of all capabilities do, so that they can be compared.
    fn greatest(&self, row: Row, gauge: Gauge) -> f64 {
        let scale = |row: Row| row.gauge().and_then(|gauge| gauge.scale);
        let alike = |other: &&Row| {
            **other == row || (gauge.scale.is_some() && scale(**other) == gauge.scale)
        };
        let of_row = |row: &Row| {
            let (all, columns) = self.series_of(*row, gauge);
            let single = all.iter().flatten().map(|(.., values)| values.max);
            let tops = columns.iter().flatten().map(|column| column.upper);
            single.chain(tops).fold(0.0, f64::max)
        };
        let rows = self.marks.rows.iter().filter(alike);
        rows.map(of_row).fold(0.0, f64::max)
    }

    /// Lines and areas of a graph.
    pub(crate) fn paint_gauge(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        let Some(gauge) = row.gauge() else { return };
        let (all, columns) = self.series_of(row, gauge);
        let greatest = self.greatest(row, gauge);
        let plot = Plot::of(area, gauge.unit, greatest);
        self.paint_grid(&plot, area, painter);
        let looks = gauge.series.iter().map(|series| series.look);
        if gauge.stacked {
            // What lies on top reaches to the ground, and is painted first.
            for (columns, look) in columns.iter().zip(looks).rev() {
                paint_stack(
                    columns,
                    look.style,
                    (look.colour)(self.palette),
                    &plot,
                    painter,
                );
            }
        } else {
            for (points, look) in all.iter().zip(looks) {
                self.paint_level(points, look, &plot, painter);
            }
        }
        self.paint_scale(&plot, gauge, area, painter);
    }

    fn paint_grid(&self, plot: &Plot, area: Rect, painter: &mut impl Painter) {
        for tick in plot.ticks.iter().skip(1) {
            let line = Rect::new(area.x, plot.y(*tick), area.w, 1.0);
            painter.fill(line, self.palette.faint_line.into());
        }
    }

    /// What the top of the plot stands for, if there is something in it.
    fn paint_scale(&self, plot: &Plot, gauge: Gauge, area: Rect, painter: &mut impl Painter) {
        if plot.is_empty {
            return;
        }
        let text = crate::scene::gauge::value(gauge.unit, plot.top);
        let back = Rect::new(
            area.x + 2.0,
            area.y + 2.0,
            painter.measure(&text, Face::Label) + 5.0,
            13.0,
        );
        painter.fill(back, self.palette.page.alpha(0.9));
        let at = (area.x + 4.0, area.y + 8.5);
        let ink = self.palette.ink3.into();
        painter.text(&text, at, Face::Label, Align::Left, ink);
    }

    fn paint_level(&self, points: &Points, look: Look, plot: &Plot, painter: &mut impl Painter) {
        let colour = (look.colour)(self.palette);
        match look.style {
            Style::Filled | Style::Striped => {
                let mut outline = Outline::new(plot.bottom);
                for (from, to, values) in points {
                    outline.step(*from, *to, plot.height_of(values.max));
                }
                painter.polygon(&outline.finish(), colour.into());
            }
            Style::Area => {
                let mut outline = Outline::new(plot.bottom);
                for (from, to, values) in points {
                    outline.step(*from, *to, plot.height_of(values.max));
                }
                painter.polygon(&outline.finish(), colour.alpha(0.3));
                paint_line(points, colour, plot, painter);
            }
            Style::Line => paint_line(points, colour, plot, painter),
            Style::Dashed => self.paint_dashes(points, colour, plot, painter),
        }
    }

    /// A line of dashes that stay where they are in time.
    fn paint_dashes(&self, points: &Points, colour: Rgb, plot: &Plot, painter: &mut impl Painter) {
        let (dash, period) = DASH_PX;
        let origin = self.x(eventlog::ids::Nanos(0)).rem_euclid(period);
        for (from, to, values) in points {
            let (top, bottom) = (plot.y(values.max) - 1.0, plot.y(values.min) + 1.0);
            let (from, to) = (from.max(self.labels_px()), to.min(self.size.0));
            let mut at = ((from - origin) / period).floor() * period + origin;
            while at < to {
                let (left, right) = (at.max(from), (at + dash).min(to));
                if right > left {
                    let part = Rect::new(left, top, right - left, bottom - top);
                    painter.fill(part, colour.into());
                }
                at += period;
            }
        }
    }

    /// How many capabilities run Haskell code, a band for each, and on top
    /// how many collect.
    pub(crate) fn paint_activity(&self, area: Rect, painter: &mut impl Painter) {
        let bottom = area.y + area.h - 4.0;
        let scale = (area.h - 12.0) / self.caps.max(1) as f64;
        for k in 1..=self.caps.min(8) as u32 {
            let y = bottom - scale * f64::from(k);
            let line = Rect::new(area.x, y, area.w, 1.0);
            painter.fill(line, self.palette.faint_line.into());
        }
        let columns = stacked(&self.activity_values());
        let Some((collecting, running)) = columns.split_last() else {
            return;
        };
        let outline = |columns: &[Column]| {
            let mut outline = Outline::new(bottom);
            for column in columns {
                outline.step(column.left, column.right, column.upper * scale);
            }
            outline.finish()
        };
        painter.polygon(&outline(collecting), self.palette.gc.into());
        for column in collecting
            .iter()
            .filter(|column| column.upper > column.lower)
        {
            let h = (column.upper - column.lower) * scale;
            let (x, w) = (column.left, column.right - column.left);
            let part = Rect::new(x, bottom - column.upper * scale, w, h);
            self.paint_stripes(part, painter);
        }
        let Some((last, below)) = running.split_last() else {
            return;
        };
        painter.polygon(&outline(last), self.palette.running.into());
        if scale < SEPARATED_PX {
            return;
        }
        for columns in below {
            let mut band = Band::default();
            for (column, top) in columns.iter().zip(last) {
                if column.upper <= 0.0 || column.upper >= top.upper {
                    continue;
                }
                let y = bottom - column.upper * scale;
                band.step(column.left, column.right, y - 0.5, y + 0.5);
            }
            band.paint(self.palette.page.alpha(0.6), painter);
        }
    }

    /// The shares of each capability in view, and last how many collect.
    fn activity_values(&self) -> Vec<Vec<(f64, f64, f64)>> {
        let (labels, right) = (self.labels_px(), self.size.0);
        let mut values: Vec<Vec<(f64, f64, f64)>> = Vec::new();
        let mut collecting = Vec::new();
        for (point, span) in self.marks.points(Activity) {
            let (from, to) = (self.x(span.start()), self.x(span.end()));
            if to < labels || from > right {
                continue;
            }
            if point.series == COLLECTING {
                collecting.push((from, to, point.values.last));
                continue;
            }
            let place = usize::from(point.series);
            if place >= values.len() {
                values.resize_with(place + 1, Vec::new);
            }
            values[place].push((from, to, point.values.last));
        }
        values.push(collecting);
        values
    }
}

fn paint_line(points: &Points, colour: Rgb, plot: &Plot, painter: &mut impl Painter) {
    let mut band = Band::default();
    for (from, to, values) in points {
        let (top, bottom) = (plot.y(values.max), plot.y(values.min));
        band.step(*from, *to, top - HALF_LINE_PX, bottom + HALF_LINE_PX);
    }
    band.paint(colour.into(), painter);
}

/// One series of a stack, from what lies beneath it up.
fn paint_stack(
    columns: &[Column],
    style: Style,
    colour: Rgb,
    plot: &Plot,
    painter: &mut impl Painter,
) {
    let mut band = Band::default();
    let mut edge = Band::default();
    for column in columns.iter().filter(|column| column.upper > column.lower) {
        let (top, bottom) = (plot.y(column.upper), plot.y(column.lower));
        // Something is always seen.
        let top = top.min(bottom - 1.0);
        band.step(column.left, column.right, top, bottom);
        edge.step(column.left, column.right, top, top + 2.0 * HALF_LINE_PX);
    }
    match style {
        Style::Area => {
            band.paint(colour.alpha(0.5), painter);
            edge.paint(colour.into(), painter);
        }
        Style::Striped => {
            for (left, right, top, bottom) in band.steps() {
                let rect = Rect::new(left, top, right - left, bottom - top);
                painter.hatch(rect, colour.into());
            }
            edge.paint(colour.into(), painter);
        }
        Style::Filled | Style::Line | Style::Dashed => band.paint(colour.into(), painter),
    }
}
