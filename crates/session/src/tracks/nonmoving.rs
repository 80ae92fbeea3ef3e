//! Nonmoving collector track: phases of the concurrent collector, and its instantaneous reports.

use serde::{Deserialize, Serialize};

use super::details::{DetailsQuery, Fact};
use super::legend::{Explained, FROM, Sample, SampleMark, Section, TO};
use super::{Contents, Listed, Log, Shape, TrackKind, lane};
use crate::tracks::group::Group;
use crate::tracks::item::{Item, Names, Shown};
use crate::tracks::words::{duration, when};
use analysis::timeline::nonmoving::{OPEN, Phase, Point};
use model::density::Density;
use model::lane::partition;
use model::marks::{MarkKind, MarkView, NewMoment, Packed, Payload, Writer};
use scene::format;
use scene::painter::{Painter, Rect};
use scene::strip::{Strip, YOUNG, standing, stripes_on};

/// Track of the nonmoving collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nonmoving;

/// Phase of the nonmoving collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Kind of phase: sync, mark or sweep.
    pub phase: Phase,
    /// Whether the phase had not ended when the log ended.
    pub open: bool,
    /// Number of marked objects.
    pub marked: u32,
}

impl Payload for Part {
    fn pack(self) -> Packed {
        Packed([self.phase as u32, self.open.into(), self.marked, 0])
    }

    fn unpack(packed: Packed) -> Self {
        let phase = Phase::ALL.get(packed.word(0) as usize);
        Self {
            phase: phase.copied().unwrap_or(Phase::Sweep),
            open: packed.word(1) != 0,
            marked: packed.word(2),
        }
    }
}

/// Maximum number of reports listed in the details.
const MOST_POINTS: usize = 40;

impl TrackKind for Nonmoving {
    type Payload = Part;

    const GROUP: Group = Group::Program;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Collections;

    fn link(self, _: &Contents) -> String {
        "nonmoving".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "nonmoving").then_some(Self)
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let there = !log.recording.tracks.nonmoving.is_empty();
        let track = there.then(|| Listed::new(Self, "Nonmoving GC"));
        track.into_iter().collect()
    }

    /// Writes the reports and the phases. Nested phases come last, because the last mark at a position is hit
    /// first.
    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let nonmoving = &log.recording.tracks.nonmoving;
        write_points(nonmoving.all_points(), writer);
        for phase in Phase::ALL {
            let lane = nonmoving.lane(phase);
            writer.lane(lane, |i| {
                let piece = lane.get(i);
                Part {
                    phase,
                    open: piece.is_some_and(|piece| piece.code == OPEN),
                    marked: piece.map_or(0, |piece| piece.detail),
                }
            });
        }
    }

    fn paint<N: Names>(self, shown: &Shown<'_, N>, strip: &Strip<'_>, painter: &mut dyn Painter) {
        let (y, h) = (strip.area.y + 3.0, strip.area.h - 7.0);
        for (mark, span) in shown.marks.of(self) {
            let rect = strip.rect(span, y, h);
            if matches!(mark.kind, MarkKind::Moment | MarkKind::Column) {
                let tick = Rect::new(rect.x - 1.0, strip.area.y + 2.0, rect.w.max(2.0), 4.0);
                painter.fill(tick, strip.palette.ink3.into());
            } else {
                paint_phase(strip, &mark, rect, painter);
            }
        }
    }

    fn describe(self, item: &Item, _: &impl Names) -> (String, String) {
        let text = match (item.kind, item.read::<Part>()) {
            (MarkKind::Moment | MarkKind::Column, _) => told_at(item),
            (MarkKind::Many, part) => lane::several(item, part.phase.several()),
            (MarkKind::One, part) => one(item, part),
        };
        ("Nonmoving collector".to_owned(), text)
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<Fact> {
        let nonmoving = &log.recording.tracks.nonmoving;
        let mut facts = Vec::new();
        for phase in Phase::ALL {
            let pieces = nonmoving.lane(phase);
            if query.many {
                facts.extend(lane::sums(pieces, query, phase.several()));
            } else if let Some(piece) = lane::exactly(pieces, query.span) {
                let duration = lane::span_of(piece).duration();
                facts.push(Fact::new(phase.name(), format::duration(duration)));
                if phase == Phase::Mark {
                    let marked = format::count(piece.detail.into());
                    facts.push(Fact::new("marked", format!("{marked} objects")));
                }
            }
        }
        let points = nonmoving.points(query.span);
        let first = points.iter().take(MOST_POINTS);
        facts.extend(first.map(|(_, point)| told(point)));
        if points.len() > MOST_POINTS {
            let more = format::count((points.len() - MOST_POINTS) as u64);
            facts.push(Fact::new("more", more));
        }
        facts
    }

    fn legend() -> Vec<Explained> {
        let phase = |phase: Phase, open: bool| {
            let part = Part {
                phase,
                open,
                marked: 0,
            };
            let mark = SampleMark::span(phase.class(), FROM, TO).with(part);
            Sample::row(Nonmoving, vec![mark])
        };
        let notes = [20.0, 48.0, 70.0].map(SampleMark::moment);
        vec![
            Explained::new(
                "Nonmoving collector: sync",
                "The program stands still while the nonmoving collector marks the rest.",
                phase(Phase::Sync, false),
            ),
            Explained::new(
                "Nonmoving collector: mark",
                "It finds what is live in the oldest generation, while the program runs.",
                phase(Phase::Mark, false),
            ),
            Explained::new(
                "Nonmoving collector: sweep",
                "It frees what is not live, while the program runs.",
                phase(Phase::Sweep, false),
            ),
            Explained::new(
                "Nonmoving collector: not over",
                "A phase with stripes, of whatever shape, was not over when the log ended. Sweeping is always striped.",
                phase(Phase::Mark, true),
            ),
            Explained::new(
                "Nonmoving collector: a note",
                "It reported something: a census of its heap, or that a capability handed over its list of changed objects.",
                Sample::row(Nonmoving, notes.into()),
            ),
        ]
    }
}

fn write_points(points: &[(u64, Point)], writer: &mut Writer) {
    let mut density = Density::of(writer);
    let (view, bucket) = (density.wanted(), density.column_ns());
    let aligned = view.start().0 / bucket * bucket;
    let mut at = points.partition_point(|&(time, _)| time < aligned);
    while let Some(&(start, _)) = points.get(at).filter(|(time, _)| *time <= view.end().0) {
        let next = (start / bucket + 1).saturating_mul(bucket);
        let rest = points.len() - at;
        let count = partition(rest, |i| points[at + i].0 < next).max(1);
        density.push(NewMoment {
            start,
            end: points[at + count - 1].0,
            count,
            payload: (),
        });
        at += count;
    }
    density.write(writer, |(), ()| ());
}

/// Paints a phase: a sync, in which the program stands still, has the full height; marking is a bar in the middle;
/// sweeping is a striped bar at the bottom.
fn paint_phase(strip: &Strip<'_>, mark: &MarkView<'_>, rect: Rect, painter: &mut dyn Painter) {
    let Part { phase, open, .. } = mark.read();
    let share = mark.share_of_all().min(1.0);
    let (colour, bar) = match phase {
        Phase::Sync => (strip.palette.gc_sync, standing(rect, share)),
        Phase::Mark => {
            let h = (rect.h * YOUNG * share).max(2.0);
            let bar = Rect::new(rect.x, rect.y + (rect.h - h) / 2.0, rect.w, h);
            (strip.palette.gc, bar)
        }
        Phase::Sweep => (strip.palette.gc, standing(rect, YOUNG * share)),
    };
    painter.fill(bar, colour.into());
    if phase == Phase::Sweep || open {
        painter.hatch(bar, stripes_on(colour));
    }
    if strip.patterns && phase == Phase::Sync {
        match mark.kind {
            MarkKind::Many => strip.paint_stripes(bar, painter),
            _ => painter.hatch_falling(bar, stripes_on(colour)),
        }
    }
    if mark.kind == MarkKind::One {
        strip.paint_inside(phase.name(), bar, colour, painter);
    }
}

fn told_at(item: &Item) -> String {
    match item.count {
        1 => format!("reported on itself · {}", format::time(item.span.start())),
        count => format!("reported on itself {count} times · {}", when(item)),
    }
}

fn one(item: &Item, part: Part) -> String {
    let (duration, when) = (duration(item), when(item));
    let open = if part.open {
        ", not over when the log ended"
    } else {
        ""
    };
    match part.phase {
        Phase::Sync => format!("the program stood still for {duration}{open} · {when}"),
        Phase::Mark => {
            let marked = format::count(part.marked.into());
            format!("marked {marked} objects in {duration}{open} · {when}")
        }
        Phase::Sweep => format!("{} for {duration}{open} · {when}", part.phase.doing()),
    }
}

/// Returns a report of the collector as a fact.
fn told(point: &Point) -> Fact {
    match *point {
        Point::Flush(cap) => Fact::new(
            "remembered set",
            format!("capability {cap} handed over what it had remembered"),
        ),
        Point::Census {
            block_bytes,
            active,
            filled,
            live,
        } => {
            let [active, filled, live] = [active, filled, live].map(|n| format::count(n.into()));
            Fact::new(
                format!("blocks of {}", format::bytes(block_bytes.into())),
                format!("{live} live; segments: {active} active, {filled} full"),
            )
        }
        Point::Pruned { pruned, free } => {
            let [pruned, free] = [pruned, free].map(|n| format::count(n.into()));
            Fact::new("free segments", format!("{pruned} given back, {free} left"))
        }
    }
}
