//! Answering questions, each as a task of its own that listens now and then.

use std::ops::Range;
use std::rc::Rc;

use futures_util::future::abortable;
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use super::blob::{self, BlobReader, Piece};
use super::pause::Turns;
use super::{Shared, post, scope};
use protocol::wire::{self, LiveFile};
use protocol::{AskId, FromWorker, LogId, NotAnswered};
use session::Session;
use session::query::{Host, Later, Listen, Query, Unreadable, Visitor};
use session::questions;

/// For how long the pages of a file are kept that were read ahead.
const KEEP_READING_MS: u32 = 2_000;

/// Pages of a file that are read ahead, until they are of no use any more.
pub(super) struct Reading {
    blob: BlobReader,
    _forget: Timeout,
}

/// Has the question of that name answered that is in the envelope.
pub(super) fn ask(shared: &Shared, id: AskId, log: LogId, name: &str, envelope: JsValue) {
    let shared = Rc::clone(shared);
    let asking = Asking {
        shared,
        id,
        log,
        envelope,
    };
    if questions::by_name(name, asking).is_none() {
        refuse(id, NotAnswered::Garbled(name.to_owned()));
    }
}

fn refuse(id: AskId, why: NotAnswered) {
    post(&FromWorker::Answer(id, Err(why)));
}

/// A question whose type is being found.
struct Asking {
    shared: Shared,
    id: AskId,
    log: LogId,
    envelope: JsValue,
}

impl Visitor for Asking {
    type Output = ();

    // Once for each kind of question: what need not know which one it is stands outside.
    fn visit<Q: Query>(self) {
        let query = match wire::body::<Q>(&self.envelope) {
            Ok(query) => query,
            Err(why) => {
                let why = format!("{}: {why}", Q::NAME);
                return refuse(self.id, NotAnswered::Garbled(why));
            }
        };
        let id = self.id;
        self.answer(|session, host| {
            Box::pin(async move {
                let answer = session.within_cut(&query).answer(&session, &host).await;
                host.shared.borrow_mut().asked.remove(&id);
                post_answer::<Q>(id, answer);
            })
        });
    }
}

impl Asking {
    /// Begins an answer, unless the log is closed.
    fn answer(self, begin: impl FnOnce(Rc<Session>, Worker) -> Later<'static, ()>) {
        match self.host() {
            Some((session, host)) => self.go_on(begin(session, host)),
            None => refuse(self.id, NotAnswered::Closed),
        }
    }

    /// What is asked about, and whom the answer may ask.
    fn host(&self) -> Option<(Rc<Session>, Worker)> {
        let state = self.shared.borrow();
        let open = state.logs.get(&self.log)?;
        let host = Worker {
            shared: Rc::clone(&self.shared),
            log: self.log,
            file: open.file.clone(),
            turns: Turns::new(),
        };
        Some((Rc::clone(&open.session), host))
    }

    /// Lets an answer be made, until it is given up.
    fn go_on(self, answer: Later<'static, ()>) {
        let (answering, handle) = abortable(answer);
        let mut state = self.shared.borrow_mut();
        state.asked.insert(self.id, (self.log, handle));
        spawn_local(async move {
            // Whoever gave it up does not wait for it.
            let _ = answering.await;
        });
    }
}

/// Posts an answer, with columns whose memory is handed over.
fn post_answer<Q: Query>(id: AskId, mut answer: Q::Answer) {
    let envelope = wire::envelope(&FromWorker::Answer(id, Ok(())));
    let columns = Q::columns(&mut answer);
    let transfer = columns.map(|columns| wire::attach_columns(&envelope, columns));
    wire::attach_body(&envelope, &answer);
    // Plain data can always be posted.
    let _ = scope().post_message_with_transfer(&envelope, &transfer.unwrap_or_default());
}

/// What a question is given: turns of this worker, and the file.
struct Worker {
    shared: Shared,
    log: LogId,
    file: LiveFile,
    turns: Turns,
}

impl Listen for Worker {
    fn is_due(&self) -> bool {
        self.turns.is_due()
    }

    fn pause(&self) -> Later<'_, ()> {
        self.turns.pause()
    }
}

impl Host for Worker {
    fn other(&self, log: u32) -> Option<Rc<Session>> {
        let state = self.shared.borrow();
        let open = state.logs.get(&LogId(log))?;
        Some(Rc::clone(&open.session))
    }

    fn read(&self, range: Range<u64>) -> Later<'_, Result<Vec<u8>, Unreadable>> {
        self.wait_for(blob::begin_alone(&self.file, &range))
    }

    fn read_on(
        &self,
        range: Range<u64>,
        next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> Later<'_, Result<Vec<u8>, Unreadable>> {
        self.wait_for(self.begin(&range, next))
    }
}

impl Worker {
    fn begin(
        &self,
        range: &Range<u64>,
        next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> Result<Piece, JsValue> {
        let state = &mut *self.shared.borrow_mut();
        let Some(open) = state.logs.get_mut(&self.log) else {
            return blob::begin_alone(&self.file, range);
        };
        let blob = match open.reading.take() {
            Some(reading) => reading.blob,
            None => BlobReader::new(&self.file),
        };
        let (shared, log) = (Rc::clone(&self.shared), self.log);
        let _forget = Timeout::new(KEEP_READING_MS, move || {
            if let Some(open) = shared.borrow_mut().logs.get_mut(&log) {
                open.reading = None;
            }
        });
        let reading = open.reading.insert(Reading { blob, _forget });
        let piece = reading.blob.begin(range)?;
        reading.blob.read_ahead(next)?;
        Ok(piece)
    }

    fn wait_for(&self, piece: Result<Piece, JsValue>) -> Later<'_, Result<Vec<u8>, Unreadable>> {
        Box::pin(async {
            let mut bytes = Vec::new();
            let read = match piece {
                Ok(piece) => piece.read(&mut bytes).await,
                Err(error) => Err(error),
            };
            match read {
                Ok(()) => Ok(bytes),
                Err(error) => Err(Unreadable(js_sys::Error::from(error).message().into())),
            }
        })
    }
}
