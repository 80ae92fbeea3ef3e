//! Counting of the rows and search results of a list, chunk by chunk in log order.

use super::filter::Matcher;
use super::{EventContext, EventList};
use eventlog::rows::{RowIndex, RowReader, RowSource};
use eventlog::{Need, Record};

/// Row counts and match counts by chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that pass the filter, by chunk.
    pub rows: Vec<u32>,
    /// Rows that also match the search text, by chunk.
    pub found: Vec<u32>,
    /// Number of leading chunks that are fully counted.
    pub done: usize,
}

impl Counts {
    /// Returns the number of rows in fully counted chunks.
    pub fn rows_done(&self) -> u64 {
        sum_of_first(&self.rows, self.done)
    }

    /// Returns the number of matches in fully counted chunks.
    pub fn found_done(&self) -> u64 {
        sum_of_first(&self.found, self.done)
    }
}

/// Read buffer of each capability.
const WINDOW_BYTES: usize = 1 << 20;
/// Minimum run of chunks without candidates for which seeking beats reading on.
const WORTH_A_JUMP: usize = 8;

/// Counter of the rows of a list.
#[derive(Debug)]
pub struct Scan {
    /// List whose rows are counted.
    pub list: EventList,
    /// Counts of the chunks scanned so far.
    pub counts: Counts,
    matcher: Matcher,
    source: RowSource,
    reader: Option<RowReader>,
    /// Chunk that is being read, or the next one to read.
    chunk: usize,
}

impl Scan {
    /// Creates a counter at the start of the log.
    pub fn new(source: &RowSource, list: EventList) -> Self {
        let chunks = source.index.chunks.len();
        let mut scan = Self {
            matcher: Matcher::new(&list),
            list,
            counts: Counts {
                rows: vec![0; chunks],
                found: vec![0; chunks],
                done: 0,
            },
            source: source.clone(),
            reader: None,
            chunk: 0,
        };
        scan.begin_chunk(0);
        scan
    }

    /// Returns the counted fraction of the log, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.counts.done as f64 / self.counts.rows.len().max(1) as f64
    }

    /// Returns whether the whole log is counted.
    pub fn is_complete(&self) -> bool {
        self.chunk >= self.counts.rows.len()
    }

    /// Advances as far as the supplied bytes and `max_events` allow; returns `Ok(true)` when complete.
    ///
    /// # Errors
    /// The ranges that are needed; supply at least the first byte of each.
    pub fn advance(
        &mut self,
        context: &EventContext<'_>,
        max_events: usize,
    ) -> Result<bool, Vec<Need>> {
        let index = &self.source.index;
        let Some(reader) = self
            .reader
            .as_mut()
            .filter(|_| self.chunk < index.chunks.len())
        else {
            return Ok(true);
        };
        let until = end_of(index, self.chunk);
        let (chunk, counts, matcher) = (self.chunk, &mut self.counts, &mut self.matcher);
        let mut count = |record: &Record<'_>| {
            if !matcher.is_row(record, context) {
                return;
            }
            let back = index.chunks[..=chunk].iter().rev();
            let chunk = chunk - back.take_while(|chunk| chunk.is_after(record.time)).count();
            counts.rows[chunk] += 1;
            counts.found[chunk] += u32::from(matcher.is_found(record, context));
        };
        if reader.read(until, max_events, &mut count)? {
            self.begin_chunk(chunk + 1);
        }
        Ok(self.is_complete())
    }

    /// Continues at a chunk, or at a later one if no chunk before that can have rows.
    fn begin_chunk(&mut self, chunk: usize) {
        let index = &self.source.index;
        self.chunk = chunk;
        if self.is_complete() {
            self.counts.done = chunk;
            return;
        }
        let wanted = |chunk: &usize| {
            let upto = index.chunks.get(chunk + 1).and_then(|next| next.after);
            let chunk = &index.chunks[*chunk];
            self.matcher.may_be_in(&chunk.types, chunk.after, upto)
        };
        // Back-dated events of the previous chunk may still follow.
        let behind = index.chunks[chunk].complete_after > index.chunks[chunk].delivered
            && chunk.checked_sub(1).is_some_and(|before| wanted(&before));
        let next = (chunk..index.chunks.len())
            .find(wanted)
            .unwrap_or(index.chunks.len());
        if !behind && (next - chunk >= WORTH_A_JUMP || next == index.chunks.len()) {
            self.chunk = next;
            self.reader = None;
        }
        if self.reader.is_none() {
            self.reader = RowReader::new(&self.source, self.chunk, WINDOW_BYTES);
            if let Some(reader) = &mut self.reader {
                reader.look_ahead();
            }
        }
        let delivered = self.reader.as_ref().map_or(u64::MAX, RowReader::delivered);
        let settled = |i: usize| {
            index
                .chunks
                .get(i)
                .is_none_or(|next| next.complete_after <= delivered)
        };
        while self.counts.done < self.chunk && settled(self.counts.done + 1) {
            self.counts.done += 1;
        }
    }

    /// Supplies bytes of the file that begin at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.supply(at, bytes);
        }
    }

    /// Returns the reader, for a driver that prefetches.
    pub const fn reader(&self) -> Option<&RowReader> {
        self.reader.as_ref()
    }
}

/// Returns how many events are delivered before the chunk after `chunk` begins.
fn end_of(index: &RowIndex, chunk: usize) -> u64 {
    index
        .chunks
        .get(chunk + 1)
        .map_or(index.rows(), |next| next.delivered)
}

/// Sums the counts of the first chunks.
pub(super) fn sum_of_first(counts: &[u32], chunks: usize) -> u64 {
    counts.iter().take(chunks).copied().map(u64::from).sum()
}
