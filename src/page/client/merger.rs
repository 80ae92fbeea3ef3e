//! Dedicated worker that merges several logs into one. Dropping its handle cancels the merge.

use wasm_bindgen::prelude::*;
use web_sys::{File, Worker};
use yew::Callback;

use super::helpers::OwnedWorker;
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
    _worker: OwnedWorker,
}

impl Merger {
    /// Starts merging files; `None` if no worker can be started.
    pub(crate) fn start(
        files: &[File],
        options: &MergeOptions,
        on_event: Callback<MergeEvent>,
    ) -> Option<Self> {
        let envelope = wire::envelope(&ToWorker::Merge(options.clone()));
        wire::attach_files(&envelope, files);
        let on_error = on_event
            .reform(|message: Option<String>| MergeEvent::Failed(message.unwrap_or_default()));
        let on_message = move |worker: &Worker, data: &JsValue| match wire::message(data) {
            Ok(FromWorker::Ready { version }) if version == VERSION => {
                // Handles and plain data can always be posted.
                let _ = worker.post_message(&envelope);
            }
            Ok(FromWorker::Ready { .. }) => on_event.emit(MergeEvent::Failed(
                "The page was updated meanwhile: reload it.".to_owned(),
            )),
            Ok(FromWorker::Merging(percent)) => on_event.emit(MergeEvent::Percent(percent)),
            Ok(FromWorker::Merged(Ok(report))) => {
                if let Some(file) = wire::file(data) {
                    on_event.emit(MergeEvent::Done(file, report));
                }
            }
            Ok(FromWorker::Merged(Err(why))) => on_event.emit(MergeEvent::Failed(why)),
            Ok(FromWorker::Died { message }) | Err(message) => {
                on_event.emit(MergeEvent::Failed(message));
            }
            Ok(_) => {}
        };
        let worker = OwnedWorker::start(None, on_message, move |message| on_error.emit(message));
        worker.ok().map(|_worker| Self { _worker })
    }
}
