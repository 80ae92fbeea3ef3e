//! Queries on single events. Events are not kept in memory: the chunks that contain them are read from the file
//! again, and the most recent chunks are cached.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, LocalBoxFuture, Query, Unreadable};
use crate::events::chunk::{ChunkReader, ChunkRows};
use crate::events::scan::{Counts, Scan};
use crate::events::visit::{
    ChunkVisitor, FieldsVisitor, FindVisitor, FoundRow, Numbering, PageVisitor,
};
use crate::events::{EventList, EventRow};
use eventlog::Need;
use eventlog::ids::{CapId, Nanos};
use eventlog::rows::RowSource;

/// Reason why rows are unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NoRows {
    /// The log is not fully read, or the rows of the list are not counted yet ([`CountRowsQuery`]).
    #[error("the rows are not counted yet")]
    NotCounted,
    /// The file changed or disappeared.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// Page of a list: at most `count` rows from row `first` on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRowsQuery {
    /// List that the rows belong to.
    pub list: EventList,
    /// Row number of the first row, from 0.
    pub first: u64,
    /// Maximum number of rows.
    pub count: u32,
}

impl Query for EventRowsQuery {
    type Answer = Result<Vec<EventRow>, NoRows>;
    const NAME: &'static str = "rows of events";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let page = log.events.begin(log.rows(), &self.list, |numbering, _| {
            PageVisitor::new(&self.list, numbering, self.first, self.count as usize)
        });
        Ok(run_visitor(log, host, page?).await?.finish())
    }
}

/// Search for the next or previous matching row of a list. An empty search text matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindEventQuery {
    /// List, with the search text.
    pub list: EventList,
    /// Row to start from, exclusive; `None` starts before the first or after the last row.
    pub from: Option<u64>,
    /// Search direction: `true` searches later rows.
    pub forward: bool,
}

impl Query for FindEventQuery {
    type Answer = Result<Option<FoundRow>, NoRows>;
    const NAME: &'static str = "find an event";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        if self.list.search.is_empty() {
            return Ok(None);
        }
        let find = log
            .events
            .begin(log.rows(), &self.list, |numbering, counts| {
                FindVisitor::text(&self.list, numbering, counts, self.from, self.forward)
            });
        Ok(run_visitor(log, host, find?).await?.finish())
    }
}

/// Search for the first row at or after a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindEventAtQuery {
    /// List that the row belongs to.
    pub list: EventList,
    /// Earliest time of the row.
    pub time: Nanos,
    /// Capability that is preferred if several rows have exactly that time.
    pub cap: Option<CapId>,
}

impl Query for FindEventAtQuery {
    type Answer = Result<Option<FoundRow>, NoRows>;
    const NAME: &'static str = "event at a time";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let find = log.events.begin(log.rows(), &self.list, |numbering, _| {
            FindVisitor::time(&self.list, numbering, self.time, self.cap)
        });
        Ok(run_visitor(log, host, find?).await?.finish())
    }
}

/// Names and values of all fields of the event with that number in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFieldsQuery(pub u64);

impl Query for EventFieldsQuery {
    type Answer = Result<Vec<(String, String)>, NoRows>;
    const NAME: &'static str = "fields of an event";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let source = log.rows().ok_or(NoRows::NotCounted)?;
        let fields = FieldsVisitor::new(&source.index, self.0);
        Ok(run_visitor(log, host, fields).await?.finish())
    }
}

/// Continues counting the rows of a list for a limited time. Repeat the query until it is complete; the counts of
/// the last few lists are cached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRowsQuery(pub EventList);

/// Row counts of a list, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowCounts {
    /// Number of rows that pass the filter.
    pub rows: u64,
    /// Number of those rows that match the search text.
    pub found: u64,
    /// Counted fraction of the log, from 0 to 1.
    pub part: f64,
    /// Whether the whole log is counted.
    pub complete: bool,
}

/// Events between two yields: a search takes about a microsecond for each.
const EVENTS_PER_STEP: usize = 4_000;
/// Steps per answer, which take a tenth of a second or less.
const STEPS_PER_ANSWER: usize = 25;

impl Query for CountRowsQuery {
    type Answer = Result<RowCounts, NoRows>;
    const NAME: &'static str = "count rows of events";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let source = log.rows().ok_or(NoRows::NotCounted)?;
        let scan = |what: &mut dyn FnMut(&mut Scan)| log.events.scan(source, &self.0, what);
        for _ in 0..STEPS_PER_ANSWER {
            let (mut step, mut ahead) = (Ok(true), Vec::new());
            scan(&mut |scan| {
                step = scan.advance(&log.event_context(), EVENTS_PER_STEP);
                let upcoming = scan
                    .reader()
                    .into_iter()
                    .flat_map(|reader| reader.upcoming());
                ahead = upcoming.take(RANGES_AHEAD).collect();
            });
            match step {
                Ok(true) => break,
                Ok(false) => host.yield_if_due().await,
                Err(needs) => {
                    for Need(range) in needs {
                        let bytes = log.bytes(host, range.clone(), &mut ahead.iter().cloned());
                        let bytes = bytes.await?;
                        scan(&mut |scan| scan.supply(range.start, &bytes));
                    }
                }
            }
        }
        let mut counted = RowCounts::default();
        scan(&mut |scan| {
            counted = RowCounts {
                rows: scan.counts.rows_done(),
                found: scan.counts.found_done(),
                part: scan.progress(),
                complete: scan.is_complete(),
            }
        });
        Ok(counted)
    }
}

/// Maximum number of ranges passed on for prefetching; small blocks are adjacent in the file.
const RANGES_AHEAD: usize = 1024;

/// Capacity of the chunk cache: the chunks around the visible rows.
const MAX_CACHED_CHUNKS: usize = 6;
/// Capacity of the count cache: the lists of the panel and of the markers, and the previous one.
const MAX_CACHED_SCANS: usize = 3;

/// Caches of event queries. The lock is never held across an `await`.
#[derive(Debug, Default)]
pub(super) struct EventLists(Mutex<ListCache>);

/// LRU caches; the most recently used item is last.
#[derive(Debug, Default)]
struct ListCache {
    chunks: Vec<Arc<ChunkRows>>,
    scans: Vec<Scan>,
}

/// Moves the matching item to the end of a list of at most `most` items, or appends the result of `make`.
fn get_or_insert_lru<T>(
    all: &mut Vec<T>,
    most: usize,
    is: impl Fn(&T) -> bool,
    make: impl FnOnce() -> T,
) -> &mut T {
    let found = match all.iter().position(is) {
        Some(at) => all.remove(at),
        None => make(),
    };
    if all.len() == most {
        all.remove(0);
    }
    all.push_mut(found)
}

impl EventLists {
    fn lock(&self) -> MutexGuard<'_, ListCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a visitor with the row numbering of a list and the counts of its search text. It needs the counts of
    /// a filtered list.
    fn begin<V>(
        &self,
        source: Option<&RowSource>,
        list: &EventList,
        with: impl FnOnce(Numbering<'_>, Option<&Counts>) -> V,
    ) -> Result<V, NoRows> {
        let index = &source.ok_or(NoRows::NotCounted)?.index;
        let kept = self.lock();
        let counted = |is: &dyn Fn(&EventList) -> bool| {
            let counts = kept.scans.iter().filter(|scan| is(&scan.list));
            counts
                .map(|scan| &scan.counts)
                .max_by_key(|counts| counts.done)
        };
        let counts = if list.filter.is_all() {
            None
        } else {
            let filtered = counted(&|other| other.filter == list.filter);
            Some(filtered.ok_or(NoRows::NotCounted)?)
        };
        let searched = counted(&|other| other == list);
        Ok(with(Numbering { index, counts }, searched))
    }

    /// Calls `what` with the scan of a list, which is started if necessary.
    fn scan(&self, source: &RowSource, list: &EventList, what: &mut dyn FnMut(&mut Scan)) {
        let mut kept = self.lock();
        let is = |scan: &Scan| scan.list == *list;
        let make = || Scan::new(source, list.clone());
        what(get_or_insert_lru(
            &mut kept.scans,
            MAX_CACHED_SCANS,
            is,
            make,
        ));
    }

    fn chunk(&self, chunk: usize) -> Option<Arc<ChunkRows>> {
        let kept = self.lock();
        let found = kept.chunks.iter().find(|rows| rows.chunk == chunk);
        found.cloned()
    }

    fn keep_chunk(&self, rows: ChunkRows) -> Arc<ChunkRows> {
        let mut kept = self.lock();
        let chunk = rows.chunk;
        let is = |other: &Arc<ChunkRows>| other.chunk == chunk;
        Arc::clone(get_or_insert_lru(
            &mut kept.chunks,
            MAX_CACHED_CHUNKS,
            is,
            || Arc::new(rows),
        ))
    }
}

/// Reads the chunks that a visitor requests and passes them to it.
async fn run_visitor<V: ChunkVisitor>(
    log: &Session,
    host: &dyn Host,
    mut visitor: V,
) -> Result<V, Unreadable> {
    while let Some(chunk) = visitor.next_chunk() {
        let rows = match log.events.chunk(chunk) {
            Some(rows) => rows,
            None => log.events.keep_chunk(read_chunk(log, host, chunk).await?),
        };
        visitor.visit_chunk(&rows, &log.event_context());
        host.yield_if_due().await;
    }
    Ok(visitor)
}

async fn read_chunk(log: &Session, host: &dyn Host, chunk: usize) -> Result<ChunkRows, Unreadable> {
    let source = log.rows();
    let Some(mut reader) = source.and_then(|source| ChunkReader::new(source, chunk)) else {
        return Ok(ChunkRows::default());
    };
    loop {
        let needs = match reader.advance() {
            Ok(rows) => return Ok(rows),
            Err(needs) => needs,
        };
        // Starts all reads before awaiting the first.
        let reads = needs.into_iter().map(|Need(range)| {
            let at = range.start;
            (at, log.bytes(host, range, &mut std::iter::empty()))
        });
        for (at, bytes) in reads.collect::<Vec<_>>() {
            reader.supply(at, &bytes.await?);
        }
    }
}

impl Session {
    /// Starts reading a range of the log: from the inflated bytes of a compressed log, else from the file.
    pub(super) fn bytes<'a>(
        &'a self,
        host: &'a dyn Host,
        range: Range<u64>,
        next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> LocalBoxFuture<'a, Result<Vec<u8>, Unreadable>> {
        if let Some(inflated) = self.inflated() {
            let mut bytes = Vec::new();
            let is_read = inflated.read(range, &mut bytes) && !bytes.is_empty();
            let lost = || {
                Unreadable("the temporary file with the uncompressed log cannot be read".to_owned())
            };
            return Box::pin(std::future::ready(
                is_read.then_some(bytes).ok_or_else(lost),
            ));
        }
        let read = host.read_with_prefetch(range, next);
        Box::pin(async {
            match read.await {
                Ok(bytes) if bytes.is_empty() => Err(Unreadable(
                    "it is shorter than when it was opened".to_owned(),
                )),
                other => other,
            }
        })
    }
}
