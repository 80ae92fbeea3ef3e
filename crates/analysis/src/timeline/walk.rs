//! Iteration over the complete lives of capabilities and threads, for callers that need each span once and no
//! sums.

use super::flow::WakeEvent;
use super::lives::RunOnCap;
use super::store::Store;
use super::thread_lane::ThreadLane;
use super::turns::{PARTS, Turn};
use crate::account::runs::RunReadCursor;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{ManagerThread, StopCode};
use model::lane::Lane;
use model::saturating::saturating_u32;
use model::time::Interval;

/// Time in which a thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitSpan {
    /// Reason why the thread had stopped.
    pub last_stop: StopCode,
    /// Manager thread of the runtime that ended the wait, if one did.
    pub woken_by: Option<ManagerThread>,
    /// Owner of the black hole that it waited for, if that is known.
    pub owner: Option<ThreadId>,
    /// Time from its stop or creation to its next run.
    pub span: Interval,
    /// Time from which on it was ready; before that, it was blocked.
    pub ready: Nanos,
    /// Whether the log ended before it ran again.
    pub is_open: bool,
}

impl WaitSpan {
    /// Returns the part in which it was blocked.
    pub const fn blocked(&self) -> Interval {
        Interval::new(self.span.start(), self.ready)
    }

    /// Returns the part in which it waited for a capability.
    pub const fn ready(&self) -> Interval {
        Interval::new(self.ready, self.span.end())
    }
}

/// Run of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRun {
    /// Capability, if it is logged.
    pub cap: Option<CapId>,
    /// Time of the run.
    pub span: Interval,
    /// Reason why it stopped; [`StopCode::OPEN`] if the log ended.
    pub code: StopCode,
}

/// A turn of a thread with what the log has about it: a wait, then a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitAndRun {
    /// The wait; `None` before the first run of a thread whose creation was not logged.
    pub wait: Option<WaitSpan>,
    /// Event that ended the block, if the thread was blocked and the event is known.
    pub wake_event: Option<WakeEvent>,
    /// The run; `None` at the end, and where a damaged log has a stop of a thread that was not running.
    pub run: Option<ThreadRun>,
}

impl ThreadLane<'_> {
    /// Returns the turns of the whole life in order.
    pub fn waits_and_runs(&self) -> impl Iterator<Item = WaitAndRun> + '_ {
        let stops = self.repeated_stops();
        let turns = (0..).zip(self.turns(0..self.runs() + 1));
        turns
            .map(move |(number, turn)| self.wait_and_run(number, &turn, stops))
            .filter(|both| both.wait.is_some() || both.run.is_some())
    }

    /// Returns wait and run of a turn. `stops` are the indexes of the empty runs that only represent further stops.
    fn wait_and_run(&self, number: usize, turn: &Turn, stops: &[u32]) -> WaitAndRun {
        let is_run = stops.binary_search(&saturating_u32(number)).is_err();
        let run = self.run_of_turn(number, turn).filter(|_| is_run);
        let wait = self.wait_of_turn(number, turn);
        let woken = wait.is_some() && run.is_some();
        WaitAndRun {
            wait,
            wake_event: woken.then(|| self.wake_event(turn)).flatten(),
            run,
        }
    }

    fn run_of_turn(&self, number: usize, turn: &Turn) -> Option<ThreadRun> {
        let (start, end) = turn.run_span();
        Some(ThreadRun {
            cap: self.cap(PARTS * number + 2),
            span: Interval::new(Nanos(start), Nanos(end)),
            code: turn.code?,
        })
    }

    fn wait_of_turn(&self, number: usize, turn: &Turn) -> Option<WaitSpan> {
        let is_open = turn.code.is_none();
        let has_none = match number {
            _ if is_open => self.is_finished() || turn.last_stop == StopCode::OPEN,
            0 => self.created().is_none(),
            _ => false,
        };
        let (from, ready) = turn.blocked_span();
        let (_, end) = turn.runnable_span();
        (!has_none).then(|| WaitSpan {
            last_stop: turn.last_stop,
            woken_by: turn.woken_by,
            owner: self.owner(PARTS * number),
            span: Interval::new(Nanos(from), Nanos(end)),
            ready: Nanos(ready),
            is_open,
        })
    }
}

impl Store {
    /// Returns the runs of a capability in order, once the log has been read to its end.
    pub fn cap_runs(&self, cap: CapId) -> impl Iterator<Item = RunOnCap> + '_ {
        let lane = self.cap(cap).map(|cap| &cap.runs);
        let mut looked = RunReadCursor::default();
        let places = 0..lane.map_or(0, Lane::len);
        places.filter_map(move |place| {
            let lane = lane?;
            let run = lane.run(place, &mut looked);
            Some(RunOnCap {
                start_ns: run.start,
                end_ns: run.end,
                thread: self.thread_id(lane.thread_at(place)?)?,
                code: run.code,
                ready_ns: run.ready_ns,
            })
        })
    }
}
