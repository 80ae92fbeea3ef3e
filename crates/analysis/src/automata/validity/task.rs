//! One task: an OS thread known to the runtime, identified by its address.
//!
//! | state | event | next | verdict |
//! |---|---|---|---|
//! | `Unseen` | create on c | `Alive(c)` | |
//! | `Unseen` | move to d | `Alive(d)` | tolerated: older than the log |
//! | `Unseen` | delete | `Gone` | tolerated: older than the log |
//! | `Alive` | create on d | `Alive(d)` | tolerated: end of the previous task missing |
//! | `Alive(c)` | move from c to d | `Alive(d)` | |
//! | `Alive(c)` | move from e to d | `Alive(d)` | broken: was elsewhere |
//! | `Alive` | delete | `Gone` | |
//! | `Gone` | create on d | `Alive(d)` | |
//! | `Gone` | move to d | `Alive(d)` | broken: has ended |
//! | `Gone` | delete | `Gone` | broken: has ended |

use super::{LifeEvent, Problem, Tolerated, Transition};
use eventlog::ids::CapId;

/// States of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// No event of the task so far.
    #[default]
    Unseen,
    /// Alive, on this capability.
    Alive(CapId),
    /// Deleted; its address may be reused.
    Gone,
}

/// Events of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `TaskCreate` on this capability.
    Create(CapId),
    /// `TaskMigrate`.
    Move {
        /// Capability that the task leaves.
        from: CapId,
        /// Capability that the task moves to.
        to: CapId,
    },
    /// `TaskDelete`.
    Delete,
}

/// Transition function; the module documentation has its table.
pub fn step(state: State, input: Input) -> Transition<State> {
    let next = match input {
        Input::Create(cap) | Input::Move { to: cap, .. } => State::Alive(cap),
        Input::Delete => State::Gone,
    };
    match (state, input) {
        (State::Unseen, Input::Move { .. } | Input::Delete) => {
            Transition::tolerated(next, Tolerated::OlderTask)
        }
        (State::Alive(_), Input::Create(_)) => Transition::tolerated(next, Tolerated::TaskReplaced),
        (State::Alive(was_on), Input::Move { from, .. }) if from != was_on => {
            Transition::broken(next, Problem::MovesFromElsewhere { was_on, from })
        }
        (State::Gone, Input::Move { .. }) => {
            Transition::broken(next, Problem::AfterEnd(LifeEvent::Move))
        }
        (State::Gone, Input::Delete) => Transition::broken(next, Problem::AfterEnd(LifeEvent::End)),
        _ => Transition::fine(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let (c, d, e) = (CapId(1), CapId(2), CapId(3));
        let alive = State::Alive(c);
        let on_d = State::Alive(d);
        let to_d = |from| Input::Move { from, to: d };
        let create = Input::Create(d);
        let older = Tolerated::OlderTask;
        let cases = [
            (State::Unseen, create, Transition::fine(on_d)),
            (State::Unseen, to_d(c), Transition::tolerated(on_d, older)),
            (
                State::Unseen,
                Input::Delete,
                Transition::tolerated(State::Gone, older),
            ),
            (
                alive,
                create,
                Transition::tolerated(on_d, Tolerated::TaskReplaced),
            ),
            (alive, to_d(c), Transition::fine(on_d)),
            (
                alive,
                to_d(e),
                Transition::broken(on_d, Problem::MovesFromElsewhere { was_on: c, from: e }),
            ),
            (alive, Input::Delete, Transition::fine(State::Gone)),
            (State::Gone, create, Transition::fine(on_d)),
            (
                State::Gone,
                to_d(c),
                Transition::broken(on_d, Problem::AfterEnd(LifeEvent::Move)),
            ),
            (
                State::Gone,
                Input::Delete,
                Transition::broken(State::Gone, Problem::AfterEnd(LifeEvent::End)),
            ),
        ];
        for (state, input, expected) in cases {
            assert_eq!(step(state, input), expected, "{state:?} {input:?}");
        }
    }
}
