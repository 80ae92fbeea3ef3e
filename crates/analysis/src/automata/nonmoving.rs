//! A phase of the concurrent (nonmoving) collector: marking, the sync in which
//! the program stands still, or sweeping. There is one machine for each, as
//! the last rounds of marking happen inside of the sync. GHC logs begin and
//! end of the sync twice, some hundred nanoseconds apart: it lasts from the
//! first begin to the last end.
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

/// How far the phase is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has not begun.
    #[default]
    Off,
    /// It goes on since then.
    On(Nanos),
    /// It has ended, if its end is not logged once more.
    Over(Interval),
}

/// The events of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `Conc…Begin`.
    Begin,
    /// `Conc…End`.
    End,
}

/// What an event leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state after it.
    pub next: State,
    /// The phase that is over.
    pub yields: Option<Interval>,
    /// Whether it is an end without a begin.
    pub odd: bool,
}

const fn to(next: State) -> Step {
    Step {
        next,
        yields: None,
        odd: false,
    }
}

/// The automaton.
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
