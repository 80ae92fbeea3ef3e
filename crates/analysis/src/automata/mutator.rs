//! Mutator spans of one capability. Tracks what the capability runs, not what each thread does.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Idle` | `RunThread[X]`, X not finished | `Running[X](t)` | |
//! | `Idle` | `RunThread[X]`, X finished | `Idle` | |
//! | `Idle` | `StopThread[X]` | `Idle` | |
//! | `Running[X](s)` | `RunThread[X]` | `Running[X](s)` | |
//! | `Running[X](s)` | `StopThread[X]` at t | `Idle` | span `(X, [s, t])` |
//! | `Running[X](s)` | run or stop of `Y ≠ X` | unchanged | anomaly: other thread |
//!
//! The runtime often logs one spurious run of a thread that has finished. The caller keeps the set of threads that
//! this capability has seen finish: a stop with `ThreadFinished` that yields a span adds its thread.

use super::{Anomaly, Step};
use eventlog::ids::{Nanos, ThreadId};
use model::time::Interval;

/// What the capability is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The capability runs no thread.
    #[default]
    Idle,
    /// This thread, since this time.
    Running(ThreadId, Nanos),
}

/// Events that drive the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `RunThread`.
    Run {
        /// The thread to run.
        thread: ThreadId,
        /// Whether this capability has already seen the thread finish.
        finished: bool,
    },
    /// `StopThread`.
    Stop {
        /// Thread that the capability stops running.
        thread: ThreadId,
    },
}

/// Transition function; the module documentation has its table.
pub fn step(state: State, input: Input, at: Nanos) -> Step<State, (ThreadId, Interval)> {
    match (state, input) {
        (State::Idle, Input::Run { finished: true, .. } | Input::Stop { .. }) => {
            Step::without_yield(state)
        }
        (State::Idle, Input::Run { thread, .. }) => Step::without_yield(State::Running(thread, at)),
        (State::Running(running, _), Input::Run { thread, .. }) if running == thread => {
            Step::without_yield(state)
        }
        (State::Running(running, since), Input::Stop { thread }) if running == thread => {
            Step::yielding(State::Idle, (thread, Interval::new(since, at)))
        }
        (State::Running(running, _), Input::Run { thread, .. } | Input::Stop { thread }) => {
            let run = matches!(input, Input::Run { .. });
            let anomaly = Anomaly::OtherThread {
                running,
                thread,
                run,
            };
            Step::odd(state, anomaly)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let (x, y) = (ThreadId(1), ThreadId(2));
        let running = State::Running(x, Nanos(3));
        let run = |thread, finished| Input::Run { thread, finished };
        let stop = |thread| Input::Stop { thread };
        let other = |run| Anomaly::OtherThread {
            running: x,
            thread: y,
            run,
        };
        let cases = [
            (
                State::Idle,
                run(x, false),
                Step::without_yield(State::Running(x, Nanos(9))),
            ),
            (State::Idle, run(x, true), Step::without_yield(State::Idle)),
            (State::Idle, stop(x), Step::without_yield(State::Idle)),
            (running, run(x, false), Step::without_yield(running)),
            (running, run(x, true), Step::without_yield(running)),
            (
                running,
                stop(x),
                Step::yielding(State::Idle, (x, Interval::new(Nanos(3), Nanos(9)))),
            ),
            (running, run(y, false), Step::odd(running, other(true))),
            (running, stop(y), Step::odd(running, other(false))),
        ];
        for (state, input, expected) in cases {
            assert_eq!(
                step(state, input, Nanos(9)),
                expected,
                "{state:?} {input:?}"
            );
        }
    }
}
