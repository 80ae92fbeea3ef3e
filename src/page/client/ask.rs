//! Questions about a log, and who waits for their answers.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::{Client, LogClient};
use protocol::wire;
use protocol::{AskId, LogId, NotAnswered, ToWorker};
use session::query::{Answers, Query};

/// What becomes of a question: the envelope with the answer.
pub(super) type Then = Box<dyn FnOnce(Result<&JsValue, NotAnswered>)>;

/// A question on its way.
pub(crate) struct Asked {
    client: Client,
    id: AskId,
}

impl LogClient {
    /// Asks; `then` is called with the answer, or with the reason why there is
    /// none: the log is closed or the worker dies before. An answer that comes
    /// later than that is dropped.
    pub(crate) fn ask<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(Result<Q::Answer, NotAnswered>) + 'static,
    ) -> Asked {
        self.ask_raw(query, move |answer| {
            then(answer.and_then(|envelope| {
                let mut answer = wire::body(envelope).map_err(NotAnswered::Garbled)?;
                if let Some(columns) = Q::columns(&mut answer) {
                    wire::fill_columns(envelope, columns);
                }
                Ok(answer)
            }));
        })
    }

    /// Asks for an answer with a column that the page hands on as it came, such
    /// as the bytes of a file; with the answer without its columns.
    pub(crate) fn ask_for_column<Q: Query>(
        &self,
        query: Q,
        name: &'static str,
        then: impl FnOnce(Result<(Q::Answer, Option<JsValue>), NotAnswered>) + 'static,
    ) -> Asked {
        self.ask_raw(query, move |answer| {
            then(answer.and_then(|envelope| {
                let answer = wire::body(envelope).map_err(NotAnswered::Garbled)?;
                Ok((answer, wire::column(envelope, name)))
            }));
        })
    }

    fn ask_raw<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(Result<&JsValue, NotAnswered>) + 'static,
    ) -> Asked {
        let id = {
            let mut inner = self.client.0.borrow_mut();
            let id = AskId(inner.last_ask.0.wrapping_add(1));
            inner.last_ask = id;
            inner.asked.insert(id, (self.log, Box::new(then)));
            id
        };
        if self.client.is_open(self.log) {
            let envelope = wire::envelope(&ToWorker::Ask(id, self.log, Q::NAME.to_owned()));
            wire::attach_body(&envelope, &query);
            self.client.post(envelope);
        } else {
            self.client.refuse(|log| log == self.log);
        }
        Asked {
            client: self.client.clone(),
            id,
        }
    }
}

/// An answer that is waited for.
struct Awaited<T> {
    came: Option<T>,
    waits: Option<Waker>,
}

impl Answers for LogClient {
    async fn ask<Q: Query>(&self, query: Q) -> Option<Q::Answer> {
        let (came, waits) = (None, None);
        let slot = Rc::new(RefCell::new(Awaited { came, waits }));
        let told = Rc::clone(&slot);
        Self::ask(self, query, move |answer| {
            let mut slot = told.borrow_mut();
            slot.came = Some(answer.ok());
            slot.waits.take().into_iter().for_each(Waker::wake);
        });
        poll_fn(|context| {
            let mut slot = slot.borrow_mut();
            if let Some(answer) = slot.came.take() {
                return Poll::Ready(answer);
            }
            slot.waits = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl Asked {
    /// Nobody waits for the answer any more: the worker stops.
    pub(crate) fn forget(&self) {
        if self.client.0.borrow_mut().asked.remove(&self.id).is_some() {
            let message = ToWorker::Forget(self.id);
            self.client.post(wire::envelope(&message));
        }
    }
}

impl Client {
    /// Gives up questions about some logs. Who asked hears of it later, as of
    /// any answer.
    pub(super) fn refuse(&self, about: impl Fn(LogId) -> bool) {
        let refused: Vec<_> = {
            let asked = &mut self.0.borrow_mut().asked;
            asked.extract_if(|_, (log, _)| about(*log)).collect()
        };
        spawn_local(async move {
            for (_, (_, then)) in refused {
                then(Err(NotAnswered::Closed));
            }
        });
    }
}
