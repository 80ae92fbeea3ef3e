//! The helper workers that analyze slices for this one.

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

/// Slices per helper: one in progress and one queued.
const JOBS_PER_HELPER: usize = 2;

/// Another worker that analyzes slices for this one.
struct HelperWorker {
    port: MessagePort,
    /// Number of slices assigned to it.
    assigned: Rc<RefCell<usize>>,
    _heard: Closure<dyn FnMut(MessageEvent)>,
}

/// Results that were received and not taken yet.
#[derive(Default)]
struct Arrived {
    results: Vec<(FromHelper, Segment)>,
    waiting: Vec<Waker>,
}

/// All helper workers.
#[derive(Default)]
pub(super) struct WorkerPool {
    helpers: Vec<HelperWorker>,
    arrived: Rc<RefCell<Arrived>>,
}

impl WorkerPool {
    /// Adds the worker at the other end of `port`.
    pub(super) fn add_helper(&mut self, port: MessagePort) {
        let assigned = Rc::new(RefCell::new(0_usize));
        let heard = {
            let (arrived, assigned) = (Rc::clone(&self.arrived), Rc::clone(&assigned));
            Closure::<dyn FnMut(_)>::new(move |event: MessageEvent| {
                let envelope = event.data();
                let mut left = assigned.borrow_mut();
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
        self.helpers.push(HelperWorker {
            port,
            assigned,
            _heard: heard,
        });
        self.arrived.borrow_mut().wake();
    }

    /// Removes all helpers and pending results.
    pub(super) fn remove_helpers(&mut self) {
        self.helpers.clear();
        let mut arrived = self.arrived.borrow_mut();
        arrived.results.clear();
        // No results will arrive; waiting tasks must continue alone or stop.
        arrived.wake();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.helpers.is_empty()
    }

    /// Distributes slices to helpers that have capacity.
    ///
    /// `analyzed` counts analyzed slices that wait for earlier ones. If this worker does not keep up and they
    /// become too many, no more are distributed, which bounds the memory.
    pub(super) fn assign_jobs(
        &self,
        log: LogId,
        file: &LiveFile,
        analyzed: usize,
        mut next: impl FnMut() -> Option<Job>,
    ) {
        let arrived = analyzed + self.arrived.borrow().results.len();
        // This worker analyzes slices, too, and may have one that those of the helpers wait for.
        let most = JOBS_PER_HELPER * (self.helpers.len() + 1);
        for level in 0..JOBS_PER_HELPER {
            for helper in &self.helpers {
                if *helper.assigned.borrow() > level {
                    continue;
                }
                let in_progress: usize = self.helpers.iter().map(|of| *of.assigned.borrow()).sum();
                // If all wait for one slice that must be analyzed again, it is distributed anyway.
                if in_progress > 0 && in_progress + arrived >= most {
                    return;
                }
                let Some(job) = next() else { return };
                let envelope = wire::envelope(&ToHelper(log));
                wire::attach_job(&envelope, &job);
                wire::attach_live_file(&envelope, file);
                *helper.assigned.borrow_mut() += 1;
                // A handle and plain data can always be posted.
                let _ = helper.port.post_message(&envelope);
            }
        }
    }

    /// Returns the received results, to use without borrowing the pool.
    pub(super) fn arrivals(&self) -> Arrivals {
        Arrivals(Rc::clone(&self.arrived))
    }
}

impl Arrived {
    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

/// Received results of the helpers.
pub(super) struct Arrivals(Rc<RefCell<Arrived>>);

impl Arrivals {
    /// Takes the next result for a log, if there is one; drops those of logs that are not open any more.
    pub(super) fn take_result(
        &self,
        log: LogId,
        is_open: impl Fn(LogId) -> bool,
    ) -> Option<(FromHelper, Segment)> {
        let results = &mut self.0.borrow_mut().results;
        results.retain(|(result, _)| is_open(result.log));
        let place = results.iter().position(|(result, _)| result.log == log)?;
        Some(results.remove(place))
    }

    /// Waits until there is a result for the log, or the helpers change.
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
