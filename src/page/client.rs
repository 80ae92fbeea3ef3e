//! The page's side of the worker: starting it, opening logs, asking about
//! them, and noticing when it dies or does not listen.

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
use web_sys::{ErrorEvent, Event, File, MessageEvent, Worker};

pub(super) use ask::Asked;
use ask::Question;
use helpers::{Helper, start_worker};
use limits::{HELPER_BYTES, SWOLLEN_BYTES, helper_count, memory_budget, most_bytes};
pub(super) use merger::{Merged, Merger};

use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::hash::SeededMap;
use protocol::wire::{self, LiveFile};
use protocol::{AskId, FromWorker, LogId, News, ToWorker, VERSION};
use session::MemoryBudget;

/// A worker that has not heard for so long that it shall open or close a log
/// is replaced. It listens every 40 ms, but for single large steps.
const DEAF_AFTER_MS: u32 = 700;

/// So long after a log was closed the memory that it took is given back: by then the worker
/// has removed its files.
const SHRINK_AFTER_MS: u32 = 1000;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["navigator", "locks"], js_name = request, catch)]
    fn request_lock(name: &str, granted: &js_sys::Function) -> Result<JsValue, JsValue>;
}

/// What the worker says by itself.
#[derive(Debug)]
pub(super) enum ClientEvent {
    /// About a log that is open.
    News(LogId, News),
    /// What became of the addresses in logs.
    Symbols(String),
    /// It died of that, or could not even be started; another one was not started yet.
    Died(Option<String>),
}

/// The worker, as long as it lives.
struct Inner {
    /// The worker that owns the logs.
    worker: Option<Worker>,
    /// The lock that the worker holds as long as it lives.
    lock: String,
    /// The workers that analyse slices of a large log for it, as long as one is read.
    helpers: Vec<Helper>,
    ready: bool,
    /// Messages from before the worker was ready, with ports that are handed over.
    waiting: Vec<(Object, Array)>,
    /// The open logs: another worker opens them again.
    logs: BTreeMap<LogId, Opened>,
    /// Those that are being read.
    reading: BTreeSet<LogId>,
    /// Whether the worker takes much memory, which it cannot give back.
    is_swollen: bool,
    last_log: LogId,
    /// Questions that are not answered. What is not here any more is stale.
    asked: SeededMap<AskId, Question>,
    /// Goes up with whatever may change an answer: what the page tells the worker, and what the
    /// worker tells of a log.
    changes: u64,
    last_ask: AskId,
    /// Runs until the worker has heard about that log.
    deaf: Option<(LogId, Timeout)>,
    /// What begins and ends spans of the program: a new worker is told.
    prefixes: SpanPrefixes,
    /// What names addresses, if something was dropped: so is this.
    symbols: Option<File>,
    emit: Rc<dyn Fn(ClientEvent)>,
    on_message: Option<Closure<dyn FnMut(MessageEvent)>>,
    on_error: Option<Closure<dyn FnMut(Event)>>,
}

impl Inner {
    /// Tells the worker something, with ports that are handed over.
    fn post(&mut self, envelope: Object, ports: Array) {
        self.changes += 1;
        self.send(envelope, ports);
    }

    /// Sends a message that changes no answer.
    fn send(&mut self, envelope: Object, ports: Array) {
        match &self.worker {
            Some(worker) if self.ready => {
                // Handles and plain data can always be posted.
                let _ = worker.post_message_with_transfer(&envelope, &ports);
            }
            _ => self.waiting.push((envelope, ports)),
        }
    }
}

/// An open log.
struct Opened {
    file: LiveFile,
    /// How much memory it may take.
    memory: MemoryBudget,
    /// How much it takes, once it is read.
    taken_bytes: Option<u64>,
}

impl Opened {
    fn message(&self, log: LogId) -> Object {
        let envelope = wire::envelope(&ToWorker::Open(log, self.memory, most_bytes()));
        wire::attach_live_file(&envelope, &self.file);
        envelope
    }

    /// How much it takes, as far as that is known, or may take.
    fn bytes(&self) -> u64 {
        let may_bytes = self.memory.log_bytes(self.file.file.size() as u64);
        self.taken_bytes.unwrap_or(may_bytes).min(may_bytes)
    }
}

/// A handle on the worker.
#[derive(Clone)]
pub(super) struct Client(Rc<RefCell<Inner>>);

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A handle on one log of the worker: whom panels ask.
#[derive(Clone, PartialEq)]
pub(super) struct LogClient {
    client: Client,
    log: LogId,
}

impl Client {
    /// Starts a worker; whatever it says by itself goes to `emit`.
    pub(super) fn start(emit: impl Fn(ClientEvent) + 'static) -> Self {
        let client = Self(Rc::new(RefCell::new(Inner {
            worker: None,
            lock: String::new(),
            helpers: Vec::new(),
            ready: false,
            waiting: Vec::new(),
            logs: BTreeMap::new(),
            reading: BTreeSet::new(),
            is_swollen: false,
            last_log: LogId::default(),
            asked: SeededMap::default(),
            changes: 0,
            last_ask: AskId::default(),
            deaf: None,
            prefixes: SpanPrefixes::default(),
            symbols: None,
            emit: Rc::new(emit),
            on_message: None,
            on_error: None,
        })));
        client.restart();
        client
    }

    /// Ends the worker, whatever it is doing, and starts a new one, which opens
    /// again what is open.
    fn restart(&self) {
        let on_message = {
            let client = self.clone();
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| client.hear(&event.data()))
        };
        let on_error = {
            let client = self.clone();
            Closure::<dyn FnMut(_)>::new(move |event: Event| {
                event.prevent_default();
                // Of a program that could not be fetched the browser says no more than that.
                client.died(
                    event
                        .dyn_into()
                        .ok()
                        .map(|error: ErrorEvent| error.message()),
                );
            })
        };
        let lock = format!("eventscope-worker-{}", js_sys::Math::random());
        let worker = start_worker(Some(&lock)).ok();
        if let Some(worker) = &worker {
            worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
            worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        }
        self.refuse(|_| true);
        let mut opening = Vec::new();
        let mut inner = self.0.borrow_mut();
        let inner = &mut *inner;
        inner.helpers.clear();
        if let Some(old) = inner.worker.take() {
            old.set_onmessage(None);
            old.set_onerror(None);
            old.terminate();
        }
        inner.ready = false;
        inner.is_swollen = false;
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
        inner.deaf = None;
        for (&log, opened) in &inner.logs {
            opening.push((opened.message(log), Array::new()));
        }
        inner.waiting.append(&mut opening);
        inner.worker = worker;
        inner.lock = lock;
        inner.on_message = Some(on_message);
        inner.on_error = Some(on_error);
        inner.reading = inner.logs.keys().copied().collect();
        let largest = inner
            .logs
            .values()
            .map(|opened| opened.file.file.clone())
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

    /// The worker is dead, and what was open is lost: a new one is started. If it could not
    /// even start, that is tried again when a log is opened, not on and on.
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

    /// Waits for the lock that the worker holds. A worker that closes itself, or that the browser
    /// ends, says nothing, but its lock is free then.
    fn watch_lock(&self, lock: &str) {
        let (client, name) = (self.clone(), lock.to_owned());
        let freed = Closure::once_into_js(move || {
            let is_current = client.0.borrow().lock == name;
            if is_current {
                client.died(Some("It was closed.".to_owned()));
            }
        });
        // Pages of an unsafe address have no locks.
        let _ = request_lock(lock, freed.unchecked_ref());
    }

    fn hear(&self, envelope: &JsValue) {
        if let Some(lock) = envelope.as_string() {
            return self.watch_lock(&lock);
        }
        match wire::message(envelope) {
            Ok(FromWorker::Ready { version }) if version != VERSION => {
                self.died(Some(
                    "The page was updated meanwhile: reload it.".to_owned(),
                ));
            }
            Ok(FromWorker::Ready { .. }) => self.heard_ready(),
            Ok(FromWorker::Heard(log)) => {
                let deaf = &mut self.0.borrow_mut().deaf;
                if deaf.as_ref().is_some_and(|(about, _)| *about == log) {
                    *deaf = None;
                }
            }
            Ok(FromWorker::News(log, news)) => {
                self.0.borrow_mut().changes += 1;
                if let News::Loaded { memory, .. }
                | News::Grown { memory, .. }
                | News::Short { memory, .. } = &news
                {
                    let inner = &mut *self.0.borrow_mut();
                    inner.is_swollen |= memory.here_bytes > SWOLLEN_BYTES;
                    if let Some(opened) = inner.logs.get_mut(&log) {
                        opened.taken_bytes = Some(memory.here_bytes);
                    }
                }
                let is_end = |news: &News| {
                    matches!(
                        news,
                        News::Loaded { .. } | News::Short { .. } | News::Failed { .. }
                    )
                };
                if is_end(&news) {
                    self.0.borrow_mut().reading.remove(&log);
                    self.end_helpers();
                }
                if self.is_open(log) {
                    self.emit(ClientEvent::News(log, news));
                }
            }
            Ok(FromWorker::Symbols(text)) => {
                self.0.borrow_mut().changes += 1;
                self.emit(ClientEvent::Symbols(text));
            }
            Ok(FromWorker::Answer(id, answer)) => {
                let asked = self.0.borrow_mut().asked.remove(&id);
                if let Some(question) = asked {
                    question.answer(answer.map(|()| envelope));
                }
            }
            // Said by a worker of its own (`merger`).
            Ok(FromWorker::Merging(_) | FromWorker::Merged(_)) => {}
            Ok(FromWorker::Died { message }) | Err(message) => self.died(Some(message)),
        }
    }

    /// Restarts when what calls this has ended: it may belong to the old worker.
    fn restart_soon(&self) {
        let client = self.clone();
        spawn_local(async move { client.restart() });
    }

    fn is_open(&self, log: LogId) -> bool {
        self.0.borrow().logs.contains_key(&log)
    }

    /// The worker is ready: what has waited is sent.
    fn heard_ready(&self) {
        let mut inner = self.0.borrow_mut();
        inner.ready = true;
        let waiting = std::mem::take(&mut inner.waiting);
        if let Some(worker) = &inner.worker {
            for (envelope, ports) in waiting {
                let _ = worker.post_message_with_transfer(&envelope, &ports);
            }
        }
    }

    fn post(&self, envelope: Object) {
        self.0.borrow_mut().post(envelope, Array::new());
    }

    /// Replaces a worker that has no log, if it takes much memory or is not there.
    fn shrink(&self) {
        let inner = self.0.borrow();
        let has_none = inner.logs.is_empty();
        let is_due = inner.is_swollen || inner.worker.is_none();
        drop(inner);
        if has_none && is_due {
            self.restart();
        }
    }

    /// Opens a file, beside what is open: it has the memory that the others leave.
    pub(super) fn open(&self, file: LiveFile) -> LogClient {
        self.shrink();
        let others_bytes = self.0.borrow().logs.values().map(Opened::bytes).sum();
        self.open_within(file, memory_budget().beside(others_bytes))
    }

    /// Opens two files, which share the memory.
    pub(super) fn open_two(&self, files: [LiveFile; 2]) -> [LogClient; 2] {
        self.shrink();
        let memory = memory_budget().half();
        files.map(|file| self.open_within(file, memory))
    }

    fn open_within(&self, live: LiveFile, memory: MemoryBudget) -> LogClient {
        let file = live.file.clone();
        let memory = memory.beside(helper_count(&file) as u64 * HELPER_BYTES);
        let (log, message) = {
            let mut inner = self.0.borrow_mut();
            let log = LogId(inner.last_log.0.wrapping_add(1));
            let opened = Opened {
                file: live,
                memory,
                taken_bytes: None,
            };
            let message = opened.message(log);
            inner.last_log = log;
            inner.logs.insert(log, opened);
            inner.reading.insert(log);
            (log, message)
        };
        self.start_helpers(&file);
        self.post(message);
        self.expect_to_be_heard(log);
        LogClient {
            client: self.clone(),
            log,
        }
    }

    /// A handle on no log: whatever is asked there has no answer.
    pub(super) fn no_log(&self) -> LogClient {
        LogClient {
            client: self.clone(),
            log: LogId::default(),
        }
    }

    /// Replaces the worker if it does not hear in time what was just posted.
    fn expect_to_be_heard(&self, log: LogId) {
        if !self.0.borrow().ready {
            // It starts: nothing can keep it busy.
            return;
        }
        let client = self.clone();
        let timeout = Timeout::new(DEAF_AFTER_MS, move || {
            // If the page itself was busy, the message may wait to be heard here.
            let again = client.clone();
            let timeout = Timeout::new(50, move || again.restart_soon());
            if let Some((_, running)) = &mut client.0.borrow_mut().deaf {
                *running = timeout;
            }
        });
        self.0.borrow_mut().deaf = Some((log, timeout));
    }

    /// Has spans of the program looked for with these words, now and in later
    /// logs, unless it is done already.
    pub(super) fn set_span_prefixes(&self, prefixes: &SpanPrefixes) {
        if self.0.borrow().prefixes == *prefixes {
            return;
        }
        self.0.borrow_mut().prefixes = prefixes.clone();
        self.post(wire::envelope(&ToWorker::SpanPrefixes(prefixes.clone())));
    }

    /// Has addresses named by a file, now and in later logs.
    pub(super) fn set_symbols(&self, file: &File) {
        self.0.borrow_mut().symbols = Some(file.clone());
        let envelope = wire::envelope(&ToWorker::Symbols);
        wire::attach_file(&envelope, file);
        self.post(envelope);
    }
}

impl LogClient {
    /// Its number between page and worker.
    pub(super) const fn log(&self) -> LogId {
        self.log
    }

    /// Whether it is that log.
    pub(super) fn is_about(&self, log: LogId) -> bool {
        self.log == log
    }

    /// Has the worker read what its file has become: what was added or, `anew`, all of another
    /// one. A later worker opens that, too.
    pub(super) fn grow(&self, file: LiveFile, anew: bool) {
        let envelope = wire::envelope(&ToWorker::Grow(self.log, anew, most_bytes()));
        wire::attach_live_file(&envelope, &file);
        if let Some(opened) = self.client.0.borrow_mut().logs.get_mut(&self.log) {
            opened.file = file;
        }
        self.client.post(envelope);
    }

    /// The log is read, and is not or no more followed: its file counts as it is.
    pub(super) fn settle(&self) {
        if let Some(opened) = self.client.0.borrow_mut().logs.get_mut(&self.log) {
            opened.file.handle = None;
        }
        self.client
            .post(wire::envelope(&ToWorker::Settle(self.log)));
    }

    /// Closes the log, or stops opening it.
    pub(super) fn close(&self) {
        if self.client.0.borrow_mut().logs.remove(&self.log).is_none() {
            return;
        }
        self.client.0.borrow_mut().reading.remove(&self.log);
        self.client.end_helpers();
        self.client.refuse(|log| log == self.log);
        self.client.post(wire::envelope(&ToWorker::Close(self.log)));
        self.client.expect_to_be_heard(self.log);
        // Unless another log is opened before, which does the same.
        let client = self.client.clone();
        Timeout::new(SHRINK_AFTER_MS, move || client.shrink()).forget();
    }
}
