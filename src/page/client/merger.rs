//! A worker that makes one log of several, and does nothing else: to end it is to cancel that.

use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, Event, File, MessageEvent, Worker};
use yew::Callback;

use super::helpers::start_worker;
use protocol::wire;
use protocol::{FromWorker, MergeReport, MergeWish, ToWorker, VERSION};

/// What becomes of merging.
#[derive(Debug)]
pub(crate) enum Merged {
    /// So much of what there is to read is read, in percent.
    Percent(u64),
    /// The new log, and what is to be said of it.
    Done(File, MergeReport),
    /// Why there is none.
    Failed(String),
}

/// The worker, as long as it is wanted.
pub(crate) struct Merger {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Drop for Merger {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl Merger {
    /// Begins to merge files; `None` if no worker can be started.
    pub(crate) fn start(files: &[File], wish: &MergeWish, told: Callback<Merged>) -> Option<Self> {
        let worker = start_worker(None).ok()?;
        let envelope = wire::envelope(&ToWorker::Merge(wish.clone()));
        wire::attach_files(&envelope, files);
        let on_error = {
            let told = told.clone();
            Closure::<dyn FnMut(_)>::new(move |event: Event| {
                event.prevent_default();
                let error = event.dyn_into::<ErrorEvent>().map(|error| error.message());
                told.emit(Merged::Failed(error.unwrap_or_default()));
            })
        };
        let on_message = {
            let worker = worker.clone();
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                let data = event.data();
                match wire::message(&data) {
                    Ok(FromWorker::Ready { version }) if version == VERSION => {
                        // Handles and plain data can always be posted.
                        let _ = worker.post_message(&envelope);
                    }
                    Ok(FromWorker::Ready { .. }) => told.emit(Merged::Failed(
                        "The page was updated meanwhile: reload it.".to_owned(),
                    )),
                    Ok(FromWorker::Merging(percent)) => told.emit(Merged::Percent(percent)),
                    Ok(FromWorker::Merged(Ok(report))) => {
                        if let Some(file) = wire::file(&data) {
                            told.emit(Merged::Done(file, report));
                        }
                    }
                    Ok(FromWorker::Merged(Err(why))) => told.emit(Merged::Failed(why)),
                    Ok(FromWorker::Died { message }) | Err(message) => {
                        told.emit(Merged::Failed(message));
                    }
                    Ok(_) => {}
                }
            })
        };
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self {
            worker,
            _on_message: on_message,
            _on_error: on_error,
        })
    }
}
