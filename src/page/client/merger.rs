//! Dedicated worker that merges several logs into one. Dropping its handle cancels the merge.

use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, Event, File, MessageEvent, Worker};
use yew::Callback;

use super::helpers::start_worker;
use protocol::wire;
use protocol::{FromWorker, MergeOptions, MergeReport, ToWorker, VERSION};

/// Progress or result of a merge.
#[derive(Debug)]
pub(crate) enum MergeEvent {
    /// Share of the input that is read, in percent.
    Percent(u64),
    /// The merged log and a report on the merge.
    Done(File, MergeReport),
    /// Reason for the failure.
    Failed(String),
}

/// Handle on the merge worker, which is terminated on drop.
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
    /// Starts merging files; `None` if no worker can be started.
    pub(crate) fn start(
        files: &[File],
        options: &MergeOptions,
        on_event: Callback<MergeEvent>,
    ) -> Option<Self> {
        let worker = start_worker(None).ok()?;
        let envelope = wire::envelope(&ToWorker::Merge(options.clone()));
        wire::attach_files(&envelope, files);
        let on_error = {
            let on_event = on_event.clone();
            Closure::<dyn FnMut(_)>::new(move |event: Event| {
                event.prevent_default();
                let error = event.dyn_into::<ErrorEvent>().map(|error| error.message());
                on_event.emit(MergeEvent::Failed(error.unwrap_or_default()));
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
                    Ok(FromWorker::Ready { .. }) => on_event.emit(MergeEvent::Failed(
                        "The page was updated meanwhile: reload it.".to_owned(),
                    )),
                    Ok(FromWorker::Merging(percent)) => on_event.emit(MergeEvent::Percent(percent)),
                    Ok(FromWorker::Merged(Ok(report))) => {
                        if let Some(file) = wire::file(&data) {
                            on_event.emit(MergeEvent::Done(file, report));
                        }
                    }
                    Ok(FromWorker::Merged(Err(why))) => on_event.emit(MergeEvent::Failed(why)),
                    Ok(FromWorker::Died { message }) | Err(message) => {
                        on_event.emit(MergeEvent::Failed(message));
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
