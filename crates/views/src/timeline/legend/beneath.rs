//! The legend beneath a picture that is saved: what its marks mean, and no others.

use std::collections::BTreeSet;

use super::{Entry, entries, paint_sample};
use model::class::Class;
use model::marks::MarkKind;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::Palette;
use session::tracks::item::Marks;
use session::tracks::legend::{SAMPLE_PX, Section};

/// How wide an entry is with its name at the least, in pixels.
const ENTRY_PX: f64 = 290.0;
/// How far the legend is from the edges.
const MARGIN_PX: f64 = 12.0;
/// How far a name is from its sample.
const GAP_PX: f64 = 10.0;
/// How high the heading of a section is.
const HEADING_PX: f64 = 24.0;
/// How far the rows of entries are apart.
const ROW_GAP_PX: f64 = 5.0;

/// What marks there are: the kind of their track, whether several spans share a place, and a class.
type Seen = BTreeSet<(&'static str, bool, u8)>;

/// Adds what marks there are.
fn see(marks: &Marks, seen: &mut Seen) {
    for row in &marks.rows {
        for (mark, _) in marks.of(*row) {
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

/// The legend of a picture.
#[derive(Debug, Default)]
pub(in crate::timeline) struct Beneath(Vec<(Section, Vec<Entry>)>);

impl Beneath {
    /// Of the marks of timelines.
    pub(in crate::timeline) fn of<'a>(all: impl Iterator<Item = &'a Marks> + Clone) -> Self {
        let mut seen = Seen::new();
        all.clone().for_each(|marks| see(marks, &mut seen));
        let rows = all.flat_map(|marks| &marks.rows);
        let kinds: BTreeSet<&str> = rows.map(|row| row.kind()).collect();
        let is_there = |entry: &Entry| {
            let sample = &entry.scene.marks;
            let mut own = Seen::new();
            see(sample, &mut own);
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

    /// How high it is in a picture of that width.
    pub(in crate::timeline) fn height_px(&self, width_px: f64) -> f64 {
        let mut height = 0.0;
        self.place(width_px, |_, _, _, bottom| height = bottom + MARGIN_PX);
        height
    }

    /// Paints it from that height on.
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
        self.place(width_px, |x, y, part, _| match part {
            Part::Heading(section) => {
                let at = (x, top_px + y + HEADING_PX / 2.0 + 2.0);
                let ink = palette.ink2.into();
                painter.text(section.title(), at, Face::Heading, Align::Left, ink);
            }
            Part::Entry(entry) => {
                let height = entry.height_px();
                let sample = Rect::new(x, top_px + y, SAMPLE_PX, height);
                paint_sample(entry, sample, palette, patterns, painter);
                let at = (x + SAMPLE_PX + GAP_PX, top_px + y + height / 2.0);
                painter.text(entry.name, at, Face::Label, Align::Left, palette.ink.into());
            }
        });
    }

    /// Calls `see` with each part, where it stands, and where the lowest so far ends.
    fn place(&self, width_px: f64, mut see: impl FnMut(f64, f64, Part<'_>, f64)) {
        let room = (width_px - 2.0 * MARGIN_PX).max(ENTRY_PX);
        let columns = (room / ENTRY_PX).floor().max(1.0);
        let mut top = ROW_GAP_PX;
        for (section, entries) in &self.0 {
            see(MARGIN_PX, top, Part::Heading(*section), top + HEADING_PX);
            top += HEADING_PX;
            for row in entries.chunks(columns as usize) {
                let height = row.iter().map(Entry::height_px).fold(0.0, f64::max);
                let mut x = MARGIN_PX;
                for entry in row {
                    let y = top + (height - entry.height_px()) / 2.0;
                    see(x, y, Part::Entry(entry), top + height);
                    x += room / columns;
                }
                top += height + ROW_GAP_PX;
            }
        }
    }
}

/// What is placed.
enum Part<'a> {
    Heading(Section),
    Entry(&'a Entry),
}
