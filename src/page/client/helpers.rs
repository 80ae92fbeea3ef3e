//! Starting workers, and the helper workers that analyze slices of a large log for the main worker, which owns the
//! logs.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use web_sys::{
    Blob, BlobPropertyBag, File, MessageChannel, MessageEvent, Url, Worker, WorkerOptions,
    WorkerType,
};

use super::Client;
use super::limits::helper_count;
use protocol::wire;
use protocol::{FromWorker, ToWorker};

/// Helper worker, terminated on drop.
pub(super) struct Helper {
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

impl Client {
    /// Starts helper workers for a large log, unless they are already running.
    pub(super) fn start_helpers(&self, file: &File) {
        if !self.0.borrow().helpers.is_empty() {
            return;
        }
        for number in 0..helper_count(file) {
            let client = self.clone();
            let on_message = Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                client.on_helper_message(number, &event.data());
            });
            // The remaining workers take over its share of the work.
            let Ok(worker) = start_worker(None) else {
                return;
            };
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
        let _ = (helper.worker).post_message_with_transfer(&help, &Array::of1(&channel.port2()));
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
pub(super) fn start_worker(lock: Option<&str>) -> Result<Worker, JsValue> {
    let document = gloo_utils::document();
    let path = document
        .query_selector("meta[name=eventscope-worker]")?
        .and_then(|meta| meta.get_attribute("content"))
        .unwrap_or_default();
    let base = document.base_uri()?.unwrap_or_default();
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
