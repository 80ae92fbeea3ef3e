//! Garbage collections of one capability.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Idle` | `StartGC` at t | `Collecting(t)` | |
//! | `Idle` | `EndGC` | `Idle` | anomaly: end without start |
//! | `Collecting(s)` | `StartGC` at t | `Collecting(min(s, t))` | anomaly: repeated start |
//! | `Collecting(s)` | `EndGC` at t | `Idle` | span `[s, t]` |

use super::{Anomaly, Step};
use eventlog::ids::Nanos;
use model::time::Interval;

/// Whether the capability is collecting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Outside of a collection.
    #[default]
    Idle,
    /// Collecting since this time.
    Collecting(Nanos),
}

/// Events that drive the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `StartGC`.
    Start,
    /// `EndGC`.
    End,
}

/// Transition function; the module documentation has its table.
pub const fn step(state: State, input: Input, at: Nanos) -> Step<State, Interval> {
    match (state, input) {
        (State::Idle, Input::Start) => Step::without_yield(State::Collecting(at)),
        (State::Idle, Input::End) => Step::odd(State::Idle, Anomaly::GcEndWithoutStart),
        (State::Collecting(since), Input::Start) => {
            let earlier = if since.0 < at.0 { since } else { at };
            Step::odd(State::Collecting(earlier), Anomaly::GcStartRepeated)
        }
        (State::Collecting(since), Input::End) => {
            Step::yielding(State::Idle, Interval::new(since, at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let (early, late) = (Nanos(3), Nanos(9));
        let collecting = State::Collecting;
        let cases = [
            (
                State::Idle,
                Input::Start,
                late,
                Step::without_yield(collecting(late)),
            ),
            (
                State::Idle,
                Input::End,
                late,
                Step::odd(State::Idle, Anomaly::GcEndWithoutStart),
            ),
            (
                collecting(early),
                Input::Start,
                late,
                Step::odd(collecting(early), Anomaly::GcStartRepeated),
            ),
            (
                collecting(late),
                Input::Start,
                early,
                Step::odd(collecting(early), Anomaly::GcStartRepeated),
            ),
            (
                collecting(early),
                Input::End,
                late,
                Step::yielding(State::Idle, Interval::new(early, late)),
            ),
        ];
        for (state, input, at, expected) in cases {
            assert_eq!(
                step(state, input, at),
                expected,
                "{state:?} {input:?} at {at:?}"
            );
        }
    }
}
