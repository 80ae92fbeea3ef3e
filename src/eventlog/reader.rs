//! Reading a whole log: first the block index, then the events in order. The
//! reader does no I/O. It names the range that it needs next, a driver
//! supplies it, and in between the driver may do whatever else it has to.

use std::ops::Range;
use std::sync::Arc;

use super::blocks::{BlockIndex, Indexer};
use super::header::Header;
use super::order::{Merged, Merger, Sink};
use super::problem::{Damage, DamageKind, DamageList, LogError};
use super::window::Need;
use crate::ids::ByteOffset;

/// What the reader wants of its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Supply at least the first byte of each of these ranges.
    Need(Vec<Need>),
    /// The allowance is used up; call again.
    More,
    /// The block index is complete: spans and capabilities are known, no
    /// event has been delivered yet.
    Indexed,
    /// Every event was delivered.
    Done,
}

#[derive(Debug)]
enum Phase {
    Index(Box<Indexer>),
    Merge(Box<Merger>),
    Done,
}

/// Reads one log of a known length.
///
/// ```
/// use eventscope::eventlog::{LogReader, Step};
///
/// # fn main() -> Result<(), eventscope::eventlog::LogError> {
/// # let bytes = std::fs::read("tests/fixtures/logs/ghc-9.6.6/fib-forkio-N2-l.eventlog").unwrap();
/// let mut reader = LogReader::new(bytes.len() as u64);
/// let mut threads = 0;
/// let mut sink = |record: &eventscope::eventlog::Record<'_>| {
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
    len: u64,
    phase: Phase,
    index: BlockIndex,
    damage: DamageList,
}

/// How many blocks are indexed between two looks at the driver.
const INDEX_STEPS: usize = 256;

impl LogReader {
    /// A reader for a log of `len` (uncompressed) bytes.
    #[must_use]
    pub fn new(len: u64) -> Self {
        Self {
            len,
            phase: Phase::Index(Box::new(Indexer::new(len))),
            index: BlockIndex::default(),
            damage: DamageList::default(),
        }
    }

    /// Goes on as far as the supplied bytes and `max_events` allow.
    ///
    /// # Errors
    /// If the file is no eventlog that can be read. Damage is no error.
    pub fn advance(&mut self, sink: &mut impl Sink, max_events: usize) -> Result<Step, LogError> {
        match &mut self.phase {
            Phase::Index(indexer) => match indexer.advance(INDEX_STEPS) {
                Err(Ok(need)) => Ok(Step::Need(vec![need])),
                Err(Err(error)) => Err(error),
                Ok(false) => Ok(Step::More),
                Ok(true) => {
                    self.index = std::mem::take(&mut indexer.index);
                    self.phase = Phase::Merge(Box::new(Merger::new(&self.index)));
                    Ok(Step::Indexed)
                }
            },
            Phase::Merge(merger) => match merger.advance(sink, max_events) {
                Merged::Need(needs) => Ok(Step::Need(needs)),
                Merged::More => Ok(Step::More),
                Merged::Done => {
                    self.damage = std::mem::take(&mut merger.damage);
                    self.phase = Phase::Done;
                    Ok(Step::Done)
                }
            },
            Phase::Done => Ok(Step::Done),
        }
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        match &mut self.phase {
            Phase::Index(indexer) => indexer.file.supply(at, bytes),
            Phase::Merge(merger) => merger.supply(at, bytes),
            Phase::Done => {}
        }
    }

    /// Learns that the file now ends at `len`: what was there is still shown.
    pub fn cut(&mut self, len: u64) {
        self.len = self.len.min(len);
        match &mut self.phase {
            Phase::Index(indexer) => indexer.file.cut(len),
            Phase::Merge(merger) => merger.cut(len),
            Phase::Done => {}
        }
    }

    /// Ranges that will be needed soon, most urgent first, so that a driver
    /// can read ahead.
    #[must_use]
    pub fn upcoming(&self) -> &[Range<u64>] {
        match &self.phase {
            Phase::Merge(merger) => merger.upcoming(),
            Phase::Index(_) | Phase::Done => &[],
        }
    }

    /// The blocks found; complete once [`Step::Indexed`] was returned.
    #[must_use]
    pub fn index(&self) -> &BlockIndex {
        &self.index
    }

    /// The header of the first section, once it is known.
    #[must_use]
    pub fn header(&self) -> Option<&Arc<Header>> {
        self.index.sections.first().map(|section| &section.header)
    }

    /// Bytes of events delivered or passed over so far.
    #[must_use]
    pub fn bytes_done(&self) -> u64 {
        match &self.phase {
            Phase::Index(_) => 0,
            Phase::Merge(merger) => merger.done_bytes,
            Phase::Done => self.len,
        }
    }

    /// Bytes of the file that the index has reached; the file's length once it is complete.
    #[must_use]
    pub fn bytes_indexed(&self) -> u64 {
        match &self.phase {
            Phase::Index(indexer) => indexer.position(),
            Phase::Merge(_) | Phase::Done => self.len,
        }
    }

    /// Everything wrong that was found so far, in the order of the file.
    #[must_use]
    pub fn damage(&self) -> DamageList {
        let merging = match &self.phase {
            Phase::Merge(merger) => &merger.damage,
            Phase::Index(_) | Phase::Done => &self.damage,
        };
        let indexing = match &self.phase {
            Phase::Index(indexer) => &indexer.index.damage,
            Phase::Merge(_) | Phase::Done => &self.index.damage,
        };
        let mut all = indexing.clone();
        all.count += merging.count;
        all.lost_bytes += merging.lost_bytes;
        all.kept.extend(merging.kept.iter().copied());
        all.kept.sort_by_key(|damage| damage.at);
        // A file that breaks off has no end marker: that goes without saying.
        if all.kept.iter().any(|d| d.kind == DamageKind::Truncated) {
            let is_no_end = |d: &Damage| d.kind == DamageKind::NoEndMarker;
            all.count -= all.kept.iter().filter(|d| is_no_end(d)).count() as u64;
            all.kept.retain(|damage| !is_no_end(damage));
        }
        all.kept.truncate(DamageList::KEPT);
        all
    }

    /// Where the log ends, in bytes.
    #[must_use]
    pub fn len(&self) -> ByteOffset {
        ByteOffset(self.len)
    }

    /// Whether the file has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
