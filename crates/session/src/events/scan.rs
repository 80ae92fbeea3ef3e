//! Counting the rows that pass a filter and those in which something is
//! found, chunk by chunk, from the first to the last.

use super::filter::Matcher;
use super::{EventContext, EventList};
use eventlog::rows::{RowIndex, RowReader, RowSource};
use eventlog::{Need, Record};

/// How many rows of each chunk pass, and in how many something is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that pass the filter.
    pub rows: Vec<u32>,
    /// Of those, rows in which the searched text is.
    pub found: Vec<u32>,
    /// So many chunks are counted to their ends.
    pub done: usize,
}

impl Counts {
    /// All rows, of the chunks that are done.
    #[must_use]
    pub fn rows_done(&self) -> u64 {
        self.rows
            .iter()
            .take(self.done)
            .copied()
            .map(u64::from)
            .sum()
    }

    /// All rows in which something is found, of the chunks that are done.
    #[must_use]
    pub fn found_done(&self) -> u64 {
        self.found
            .iter()
            .take(self.done)
            .copied()
            .map(u64::from)
            .sum()
    }
}

/// How much is read at once of each capability.
const WINDOW_BYTES: usize = 1 << 20;
/// So many chunks without anything wanted are passed over rather than read.
const WORTH_A_JUMP: usize = 8;

/// Counts the rows of a list.
#[derive(Debug)]
pub struct Scan {
    /// What is counted.
    pub list: EventList,
    /// What is counted so far.
    pub counts: Counts,
    matcher: Matcher,
    source: RowSource,
    reader: Option<RowReader>,
    /// The chunk that is read, or where reading goes on.
    chunk: usize,
}

impl Scan {
    /// Will count the rows of that list.
    #[must_use]
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

    /// How much of the log is counted, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        self.counts.done as f64 / self.counts.rows.len().max(1) as f64
    }

    /// Whether all is counted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.chunk >= self.counts.rows.len()
    }

    /// Goes on as far as the supplied bytes and `max_events` allow. `Ok(true)`
    /// if all is counted.
    ///
    /// # Errors
    /// The ranges that are needed; at least the first byte of each.
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

    /// Goes on at a chunk, or at a later one if nothing is wanted up to there.
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
        // Back-dated events of the chunk before may be among those ahead.
        let behind = index.chunks[chunk].settled > index.chunks[chunk].delivered
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
                .is_none_or(|next| next.settled <= delivered)
        };
        while self.counts.done < self.chunk && settled(self.counts.done + 1) {
            self.counts.done += 1;
        }
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.supply(at, bytes);
        }
    }

    /// The reader, for a driver that reads ahead.
    #[must_use]
    pub const fn reader(&self) -> Option<&RowReader> {
        self.reader.as_ref()
    }
}

/// How many events are delivered when a chunk ends and the next begins.
fn end_of(index: &RowIndex, chunk: usize) -> u64 {
    index
        .chunks
        .get(chunk + 1)
        .map_or(index.rows(), |next| next.delivered)
}
