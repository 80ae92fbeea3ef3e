//! Questions about a log, and who waits for their answers.

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

/// What becomes of a question: the envelope with the answer.
pub(super) type Then = Box<dyn FnOnce(Result<&JsValue, NotAnswered>)>;

/// A question that the worker has not answered yet.
pub(super) struct Question {
    log: LogId,
    query: Box<dyn Any>,
    /// [`Inner::changes`](super::Inner::changes) when it was asked.
    changes: u64,
    /// Who waits for the answer.
    waiting: Vec<(AskId, Then)>,
}

impl Question {
    /// Gives the answer to all who wait for it.
    pub(super) fn answer(self, answer: Result<&JsValue, NotAnswered>) {
        for (_, then) in self.waiting {
            then(answer.clone());
        }
    }
}

/// A question on its way, as one of those who asked it knows it.
pub(crate) struct Asked {
    client: Client,
    /// The number of the question.
    question: AskId,
    /// The number of the one who asked.
    asker: AskId,
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
        let inner = &mut *self.client.0.borrow_mut();
        let asker = AskId(inner.last_ask.0.wrapping_add(1));
        inner.last_ask = asker;
        let waiting = (asker, Box::new(then) as Then);
        let asked = |question| Asked {
            client: self.client.clone(),
            question,
            asker,
        };
        // What a panel, its summary and the timeline ask at once is worked out once.
        let mut all = inner.asked.iter_mut();
        let same = all.find(|(_, question)| {
            question.log == self.log
                && question.changes == inner.changes
                && question
                    .query
                    .downcast_ref::<Q>()
                    .is_some_and(|it| *it == query)
        });
        if let Some((&id, question)) = same {
            question.waiting.push(waiting);
            return asked(id);
        }
        let question = ToWorker::Ask(asker, self.log, Q::NAME.to_owned());
        let envelope = wire::envelope(&question);
        wire::attach_body(&envelope, &query);
        let question = Question {
            log: self.log,
            query: Box::new(query),
            changes: inner.changes,
            waiting: vec![waiting],
        };
        inner.asked.insert(asker, question);
        if inner.logs.contains_key(&self.log) {
            inner.send(envelope, Array::new());
        } else {
            let (client, closed) = (self.client.clone(), self.log);
            spawn_local(async move { client.refuse(|log| log == closed) });
        }
        asked(asker)
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
        let inner = &mut *self.client.0.borrow_mut();
        let Some(question) = inner.asked.get_mut(&self.question) else {
            return;
        };
        question.waiting.retain(|(asker, _)| *asker != self.asker);
        if question.waiting.is_empty() {
            inner.asked.remove(&self.question);
            let message = ToWorker::Forget(self.question);
            inner.send(wire::envelope(&message), Array::new());
        }
    }
}

impl Client {
    /// Gives up questions about some logs. Who asked hears of it later, as of
    /// any answer.
    pub(super) fn refuse(&self, about: impl Fn(LogId) -> bool) {
        let refused: Vec<Question> = {
            let asked = &mut self.0.borrow_mut().asked;
            let refused = asked.extract_if(|_, question| about(question.log));
            refused.map(|(_, question)| question).collect()
        };
        spawn_local(async move {
            for question in refused {
                question.answer(Err(NotAnswered::Closed));
            }
        });
    }
}
