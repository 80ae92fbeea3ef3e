//! What one capability runs: one thread at a time. The same thread run twice,
//! and one stopped that did not run, are the matter of its own machine.
//!
//! | state | event | next | verdict |
//! |---|---|---|---|
//! | `Idle` | run x | `Runs(x)` | |
//! | `Idle` | stop x | `Idle` | |
//! | `Runs(x)` | run x | `Runs(x)` | |
//! | `Runs(x)` | stop x | `Idle` | |
//! | `Runs(x)` | run y | `Runs(y)` | broken: runs another |
//! | `Runs(x)` | stop y | `Idle` | broken: runs another |

use super::{Judged, Problem};
use eventlog::ids::ThreadId;

/// The machine's states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It runs no thread.
    #[default]
    Idle,
    /// It runs that thread.
    Runs(ThreadId),
}

/// The machine. `runs` says whether the event is a run of the thread; else it
/// is a stop.
#[must_use]
pub fn step(state: State, thread: ThreadId, runs: bool) -> Judged<State> {
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
            Judged::broken(next, problem)
        }
        State::Idle | State::Runs(_) => Judged::fine(next),
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
            (State::Idle, x, true, Judged::fine(State::Runs(x))),
            (State::Idle, x, false, Judged::fine(State::Idle)),
            (State::Runs(x), x, true, Judged::fine(State::Runs(x))),
            (State::Runs(x), x, false, Judged::fine(State::Idle)),
            (
                State::Runs(x),
                y,
                true,
                Judged::broken(State::Runs(y), other(true)),
            ),
            (
                State::Runs(x),
                y,
                false,
                Judged::broken(State::Idle, other(false)),
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
