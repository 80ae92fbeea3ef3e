//! Reads a whole log: first the block index, then the events in order. The reader does no I/O: it names the ranges
//! that it needs next, and a driver supplies them, with other work in between if it likes.

mod grow;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::backing::Backing;
use super::blocks::{BlockIndex, Indexer, Section};
use super::header::Header;
use super::hp::{self, Converter, Report};
use super::inflate::{Compression, Inflate, Inflating};
use super::inflated::{Inflated, StorageLimits};
use super::order::{MergeStep, Merger, SectionStreams, Sink, no_end_marker};
use super::problem::{DamageKind, DamageList, LogError};
use super::rows::{RowIndex, RowSource};
use super::slices::{self, Slice, SliceResult, SlicingRule};
use super::window::Need;
use crate::ids::{ByteOffset, Nanos};
pub use grow::Checkpoint;

/// Result of a call to [`LogReader::advance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Supply at least the first byte of each of these ranges.
    Need(Vec<Need>),
    /// The event limit is reached; call again.
    More,
    /// The block index is complete: spans and capabilities are known, but no event was delivered yet.
    Indexed,
    /// All events were delivered.
    Done,
}

#[derive(Debug)]
enum Phase {
    /// Reading the first bytes, to detect compression.
    Detect(Vec<u8>),
    Inflate(Box<Inflate>),
    /// Converting a textual heap profile to an eventlog.
    Convert(Box<Converter>),
    Index(Box<Indexer>),
    Merge(Box<Merger>),
    /// Slices are read elsewhere; their results are combined here.
    Slices(Box<SliceResults>),
    Done,
}

/// Combined results of the slices appended so far.
#[derive(Clone, Debug)]
struct SliceResults {
    sections: Arc<[SectionStreams]>,
    rows: Option<RowIndex>,
    damage: DamageList,
    event_bytes: u64,
    end_marker_bytes: u64,
    /// For each section, whether its end is marked.
    ended: Vec<bool>,
}

/// Phase of a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Reading a file that is not an eventlog, or not yet known to be one.
    #[default]
    Reading,
    /// Inflating a compressed file.
    Inflating,
    /// Finding the blocks.
    Indexing,
    /// Delivering events.
    Analyzing,
}

/// Progress of a reader, in bytes of the current stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The current stage.
    pub stage: Stage,
    /// Number of bytes processed.
    pub done: u64,
    /// Total number of bytes.
    pub total: u64,
}

/// Breakdown of a log's bytes. Each is counted once, so the sum is the length of the (uncompressed) log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Bytes of headers.
    pub headers: u64,
    /// Bytes of block markers.
    pub block_markers: u64,
    /// Bytes of delivered events.
    pub events: u64,
    /// Bytes of end-of-data markers.
    pub end_markers: u64,
    /// Bytes skipped because of damage.
    pub lost: u64,
}

impl Accounting {
    /// Returns the sum of all parts.
    pub const fn total(&self) -> u64 {
        self.headers + self.block_markers + self.events + self.end_markers + self.lost
    }
}

/// Reader of one log of known length.
///
/// ```
/// use eventlog::{LogReader, Step};
///
/// # fn main() -> Result<(), eventlog::LogError> {
/// # let bytes = std::fs::read("../../tests/fixtures/logs/ghc-9.6.6/fib-forkio-N2-l.eventlog").unwrap();
/// let mut reader = LogReader::new(bytes.len() as u64);
/// let mut threads = 0;
/// let mut sink = |record: &eventlog::Record<'_>| {
///     threads += u32::from(record.event().name() == "CreateThread");
/// };
/// loop {
///     match reader.advance(&mut sink, 10_000)? {
///         Step::Need(needs) => {
///             for need in needs {
///                 let range = need.0.start as usize..need.0.end as usize;
///                 reader.supply(need.0.start, &bytes[range]);
///             }
///         }
///         Step::Done => break,
///         Step::More | Step::Indexed => {}
///     }
/// }
/// assert_eq!(threads, 14);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LogReader {
    /// Length of the log; of the file, until it is inflated.
    len: u64,
    /// The inflated log of a compressed file, or the eventlog converted from a textual heap profile. The reader
    /// then supplies itself.
    inflated: Option<Inflated>,
    inflate_error: Option<LogError>,
    /// Contents of a textual heap profile, and its damage.
    report: Option<(Report, DamageList)>,
    /// Storage limits for inflated data.
    limits: StorageLimits,
    phase: Phase,
    index: BlockIndex,
    damage: DamageList,
    event_bytes: u64,
    end_marker_bytes: u64,
    /// Number of events per chunk of the row index, if that is kept.
    rows_every: Option<u64>,
    rows: Option<RowSource>,
}

/// Number of blocks indexed before control returns to the driver.
const INDEX_STEPS: usize = 256;

/// Number of bytes that identify the type of a file.
const DETECT_BYTES: usize = if hp::MAGIC_BYTES > Compression::MAGIC_BYTES {
    hp::MAGIC_BYTES
} else {
    Compression::MAGIC_BYTES
};
/// Request size for files that are read sequentially.
const ASK_BYTES: u64 = 4 << 20;
/// Memory limit for a compressed log: a browser's 32-bit memory has 4 GiB, part of which the analyses need.
const INFLATED_BYTES: u64 = 1536 << 20;

/// Returns the error for inflated data that can no longer be read.
fn not_read_again(at: u64) -> LogError {
    let why = "the decompressed data could not be read back".to_owned();
    LogError::Read { at, why }
}

impl Phase {
    /// Chooses the next phase for a file of `len` bytes that is not compressed, by its first bytes.
    fn uncompressed(first: &[u8], len: u64, budget_bytes: u64) -> Self {
        if hp::is_heap_report(first) {
            Self::Convert(Box::new(Converter::new(budget_bytes)))
        } else {
            Self::Index(Box::new(Indexer::new(len)))
        }
    }
}

impl LogReader {
    /// Creates a reader for a file of `len` bytes, which may be compressed.
    pub fn new(len: u64) -> Self {
        Self {
            len,
            inflated: None,
            inflate_error: None,
            report: None,
            limits: StorageLimits {
                memory_bytes: INFLATED_BYTES,
                backing: None,
            },
            phase: Phase::Detect(Vec::new()),
            index: BlockIndex::default(),
            damage: DamageList::default(),
            event_bytes: 0,
            end_marker_bytes: 0,
            rows_every: None,
            rows: None,
        }
    }

    /// Keeps the row index, with a chunk per `every` events, so that any events can be read again: see
    /// [`rows`](Self::rows).
    #[must_use]
    pub fn with_rows(self, every: u64) -> Self {
        Self {
            rows_every: Some(every.max(1)),
            ..self
        }
    }

    /// Limits the memory for a compressed log; one that needs more is rejected.
    #[must_use]
    pub const fn with_inflate_limit(mut self, bytes: u64) -> Self {
        self.limits.memory_bytes = bytes;
        self
    }

    /// Spills inflated data to `backing` if it exceeds `more_than_bytes`. This is the only I/O that the reader
    /// does itself, and it goes through that trait.
    #[must_use]
    pub fn with_inflate_backing(mut self, backing: Arc<dyn Backing>, more_than_bytes: u64) -> Self {
        self.limits.backing = Some((more_than_bytes, backing));
        self
    }

    /// Advances as far as the supplied bytes and `max_events` allow.
    ///
    /// # Errors
    /// If the file is not a readable eventlog. Damage is not an error.
    pub fn advance(&mut self, sink: &mut impl Sink, max_events: usize) -> Result<Step, LogError> {
        let mut bytes = Vec::new();
        loop {
            let step = self.step(sink, max_events)?;
            let Step::Need(needs) = &step else {
                return Ok(step);
            };
            let Some(log) = self.inflated.clone() else {
                return Ok(step);
            };
            for Need(range) in needs {
                if !log.read(range.clone(), &mut bytes) {
                    return Err(not_read_again(range.start));
                }
                self.supply(range.start, &bytes);
            }
        }
    }

    fn step(&mut self, sink: &mut impl Sink, max_events: usize) -> Result<Step, LogError> {
        match &mut self.phase {
            Phase::Detect(bytes) => {
                let have = bytes.len() as u64;
                let want = self.len.min(DETECT_BYTES as u64);
                if have < want {
                    return Ok(Step::Need(vec![Need(have..want)]));
                }
                self.phase = match Compression::detect(bytes) {
                    Some(format) => {
                        let mut inflate = Inflate::new(format, self.limits.clone());
                        inflate.push(bytes);
                        Phase::Inflate(Box::new(inflate))
                    }
                    None => Phase::uncompressed(bytes, self.len, self.limits.memory_bytes),
                };
                Ok(Step::More)
            }
            Phase::Inflate(inflate) => match inflate.step(self.len)? {
                Inflating::More => Ok(Step::More),
                Inflating::NeedsInput => {
                    let from = inflate.taken_bytes();
                    Ok(Step::Need(vec![Need(from..self.len.min(from + ASK_BYTES))]))
                }
                Inflating::Done => self.after_inflating(),
            },
            Phase::Convert(converter) => {
                converter.fits()?;
                let have = converter.taken_bytes();
                if have < self.len {
                    let to = self.len.min(have + ASK_BYTES);
                    return Ok(Step::Need(vec![Need(have..to)]));
                }
                let (log, damage, report) = converter.finish();
                self.len = log.len() as u64;
                self.inflated = Some(log.into());
                self.report = Some((report, damage));
                self.phase = Phase::Index(Box::new(Indexer::new(self.len)));
                Ok(Step::More)
            }
            Phase::Index(indexer) => match indexer.advance(INDEX_STEPS) {
                Err(Ok(need)) => Ok(Step::Need(vec![need])),
                Err(Err(error)) => Err(error),
                Ok(false) => Ok(Step::More),
                Ok(true) => {
                    self.index = std::mem::take(&mut indexer.index);
                    let mut merger = Merger::new(&self.index);
                    merger.rows = self.rows_every.map(RowIndex::new);
                    self.phase = Phase::Merge(Box::new(merger));
                    Ok(Step::Indexed)
                }
            },
            Phase::Merge(merger) => match merger.advance(sink, max_events) {
                MergeStep::Need(needs) => Ok(Step::Need(needs)),
                MergeStep::More => Ok(Step::More),
                MergeStep::Done => {
                    self.damage = std::mem::take(&mut merger.damage);
                    self.event_bytes = merger.done_bytes;
                    self.end_marker_bytes = merger.end_marker_bytes;
                    self.rows = merger.rows.take().map(|index| RowSource {
                        sections: merger.sections(),
                        index: Arc::new(index),
                    });
                    self.phase = Phase::Done;
                    if self.rows.is_none() {
                        self.inflated = None;
                    }
                    Ok(Step::Done)
                }
            },
            Phase::Slices(_) => Ok(Step::More),
            Phase::Done => Ok(Step::Done),
        }
    }

    /// Continues once all of a compressed file is inflated.
    fn after_inflating(&mut self) -> Result<Step, LogError> {
        let Phase::Inflate(inflate) = std::mem::replace(&mut self.phase, Phase::Done) else {
            return Ok(Step::More);
        };
        let (log, error) = inflate.finish()?;
        self.len = log.byte_len();
        self.inflate_error = error;
        let mut first = Vec::new();
        let is_read = log.read(0..DETECT_BYTES as u64, &mut first);
        let left_bytes = self
            .limits
            .memory_bytes
            .saturating_sub(log.resident_and_spilled_bytes().0);
        self.phase = Phase::uncompressed(&first, self.len, left_bytes);
        self.inflated = Some(log);
        if is_read {
            Ok(Step::More)
        } else {
            Err(not_read_again(0))
        }
    }

    /// Divides the log into slices for other readers, once [`Step::Indexed`] was returned. Returns them in order.
    /// Any slices appended before are discarded.
    pub fn slices(&mut self, slicing_rule: &SlicingRule) -> Vec<Slice> {
        let sections = match &self.phase {
            Phase::Merge(merger) => merger.sections(),
            Phase::Slices(results) => Arc::clone(&results.sections),
            _ => return Vec::new(),
        };
        let all = sections.iter().enumerate();
        let plan = all.flat_map(|(number, section)| {
            slices::plan(number, section, slicing_rule, Nanos(0), self.rows_every)
        });
        let plan = plan.collect();
        self.phase = Phase::Slices(Box::new(SliceResults {
            rows: self.rows_every.map(RowIndex::new),
            damage: DamageList::default(),
            event_bytes: 0,
            end_marker_bytes: 0,
            ended: sections.iter().map(|section| section.ended).collect(),
            sections,
        }));
        plan
    }

    /// Appends the results of the next slice. Returns `false` if its blocks contain times that the index rules
    /// out; the log must then be read again, without slices.
    pub fn append(&mut self, part: SliceResult) -> bool {
        let Phase::Slices(results) = &mut self.phase else {
            return true;
        };
        if part.irregular && part.slice.is_cut() {
            return false;
        }
        if let (Some(rows), Some(more)) = (&mut results.rows, part.rows) {
            rows.append(more, &part.early_events);
        }
        results.damage.append(&part.damage);
        results.event_bytes += part.event_bytes;
        results.end_marker_bytes += part.end_marker_bytes;
        if let Some(ended) = results.ended.get_mut(part.slice.section()) {
            *ended |= part.end_marker_bytes > 0;
        }
        true
    }

    /// Completes the log after all slices were appended.
    pub fn finish(&mut self) {
        let Phase::Slices(results) = &mut self.phase else {
            return;
        };
        for (section, ended) in results.sections.iter().zip(&results.ended) {
            if !ended {
                results.damage.push(no_end_marker(section.end));
            }
        }
        self.damage = std::mem::take(&mut results.damage);
        self.event_bytes = results.event_bytes;
        self.end_marker_bytes = results.end_marker_bytes;
        self.rows = results.rows.take().map(|index| RowSource {
            sections: Arc::clone(&results.sections),
            index: Arc::new(index),
        });
        self.phase = Phase::Done;
    }

    /// Supplies bytes of the file, starting at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        match &mut self.phase {
            Phase::Detect(have) => {
                if at == have.len() as u64 {
                    have.extend_from_slice(bytes);
                }
            }
            Phase::Inflate(inflate) => {
                if at == inflate.taken_bytes() {
                    inflate.push(bytes);
                }
            }
            Phase::Convert(converter) => {
                if at == converter.taken_bytes() {
                    converter.push(bytes);
                }
            }
            Phase::Index(indexer) => indexer.file.supply(at, bytes),
            Phase::Merge(merger) => merger.supply(at, bytes),
            Phase::Slices(_) | Phase::Done => {}
        }
    }

    /// Shortens the file to `len` bytes; data read before is kept.
    pub fn truncate(&mut self, len: u64) {
        self.len = self.len.min(len);
        match &mut self.phase {
            Phase::Index(indexer) => indexer.file.truncate(len),
            Phase::Merge(merger) => merger.truncate(len),
            Phase::Detect(_)
            | Phase::Inflate(_)
            | Phase::Convert(_)
            | Phase::Slices(_)
            | Phase::Done => {}
        }
    }

    /// Returns ranges that will be needed soon, most urgent first, for read-ahead by the driver.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let (all, merger) = match &self.phase {
            _ if self.inflated.is_some() => (None, None),
            Phase::Merge(merger) => (None, Some(merger.upcoming())),
            // While the index jumps through the file, its beginning can be read: most blocks that are needed first
            // begin there.
            Phase::Index(_) => (Some(0..self.len), None),
            Phase::Inflate(inflate) => (Some(inflate.taken_bytes()..self.len), None),
            Phase::Convert(converter) => (Some(converter.taken_bytes()..self.len), None),
            _ => (None, None),
        };
        all.into_iter().chain(merger.into_iter().flatten())
    }

    /// Returns access to the events by row, once the log was read to its end with
    /// [`with_rows`](Self::with_rows).
    pub const fn rows(&self) -> Option<&RowSource> {
        self.rows.as_ref()
    }

    /// Returns the contents of a textual heap profile (`.hp`) that are not in the converted events; `None` if the
    /// file is an eventlog.
    pub fn heap_report(&self) -> Option<&Report> {
        self.report.as_ref().map(|(report, _)| report)
    }

    /// Returns the inflated bytes of a compressed log, or the eventlog converted from a textual heap profile.
    /// Event offsets refer to these bytes.
    pub const fn inflated(&self) -> Option<&Inflated> {
        self.inflated.as_ref()
    }

    /// Returns the block index; it is complete once [`Step::Indexed`] was returned.
    pub fn index(&self) -> &BlockIndex {
        &self.index
    }

    /// Returns the header of the first section, once it is known.
    pub fn header(&self) -> Option<&Arc<Header>> {
        self.index.sections.first().map(|section| &section.header)
    }

    /// Returns the current stage, with the bytes processed and in total.
    pub fn progress(&self) -> Progress {
        let (stage, done, total) = match &self.phase {
            Phase::Detect(_) => (Stage::Reading, 0, self.len),
            Phase::Inflate(inflate) => (Stage::Inflating, inflate.done_bytes(), self.len),
            Phase::Convert(converter) => (Stage::Reading, converter.taken_bytes(), self.len),
            Phase::Index(indexer) => (Stage::Indexing, indexer.position(), self.len),
            Phase::Merge(merger) => (Stage::Analyzing, merger.done_bytes, self.len),
            Phase::Slices(results) => (Stage::Analyzing, results.event_bytes, self.len),
            Phase::Done => (Stage::Analyzing, self.len, self.len),
        };
        Progress { stage, done, total }
    }

    /// Returns why a compressed log ends early, if it does.
    pub const fn inflate_error(&self) -> Option<&LogError> {
        self.inflate_error.as_ref()
    }

    /// Returns all damage found so far, in file order. For a textual heap profile, offsets refer to the text.
    pub fn damage(&self) -> DamageList {
        let merging = match &self.phase {
            Phase::Merge(merger) => &merger.damage,
            Phase::Slices(results) => &results.damage,
            _ => &self.damage,
        };
        let indexing = match &self.phase {
            Phase::Index(indexer) => &indexer.index.damage,
            _ => &self.index.damage,
        };
        let converting = match &self.phase {
            Phase::Convert(converter) => Some(converter.damage()),
            _ => self.report.as_ref().map(|(_, damage)| damage),
        };
        let mut all = indexing.clone();
        all.append(merging);
        if let Some(converting) = converting {
            all.append(converting);
        }
        // A truncated file has no end marker; that needs no separate report.
        if all.has(DamageKind::Truncated) {
            all.remove(DamageKind::NoEndMarker);
        }
        all
    }

    /// Returns whether the log has a regular end, once it was read. If not, its last buffers are lost.
    pub fn has_end(&self) -> bool {
        let is_missing_end = |(kind, _): (DamageKind, u64)| kind.is_missing_end();
        self.inflate_error.is_none() && !self.damage().kinds().any(is_missing_end)
    }

    /// Returns the breakdown of the log's bytes, once it was read to its end.
    pub fn accounting(&self) -> Option<Accounting> {
        if !matches!(self.phase, Phase::Done) {
            return None;
        }
        let sections = &self.index.sections;
        let sum = |of: fn(&Section) -> u64| sections.iter().map(of).sum::<u64>();
        Some(Accounting {
            headers: sum(|section| section.header_bytes),
            block_markers: sum(|section| section.marker_bytes),
            events: self.event_bytes,
            end_markers: self.end_marker_bytes
                + sum(|section| 2 * section.end_markers.len() as u64),
            lost: self.index.damage.lost_bytes + self.damage.lost_bytes,
        })
    }

    /// Returns the end of the log, in bytes.
    pub fn len(&self) -> ByteOffset {
        ByteOffset(self.len)
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
