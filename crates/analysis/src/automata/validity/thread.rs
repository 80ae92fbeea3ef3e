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
//! | `Final` | run | `SpuriousRun` | tolerated |
//! | `SpuriousRun` | stop | `Final` | tolerated |
//! | `SpuriousRun` | run | unchanged | tolerated |
//! | `Final` | stop | unchanged | broken: has ended |
//! | `Final`, `SpuriousRun` | wakeup, move | unchanged | tolerated |

use super::{LifeEvent, Problem, Tolerated, Transition};
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
    SpuriousRun,
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
    const fn life_event(self) -> LifeEvent {
        match self {
            Self::Create => LifeEvent::Create,
            Self::Run(_) => LifeEvent::Run,
            Self::Stop(..) => LifeEvent::Stop,
            Self::Wakeup => LifeEvent::Wake,
            Self::Migrate => LifeEvent::Move,
        }
    }
}

/// Returns the state after a stop.
const fn state_after_stop(status: StopStatus) -> State {
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
pub fn step(state: State, input: Input, older: bool) -> Transition<State> {
    match state {
        State::Unseen => step_unseen(input, older),
        State::Queued | State::Stopped => step_stopped(state, input),
        State::Running(cap) => step_running(cap, input),
        State::Final | State::SpuriousRun => step_finished(state, input),
    }
}

fn step_unseen(input: Input, older: bool) -> Transition<State> {
    let next = match input {
        Input::Create => return Transition::fine(State::Queued),
        Input::Run(cap) => State::Running(cap),
        Input::Stop(_, status) => state_after_stop(status),
        Input::Wakeup | Input::Migrate => State::Queued,
    };
    if older {
        Transition::tolerated(next, Tolerated::OlderThread)
    } else {
        Transition::broken(next, Problem::Uncreated(input.life_event()))
    }
}

fn step_stopped(state: State, input: Input) -> Transition<State> {
    match input {
        Input::Create => Transition::broken(State::Queued, Problem::CreatedAgain),
        Input::Run(cap) => Transition::fine(State::Running(cap)),
        Input::Stop(_, status) => Transition::broken(state_after_stop(status), Problem::StopsUnrun),
        Input::Wakeup if state == State::Queued => {
            Transition::tolerated(state, Tolerated::NeedlessWakeup)
        }
        Input::Wakeup => Transition::fine(State::Queued),
        Input::Migrate => Transition::fine(state),
    }
}

fn step_running(cap: Option<CapId>, input: Input) -> Transition<State> {
    let state = State::Running(cap);
    match input {
        Input::Create => Transition::broken(State::Queued, Problem::CreatedAgain),
        Input::Run(other) => {
            Transition::broken(State::Running(other), Problem::RunsAlready { on: cap })
        }
        Input::Stop(other, status) if other == cap => Transition::fine(state_after_stop(status)),
        Input::Stop(_, status) => Transition::broken(
            state_after_stop(status),
            Problem::StopsElsewhere { ran_on: cap },
        ),
        Input::Wakeup => Transition::tolerated(state, Tolerated::NeedlessWakeup),
        Input::Migrate => Transition::broken(state, Problem::MovesRunning),
    }
}

fn step_finished(state: State, input: Input) -> Transition<State> {
    match input {
        Input::Create => Transition::broken(State::Queued, Problem::CreatedAgain),
        Input::Run(_) => Transition::tolerated(State::SpuriousRun, Tolerated::RunAfterEnd),
        Input::Stop(..) if state == State::SpuriousRun => {
            Transition::tolerated(State::Final, Tolerated::RunAfterEnd)
        }
        Input::Stop(..) => Transition::broken(state, Problem::AfterEnd(LifeEvent::Stop)),
        Input::Wakeup | Input::Migrate => Transition::tolerated(state, Tolerated::WakeupAfterEnd),
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
        use State::{Final, Queued, Running, SpuriousRun, Stopped, Unseen};
        let fine = Transition::fine;
        let tolerated = Transition::tolerated;
        let broken = Transition::broken;
        let (again, unrun) = (Problem::CreatedAgain, Problem::StopsUnrun);
        let already = Problem::RunsAlready { on: C };
        let uncreated = Problem::Uncreated;
        let needless = Tolerated::NeedlessWakeup;
        let (spurious_run, late) = (Tolerated::RunAfterEnd, Tolerated::WakeupAfterEnd);
        let ended = Problem::AfterEnd(LifeEvent::Stop);
        let run = Running(C);
        let rows = [
            (
                Unseen,
                [
                    fine(Queued),
                    broken(run, uncreated(LifeEvent::Run)),
                    broken(Queued, uncreated(LifeEvent::Stop)),
                    broken(Stopped, uncreated(LifeEvent::Stop)),
                    broken(Final, uncreated(LifeEvent::Stop)),
                    broken(Queued, uncreated(LifeEvent::Wake)),
                    broken(Queued, uncreated(LifeEvent::Move)),
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
                    tolerated(SpuriousRun, spurious_run),
                    broken(Final, ended),
                    broken(Final, ended),
                    broken(Final, ended),
                    tolerated(Final, late),
                    tolerated(Final, late),
                ],
            ),
            (
                SpuriousRun,
                [
                    broken(Queued, again),
                    tolerated(SpuriousRun, spurious_run),
                    tolerated(Final, spurious_run),
                    tolerated(Final, spurious_run),
                    tolerated(Final, spurious_run),
                    tolerated(SpuriousRun, late),
                    tolerated(SpuriousRun, late),
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
            assert_eq!(judged, Transition::tolerated(next, Tolerated::OlderThread));
        }
    }

    #[test]
    fn on_two_capabilities() {
        let running = State::Running(C);
        assert_eq!(
            step(running, Input::Run(D), false),
            Transition::broken(State::Running(D), Problem::RunsAlready { on: C })
        );
        assert_eq!(
            step(running, Input::Stop(D, StopStatus::BlockedOnMVar), false),
            Transition::broken(State::Stopped, Problem::StopsElsewhere { ran_on: C })
        );
    }
}
