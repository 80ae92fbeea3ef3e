//! How threads come to run: who woke them, and where they moved.

use serde::{Deserialize, Serialize};

use super::instants::InstantKind;
use super::store::Store;
use super::thread_lane::ThreadLane;
use super::turns::{PARTS, Turn};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::WaitReason;
use model::lane::Lane;
use model::time::Interval;

/// Whose arrows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowQuery {
    /// The thread.
    pub thread: ThreadId,
    /// The time in view.
    pub view: Interval,
}

/// What an arrow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrowKind {
    /// From what woke the thread to its next run.
    Wakeup,
    /// From the capability that it left to its next run.
    Migration,
}

/// An arrow to a run of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrow {
    /// What it is.
    pub kind: ArrowKind,
    /// When the thread was woken, or moved.
    pub from: Nanos,
    /// On which capability that happened.
    pub from_cap: Option<CapId>,
    /// The thread that ran there and did it; none if it was the runtime.
    pub from_thread: Option<ThreadId>,
    /// When the thread then ran.
    pub to: Nanos,
    /// On which capability.
    pub to_cap: Option<CapId>,
    /// The thread.
    pub thread: ThreadId,
}

/// So many runs in view have arrows; with more of them, none has.
const MOST_RUNS: usize = 300;

/// What made a thread able to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waking {
    /// A wakeup, a migration, or what GHC wrote until 2009.
    pub kind: InstantKind,
    /// The time of the event.
    pub at: Nanos,
    /// On which capability.
    pub cap: Option<CapId>,
    /// The thread that ran there.
    pub waker: Option<ThreadId>,
}

impl Store {
    /// How a thread came to run, each time in `view`.
    #[must_use]
    pub fn flow(&self, query: &FlowQuery) -> Vec<Arrow> {
        let lane = self.thread_lane(query.thread);
        let Some(lane) = lane.filter(|lane| !lane.is_empty()) else {
            return Vec::new();
        };
        let view = query.view;
        let from = lane.first_ending_after(view.start().0) / PARTS;
        let to = lane.first_starting_at(view.end().0).div_ceil(PARTS);
        let turns = from..to.min(lane.runs());
        if turns.len() > MOST_RUNS {
            return Vec::new();
        }
        let mut arrows = Vec::new();
        for (number, turn) in turns.clone().zip(lane.turns(turns)) {
            self.arrows_to(query.thread, &lane, (number, &turn), &mut arrows);
        }
        arrows.retain(|arrow| arrow.from <= view.end() && view.start() <= arrow.to);
        arrows
    }

    /// From what woke the thread, and from the capability that it then left,
    /// to the run of a turn.
    fn arrows_to(
        &self,
        thread: ThreadId,
        lane: &ThreadLane<'_>,
        (number, turn): (usize, &Turn),
        arrows: &mut Vec<Arrow>,
    ) {
        let (_, start) = turn.part(1);
        let to_cap = lane.cap(PARTS * number + 2);
        let arrow = |kind, from, from_cap, from_thread| Arrow {
            kind,
            from,
            from_cap,
            from_thread,
            to: Nanos(start),
            to_cap,
            thread,
        };
        let waking = self.waking(thread, turn);
        let woken = waking.filter(|waking| waking.kind != InstantKind::Migrated);
        if let Some(by) = woken {
            arrows.push(arrow(ArrowKind::Wakeup, by.at, by.cap, by.waker));
        }
        if let Some((at, cap)) = self.moved(thread, turn).filter(|(_, cap)| *cap != to_cap) {
            arrows.push(arrow(ArrowKind::Migration, at, cap, self.runs_on(cap, at)));
        }
    }

    /// What ended the block in a turn, if the thread was blocked and that is known.
    pub fn waking(&self, thread: ThreadId, turn: &Turn) -> Option<Waking> {
        // Of the end of a foreign call the log says nothing.
        let reason = turn.why.wait_reason()?;
        if reason == WaitReason::ForeignCall {
            return None;
        }
        let index = self.threads.find(thread)?;
        let (_, ready) = turn.part(0);
        let kinds = [
            InstantKind::Woken,
            InstantKind::Migrated,
            InstantKind::Runnable,
        ];
        let (kind, cap) = kinds.into_iter().find_map(|kind| {
            let (_, cap) = self.instants.first_of(kind, index, (ready, ready))?;
            Some((kind, cap))
        })?;
        let at = Nanos(ready);
        Some(Waking {
            kind,
            at,
            cap,
            waker: self.runs_on(cap, at).filter(|waker| *waker != thread),
        })
    }

    /// The capability on which a thread was created at a time, and the thread
    /// that ran there.
    pub fn creator(
        &self,
        thread: ThreadId,
        at: Nanos,
    ) -> Option<(Option<CapId>, Option<ThreadId>)> {
        let index = self.threads.find(thread)?;
        let (_, cap) = self
            .instants
            .first_of(InstantKind::ThreadCreated, index, (at.0, at.0))?;
        Some((cap, self.runs_on(cap, at)))
    }

    /// When and from where a thread was moved last in the wait of a turn.
    pub fn moved(&self, thread: ThreadId, turn: &Turn) -> Option<(Nanos, Option<CapId>)> {
        let index = self.threads.find(thread)?;
        let wait = (turn.part(0).0, turn.part(1).1);
        let (at, cap) = self.instants.last_of(InstantKind::Migrated, index, wait)?;
        Some((Nanos(at), cap))
    }

    /// The thread that runs on a capability at a time.
    fn runs_on(&self, cap: Option<CapId>, at: Nanos) -> Option<ThreadId> {
        self.running(cap?, at, &mut 0)
    }
}
