//! Starting workers, and the helper workers that analyze slices of a large log for the main worker, which owns the
//! logs.

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;
use web_sys::{
    Blob, BlobPropertyBag, ErrorEvent, Event, File, MessageChannel, MessageEvent, Url, Worker,
    WorkerOptions, WorkerType,
};

use super::Client;
use super::limits::helper_count;
use crate::dom::meta;
use protocol::wire;
use protocol::{FromWorker, ToWorker};

/// Worker with its listeners, terminated on drop.
pub(super) struct OwnedWorker {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Drop for OwnedWorker {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl OwnedWorker {
    /// Starts a worker that holds a lock, if any. `on_error` is called with the error message, if the browser sends
    /// one.
    pub(super) fn start(
        lock: Option<&str>,
        on_message: impl Fn(&Worker, &JsValue) + 'static,
        on_error: impl Fn(Option<String>) + 'static,
    ) -> Result<Self, JsValue> {
        let worker = start_worker(lock)?;
        let on_message = {
            let worker = worker.clone();
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                on_message(&worker, &event.data());
            })
        };
        let on_error = Closure::<dyn FnMut(_)>::new(move |event: Event| {
            event.prevent_default();
            // If the script could not be fetched, the browser sends an event without a message.
            let error = event.dyn_into::<ErrorEvent>();
            on_error(error.ok().map(|error| error.message()));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Self {
            worker,
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Posts a message, with ports to transfer.
    pub(super) fn post(&self, envelope: &Object, ports: &Array) {
        // Handles and plain data can always be posted.
        let _ = self.worker.post_message_with_transfer(envelope, ports);
    }
}

impl Client {
    /// Starts helper workers for a large log, unless they are already running.
    pub(super) fn start_helpers(&self, file: &File) {
        if !self.0.borrow().helpers.is_empty() {
            return;
        }
        for number in 0..helper_count(file) {
            let (client, failed) = (self.clone(), self.clone());
            let worker = OwnedWorker::start(
                None,
                move |_, envelope| client.on_helper_message(number, envelope),
                move |message| failed.died(message),
            );
            // The remaining workers take over its share of the work.
            let Ok(worker) = worker else {
                return;
            };
            self.0.borrow_mut().helpers.push(worker);
        }
    }

    /// Terminates the helper workers if no log is being read, which frees their memory.
    pub(super) fn end_helpers(&self) {
        let mut inner = self.0.borrow_mut();
        if inner.reading.is_empty() && !inner.helpers.is_empty() {
            inner.helpers.clear();
            drop(inner);
            self.post(wire::envelope(&ToWorker::RemoveHelpers));
        }
    }

    /// Handles a message of a helper, which only reports that it is ready or dying.
    fn on_helper_message(&self, number: usize, envelope: &JsValue) {
        match wire::message(envelope) {
            Ok(FromWorker::Ready { .. }) => self.connect_helper(number),
            Ok(FromWorker::Died { message }) | Err(message) => self.died(Some(message)),
            Ok(_) => {}
        }
    }

    /// Connects a helper with the main worker.
    fn connect_helper(&self, number: usize) {
        let inner = &mut *self.0.borrow_mut();
        let (Some(helper), Ok(channel)) = (inner.helpers.get(number), MessageChannel::new()) else {
            return;
        };
        // A port of a new channel can always be transferred.
        let help = wire::envelope(&ToWorker::ServeSlices);
        helper.post(&help, &Array::of1(&channel.port2()));
        inner.post(
            wire::envelope(&ToWorker::AddHelper),
            Array::of1(&channel.port1()),
        );
    }
}

/// Starts a worker. The build writes the path of the worker script into the page, so that a page never meets the
/// worker of another build. A worker started from a blob inherits the page's content security policy, so that the
/// browser itself keeps it from sending anything.
///
/// With a lock name, the worker acquires that Web Lock for its lifetime and then posts the name.
fn start_worker(lock: Option<&str>) -> Result<Worker, JsValue> {
    let path = meta("worker").unwrap_or_default();
    let base = gloo_utils::document().base_uri()?.unwrap_or_default();
    let url = Url::new_with_base(&path, &base)?.href();
    let url = js_sys::JSON::stringify(&url.into())?;
    let hold = lock.map_or_else(String::new, |lock| {
        format!(
            "await new Promise(held => navigator.locks ? navigator.locks.request('{lock}', () => \
             {{ postMessage('{lock}'); held(); return new Promise(() => {{}}); }}) : held()); "
        )
    });
    let script = format!("import run, {{ serve }} from {url}; {hold}await run(); serve();");
    let script = Array::of1(&script.into());
    let kind = BlobPropertyBag::new();
    kind.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&script, &kind)?;
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    Worker::new_with_options(&Url::create_object_url_with_blob(&blob)?, &options)
}
