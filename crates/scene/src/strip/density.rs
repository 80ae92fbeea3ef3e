//! Columns for events that are too many for a sign each: the more there are in a stretch of
//! time, the higher its column.

use super::Strip;
use super::plot::Outline;
use crate::colour::Rgb;
use crate::painter::{Align, Face, Painter, Rect};
use eventlog::ids::Nanos;
use model::time::Interval;

/// A column that stands for fewer is not as high as the strip, even if none has more.
const LEAST_GREATEST: u32 = 4;
/// The lowest column, in pixels.
const LEAST_PX: f64 = 2.0;
/// How high the line over a column is, in pixels.
const TOP_PX: f64 = 3.0;

/// Half the width of a sign for one event.
pub const SIGN_PX: f64 = 4.0;

/// A column of a density.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The first and the last nanosecond that it stands for.
    pub span: Interval,
    /// How many events it has.
    pub count: u32,
    /// The colour of what most of them are.
    pub colour: Rgb,
    /// The colour of a line over it: something among them is to be seen.
    pub notable: Option<Rgb>,
}

/// A number for little room: `12`, `999`, `1k`, `25M`.
fn short_count(count: u32) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}

impl Strip<'_> {
    /// Beside the sign of several events how many they are, if there is room before the next mark.
    pub fn paint_number(
        &self,
        count: u32,
        (x, y): (f64, f64),
        next: Option<f64>,
        painter: &mut dyn Painter,
    ) {
        if count < 2 {
            return;
        }
        let left = x + SIGN_PX + 2.0;
        let room = next.unwrap_or(self.right()) - SIGN_PX - left;
        let text = short_count(count);
        if painter.measure(&text, Face::Label) <= room {
            let ink = self.palette.ink2.into();
            painter.text(&text, (left, y), Face::Label, Align::Left, ink);
        }
    }

    /// Paints columns. Their heights go by the square root of what they count, so that single
    /// events are seen beside thousands; the one with the most is as high as the strip.
    pub fn paint_density(&self, columns: &[Column], painter: &mut dyn Painter) {
        let edges = |column: &Column| {
            let end = Nanos(column.span.end().0.saturating_add(1));
            (self.x(column.span.start()), self.x(end))
        };
        let is_seen = |column: &&Column| {
            let (left, right) = edges(column);
            right >= self.area.x && left <= self.right()
        };
        let counts = columns.iter().filter(is_seen).map(|column| column.count);
        let greatest = counts.max().unwrap_or(0).max(LEAST_GREATEST);
        let (bottom, most_px) = (self.area.y + self.area.h - 4.0, self.area.h - 8.0);
        for alike in columns.chunk_by(|one, next| one.colour == next.colour) {
            let mut outline = Outline::new(bottom);
            for column in alike.iter().filter(is_seen) {
                let share = (f64::from(column.count) / f64::from(greatest)).sqrt();
                let (left, right) = edges(column);
                outline.step(left, right, (most_px * share).max(LEAST_PX));
            }
            let paint = alike.first().map(|column| column.colour.alpha(0.85));
            if let Some(paint) = paint {
                painter.polygon(&outline.finish(), paint);
            }
        }
        for column in columns.iter().filter(is_seen) {
            if let Some(colour) = column.notable {
                let (left, right) = edges(column);
                let top = Rect::new(left, self.area.y + 1.0, right - left, TOP_PX);
                painter.fill(top, colour.into());
            }
        }
    }
}
