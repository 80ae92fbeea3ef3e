//! The workers that analyse slices for this one.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use analysis::segment::Segment;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, MessagePort};

use super::post;
use protocol::wire::{self, LiveFile};
use protocol::{FromHelper, FromWorker, LogId, ToHelper};
use session::Job;

/// How many slices a worker has at once: one to analyse, and one to go on with.
const AT_ONCE: usize = 2;

/// A worker that helps.
struct Helper {
    port: MessagePort,
    /// How many slices it has.
    busy: Rc<RefCell<usize>>,
    _heard: Closure<dyn FnMut(MessageEvent)>,
}

/// What has come and was not fetched yet.
#[derive(Default)]
struct Arrived {
    results: Vec<(FromHelper, Segment)>,
    waiting: Vec<Waker>,
}

/// The workers that help.
#[derive(Default)]
pub(super) struct Team {
    helpers: Vec<Helper>,
    arrived: Rc<RefCell<Arrived>>,
}

impl Team {
    /// Another one helps.
    pub(super) fn join(&mut self, port: MessagePort) {
        let busy = Rc::new(RefCell::new(0_usize));
        let heard = {
            let (arrived, busy) = (Rc::clone(&self.arrived), Rc::clone(&busy));
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                let envelope = event.data();
                let mut left = busy.borrow_mut();
                *left = left.saturating_sub(1);
                match (wire::message(&envelope), wire::segment(&envelope)) {
                    (Ok(result), Ok(segment)) => {
                        let mut arrived = arrived.borrow_mut();
                        arrived.results.push((result, segment));
                        arrived.wake();
                    }
                    (Err(message), _) | (_, Err(message)) => post(&FromWorker::Died { message }),
                }
            })
        };
        port.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        self.helpers.push(Helper {
            port,
            busy,
            _heard: heard,
        });
        self.arrived.borrow_mut().wake();
    }

    /// Nobody helps any more.
    pub(super) fn leave(&mut self) {
        self.helpers.clear();
        let mut arrived = self.arrived.borrow_mut();
        arrived.results.clear();
        // Nothing comes any more: who waits is to do it alone, or to give up.
        arrived.wake();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.helpers.is_empty()
    }

    /// Hands out slices as long as somebody has time and there are any. `analysed` are
    /// analysed that wait for others before them: if there are too many, as this worker does
    /// not keep up, the others pause, which bounds the memory.
    pub(super) fn hand_out(
        &self,
        log: LogId,
        file: &LiveFile,
        analysed: usize,
        mut next: impl FnMut() -> Option<Job>,
    ) {
        let arrived = analysed + self.arrived.borrow().results.len();
        let most = AT_ONCE * self.helpers.len() + 1;
        for busy in 0..AT_ONCE {
            for helper in &self.helpers {
                if *helper.busy.borrow() > busy {
                    continue;
                }
                let handed: usize = self.helpers.iter().map(|of| *of.busy.borrow()).sum();
                // All may wait for one that is to be analysed again.
                if handed > 0 && handed + arrived >= most {
                    return;
                }
                let Some(job) = next() else { return };
                let envelope = wire::envelope(&ToHelper(log));
                wire::attach_job(&envelope, &job);
                wire::attach_live_file(&envelope, file);
                *helper.busy.borrow_mut() += 1;
                // A handle and plain data can always be posted.
                let _ = helper.port.post_message(&envelope);
            }
        }
    }

    /// What has come, to be fetched without the team at hand.
    pub(super) fn arrivals(&self) -> Arrivals {
        Arrivals(Rc::clone(&self.arrived))
    }
}

impl Arrived {
    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

/// What comes from the workers that help.
pub(super) struct Arrivals(Rc<RefCell<Arrived>>);

impl Arrivals {
    /// The next result about a log, if one is there; those about logs that are not
    /// open any more are dropped.
    pub(super) fn take(
        &self,
        log: LogId,
        is_open: impl Fn(LogId) -> bool,
    ) -> Option<(FromHelper, Segment)> {
        let results = &mut self.0.borrow_mut().results;
        results.retain(|(result, _)| is_open(result.log));
        let place = results.iter().position(|(result, _)| result.log == log)?;
        Some(results.remove(place))
    }

    /// Waits until there is something about a log, or somebody else helps.
    pub(super) async fn wait(&self, log: LogId) {
        let mut begun = false;
        poll_fn(|context| {
            let mut arrived = self.0.borrow_mut();
            let is_there = arrived.results.iter().any(|(result, _)| result.log == log);
            if is_there || std::mem::replace(&mut begun, true) {
                return Poll::Ready(());
            }
            arrived.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
