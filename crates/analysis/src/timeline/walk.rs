//! All that capabilities and threads did, from the begin to the end, for who wants each span once
//! and none of the sums.

use super::flow::Waking;
use super::lives::RunOn;
use super::store::Store;
use super::thread_lane::ThreadLane;
use super::turns::{PARTS, Turn};
use crate::account::runs::LookedAt;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{ManagerThread, StopCode};
use model::lane::Lane;
use model::place::place32;
use model::time::Interval;

/// A thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Why it had stopped.
    pub why: StopCode,
    /// The runtime's manager that ended the wait, if one did.
    pub woken_by: Option<ManagerThread>,
    /// The thread that owned the black hole that it waited for, if that is known.
    pub owner: Option<ThreadId>,
    /// From its stop or creation to its next run.
    pub span: Interval,
    /// From when on it could have run: before, something blocked it.
    pub ready: Nanos,
    /// Whether the log ended before it ran again.
    pub is_open: bool,
}

impl Wait {
    /// The part in which something blocked it.
    #[must_use]
    pub const fn blocked(&self) -> Interval {
        Interval::new(self.span.start(), self.ready)
    }

    /// The part in which it waited for a capability.
    #[must_use]
    pub const fn ready(&self) -> Interval {
        Interval::new(self.ready, self.span.end())
    }
}

/// A thread ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRun {
    /// On which capability, if the log says that.
    pub cap: Option<CapId>,
    /// When.
    pub span: Interval,
    /// Why it stopped; [`StopCode::OPEN`] if the log ended.
    pub code: StopCode,
}

/// A part of a thread's life: it waits, then it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The wait: none before the first run of a thread whose creation the log does not have.
    pub wait: Option<Wait>,
    /// What ended the block in it, if it was blocked and that is known.
    pub waking: Option<Waking>,
    /// The run: none in the end, and where a damaged log has a thread stop that did not run.
    pub run: Option<ThreadRun>,
}

impl ThreadLane<'_> {
    /// The whole life, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + '_ {
        let stops = self.stops_again();
        let turns = (0..).zip(self.turns(0..self.runs() + 1));
        turns
            .map(move |(number, turn)| self.stage(number, &turn, stops))
            .filter(|stage| stage.wait.is_some() || stage.run.is_some())
    }

    /// `stops` are those of its runs that are none, but further stops.
    fn stage(&self, number: usize, turn: &Turn, stops: &[u32]) -> Stage {
        let is_run = stops.binary_search(&place32(number)).is_err();
        let run = self.run_of_turn(number, turn).filter(|_| is_run);
        let wait = self.wait_of_turn(number, turn);
        let woken = wait.is_some() && run.is_some();
        Stage {
            wait,
            waking: woken.then(|| self.waking(turn)).flatten(),
            run,
        }
    }

    fn run_of_turn(&self, number: usize, turn: &Turn) -> Option<ThreadRun> {
        let (start, end) = turn.part(2);
        Some(ThreadRun {
            cap: self.cap(PARTS * number + 2),
            span: Interval::new(Nanos(start), Nanos(end)),
            code: turn.code?,
        })
    }

    fn wait_of_turn(&self, number: usize, turn: &Turn) -> Option<Wait> {
        let is_open = turn.code.is_none();
        let has_none = match number {
            _ if is_open => self.is_finished() || turn.why == StopCode::OPEN,
            0 => self.created().is_none(),
            _ => false,
        };
        let (from, ready) = turn.part(0);
        let (_, end) = turn.part(1);
        (!has_none).then(|| Wait {
            why: turn.why,
            woken_by: turn.woken_by,
            owner: self.owner(PARTS * number),
            span: Interval::new(Nanos(from), Nanos(end)),
            ready: Nanos(ready),
            is_open,
        })
    }
}

impl Store {
    /// What a capability ran, in order; once the log is read to its end.
    pub fn cap_runs(&self, cap: CapId) -> impl Iterator<Item = RunOn> + '_ {
        let lane = self.cap(cap).map(|cap| &cap.runs);
        let mut looked = LookedAt::default();
        let places = 0..lane.map_or(0, Lane::len);
        places.filter_map(move |place| {
            let lane = lane?;
            let run = lane.run(place, &mut looked);
            Some(RunOn {
                start_ns: run.start,
                end_ns: run.end,
                thread: self.thread_id(lane.thread_at(place)?)?,
                code: run.code,
                ready_ns: run.ready_ns,
            })
        })
    }
}
