//! Spans announced by the program, nested in each other.
//!
//! They come from messages (`START name` to `STOP name`, or with other prefixes), or from the package
//! opentelemetry.
//!
//! A span of messages begins and ends as in `ghc-events-analyze` (see `timeline/user_spans`): further starts with
//! the same name, and the same number if there is one, are part of the open span. A span belongs to the thread
//! that ran on the message's capability at its start, wherever it ends. Spans of a thread are stacked as far as
//! they nest (`lanes`). A pass of GHC begins and ends on one thread; its frame has the module being compiled.
//!
//! As in `ghc-events-analyze`, collections of the whole program do not count towards a span: they appear on top of
//! it as the runtime's frame `GC`. If several processes wrote the log, these are the collections of the span's own
//! process (`processes`), with which it ends if it is open. Inner spans and collections divide a span into several
//! samples, of which only the last of the span itself counts: a span counts once.

mod lanes;
pub mod opentelemetry;
mod processes;
mod samples;
pub mod totals;

pub use self::lanes::MAX_LANES;
use self::lanes::{Lane, lanes, share};
use self::opentelemetry::TelemetrySpans;
pub use self::processes::SpanProcesses;
use self::samples::{Collections, samples};
use super::draft::Draft;
use crate::automata::user_span::{Announcement, OpenStarts, step};
use crate::timeline::messages::Messages;
use crate::timeline::store::Store;
use crate::timeline::user_spans::{SpanMessage, SpanPrefixes};
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::{Profile, Track, TrackSource};
use model::saturating::saturating_u32;

/// An announced span. Times are in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgramSpan {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Index of the name in [`Names`].
    pub(super) name: u32,
    /// Capability on which the span began.
    cap: Option<CapId>,
    /// Whether the log ends before the span does.
    open: bool,
}

/// Interned pairs of name and module.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    all: Vec<Name>,
    ids: SeededMap<Box<str>, u32>,
    in_modules: SeededMap<(u32, Box<str>), u32>,
}

/// Name of a span.
#[derive(Clone, Debug)]
struct Name {
    text: Box<str>,
    /// Module that a pass of GHC compiles; empty for other spans.
    module: Box<str>,
    /// Index of the same name without a module.
    plain: u32,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = saturating_u32(self.all.len());
        self.ids.insert(name.into(), id);
        self.push(name, "", id);
        id
    }

    fn id_in(&mut self, name: &str, module: &str) -> u32 {
        let plain = self.id(name);
        if module.is_empty() {
            return plain;
        }
        let next = saturating_u32(self.all.len());
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

    /// Returns the index of the same name without a module.
    fn plain(&self, id: u32) -> u32 {
        self.all.get(id as usize).map_or(id, |name| name.plain)
    }
}

/// All spans announced by the program, and their names.
#[derive(Clone, Debug, Default)]
pub struct ProgramSpans {
    names: Names,
    spans: Vec<ProgramSpan>,
}

impl ProgramSpans {
    /// Finds the spans announced by messages of these processes.
    pub fn of_messages(
        messages: &Messages,
        prefixes: &SpanPrefixes,
        store: &Store,
        processes: &SpanProcesses,
    ) -> Self {
        let mut matcher = SpanMatcher::default();
        let mut running = RunningThreads::new(store);
        for number in 0..messages.len() {
            let text = String::from_utf8_lossy(messages.text(number));
            if let Some(span_message) = prefixes.parse(&text) {
                let (time, cap) = (messages.time(number), messages.cap(number));
                let announcer = span_message
                    .is_pass
                    .then(|| match running.thread(cap, time) {
                        Some(thread) => Announcer::Thread(thread),
                        None => Announcer::Capability(cap),
                    });
                matcher.message(span_message, (time, cap), announcer);
            }
        }
        matcher.finish(processes)
    }

    /// Adds the spans of opentelemetry.
    pub fn add(&mut self, telemetry: &TelemetrySpans) {
        for span in telemetry.spans() {
            let name = self.names.id(telemetry.name(span));
            self.spans.push(ProgramSpan { name, ..*span });
        }
    }

    /// Returns whether there are no spans.
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the thread of each span: the one that ran on its capability at its start.
    fn threads(&self, store: &Store) -> Vec<Option<ThreadId>> {
        let mut running = RunningThreads::new(store);
        let thread = |span: &ProgramSpan| running.thread(span.cap, span.start);
        self.spans.iter().map(thread).collect()
    }

    /// Builds the profile of a log that ends at `end`, without tracks if there are no spans.
    ///
    /// `processes` have the collections. Also returns the number of spans dropped because they overlap too many
    /// others.
    pub fn profile(&self, processes: &SpanProcesses, store: &Store, end: Nanos) -> (Profile, u64) {
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
        let collections = Collections::new(processes, all.iter().map(|lane| &lane.spans));
        let names = self.names.all.iter();
        let frames: Vec<FrameId> = names
            .map(|name| Frame {
                module: name.module.to_string(),
                ..Frame::with_kind(FrameKind::Span, &name.text)
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

/// Looks up the thread that runs on a capability.
struct RunningThreads<'a> {
    store: &'a Store,
    /// Search position per capability, as lookups come nearly in time order.
    places: SeededMap<CapId, usize>,
}

impl<'a> RunningThreads<'a> {
    fn new(store: &'a Store) -> Self {
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

/// Where a pass of GHC was announced: its thread, or its capability if the log has no threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Announcer {
    Thread(ThreadId),
    Capability(Option<CapId>),
}

/// An open span of messages.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: u64,
    cap: Option<CapId>,
    state: OpenStarts,
}

#[derive(Debug, Default)]
struct SpanMatcher {
    found: ProgramSpans,
    /// Open spans by name and number, and for passes of GHC by their announcer.
    open: SeededMap<(u32, Box<str>, Option<Announcer>), Open>,
}

impl SpanMatcher {
    fn message(
        &mut self,
        span_message: SpanMessage<'_>,
        (time, cap): (u64, Option<CapId>),
        announcer: Option<Announcer>,
    ) {
        let names = &mut self.found.names;
        let name = names.id_in(span_message.name, span_message.module());
        let key = (name, Box::from(span_message.number), announcer);
        let state = self.open.get(&key).map_or(OpenStarts(0), |open| open.state);
        let (state, yields) = step(state, span_message.start);
        match yields {
            Some(Announcement::Begins) => {
                let start = time;
                self.open.insert(key, Open { start, cap, state });
            }
            Some(Announcement::Ends) => {
                if let Some(open) = self.open.remove(&key) {
                    self.close(name, open, time, false);
                }
            }
            Some(Announcement::Stray) => {}
            None => {
                if let Some(open) = self.open.get_mut(&key) {
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

    fn finish(mut self, processes: &SpanProcesses) -> ProgramSpans {
        for ((name, ..), open) in std::mem::take(&mut self.open) {
            self.close(name, open, processes.end(open.cap).0, true);
        }
        // Time order also speeds up the thread lookups.
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
