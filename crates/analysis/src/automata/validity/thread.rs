//! Life of one thread. "Older" means that the thread may have been created before logging began.
//!
//! | state | event | next | verdict |
//! |---|---|---|---|
//! | `Unseen` | create | `Queued` | |
//! | `Unseen` | run on c | `Running(c)` | older: tolerated; else broken: never created |
//! | `Unseen` | stop | as from `Running` | older: tolerated; else broken: never created |
//! | `Unseen` | wakeup, move | `Queued` | older: tolerated; else broken: never created |
//! | `Queued`, `Stopped` | run on c | `Running(c)` | |
//! | `Queued`, `Stopped` | stop | as from `Running` | broken: was not running |
//! | `Running(c)` | run on d | `Running(d)` | broken: is running already |
//! | `Running(c)` | stop on c: finished | `Final` | |
//! | `Running(c)` | stop on c: runnable (heap, stack, yielding, foreign call) | `Queued` | |
//! | `Running(c)` | stop on c: otherwise | `Stopped` | |
//! | `Running(c)` | stop on d | as for a stop on c | broken: was running elsewhere |
//! | `Running(c)` | wakeup | unchanged | tolerated |
//! | `Running(c)` | move | unchanged | broken |
//! | `Queued` | wakeup | unchanged | tolerated |
//! | `Stopped` | wakeup | `Queued` | |
//! | `Queued`, `Stopped` | move | unchanged | |
//! | any but `Unseen` | create | `Queued` | broken: created before |
//! | `Final` | run | `Ghost` | tolerated |
//! | `Ghost` | stop | `Final` | tolerated |
//! | `Ghost` | run | unchanged | tolerated |
//! | `Final` | stop | unchanged | broken: has ended |
//! | `Final`, `Ghost` | wakeup, move | unchanged | tolerated |

use super::{Doing, Judged, Problem, Tolerated};
use eventlog::StopStatus;
use eventlog::ids::CapId;

/// States of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// No event of the thread so far.
    #[default]
    Unseen,
    /// Runnable, but not running.
    Queued,
    /// Running, on this capability if the log names it.
    Running(Option<CapId>),
    /// Stopped, and not runnable before a wakeup.
    Stopped,
    /// Finished, without a spurious run in progress.
    Final,
    /// Finished, while the log shows one more, spurious run.
    Ghost,
}

/// Events of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `CreateThread`.
    Create,
    /// `RunThread` on this capability.
    Run(Option<CapId>),
    /// `StopThread` on this capability.
    Stop(Option<CapId>, StopStatus),
    /// `WakeupThread`, or `ThreadRunnable` in old logs.
    Wakeup,
    /// `MigrateThread`.
    Migrate,
}

impl Input {
    const fn doing(self) -> Doing {
        match self {
            Self::Create => Doing::Create,
            Self::Run(_) => Doing::Run,
            Self::Stop(..) => Doing::Stop,
            Self::Wakeup => Doing::Wake,
            Self::Migrate => Doing::Move,
        }
    }
}

/// Returns the state after a stop.
const fn after(status: StopStatus) -> State {
    match status {
        StopStatus::ThreadFinished => State::Final,
        StopStatus::HeapOverflow
        | StopStatus::StackOverflow(_)
        | StopStatus::ThreadYielding
        | StopStatus::ForeignCall => State::Queued,
        _ => State::Stopped,
    }
}

/// Transition function; `older` is whether the thread may be older than the log.
#[must_use]
pub fn step(state: State, input: Input, older: bool) -> Judged<State> {
    match state {
        State::Unseen => first(input, older),
        State::Queued | State::Stopped => waiting(state, input),
        State::Running(cap) => running(cap, input),
        State::Final | State::Ghost => finished(state, input),
    }
}

fn first(input: Input, older: bool) -> Judged<State> {
    let next = match input {
        Input::Create => return Judged::fine(State::Queued),
        Input::Run(cap) => State::Running(cap),
        Input::Stop(_, status) => after(status),
        Input::Wakeup | Input::Migrate => State::Queued,
    };
    if older {
        Judged::tolerated(next, Tolerated::OlderThread)
    } else {
        Judged::broken(next, Problem::Uncreated(input.doing()))
    }
}

fn waiting(state: State, input: Input) -> Judged<State> {
    match input {
        Input::Create => Judged::broken(State::Queued, Problem::CreatedAgain),
        Input::Run(cap) => Judged::fine(State::Running(cap)),
        Input::Stop(_, status) => Judged::broken(after(status), Problem::StopsUnrun),
        Input::Wakeup if state == State::Queued => {
            Judged::tolerated(state, Tolerated::NeedlessWakeup)
        }
        Input::Wakeup => Judged::fine(State::Queued),
        Input::Migrate => Judged::fine(state),
    }
}

fn running(cap: Option<CapId>, input: Input) -> Judged<State> {
    let state = State::Running(cap);
    match input {
        Input::Create => Judged::broken(State::Queued, Problem::CreatedAgain),
        Input::Run(other) => {
            Judged::broken(State::Running(other), Problem::RunsAlready { on: cap })
        }
        Input::Stop(other, status) if other == cap => Judged::fine(after(status)),
        Input::Stop(_, status) => {
            Judged::broken(after(status), Problem::StopsElsewhere { ran_on: cap })
        }
        Input::Wakeup => Judged::tolerated(state, Tolerated::NeedlessWakeup),
        Input::Migrate => Judged::broken(state, Problem::MovesRunning),
    }
}

fn finished(state: State, input: Input) -> Judged<State> {
    match input {
        Input::Create => Judged::broken(State::Queued, Problem::CreatedAgain),
        Input::Run(_) => Judged::tolerated(State::Ghost, Tolerated::RunAfterEnd),
        Input::Stop(..) if state == State::Ghost => {
            Judged::tolerated(State::Final, Tolerated::RunAfterEnd)
        }
        Input::Stop(..) => Judged::broken(state, Problem::AfterEnd(Doing::Stop)),
        Input::Wakeup | Input::Migrate => Judged::tolerated(state, Tolerated::WakeupAfterEnd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Option<CapId> = Some(CapId(1));
    const D: Option<CapId> = Some(CapId(2));
    const DONE: Input = Input::Stop(C, StopStatus::ThreadFinished);
    const YIELD: Input = Input::Stop(C, StopStatus::ThreadYielding);
    const MVAR: Input = Input::Stop(C, StopStatus::BlockedOnMVar);
    const INPUTS: [Input; 7] = [
        Input::Create,
        Input::Run(C),
        YIELD,
        MVAR,
        DONE,
        Input::Wakeup,
        Input::Migrate,
    ];

    #[test]
    fn table() {
        use State::{Final, Ghost, Queued, Running, Stopped, Unseen};
        let fine = Judged::fine;
        let tolerated = Judged::tolerated;
        let broken = Judged::broken;
        let (again, unrun) = (Problem::CreatedAgain, Problem::StopsUnrun);
        let already = Problem::RunsAlready { on: C };
        let uncreated = Problem::Uncreated;
        let needless = Tolerated::NeedlessWakeup;
        let (ghost, late) = (Tolerated::RunAfterEnd, Tolerated::WakeupAfterEnd);
        let ended = Problem::AfterEnd(Doing::Stop);
        let run = Running(C);
        let rows = [
            (
                Unseen,
                [
                    fine(Queued),
                    broken(run, uncreated(Doing::Run)),
                    broken(Queued, uncreated(Doing::Stop)),
                    broken(Stopped, uncreated(Doing::Stop)),
                    broken(Final, uncreated(Doing::Stop)),
                    broken(Queued, uncreated(Doing::Wake)),
                    broken(Queued, uncreated(Doing::Move)),
                ],
            ),
            (
                Queued,
                [
                    broken(Queued, again),
                    fine(run),
                    broken(Queued, unrun),
                    broken(Stopped, unrun),
                    broken(Final, unrun),
                    tolerated(Queued, needless),
                    fine(Queued),
                ],
            ),
            (
                Stopped,
                [
                    broken(Queued, again),
                    fine(run),
                    broken(Queued, unrun),
                    broken(Stopped, unrun),
                    broken(Final, unrun),
                    fine(Queued),
                    fine(Stopped),
                ],
            ),
            (
                run,
                [
                    broken(Queued, again),
                    broken(run, already),
                    fine(Queued),
                    fine(Stopped),
                    fine(Final),
                    tolerated(run, needless),
                    broken(run, Problem::MovesRunning),
                ],
            ),
            (
                Final,
                [
                    broken(Queued, again),
                    tolerated(Ghost, ghost),
                    broken(Final, ended),
                    broken(Final, ended),
                    broken(Final, ended),
                    tolerated(Final, late),
                    tolerated(Final, late),
                ],
            ),
            (
                Ghost,
                [
                    broken(Queued, again),
                    tolerated(Ghost, ghost),
                    tolerated(Final, ghost),
                    tolerated(Final, ghost),
                    tolerated(Final, ghost),
                    tolerated(Ghost, late),
                    tolerated(Ghost, late),
                ],
            ),
        ];
        for (state, row) in rows {
            for (input, expected) in INPUTS.into_iter().zip(row) {
                assert_eq!(step(state, input, false), expected, "{state:?} {input:?}");
            }
        }
    }

    #[test]
    fn an_older_thread_may_begin_anyhow() {
        for input in INPUTS.into_iter().skip(1) {
            let judged = step(State::Unseen, input, true);
            let next = step(State::Unseen, input, false).next;
            assert_eq!(judged, Judged::tolerated(next, Tolerated::OlderThread));
        }
    }

    #[test]
    fn on_two_capabilities() {
        let running = State::Running(C);
        assert_eq!(
            step(running, Input::Run(D), false),
            Judged::broken(State::Running(D), Problem::RunsAlready { on: C })
        );
        assert_eq!(
            step(running, Input::Stop(D, StopStatus::BlockedOnMVar), false),
            Judged::broken(State::Stopped, Problem::StopsElsewhere { ran_on: C })
        );
    }
}
