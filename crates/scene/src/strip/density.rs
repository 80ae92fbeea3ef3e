//! Columns for dense point events: the more events in a stretch of time, the higher its column.

use super::Strip;
use super::plot::Outline;
use crate::color::Rgb;
use crate::painter::{Align, Face, Painter, Rect};
use eventlog::ids::Nanos;
use model::time::Interval;

/// Lower bound of the count that fills the height of the strip.
const MIN_GREATEST: u32 = 4;
/// Minimum height of a column, in pixels.
const MIN_PX: f64 = 2.0;
/// Height of the line above a notable column, in pixels.
const TOP_PX: f64 = 3.0;

/// Half the width of a sign for one event, in pixels.
pub const SIGN_PX: f64 = 4.0;

/// A column of dense point events.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Interval of the column, from its first to its last nanosecond.
    pub span: Interval,
    /// Number of events.
    pub count: u32,
    /// Color of the most frequent kind of event.
    pub color: Rgb,
    /// Color of a line above the column, if it contains a notable event.
    pub notable: Option<Rgb>,
}

/// Formats a count where there is little room: `12`, `999`, `1k`, `25M`.
fn short_count(count: u32) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}

impl Strip<'_> {
    /// Paints the number of events next to their sign, if there are several and it fits before the next mark.
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

    /// Paints columns. Heights follow the square root of the counts, so that single events stay visible next to
    /// thousands; the highest column fills the strip.
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
        let greatest = counts.max().unwrap_or(0).max(MIN_GREATEST);
        let (bottom, most_px) = (self.area.y + self.area.h - 4.0, self.area.h - 8.0);
        for alike in columns.chunk_by(|one, next| one.color == next.color) {
            let mut outline = Outline::new(bottom);
            for column in alike.iter().filter(is_seen) {
                let share = (f64::from(column.count) / f64::from(greatest)).sqrt();
                let (left, right) = edges(column);
                outline.step(left, right, (most_px * share).max(MIN_PX));
            }
            let paint = alike.first().map(|column| column.color.alpha(0.85));
            if let Some(paint) = paint {
                painter.polygon(&outline.finish(), paint);
            }
        }
        for column in columns.iter().filter(is_seen) {
            if let Some(color) = column.notable {
                let (left, right) = edges(column);
                let top = Rect::new(left, self.area.y + 1.0, right - left, TOP_PX);
                painter.fill(top, color.into());
            }
        }
    }
}
