#![doc = include_str!("../README.md")]

pub mod alignment;
pub mod cells;
pub mod census_cost;
pub mod check;
pub mod collection_export;
mod contents;
mod count_lru;
mod diagnostics;
pub mod event_list;
pub mod events;
mod facts;
pub mod flame;
mod flame_answers;
mod flame_export;
pub mod frame_color;
mod grow;
pub mod heap;
mod heap_answers;
mod heap_chart;
pub mod link_text;
mod memory;
pub mod queries;
pub mod query;
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

pub use flame_export::WrittenStacks;
pub use memory::{MemoryBudget, MemoryUse};
pub use read::read_session;
pub use symbols::AddressNames;

use serde::{Deserialize, Serialize};

use crate::events::EventContext;
use crate::flame::cache::StepCache;
use crate::heap::cache::HeapCache;
use crate::tracks::LogContents;
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
use eventlog::{Inflated, LogError, LogReader, Progress, Record, SlicingRule, Step};
use flame_answers::ComparedCache;
use grow::Checkpoint;
use model::byte_lru::ByteLru;
use model::sorting::CompactCollect;
use model::spill_store::SpillStore;
use model::time::Interval;
use slices::Slices;
pub use slices::{AnalysisStep, Job, JobId, SliceAnalyzer};

/// Lifetime of one capability, listed in an [`Overview`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapLife {
    /// Number of the capability.
    pub cap: CapId,
    /// Time between its creation and its end.
    pub life: Interval,
}

/// Summary of a log, as far as it has been read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Range from the first to the last event; `None` if the log has no events.
    pub span: Option<Interval>,
    /// All capabilities, ordered by number.
    pub caps: Vec<CapLife>,
    /// Number of events read so far.
    pub events: u64,
    /// Uncompressed size of the file in bytes.
    pub bytes: u64,
    /// Header of a textual heap profile (`.hp`); `None` if the file is an eventlog.
    pub report: Option<Report>,
    /// GHC version, such as `9.6.6`.
    pub ghc: Option<String>,
    /// Program name without its directory; for several processes, their names joined.
    pub program: Option<String>,
    /// Number of threads known so far.
    pub threads: u64,
    /// Number of thread runs: intervals in which a thread ran on a capability.
    pub runs: u64,
    /// Number of user messages and markers.
    pub messages: u64,
    /// Optional tracks and panels for which the log has data.
    pub contents: LogContents,
    /// Event types with their counts; empty until the log is fully read.
    pub types: Vec<TypeCount>,
    /// Sources for which a flame graph can be drawn; empty until the log is fully read.
    pub flame_sources: Vec<SourceInfo>,
    /// The first diagnostics of severity warning or above; those of the file come first.
    pub warnings: Vec<Diagnostic>,
    /// Number of all diagnostics of severity warning or above.
    pub warning_count: u64,
    /// Whether data is missing because the file is damaged.
    pub damaged: bool,
    /// Whether the log is fully read.
    pub complete: bool,
    /// Whether the log is fully read and has its end marker, so that nothing will follow.
    pub ended: bool,
}

/// Estimated size of one findings report, and the capacity of the report cache in bytes.
pub(crate) const REPORT_BYTES: u64 = 64 << 10;
const REPORTS_BYTES: u64 = 32 * REPORT_BYTES;

/// One open log: its reader, its analyses and the caches of its queries.
#[derive(Debug)]
pub struct Session {
    pub(crate) reader: LogReader,
    pub(crate) recording: Recording,
    spill_store: SpillStore,
    memory: MemoryBudget,
    slicing_rule: SlicingRule,
    slices: Slices,
    prefixes: Option<SpanPrefixes>,
    /// Blocks that are not read yet, drawn as placeholders; empty once the log is fully read.
    pub(crate) unread: UnreadBlocks,
    complete: bool,
    /// Whether the log may still grow.
    follows: bool,
    /// Checkpoints from which a grown log can be resumed; the latest is last.
    checkpoints: Vec<Checkpoint>,
    flame_steps: StepCache,
    flame_compared: ComparedCache,
    pub(crate) heap_cache: HeapCache,
    events: EventLists,
    /// LRU cache of findings reports by range, because several parts of the page request the same one.
    reports: ByteLru<Option<Interval>, insight::Report>,
    /// Progress of the findings reports that are being computed, by range.
    findings_progress: Mutex<BTreeMap<Option<Interval>, insight::report::Progress>>,
}

impl Session {
    /// Opens a file of `len` bytes, which may be compressed.
    pub fn new(len: u64) -> Self {
        Self::with_chunks(len, CHUNK_EVENTS)
    }

    /// Like [`new`](Self::new), with `events` rows in each chunk of the event list.
    ///
    /// Tests use small chunks to reproduce the behavior of large logs.
    pub fn with_chunks(len: u64, events: u64) -> Self {
        Self {
            reader: LogReader::new(len).with_rows(events),
            recording: Recording::default(),
            spill_store: SpillStore::default(),
            memory: MemoryBudget { bytes: u64::MAX },
            slicing_rule: SlicingRule::Bytes(SLICE_BYTES),
            slices: Slices::default(),
            prefixes: None,
            unread: UnreadBlocks::default(),
            complete: false,
            follows: false,
            checkpoints: Vec::new(),
            flame_steps: StepCache::default(),
            reports: ByteLru::new(REPORTS_BYTES),
            findings_progress: Mutex::default(),
            flame_compared: ComparedCache::default(),
            heap_cache: HeapCache::default(),
            events: EventLists::default(),
        }
    }

    /// Rejects a compressed log that would need more than `bytes` of memory when inflated.
    #[must_use]
    pub fn with_inflate_limit(self, bytes: u64) -> Self {
        Self {
            reader: self.reader.with_inflate_limit(bytes),
            ..self
        }
    }

    /// Stores packed columns in `spill_store`, which may move them to a file.
    #[must_use]
    pub fn with_spill_store(self, spill_store: SpillStore) -> Self {
        Self {
            recording: Recording::with_spill_store(spill_store.clone()),
            spill_store,
            ..self
        }
    }

    /// Returns the wall-clock time of the log's time 0 in nanoseconds, if the log records it.
    pub fn clock_origin_ns(&self) -> Option<u64> {
        let origin = self.recording.info.clock_origin_ns;
        origin.and_then(|origin| u64::try_from(origin).ok())
    }

    /// Returns the store of packed columns.
    pub const fn spill_store(&self) -> &SpillStore {
        &self.spill_store
    }

    /// Overrides how the log is cut into slices. No answer depends on it; tests use it to get many slices.
    #[must_use]
    pub fn with_slicing_rule(self, slicing_rule: SlicingRule) -> Self {
        Self {
            slicing_rule,
            ..self
        }
    }

    /// Advances as far as the supplied bytes and `max_events` allow.
    ///
    /// A driver that analyzes slices elsewhere ([`next_job`](Self::next_job)) calls this until [`Step::Indexed`].
    ///
    /// # Errors
    /// If the file is not a readable eventlog.
    pub fn advance(&mut self, max_events: usize) -> Result<Step, LogError> {
        if !self.slices.planned {
            let step = self.reader.advance(&mut |_: &Record<'_>| {}, 1)?;
            if step == Step::Indexed {
                self.plan();
                self.charge_index();
                self.unread = UnreadBlocks::new(self.reader.index());
            }
            return Ok(step);
        }
        if self.complete {
            return Ok(Step::Done);
        }
        let Some(worked) = self.slices.advance(max_events, self.reader.inflated()) else {
            return Ok(self.append_segments());
        };
        match worked {
            AnalysisStep::Need(needs) => Ok(Step::Need(needs)),
            AnalysisStep::More => Ok(Step::More),
            AnalysisStep::Done(id, segment) => Ok(self.add_segment(id, *segment)),
        }
    }

    /// Returns whether slices can be analyzed by other workers, given the file or the [inflated](Self::inflated)
    /// bytes.
    pub const fn can_be_shared(&self) -> bool {
        self.slices.planned && !self.complete
    }

    /// Returns whether this session is itself analyzing a slice.
    pub const fn is_at_work(&self) -> bool {
        self.slices.working.is_some()
    }

    /// Returns the next slice to analyze, if any is left. Its bytes come from the file, or from
    /// [`inflated`](Self::inflated).
    pub fn next_job(&mut self) -> Option<Job> {
        self.slices.waiting.pop_front()
    }

    /// Accepts the analysis of a slice; returns [`Step::Done`] if it was the last one.
    pub fn add_segment(&mut self, id: JobId, segment: Segment) -> Step {
        self.slices.add_segment(id, segment);
        self.append_segments()
    }

    /// Returns the number of slices that no worker has taken yet.
    pub fn waiting_jobs(&self) -> usize {
        self.slices.waiting.len()
    }

    /// Returns the number of analyzed slices that wait for earlier ones before they can be appended.
    pub fn waiting_segments(&self) -> usize {
        self.slices.analyzed.len()
    }

    /// Appends analyzed slices in log order, as far as they have arrived.
    fn append_segments(&mut self) -> Step {
        while let Some(segment) = self.slices.take_next() {
            self.keep_checkpoint();
            match self.recording.append(segment) {
                Ok(part) => {
                    if self.reader.append(part) {
                        self.slices.mark_appended();
                    } else {
                        self.restart_uncut();
                    }
                }
                Err(entry) => self.slices.requeue(*entry),
            }
        }
        if self.slices.are_done() && !self.complete {
            self.reader.finish();
            self.recording.finish(&self.reader);
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

    /// Restarts without cuts, because the block index contradicts the blocks.
    fn restart_uncut(&mut self) {
        self.checkpoints.clear();
        let whole = SlicingRule::At(Vec::new());
        self.slices.plan(self.reader.slices(&whole));
        self.recording = Recording::with_spill_store(self.spill_store.clone());
        if let Some(prefixes) = self.prefixes.clone() {
            self.recording.set_span_prefixes(prefixes);
        }
    }

    /// Supplies bytes of the file that begin at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
        self.slices.supply(at, bytes);
    }

    /// Truncates the file to `len` bytes.
    pub fn truncate(&mut self, len: u64) {
        self.reader.truncate(len);
        self.slices.truncate(len);
    }

    /// Returns byte ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.reader.upcoming().chain(self.slices.upcoming())
    }

    /// Returns the reading progress.
    pub fn progress(&self) -> Progress {
        let progress = self.reader.progress();
        Progress {
            done: progress.done + self.slices.done_bytes(),
            ..progress
        }
    }

    /// Returns whether the log is fully read.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the reader, which has the file's damage and block index.
    pub const fn reader(&self) -> &LogReader {
        &self.reader
    }

    /// Returns the results of all analyses.
    pub const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Converts the session into the results of its analyses.
    pub fn into_recording(self) -> Recording {
        self.recording
    }

    /// Returns the number of events read so far.
    pub const fn events(&self) -> u64 {
        self.recording.info.events
    }

    /// Returns a summary of the log, as far as it has been read.
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

    /// Returns whether the log is fully read, not truncated, and not still being written.
    fn has_ended(&self) -> bool {
        let breaks_off = |(kind, _)| facts::breaks_off(kind);
        self.complete && !self.reader.damage().kinds().any(breaks_off)
    }

    /// Returns the capabilities. Before a capability's first event is read, its blocks give its lifetime.
    fn caps(&self) -> Vec<CapLife> {
        let mut lives: BTreeMap<CapId, Interval> = self.unread.caps().collect_small();
        lives.extend(self.recording.info.lives.caps());
        let lives = lives.into_iter();
        lives.map(|(cap, life)| CapLife { cap, life }).collect()
    }

    /// Returns the time range of the events, clipped to the range that the log was cut to. Until the log is fully
    /// read, returns the range that the blocks span.
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
            read.and_then(|read| self.recording.clip_to_cut(Some(read)))
        } else {
            indexed.or(read)
        }
    }

    /// Returns what is needed to read events again; `None` until the log is fully read.
    pub const fn rows(&self) -> Option<&RowSource> {
        self.reader.rows()
    }

    /// Returns the inflated bytes of a compressed log.
    pub const fn inflated(&self) -> Option<&Inflated> {
        self.reader.inflated()
    }

    /// Returns the names and runs that the event list needs in addition to the events.
    pub const fn event_context(&self) -> EventContext<'_> {
        EventContext {
            store: &self.recording.store,
            names: &self.recording.names,
        }
    }
}

/// Examples for users of the crates, compiled as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library {}
