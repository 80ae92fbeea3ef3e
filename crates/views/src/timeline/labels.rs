//! Painting of the track labels on the left.

use super::{LABELS_PX, Scene};
use crate::timeline::layout::{Kind, Track};
use scene::format;
use scene::gauge::Series;
use scene::painter::{Align, Face, Painter, Rect};
use session::tracks::TrackId;

/// Left margin of track names, in pixels.
const LEFT_PX: f64 = 12.0;
/// Distance of the first line of keys from the name, in pixels.
const NAME_PX: f64 = 15.0;
/// Height of a line of keys, in pixels.
const KEY_LINE_PX: f64 = 12.0;
/// Width of a key, its distance to its name, and from there to the next key, in pixels.
const KEY_PX: f64 = 11.0;
const KEY_GAP_PX: f64 = 4.0;
const KEYS_APART_PX: f64 = 9.0;

/// Legend of the series of a gauge, below the track name.
#[derive(Default)]
struct Keys {
    /// Number of lines.
    lines: u32,
    /// Series with the left edge in pixels and the line of each.
    placed: Vec<(Series, (f64, u32))>,
}

impl Scene<'_> {
    /// Paints the name of a track left of its `area`, and the separator lines.
    pub(super) fn paint_label(&self, track: &Track, area: Rect, painter: &mut dyn Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        let panel = Rect::new(0.0, area.y, labels, area.h);
        painter.fill(panel, self.palette.panel.into());
        if track.kind == Kind::Process {
            let line = Rect::new(0.0, area.y, width, area.h);
            painter.fill(line, self.palette.accent.alpha(0.08));
        }
        if track.selected {
            painter.fill(panel, self.palette.accent.alpha(0.13));
        }
        let bottom = area.y + area.h - 1.0;
        painter.fill(
            Rect::new(0.0, bottom, width, 1.0),
            self.palette.faint_line.into(),
        );
        painter.fill(
            Rect::new(labels - 1.0, area.y, 1.0, area.h),
            self.palette.line.into(),
        );
        let middle = area.y + area.h / 2.0;
        if Self::is_heading(track) {
            self.paint_triangle(track.folded, middle, painter);
        }
        let keys = self.keys(track, area.h, painter);
        // Name and keys together are vertically centered.
        let top = middle - KEY_LINE_PX / 2.0 * f64::from(keys.lines);
        self.paint_name_and_note(track, top, painter);
        let strip = self.strip(area);
        for (series, (x, line)) in keys.placed {
            let y = top + NAME_PX + KEY_LINE_PX * f64::from(line);
            let rect = Rect::new(x, y - 4.0, KEY_PX, 8.0);
            strip.paint_key(series.look, rect, painter);
            let at = (x + KEY_PX + KEY_GAP_PX, y);
            let ink = self.palette.ink2.into();
            painter.text(series.key, at, Face::Label, Align::Left, ink);
        }
    }

    /// Lays out the keys of a track's series in lines; empty if they do not all fit.
    fn keys(&self, track: &Track, height: f64, painter: &mut dyn Painter) -> Keys {
        let series = track.row().map_or(&[][..], TrackId::color_keys);
        let mut keys = Keys::default();
        let right = self.labels_px() - 6.0;
        let mut x = LEFT_PX;
        for (_, series) in (0..)
            .zip(series)
            .filter(|(i, _)| !track.missing_series.contains(i))
        {
            let width = KEY_PX + KEY_GAP_PX + painter.measure(series.key, Face::Label);
            if keys.lines == 0 || x + width > right {
                (x, keys.lines) = (LEFT_PX, keys.lines + 1);
            }
            keys.placed.push((*series, (x, keys.lines - 1)));
            x += width + KEYS_APART_PX;
        }
        let needed = NAME_PX + KEY_LINE_PX * f64::from(keys.lines);
        if needed > height {
            Keys::default()
        } else {
            keys
        }
    }

    /// Paints the triangle of a heading: it points down if the heading is unfolded.
    fn paint_triangle(&self, folded: bool, middle: f64, painter: &mut dyn Painter) {
        let x = 9.0;
        let corners = if folded {
            [(x, middle - 4.0), (x + 5.0, middle), (x, middle + 4.0)]
        } else {
            [
                (x - 1.5, middle - 2.5),
                (x + 6.5, middle - 2.5),
                (x + 2.5, middle + 2.5),
            ]
        };
        painter.polygon(&corners, self.palette.ink2.into());
    }

    fn paint_name_and_note(&self, track: &Track, middle: f64, painter: &mut dyn Painter) {
        let labels = self.labels_px();
        let (face, ink, left) = match track.kind {
            Kind::Process => (Face::Body, self.palette.ink, 22.0),
            Kind::Group(_) => (Face::Heading, self.palette.ink2, 22.0),
            Kind::Label => (Face::Body, self.palette.ink2, 22.0),
            Kind::Track(_) => (Face::Body, self.palette.ink, LEFT_PX),
        };
        let wide = labels >= LABELS_PX;
        let (name, note) = if wide {
            (track.title.as_str(), track.note.as_str())
        } else {
            (track.short_title.as_str(), "")
        };
        let note_px = if note.is_empty() {
            0.0
        } else {
            painter.measure(note, Face::Mono) + 8.0
        };
        let room = labels - left - 8.0 - note_px;
        let name = format::truncate_middle(name, room, |text| painter.measure(text, face));
        painter.text(&name, (left, middle), face, Align::Left, ink.into());
        if !note.is_empty() {
            let at = (labels - 9.0, middle);
            painter.text(note, at, Face::Mono, Align::Right, self.palette.ink3.into());
        }
    }
}
