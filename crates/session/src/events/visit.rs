//! Visitors of row chunks: a page of the list, the next match, the row at a time. Each requests one chunk at a
//! time; a driver reads it and passes it back.

use serde::{Deserialize, Serialize};

use super::chunk::ChunkRows;
use super::filter::Matcher;
use super::scan::{Counts, sum_of_first};
use super::{EventContext, EventList, EventRow};
use eventlog::Record;
use eventlog::ids::{CapId, Nanos};
use eventlog::rows::RowIndex;

/// Visitor that requests chunks one by one.
pub trait ChunkVisitor {
    /// Returns the next chunk to visit; `None` when finished.
    fn next_chunk(&self) -> Option<usize>;
    /// Visits the requested chunk.
    fn visit_chunk(&mut self, rows: &ChunkRows, context: &EventContext<'_>);
}

/// Row numbering of a list: by the counts of each chunk, or by the index itself if every event is a row.
#[derive(Clone, Copy, Debug)]
pub struct Numbering<'a> {
    /// Index of all chunks.
    pub index: &'a RowIndex,
    /// Counts by chunk; `None` if every event is a row.
    pub counts: Option<&'a Counts>,
}

impl Numbering<'_> {
    /// Returns the number of leading chunks with known row numbers.
    pub fn chunks(&self) -> usize {
        self.counts
            .map_or(self.index.chunks.len(), |counts| counts.done)
    }

    /// Returns the number of rows in a chunk.
    pub(crate) fn rows_of(&self, chunk: usize) -> u64 {
        match self.counts {
            Some(counts) => counts.rows.get(chunk).copied().map_or(0, u64::from),
            None => self.index.chunk_rows(chunk),
        }
    }

    /// Returns the number of rows before a chunk.
    pub(crate) fn rows_before(&self, chunk: usize) -> u64 {
        match self.counts {
            Some(counts) => sum_of_first(&counts.rows, chunk),
            None => self
                .index
                .chunks
                .get(chunk)
                .map_or(self.index.rows(), |chunk| chunk.first_row()),
        }
    }

    /// Returns the number of all numbered rows.
    pub fn rows(&self) -> u64 {
        self.rows_before(self.chunks())
    }

    /// Returns the chunk of a row, and the row's offset in it.
    pub fn find(&self, row: u64) -> Option<(usize, u64)> {
        let mut before = row;
        for chunk in 0..self.chunks() {
            let rows = self.rows_of(chunk);
            if before < rows {
                return Some((chunk, before));
            }
            before -= rows;
        }
        None
    }
}

/// Visitor that collects a page of rows.
#[derive(Debug)]
pub struct PageVisitor {
    matcher: Matcher,
    /// Chunks to visit; the next one is last.
    chunks: Vec<usize>,
    /// Rows to skip in the first chunk.
    skip: u64,
    left: usize,
    /// Whether the next row only provides the time for the difference of the row after it.
    extra: bool,
    before: Option<Nanos>,
    rows: Vec<EventRow>,
}

impl PageVisitor {
    /// Creates a visitor for up to `count` rows from row `first` on.
    pub fn new(list: &EventList, numbering: Numbering<'_>, first: u64, count: usize) -> Self {
        let extra = first > 0;
        let from = first - u64::from(extra);
        let left = count + usize::from(extra);
        let (mut chunks, mut skip) = (Vec::new(), 0);
        if let Some((chunk, before)) = numbering.find(from) {
            skip = before;
            let mut found = 0;
            for chunk in chunk..numbering.chunks() {
                let rows = numbering.rows_of(chunk);
                if rows > 0 {
                    chunks.push(chunk);
                    found += rows;
                }
                if found >= skip + left as u64 {
                    break;
                }
            }
            chunks.reverse();
        }
        Self {
            matcher: Matcher::new(list),
            chunks,
            skip,
            left,
            extra,
            before: None,
            rows: Vec::new(),
        }
    }

    /// Returns the collected rows.
    pub fn finish(self) -> Vec<EventRow> {
        self.rows
    }

    fn push(&mut self, number: u64, record: &Record<'_>, context: &EventContext<'_>) {
        let since = self.before.map(|before| record.time.since(before));
        self.before = Some(record.time);
        if std::mem::take(&mut self.extra) {
            return;
        }
        let thread = self.matcher.thread_of(record, context);
        let mut text = String::new();
        context.write_text(record, &mut text);
        self.rows.push(EventRow {
            number,
            time: record.time,
            since,
            cap: record.cap,
            thread,
            label: thread
                .and_then(|thread| context.store.label_of(thread))
                .map(str::to_owned),
            name: record.event().name().to_owned(),
            text,
            found: self.matcher.is_found(record, context),
        });
    }
}

impl ChunkVisitor for PageVisitor {
    fn next_chunk(&self) -> Option<usize> {
        self.chunks.last().copied().filter(|_| self.left > 0)
    }

    fn visit_chunk(&mut self, rows: &ChunkRows, context: &EventContext<'_>) {
        self.chunks.pop();
        for (number, record) in rows.iter() {
            if self.left == 0 {
                return;
            }
            if !self.matcher.is_row(&record, context) {
                continue;
            }
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.left -= 1;
            self.push(number, &record, context);
        }
    }
}

/// Visitor that extracts the fields of one event.
#[derive(Debug)]
pub struct FieldsVisitor {
    chunk: Option<usize>,
    number: u64,
    fields: Vec<(String, String)>,
}

impl FieldsVisitor {
    /// Creates a visitor for the event with that index in the log.
    pub fn new(index: &RowIndex, number: u64) -> Self {
        Self {
            chunk: index.chunk_of_row(number),
            number,
            fields: Vec::new(),
        }
    }

    /// Returns names and values, beginning with the byte offset and the type.
    pub fn finish(self) -> Vec<(String, String)> {
        self.fields
    }
}

impl ChunkVisitor for FieldsVisitor {
    fn next_chunk(&self) -> Option<usize> {
        self.chunk
    }

    fn visit_chunk(&mut self, rows: &ChunkRows, _: &EventContext<'_>) {
        self.chunk = None;
        let Some((_, record)) = rows.iter().find(|(number, _)| *number == self.number) else {
            return;
        };
        let event = record.event();
        self.fields = vec![
            ("byte".to_owned(), record.offset.to_string()),
            (
                "type".to_owned(),
                format!("{} {}", record.id.0, event.name()),
            ),
        ];
        let fields = event.fields().into_iter();
        self.fields
            .extend(fields.map(|(name, value)| (name.to_owned(), value.to_string())));
    }
}

/// Result of a row search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRow {
    /// Row number in the list.
    pub row: u64,
    /// Time of the event.
    pub time: Nanos,
    /// Index among the matching rows; `None` while they are not counted up to there.
    pub found: Option<u64>,
}

/// Target of a row search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FindTarget {
    /// Next matching row after a row of the list, or the first of all.
    After(Option<u64>),
    /// Last matching row before a row of the list.
    Before(u64),
    /// First row at or after a time, preferably of this capability if several have exactly that time.
    At(Nanos, Option<CapId>),
}

/// Visitor that searches for a row.
#[derive(Debug)]
pub struct FindVisitor {
    matcher: Matcher,
    target: FindTarget,
    /// Chunks to visit, the next one last, each with the number of rows before it and, if counted, the number of
    /// matches before it.
    chunks: Vec<(usize, u64, Option<u64>)>,
    result: Option<FoundRow>,
}

impl FindVisitor {
    /// Creates a search for the next matching row after row `from`, or for the last one before it.
    pub fn text(
        list: &EventList,
        numbering: Numbering<'_>,
        counts: Option<&Counts>,
        from: Option<u64>,
        forward: bool,
    ) -> Self {
        let end = numbering.chunks();
        let here = |row: u64| numbering.find(row).map_or(end, |(chunk, _)| chunk);
        let range = match (forward, from) {
            (true, from) => from.map_or(0, here)..end,
            (false, from) => 0..from.map_or(end, |row| (here(row) + 1).min(end)),
        };
        // Skips chunks that are counted and have no matches.
        let none = |chunk: usize| {
            counts.is_some_and(|counts| chunk < counts.done && counts.found.get(chunk) == Some(&0))
        };
        let mut chunks: Vec<usize> = range
            .filter(|&chunk| numbering.rows_of(chunk) > 0 && !none(chunk))
            .collect();
        if forward {
            chunks.reverse();
        }
        let wanted = match (forward, from) {
            (true, from) => FindTarget::After(from),
            (false, from) => FindTarget::Before(from.unwrap_or(u64::MAX)),
        };
        Self::new(list, wanted, numbering, counts, chunks)
    }

    /// Creates a search for the first row of the list at or after a time.
    pub fn time(
        list: &EventList,
        numbering: Numbering<'_>,
        time: Nanos,
        cap: Option<CapId>,
    ) -> Self {
        let from = numbering.index.chunk_of_time(time).unwrap_or(0);
        let mut chunks: Vec<usize> = (from..numbering.chunks())
            .filter(|&chunk| numbering.rows_of(chunk) > 0)
            .collect();
        chunks.reverse();
        Self::new(list, FindTarget::At(time, cap), numbering, None, chunks)
    }

    fn new(
        list: &EventList,
        wanted: FindTarget,
        numbering: Numbering<'_>,
        counts: Option<&Counts>,
        chunks: Vec<usize>,
    ) -> Self {
        let (mut at, mut rows, mut found) = (0, 0, 0);
        let mut with_numbers: Vec<_> = Vec::with_capacity(chunks.len());
        let mut ascending = chunks.clone();
        ascending.sort_unstable();
        for chunk in ascending {
            while at < chunk {
                rows += numbering.rows_of(at);
                let in_chunk = counts.and_then(|counts| counts.found.get(at));
                found += in_chunk.copied().map_or(0, u64::from);
                at += 1;
            }
            let counted = counts.is_some_and(|counts| chunk <= counts.done);
            with_numbers.push((chunk, rows, counted.then_some(found)));
        }
        if chunks.first() > chunks.last() {
            with_numbers.reverse();
        }
        Self {
            matcher: Matcher::new(list),
            target: wanted,
            chunks: with_numbers,
            result: None,
        }
    }

    /// Returns the row, if one was found.
    pub const fn finish(&self) -> Option<FoundRow> {
        self.result
    }
}

impl ChunkVisitor for FindVisitor {
    fn next_chunk(&self) -> Option<usize> {
        self.chunks
            .last()
            .map(|(chunk, ..)| *chunk)
            .filter(|_| self.result.is_none())
    }

    fn visit_chunk(&mut self, rows: &ChunkRows, context: &EventContext<'_>) {
        let Some((_, mut row, mut found)) = self.chunks.pop() else {
            return;
        };
        for (_, record) in rows.iter() {
            if !self.matcher.is_row(&record, context) {
                continue;
            }
            let time = record.time;
            let this = FoundRow { row, time, found };
            row += 1;
            if let FindTarget::At(at, cap) = self.target {
                if time < at {
                    continue;
                }
                if self.result.is_some_and(|first| first.time < time) {
                    return;
                }
                let exact = time == at && cap.is_some() && record.cap == cap;
                if exact || self.result.is_none() {
                    self.result = Some(this);
                }
                if exact || cap.is_none() || time > at {
                    return;
                }
                continue;
            }
            if !self.matcher.is_found(&record, context) {
                continue;
            }
            if let Some(found) = &mut found {
                *found += 1;
            }
            match self.target {
                FindTarget::After(from) if from.is_none_or(|from| this.row > from) => {
                    self.result = Some(this);
                    return;
                }
                FindTarget::Before(from) if this.row < from => self.result = Some(this),
                _ => {}
            }
        }
    }
}
