//! One open log: it is fed, it analyses, it answers. The only thing that the
//! drivers (the worker, tests, benchmarks) talk to.

pub mod check;
mod contents;
mod details;
pub mod diagnostics;
pub mod event_list;
mod flame;
mod flame_export;
pub mod query;
pub mod questions;
mod symbols;

use std::ops::Range;

pub use symbols::AddressNames;

use serde::{Deserialize, Serialize};

use crate::events::EventContext;
use crate::flame::cache::StepCache;
use crate::thread_export::thread_csv;
use analysis::findings::{Finding, Findings};
use analysis::flamegraph::profiles::{Profiles, ProfilesCollector, SourceInfo};
use analysis::info::{Info, TypeCount};
use analysis::numbers::Numbers;
use analysis::numbers::collections_query::{CollectionsQuery, CollectionsReply};
use analysis::numbers::sparks_query::SparksReply;
use analysis::numbers::summary::Summary;
use analysis::process::OpenAtEnd;
use analysis::spans::{Analyses, Open, SpanAnalysis, SpanSink};
use analysis::timeline::contents::Contents;
use analysis::timeline::flow::{Arrow, FlowQuery};
use analysis::timeline::messages::{Message, Messages};
use analysis::timeline::profile_rows::ProfileRows;
use analysis::timeline::query::{Timeline, TimelineQuery, UsageRow, usage};
use analysis::timeline::store::Store;
use analysis::timeline::thread_table::{ThreadTable, ThreadTableQuery};
use analysis::timeline::threads::{ThreadFilter, ThreadRow};
use analysis::timeline::tracks::Tracks;
use event_list::EventLists;
use eventlog::blocks::BlockIndex;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::rows::{CHUNK_EVENTS, RowSource};
use eventlog::{Event, EventType, LogError, LogReader, Names, Progress, Record, Sink, Step};
use model::marks::TimelineReply;
use model::time::Span;

/// All analyses of a log, in one pass.
#[derive(Debug)]
struct Recording {
    info: Info,
    numbers: Numbers,
    /// Taken out at the end of the log.
    spans: Option<SpanAnalysis>,
    store: Store,
    messages: Messages,
    tracks: Tracks,
    names: Names,
    /// Taken out at the end of the log.
    samples: Option<ProfilesCollector>,
    profiles: Profiles,
    /// The rows of the timeline that show them.
    profile_rows: ProfileRows,
    /// What was odd about foreign calls and stack samples.
    profile_oddities: Findings,
    /// How many spans overlap too many others for a flame graph.
    spans_left_out: u64,
    open: OpenAtEnd,
}

impl Default for Recording {
    fn default() -> Self {
        let analyses = Analyses {
            lifecycle: true,
            mutator_by_cap: false,
        };
        Self {
            info: Info::default(),
            numbers: Numbers::default(),
            spans: Some(SpanAnalysis::new(analyses)),
            store: Store::default(),
            messages: Messages::default(),
            tracks: Tracks::default(),
            names: Names::default(),
            samples: Some(ProfilesCollector::default()),
            profiles: Profiles::default(),
            profile_rows: ProfileRows::default(),
            profile_oddities: Findings::default(),
            spans_left_out: 0,
            open: OpenAtEnd::default(),
        }
    }
}

impl Sink for Recording {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.info.offer(record);
        self.numbers.offer(record);
        self.store.offer(record);
        if let Some(spans) = &mut self.spans {
            spans.event(record, &mut self.store);
        }
        self.messages.offer(record);
        self.tracks.offer(record);
        self.names.offer(record);
        if let Some(samples) = &mut self.samples {
            samples.offer(record);
        }
        if record.id == EventType::THREAD_LABEL {
            self.label(record);
        }
    }
}

impl Recording {
    fn label(&mut self, record: &Record<'_>) {
        if let Event::ThreadLabel { thread, label } = record.event() {
            self.store.label(thread, &label.to_str());
        }
    }

    /// When the last event was, as far as the log is read.
    fn end(&self) -> Nanos {
        let times = self.info.first_and_last();
        times.map_or(Nanos(0), |(_, last)| last)
    }

    fn settle(&mut self, blocks: &BlockIndex) {
        let end = self.end();
        self.tracks
            .settle(&self.numbers, &self.messages, blocks, end);
        if let Some(spans) = self.spans.take() {
            let mut sink = Ending {
                store: &mut self.store,
                open: &mut self.open,
            };
            spans.finish(end, &mut sink);
        }
        self.store.settle(end);
        if let Some(samples) = self.samples.take() {
            (self.profiles, self.profile_oddities) = samples.finish(end);
            let store = &self.store;
            let running = |cap, at, place: &mut usize| store.running(cap, at, place);
            self.profiles.learn_threads(running);
            self.profile_rows = ProfileRows::of(&self.profiles);
        }
        self.settle_spans();
    }
}

/// What is still open at the end of the log is drawn, and told.
struct Ending<'a> {
    store: &'a mut Store,
    open: &'a mut OpenAtEnd,
}

impl SpanSink for Ending<'_> {
    fn open(&mut self, open: Open) {
        self.open.open(open);
        self.store.open(open);
    }
}

/// A capability in an [`Overview`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapLife {
    /// The capability.
    pub cap: CapId,
    /// When it lived.
    pub life: Span,
}

/// What a log is, as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The first and last time.
    pub span: Option<Span>,
    /// The capabilities.
    pub caps: Vec<CapLife>,
    /// How many events.
    pub events: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
    /// Such as `9.6.6`.
    pub ghc: Option<String>,
    /// The program's name, without its folder.
    pub program: Option<String>,
    /// How many threads.
    pub threads: u64,
    /// How many runs of threads.
    pub runs: u64,
    /// How many messages and markers of the program.
    pub messages: u64,
    /// What there is to be shown beside capabilities and threads.
    pub contents: Contents,
    /// The types of its events, once the log is read to its end.
    pub types: Vec<TypeCount>,
    /// What flame graphs can be about, once the log is read to its end.
    pub flame_sources: Vec<SourceInfo>,
    /// What is wrong or odd, the first of it, beginning with the file.
    pub warnings: Vec<Finding>,
    /// How much is wrong or odd in all; what is usual does not count.
    pub warning_count: u64,
    /// Whether events are missing.
    pub damaged: bool,
    /// Whether the log is read to its end.
    pub complete: bool,
}

/// One open log.
#[derive(Debug)]
pub struct Session {
    reader: LogReader,
    recording: Recording,
    complete: bool,
    /// To be cleared whenever the profiles change.
    flame_steps: StepCache,
    events: EventLists,
}

impl Session {
    /// Opens a file of `len` bytes, which may be compressed.
    #[must_use]
    pub fn new(len: u64) -> Self {
        Self::with_chunks(len, CHUNK_EVENTS)
    }

    /// The same, with chunks of another size for the list of events.
    #[must_use]
    pub fn with_chunks(len: u64, events: u64) -> Self {
        Self {
            reader: LogReader::new(len).keeping_rows(events),
            recording: Recording::default(),
            complete: false,
            flame_steps: StepCache::default(),
            events: EventLists::default(),
        }
    }

    /// Goes on as far as the supplied bytes and `max_events` allow.
    ///
    /// # Errors
    /// If the file is no eventlog that can be read.
    pub fn advance(&mut self, max_events: usize) -> Result<Step, LogError> {
        let step = self.reader.advance(&mut self.recording, max_events)?;
        if step == Step::Done && !self.complete {
            self.recording.settle(self.reader.index());
            self.flame_profiles_changed();
            self.complete = true;
        }
        self.recording.tracks.extend(&self.recording.numbers);
        Ok(step)
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
    }

    /// Learns that the file now ends at `len`.
    pub fn cut(&mut self, len: u64) {
        self.reader.cut(len);
    }

    /// Ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.reader.upcoming()
    }

    /// How far the reading is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.reader.progress()
    }

    /// Whether the log is read to its end.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// The reader, which knows what is wrong with the log.
    #[must_use]
    pub const fn reader(&self) -> &LogReader {
        &self.reader
    }

    /// How many events were read so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.recording.info.events
    }

    /// What the log is, as far as it is read.
    #[must_use]
    pub fn overview(&self) -> Overview {
        let info = &self.recording.info;
        let (warnings, warning_count) = self.warnings();
        let store = &self.recording.store;
        Overview {
            span: self.span(),
            caps: info
                .lives
                .caps()
                .map(|(cap, life)| CapLife { cap, life })
                .collect(),
            events: info.events,
            bytes: self.reader.len().0,
            ghc: info.ghc_version().map(str::to_owned),
            program: info.program().map(str::to_owned),
            threads: store.thread_count() as u64,
            runs: store.run_count() as u64,
            messages: self.recording.messages.len() as u64,
            contents: self.contents(),
            types: if self.complete {
                info.types()
            } else {
                Vec::new()
            },
            flame_sources: self.flame_sources(),
            warnings,
            warning_count,
            damaged: self.reader.damage().loses_data(),
            complete: self.complete,
        }
    }

    /// The time in which there are events; before any is read, that of the blocks.
    fn span(&self) -> Option<Span> {
        let blocks = self
            .reader
            .index()
            .sections
            .iter()
            .flat_map(|section| &section.blocks);
        let indexed = blocks
            .map(|block| Span::new(block.begin_time, block.end_time.max(block.begin_time)))
            .reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
        let read = self
            .recording
            .info
            .first_and_last()
            .map(|(first, last)| Span::new(first, last));
        if self.complete {
            read
        } else {
            indexed.or(read)
        }
    }

    /// What the timeline shows.
    #[must_use]
    pub fn timeline(&self, query: &TimelineQuery) -> TimelineReply {
        let caps: Vec<CapId> = self
            .recording
            .info
            .lives
            .caps()
            .map(|(cap, _)| cap)
            .collect();
        let timeline = Timeline {
            store: &self.recording.store,
            messages: &self.recording.messages,
            caps: &caps,
            tracks: &self.recording.tracks,
            numbers: &self.recording.numbers,
            profiles: &self.recording.profiles,
            profile_rows: &self.recording.profile_rows,
            end: self.recording.end(),
        };
        timeline.answer(query)
    }

    /// How a thread came to run, in view.
    #[must_use]
    pub fn flow(&self, query: &FlowQuery) -> Vec<Arrow> {
        self.recording.store.flow(query)
    }

    /// How each capability spent a range.
    #[must_use]
    pub fn usage(&self, range: Span) -> Vec<UsageRow> {
        usage(
            &self.recording.store,
            self.recording.info.lives.caps(),
            range,
        )
    }

    /// The numbers of `+RTS -s`, of a range or of the whole log.
    #[must_use]
    pub fn summary(&self, range: Option<Span>) -> Summary {
        let end = self.recording.end();
        let usage = self.usage(Numbers::span(end, range));
        self.recording.numbers.summary(end, range, &usage)
    }

    /// Collections, sorted, and how long the program stood still for them.
    #[must_use]
    pub fn collections(&self, query: &CollectionsQuery) -> CollectionsReply {
        let end = self.recording.end();
        self.recording.numbers.collections(end, query)
    }

    /// What became of the sparks in a range or in the whole log.
    #[must_use]
    pub fn sparks(&self, range: Option<Span>) -> SparksReply {
        let end = self.recording.end();
        self.recording.numbers.sparks(end, range)
    }

    /// The threads that `filter` lets through, and how many there are without its limit.
    #[must_use]
    pub fn threads(&self, filter: &ThreadFilter) -> (Vec<ThreadRow>, usize) {
        self.recording.store.threads(filter)
    }

    /// How threads spent their time; `None` until the log is read to its end.
    #[must_use]
    pub fn thread_table(&self, query: &ThreadTableQuery) -> Option<ThreadTable> {
        self.recording.store.thread_table(query)
    }

    /// The same as CSV; names of columns come before the first row of all.
    #[must_use]
    pub fn thread_csv(&self, query: &ThreadTableQuery) -> Option<String> {
        let table = self.thread_table(query)?;
        Some(thread_csv(&table, query.rows.start == 0))
    }

    /// The labels of those of `threads` that have one.
    #[must_use]
    pub fn labels(&self, threads: &[ThreadId]) -> Vec<(ThreadId, String)> {
        let label =
            |thread: &ThreadId| Some((*thread, self.recording.store.label_of(*thread)?.to_owned()));
        threads.iter().filter_map(label).collect()
    }

    /// One message of the program, by its number.
    #[must_use]
    pub fn message(&self, index: usize) -> Option<Message> {
        self.recording.messages.get(index)
    }

    /// How to read the events again, once the log is read to its end.
    #[must_use]
    pub const fn rows(&self) -> Option<&RowSource> {
        self.reader.rows()
    }

    /// The bytes of a compressed log, inflated.
    #[must_use]
    pub fn inflated(&self) -> Option<&[u8]> {
        self.reader.inflated()
    }

    /// What the event list needs to know beside the events.
    #[must_use]
    pub const fn event_context(&self) -> EventContext<'_> {
        EventContext {
            store: &self.recording.store,
            names: &self.recording.names,
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl eventlog::source::Driven for Session {
    fn advance(&mut self) -> Result<Step, LogError> {
        self.advance(usize::MAX)
    }
    fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.supply(at, bytes);
    }
    fn cut(&mut self, at: u64) -> bool {
        let keeps = self.progress().stage == eventlog::Stage::Analysing;
        if keeps {
            self.cut(at);
        }
        keeps
    }
}

/// Reads a whole log from `source` into a session.
///
/// # Errors
/// As [`eventlog::source::read_log`].
#[cfg(not(target_arch = "wasm32"))]
pub fn read_session(source: &mut impl eventlog::source::Source) -> Result<Session, LogError> {
    let mut session = Session::new(source.byte_len());
    eventlog::source::drive(source, &mut session)?;
    Ok(session)
}
