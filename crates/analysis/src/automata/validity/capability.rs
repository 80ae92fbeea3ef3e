//! The thread that one capability runs, at most one at a time.
//!
//! The thread's own machine reports repeated runs of the same thread and stops of a thread that was not running.
//!
//! | state | event | next | verdict |
//! |---|---|---|---|
//! | `Idle` | run x | `Runs(x)` | |
//! | `Idle` | stop x | `Idle` | |
//! | `Runs(x)` | run x | `Runs(x)` | |
//! | `Runs(x)` | stop x | `Idle` | |
//! | `Runs(x)` | run y | `Runs(y)` | broken: runs another |
//! | `Runs(x)` | stop y | `Idle` | broken: runs another |

use super::{Problem, Transition};
use eventlog::ids::ThreadId;

/// States of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The capability runs no thread.
    #[default]
    Idle,
    /// The capability runs this thread.
    Runs(ThreadId),
}

/// Transition function. `runs` is true for a run of the thread, false for a stop.
pub fn step(state: State, thread: ThreadId, runs: bool) -> Transition<State> {
    let next = if runs {
        State::Runs(thread)
    } else {
        State::Idle
    };
    match state {
        State::Runs(running) if running != thread => {
            let problem = Problem::OtherThread {
                running,
                thread,
                runs,
            };
            Transition::broken(next, problem)
        }
        State::Idle | State::Runs(_) => Transition::fine(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let (x, y) = (ThreadId(1), ThreadId(2));
        let other = |runs| Problem::OtherThread {
            running: x,
            thread: y,
            runs,
        };
        let cases = [
            (State::Idle, x, true, Transition::fine(State::Runs(x))),
            (State::Idle, x, false, Transition::fine(State::Idle)),
            (State::Runs(x), x, true, Transition::fine(State::Runs(x))),
            (State::Runs(x), x, false, Transition::fine(State::Idle)),
            (
                State::Runs(x),
                y,
                true,
                Transition::broken(State::Runs(y), other(true)),
            ),
            (
                State::Runs(x),
                y,
                false,
                Transition::broken(State::Idle, other(false)),
            ),
        ];
        for (state, thread, runs, expected) in cases {
            assert_eq!(
                step(state, thread, runs),
                expected,
                "{state:?} {thread} {runs}"
            );
        }
    }
}
