//! Reading one chunk of rows from the file.

use std::sync::Arc;

use eventlog::header::Header;
use eventlog::ids::{ByteOffset, CapId, Nanos};
use eventlog::rows::{RowReader, RowSource};
use eventlog::{EventType, Need, Record};
use model::sorting::CompactSort;

/// Event of a chunk, without its payload bytes.
#[derive(Clone, Copy, Debug)]
struct OwnedEvent {
    time: Nanos,
    offset: ByteOffset,
    id: EventType,
    cap: Option<CapId>,
    /// Start and end of the payload in the chunk's bytes.
    payload: (usize, usize),
}

/// Rows of one chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkRows {
    /// Index of the chunk in the log.
    pub chunk: usize,
    /// Row number of the chunk's first row.
    pub first_row: u64,
    events: Vec<OwnedEvent>,
    bytes: Vec<u8>,
    header: Option<Arc<Header>>,
}

impl ChunkRows {
    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether the chunk has no rows.
    pub const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the rows with their numbers, in display order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, Record<'_>)> {
        (0..self.len()).filter_map(|at| Some((self.first_row + at as u64, self.record(at)?)))
    }

    fn record(&self, at: usize) -> Option<Record<'_>> {
        let event = self.events.get(at)?;
        let (from, to) = event.payload;
        Some(Record {
            offset: event.offset,
            id: event.id,
            time: event.time,
            cap: event.cap,
            payload: self.bytes.get(from..to)?,
            header: self.header.as_ref()?,
        })
    }
}

/// Read buffer of each capability, about the size of its share of a chunk.
const WINDOW_BYTES: usize = 128 << 10;

/// Reader of one chunk.
#[derive(Debug)]
pub struct ChunkReader {
    reader: RowReader,
    until: u64,
    after: Option<Nanos>,
    upto: Option<Nanos>,
    rows: ChunkRows,
}

impl ChunkReader {
    /// Creates a reader; `None` if there is no chunk with that index.
    pub fn new(source: &RowSource, chunk: usize) -> Option<Self> {
        let this = source.index.chunks.get(chunk)?;
        let next = source.index.chunks.get(chunk + 1);
        Some(Self {
            reader: RowReader::new(source, chunk, WINDOW_BYTES)?,
            until: next.map_or(source.index.rows(), |next| next.complete_after),
            after: this.after,
            upto: next.and_then(|next| next.after),
            rows: ChunkRows {
                chunk,
                first_row: this.first_row(),
                ..ChunkRows::default()
            },
        })
    }

    /// Advances as far as the supplied bytes allow, and returns the chunk when it is complete.
    ///
    /// # Errors
    /// The ranges that are needed; supply at least the first byte of each.
    pub fn advance(&mut self) -> Result<ChunkRows, Vec<Need>> {
        let (after, upto, rows) = (self.after, self.upto, &mut self.rows);
        let mut keep = |record: &Record<'_>| {
            let early = after.is_some_and(|after| record.time <= after);
            let late = upto.is_some_and(|upto| record.time > upto);
            if early || late {
                return;
            }
            let from = rows.bytes.len();
            rows.bytes.extend_from_slice(record.payload);
            rows.header.get_or_insert_with(|| Arc::clone(record.header));
            rows.events.push(OwnedEvent {
                time: record.time,
                offset: record.offset,
                id: record.id,
                cap: record.cap,
                payload: (from, rows.bytes.len()),
            });
        };
        while !self.reader.read(self.until, usize::MAX, &mut keep)? {}
        self.rows
            .events
            .sort_small_by_key(|event| (event.time, event.offset));
        Ok(std::mem::take(&mut self.rows))
    }

    /// Supplies bytes of the file that begin at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
    }
}
