//! Client of the worker: starts it, opens logs, sends queries, and detects a dead or unresponsive worker.

mod ask;
mod helpers;
mod limits;
mod merger;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

pub(super) use ask::PendingAsk;
use ask::PendingQuery;
use helpers::OwnedWorker;
use limits::{HELPER_BYTES, REPLACE_WORKER_BYTES, helper_count, max_worker_bytes, memory_budget};
pub(super) use merger::{MergeEvent, Merger};

use super::ptr_eq::PtrEq;
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::hash::SeededMap;
use protocol::wire::{self, LiveFile};
use protocol::{AskId, FromWorker, LogId, LogUpdate, ToWorker, VERSION};
use session::MemoryBudget;

/// A worker that does not acknowledge the opening or closing of a log within this time is replaced. It normally
/// yields every 40 ms, except within single large steps.
const UNRESPONSIVE_AFTER_MS: u32 = 700;

/// Delay after closing a log until its memory is released: by then, the worker has removed its files.
const SHRINK_AFTER_MS: u32 = 1000;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["navigator", "locks"], js_name = request, catch)]
    fn request_lock(name: &str, granted: &js_sys::Function) -> Result<JsValue, JsValue>;
}

/// Unsolicited message from the worker.
#[derive(Debug)]
pub(super) enum ClientEvent {
    /// LogUpdate about an open log.
    LogUpdate(LogId, LogUpdate),
    /// Result of naming the addresses in logs.
    Symbols(String),
    /// The worker died with this error message, or could not be started. No replacement has been started yet.
    Died(Option<String>),
}

/// State of the client and its current worker.
struct Inner {
    /// Worker that owns the logs.
    worker: Option<OwnedWorker>,
    /// Name of the Web Lock that the worker holds while it is alive.
    lock: String,
    /// Helper workers that analyze slices of large logs, while any log is being read.
    helpers: Vec<OwnedWorker>,
    ready: bool,
    /// Messages queued until the worker is ready, with ports to transfer.
    waiting: Vec<(Object, Array)>,
    /// Open logs. A replacement worker opens them again.
    logs: BTreeMap<LogId, OpenedLog>,
    /// Logs that are still being read.
    reading: BTreeSet<LogId>,
    /// Whether the worker's memory has grown large: WebAssembly memory cannot shrink.
    has_large_memory: bool,
    last_log: LogId,
    /// Pending queries. Answers to any other query are stale and dropped.
    queries: SeededMap<AskId, PendingQuery>,
    /// Incremented with every event that may change an answer: messages to the worker and update about a log.
    changes: u64,
    last_ask: AskId,
    /// Log whose opening or closing awaits acknowledgment, with the timeout that replaces the worker.
    awaiting_ack: Option<(LogId, Timeout)>,
    /// Prefixes of messages that begin and end user spans, passed on to each replacement worker.
    prefixes: SpanPrefixes,
    /// Symbol file for naming addresses, if one was dropped; passed on to each replacement worker.
    symbols: Option<File>,
    emit: Rc<dyn Fn(ClientEvent)>,
}

impl Inner {
    /// Sends a message that may change answers, with ports to transfer.
    fn post(&mut self, envelope: Object, ports: Array) {
        self.changes += 1;
        self.send(envelope, ports);
    }

    /// Sends a message that changes no answer.
    fn send(&mut self, envelope: Object, ports: Array) {
        match &self.worker {
            Some(worker) if self.ready => worker.post(&envelope, &ports),
            _ => self.waiting.push((envelope, ports)),
        }
    }
}

/// Open log: its file and its memory use.
struct OpenedLog {
    file: LiveFile,
    /// Memory budget of the log.
    memory: MemoryBudget,
    /// Memory that the log takes; known once it is read.
    taken_bytes: Option<u64>,
}

impl OpenedLog {
    fn message(&self, log: LogId) -> Object {
        let envelope = wire::envelope(&ToWorker::Open(log, self.memory, max_worker_bytes()));
        wire::attach_live_file(&envelope, &self.file);
        envelope
    }

    /// Returns the memory that the log takes, if known, or else the most that it may take.
    fn bytes(&self) -> u64 {
        let may_bytes = self.memory.log_bytes(self.file.file.size() as u64);
        self.taken_bytes.unwrap_or(may_bytes).min(may_bytes)
    }
}

/// Shared handle on the worker.
#[derive(Clone, PartialEq)]
pub(super) struct Client(PtrEq<RefCell<Inner>>);

/// Handle on one log of the worker, used by panels to send queries.
#[derive(Clone, PartialEq)]
pub(super) struct LogClient {
    client: Client,
    log: LogId,
}

impl Client {
    /// Starts a worker and passes its unsolicited messages to `emit`.
    pub(super) fn start(emit: impl Fn(ClientEvent) + 'static) -> Self {
        let client = Self(PtrEq::new(RefCell::new(Inner {
            worker: None,
            lock: String::new(),
            helpers: Vec::new(),
            ready: false,
            waiting: Vec::new(),
            logs: BTreeMap::new(),
            reading: BTreeSet::new(),
            has_large_memory: false,
            last_log: LogId::default(),
            queries: SeededMap::default(),
            changes: 0,
            last_ask: AskId::default(),
            awaiting_ack: None,
            prefixes: SpanPrefixes::default(),
            symbols: None,
            emit: Rc::new(emit),
        })));
        client.restart();
        client
    }

    /// Terminates the worker, even if busy, and starts a new one that reopens all open logs.
    fn restart(&self) {
        let (client, failed) = (self.clone(), self.clone());
        let lock = format!("eventscope-worker-{}", js_sys::Math::random());
        let worker = OwnedWorker::start(
            Some(&lock),
            move |_, envelope| client.on_worker_message(envelope),
            move |message| failed.died(message),
        );
        self.fail_queries(|_| true);
        let mut inner = self.0.borrow_mut();
        let inner = &mut *inner;
        inner.helpers.clear();
        inner.ready = false;
        inner.has_large_memory = false;
        inner.waiting.clear();
        if inner.prefixes != SpanPrefixes::default() {
            let prefixes = ToWorker::SpanPrefixes(inner.prefixes.clone());
            inner
                .waiting
                .push((wire::envelope(&prefixes), Array::new()));
        }
        if let Some(file) = &inner.symbols {
            let envelope = wire::envelope(&ToWorker::Symbols);
            wire::attach_file(&envelope, file);
            inner.waiting.push((envelope, Array::new()));
        }
        inner.awaiting_ack = None;
        for (&log, opened_log) in &inner.logs {
            inner.waiting.push((opened_log.message(log), Array::new()));
        }
        inner.worker = worker.ok();
        inner.lock = lock;
        inner.reading = inner.logs.keys().copied().collect();
        let largest = inner
            .logs
            .values()
            .map(|opened_log| opened_log.file.file.clone())
            .max_by(|a, b| a.size().total_cmp(&b.size()));
        if let Some(file) = largest {
            let client = self.clone();
            spawn_local(async move { client.start_helpers(&file) });
        }
    }

    fn emit(&self, event: ClientEvent) {
        let emit = Rc::clone(&self.0.borrow().emit);
        emit(event);
    }

    /// Handles the death of the worker: all open logs are lost, and a new worker is started. If the dead one never
    /// became ready, the next attempt waits until a log is opened, to avoid an endless loop.
    fn died(&self, message: Option<String>) {
        let mut inner = self.0.borrow_mut();
        inner.logs.clear();
        inner.reading.clear();
        let has_started = std::mem::take(&mut inner.ready);
        if !has_started {
            inner.worker = None;
        }
        drop(inner);
        if has_started {
            self.restart_soon();
        }
        self.emit(ClientEvent::Died(message));
    }

    /// Waits for the lock that the worker holds. A worker that closes itself or is terminated by the browser sends
    /// no message, but releases its lock.
    fn watch_lock(&self, lock: &str) {
        let (client, name) = (self.clone(), lock.to_owned());
        let freed = Closure::once_into_js(move || {
            let is_current = client.0.borrow().lock == name;
            if is_current {
                client.died(Some("It was closed.".to_owned()));
            }
        });
        // Pages from an insecure address have no locks.
        let _ = request_lock(lock, freed.unchecked_ref());
    }

    fn on_worker_message(&self, envelope: &JsValue) {
        if let Some(lock) = envelope.as_string() {
            return self.watch_lock(&lock);
        }
        match wire::message(envelope) {
            Ok(FromWorker::Ready { version }) if version != VERSION => {
                self.died(Some(
                    "The page was updated meanwhile: reload it.".to_owned(),
                ));
            }
            Ok(FromWorker::Ready { .. }) => self.on_ready(),
            Ok(FromWorker::Acknowledged(log)) => {
                let awaiting_ack = &mut self.0.borrow_mut().awaiting_ack;
                if awaiting_ack
                    .as_ref()
                    .is_some_and(|(about, _)| *about == log)
                {
                    *awaiting_ack = None;
                }
            }
            Ok(FromWorker::LogUpdate(log, update)) => {
                self.0.borrow_mut().changes += 1;
                if let LogUpdate::Loaded { memory, .. }
                | LogUpdate::Grown { memory, .. }
                | LogUpdate::MemoryLimit { memory, .. } = &update
                {
                    let inner = &mut *self.0.borrow_mut();
                    inner.has_large_memory |= memory.resident_bytes > REPLACE_WORKER_BYTES;
                    if let Some(opened_log) = inner.logs.get_mut(&log) {
                        opened_log.taken_bytes = Some(memory.resident_bytes);
                    }
                }
                let is_end = |update: &LogUpdate| {
                    matches!(
                        update,
                        LogUpdate::Loaded { .. }
                            | LogUpdate::MemoryLimit { .. }
                            | LogUpdate::Failed { .. }
                    )
                };
                if is_end(&update) {
                    self.0.borrow_mut().reading.remove(&log);
                    self.end_helpers();
                }
                if self.is_open(log) {
                    self.emit(ClientEvent::LogUpdate(log, update));
                }
            }
            Ok(FromWorker::Symbols(text)) => {
                self.0.borrow_mut().changes += 1;
                self.emit(ClientEvent::Symbols(text));
            }
            Ok(FromWorker::Answer(id, answer)) => {
                let query = self.0.borrow_mut().queries.remove(&id);
                if let Some(query) = query {
                    query.answer(answer.map(|()| envelope));
                }
            }
            // Sent only by the dedicated merge worker (`merger`).
            Ok(FromWorker::Merging(_) | FromWorker::Merged(_)) => {}
            Ok(FromWorker::Died { message }) | Err(message) => self.died(Some(message)),
        }
    }

    /// Restarts after the current call has returned: the caller may be a callback of the old worker.
    fn restart_soon(&self) {
        let client = self.clone();
        spawn_local(async move { client.restart() });
    }

    fn is_open(&self, log: LogId) -> bool {
        self.0.borrow().logs.contains_key(&log)
    }

    /// Handles the ready message: sends all queued messages.
    fn on_ready(&self) {
        let mut inner = self.0.borrow_mut();
        inner.ready = true;
        let waiting = std::mem::take(&mut inner.waiting);
        if let Some(worker) = &inner.worker {
            for (envelope, ports) in waiting {
                worker.post(&envelope, &ports);
            }
        }
    }

    fn post(&self, envelope: Object) {
        self.0.borrow_mut().post(envelope, Array::new());
    }

    /// Replaces a worker that has no log, if its memory has grown large or it is dead.
    fn shrink(&self) {
        let inner = self.0.borrow();
        let has_none = inner.logs.is_empty();
        let is_due = inner.has_large_memory || inner.worker.is_none();
        drop(inner);
        if has_none && is_due {
            self.restart();
        }
    }

    /// Opens a file in addition to the open logs, within the memory budget that they leave.
    pub(super) fn open(&self, file: LiveFile) -> LogClient {
        self.shrink();
        let others_bytes = self.0.borrow().logs.values().map(OpenedLog::bytes).sum();
        self.open_within(file, memory_budget().reserving(others_bytes))
    }

    /// Opens two files, which share the memory budget.
    pub(super) fn open_two(&self, files: [LiveFile; 2]) -> [LogClient; 2] {
        self.shrink();
        let memory = memory_budget().per_log_of_two();
        files.map(|file| self.open_within(file, memory))
    }

    fn open_within(&self, live: LiveFile, memory: MemoryBudget) -> LogClient {
        let file = live.file.clone();
        let memory = memory.reserving(helper_count(&file) as u64 * HELPER_BYTES);
        let (log, message) = {
            let mut inner = self.0.borrow_mut();
            let log = LogId(inner.last_log.0.wrapping_add(1));
            let opened_log = OpenedLog {
                file: live,
                memory,
                taken_bytes: None,
            };
            let message = opened_log.message(log);
            inner.last_log = log;
            inner.logs.insert(log, opened_log);
            inner.reading.insert(log);
            (log, message)
        };
        self.start_helpers(&file);
        self.post(message);
        self.expect_ack(log);
        LogClient {
            client: self.clone(),
            log,
        }
    }

    /// Returns a handle on no log: its queries are never answered.
    pub(super) fn no_log(&self) -> LogClient {
        LogClient {
            client: self.clone(),
            log: LogId::default(),
        }
    }

    /// Replaces the worker unless it acknowledges in time the message that was just posted.
    fn expect_ack(&self, log: LogId) {
        if !self.0.borrow().ready {
            // A worker that is still starting cannot be busy.
            return;
        }
        let client = self.clone();
        let timeout = Timeout::new(UNRESPONSIVE_AFTER_MS, move || {
            // If the page itself was busy, the acknowledgment may still be queued here.
            let again = client.clone();
            let timeout = Timeout::new(50, move || again.restart_soon());
            if let Some((_, running)) = &mut client.0.borrow_mut().awaiting_ack {
                *running = timeout;
            }
        });
        self.0.borrow_mut().awaiting_ack = Some((log, timeout));
    }

    /// Sets the message prefixes that mark user spans, for open and later logs; no-op if unchanged.
    pub(super) fn set_span_prefixes(&self, prefixes: &SpanPrefixes) {
        if self.0.borrow().prefixes == *prefixes {
            return;
        }
        self.0.borrow_mut().prefixes = prefixes.clone();
        self.post(wire::envelope(&ToWorker::SpanPrefixes(prefixes.clone())));
    }

    /// Sets the symbol file for naming addresses, in open and later logs.
    pub(super) fn set_symbols(&self, file: &File) {
        self.0.borrow_mut().symbols = Some(file.clone());
        let envelope = wire::envelope(&ToWorker::Symbols);
        wire::attach_file(&envelope, file);
        self.post(envelope);
    }
}

impl LogClient {
    /// Identifies the log in messages between page and worker.
    pub(super) const fn log(&self) -> LogId {
        self.log
    }

    /// Returns whether this is the handle on `log`.
    pub(super) fn is_about(&self, log: LogId) -> bool {
        self.log == log
    }

    /// Makes the worker read the changed file: only the added part or, if `anew`, all of it. A replacement worker
    /// opens the new file, too.
    pub(super) fn grow(&self, file: LiveFile, anew: bool) {
        let envelope = wire::envelope(&ToWorker::Grow(self.log, anew, max_worker_bytes()));
        wire::attach_live_file(&envelope, &file);
        if let Some(opened_log) = self.client.0.borrow_mut().logs.get_mut(&self.log) {
            opened_log.file = file;
        }
        self.client.post(envelope);
    }

    /// Marks the log as read and not (or no longer) followed: its current file is final.
    pub(super) fn stop_following(&self) {
        if let Some(opened_log) = self.client.0.borrow_mut().logs.get_mut(&self.log) {
            opened_log.file.handle = None;
        }
        self.client
            .post(wire::envelope(&ToWorker::StopFollowing(self.log)));
    }

    /// Closes the log, or cancels opening it.
    pub(super) fn close(&self) {
        if self.client.0.borrow_mut().logs.remove(&self.log).is_none() {
            return;
        }
        self.client.0.borrow_mut().reading.remove(&self.log);
        self.client.end_helpers();
        self.client.fail_queries(|log| log == self.log);
        self.client.post(wire::envelope(&ToWorker::Close(self.log)));
        self.client.expect_ack(self.log);
        // `open` also calls `shrink`, in case another log is opened earlier.
        let client = self.client.clone();
        Timeout::new(SHRINK_AFTER_MS, move || client.shrink()).forget();
    }
}
