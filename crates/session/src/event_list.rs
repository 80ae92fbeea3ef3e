//! Questions about single events. These are not kept: the chunks that they
//! are in are read from the file again, and the last few of those are kept.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::Session;
use super::query::{Host, Later, Query, Unreadable};
use crate::events::chunk::{ChunkReader, ChunkRows};
use crate::events::scan::{Counts, Scan};
use crate::events::visit::{Fields, Find, FoundRow, Numbering, Page, Visit};
use crate::events::{EventList, EventRow};
use eventlog::Need;
use eventlog::ids::{CapId, Nanos};
use eventlog::rows::RowSource;

/// Why there are no rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NoRows {
    /// The log is not read to its end, or the rows of that list are not
    /// counted ([`CountRows`]).
    #[error("the rows are not counted yet")]
    NotCounted,
    /// The file is not what it was.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// `count` rows of a list from row `first` on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRows {
    /// The list that the rows are of.
    pub list: EventList,
    /// The first row.
    pub first: u64,
    /// How many at most.
    pub count: u32,
}

impl Query for EventRows {
    type Answer = Result<Vec<EventRow>, NoRows>;
    const NAME: &'static str = "rows of events";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let page = log.events.begin(log.rows(), &self.list, |numbering, _| {
            Page::new(&self.list, numbering, self.first, self.count as usize)
        });
        Ok(show_chunks(log, host, page?).await?.finish())
    }
}

/// The next row after a row of the list with the searched text, or the last
/// one before it. Nothing is found by an empty text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindEvent {
    /// The list, with the text that is searched for.
    pub list: EventList,
    /// After or before which row.
    pub from: Option<u64>,
    /// Whether after it.
    pub forward: bool,
}

impl Query for FindEvent {
    type Answer = Result<Option<FoundRow>, NoRows>;
    const NAME: &'static str = "find an event";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        if self.list.search.is_empty() {
            return Ok(None);
        }
        let find = log
            .events
            .begin(log.rows(), &self.list, |numbering, counts| {
                Find::text(&self.list, numbering, counts, self.from, self.forward)
            });
        Ok(show_chunks(log, host, find?).await?.finish())
    }
}

/// The first row at or after a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAt {
    /// The list that the rows are of.
    pub list: EventList,
    /// The time.
    pub time: Nanos,
    /// If there are several at that time: of this capability.
    pub cap: Option<CapId>,
}

impl Query for EventAt {
    type Answer = Result<Option<FoundRow>, NoRows>;
    const NAME: &'static str = "event at a time";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let find = log.events.begin(log.rows(), &self.list, |numbering, _| {
            Find::time(&self.list, numbering, self.time, self.cap)
        });
        Ok(show_chunks(log, host, find?).await?.finish())
    }
}

/// Names and values of all fields of the event of that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFields(pub u64);

impl Query for EventFields {
    type Answer = Result<Vec<(String, String)>, NoRows>;
    const NAME: &'static str = "fields of an event";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let source = log.rows().ok_or(NoRows::NotCounted)?;
        let fields = Fields::new(&source.index, self.0);
        Ok(show_chunks(log, host, fields).await?.finish())
    }
}

/// Goes on counting the rows of a list for a while: to be asked again until
/// it is complete. What was counted of the last few lists is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRows(pub EventList);

/// How many rows a list has, as far as they are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Its rows.
    pub rows: u64,
    /// Rows with the searched text.
    pub found: u64,
    /// How much of the log is counted, from 0 to 1.
    pub part: f64,
    /// Whether that is all of it.
    pub complete: bool,
}

/// Events between two looks at the clock: a search takes about a microsecond
/// for each.
const EVENTS_PER_STEP: usize = 4_000;
/// Steps for an answer: a tenth of a second or less.
const STEPS_PER_ANSWER: usize = 25;

impl Query for CountRows {
    type Answer = Result<Counted, NoRows>;
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
                Ok(false) => host.listen().await,
                Err(needs) => {
                    for Need(range) in needs {
                        let bytes = log.bytes(host, range.clone(), &mut ahead.iter().cloned());
                        let bytes = bytes.await?;
                        scan(&mut |scan| scan.supply(range.start, &bytes));
                    }
                }
            }
        }
        let mut counted = Counted::default();
        scan(&mut |scan| {
            counted = Counted {
                rows: scan.counts.rows_done(),
                found: scan.counts.found_done(),
                part: scan.progress(),
                complete: scan.is_complete(),
            }
        });
        Ok(counted)
    }
}

/// So many ranges are named to who reads ahead: small blocks lie side by side.
const RANGES_AHEAD: usize = 1024;

/// How many chunks are kept: those around what is in view.
const CHUNKS_KEPT: usize = 6;
/// Of how many lists it is kept what was counted: that of the panel, that of
/// the markers, and the one before.
const SCANS_KEPT: usize = 3;

/// What is kept for questions about events. Never locked while something is
/// waited for.
#[derive(Debug, Default)]
pub(super) struct EventLists(Mutex<Kept>);

/// What was used last stands last.
#[derive(Debug, Default)]
struct Kept {
    chunks: Vec<Arc<ChunkRows>>,
    scans: Vec<Scan>,
}

/// Moves what is found to the end of a list of at most `most`, or puts there
/// what `make` gives.
fn keep<T>(
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
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to look at chunks, with the numbers of a list's rows, and what
    /// was counted of the searched text.
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

    /// Does something with the counting of a list, which is begun if need be.
    fn scan(&self, source: &RowSource, list: &EventList, what: &mut dyn FnMut(&mut Scan)) {
        let mut kept = self.lock();
        let is = |scan: &Scan| scan.list == *list;
        let make = || Scan::new(source, list.clone());
        what(keep(&mut kept.scans, SCANS_KEPT, is, make));
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
        Arc::clone(keep(&mut kept.chunks, CHUNKS_KEPT, is, || Arc::new(rows)))
    }
}

/// Shows a visitor the chunks that it wants.
async fn show_chunks<V: Visit>(
    log: &Session,
    host: &dyn Host,
    mut visitor: V,
) -> Result<V, Unreadable> {
    while let Some(chunk) = visitor.wants() {
        let rows = match log.events.chunk(chunk) {
            Some(rows) => rows,
            None => log.events.keep_chunk(read_chunk(log, host, chunk).await?),
        };
        visitor.take(&rows, &log.event_context());
        host.listen().await;
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
        // All reads are begun before the first is waited for.
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
    /// Begins to read a range of the log's bytes: of what was inflated if
    /// it was compressed, else of the file.
    pub(super) fn bytes<'a>(
        &'a self,
        host: &'a dyn Host,
        range: Range<u64>,
        next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> Later<'a, Result<Vec<u8>, Unreadable>> {
        if let Some(inflated) = self.inflated() {
            let mut bytes = Vec::new();
            let is_read = inflated.read(range, &mut bytes) && !bytes.is_empty();
            let lost = || Unreadable("what was inflated is gone".to_owned());
            return Box::pin(std::future::ready(
                is_read.then_some(bytes).ok_or_else(lost),
            ));
        }
        let read = host.read_on(range, next);
        Box::pin(async {
            match read.await {
                Ok(bytes) if bytes.is_empty() => Err(Unreadable("it is shorter now".to_owned())),
                other => other,
            }
        })
    }
}
