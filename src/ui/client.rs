//! The page's side of the worker: starting it, opening logs, asking about
//! them, and noticing when it dies or does not listen.

mod limits;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use js_sys::{Array, Object};
use rustc_hash::FxHashMap;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{
    Blob, BlobPropertyBag, ErrorEvent, File, MessageChannel, MessageEvent, Url, Worker,
    WorkerOptions, WorkerType,
};

use limits::{HELPER_BYTES, SWOLLEN_BYTES, helper_count, memory_budget};

use crate::protocol::{AskId, FromWorker, LogId, News, NotAnswered, ToWorker, VERSION};
use crate::wire;
use analysis::timeline::user_spans::SpanPrefixes;
use views::session::MemoryBudget;
use views::session::query::Query;

/// A worker that has not heard for so long that it shall open or close a log
/// is replaced. It listens every 40 ms, but for single large steps.
const DEAF_AFTER_MS: u32 = 700;

/// So long after a log was closed the memory that it took is given back: by then the worker
/// has removed its files.
const SHRINK_AFTER_MS: u32 = 1000;

/// What becomes of a question: the envelope with the answer.
type Then = Box<dyn FnOnce(Result<&JsValue, NotAnswered>)>;

/// What the worker says by itself.
#[derive(Debug)]
pub(super) enum ClientEvent {
    /// About a log that is open.
    News(LogId, News),
    /// What became of the addresses in logs.
    Symbols(String),
    /// It died of that; another one was not started yet.
    Died(String),
}

/// The worker, as long as it lives.
struct Inner {
    /// The worker that owns the logs.
    worker: Option<Worker>,
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
    asked: FxHashMap<AskId, (LogId, Then)>,
    last_ask: AskId,
    /// Runs until the worker has heard about that log.
    deaf: Option<(LogId, Timeout)>,
    /// What begins and ends spans of the program: a new worker is told.
    prefixes: SpanPrefixes,
    /// What names addresses, if something was dropped: so is this.
    symbols: Option<File>,
    emit: Rc<dyn Fn(ClientEvent)>,
    on_message: Option<Closure<dyn FnMut(MessageEvent)>>,
    on_error: Option<Closure<dyn FnMut(ErrorEvent)>>,
}

impl Inner {
    /// Posts a message to the worker, with ports that are handed over.
    fn post(&mut self, envelope: Object, ports: Array) {
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
    file: File,
    /// How much memory it may take.
    memory: MemoryBudget,
    /// How much it takes, once it is read.
    taken_bytes: Option<u64>,
}

impl Opened {
    fn message(&self, log: LogId) -> Object {
        let envelope = wire::envelope(&ToWorker::Open(log, self.memory));
        wire::attach_file(&envelope, &self.file);
        envelope
    }

    /// How much it takes, as far as that is known, or may take.
    fn bytes(&self) -> u64 {
        let may_bytes = self.memory.log_bytes(self.file.size() as u64);
        self.taken_bytes.unwrap_or(may_bytes).min(may_bytes)
    }
}

/// A worker that helps.
struct Helper {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
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

/// A question on its way.
pub(super) struct Asked {
    client: Client,
    id: AskId,
}

impl Client {
    /// Starts a worker; whatever it says by itself goes to `emit`.
    pub(super) fn start(emit: impl Fn(ClientEvent) + 'static) -> Self {
        let client = Self(Rc::new(RefCell::new(Inner {
            worker: None,
            helpers: Vec::new(),
            ready: false,
            waiting: Vec::new(),
            logs: BTreeMap::new(),
            reading: BTreeSet::new(),
            is_swollen: false,
            last_log: LogId::default(),
            asked: FxHashMap::default(),
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
            Closure::<dyn FnMut(_)>::new(move |event: ErrorEvent| {
                event.prevent_default();
                let message = event.message();
                client.died(message);
            })
        };
        let worker = start_worker().ok();
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
        inner.on_message = Some(on_message);
        inner.on_error = Some(on_error);
        inner.reading = inner.logs.keys().copied().collect();
        let largest = inner
            .logs
            .values()
            .map(|opened| opened.file.clone())
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

    /// The worker is dead, and what was open is lost: a new one is started.
    fn died(&self, message: String) {
        {
            let mut inner = self.0.borrow_mut();
            inner.logs.clear();
            inner.reading.clear();
            inner.ready = false;
        }
        self.restart_soon();
        self.emit(ClientEvent::Died(message));
    }

    fn hear(&self, envelope: &JsValue) {
        match wire::message(envelope) {
            Ok(FromWorker::Ready { version }) if version != VERSION => {
                self.died("The page was updated meanwhile: reload it.".to_owned());
            }
            Ok(FromWorker::Ready { .. }) => self.heard_ready(),
            Ok(FromWorker::Heard(log)) => {
                let deaf = &mut self.0.borrow_mut().deaf;
                if deaf.as_ref().is_some_and(|(about, _)| *about == log) {
                    *deaf = None;
                }
            }
            Ok(FromWorker::News(log, news)) => {
                if let News::Loaded { memory, .. } = &news {
                    let inner = &mut *self.0.borrow_mut();
                    inner.is_swollen |= memory.here_bytes > SWOLLEN_BYTES;
                    if let Some(opened) = inner.logs.get_mut(&log) {
                        opened.taken_bytes = Some(memory.here_bytes);
                    }
                }
                if matches!(news, News::Loaded { .. } | News::Failed { .. }) {
                    self.0.borrow_mut().reading.remove(&log);
                    self.end_helpers();
                }
                if self.is_open(log) {
                    self.emit(ClientEvent::News(log, news));
                }
            }
            Ok(FromWorker::Symbols(text)) => self.emit(ClientEvent::Symbols(text)),
            Ok(FromWorker::Answer(id, answer)) => {
                let asked = self.0.borrow_mut().asked.remove(&id);
                if let Some((_, then)) = asked {
                    then(answer.map(|()| envelope));
                }
            }
            Ok(FromWorker::Died { message }) | Err(message) => self.died(message),
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

    /// Starts workers that analyse slices of a large log, unless they are there.
    fn start_helpers(&self, file: &File) {
        if !self.0.borrow().helpers.is_empty() {
            return;
        }
        for number in 0..helper_count(file) {
            let client = self.clone();
            let on_message = Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                client.hear_helper(number, &event.data());
            });
            // Without it the others have more to do.
            let Ok(worker) = start_worker() else { return };
            worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
            let inner = &mut *self.0.borrow_mut();
            if let Some(on_error) = &inner.on_error {
                worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
            }
            inner.helpers.push(Helper {
                worker,
                _on_message: on_message,
            });
        }
    }

    /// Ends the workers that help if no log is being read: their memory is given back.
    fn end_helpers(&self) {
        let mut inner = self.0.borrow_mut();
        if inner.reading.is_empty() && !inner.helpers.is_empty() {
            inner.helpers.clear();
            drop(inner);
            self.post(wire::envelope(&ToWorker::Alone));
        }
    }

    /// A helper says only that it is ready, or that it dies.
    fn hear_helper(&self, number: usize, envelope: &JsValue) {
        match wire::message(envelope) {
            Ok(FromWorker::Ready { .. }) => self.introduce(number),
            Ok(FromWorker::Died { message }) | Err(message) => self.died(message),
            Ok(_) => {}
        }
    }

    /// Connects a helper with the worker that owns the logs.
    fn introduce(&self, number: usize) {
        let inner = &mut *self.0.borrow_mut();
        let (Some(helper), Ok(channel)) = (inner.helpers.get(number), MessageChannel::new()) else {
            return;
        };
        // A port of a new channel can always be handed over.
        let help = wire::envelope(&ToWorker::Help);
        let _ = (helper.worker).post_message_with_transfer(&help, &Array::of1(&channel.port2()));
        inner.post(
            wire::envelope(&ToWorker::Helper),
            Array::of1(&channel.port1()),
        );
    }

    fn post(&self, envelope: Object) {
        self.0.borrow_mut().post(envelope, Array::new());
    }

    /// Replaces a worker that takes much memory and has no log.
    fn shrink(&self) {
        let inner = self.0.borrow();
        let has_none = inner.logs.is_empty();
        let is_swollen = inner.is_swollen;
        drop(inner);
        if has_none && is_swollen {
            self.restart();
        }
    }

    /// Opens a file, beside what is open: it has the memory that the others leave.
    pub(super) fn open(&self, file: &File) -> LogClient {
        self.shrink();
        let others_bytes = self.0.borrow().logs.values().map(Opened::bytes).sum();
        self.open_within(file, memory_budget().beside(others_bytes))
    }

    /// Opens two files, which share the memory.
    pub(super) fn open_two(&self, [one, two]: [&File; 2]) -> [LogClient; 2] {
        self.shrink();
        let memory = memory_budget().half();
        [one, two].map(|file| self.open_within(file, memory))
    }

    fn open_within(&self, file: &File, memory: MemoryBudget) -> LogClient {
        let memory = memory.beside(helper_count(file) as u64 * HELPER_BYTES);
        let (log, message) = {
            let mut inner = self.0.borrow_mut();
            let log = LogId(inner.last_log.0.wrapping_add(1));
            let opened = Opened {
                file: file.clone(),
                memory,
                taken_bytes: None,
            };
            let message = opened.message(log);
            inner.last_log = log;
            inner.logs.insert(log, opened);
            inner.reading.insert(log);
            (log, message)
        };
        self.start_helpers(file);
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

    /// Gives up questions about some logs. Who asked hears of it later, as of
    /// any answer.
    fn refuse(&self, about: impl Fn(LogId) -> bool) {
        let refused: Vec<_> = {
            let asked = &mut self.0.borrow_mut().asked;
            asked.extract_if(|_, (log, _)| about(*log)).collect()
        };
        spawn_local(async move {
            for (_, (_, then)) in refused {
                then(Err(NotAnswered::Closed));
            }
        });
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
    /// Asks; `then` is called with the answer, or with the reason why there is
    /// none: the log is closed or the worker dies before. An answer that comes
    /// later than that is dropped.
    pub(super) fn ask<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(Result<Q::Answer, NotAnswered>) + 'static,
    ) -> Asked {
        self.ask_raw(query, move |answer| {
            then(answer.and_then(|envelope| {
                let mut answer = wire::body(envelope).map_err(NotAnswered::Garbled)?;
                if let Some(columns) = Q::columns(&mut answer) {
                    wire::fill_columns(envelope, columns);
                }
                Ok(answer)
            }));
        })
    }

    /// Asks for an answer with a column that the page hands on as it came, such
    /// as the bytes of a file; with the answer without its columns.
    pub(super) fn ask_for_column<Q: Query>(
        &self,
        query: Q,
        name: &'static str,
        then: impl FnOnce(Result<(Q::Answer, Option<JsValue>), NotAnswered>) + 'static,
    ) -> Asked {
        self.ask_raw(query, move |answer| {
            then(answer.and_then(|envelope| {
                let answer = wire::body(envelope).map_err(NotAnswered::Garbled)?;
                Ok((answer, wire::column(envelope, name)))
            }));
        })
    }

    fn ask_raw<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(Result<&JsValue, NotAnswered>) + 'static,
    ) -> Asked {
        let id = {
            let mut inner = self.client.0.borrow_mut();
            let id = AskId(inner.last_ask.0.wrapping_add(1));
            inner.last_ask = id;
            inner.asked.insert(id, (self.log, Box::new(then)));
            id
        };
        if self.client.is_open(self.log) {
            let envelope = wire::envelope(&ToWorker::Ask(id, self.log, Q::NAME.to_owned()));
            wire::attach_body(&envelope, &query);
            self.client.post(envelope);
        } else {
            self.client.refuse(|log| log == self.log);
        }
        Asked {
            client: self.client.clone(),
            id,
        }
    }

    /// Its number between page and worker.
    pub(super) const fn log(&self) -> LogId {
        self.log
    }

    /// Whether it is that log.
    pub(super) fn is_about(&self, log: LogId) -> bool {
        self.log == log
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

impl Asked {
    /// Nobody waits for the answer any more: the worker stops.
    pub(super) fn forget(&self) {
        if self.client.0.borrow_mut().asked.remove(&self.id).is_some() {
            let message = ToWorker::Forget(self.id);
            self.client.post(wire::envelope(&message));
        }
    }
}

/// The build names the worker's place in the page: a page never meets the
/// worker of another build. A worker that is started from a blob inherits the
/// page's policy, so that the browser itself keeps it from sending anything.
fn start_worker() -> Result<Worker, JsValue> {
    let document = gloo_utils::document();
    let path = document
        .query_selector("meta[name=eventscope-worker]")?
        .and_then(|meta| meta.get_attribute("content"))
        .unwrap_or_else(|| "./worker_loader.js".to_owned());
    let base = document.base_uri()?.unwrap_or_default();
    let url = Url::new_with_base(&path, &base)?.href();
    let script = Array::of1(&format!("import {};", js_sys::JSON::stringify(&url.into())?).into());
    let kind = BlobPropertyBag::new();
    kind.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&script, &kind)?;
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    Worker::new_with_options(&Url::create_object_url_with_blob(&blob)?, &options)
}
