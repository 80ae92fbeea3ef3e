//! Answers queries, each in its own task that regularly yields.

use std::ops::Range;
use std::rc::Rc;

use futures_util::future::abortable;
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use super::blob::{self, BlobRead, BlobReader};
use super::yielding::CooperativeYield;
use super::{Asked, Shared, background, post, scope};
use protocol::wire::{self, LiveFile};
use protocol::{AskId, FromWorker, LogId, NotAnswered};
use session::Session;
use session::queries;
use session::query::{Host, LocalBoxFuture, Query, Unreadable, Visitor, Yield};

/// Time after the last use until read-ahead pages are dropped.
const KEEP_READING_MS: u32 = 2_000;

/// Read-ahead pages of a file, dropped by a timer.
pub(super) struct ReadAhead {
    blob: BlobReader,
    _expiry: Timeout,
}

/// Answers the query in the envelope; `name` is the name of its type.
pub(super) fn ask(shared: &Shared, id: AskId, log: LogId, name: &str, envelope: JsValue) {
    let shared = Rc::clone(shared);
    let asking = UntypedQuestion {
        shared,
        id,
        log,
        envelope,
    };
    if queries::by_name(name, asking).is_none() {
        refuse(id, NotAnswered::Garbled(name.to_owned()));
    }
}

fn refuse(id: AskId, why: NotAnswered) {
    post(&FromWorker::Answer(id, Err(why)));
}

/// A query whose type is looked up by name.
struct UntypedQuestion {
    shared: Shared,
    id: AskId,
    log: LogId,
    envelope: JsValue,
}

impl Visitor for UntypedQuestion {
    type Output = ();

    // Instantiated for each query type, so code that does not depend on the type is outside.
    fn visit<Q: Query>(self) {
        let query = match wire::body::<Q>(&self.envelope) {
            Ok(query) => query,
            Err(why) => {
                let why = format!("{}: {why}", Q::NAME);
                return refuse(self.id, NotAnswered::Garbled(why));
            }
        };
        let id = self.id;
        self.answer(Q::IS_BACKGROUND, |session, host| {
            Box::pin(async move {
                let answer = session.clip_to_cut(&query).answer(&session, &host).await;
                host.shared.borrow_mut().asked.remove(&id);
                post_answer::<Q>(id, answer);
            })
        });
    }
}

impl UntypedQuestion {
    /// Starts computing an answer, unless the log is closed.
    fn answer(
        self,
        is_background: bool,
        begin: impl FnOnce(Rc<Session>, QueryHost) -> LocalBoxFuture<'static, ()>,
    ) {
        match self.host(is_background) {
            Some((session, host)) => self.spawn_answer(is_background, begin(session, host)),
            None => refuse(self.id, NotAnswered::Closed),
        }
    }

    /// Returns the session of the log and the host for the answer.
    fn host(&self, is_background: bool) -> Option<(Rc<Session>, QueryHost)> {
        let state = self.shared.borrow();
        let open = state.logs.get(&self.log)?;
        let host = QueryHost {
            shared: Rc::clone(&self.shared),
            log: self.log,
            file: open.file.clone(),
            yielder: CooperativeYield::new(),
            is_background,
        };
        Some((Rc::clone(&open.session), host))
    }

    /// Runs an answer until it is complete or canceled.
    fn spawn_answer(self, is_background: bool, answer: LocalBoxFuture<'static, ()>) {
        let (answering, cancel) = abortable(answer);
        let mut state = self.shared.borrow_mut();
        let asked = Asked {
            log: self.log,
            cancel,
            is_background,
        };
        state.asked.insert(self.id, asked);
        spawn_local(async move {
            // The result of an aborted answer is not needed.
            let _ = answering.await;
        });
    }
}

/// Posts an answer, transferring the buffers of its columns.
fn post_answer<Q: Query>(id: AskId, mut answer: Q::Answer) {
    let envelope = wire::envelope(&FromWorker::Answer(id, Ok(())));
    let columns = Q::columns(&mut answer);
    let transfer = columns.map(|columns| wire::attach_columns(&envelope, columns));
    wire::attach_body(&envelope, &answer);
    // Plain data can always be posted.
    let _ = scope().post_message_with_transfer(&envelope, &transfer.unwrap_or_default());
}

/// The host of a query: yielding, other logs, and reading of the file.
struct QueryHost {
    shared: Shared,
    log: LogId,
    file: LiveFile,
    yielder: CooperativeYield,
    is_background: bool,
}

impl Yield for QueryHost {
    fn is_due(&self) -> bool {
        self.yielder.is_due()
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            self.yielder.yield_now().await;
            if self.is_background {
                background::wait_for_foreground(&self.shared).await;
            }
        })
    }
}

impl Host for QueryHost {
    fn other_log(&self, log: u32) -> Option<Rc<Session>> {
        let state = self.shared.borrow();
        let open = state.logs.get(&LogId(log))?;
        Some(Rc::clone(&open.session))
    }

    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        self.wait_for(blob::begin_uncached(&self.file, &range))
    }

    fn read_with_prefetch(
        &self,
        range: Range<u64>,
        next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        self.wait_for(self.begin(&range, next))
    }
}

impl QueryHost {
    fn begin(
        &self,
        range: &Range<u64>,
        next: &mut dyn Iterator<Item = Range<u64>>,
    ) -> Result<BlobRead, JsValue> {
        let state = &mut *self.shared.borrow_mut();
        let Some(open) = state.logs.get_mut(&self.log) else {
            return blob::begin_uncached(&self.file, range);
        };
        let blob = match open.reading.take() {
            Some(reading) => reading.blob,
            None => BlobReader::new(&self.file),
        };
        let (shared, log) = (Rc::clone(&self.shared), self.log);
        let _expiry = Timeout::new(KEEP_READING_MS, move || {
            if let Some(open) = shared.borrow_mut().logs.get_mut(&log) {
                open.reading = None;
            }
        });
        let reading = open.reading.insert(ReadAhead { blob, _expiry });
        let piece = reading.blob.begin(range)?;
        reading.blob.read_ahead(next)?;
        Ok(piece)
    }

    fn wait_for(
        &self,
        piece: Result<BlobRead, JsValue>,
    ) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        Box::pin(async {
            let mut bytes = Vec::new();
            let read = match piece {
                Ok(piece) => piece.read(&mut bytes).await,
                Err(error) => Err(error),
            };
            match read {
                Ok(()) => Ok(bytes),
                Err(error) => {
                    let message = js_sys::Error::from(error).message();
                    Err(Unreadable(format!(
                        "it was changed or removed after it was opened ({message})"
                    )))
                }
            }
        })
    }
}
