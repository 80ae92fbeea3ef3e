//! Loads logs.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

use super::blob::{BlobReader, begin_uncached};
use super::index::IndexReader;
use super::spill::PrivateFile;
use super::worker_pool::WorkerPool;
use super::yielding::{CooperativeYield, MessageYielder};
use super::{OpenLog, Shared, background, change, close, names, now_ms, post, spill};
use eventlog::inflate::Compression;
use eventlog::{Backing, LogError, Need, Stage, Step};
use protocol::wire::LiveFile;
use protocol::{FromWorker, LogId, LogUpdate};
use session::{MemoryBudget, MemoryUse, Session};
use views::page_error::Code;

/// Events between checks of the clock.
pub(super) const EVENTS_PER_STEP: usize = 50_000;
/// Interval at which the worker yields to messages, and to the browser, which goes on reading ahead only then: with
/// 40 ms, a worker waited for reads for a tenth of its time.
pub(super) const YIELD_EVERY_MS: f64 = 10.0;
/// Interval of progress reports.
const REPORT_EVERY_MS: f64 = 200.0;
/// Interval of reports with intermediate results while loading.
const OVERVIEW_EVERY_MS: f64 = 1000.0;

/// Outcome of reading a log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadOutcome {
    /// All of it was read.
    Complete,
    /// The memory limit was reached.
    MemoryLimit,
}

/// Opens a file. `memory` limits the memory for the log; reading stops when the whole worker takes `memory_limit_bytes`.
pub(super) fn open(
    shared: &Shared,
    log: LogId,
    file: LiveFile,
    memory: MemoryBudget,
    memory_limit_bytes: u64,
) {
    close(shared, log);
    let open = OpenLog {
        session: Rc::new(session(shared, &file.file, memory, None)),
        file: file.clone(),
        reading: None,
        preparation: None,
    };
    shared.borrow_mut().logs.insert(log, open);
    let shared = Rc::clone(shared);
    spawn_local(async move {
        let started_ms = now_ms();
        let loaded = match begin(&shared, log, &file.file, memory).await {
            Some(inflated) => load(&shared, log, &file, inflated, memory_limit_bytes).await,
            None => return,
        };
        match loaded {
            Ok(Some(LoadOutcome::Complete)) => {}
            Ok(Some(LoadOutcome::MemoryLimit)) => return report_memory_limit(&shared, log),
            Ok(None) => return,
            Err(error) => {
                close(&shared, log);
                let (code, message) = (Code::from(&error), error.to_string());
                return post(&FromWorker::LogUpdate(
                    log,
                    LogUpdate::Failed { code, message },
                ));
            }
        }
        let elapsed_ms = now_ms() - started_ms;
        // Name addresses first, as the page sends queries as soon as the log is loaded.
        let named = names::after_loading(&shared, log).await;
        prepare(&shared, log).await;
        if let Some(open) = shared.borrow().logs.get(&log) {
            let overview = Box::new(open.session.overview());
            let loaded = LogUpdate::Loaded {
                overview,
                elapsed_ms,
                memory: memory_use(&open.session),
            };
            post(&FromWorker::LogUpdate(log, loaded));
            named.iter().for_each(post);
        }
        background::prepare_when_idle(&shared, log);
        spill::clear(&shared).await;
    });
}

/// Precomputes what the page asks for first, yielding regularly.
pub(super) async fn prepare(shared: &Shared, log: LogId) {
    let session = shared
        .borrow()
        .logs
        .get(&log)
        .map(|open| Rc::clone(&open.session));
    if let Some(session) = session {
        session.prepare(&CooperativeYield::new()).await;
    }
}

/// Creates a session for a file.
fn session(
    shared: &Shared,
    file: &File,
    memory: MemoryBudget,
    backing: Option<Arc<dyn Backing>>,
) -> Session {
    let mut session = Session::with_memory_budget(file.size() as u64, memory, backing);
    if let Some(prefixes) = &shared.borrow().prefixes {
        session.set_span_prefixes(prefixes.clone());
    }
    session
}

/// File that a compressed log is inflated to, if available.
type InflatedTo = Option<Arc<PrivateFile>>;

/// Prepares files for spilled data and for the inflated log. Returns `None` if the log was closed meanwhile.
async fn begin(
    shared: &Shared,
    log: LogId,
    file: &File,
    memory: MemoryBudget,
) -> Option<InflatedTo> {
    if memory.is_small(file.size() as u64) {
        return Some(None);
    }
    let Some(place) = spill::create(shared).await else {
        return Some(None);
    };
    let mut begun = session(shared, file, memory, Some(Arc::new(place)));
    // A separate file, which others can read since nothing is appended later.
    let mut inflated = None;
    if is_compressed(file).await
        && let Some(place) = spill::create(shared).await.map(Arc::new)
    {
        begun = begun.with_inflate_backing(Arc::clone(&place) as Arc<dyn Backing>);
        inflated = Some(place);
    }
    change(shared, log, |unused| *unused = begun).await?;
    Some(inflated)
}

/// Returns whether a file is compressed.
pub(super) async fn is_compressed(file: &File) -> bool {
    let first = first_bytes(file, Compression::MAGIC_BYTES).await;
    first.is_ok_and(|first| Compression::detect(&first).is_some())
}

async fn first_bytes(file: &File, count: usize) -> Result<Vec<u8>, JsValue> {
    let mut bytes = Vec::new();
    let range = 0..(count as u64).min(file.size() as u64);
    let file = LiveFile::from(file.clone());
    begin_uncached(&file, &range)?.read(&mut bytes).await?;
    Ok(bytes)
}

/// Returns the file that helpers read slices from, once blocks are indexed: the log itself, or the inflated one
/// if all of it is in a readable file.
async fn for_others(
    shared: &Shared,
    log: LogId,
    file: &LiveFile,
    inflated: &InflatedTo,
) -> Option<LiveFile> {
    let mut first = Vec::new();
    {
        let state = shared.borrow();
        let Some(inflated) = state.logs.get(&log)?.session.inflated() else {
            return Some(file.clone());
        };
        if inflated.spill_file_offset() != Some(0) || !inflated.read(0..16, &mut first) {
            return None;
        }
    }
    let file = inflated.as_ref()?.file().await.ok()?;
    let is_same = first_bytes(&file, first.len()).await.ok()? == first;
    is_same.then(|| file.into())
}

/// Returns the memory used by this worker and spilled for a log.
pub(super) fn memory_use(session: &Session) -> MemoryUse {
    MemoryUse {
        resident_bytes: protocol::memory_bytes(),
        ..session.memory_use()
    }
}

/// Reports the results of a log that is not read further because of the memory limit. Queries about it are
/// answered as during loading.
fn report_memory_limit(shared: &Shared, log: LogId) {
    if let Some(open) = shared.borrow().logs.get(&log) {
        let overview = Box::new(open.session.overview());
        let memory = memory_use(&open.session);
        post(&FromWorker::LogUpdate(
            log,
            LogUpdate::MemoryLimit { overview, memory },
        ));
    }
}

/// Loads a file. Returns `None` if the log was closed meanwhile.
pub(super) async fn load(
    shared: &Shared,
    log: LogId,
    file: &LiveFile,
    inflated: InflatedTo,
    memory_limit_bytes: u64,
) -> Result<Option<LoadOutcome>, LogError> {
    let mut blob = BlobReader::new(file);
    let mut index = IndexReader::new(file);
    let message_yielder = MessageYielder::new();
    let worker_pool = Rc::clone(&shared.borrow().worker_pool);
    let mut bytes = Vec::new();
    let mut reporter = Reporter::default();
    let mut yielded_ms = now_ms();
    let mut for_helpers = None;
    loop {
        let helped = help(
            shared,
            log,
            for_helpers.as_ref(),
            &worker_pool,
            &mut reporter,
        )
        .await?;
        let step = match helped {
            None => return Ok(None),
            Some(HelperOutcome::Appended(step)) => step,
            Some(HelperOutcome::Wait) => {
                let arrivals = worker_pool.borrow().arrivals();
                arrivals.wait(log).await;
                yielded_ms = now_ms();
                continue;
            }
            Some(HelperOutcome::Alone) => {
                let step = change(shared, log, |session| {
                    let step = session.advance(EVENTS_PER_STEP)?;
                    reporter.report(log, session, step == Step::Indexed);
                    Ok::<_, LogError>(step)
                });
                let Some(step) = step.await else {
                    return Ok(None);
                };
                step?
            }
        };
        match step {
            Step::Done => return Ok(Some(LoadOutcome::Complete)),
            Step::Need(needs) => {
                for Need(range) in needs {
                    supply(shared, log, (&mut blob, &mut index), &range, &mut bytes).await?;
                }
            }
            Step::Indexed => for_helpers = for_others(shared, log, file, &inflated).await,
            Step::More => {}
        }
        if now_ms() - yielded_ms > YIELD_EVERY_MS {
            if protocol::memory_bytes() > memory_limit_bytes && has_events(shared, log) {
                return Ok(Some(LoadOutcome::MemoryLimit));
            }
            message_yielder.yield_now().await;
            yielded_ms = now_ms();
        }
    }
}

/// Returns whether a log has events to show.
fn has_events(shared: &Shared, log: LogId) -> bool {
    let state = shared.borrow();
    let open = state.logs.get(&log);
    open.is_some_and(|open| open.session.events() > 0)
}

/// What helpers did for a log.
enum HelperOutcome {
    /// Nothing that can be merged yet; this worker should analyze a slice itself.
    Alone,
    /// A slice that they analyzed was merged.
    Appended(Step),
    /// Helpers are working on all slices that are left.
    Wait,
}

/// Distributes slices of `file` to helpers, and merges a result.
async fn help(
    shared: &Shared,
    log: LogId,
    file: Option<&LiveFile>,
    worker_pool: &RefCell<WorkerPool>,
    reporter: &mut Reporter,
) -> Result<Option<HelperOutcome>, LogError> {
    let is_open = |log| shared.borrow().logs.contains_key(&log);
    let came = worker_pool.borrow().arrivals().take_result(log, is_open);
    let put = change(shared, log, |session| {
        let step = came.map(|(result, segment)| {
            if let (Some((at, why)), 0) = (result.failed, session.events()) {
                return Err(LogError::Read { at, why });
            }
            let step = session.add_segment(result.job, segment);
            reporter.report(log, session, false);
            Ok(step)
        });
        (step.transpose(), session.can_be_shared())
    });
    let Some((step, is_shared)) = put.await else {
        return Ok(None);
    };
    let step = step?;
    let Some(file) = file.filter(|_| is_shared && !worker_pool.borrow().is_empty()) else {
        return Ok(Some(
            step.map_or(HelperOutcome::Alone, HelperOutcome::Appended),
        ));
    };
    let handed = change(shared, log, |session| {
        let analyzed = session.waiting_segments();
        (worker_pool.borrow()).assign_jobs(log, file, analyzed, || session.next_job());
        session.is_at_work() || session.waiting_jobs() > 0
    });
    let Some(has_work) = handed.await else {
        return Ok(None);
    };
    Ok(Some(match step {
        Some(step) => HelperOutcome::Appended(step),
        None if has_work => HelperOutcome::Alone,
        None => HelperOutcome::Wait,
    }))
}

/// Reads what the session needs, and starts reading ahead.
async fn supply(
    shared: &Shared,
    log: LogId,
    (blob, index): (&mut BlobReader, &mut IndexReader),
    range: &Range<u64>,
    bytes: &mut Vec<u8>,
) -> Result<(), LogError> {
    let failed = |error: JsValue| LogError::Read {
        at: range.start,
        why: js_sys::Error::from(error).message().into(),
    };
    let piece = {
        let state = shared.borrow();
        let Some(OpenLog { session, .. }) = state.logs.get(&log) else {
            return Ok(());
        };
        if session.progress().stage == Stage::Indexing {
            None
        } else {
            let piece = blob.begin(range);
            blob.read_ahead(session.upcoming()).map_err(failed)?;
            Some(piece.map_err(failed)?)
        }
    };
    let read = match piece {
        Some(piece) => piece.read(bytes).await,
        None => index.read(range, blob, bytes).await,
    };
    let supplied = change(shared, log, |session| {
        match read {
            Ok(()) if !bytes.is_empty() => session.supply(range.start, bytes),
            // On a read error, what was read before is still shown.
            _ if session.events() > 0 => session.truncate(range.start),
            Ok(()) => {
                return Err(failed(
                    js_sys::Error::new("the browser returned no bytes").into(),
                ));
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(())
    });
    supplied.await.unwrap_or(Ok(()))
}

/// Reports the progress of loading to the page, at limited frequency.
#[derive(Default)]
struct Reporter {
    reported_ms: f64,
    overview_ms: f64,
}

impl Reporter {
    fn report(&mut self, log: LogId, session: &Session, at_once: bool) {
        // The previous version is shown until the longer one is loaded.
        if log.is_growing() {
            return;
        }
        let now = now_ms();
        if !at_once && now - self.reported_ms < REPORT_EVERY_MS {
            return;
        }
        self.reported_ms = now;
        let with_overview =
            at_once || (session.events() > 0 && now - self.overview_ms > OVERVIEW_EVERY_MS);
        if with_overview {
            self.overview_ms = now;
        }
        let update = LogUpdate::Loading {
            progress: session.progress(),
            events: session.events(),
            overview: with_overview.then(|| Box::new(session.overview())),
        };
        post(&FromWorker::LogUpdate(log, update));
    }
}
