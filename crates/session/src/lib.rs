#![doc = include_str!("../README.md")]

pub mod alignment;
pub mod cells;
pub mod census_cost;
pub mod check;
pub mod collection_export;
mod contents;
mod diagnostics;
pub mod event_list;
pub mod events;
mod facts;
pub mod flame;
mod flame_answers;
mod flame_export;
pub mod frame_colour;
mod grow;
pub mod heap;
mod heap_answers;
mod heap_chart;
pub mod link_text;
mod memory;
pub mod query;
pub mod questions;
mod read;
mod slices;
mod symbols;
pub mod tables;
pub mod thread_export;
pub mod ticky_export;
pub mod tracks;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

pub use memory::{MemoryBudget, MemoryUse};
pub use read::read_session;
pub use symbols::AddressNames;

use serde::{Deserialize, Serialize};

use crate::events::EventContext;
use crate::flame::cache::StepCache;
use crate::heap::cache::HeapCache;
use crate::tracks::Contents;
use analysis::diagnostics::Diagnostic;
use analysis::flamegraph::source_info::SourceInfo;
use analysis::info::TypeCount;
use analysis::recording::Recording;
use analysis::segment::Segment;
use analysis::timeline::unread::UnreadBlocks;
use analysis::timeline::user_spans::SpanPrefixes;
use event_list::EventLists;
use eventlog::hp::Report;
use eventlog::ids::CapId;
use eventlog::rows::{CHUNK_EVENTS, RowSource};
use eventlog::slices::SLICE_BYTES;
use eventlog::{Cutting, DamageKind, Inflated, LogError, LogReader, Progress, Record, Step};
use flame_answers::BesideCache;
use grow::Stand;
use model::remembered::Remembered;
use model::shelf::Shelf;
use model::time::Interval;
use slices::Slices;
pub use slices::{Job, JobId, Worked, Working};

/// A capability in an [`Overview`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapLife {
    /// The capability.
    pub cap: CapId,
    /// When it lived.
    pub life: Interval,
}

/// What a log is, as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The first and last time.
    pub span: Option<Interval>,
    /// The capabilities.
    pub caps: Vec<CapLife>,
    /// How many events.
    pub events: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
    /// What a heap profile in text says of itself; `None` if the file is an eventlog.
    pub report: Option<Report>,
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
    pub warnings: Vec<Diagnostic>,
    /// How much is wrong or odd in all; what is usual does not count.
    pub warning_count: u64,
    /// Whether events are missing.
    pub damaged: bool,
    /// Whether the log is read to its end.
    pub complete: bool,
    /// Whether whoever wrote it had said all: nothing follows any more.
    pub ended: bool,
}

/// About so much a report of rules takes, and as much those together that are remembered.
pub(crate) const REPORT_BYTES: u64 = 64 << 10;
const REPORTS_BYTES: u64 = 32 * REPORT_BYTES;

/// One open log.
#[derive(Debug)]
pub struct Session {
    pub(crate) reader: LogReader,
    pub(crate) recording: Recording,
    shelf: Shelf,
    memory: MemoryBudget,
    cutting: Cutting,
    slices: Slices,
    prefixes: Option<SpanPrefixes>,
    /// The blocks, as long as their events are being read.
    pub(crate) unread: UnreadBlocks,
    complete: bool,
    /// Whether the log may grow.
    follows: bool,
    /// Where it can be gone on from, the latest last.
    stands: Vec<Stand>,
    flame_steps: StepCache,
    flame_beside: BesideCache,
    pub(crate) heap_cache: HeapCache,
    events: EventLists,
    /// What rules found, by range: several parts of the page ask for the same.
    reports: Remembered<Option<Interval>, insight::Report>,
    /// How far rules are that look at the log now, by range.
    rules_at: Mutex<BTreeMap<Option<Interval>, insight::report::Progress>>,
}

impl Session {
    /// Opens a file of `len` bytes, which may be compressed.
    #[must_use]
    pub fn new(len: u64) -> Self {
        Self::with_chunks(len, CHUNK_EVENTS)
    }

    /// Opens a file whose list of events has chunks of another size: a small
    /// one shows in tests what a large log does.
    #[must_use]
    pub fn with_chunks(len: u64, events: u64) -> Self {
        Self {
            reader: LogReader::new(len).keeping_rows(events),
            recording: Recording::default(),
            shelf: Shelf::default(),
            memory: MemoryBudget { bytes: u64::MAX },
            cutting: Cutting::Bytes(SLICE_BYTES),
            slices: Slices::default(),
            prefixes: None,
            unread: UnreadBlocks::default(),
            complete: false,
            follows: false,
            stands: Vec::new(),
            flame_steps: StepCache::default(),
            reports: Remembered::new(REPORTS_BYTES),
            rules_at: Mutex::default(),
            flame_beside: BesideCache::default(),
            heap_cache: HeapCache::default(),
            events: EventLists::default(),
        }
    }

    /// Refuses a compressed log that would take more than that many bytes.
    #[must_use]
    pub fn inflating_at_most(self, bytes: u64) -> Self {
        Self {
            reader: self.reader.inflating_at_most(bytes),
            ..self
        }
    }

    /// Keeps what it finds on that shelf.
    #[must_use]
    pub fn with_shelf(self, shelf: Shelf) -> Self {
        Self {
            recording: Recording::on(shelf.clone()),
            shelf,
            ..self
        }
    }

    /// Where what it finds is kept.
    #[must_use]
    pub const fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Cuts the log otherwise than usual, which changes no answer.
    #[must_use]
    pub fn cut_into(self, cutting: Cutting) -> Self {
        Self { cutting, ..self }
    }

    /// Goes on as far as the supplied bytes and `max_events` allow. Who has others
    /// analyse the slices ([`next_job`](Self::next_job)) calls this until
    /// [`Step::Indexed`].
    ///
    /// # Errors
    /// If the file is no eventlog that can be read.
    pub fn advance(&mut self, max_events: usize) -> Result<Step, LogError> {
        if !self.slices.are_planned() {
            let step = self.reader.advance(&mut |_: &Record<'_>| {}, 1)?;
            if step == Step::Indexed {
                self.plan();
                self.count_index();
                self.unread = UnreadBlocks::of(self.reader.index());
            }
            return Ok(step);
        }
        if self.complete {
            return Ok(Step::Done);
        }
        let Some(worked) = self.slices.advance(max_events, self.reader.inflated()) else {
            return Ok(self.put_together());
        };
        match worked {
            Worked::Need(needs) => Ok(Step::Need(needs)),
            Worked::More => Ok(Step::More),
            Worked::Done(id, segment) => Ok(self.give(id, *segment)),
        }
    }

    /// Whether there are slices of it that others can analyse, if they have the file, or what was
    /// [inflated](Self::inflated) of it.
    #[must_use]
    pub const fn can_be_shared(&self) -> bool {
        self.slices.are_planned() && !self.complete
    }

    /// Whether a slice is analysed here.
    #[must_use]
    pub const fn is_at_work(&self) -> bool {
        self.slices.is_at_work()
    }

    /// The next slice that is to be analysed, if one is left. Its bytes come from the
    /// file, or from [`inflated`](Self::inflated).
    pub fn next_job(&mut self) -> Option<Job> {
        self.slices.next_job()
    }

    /// Takes what a slice is worth: [`Step::Done`] if that was the last one.
    pub fn give(&mut self, id: JobId, segment: Segment) -> Step {
        self.slices.give(id, segment);
        self.put_together()
    }

    /// How many slices are to be analysed that nobody has taken.
    #[must_use]
    pub fn waiting_jobs(&self) -> usize {
        self.slices.waiting_jobs()
    }

    /// How many slices are analysed that wait for those before them.
    #[must_use]
    pub fn waiting_segments(&self) -> usize {
        self.slices.waiting_segments()
    }

    /// Puts the slices together that are there, in their order.
    fn put_together(&mut self) -> Step {
        while let Some(segment) = self.slices.take() {
            self.keep_stand();
            match self.recording.append(segment) {
                Ok(part) => {
                    if self.reader.append(part) {
                        self.slices.taken();
                    } else {
                        self.begin_again();
                    }
                }
                Err(entry) => self.slices.again(*entry),
            }
        }
        if self.slices.are_done() && !self.complete {
            self.reader.finish();
            self.recording.settle(&self.reader);
            self.recording.is_followed = self.follows;
            self.unread = UnreadBlocks::default();
            self.complete = true;
        }
        self.recording.tracks.extend(&self.recording.numbers);
        if self.complete {
            Step::Done
        } else {
            Step::More
        }
    }

    /// Reads the log without cuts, as its index is wrong.
    fn begin_again(&mut self) {
        self.stands.clear();
        let whole = Cutting::At(Vec::new());
        self.slices.plan(self.reader.slices(&whole));
        self.recording = Recording::on(self.shelf.clone());
        if let Some(prefixes) = self.prefixes.clone() {
            self.recording.set_span_prefixes(prefixes);
        }
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
        self.slices.supply(at, bytes);
    }

    /// Learns that the file now ends at `len`.
    pub fn cut(&mut self, len: u64) {
        self.reader.cut(len);
        self.slices.cut(len);
    }

    /// Ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.reader.upcoming().chain(self.slices.upcoming())
    }

    /// How far the reading is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let progress = self.reader.progress();
        Progress {
            done: progress.done + self.slices.done_bytes(),
            ..progress
        }
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

    /// What the analyses found.
    #[must_use]
    pub const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// What the analyses found, alone.
    #[must_use]
    pub fn into_recording(self) -> Recording {
        self.recording
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
        let report = self.reader.heap_report();
        let contents = self.contents();
        let program = contents.processes.names();
        Overview {
            span: self.span(),
            caps: self.caps(),
            events: info.events,
            bytes: report.map_or(self.reader.len().0, |report| report.bytes),
            report: report.cloned(),
            ghc: info.ghc_version().map(str::to_owned),
            program: program.or_else(|| info.program().map(str::to_owned)),
            threads: store.thread_count() as u64,
            runs: store.run_count() as u64,
            messages: self.recording.messages.len() as u64,
            contents,
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
            ended: self.has_ended(),
        }
    }

    /// Whether the log is read, and is not broken off or still being written.
    fn has_ended(&self) -> bool {
        let breaks_off =
            |(kind, _)| matches!(kind, DamageKind::NoEndMarker | DamageKind::Truncated);
        self.complete && !self.reader.damage().kinds().any(breaks_off)
    }

    /// The capabilities; one of which no event is read yet lives as long as its blocks tell.
    fn caps(&self) -> Vec<CapLife> {
        let mut lives: BTreeMap<CapId, Interval> = self.unread.caps().collect();
        lives.extend(self.recording.info.lives.caps());
        let lives = lives.into_iter();
        lives.map(|(cap, life)| CapLife { cap, life }).collect()
    }

    /// The time in which there are events, in the range that the log was cut to; before any is read,
    /// that of the blocks.
    pub(crate) fn span(&self) -> Option<Interval> {
        let blocks = self
            .reader
            .index()
            .sections
            .iter()
            .flat_map(|section| section.blocks.iter());
        let indexed = blocks
            .map(|block| Interval::new(block.begin_time, block.end_time.max(block.begin_time)))
            .reduce(|a, b| Interval::new(a.start().min(b.start()), a.end().max(b.end())));
        let read = self
            .recording
            .info
            .first_and_last()
            .map(|(first, last)| Interval::new(first, last));
        if self.complete {
            read.and_then(|read| self.recording.within_cut(Some(read)))
        } else {
            indexed.or(read)
        }
    }

    /// How to read the events again, once the log is read to its end.
    #[must_use]
    pub const fn rows(&self) -> Option<&RowSource> {
        self.reader.rows()
    }

    /// The bytes of a compressed log, inflated.
    #[must_use]
    pub const fn inflated(&self) -> Option<&Inflated> {
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

/// The examples of the page for those who use the crates.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library {}
