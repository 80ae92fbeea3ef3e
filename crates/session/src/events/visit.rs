//! Questions that are answered by looking at chunks of rows: a page of the
//! list, the next match, the row of a moment. Each says which chunk it wants
//! next; a driver reads it and shows it.

use serde::{Deserialize, Serialize};

use super::chunk::ChunkRows;
use super::filter::Matcher;
use super::scan::Counts;
use super::{EventContext, EventList, EventRow};
use eventlog::Record;
use eventlog::ids::{CapId, Nanos};
use eventlog::rows::RowIndex;

/// Looks at chunks, one after the other.
pub trait Visit {
    /// The chunk to look at next; `None` if it has seen enough.
    fn wants(&self) -> Option<usize>;
    /// Looks at the chunk that it wanted.
    fn take(&mut self, rows: &ChunkRows, context: &EventContext<'_>);
}

/// How the rows of a list are numbered: by what is counted of each chunk, or,
/// where every event is a row, by the index itself.
#[derive(Clone, Copy, Debug)]
pub struct Numbering<'a> {
    /// The chunks.
    pub index: &'a RowIndex,
    /// What is counted, if not every event is a row.
    pub counts: Option<&'a Counts>,
}

impl Numbering<'_> {
    /// How many chunks have numbers.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.counts
            .map_or(self.index.chunks.len(), |counts| counts.done)
    }

    /// How many rows a chunk has.
    #[must_use]
    pub(crate) fn rows_of(&self, chunk: usize) -> u64 {
        match self.counts {
            Some(counts) => counts.rows.get(chunk).copied().map_or(0, u64::from),
            None => self.index.len_of(chunk),
        }
    }

    /// How many rows are before a chunk.
    #[must_use]
    pub(crate) fn rows_before(&self, chunk: usize) -> u64 {
        match self.counts {
            Some(counts) => counts.rows.iter().take(chunk).copied().map(u64::from).sum(),
            None => self
                .index
                .chunks
                .get(chunk)
                .map_or(self.index.rows(), |chunk| chunk.first_row()),
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows_before(self.chunks())
    }

    /// The chunk of a row, and how many rows are before it there.
    #[must_use]
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

/// A page of the list.
#[derive(Debug)]
pub struct Page {
    matcher: Matcher,
    /// The chunks to look at, the next one last.
    chunks: Vec<usize>,
    /// Rows to pass over.
    skip: u64,
    left: usize,
    /// Whether the first row is only there to know how long before it was.
    extra: bool,
    before: Option<Nanos>,
    rows: Vec<EventRow>,
}

impl Page {
    /// `count` rows of a list from row `first` on, as far as there are so many.
    #[must_use]
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

    /// The rows.
    #[must_use]
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

impl Visit for Page {
    fn wants(&self) -> Option<usize> {
        self.chunks.last().copied().filter(|_| self.left > 0)
    }

    fn take(&mut self, rows: &ChunkRows, context: &EventContext<'_>) {
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

/// The fields of one event.
#[derive(Debug)]
pub struct Fields {
    chunk: Option<usize>,
    number: u64,
    fields: Vec<(String, String)>,
}

impl Fields {
    /// Those of the event of that number among all.
    #[must_use]
    pub fn new(index: &RowIndex, number: u64) -> Self {
        Self {
            chunk: index.chunk_of_row(number),
            number,
            fields: Vec::new(),
        }
    }

    /// Names and values.
    #[must_use]
    pub fn finish(self) -> Vec<(String, String)> {
        self.fields
    }
}

impl Visit for Fields {
    fn wants(&self) -> Option<usize> {
        self.chunk
    }

    fn take(&mut self, rows: &ChunkRows, _: &EventContext<'_>) {
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

/// A row that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRow {
    /// Its number in the list.
    pub row: u64,
    /// When it happened.
    pub time: Nanos,
    /// Its number among the rows in which something is found; `None` while
    /// they are counted.
    pub found: Option<u64>,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// The next row with the searched text after a row of the list (or the
    /// first of all).
    After(Option<u64>),
    /// The last one before a row of the list.
    Before(u64),
    /// The first row at or after a time; one of this capability, if there is
    /// one at the same time.
    At(Nanos, Option<CapId>),
}

/// Looks for a row.
#[derive(Debug)]
pub struct Find {
    matcher: Matcher,
    wanted: Wanted,
    /// The chunks to look at, the next one last, with how many rows of the
    /// list are before each, and how many of those in which something is found.
    chunks: Vec<(usize, u64, Option<u64>)>,
    result: Option<FoundRow>,
}

impl Find {
    /// The next row with the searched text after (or the last one before)
    /// row `from` of the list.
    #[must_use]
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
        // Where it is counted, chunks without any are not looked at.
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
            (true, from) => Wanted::After(from),
            (false, from) => Wanted::Before(from.unwrap_or(u64::MAX)),
        };
        Self::new(list, wanted, numbering, counts, chunks)
    }

    /// The first row of the list at or after a time.
    #[must_use]
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
        Self::new(list, Wanted::At(time, cap), numbering, None, chunks)
    }

    fn new(
        list: &EventList,
        wanted: Wanted,
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
            wanted,
            chunks: with_numbers,
            result: None,
        }
    }

    /// The row, if there is one.
    #[must_use]
    pub const fn finish(&self) -> Option<FoundRow> {
        self.result
    }
}

impl Visit for Find {
    fn wants(&self) -> Option<usize> {
        self.chunks
            .last()
            .map(|(chunk, ..)| *chunk)
            .filter(|_| self.result.is_none())
    }

    fn take(&mut self, rows: &ChunkRows, context: &EventContext<'_>) {
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
            if let Wanted::At(at, cap) = self.wanted {
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
            match self.wanted {
                Wanted::After(from) if from.is_none_or(|from| this.row > from) => {
                    self.result = Some(this);
                    return;
                }
                Wanted::Before(from) if this.row < from => self.result = Some(this),
                _ => {}
            }
        }
    }
}
