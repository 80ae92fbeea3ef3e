//! Capability tracks: runs of threads, and collections with their phases.

use serde::{Deserialize, Serialize};

use super::capability_paint::{is_collection, paint};
use super::details::{
    DetailField, Details, DetailsQuery, LinkRelation, MAX_LISTED, exact_duration,
};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO, buckets};
use super::sample_data::wave;
use super::thread::Thread;
use super::{Log, Shape, TrackEntry, TrackKind, TrackListInput, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{duration, parts, several, thread_name, when};
use analysis::account::gc_spans::GcSpans;
use analysis::account::pauses::Pause;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{CLASSES, Class, StopCode};
use model::lane::Lane;
use model::marks::{MarkKind, MarkWriter, NONE, NewSpan, PackedPayload, Payload, split_u64};
use model::time::Interval;
use scene::format;
use scene::painter::Painter;

/// Track of one capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Capability(pub CapId);

/// Run of a thread; parts of collections have neither field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPayload {
    /// Thread that ran; `None` for a part of a collection.
    pub thread: Option<ThreadId>,
    /// Reason why the run ended.
    pub stop: StopCode,
}

impl Payload for RunPayload {
    fn pack(self) -> PackedPayload {
        let thread = self.thread.map_or(NONE, |thread| thread.0);
        PackedPayload([thread, self.stop.0.into(), 0, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self {
            thread: packed.optional_word(0).map(ThreadId),
            stop: StopCode(packed.word(1) as u8),
        }
    }
}

/// Size of the events in blocks that are not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) bytes: u64,
}

impl Payload for Unread {
    fn pack(self) -> PackedPayload {
        let [high, low] = split_u64(self.bytes);
        PackedPayload([high, low, 0, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self {
            bytes: packed.u64_at(0),
        }
    }
}

impl TrackKind for Capability {
    type Payload = RunPayload;

    const GROUP: TrackGroup = TrackGroup::Capabilities;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Capabilities;
    const HEIGHT_PX: f64 = 30.0;

    link::number_link!("cap", |cap| Self(CapId(cap)));

    fn entries_in_log(_: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        Vec::new()
    }

    /// The page provides the capabilities from the overview of the log.
    fn entries_to_show(known: &TrackListInput<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let processes = &known.contents.processes;
        let listed = move |(cap, note): &(CapId, String)| {
            TrackEntry::new(Self(*cap), processes.cap_name(*cap))
                .short(format!("Cap {cap}"))
                .note(note)
        };
        known.caps.iter().map(listed)
    }

    fn cap(self) -> Option<CapId> {
        Some(self.0)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        self.read(log, writer);
        self.unread(log, writer);
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        paint(self, shown, painter);
    }

    fn name_in_sentence(self, _: &str) -> String {
        format!("capability {}", self.0)
    }

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
        let cap = self.0;
        let subject = format!("Capability {cap}");
        let of_gc = is_collection(item.class);
        if item.class == Class::Unread {
            return (subject, not_read_yet(item));
        }
        if item.kind == MarkKind::Many {
            let text = match (of_gc, item.count) {
                (true, 0) => parts("parts of a collection", item),
                (true, 1) => several(item, "collection"),
                (true, _) => several(item, "collections"),
                (false, 1) => several(item, "run of a thread"),
                (false, _) => several(item, "runs of threads"),
            };
            return (subject, text);
        }
        let (duration, when) = (duration(item), when(item));
        if of_gc {
            let text = phase(item.class);
            return (subject, format!("{text} for {duration} · {when}"));
        }
        let run = item.read::<RunPayload>();
        let thread = run.thread.map_or_else(
            || "a thread".to_owned(),
            |thread| thread_name(names, thread),
        );
        let ended = match item.class {
            Class::Open => "it was still running when the log ended".to_owned(),
            _ => format!("then: {}", run.stop.explanation(None)),
        };
        (
            thread,
            format!("ran for {duration} on capability {cap}, {ended} · {when}"),
        )
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        if log.is_unread(query.span) {
            return Vec::new();
        }
        Details::for_log(log).cap_facts(self.0, query)
    }

    /// Returns the thread of a single run.
    fn thread_of(self, item: &Item) -> Option<ThreadId> {
        let is_run = item.kind == MarkKind::One && item.class != Class::Unread;
        let run = is_run.then(|| item.read::<RunPayload>());
        run.and_then(|run| run.thread)
    }

    fn class_of(self, item: &Item) -> Option<Class> {
        Some(item.class)
    }

    fn legend() -> Vec<LegendEntry> {
        let run = RunPayload {
            thread: Some(ThreadId(7)),
            stop: StopCode(0),
        };
        let of = |class| {
            LegendSample::row(
                Capability(CapId(0)),
                vec![LegendMark::span(class, FROM, TO).with_payload(run)],
            )
        };
        let runs = buckets(|place| vec![(Class::Running, wave(place, 0.9))]);
        let collections = buckets(|place| {
            vec![
                (Class::Gc, wave(place, 0.45)),
                (Class::GcIdle, 0.2),
                (Class::GcSync, wave(place + 9.0, 0.2)),
            ]
        });
        let blocks = [(FROM, 32.0, 0.5), (32.0, 56.0, 0.9), (60.0, TO, 0.3)];
        let unread =
            blocks.map(|(from, to, share)| LegendMark::span(Class::Unread, from, to).share(share));
        vec![
            LegendEntry::new(
                "A thread runs",
                "Haskell code (mutator): a full bar with the name of the thread.",
                of(Class::Running),
            ),
            LegendEntry::new(
                "Several runs in a pixel",
                "Bars from the bottom; height: share of the time in which threads ran.",
                LegendSample::row(Capability(CapId(0)), runs),
            ),
            LegendEntry::new(
                "Still running",
                "The thread was still running at the end of the log, or the end of the run is lost.",
                of(Class::Open),
            ),
            LegendEntry::new(
                "Stopping for a collection",
                "A collection was requested; the capability is stopped until all have stopped.",
                of(Class::GcSync),
            ),
            LegendEntry::new(
                "Collecting garbage",
                "The capability does GC work; no thread runs on it.",
                of(Class::Gc),
            ),
            LegendEntry::new(
                "No work logged in a collection",
                "A collection in which the capability has not logged work yet, or logs none. The leader prepares the collection; the others wait, or take no part.",
                of(Class::GcStart),
            ),
            LegendEntry::new(
                "Idle in a collection",
                "The capability has no GC work and looks for some, while others have work.",
                of(Class::GcIdle),
            ),
            LegendEntry::new(
                "Done with its part",
                "The capability has done its part of the collection. The leader finishes the collection; the others wait for its end.",
                of(Class::GcDone),
            ),
            LegendEntry::new(
                "Heap census",
                "All capabilities are stopped for a census of a heap profile.",
                of(Class::Census),
            ),
            LegendEntry::new(
                "Resuming after GC",
                "The collection is over, but the capability has not resumed: its OS thread does not run yet, or there is nothing to run.",
                of(Class::Returning),
            ),
            LegendEntry::new(
                "Unknown",
                "Not in the log: a buffer was lost when the program was killed, or bytes are damaged.",
                of(Class::Unknown),
            ),
            LegendEntry::new(
                "Not read yet",
                "Not read yet. Bar height: bytes logged in that time; half the height is usual for this log.",
                LegendSample::row(Capability(CapId(0)), unread.to_vec()),
            ),
            LegendEntry::new(
                "Several collections in a pixel",
                "Bars from the top: GC work, then waits within collections, then waits before them.",
                LegendSample::row(Capability(CapId(0)), collections),
            ),
        ]
    }
}

impl Capability {
    /// Writes runs and collections of the part of the log that is read.
    fn read(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let store = &log.recording.store;
        let Some(cap) = store.cap(self.0) else {
            return;
        };
        writer.lane(&cap.runs, |i| RunPayload {
            thread: store.thread_of(self.0, i),
            stop: store.code_of(self.0, i).unwrap_or(StopCode::OPEN),
        });
        let nothing = |_| RunPayload {
            thread: None,
            stop: StopCode(0),
        };
        match store.account().gc_spans_of(self.0) {
            Some(gc_spans) => writer.lane(gc_spans, nothing),
            // The time account is complete only when the log is fully read.
            None => writer.lane(cap.phases.lane(), nothing),
        }
    }

    /// Writes the density of the part of the log that is not read yet.
    fn unread(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let unread = log.unread_in(writer.view);
        let bucket_ns = writer.bucket_ns;
        log.unread.marks(Some(self.0), unread, bucket_ns, |part| {
            let mut shares = [0.0; CLASSES];
            shares[Class::Unread as usize] = part.density as f32;
            writer.span(NewSpan {
                many: part.blocks > 1,
                class: Class::Unread,
                start: part.span.start().0,
                end: part.span.end().0,
                count: part.blocks,
                shares,
                payload: Unread { bytes: part.bytes },
            });
        });
    }
}

/// Describes an item that is not read yet.
fn not_read_yet(item: &Item) -> String {
    let bytes = format::bytes(item.read::<Unread>().bytes);
    let logged = match item.kind {
        MarkKind::Many => format!("in {} blocks", format::count(item.count.into())),
        _ => format!("logged within {}", duration(item)),
    };
    format!("not read yet: {bytes} of events, {logged} · {}", when(item))
}

/// Returns the phrase for a part of a collection, which continues a sentence about the capability.
const fn phase(class: Class) -> &'static str {
    match class {
        Class::GcSync => "waited until all capabilities had stopped for a collection",
        Class::GcStart => "was paused for GC, did no GC work,",
        Class::Census => "was stopped for a heap census",
        Class::Returning => "had not resumed after a collection",
        Class::Unknown => "did something that is not in the log",
        Class::GcIdle => "had no work in a collection and looked for some",
        Class::GcDone => "had done its part of a collection and waited for its end",
        _ => "collected garbage",
    }
}

impl Details<'_> {
    fn cap_facts(&self, cap: CapId, query: &DetailsQuery) -> Vec<DetailField> {
        let mut facts = Vec::new();
        let Some(lanes) = self.store.cap(cap) else {
            return facts;
        };
        if query.many {
            self.merged_cap_facts(cap, query.span, &mut facts);
        } else if let Some(place) = lanes.runs.find_exact(query.span) {
            self.run(cap, place, &mut facts);
        } else if let Some(gc_spans) = self.store.account().gc_spans_of(cap)
            && let Some(place) = gc_spans.find_exact(query.span)
        {
            self.gc_span(cap, gc_spans, place, &mut facts);
        }
        facts
    }

    fn merged_cap_facts(&self, cap: CapId, span: Interval, facts: &mut Vec<DetailField>) {
        let Some(lanes) = self.store.cap(cap) else {
            return;
        };
        let thread = |place| {
            let thread = self.store.thread_of(cap, place);
            thread.map_or_else(String::new, |thread| self.name(thread))
        };
        let row = Capability(cap);
        let what = ["run of a thread", "runs of threads"];
        self.merged_facts(row, span, &lanes.runs, what, thread, facts);
        if let Some(gc_spans) = self.store.account().gc_spans_of(cap) {
            let name = |place| gc_spans.class(place).name().to_owned();
            let what = ["collection", "collections"];
            self.merged_facts(row, span, gc_spans, what, name, facts);
        }
    }

    /// Adds the details of a run, by its index in the capability's lane.
    pub(super) fn run(&self, cap: CapId, place: usize, facts: &mut Vec<DetailField>) {
        let (Some(lanes), Some(thread)) = (self.store.cap(cap), self.store.thread_of(cap, place))
        else {
            return;
        };
        let span = lanes.runs.interval(place);
        let fact = DetailField::new("thread", self.name(thread));
        facts.push(fact.linked_to(Thread(thread), span));
        facts.push(DetailField::new("capability", cap.to_string()));
        self.duration_facts(span, facts);
        self.turn_of(thread, (span.start().0, cap), facts);
        let neighbors = [
            (place.checked_sub(1), "ran here before", LinkRelation::Other),
            (place.checked_add(1), "ran here next", LinkRelation::Next),
        ];
        for (place, label, lead) in neighbors {
            let neighbor = place.and_then(|place| self.neighbor(cap, place, span));
            if let Some((text, at)) = neighbor {
                facts.push(DetailField::new(label, text).linked_as(lead, Capability(cap), at));
            }
        }
    }

    /// Describes another run of the same capability, and how far it is from this one.
    fn neighbor(&self, cap: CapId, place: usize, span: Interval) -> Option<(String, Interval)> {
        let (start, end) = self.store.cap(cap)?.runs.span_at(place)?;
        let other = Interval::new(Nanos(start), Nanos(end));
        let name = self.name(self.store.thread_of(cap, place)?);
        let ran = format::duration(other.duration());
        let apart = if other.start() >= span.end() {
            format!(
                "{} later",
                format::duration(other.start().since(span.end()))
            )
        } else {
            format!(
                "{} earlier",
                format::duration(span.start().since(other.end()))
            )
        };
        Some((format!("{name}, {apart}, for {ran}"), other))
    }

    /// Adds the details of a part of a collection, and of the whole collection.
    fn gc_span(&self, cap: CapId, gc_spans: &GcSpans, place: usize, facts: &mut Vec<DetailField>) {
        let span = |i: usize| gc_spans.interval(i);
        let pauses = self.store.account().pauses();
        let class = gc_spans.class(place);
        let at = match class {
            Class::Unknown => None,
            // Resuming belongs to the collection that just ended.
            Class::Returning => span(place).start().0.checked_sub(1).map(Nanos),
            _ => Some(span(place).start()),
        };
        let pause = at.and_then(|at| pauses.pause_at(at));
        if let Some(pause) = pause {
            self.pause(pause, facts);
        }
        let leads = pause.is_some_and(|pause| pause.generation.is_some() && pause.leader == cap);
        self.duration_facts(span(place), facts);
        if class == Class::Unknown {
            return;
        }
        let places = gc_spans.collection_of(place);
        if places.len() > MAX_LISTED {
            // With many parts, idle and done alternate while other capabilities work.
            let name = |place: usize| gc_spans.class(place).name().to_owned();
            let (start, end) = (span(places.start).start(), span(places.end - 1).end());
            let what = ["collection", "collections"];
            let whole = Interval::new(start, end);
            self.merged_facts(Capability(cap), whole, gc_spans, what, name, facts);
            return;
        }
        for i in places {
            let ends = pause.is_some_and(|pause| pause.end == span(i).end());
            let label = match gc_spans.class(i) {
                Class::GcSync => "waited until all had stopped",
                Class::GcStart if leads => "prepared the collection",
                Class::GcStart => "no work logged",
                Class::GcIdle => "found no work",
                Class::GcDone if leads && ends => "finished the collection",
                Class::GcDone => "done with its part",
                Class::Census => "heap census",
                Class::Returning => "resuming after GC",
                Class::Unknown => continue,
                _ => "collected",
            };
            let here = if i == place { " (this)" } else { "" };
            let text = format!("{}{here}", exact_duration(span(i).duration()));
            let fact = DetailField::new(label, text);
            facts.push(fact.linked_to(Capability(cap), span(i)));
        }
    }

    /// Adds the details of a collection, and the thread that was last to stop for it.
    fn pause(&self, pause: &Pause, facts: &mut Vec<DetailField>) {
        let span = Interval::new(pause.start, pause.end);
        let text = format!(
            "{} on capability {}, {} – {}",
            exact_duration(span.duration()),
            pause.leader,
            format::time(span.start()),
            format::time(span.end()),
        );
        facts.push(DetailField::new("collection", text));
        let Some((cap, place)) = pause.last_to_stop else {
            return;
        };
        let run = self
            .store
            .cap(cap)
            .and_then(|lanes| lanes.runs.span_at(place as usize));
        let thread = self.store.thread_of(cap, place as usize);
        if let Some(((start, end), thread)) = run.zip(thread) {
            let late = Nanos(end).since(pause.requested);
            let text = format!(
                "{} on capability {cap}, {} after the request",
                self.name(thread),
                format::duration(late)
            );
            let run = Interval::new(Nanos(start), Nanos(end));
            facts.push(DetailField::new("last to stop", text).linked_to(Capability(cap), run));
        }
    }
}
