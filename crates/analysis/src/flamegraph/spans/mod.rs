//! Spans that the program announces, one on the other: with messages (`START
//! name` to `STOP name`, or with other words), or with the package
//! opentelemetry.
//!
//! A span of messages begins and ends as `ghc-events-analyze` has it (see
//! `timeline/user_spans`): starts of one name, and of one number if it has
//! one, while it goes on are part of it. It belongs to the thread that ran on
//! the message's capability when it began, wherever it ends. Spans of a thread
//! stand on each other as far as they lie inside each other (`lanes`). A pass of GHC begins and
//! ends on one thread; its frame has the module that it compiles.
//!
//! As in `ghc-events-analyze`, collections of the whole program are no part of
//! a span: they stand on it as the runtime's `GC`.

mod lanes;
pub mod opentelemetry;
mod samples;
pub mod totals;

pub use self::lanes::MOST_LANES;
use self::lanes::{Lane, lanes, share};
use self::opentelemetry::TelemetrySpans;
use self::samples::{Collections, samples};
use super::draft::Draft;
use crate::automata::announced::{Announcement, GoingOn, step};
use crate::timeline::messages::Messages;
use crate::timeline::store::Store;
use crate::timeline::user_spans::{Announced, SpanPrefixes};
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::place::place32;
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::{Profile, Track, TrackSource};

/// A span as it was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgramSpan {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of its name.
    pub(super) name: u32,
    /// On which capability it began.
    cap: Option<CapId>,
    /// Whether the log ends before the span does.
    open: bool,
}

/// Names, each once in each module.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    all: Vec<Name>,
    ids: SeededMap<Box<str>, u32>,
    in_modules: SeededMap<(u32, Box<str>), u32>,
}

/// The name of a span.
#[derive(Clone, Debug)]
struct Name {
    text: Box<str>,
    /// The module that a pass of GHC compiles; else empty.
    module: Box<str>,
    /// The number of the name without a module.
    plain: u32,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = place32(self.all.len());
        self.ids.insert(name.into(), id);
        self.push(name, "", id);
        id
    }

    fn id_in(&mut self, name: &str, module: &str) -> u32 {
        let plain = self.id(name);
        if module.is_empty() {
            return plain;
        }
        let next = place32(self.all.len());
        let id = *self
            .in_modules
            .entry((plain, module.into()))
            .or_insert(next);
        if id == next {
            self.push(name, module, plain);
        }
        id
    }

    fn push(&mut self, text: &str, module: &str, plain: u32) {
        self.all.push(Name {
            text: text.into(),
            module: module.into(),
            plain,
        });
    }

    fn get(&self, id: u32) -> &str {
        self.all.get(id as usize).map_or("", |name| &name.text)
    }

    fn module(&self, id: u32) -> &str {
        self.all.get(id as usize).map_or("", |name| &name.module)
    }

    /// The number of the name without a module.
    fn plain(&self, id: u32) -> u32 {
        self.all.get(id as usize).map_or(id, |name| name.plain)
    }
}

/// All spans that a program announced, by their names.
#[derive(Clone, Debug, Default)]
pub struct ProgramSpans {
    names: Names,
    spans: Vec<ProgramSpan>,
}

impl ProgramSpans {
    /// The spans that the messages of a log announce that ends at `end`.
    #[must_use]
    pub fn of_messages(
        messages: &Messages,
        prefixes: &SpanPrefixes,
        store: &Store,
        end: Nanos,
    ) -> Self {
        let mut search = Search::default();
        let mut running = Running::of(store);
        for number in 0..messages.len() {
            let text = String::from_utf8_lossy(messages.text(number));
            if let Some(announced) = prefixes.parse(&text) {
                let (time, cap) = (messages.time(number), messages.cap(number));
                let writer = announced.is_pass.then(|| match running.thread(cap, time) {
                    Some(thread) => Writer::Thread(thread),
                    None => Writer::Capability(cap),
                });
                search.message(announced, (time, cap), writer);
            }
        }
        search.finish(end)
    }

    /// Adds those of opentelemetry.
    pub fn add(&mut self, telemetry: &TelemetrySpans) {
        for span in telemetry.spans() {
            let name = self.names.id(telemetry.name(span));
            self.spans.push(ProgramSpan { name, ..*span });
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The thread of each span: the one that ran where it was announced.
    fn threads(&self, store: &Store) -> Vec<Option<ThreadId>> {
        let mut running = Running::of(store);
        let thread = |span: &ProgramSpan| running.thread(span.cap, span.start);
        self.spans.iter().map(thread).collect()
    }

    /// The profile of the spans of a log that ends at `end`, without tracks
    /// if there are none. `collections` are when the whole program collected,
    /// by time; no two overlap. The number is that of spans that overlap too
    /// many others to be shown.
    #[must_use]
    pub fn profile(&self, collections: &[(u64, u64)], store: &Store, end: Nanos) -> (Profile, u64) {
        let mut draft = Draft::with_empty_gaps();
        let threads = self.threads(store);
        let mut order: Vec<u32> = (0..).take(self.spans.len()).collect();
        order.sort_by_key(|&at| {
            let span = self.spans[at as usize];
            (
                threads[at as usize],
                span.start,
                std::cmp::Reverse(span.end),
            )
        });
        let same_thread = |a: &u32, b: &u32| threads[*a as usize] == threads[*b as usize];
        let mut all = Vec::new();
        let mut left_out = 0;
        for of_thread in order.chunk_by(same_thread) {
            let spans = of_thread.iter().map(|&at| self.spans[at as usize]);
            let thread = of_thread.first().and_then(|&at| threads[at as usize]);
            let placed = lanes(spans);
            left_out += placed.left_out;
            let of_thread = (0..).zip(placed.lanes);
            all.extend(of_thread.map(|(lane, spans)| Lane {
                thread,
                lane,
                spans,
            }));
        }
        let (all, without_room) = share(all);
        let left_out = left_out + without_room;
        let collections = Collections::new(collections, all.iter().map(|lane| &lane.spans));
        let names = self.names.all.iter();
        let frames: Vec<FrameId> = names
            .map(|name| Frame {
                module: name.module.to_string(),
                ..Frame::of_kind(FrameKind::Span, &name.text)
            })
            .map(|frame| draft.frames.intern(frame))
            .collect();
        let gc = draft.frames.intern(Frame::built_in("GC", "GC"));
        for Lane {
            thread,
            lane,
            spans,
        } in all
        {
            let samples = samples(&mut draft.stacks, &spans, &collections, (&frames, gc));
            let open = spans.iter().any(|span| span.open);
            let last = u32::try_from(samples.len()).ok();
            let last = last.and_then(|len| len.checked_sub(1)).filter(|_| open);
            draft.tracks.push(Track {
                source: TrackSource::Spans { thread, lane },
                samples,
                open: last.into_iter().collect(),
                sampled: false,
            });
        }
        (draft.finish(end, None), left_out)
    }
}

/// Which threads run on the capabilities.
struct Running<'a> {
    store: &'a Store,
    /// Where the last search on each capability ended.
    places: SeededMap<CapId, usize>,
}

impl<'a> Running<'a> {
    fn of(store: &'a Store) -> Self {
        Self {
            store,
            places: SeededMap::default(),
        }
    }

    fn thread(&mut self, cap: Option<CapId>, time: u64) -> Option<ThreadId> {
        let cap = cap?;
        let place = self.places.entry(cap).or_default();
        self.store.running(cap, Nanos(time), place)
    }
}

/// Who announced a pass of GHC: the thread that ran, or the capability if the log has no threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Writer {
    Thread(ThreadId),
    Capability(Option<CapId>),
}

/// A span of messages that goes on.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: u64,
    cap: Option<CapId>,
    state: GoingOn,
}

#[derive(Debug, Default)]
struct Search {
    found: ProgramSpans,
    /// By name and number, passes of GHC by their writer too.
    going_on: SeededMap<(u32, Box<str>, Option<Writer>), Open>,
}

impl Search {
    fn message(
        &mut self,
        announced: Announced<'_>,
        (time, cap): (u64, Option<CapId>),
        writer: Option<Writer>,
    ) {
        let names = &mut self.found.names;
        let name = names.id_in(announced.name, announced.module());
        let key = (name, Box::from(announced.number), writer);
        let state = self
            .going_on
            .get(&key)
            .map_or(GoingOn(0), |open| open.state);
        let (state, yields) = step(state, announced.start);
        match yields {
            Some(Announcement::Begins) => {
                let start = time;
                self.going_on.insert(key, Open { start, cap, state });
            }
            Some(Announcement::Ends) => {
                if let Some(open) = self.going_on.remove(&key) {
                    self.close(name, open, time, false);
                }
            }
            Some(Announcement::Stray) => {}
            None => {
                if let Some(open) = self.going_on.get_mut(&key) {
                    open.state = state;
                }
            }
        }
    }

    fn close(&mut self, name: u32, open: Open, end: u64, is_open: bool) {
        self.found.spans.push(ProgramSpan {
            start: open.start,
            end: end.max(open.start),
            name,
            cap: open.cap,
            open: is_open,
        });
    }

    fn finish(mut self, end: Nanos) -> ProgramSpans {
        for ((name, ..), open) in std::mem::take(&mut self.going_on) {
            self.close(name, open, end.0, true);
        }
        // In the order of time, also for the search for threads.
        let names = &self.found.names;
        self.found.spans.sort_by(|a, b| {
            let times = (a.start, a.end).cmp(&(b.start, b.end));
            let name = |id| (names.get(id), names.module(id));
            times
                .then_with(|| name(a.name).cmp(&name(b.name)))
                .then_with(|| a.cap.cmp(&b.cap))
        });
        self.found
    }
}

#[cfg(test)]
mod tests;
