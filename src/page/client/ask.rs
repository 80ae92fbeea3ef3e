//! Queries about a log, and the callbacks that await their answers.

use std::any::Any;
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::{Client, LogClient};
use protocol::wire;
use protocol::{AskId, LogId, NotAnswered, ToWorker};
use session::query::{Answers, Query};

/// Callback for the envelope with the answer.
pub(super) type AnswerCallback = Box<dyn FnOnce(Result<&JsValue, NotAnswered>)>;

/// Query that the worker has not answered yet.
pub(super) struct PendingQuery {
    log: LogId,
    query: Box<dyn Any>,
    /// [`Inner::changes`](super::Inner::changes) at the time of asking.
    changes: u64,
    /// Callbacks awaiting the answer.
    waiting: Vec<(AskId, AnswerCallback)>,
}

impl PendingQuery {
    /// Passes the answer to all callbacks.
    pub(super) fn answer(self, answer: Result<&JsValue, NotAnswered>) {
        for (_, then) in self.waiting {
            then(answer.clone());
        }
    }
}

/// Handle for canceling interest in a query.
pub(crate) struct PendingAsk {
    client: Client,
    /// Identifies the query, which several callers may share.
    query: AskId,
    /// Identifies the caller.
    asker: AskId,
}

impl LogClient {
    /// Sends a query. `then` is called with the answer, or with the reason if there is none: the log was closed
    /// or the worker died. Later answers are dropped.
    pub(crate) fn ask<Q: Query>(
        &self,
        query: Q,
        then: impl FnOnce(Result<Q::Answer, NotAnswered>) + 'static,
    ) -> PendingAsk {
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

    /// Sends a query whose answer has a column that the page passes on unchanged, such as the bytes of a file.
    /// `then` gets the answer without its columns, and that column.
    pub(crate) fn ask_for_column<Q: Query>(
        &self,
        query: Q,
        name: &'static str,
        then: impl FnOnce(Result<(Q::Answer, Option<JsValue>), NotAnswered>) + 'static,
    ) -> PendingAsk {
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
    ) -> PendingAsk {
        let inner = &mut *self.client.0.borrow_mut();
        let asker = AskId(inner.last_ask.0.wrapping_add(1));
        inner.last_ask = asker;
        let waiting = (asker, Box::new(then) as AnswerCallback);
        let handle = |query| PendingAsk {
            client: self.client.clone(),
            query,
            asker,
        };
        // A panel, its summary and the timeline often send the same query; the worker computes the answer once.
        let mut all = inner.queries.iter_mut();
        let same = all.find(|(_, pending)| {
            pending.log == self.log
                && pending.changes == inner.changes
                && pending
                    .query
                    .downcast_ref::<Q>()
                    .is_some_and(|it| *it == query)
        });
        if let Some((&id, pending)) = same {
            pending.waiting.push(waiting);
            return handle(id);
        }
        let message = ToWorker::Ask(asker, self.log, Q::NAME.to_owned());
        let envelope = wire::envelope(&message);
        wire::attach_body(&envelope, &query);
        let pending = PendingQuery {
            log: self.log,
            query: Box::new(query),
            changes: inner.changes,
            waiting: vec![waiting],
        };
        inner.queries.insert(asker, pending);
        if inner.logs.contains_key(&self.log) {
            inner.send(envelope, Array::new());
        } else {
            let (client, closed) = (self.client.clone(), self.log);
            spawn_local(async move { client.fail_queries(|log| log == closed) });
        }
        handle(asker)
    }
}

/// Shared slot of a future for an answer.
struct AnswerSlot<T> {
    answer: Option<T>,
    waker: Option<Waker>,
}

impl Answers for LogClient {
    async fn ask<Q: Query>(&self, query: Q) -> Option<Q::Answer> {
        let (answer, waker) = (None, None);
        let slot = Rc::new(RefCell::new(AnswerSlot { answer, waker }));
        let filled_slot = Rc::clone(&slot);
        Self::ask(self, query, move |answer| {
            let mut slot = filled_slot.borrow_mut();
            slot.answer = Some(answer.ok());
            slot.waker.take().into_iter().for_each(Waker::wake);
        });
        poll_fn(|context| {
            let mut slot = slot.borrow_mut();
            if let Some(answer) = slot.answer.take() {
                return Poll::Ready(answer);
            }
            slot.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl PendingAsk {
    /// Withdraws the caller; when no caller is left, the worker stops computing the answer.
    pub(crate) fn cancel(&self) {
        let inner = &mut *self.client.0.borrow_mut();
        let Some(pending) = inner.queries.get_mut(&self.query) else {
            return;
        };
        pending.waiting.retain(|(asker, _)| *asker != self.asker);
        if pending.waiting.is_empty() {
            inner.queries.remove(&self.query);
            let message = ToWorker::CancelAsk(self.query);
            inner.send(wire::envelope(&message), Array::new());
        }
    }
}

impl Client {
    /// Fails all queries about some logs. The callbacks are called asynchronously, as for any answer.
    pub(super) fn fail_queries(&self, about: impl Fn(LogId) -> bool) {
        let failed: Vec<PendingQuery> = {
            let queries = &mut self.0.borrow_mut().queries;
            let failed = queries.extract_if(|_, query| about(query.log));
            failed.map(|(_, query)| query).collect()
        };
        spawn_local(async move {
            for query in failed {
                query.answer(Err(NotAnswered::Closed));
            }
        });
    }
}
