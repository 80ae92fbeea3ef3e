//! The page's side of the worker: starting it, asking it, and noticing when
//! it dies.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Array;
use rustc_hash::FxHashMap;
use wasm_bindgen::prelude::*;
use web_sys::{
    Blob, BlobPropertyBag, ErrorEvent, File, MessageChannel, MessageEvent, Url, Worker,
    WorkerOptions, WorkerType,
};

use crate::protocol::{Answer, FromWorker, Question, ToWorker, VERSION};
use crate::wire;
use analysis::timeline::user_spans::SpanPrefixes;
use views::events::EventList;

/// What becomes of a question: the answer and its columns.
type Then = Box<dyn FnOnce(Answer, Option<Array>)>;

/// The worker, as long as it lives.
struct Inner {
    /// The worker that analyses.
    worker: Option<Worker>,
    /// The worker that reads for it.
    reader: Option<Worker>,
    ready: bool,
    /// Which of the two is ready while the other is not: the one that analyses?
    one_ready: Option<bool>,
    /// Messages from before the worker was ready.
    waiting: Vec<js_sys::Object>,
    asked: FxHashMap<u32, Then>,
    next_id: u32,
    /// What begins and ends spans of the program: a new worker is told.
    prefixes: SpanPrefixes,
    /// What names addresses, if something was dropped: the same.
    symbols: Option<File>,
    emit: Rc<dyn Fn(FromWorker)>,
    on_message: Option<Closure<dyn FnMut(MessageEvent)>>,
    on_reader: Option<Closure<dyn FnMut(MessageEvent)>>,
    on_error: Option<Closure<dyn FnMut(ErrorEvent)>>,
}

/// A handle on the worker.
#[derive(Clone)]
pub(super) struct Client(Rc<RefCell<Inner>>);

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Client {
    /// Starts a worker; whatever it says by itself goes to `emit`.
    pub(super) fn start(emit: impl Fn(FromWorker) + 'static) -> Self {
        let client = Self(Rc::new(RefCell::new(Inner {
            worker: None,
            reader: None,
            ready: false,
            one_ready: None,
            waiting: Vec::new(),
            asked: FxHashMap::default(),
            next_id: 0,
            prefixes: SpanPrefixes::default(),
            symbols: None,
            emit: Rc::new(emit),
            on_message: None,
            on_reader: None,
            on_error: None,
        })));
        client.restart();
        client
    }

    /// Ends the worker, whatever it is doing, and starts a new one.
    pub(super) fn restart(&self) {
        let on_message = {
            let client = self.clone();
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| client.hear(&event.data()))
        };
        let on_error = {
            let client = self.clone();
            Closure::<dyn FnMut(_)>::new(move |event: ErrorEvent| {
                event.prevent_default();
                let message = event.message();
                client.emit(FromWorker::Died { message });
            })
        };
        let on_reader = Closure::<dyn FnMut(_)>::new({
            let client = self.clone();
            move |event: MessageEvent| client.hear_reader(&event.data())
        });
        let (worker, reader) = (start_worker().ok(), start_worker().ok());
        if let Some(worker) = &worker {
            worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        }
        if let Some(reader) = &reader {
            reader.set_onmessage(Some(on_reader.as_ref().unchecked_ref()));
        }
        for worker in [&worker, &reader].into_iter().flatten() {
            worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        }
        let mut inner = self.0.borrow_mut();
        for old in [inner.worker.take(), inner.reader.take()]
            .into_iter()
            .flatten()
        {
            old.set_onmessage(None);
            old.set_onerror(None);
            old.terminate();
        }
        inner.ready = false;
        inner.one_ready = None;
        inner.waiting.clear();
        if inner.prefixes != SpanPrefixes::default() {
            let prefixes = ToWorker::SpanPrefixes(inner.prefixes.clone());
            inner.waiting.push(wire::envelope(&prefixes));
        }
        if let Some(file) = &inner.symbols {
            let envelope = wire::envelope(&ToWorker::Symbols);
            wire::attach_file(&envelope, file);
            inner.waiting.push(envelope);
        }
        inner.asked.clear();
        inner.worker = worker;
        inner.reader = reader;
        inner.on_reader = Some(on_reader);
        inner.on_message = Some(on_message);
        inner.on_error = Some(on_error);
    }

    fn emit(&self, message: FromWorker) {
        let emit = Rc::clone(&self.0.borrow().emit);
        emit(message);
    }

    fn hear(&self, envelope: &JsValue) {
        match wire::message(envelope) {
            Ok(FromWorker::Ready { version }) if version != VERSION => {
                let message = "The page was updated meanwhile: reload it.".to_owned();
                self.emit(FromWorker::Died { message });
            }
            Ok(FromWorker::Ready { .. }) => self.heard_ready(true),
            Ok(FromWorker::Answer { id, answer }) => {
                let then = self.0.borrow_mut().asked.remove(&id);
                if let Some(then) = then {
                    then(answer, wire::columns(envelope));
                }
            }
            Ok(message) => self.emit(message),
            Err(message) => self.emit(FromWorker::Died { message }),
        }
    }

    /// The reader says only that it is ready, or that it dies.
    fn hear_reader(&self, envelope: &JsValue) {
        match wire::message(envelope) {
            Ok(FromWorker::Ready { .. }) => self.heard_ready(false),
            Ok(message) => self.emit(message),
            Err(message) => self.emit(FromWorker::Died { message }),
        }
    }

    /// One of the two is ready; when both are, they are connected and what
    /// has waited is sent.
    fn heard_ready(&self, analyser: bool) {
        let mut inner = self.0.borrow_mut();
        inner.one_ready = if inner.one_ready == Some(!analyser) {
            None
        } else {
            Some(analyser)
        };
        if inner.one_ready.is_some() {
            return;
        }
        let (Some(worker), Some(reader), Ok(channel)) =
            (&inner.worker, &inner.reader, MessageChannel::new())
        else {
            return;
        };
        for (to, message, port) in [
            (worker, ToWorker::Pieces, channel.port1()),
            (reader, ToWorker::Read, channel.port2()),
        ] {
            // A port of a new channel can always be handed over.
            let _ = to.post_message_with_transfer(&wire::envelope(&message), &Array::of1(&port));
        }
        inner.ready = true;
        let waiting = std::mem::take(&mut inner.waiting);
        if let Some(worker) = &inner.worker {
            for envelope in waiting {
                let _ = worker.post_message(&envelope);
            }
        }
    }

    fn post(&self, envelope: js_sys::Object) {
        let mut inner = self.0.borrow_mut();
        match &inner.worker {
            Some(worker) if inner.ready => {
                // Handles and plain data can always be posted.
                let _ = worker.post_message(&envelope);
            }
            _ => inner.waiting.push(envelope),
        }
    }

    /// Opens a file.
    pub(super) fn open(&self, file: &File) {
        self.0.borrow_mut().asked.clear();
        let envelope = wire::envelope(&ToWorker::Open);
        wire::attach_file(&envelope, file);
        self.post(envelope);
    }

    /// Drops what is open or being opened.
    pub(super) fn cancel(&self) {
        self.0.borrow_mut().asked.clear();
        self.post(wire::envelope(&ToWorker::Cancel));
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

    /// Has the rows of a list counted, instead of those of any other.
    pub(super) fn count(&self, list: Option<EventList>) {
        self.post(wire::envelope(&ToWorker::Count(list)));
    }

    /// Asks; `then` is called with the answer, unless another file is opened
    /// or the worker dies before.
    pub(super) fn ask(
        &self,
        question: Question,
        then: impl FnOnce(Answer, Option<Array>) + 'static,
    ) {
        let id = {
            let mut inner = self.0.borrow_mut();
            inner.next_id = inner.next_id.wrapping_add(1);
            let id = inner.next_id;
            inner.asked.insert(id, Box::new(then));
            id
        };
        self.post(wire::envelope(&ToWorker::Ask { id, question }));
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
