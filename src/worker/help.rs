//! Analysing slices of logs for another worker.

use std::cell::RefCell;
use std::rc::Rc;

use analysis::segment::Scratch;
use eventlog::{Need, SliceStep};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{MessageEvent, MessagePort};

use super::blob::BlobReader;
use super::post;
use protocol::wire::{self, LiveFile};
use protocol::{FromHelper, FromWorker, LogId, ToHelper};
use session::{Job, Working};

/// What is left from one slice to the next.
#[derive(Default)]
struct Desk {
    scratch: Scratch,
    /// The file of the last log: slices follow each other.
    blob: Option<(LogId, BlobReader)>,
}

/// Analyses every slice that is asked for over this port, one after the other.
pub(super) fn serve(port: MessagePort) {
    let desk = Rc::new(RefCell::new(Some(Desk::default())));
    let waiting = Rc::new(RefCell::new(Vec::new()));
    let answering = port.clone();
    let heard = Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
        let envelope = event.data();
        let (Ok(ToHelper(log)), Ok(job), Some(file)) = (
            wire::message(&envelope),
            wire::job(&envelope),
            wire::live_file(&envelope),
        ) else {
            let message = "a slice was not understood".to_owned();
            return post(&FromWorker::Died { message });
        };
        waiting.borrow_mut().push((log, job, file));
        // Whoever has the desk goes on with what waits.
        let Some(mut own) = desk.borrow_mut().take() else {
            return;
        };
        let (desk, waiting, port) = (Rc::clone(&desk), Rc::clone(&waiting), answering.clone());
        spawn_local(async move {
            loop {
                let next = {
                    let mut waiting = waiting.borrow_mut();
                    (!waiting.is_empty()).then(|| waiting.remove(0))
                };
                let Some((log, job, file)) = next else { break };
                own.work(&port, log, job, &file).await;
            }
            *desk.borrow_mut() = Some(own);
        });
    });
    port.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    // It answers as long as the worker lives.
    heard.forget();
}

impl Desk {
    async fn work(&mut self, port: &MessagePort, log: LogId, job: Job, file: &LiveFile) {
        if self.blob.as_ref().is_none_or(|(of, _)| *of != log) {
            self.blob = Some((log, BlobReader::new(file)));
        }
        let Some((_, blob)) = &mut self.blob else {
            return;
        };
        let mut working = Working::new(job, &mut self.scratch);
        let (mut failed, mut bytes) = (None, Vec::new());
        loop {
            match working.advance(usize::MAX) {
                SliceStep::Need(needs) => {
                    for Need(range) in needs {
                        let ahead = blob.read_ahead(working.upcoming());
                        let read = match blob.begin(&range).and_then(|piece| ahead.map(|()| piece))
                        {
                            Ok(piece) => piece.read(&mut bytes).await,
                            Err(error) => Err(error),
                        };
                        match read {
                            Ok(()) if !bytes.is_empty() => working.supply(range.start, &bytes),
                            other => {
                                let why = other.err().map_or_else(
                                    || "no bytes came".to_owned(),
                                    |error| js_sys::Error::from(error).message().into(),
                                );
                                failed.get_or_insert((range.start, why));
                                working.cut(range.start);
                            }
                        }
                    }
                }
                SliceStep::More => {}
                SliceStep::Done => break,
            }
        }
        let (job, segment) = working.finish(&mut self.scratch);
        let envelope = wire::envelope(&FromHelper { log, job, failed });
        let transfer = wire::attach_segment(&envelope, segment);
        // Plain data can always be posted.
        let _ = port.post_message_with_transferable(&envelope, &transfer);
    }
}
