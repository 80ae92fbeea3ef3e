//! Reading a chunk of rows from the file.

use std::sync::Arc;

use eventlog::header::Header;
use eventlog::ids::{ByteOffset, CapId, Nanos};
use eventlog::rows::{RowReader, RowSource};
use eventlog::{EventType, Need, Record};

/// An event of a chunk.
#[derive(Clone, Copy, Debug)]
struct Kept {
    time: Nanos,
    offset: ByteOffset,
    id: EventType,
    cap: Option<CapId>,
    /// Where its payload begins and ends among the chunk's bytes.
    payload: (usize, usize),
}

/// The rows of a chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkRows {
    /// The number of the chunk in the log.
    pub chunk: usize,
    /// The number of the first row.
    pub first_row: u64,
    events: Vec<Kept>,
    bytes: Vec<u8>,
    header: Option<Arc<Header>>,
}

impl ChunkRows {
    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The rows with their numbers, in display order.
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

/// How much is read at once of each capability: what a chunk has of it.
const WINDOW_BYTES: usize = 128 << 10;

/// Reads a chunk.
#[derive(Debug)]
pub struct ChunkReader {
    reader: RowReader,
    until: u64,
    after: Option<Nanos>,
    upto: Option<Nanos>,
    rows: ChunkRows,
}

impl ChunkReader {
    /// Reads that chunk; `None` if there is none of that number.
    #[must_use]
    pub fn new(source: &RowSource, chunk: usize) -> Option<Self> {
        let this = source.index.chunks.get(chunk)?;
        let next = source.index.chunks.get(chunk + 1);
        Some(Self {
            reader: RowReader::new(source, chunk, WINDOW_BYTES)?,
            until: next.map_or(source.index.rows(), |next| next.settled),
            after: this.after,
            upto: next.and_then(|next| next.after),
            rows: ChunkRows {
                chunk,
                first_row: this.first_row(),
                ..ChunkRows::default()
            },
        })
    }

    /// Goes on as far as the supplied bytes allow: the ranges that are needed,
    /// or the chunk.
    ///
    /// # Errors
    /// The ranges that are needed; at least the first byte of each.
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
            rows.events.push(Kept {
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
            .sort_by_key(|event| (event.time, event.offset));
        Ok(std::mem::take(&mut self.rows))
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.reader.supply(at, bytes);
    }
}
