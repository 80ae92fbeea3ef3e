//! The names of the tracks at the left.

use super::{LABELS_PX, Scene};
use crate::scene::format;
use crate::scene::painter::{Align, Face, Painter, Rect};
use crate::timeline::layout::{Kind, Track};
use crate::tracks::item::Names;

impl<N: Names> Scene<'_, N> {
    /// The name of a track beside its `area`, and the lines around it.
    pub(super) fn paint_label(&self, track: &Track, area: Rect, painter: &mut impl Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        let panel = Rect::new(0.0, area.y, labels, area.h);
        painter.fill(panel, self.palette.panel.into());
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
        self.paint_name_and_note(track, middle, painter);
    }

    /// Which way the triangle before a heading points: down if what belongs to
    /// it is shown.
    fn paint_triangle(&self, folded: bool, middle: f64, painter: &mut impl Painter) {
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

    fn paint_name_and_note(&self, track: &Track, middle: f64, painter: &mut impl Painter) {
        let labels = self.labels_px();
        let (face, ink, left) = match track.kind {
            Kind::Group(_) => (Face::Heading, self.palette.ink2, 22.0),
            Kind::Label => (Face::Body, self.palette.ink2, 22.0),
            Kind::Row(_) => (Face::Body, self.palette.ink, 12.0),
        };
        let wide = labels >= LABELS_PX;
        let (name, note) = if wide {
            (track.name.as_str(), track.note.as_str())
        } else {
            (track.short.as_str(), "")
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
