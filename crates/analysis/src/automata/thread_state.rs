//! States of one thread.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Unseen` | `RunThread` on c at t | `Running(t, c)` | |
//! | `Unseen` | `StopThread` | `Unseen` | anomaly: stopped before it ran |
//! | `Running(s, c)` | `RunThread` on d at t | `Running(min(s, t), cap of the earlier)` | |
//! | `Running(s, c)` | `StopThread` at t, not finished | `Blocked(t, status)` | running `[s, t]` on c |
//! | `Running(s, c)` | `StopThread` at t, finished | `Final` | running `[s, t]` on c |
//! | `Blocked(s, r)` | `RunThread` on c at t | `Running(t, c)` | blocked `[s, t]`, r |
//! | `Blocked(s, r)` | `StopThread` at t, not finished | `Blocked(t, status)` | blocked `[s, t]`, r |
//! | `Blocked(s, r)` | `StopThread` at t, finished | `Final` | blocked `[s, t]`, r |
//! | `Final` | any | `Final` | |
//!
//! The thread **lifecycle** is the same automaton with one more event:
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Unseen` | `CreateThread` at t | `Blocked(t, created)` | |
//! | any other | `CreateThread` | unchanged | |
//!
//! `ThreadRunnable` and `WakeupThread` cause no transition: GHC has not written the first since 2009, and the
//! second only records that another thread attempted a wakeup. The runtime often logs a run and a wakeup after
//! `ThreadFinished`.

use serde::{Deserialize, Serialize};

use super::{Anomaly, Step};
use eventlog::StopStatus;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{StopCode, WaitReason};
use model::time::Interval;

/// Why a thread is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// Created and not run yet (lifecycle only).
    Created,
    /// Stopped with this status.
    Stopped(StopStatus),
}

impl Reason {
    /// Returns what the thread waits for, judging by its stop alone; `None` if it is runnable.
    pub fn wait_reason(self) -> Option<WaitReason> {
        match self {
            Self::Created => None,
            Self::Stopped(status) => StopCode(status.code()).wait_reason(),
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Created => f.write_str("created"),
            Self::Stopped(status) => status.fmt(f),
        }
    }
}

/// Activity of a thread during a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Activity {
    /// Running, on this capability if the log names it.
    Running(Option<CapId>),
    /// Not running: blocked, or runnable and waiting for a capability.
    Blocked(Reason),
}

/// A span of a thread's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSpan {
    /// Activity during the whole span.
    pub activity: Activity,
    /// Start and end of the span.
    pub span: Interval,
    /// Status of the stop that ended the span; `None` if a run or the end of the log ended it.
    pub stop: Option<StopStatus>,
}

/// States of the automaton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// No event of the thread so far.
    #[default]
    Unseen,
    /// In this activity since this time.
    Active(Nanos, Activity),
    /// Finished; later events are ignored.
    Final,
}

impl State {
    /// Returns the span in progress, closed at `end`.
    pub const fn open(self, end: Nanos) -> Option<ThreadSpan> {
        match self {
            Self::Active(since, activity) => Some(ThreadSpan {
                activity,
                span: Interval::new(since, end),
                stop: None,
            }),
            Self::Unseen | Self::Final => None,
        }
    }
}

/// Events that drive the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `CreateThread`; passed in lifecycle mode only.
    Create,
    /// `RunThread`, on this capability.
    Run(Option<CapId>),
    /// `StopThread`.
    Stop(StopStatus),
}

/// Transition function; `thread` only identifies the thread in an anomaly.
#[inline]
pub fn step(state: State, input: Input, at: Nanos, thread: ThreadId) -> Step<State, ThreadSpan> {
    use Activity::Running;
    let (since, activity) = match (state, input) {
        (State::Final, _) | (State::Active(..), Input::Create) => {
            return Step::without_yield(state);
        }
        (State::Unseen, Input::Create) => {
            return Step::without_yield(State::Active(at, Activity::Blocked(Reason::Created)));
        }
        (State::Unseen, Input::Run(cap)) => {
            return Step::without_yield(State::Active(at, Running(cap)));
        }
        (State::Unseen, Input::Stop(_)) => {
            return Step::odd(state, Anomaly::StopBeforeRun { thread });
        }
        (State::Active(since, activity), _) => (since, activity),
    };
    let next = match (activity, input) {
        (Running(_), Input::Run(cap)) => {
            let earlier = if at < since {
                (at, Running(cap))
            } else {
                (since, activity)
            };
            return Step::without_yield(State::Active(earlier.0, earlier.1));
        }
        (_, Input::Stop(StopStatus::ThreadFinished)) => State::Final,
        (_, Input::Stop(status)) => State::Active(at, Activity::Blocked(Reason::Stopped(status))),
        (_, Input::Run(cap)) => State::Active(at, Running(cap)),
        (_, Input::Create) => state,
    };
    let span = Interval::new(since, at);
    let stop = match input {
        Input::Stop(status) => Some(status),
        Input::Create | Input::Run(_) => None,
    };
    let ended = ThreadSpan {
        activity,
        span,
        stop,
    };
    Step::yielding(next, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Option<CapId> = Some(CapId(1));
    const D: Option<CapId> = Some(CapId(2));
    const MVAR: StopStatus = StopStatus::BlockedOnMVar;
    const YIELD: StopStatus = StopStatus::ThreadYielding;
    const DONE: StopStatus = StopStatus::ThreadFinished;

    fn running(since: u64, cap: Option<CapId>) -> State {
        State::Active(Nanos(since), Activity::Running(cap))
    }

    fn blocked(since: u64, status: StopStatus) -> State {
        State::Active(Nanos(since), Activity::Blocked(Reason::Stopped(status)))
    }

    /// A step at time 9, by a stop or a run, that ends the span open in `from`.
    fn ends(from: State, next: State, stop: Option<StopStatus>) -> Step<State, ThreadSpan> {
        let open = from.open(Nanos(9)).expect("an open span");
        Step::yielding(next, ThreadSpan { stop, ..open })
    }

    #[test]
    fn table() {
        let thread = ThreadId(7);
        let odd = Anomaly::StopBeforeRun { thread };
        let created = State::Active(Nanos(9), Activity::Blocked(Reason::Created));
        let (run_c, run_d) = (Input::Run(C), Input::Run(D));
        let stop = Input::Stop;
        let cases = [
            (State::Unseen, run_c, Step::without_yield(running(9, C))),
            (State::Unseen, stop(MVAR), Step::odd(State::Unseen, odd)),
            (State::Unseen, stop(DONE), Step::odd(State::Unseen, odd)),
            (State::Unseen, Input::Create, Step::without_yield(created)),
            (running(3, C), run_d, Step::without_yield(running(3, C))),
            (running(12, C), run_d, Step::without_yield(running(9, D))),
            (
                running(3, C),
                stop(MVAR),
                ends(running(3, C), blocked(9, MVAR), Some(MVAR)),
            ),
            (
                running(3, C),
                stop(DONE),
                ends(running(3, C), State::Final, Some(DONE)),
            ),
            (
                running(3, C),
                Input::Create,
                Step::without_yield(running(3, C)),
            ),
            (
                blocked(3, MVAR),
                run_c,
                ends(blocked(3, MVAR), running(9, C), None),
            ),
            (
                blocked(3, MVAR),
                stop(YIELD),
                ends(blocked(3, MVAR), blocked(9, YIELD), Some(YIELD)),
            ),
            (
                blocked(3, MVAR),
                stop(DONE),
                ends(blocked(3, MVAR), State::Final, Some(DONE)),
            ),
            (
                blocked(3, MVAR),
                Input::Create,
                Step::without_yield(blocked(3, MVAR)),
            ),
            (State::Final, run_c, Step::without_yield(State::Final)),
            (State::Final, stop(MVAR), Step::without_yield(State::Final)),
            (
                State::Final,
                Input::Create,
                Step::without_yield(State::Final),
            ),
        ];
        for (state, input, expected) in cases {
            assert_eq!(
                step(state, input, Nanos(9), thread),
                expected,
                "{state:?} {input:?}"
            );
        }
    }
}
