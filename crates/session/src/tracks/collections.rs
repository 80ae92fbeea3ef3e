//! Collection track: garbage collections of the whole program, each preceded by the wait until all capabilities
//! had stopped.

use serde::{Deserialize, Serialize};

use super::capability::Capability;
use super::details::{DetailField, DetailsQuery};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO, buckets};
use super::sample_data::wave;
use super::{Log, Shape, TrackEntry, TrackKind, lane, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{duration, when};
use analysis::numbers::Collection;
use analysis::recording::Recording;
use model::class::Class;
use model::marks::{MarkKind, MarkView, MarkWriter, NONE, PackedPayload, Payload};
use model::time::Interval;
use scene::format;
use scene::painter::{Painter, Rect};
use scene::strip::{Strip, YOUNG, bottom_aligned, stripes_on};

/// Collections of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Collections;

/// One collection, or the wait before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionPayload {
    /// Number of the collection.
    pub number: Option<u32>,
    /// Statistics; `None` in logs before GHC 7.6.
    pub known: Option<GcStats>,
}

/// Statistics of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcStats {
    /// Generation that was collected, with all younger ones.
    pub generation: u16,
    /// Whether that is the oldest generation.
    pub oldest: bool,
    /// Whether several threads collected.
    pub parallel: bool,
}

impl Payload for CollectionPayload {
    fn pack(self) -> PackedPayload {
        let number = self.number.unwrap_or(NONE);
        match self.known {
            None => PackedPayload([number, NONE, 0, 0]),
            Some(known) => PackedPayload([
                number,
                known.generation.into(),
                known.oldest.into(),
                known.parallel.into(),
            ]),
        }
    }

    fn unpack(packed: PackedPayload) -> Self {
        let generation = packed
            .optional_word(1)
            .and_then(|word| u16::try_from(word).ok());
        Self {
            number: packed.optional_word(0),
            known: generation.map(|generation| GcStats {
                generation,
                oldest: packed.word(2) != 0,
                parallel: packed.word(3) != 0,
            }),
        }
    }
}

impl TrackKind for Collections {
    type Payload = CollectionPayload;

    const GROUP: TrackGroup = TrackGroup::Program;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Collections;

    link::word_link!("gc");

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let there = !log.recording.tracks.collections.is_empty();
        there.then(|| TrackEntry::new(Self, "Collections"))
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let numbers = &log.recording.numbers;
        let lane = log.recording.tracks.collections.lane();
        writer.lane(lane, |i| {
            let number = lane.get(i).map(|piece| piece.detail);
            let found = number.and_then(|number| numbers.collection(number));
            CollectionPayload {
                number,
                known: found.and_then(|collection| {
                    let generation = collection.generation?;
                    Some(GcStats {
                        generation,
                        oldest: numbers.is_oldest(generation),
                        parallel: collection.is_parallel(),
                    })
                }),
            }
        });
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        let strip = &shown.strip;
        let (y, h) = (strip.area.y + 3.0, strip.area.h - 7.0);
        for (mark, span) in shown.marks.row_marks(self) {
            let rect = strip.rect(span, y, h);
            if mark.kind == MarkKind::Many {
                paint_several(strip, &mark, rect, painter);
            } else if mark.class == Class::GcSync {
                paint_wait(strip, rect, painter);
            } else {
                paint_one(strip, mark.read::<CollectionPayload>().known, rect, painter);
            }
        }
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let CollectionPayload { number, known } = item.read();
        let name = match number {
            Some(number) if item.kind == MarkKind::One => format!("Collection {number}"),
            _ => "Garbage collector".to_owned(),
        };
        if item.kind == MarkKind::Many {
            let what = match item.count {
                1 => "collection or wait",
                _ => "collections and waits",
            };
            return (name, lane::several(item, what));
        }
        let (duration, when) = (duration(item), when(item));
        let text = match known {
            _ if item.class == Class::GcSync => {
                format!("waited {duration} until all capabilities had stopped · {when}")
            }
            None => format!("collected garbage for {duration} · {when}"),
            Some(known) => {
                let kind = if known.parallel {
                    "parallel"
                } else {
                    "sequential"
                };
                let oldest = if known.oldest { ", the oldest" } else { "" };
                let generation = known.generation;
                format!("of generation {generation}{oldest}, {kind}, for {duration} · {when}")
            }
        };
        (name, text)
    }

    /// Returns all statistics of one collection, or the sums and the longest of several.
    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let numbers = &log.recording.numbers;
        let lane = log.recording.tracks.collections.lane();
        let mut found: Vec<u32> = lane.within(query.span).map(|piece| piece.detail).collect();
        found.dedup();
        let found = found
            .iter()
            .filter_map(|number| numbers.collection(*number));
        if query.many {
            several(found)
        } else {
            let first = found.into_iter().next();
            first.map_or_else(Vec::new, |collection| one(collection, log.recording))
        }
    }

    fn legend() -> Vec<LegendEntry> {
        let gc = |known: Option<GcStats>| {
            let pause = CollectionPayload {
                number: None,
                known,
            };
            let mark = LegendMark::span(Class::Gc, FROM, TO).with_payload(pause);
            LegendSample::row(Collections, vec![mark])
        };
        let known = |generation, oldest, parallel| {
            Some(GcStats {
                generation,
                oldest,
                parallel,
            })
        };
        let several = buckets(|place| vec![(Class::Gc, wave(place, 0.8)), (Class::GcSync, 0.1)]);
        vec![
            LegendEntry::new(
                "A young collection",
                "Collection of the youngest generation only: a low bar. The program is paused.",
                gc(known(0, false, false)),
            ),
            LegendEntry::new(
                "A major collection",
                "Collection of the oldest generation, and so of the whole heap: a bar of full height. Other generations are in between.",
                gc(known(1, true, false)),
            ),
            LegendEntry::new(
                "A parallel collection",
                "Collection by several OS threads: a line along the bar.",
                gc(known(1, true, true)),
            ),
            LegendEntry::new(
                "A collection without statistics",
                "The generation is not in the log: a bar of full height, without text.",
                gc(None),
            ),
            LegendEntry::new(
                "Waiting for a collection",
                "From the first request until all capabilities have stopped.",
                LegendSample::row(Collections, vec![LegendMark::span(Class::GcSync, FROM, TO)]),
            ),
            LegendEntry::new(
                "Several collections in a pixel",
                "Bar height: their share of the time.",
                LegendSample::row(Collections, several),
            ),
        ]
    }
}

/// Paints a collection as a bar standing on the bottom: full height for the oldest generation, lower for younger
/// ones, with a line through parallel ones.
fn paint_one(strip: &Strip<'_>, known: Option<GcStats>, rect: Rect, painter: &mut dyn Painter) {
    let gc = strip.palette.gc;
    let height = match known {
        None => 1.0,
        Some(known) if known.oldest => 1.0,
        Some(known) if known.generation == 0 => YOUNG,
        Some(_) => (1.0 + YOUNG) / 2.0,
    };
    let bar = bottom_aligned(rect, height);
    painter.fill(bar, gc.into());
    if strip.patterns {
        painter.hatch_falling(bar, stripes_on(gc));
    }
    let Some(known) = known else { return };
    if known.parallel {
        let line = Rect::new(bar.x, bar.y + 1.5, bar.w, 1.0);
        painter.fill(line, strip.palette.page.into());
    }
    let text = format!("gen {}", known.generation);
    strip.paint_inside(&text, bar, gc, painter);
}

/// Paints the wait before a collection as a thin line at the bottom.
fn paint_wait(strip: &Strip<'_>, rect: Rect, painter: &mut dyn Painter) {
    let line = Rect::new(rect.x, rect.y + rect.h - 2.0, rect.w, 2.0);
    painter.fill(line, strip.palette.gc_sync.into());
}

/// Paints several collections in a pixel as a bar whose height is their share of the time.
fn paint_several(strip: &Strip<'_>, mark: &MarkView<'_>, rect: Rect, painter: &mut dyn Painter) {
    paint_wait(strip, rect, painter);
    let classes = Class::ALL.into_iter().filter(|class| class.is_gc());
    let gc: f64 = classes.map(|class| mark.share(class)).sum();
    if gc > 0.0 {
        let bar = bottom_aligned(rect, gc);
        painter.fill(bar, strip.palette.gc.into());
        strip.paint_stripes(bar, painter);
    }
}

/// Returns all statistics of a collection.
fn one(gc: &Collection, log: &Recording) -> Vec<DetailField> {
    let numbers = &log.numbers;
    let span = Interval::new(gc.start, gc.end);
    let count = format::count(numbers.collection_count() as u64);
    let number = format!("{} of {count}", format::count(gc.number.into()));
    let known = |label: &str, text: Option<String>| text.map(|text| DetailField::new(label, text));
    let collection = DetailField::new("collection", number).linked_to(Collections, span);
    let pause = DetailField::new("pause", format::duration_ns(gc.pause_ns()));
    let wait = known("until all had stopped", gc.sync_ns.map(format::duration_ns));
    let Some(generation) = gc.generation else {
        let more = DetailField::new("more", "the log has no statistics of it");
        return [collection, pause]
            .into_iter()
            .chain(wait)
            .chain([more])
            .collect();
    };
    let oldest = if numbers.is_oldest(generation) {
        ", the oldest"
    } else {
        ""
    };
    let kind = match gc.threads {
        0 | 1 => "sequential".to_owned(),
        threads => parallel(span, threads, log),
    };
    let led = DetailField::new("led by", format!("capability {}", gc.cap));
    let allocated = format::bytes(gc.allocated_bytes);
    let facts = [
        Some(collection),
        Some(DetailField::new(
            "generation",
            format!("{generation}{oldest}"),
        )),
        Some(DetailField::new("kind", kind)),
        Some(led.linked_to(Capability(gc.cap), span)),
        Some(pause),
        wait,
        Some(DetailField::new("copied", format::bytes(gc.copied_bytes))),
        known("live after", gc.live_bytes.map(format::bytes)),
        known("heap size", gc.heap_size_bytes.map(format::bytes)),
        Some(DetailField::new("allocated since the last one", allocated)),
        known("balance", gc.balance().map(format::fraction)),
        Some(DetailField::new(
            "fragmentation",
            format::bytes(gc.fragmentation_bytes),
        )),
        Some(DetailField::new("slop", format::bytes(gc.slop_bytes))),
    ];
    facts.into_iter().flatten().collect()
}

/// Returns how many of the reported threads did any work; idle capabilities may take no part.
fn parallel(span: Interval, threads: u32, log: &Recording) -> String {
    let caps = log.times(Some(span)).caps;
    let worked = caps.iter().filter(|(_, times)| times.collecting_ns > 0);
    match worked.count() as u64 {
        worked if worked > 0 && worked < threads.into() => {
            format!("parallel, {worked} of {threads} threads worked")
        }
        _ => format!("parallel, {threads} threads"),
    }
}

/// Returns the sums of several collections, and the longest one.
fn several<'a>(found: impl Iterator<Item = &'a Collection>) -> Vec<DetailField> {
    let (mut count, mut pauses_ns, mut copied) = (0u64, 0u64, 0u64);
    let mut longest: Option<&Collection> = None;
    for gc in found {
        count += 1;
        pauses_ns = pauses_ns.saturating_add(gc.pause_ns());
        copied = copied.saturating_add(gc.copied_bytes);
        if longest.is_none_or(|longest| longest.pause_ns() < gc.pause_ns()) {
            longest = Some(gc);
        }
    }
    let Some(longest) = longest else {
        return Vec::new();
    };
    let text = format!(
        "{}, collection {}",
        format::duration_ns(longest.pause_ns()),
        longest.number
    );
    let span = Interval::new(longest.start, longest.end);
    vec![
        DetailField::new("collections", format::count(count)),
        DetailField::new("total pause", format::duration_ns(pauses_ns)),
        DetailField::new("longest", text).linked_to(Collections, span),
        DetailField::new("copied", format::bytes(copied)),
    ]
}
