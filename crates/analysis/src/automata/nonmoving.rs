//! One phase of the nonmoving collector: marking, the sync that stops the program, or sweeping.
//!
//! Each phase has a machine of its own, because the last rounds of marking run inside the sync. GHC logs the begin
//! and the end of the sync twice, a few hundred nanoseconds apart; the sync lasts from its first begin to its last
//! end.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Off` | begin at t | `On(t)` | |
//! | `Off` | end | `Off` | oddity: end without begin |
//! | `On(s)` | begin at t | `On(min(s, t))` | |
//! | `On(s)` | end at t | `Over(s, t)` | |
//! | `Over(s, e)` | begin at t | `On(t)` | `[s, e]` |
//! | `Over(s, e)` | end at t | `Over(s, max(e, t))` | |

use eventlog::ids::Nanos;
use model::time::Interval;

/// Progress of the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The phase has not begun.
    #[default]
    Off,
    /// In progress since this time.
    On(Nanos),
    /// Ended, unless a repeated end extends it.
    Over(Interval),
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

const fn to(next: State) -> Step {
    Step {
        next,
        yields: None,
        odd: false,
    }
}

/// Transition function; the module documentation has its table.
#[must_use]
pub fn step(state: State, input: Input, at: Nanos) -> Step {
    match (state, input) {
        (State::Off, Input::Begin) => to(State::On(at)),
        (State::Off, Input::End) => Step {
            odd: true,
            ..to(State::Off)
        },
        (State::On(since), Input::Begin) => to(State::On(since.min(at))),
        (State::On(since), Input::End) => to(State::Over(Interval::new(since, at.max(since)))),
        (State::Over(span), Input::Begin) => Step {
            yields: Some(span),
            ..to(State::On(at))
        },
        (State::Over(span), Input::End) => {
            to(State::Over(Interval::new(span.start(), span.end().max(at))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let [early, middle, late] = [3, 6, 9].map(Nanos);
        let over = |end| State::Over(Interval::new(early, end));
        let cases = [
            (State::Off, Input::Begin, early, to(State::On(early))),
            (
                State::Off,
                Input::End,
                early,
                Step {
                    odd: true,
                    ..to(State::Off)
                },
            ),
            (State::On(early), Input::Begin, late, to(State::On(early))),
            (State::On(late), Input::Begin, early, to(State::On(early))),
            (State::On(early), Input::End, middle, to(over(middle))),
            (
                State::On(middle),
                Input::End,
                early,
                to(State::Over(Interval::at(middle))),
            ),
            (
                over(middle),
                Input::Begin,
                late,
                Step {
                    yields: Some(Interval::new(early, middle)),
                    ..to(State::On(late))
                },
            ),
            (over(middle), Input::End, late, to(over(late))),
            (over(late), Input::End, middle, to(over(late))),
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
