//! Legend below a saved picture, restricted to the marks in the picture.

use std::collections::BTreeSet;

use super::{Entry, entries, paint_sample};
use model::class::Class;
use model::marks::MarkKind;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::Palette;
use session::tracks::item::Marks;
use session::tracks::legend::{SAMPLE_PX, Section};

/// Minimum width of an entry including its name, in pixels.
const ENTRY_PX: f64 = 290.0;
/// Distance of the legend from the edges, in pixels.
const MARGIN_PX: f64 = 12.0;
/// Distance of a name from its sample, in pixels.
const GAP_PX: f64 = 10.0;
/// Height of a section heading, in pixels.
const HEADING_PX: f64 = 24.0;
/// Distance between rows of entries, in pixels.
const ROW_GAP_PX: f64 = 5.0;

/// Kinds of marks present: the kind of the track, whether several spans are merged, and the class.
type MarkKindSet = BTreeSet<(&'static str, bool, u8)>;

/// Adds the kinds of `marks`.
fn collect_kinds(marks: &Marks, seen: &mut MarkKindSet) {
    for row in &marks.rows {
        for (mark, _) in marks.row_marks(*row) {
            match mark.kind {
                MarkKind::Moment | MarkKind::Column => {}
                MarkKind::One => {
                    seen.insert((row.kind(), false, mark.class as u8));
                }
                MarkKind::Many => {
                    let there = Class::ALL.iter().filter(|class| mark.share(**class) > 0.0);
                    seen.extend(there.map(|class| (row.kind(), true, *class as u8)));
                }
            }
        }
    }
}

/// Legend of a picture, by section.
#[derive(Debug, Default)]
pub(in crate::timeline) struct PictureLegend(Vec<(Section, Vec<Entry>)>);

impl PictureLegend {
    /// Returns the legend for the marks of one or more timelines.
    pub(in crate::timeline) fn from_marks<'a>(
        all: impl Iterator<Item = &'a Marks> + Clone,
    ) -> Self {
        let mut seen = MarkKindSet::new();
        all.clone()
            .for_each(|marks| collect_kinds(marks, &mut seen));
        let rows = all.flat_map(|marks| &marks.rows);
        let kinds: BTreeSet<&str> = rows.map(|row| row.kind()).collect();
        let is_there = |entry: &Entry| {
            let sample = &entry.scene.marks;
            let mut own = MarkKindSet::new();
            collect_kinds(sample, &mut own);
            match own.is_empty() {
                true => sample.rows.iter().any(|row| kinds.contains(row.kind())),
                false => !own.is_disjoint(&seen),
            }
        };
        let of_marks = |section: &&Section| !matches!(section, Section::Arrows | Section::Pointing);
        let sections = Section::ALL.iter().filter(of_marks).map(|section| {
            let entries = entries(*section).into_iter().filter(is_there);
            (*section, entries.collect::<Vec<_>>())
        });
        Self(
            sections
                .filter(|(_, entries)| !entries.is_empty())
                .collect(),
        )
    }

    /// Returns the height in a picture of this width, in pixels.
    pub(in crate::timeline) fn height_px(&self, width_px: f64) -> f64 {
        let mut height = 0.0;
        self.lay_out(width_px, |_, _, _, bottom| height = bottom + MARGIN_PX);
        height
    }

    /// Paints the legend starting at `top_px`.
    pub(in crate::timeline) fn paint(
        &self,
        top_px: f64,
        width_px: f64,
        (palette, patterns): (&Palette, bool),
        painter: &mut dyn Painter,
    ) {
        let ground = Rect::new(0.0, top_px, width_px, self.height_px(width_px));
        painter.fill(ground, palette.panel.into());
        painter.fill(Rect { h: 1.0, ..ground }, palette.line.into());
        self.lay_out(width_px, |x, y, part, _| match part {
            LegendPart::Heading(section) => {
                let at = (x, top_px + y + HEADING_PX / 2.0 + 2.0);
                let ink = palette.ink2.into();
                painter.text(section.title(), at, Face::Heading, Align::Left, ink);
            }
            LegendPart::Entry(entry) => {
                let height = entry.height_px();
                let sample = Rect::new(x, top_px + y, SAMPLE_PX, height);
                paint_sample(entry, sample, palette, patterns, painter);
                let at = (x + SAMPLE_PX + GAP_PX, top_px + y + height / 2.0);
                painter.text(entry.name, at, Face::Label, Align::Left, palette.ink.into());
            }
        });
    }

    /// Calls `see` with the position of each part, the part, and the lowest bottom so far.
    fn lay_out(&self, width_px: f64, mut see: impl FnMut(f64, f64, LegendPart<'_>, f64)) {
        let room = (width_px - 2.0 * MARGIN_PX).max(ENTRY_PX);
        let columns = (room / ENTRY_PX).floor().max(1.0);
        let mut top = ROW_GAP_PX;
        for (section, entries) in &self.0 {
            see(
                MARGIN_PX,
                top,
                LegendPart::Heading(*section),
                top + HEADING_PX,
            );
            top += HEADING_PX;
            for row in entries.chunks(columns as usize) {
                let height = row.iter().map(Entry::height_px).fold(0.0, f64::max);
                let mut x = MARGIN_PX;
                for entry in row {
                    let y = top + (height - entry.height_px()) / 2.0;
                    see(x, y, LegendPart::Entry(entry), top + height);
                    x += room / columns;
                }
                top += height + ROW_GAP_PX;
            }
        }
    }
}

/// Placed part of the legend.
enum LegendPart<'a> {
    Heading(Section),
    Entry(&'a Entry),
}
