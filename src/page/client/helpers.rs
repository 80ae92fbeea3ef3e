//! The workers: how one is started, and those that analyse slices of a large log for the one
//! that owns the logs.

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

/// A worker that helps.
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
    /// Starts workers that analyse slices of a large log, unless they are there.
    pub(super) fn start_helpers(&self, file: &File) {
        if !self.0.borrow().helpers.is_empty() {
            return;
        }
        for number in 0..helper_count(file) {
            let client = self.clone();
            let on_message = Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                client.hear_helper(number, &event.data());
            });
            // Without it the others have more to do.
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

    /// Ends the workers that help if no log is being read: their memory is given back.
    pub(super) fn end_helpers(&self) {
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
            Ok(FromWorker::Died { message }) | Err(message) => self.died(Some(message)),
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
}

/// The build names the worker's place in the page: a page never meets the
/// worker of another build. A worker that is started from a blob inherits the
/// page's policy, so that the browser itself keeps it from sending anything.
///
/// With the name of a lock, the worker holds it as long as it lives, and posts the name when it does.
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
