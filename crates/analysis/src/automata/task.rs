//! The capability that a task (an OS thread known to the runtime) belongs to, over time.
//!
//! This machine only tracks location; [`validity::task`](super::validity::task) checks which transitions are
//! legal.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Unknown` | create on c at t | `On(c, t)` | |
//! | `Unknown` | move to d at t | `On(d, t)` | |
//! | `Unknown` | delete | `Unknown` | |
//! | `On(c, s)` | create or move to d ≠ c at t | `On(d, t)` | c in `[s, t]` |
//! | `On(c, s)` | create or move to c at t | `On(c, s)` | |
//! | `On(c, s)` | delete at t | `Unknown` | c in `[s, t]` |
//!
//! A task that was created before logging began appears at its first move.

use eventlog::ids::{CapId, Nanos};
use model::time::Interval;

/// Location of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Unknown, not yet created, or deleted.
    #[default]
    Unknown,
    /// On this capability since this time.
    On(CapId, Nanos),
}

/// Events of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `TaskCreate` on that capability, or `TaskMigrate` to it.
    Arrive(CapId),
    /// `TaskDelete`.
    Delete,
}

/// Returns the next state, and the capability that the task left with the time spent there.
pub fn step(state: State, input: Input, at: Nanos) -> (State, Option<(CapId, Interval)>) {
    let was = |cap, since: Nanos| Some((cap, Interval::new(since, at.max(since))));
    match (state, input) {
        (State::On(cap, _), Input::Arrive(to)) if to == cap => (state, None),
        (State::Unknown, Input::Arrive(to)) => (State::On(to, at), None),
        (State::On(cap, since), Input::Arrive(to)) => (State::On(to, at), was(cap, since)),
        (State::Unknown, Input::Delete) => (State::Unknown, None),
        (State::On(cap, since), Input::Delete) => (State::Unknown, was(cap, since)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let (c, d) = (CapId(1), CapId(2));
        let (early, late) = (Nanos(3), Nanos(9));
        let on = State::On(c, early);
        let was = Some((c, Interval::new(early, late)));
        let cases = [
            (State::Unknown, Input::Arrive(c), early, (on, None)),
            (State::Unknown, Input::Delete, late, (State::Unknown, None)),
            (on, Input::Arrive(d), late, (State::On(d, late), was)),
            (on, Input::Arrive(c), late, (on, None)),
            (on, Input::Delete, late, (State::Unknown, was)),
            (
                State::On(c, late),
                Input::Delete,
                early,
                (State::Unknown, Some((c, Interval::empty_at(late)))),
            ),
        ];
        for (state, input, at, expected) in cases {
            assert_eq!(step(state, input, at), expected, "{state:?} {input:?}");
        }
    }
}
