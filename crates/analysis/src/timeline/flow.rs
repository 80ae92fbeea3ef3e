//! Causes of a thread's runs: who woke it, and where it migrated from.

use serde::{Deserialize, Serialize};

use super::instants::InstantKind;
use super::store::Store;
use super::thread_lane::ThreadLane;
use super::turns::{PARTS, Turn};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::WaitReason;
use model::lane::Lane;
use model::time::Interval;

/// Query for the arrows of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowQuery {
    /// Thread whose runs the arrows lead to.
    pub thread: ThreadId,
    /// Visible range of time; only arrows that overlap it are returned.
    pub view: Interval,
}

/// Kind of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrowKind {
    /// From the wakeup of the thread to its next run.
    Wakeup,
    /// From the capability that the thread left to its next run.
    Migration,
}

/// Arrow to a run of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrow {
    /// Wakeup or migration.
    pub kind: ArrowKind,
    /// Time of the wakeup or migration.
    pub from: Nanos,
    /// Capability on which it was logged.
    pub from_cap: Option<CapId>,
    /// Thread that was running there and caused it; `None` if it was the runtime.
    pub from_thread: Option<ThreadId>,
    /// Start of the thread's next run.
    pub to: Nanos,
    /// Capability of that run.
    pub to_cap: Option<CapId>,
    /// Thread that was woken or migrated.
    pub thread: ThreadId,
}

/// Maximum number of visible runs; with more, no arrows are returned.
const MAX_RUNS: usize = 300;

/// Event that made a thread runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeEvent {
    /// A wakeup, a migration, or `ThreadRunnable`, which GHC wrote until 2009.
    pub kind: InstantKind,
    /// Time of the event.
    pub at: Nanos,
    /// Capability that logged it.
    pub cap: Option<CapId>,
    /// Thread that was running there, unless it was the woken thread itself.
    pub waker: Option<ThreadId>,
}

impl Store {
    /// Returns the arrows to the runs of a thread in view.
    pub fn flow(&self, query: &FlowQuery) -> Vec<Arrow> {
        let lane = self.thread_lane(query.thread);
        let Some(lane) = lane.filter(|lane| !lane.is_empty()) else {
            return Vec::new();
        };
        let view = query.view;
        let from = lane.first_ending_after(view.start().0) / PARTS;
        let to = lane.first_starting_at(view.end().0).div_ceil(PARTS);
        let turns = from..to.min(lane.runs());
        if turns.len() > MAX_RUNS {
            return Vec::new();
        }
        let mut arrows = Vec::new();
        for (number, turn) in turns.clone().zip(lane.turns(turns)) {
            self.arrows_to(query.thread, &lane, (number, &turn), &mut arrows);
        }
        arrows.retain(|arrow| arrow.from <= view.end() && view.start() <= arrow.to);
        arrows
    }

    /// Appends the arrows to the run of a turn: from the wakeup, and from the capability that the thread left.
    fn arrows_to(
        &self,
        thread: ThreadId,
        lane: &ThreadLane<'_>,
        (number, turn): (usize, &Turn),
        arrows: &mut Vec<Arrow>,
    ) {
        let (_, start) = turn.runnable_span();
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
        let wake_event = self.wake_event(thread, turn);
        let woken = wake_event.filter(|wake_event| wake_event.kind != InstantKind::Migrated);
        if let Some(by) = woken {
            arrows.push(arrow(ArrowKind::Wakeup, by.at, by.cap, by.waker));
        }
        if let Some((at, cap)) = self
            .last_migration(thread, turn)
            .filter(|(_, cap)| *cap != to_cap)
        {
            arrows.push(arrow(
                ArrowKind::Migration,
                at,
                cap,
                self.running_thread(cap, at),
            ));
        }
    }

    /// Returns the event that ended the block in a turn, if the thread was blocked and the event is known.
    pub fn wake_event(&self, thread: ThreadId, turn: &Turn) -> Option<WakeEvent> {
        // The end of a foreign call is not logged.
        let reason = turn.last_stop.wait_reason()?;
        if reason == WaitReason::ForeignCall {
            return None;
        }
        let index = self.threads.find(thread)?;
        let (_, ready) = turn.blocked_span();
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
        Some(WakeEvent {
            kind,
            at,
            cap,
            waker: self
                .running_thread(cap, at)
                .filter(|waker| *waker != thread),
        })
    }

    /// Returns the capability on which a thread was created at a time, and the thread that was running there.
    pub fn creator(
        &self,
        thread: ThreadId,
        at: Nanos,
    ) -> Option<(Option<CapId>, Option<ThreadId>)> {
        let index = self.threads.find(thread)?;
        let (_, cap) = self
            .instants
            .first_of(InstantKind::ThreadCreated, index, (at.0, at.0))?;
        Some((cap, self.running_thread(cap, at)))
    }

    /// Returns time and source capability of the last migration during the wait of a turn.
    pub fn last_migration(&self, thread: ThreadId, turn: &Turn) -> Option<(Nanos, Option<CapId>)> {
        let index = self.threads.find(thread)?;
        let wait = (turn.blocked_span().0, turn.runnable_span().1);
        let (at, cap) = self.instants.last_of(InstantKind::Migrated, index, wait)?;
        Some((Nanos(at), cap))
    }

    /// Returns the thread that runs on a capability at a time.
    fn running_thread(&self, cap: Option<CapId>, at: Nanos) -> Option<ThreadId> {
        self.running(cap?, at, &mut 0)
    }
}
