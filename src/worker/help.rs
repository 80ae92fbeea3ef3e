//! Analyzes slices of logs for another worker.

use std::cell::RefCell;
use std::rc::Rc;

use analysis::segment::Scratch;
use eventlog::{Need, SliceStep};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{MessageEvent, MessagePort};

use super::blob::BlobReader;
use super::load::{EVENTS_PER_STEP, YIELD_EVERY_MS};
use super::yielding::MessageYielder;
use super::{now_ms, post};
use protocol::wire::{self, LiveFile};
use protocol::{FromHelper, FromWorker, LogId, ToHelper};
use session::{Job, SliceAnalyzer};

/// State kept between slices.
struct SliceServer {
    scratch: Scratch,
    message_yielder: MessageYielder,
    /// File of the last log: consecutive slices are usually of the same one.
    blob: Option<(LogId, BlobReader)>,
}

/// Analyzes all slices requested over this port, one after the other.
pub(super) fn serve(port: MessagePort) {
    let server = SliceServer {
        scratch: Scratch::default(),
        message_yielder: MessageYielder::new(),
        blob: None,
    };
    let server = Rc::new(RefCell::new(Some(server)));
    let waiting = Rc::new(RefCell::new(Vec::new()));
    let answering = port.clone();
    let heard = Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
        let envelope = event.data();
        let (Ok(ToHelper(log)), Ok(job), Some(file)) = (
            wire::message(&envelope),
            wire::job(&envelope),
            wire::live_file(&envelope),
        ) else {
            let message = "a slice could not be decoded".to_owned();
            return post(&FromWorker::Died { message });
        };
        waiting.borrow_mut().push((log, job, file));
        // If the server is taken, the running task also handles this slice.
        let Some(mut own) = server.borrow_mut().take() else {
            return;
        };
        let (server, waiting, port) = (Rc::clone(&server), Rc::clone(&waiting), answering.clone());
        spawn_local(async move {
            loop {
                let next = {
                    let mut waiting = waiting.borrow_mut();
                    (!waiting.is_empty()).then(|| waiting.remove(0))
                };
                let Some((log, job, file)) = next else { break };
                own.work(&port, log, job, &file).await;
            }
            *server.borrow_mut() = Some(own);
        });
    });
    port.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    // The callback lives as long as the worker.
    heard.forget();
}

impl SliceServer {
    async fn work(&mut self, port: &MessagePort, log: LogId, job: Job, file: &LiveFile) {
        if self.blob.as_ref().is_none_or(|(of, _)| *of != log) {
            self.blob = Some((log, BlobReader::new(file)));
        }
        let Some((_, blob)) = &mut self.blob else {
            return;
        };
        let mut working = SliceAnalyzer::new(job, &mut self.scratch);
        let (mut failed, mut bytes) = (None, Vec::new());
        let mut yielded_ms = now_ms();
        loop {
            if now_ms() - yielded_ms > YIELD_EVERY_MS {
                self.message_yielder.yield_now().await;
                yielded_ms = now_ms();
            }
            match working.advance(EVENTS_PER_STEP) {
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
                                    || "the browser returned no bytes".to_owned(),
                                    |error| js_sys::Error::from(error).message().into(),
                                );
                                failed.get_or_insert((range.start, why));
                                working.truncate(range.start);
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
