//! Nonmoving collector track: phases of the concurrent collector, and its instantaneous reports.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, DetailsQuery};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO};
use super::moments::add_by_column;
use super::{Log, Shape, TrackEntry, TrackKind, lane, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{duration, when};
use analysis::timeline::nonmoving::{OPEN, Phase, Point};
use model::density::Density;
use model::marks::{MarkKind, MarkView, MarkWriter, PackedPayload, Payload};
use scene::format;
use scene::painter::{Painter, Rect};
use scene::strip::{Strip, YOUNG, bottom_aligned, stripes_on};

/// Track of the nonmoving collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nonmoving;

/// Phase of the nonmoving collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhasePayload {
    /// Kind of phase: sync, mark or sweep.
    pub phase: Phase,
    /// Whether the phase had not ended when the log ended.
    pub open: bool,
    /// Number of marked objects.
    pub marked: u32,
}

impl Payload for PhasePayload {
    fn pack(self) -> PackedPayload {
        PackedPayload([self.phase as u32, self.open.into(), self.marked, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        let phase = Phase::ALL.get(packed.word(0) as usize);
        Self {
            phase: phase.copied().unwrap_or(Phase::Sweep),
            open: packed.word(1) != 0,
            marked: packed.word(2),
        }
    }
}

/// Maximum number of reports listed in the details.
const MAX_POINTS: usize = 40;

impl TrackKind for Nonmoving {
    type Payload = PhasePayload;

    const GROUP: TrackGroup = TrackGroup::Program;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Collections;

    link::word_link!("nonmoving");

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let there = !log.recording.tracks.nonmoving.is_empty();
        there.then(|| TrackEntry::new(Self, "Nonmoving GC"))
    }

    /// Writes the reports and the phases. Nested phases come last, because the last mark at a position is hit
    /// first.
    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let nonmoving = &log.recording.tracks.nonmoving;
        let points = nonmoving.all_points();
        let mut density = Density::new(writer);
        add_by_column(&mut density, points.len(), |i| points[i].0, |_| ());
        density.write(writer, |(), ()| ());
        for phase in Phase::ALL {
            let lane = nonmoving.lane(phase);
            writer.lane(lane, |i| {
                let piece = lane.get(i);
                PhasePayload {
                    phase,
                    open: piece.is_some_and(|piece| piece.code == OPEN),
                    marked: piece.map_or(0, |piece| piece.detail),
                }
            });
        }
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        let strip = &shown.strip;
        let (y, h) = (strip.area.y + 3.0, strip.area.h - 7.0);
        for (mark, span) in shown.marks.row_marks(self) {
            let rect = strip.rect(span, y, h);
            if matches!(mark.kind, MarkKind::Moment | MarkKind::Column) {
                let tick = Rect::new(rect.x - 1.0, strip.area.y + 2.0, rect.w.max(2.0), 4.0);
                painter.fill(tick, strip.palette.ink3.into());
            } else {
                paint_phase(strip, &mark, rect, painter);
            }
        }
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let text = match (item.kind, item.read::<PhasePayload>()) {
            (MarkKind::Moment | MarkKind::Column, _) => describe_report(item),
            (MarkKind::Many, part) => lane::several(item, part.phase.plural()),
            (MarkKind::One, part) => one(item, part),
        };
        ("Nonmoving collector".to_owned(), text)
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let nonmoving = &log.recording.tracks.nonmoving;
        let mut facts = Vec::new();
        for phase in Phase::ALL {
            let pieces = nonmoving.lane(phase);
            if query.many {
                facts.extend(lane::sums(pieces, query, phase.plural()));
            } else if let Some(piece) = lane::find_exact(pieces, query.span) {
                let duration = lane::span_of(piece).duration();
                facts.push(DetailField::new(phase.name(), format::duration(duration)));
                if phase == Phase::Mark {
                    let marked = format::count(piece.detail.into());
                    facts.push(DetailField::new("marked", format!("{marked} objects")));
                }
            }
        }
        let points = nonmoving.points(query.span);
        let first = points.iter().take(MAX_POINTS);
        facts.extend(first.map(|(_, point)| report_fact(point)));
        if points.len() > MAX_POINTS {
            let more = format::count((points.len() - MAX_POINTS) as u64);
            facts.push(DetailField::new("more", more));
        }
        facts
    }

    fn legend() -> Vec<LegendEntry> {
        let phase = |phase: Phase, open: bool| {
            let part = PhasePayload {
                phase,
                open,
                marked: 0,
            };
            let mark = LegendMark::span(phase.class(), FROM, TO).with_payload(part);
            LegendSample::row(Nonmoving, vec![mark])
        };
        let notes = [20.0, 48.0, 70.0].map(LegendMark::moment);
        vec![
            LegendEntry::new(
                "Nonmoving collector: sync",
                "The program is paused while the nonmoving collector finishes marking.",
                phase(Phase::Sync, false),
            ),
            LegendEntry::new(
                "Nonmoving collector: mark",
                "Marks live data in the oldest generation, while the program runs.",
                phase(Phase::Mark, false),
            ),
            LegendEntry::new(
                "Nonmoving collector: sweep",
                "Frees dead data, while the program runs.",
                phase(Phase::Sweep, false),
            ),
            LegendEntry::new(
                "Nonmoving collector: unfinished",
                "Stripes: the phase was unfinished at the end of the log. Sweeping is always striped.",
                phase(Phase::Mark, true),
            ),
            LegendEntry::new(
                "Nonmoving collector: a note",
                "A report: a census of its heap, or a remembered set handed over by a capability.",
                LegendSample::row(Nonmoving, notes.into()),
            ),
        ]
    }
}

/// Paints a phase: a sync, in which the program stands still, has the full height; marking is a bar in the middle;
/// sweeping is a striped bar at the bottom.
fn paint_phase(strip: &Strip<'_>, mark: &MarkView<'_>, rect: Rect, painter: &mut dyn Painter) {
    let PhasePayload { phase, open, .. } = mark.read();
    let share = mark.share_of_all().min(1.0);
    let (color, bar) = match phase {
        Phase::Sync => (strip.palette.gc_sync, bottom_aligned(rect, share)),
        Phase::Mark => {
            let h = (rect.h * YOUNG * share).max(2.0);
            let bar = Rect::new(rect.x, rect.y + (rect.h - h) / 2.0, rect.w, h);
            (strip.palette.gc, bar)
        }
        Phase::Sweep => (strip.palette.gc, bottom_aligned(rect, YOUNG * share)),
    };
    painter.fill(bar, color.into());
    if phase == Phase::Sweep || open {
        painter.hatch(bar, stripes_on(color));
    }
    if strip.patterns && phase == Phase::Sync {
        match mark.kind {
            MarkKind::Many => strip.paint_stripes(bar, painter),
            _ => painter.hatch_falling(bar, stripes_on(color)),
        }
    }
    if mark.kind == MarkKind::One {
        strip.paint_inside(phase.name(), bar, color, painter);
    }
}

fn describe_report(item: &Item) -> String {
    match item.count {
        1 => format!("wrote a report · {}", format::time(item.span.start())),
        count => format!("wrote {count} reports · {}", when(item)),
    }
}

fn one(item: &Item, part: PhasePayload) -> String {
    let (duration, when) = (duration(item), when(item));
    let open = lane::unfinished(part.open);
    match part.phase {
        Phase::Sync => format!("stopped the program for {duration}{open} · {when}"),
        Phase::Mark => {
            let marked = format::count(part.marked.into());
            format!("marked {marked} objects in {duration}{open} · {when}")
        }
        Phase::Sweep => format!("{} for {duration}{open} · {when}", part.phase.past_tense()),
    }
}

/// Returns a report of the collector as a fact.
fn report_fact(point: &Point) -> DetailField {
    match *point {
        Point::Flush(cap) => DetailField::new(
            "remembered set",
            format!("capability {cap} handed over its remembered set"),
        ),
        Point::Census {
            block_bytes,
            active,
            filled,
            live,
        } => {
            let [active, filled, live] = [active, filled, live].map(|n| format::count(n.into()));
            DetailField::new(
                format!("blocks of {}", format::bytes(block_bytes.into())),
                format!("{live} live; segments: {active} active, {filled} full"),
            )
        }
        Point::Pruned { pruned, free } => {
            let [pruned, free] = [pruned, free].map(|n| format::count(n.into()));
            DetailField::new("free segments", format!("{pruned} returned, {free} left"))
        }
    }
}
