//! The event list's side of the worker: it reads chunks of rows again from
//! the file, and counts rows while the page goes on.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

use super::blob::{self, BlobReader};
use super::pause::Pauser;
use super::{Shared, State, now_ms, post};
use crate::protocol::{Answer, Counted, EventQuery, FromWorker};
use eventlog::Need;
use eventlog::rows::RowSource;
use views::events::EventList;
use views::events::chunk::{ChunkReader, ChunkRows};
use views::events::scan::Scan;
use views::events::visit::{Fields, Find, Numbering, Page, Visit};
use views::session::Session;

/// How many chunks are kept: those around what is in view.
const CHUNKS_KEPT: usize = 6;
/// Events between two looks at the clock: a search takes about a microsecond
/// for each.
const EVENTS_PER_STEP: usize = 4_000;
/// After so long other questions are heard: less than a frame.
const LISTEN_EVERY_MS: f64 = 10.0;
/// How often it is said how far the counting is.
const REPORT_EVERY_MS: f64 = 50.0;

/// What is known of the event list.
#[derive(Default)]
pub(super) struct Events {
    scan: Option<Scan>,
    /// Goes up with every list that is counted.
    generation: u32,
    chunks: VecDeque<Rc<ChunkRows>>,
}

impl Events {
    /// Forgets everything; what is still on its way will not be taken for
    /// something that was asked for later.
    pub(super) fn clear(&mut self) {
        *self = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
    }

    fn kept(&mut self, chunk: usize) -> Option<Rc<ChunkRows>> {
        let at = self.chunks.iter().position(|rows| rows.chunk == chunk)?;
        let rows = self.chunks.remove(at)?;
        self.chunks.push_back(Rc::clone(&rows));
        Some(rows)
    }

    fn keep(&mut self, rows: ChunkRows) -> Rc<ChunkRows> {
        if self.chunks.len() == CHUNKS_KEPT {
            self.chunks.pop_front();
        }
        let rows = Rc::new(rows);
        self.chunks.push_back(Rc::clone(&rows));
        rows
    }

    /// How the rows of a list are numbered, and what is counted of it; `None`
    /// if its rows are not counted, though they must be.
    fn numbering<'a>(
        &'a self,
        source: &'a RowSource,
        list: &EventList,
    ) -> Option<(Numbering<'a>, Option<&'a views::events::scan::Counts>)> {
        let scan = self.scan.as_ref();
        let same = |scan: &&Scan| scan.list.filter == list.filter;
        let filtered = scan.filter(same).map(|scan| &scan.counts);
        let searched = scan
            .filter(|scan| scan.list == *list)
            .map(|scan| &scan.counts);
        let counts = if list.filter.is_all() {
            None
        } else {
            Some(filtered?)
        };
        let index = &source.index;
        Some((Numbering { index, counts }, searched))
    }
}

/// Counts the rows of a list, instead of those of any other.
pub(super) fn count(shared: &Shared, list: Option<EventList>) {
    let generation = {
        let mut state = shared.borrow_mut();
        let state = &mut *state;
        state.events.generation += 1;
        let source = state.session.as_ref().and_then(Session::rows);
        state.events.scan = list
            .zip(source)
            .map(|(list, source)| Scan::new(source, list));
        if state.events.scan.is_none() {
            return;
        }
        state.events.generation
    };
    let shared = Rc::clone(shared);
    spawn_local(async move {
        // A file that cannot be read any more ends the counting where it is.
        let _ = run_scan(&shared, generation).await;
        report(&shared, generation);
    });
}

fn report(shared: &Shared, generation: u32) {
    let state = shared.borrow();
    let Some(scan) = state
        .events
        .scan
        .as_ref()
        .filter(|_| state.events.generation == generation)
    else {
        return;
    };
    post(&FromWorker::Counted(Counted {
        list: scan.list.clone(),
        rows: scan.counts.rows_done(),
        found: scan.counts.found_done(),
        part: scan.progress(),
        complete: scan.is_complete(),
    }));
}

async fn run_scan(shared: &Shared, generation: u32) -> Result<(), JsValue> {
    let (file, pieces) = {
        let state = shared.borrow();
        let (Some(file), Some(pieces)) = (state.file.clone(), state.pieces.clone()) else {
            return Ok(());
        };
        (file, pieces)
    };
    let mut blob = BlobReader::new(&file, &pieces);
    let pauser = Pauser::new();
    let (mut listened_ms, mut reported_ms) = (now_ms(), 0.0);
    let mut bytes = Vec::new();
    loop {
        let step = {
            let state = &mut *shared.borrow_mut();
            if state.events.generation != generation {
                return Ok(());
            }
            let (Some(session), Some(scan)) = (&state.session, &mut state.events.scan) else {
                return Ok(());
            };
            scan.advance(&session.event_context(), EVENTS_PER_STEP)
        };
        match step {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(needs) => {
                for Need(range) in needs {
                    supply_scan(shared, generation, &mut blob, &range, &mut bytes).await?;
                }
            }
        }
        if now_ms() - listened_ms > LISTEN_EVERY_MS {
            if now_ms() - reported_ms > REPORT_EVERY_MS {
                report(shared, generation);
                reported_ms = now_ms();
            }
            pauser.pause().await;
            listened_ms = now_ms();
        }
    }
}

/// Reads what the counting needs, and begins to read what it will need.
async fn supply_scan(
    shared: &Shared,
    generation: u32,
    blob: &mut BlobReader<'_>,
    range: &Range<u64>,
    bytes: &mut Vec<u8>,
) -> Result<(), JsValue> {
    let piece = {
        let state = &mut *shared.borrow_mut();
        let Some(scan) = &mut state.events.scan else {
            return Ok(());
        };
        if let Some(part) = inflated(state.session.as_ref(), range) {
            scan.supply(range.start, part);
            return Ok(());
        }
        let piece = blob.begin(range)?;
        if let Some(reader) = scan.reader() {
            blob.read_ahead(reader.upcoming())?;
        }
        piece
    };
    piece.read(bytes).await?;
    if bytes.is_empty() {
        // The file has become shorter.
        return Err(JsValue::NULL);
    }
    let events = &mut shared.borrow_mut().events;
    if let Some(scan) = events
        .scan
        .as_mut()
        .filter(|_| events.generation == generation)
    {
        scan.supply(range.start, bytes);
    }
    Ok(())
}

/// A part of a compressed log.
fn inflated<'a>(session: Option<&'a Session>, range: &Range<u64>) -> Option<&'a [u8]> {
    let from = usize::try_from(range.start).ok()?;
    let to = usize::try_from(range.end).ok()?;
    session?.inflated()?.get(from..to)
}

/// Answers a question about events.
pub(super) fn answer(shared: &Shared, id: u32, query: EventQuery) {
    let shared = Rc::clone(shared);
    spawn_local(async move {
        let answer = match query {
            EventQuery::Rows { list, first, count } => {
                let page = begin(&shared, |events, source| {
                    let (numbering, _) = events.numbering(source, &list)?;
                    Some(Page::new(&list, numbering, first, count as usize))
                });
                let page = run(&shared, page).await;
                page.map(|page| Answer::EventRows(page.finish()))
            }
            EventQuery::Find {
                list,
                from,
                forward,
            } => {
                let find = begin(&shared, |events, source| {
                    let (numbering, counts) = events.numbering(source, &list)?;
                    Some(Find::text(&list, numbering, counts, from, forward))
                });
                let find = run(&shared, find).await;
                find.map(|find| Answer::EventFound(find.finish()))
            }
            EventQuery::At { list, time, cap } => {
                let find = begin(&shared, |events, source| {
                    let (numbering, _) = events.numbering(source, &list)?;
                    Some(Find::time(&list, numbering, time, cap))
                });
                let find = run(&shared, find).await;
                find.map(|find| Answer::EventFound(find.finish()))
            }
            EventQuery::Fields(number) => {
                let fields = begin(&shared, |_, source| {
                    Some(Fields::new(&source.index, number))
                });
                let fields = run(&shared, fields).await;
                fields.map(|fields| Answer::EventFields(fields.finish()))
            }
        };
        let answer = answer.unwrap_or(Answer::Nothing);
        post(&FromWorker::Answer { id, answer });
    });
}

fn begin<V>(shared: &Shared, with: impl FnOnce(&Events, &RowSource) -> Option<V>) -> Option<V> {
    let state = shared.borrow();
    with(&state.events, state.session.as_ref()?.rows()?)
}

/// Shows a visitor the chunks that it wants; `None` if another log was opened
/// meanwhile or the file cannot be read any more.
async fn run<V: Visit>(shared: &Shared, visit: Option<V>) -> Option<V> {
    let mut visit = visit?;
    let generation = shared.borrow().generation;
    let pauser = Pauser::new();
    let mut listened_ms = now_ms();
    while let Some(chunk) = visit.wants() {
        let kept = shared.borrow_mut().events.kept(chunk);
        let rows = match kept {
            Some(rows) => rows,
            None => {
                let rows = read_chunk(shared, chunk).await?;
                let mut state = shared.borrow_mut();
                if state.generation != generation {
                    return None;
                }
                state.events.keep(rows)
            }
        };
        {
            let state = shared.borrow();
            if state.generation != generation {
                return None;
            }
            visit.take(&rows, &state.session.as_ref()?.event_context());
        }
        if now_ms() - listened_ms > LISTEN_EVERY_MS {
            pauser.pause().await;
            listened_ms = now_ms();
        }
    }
    Some(visit)
}

async fn read_chunk(shared: &Shared, chunk: usize) -> Option<ChunkRows> {
    let mut reader = {
        let state = shared.borrow();
        ChunkReader::new(state.session.as_ref()?.rows()?, chunk)?
    };
    let mut bytes = Vec::new();
    loop {
        let needs = match reader.advance() {
            Ok(rows) => return Some(rows),
            Err(needs) => needs,
        };
        // All reads are begun before the first is waited for.
        let mut pieces = Vec::new();
        {
            let state: &State = &shared.borrow();
            for Need(range) in needs {
                match inflated(state.session.as_ref(), &range) {
                    Some(part) => reader.supply(range.start, part),
                    None => {
                        let file: &File = state.file.as_ref()?;
                        pieces.push((range.start, blob::begin_alone(file, &range).ok()?));
                    }
                }
            }
        }
        for (at, piece) in pieces {
            piece.read(&mut bytes).await.ok()?;
            if bytes.is_empty() {
                return None;
            }
            reader.supply(at, &bytes);
        }
    }
}
