//! One phase of the nonmoving collector: marking, the sync that stops the program, or sweeping.
//!
//! Each phase has a machine of its own, because the last rounds of marking run inside the sync. GHC logs the begin
//! and the end of the sync twice, a few hundred nanoseconds apart; the sync lasts from its first begin to its last
//! end.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Off` | begin at t | `Running(t)` | |
//! | `Off` | end | `Off` | anomaly: end without begin |
//! | `Running(s)` | begin at t | `Running(min(s, t))` | |
//! | `Running(s)` | end at t | `Ended(s, t)` | |
//! | `Ended(s, e)` | begin at t | `Running(t)` | `[s, e]` |
//! | `Ended(s, e)` | end at t | `Ended(s, max(e, t))` | |

use eventlog::ids::Nanos;
use model::time::Interval;

/// Progress of the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The phase has not begun.
    #[default]
    Off,
    /// In progress since this time.
    Running(Nanos),
    /// Ended, unless a repeated end extends it.
    Ended(Interval),
}

/// Events of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `Conc…Begin`.
    Begin,
    /// `Conc…End`.
    End,
}

/// Result of one transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// State after the event.
    pub next: State,
    /// The phase that the event completes, if any.
    pub yields: Option<Interval>,
    /// Whether the event is an end without a begin.
    pub odd: bool,
}

const fn without_yield(next: State) -> Step {
    Step {
        next,
        yields: None,
        odd: false,
    }
}

/// Transition function; the module documentation has its table.
pub fn step(state: State, input: Input, at: Nanos) -> Step {
    match (state, input) {
        (State::Off, Input::Begin) => without_yield(State::Running(at)),
        (State::Off, Input::End) => Step {
            odd: true,
            ..without_yield(State::Off)
        },
        (State::Running(since), Input::Begin) => without_yield(State::Running(since.min(at))),
        (State::Running(since), Input::End) => {
            without_yield(State::Ended(Interval::new(since, at.max(since))))
        }
        (State::Ended(span), Input::Begin) => Step {
            yields: Some(span),
            ..without_yield(State::Running(at))
        },
        (State::Ended(span), Input::End) => without_yield(State::Ended(Interval::new(
            span.start(),
            span.end().max(at),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let [early, middle, late] = [3, 6, 9].map(Nanos);
        let over = |end| State::Ended(Interval::new(early, end));
        let cases = [
            (
                State::Off,
                Input::Begin,
                early,
                without_yield(State::Running(early)),
            ),
            (
                State::Off,
                Input::End,
                early,
                Step {
                    odd: true,
                    ..without_yield(State::Off)
                },
            ),
            (
                State::Running(early),
                Input::Begin,
                late,
                without_yield(State::Running(early)),
            ),
            (
                State::Running(late),
                Input::Begin,
                early,
                without_yield(State::Running(early)),
            ),
            (
                State::Running(early),
                Input::End,
                middle,
                without_yield(over(middle)),
            ),
            (
                State::Running(middle),
                Input::End,
                early,
                without_yield(State::Ended(Interval::empty_at(middle))),
            ),
            (
                over(middle),
                Input::Begin,
                late,
                Step {
                    yields: Some(Interval::new(early, middle)),
                    ..without_yield(State::Running(late))
                },
            ),
            (over(middle), Input::End, late, without_yield(over(late))),
            (over(late), Input::End, middle, without_yield(over(late))),
        ];
        for (state, input, at, expected) in cases {
            assert_eq!(
                step(state, input, at),
                expected,
                "{state:?} {input:?} {at:?}"
            );
        }
    }
}
