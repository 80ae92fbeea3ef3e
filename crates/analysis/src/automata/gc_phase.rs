//! Phases of the collections of one capability.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Off` | `StartGC` at t | `In(Start, t)` | |
//! | `Off` | any other | `Off` | |
//! | `In(Start, s)` | `StartGC` at t | `In(Start, min(s, t))` | |
//! | `In(p, s)` | `GCWork`, `GCIdle` or `GCDone` at t, for a phase q ≠ p | `In(q, t)` | p `[s, t]` |
//! | `In(p, s)` | `EndGC` at t | `Off` | p `[s, t]` |
//! | `In(p, s)` | any other | unchanged | |
//!
//! A collection without logged phases, as in the non-threaded runtime, is all `Start`. The request for a
//! collection and the wait for the other capabilities precede it; [`account::pauses`](crate::account::pauses)
//! covers them.
//!
//! The runtime back-dates the end of a collection by microseconds, so its last phases may extend past that end;
//! code that stores them clips them.

use super::Step;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Activity of a capability during a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The collection has begun, without work so far.
    Start,
    /// Performing collection work.
    Work,
    /// Without work, looking for some.
    Idle,
    /// Finished with its share.
    Done,
}

/// Current phase of the capability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Outside of a collection.
    #[default]
    Off,
    /// In this phase of a collection since this time.
    In(Phase, Nanos),
}

/// Events that drive the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `StartGC`.
    Start,
    /// `GCWork`.
    Work,
    /// `GCIdle`.
    Idle,
    /// `GCDone`.
    Done,
    /// `EndGC`.
    End,
}

impl Input {
    /// Returns the phase that the event begins, except for `StartGC` and `EndGC`.
    const fn phase(self) -> Option<Phase> {
        match self {
            Self::Work => Some(Phase::Work),
            Self::Idle => Some(Phase::Idle),
            Self::Done => Some(Phase::Done),
            _ => None,
        }
    }
}

impl State {
    /// Returns the phase in progress, closed at `end`.
    pub const fn open(self, end: Nanos) -> Option<(Phase, Interval)> {
        match self {
            Self::In(phase, since) => Some((phase, Interval::new(since, end))),
            Self::Off => None,
        }
    }
}

/// Transition function; the module documentation has its table.
pub fn step(state: State, input: Input, at: Nanos) -> Step<State, (Phase, Interval)> {
    match state {
        State::Off => Step::without_yield(match input {
            Input::Start => State::In(Phase::Start, at),
            _ => State::Off,
        }),
        State::In(phase, since) => step_in_phase(phase, since, input, at),
    }
}

fn step_in_phase(
    phase: Phase,
    since: Nanos,
    input: Input,
    at: Nanos,
) -> Step<State, (Phase, Interval)> {
    let span = Interval::new(since, at);
    match (phase, input) {
        (Phase::Start, Input::Start) => Step::without_yield(State::In(phase, since.min(at))),
        (_, Input::End) => Step::yielding(State::Off, (phase, span)),
        _ => match input.phase().filter(|next| *next != phase) {
            Some(next) => Step::yielding(State::In(next, at), (phase, span)),
            None => Step::without_yield(State::In(phase, since)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = Nanos(3);
    const T: Nanos = Nanos(9);
    const SPAN: Interval = Interval::new(S, T);
    const INPUTS: [Input; 5] = [
        Input::Start,
        Input::Work,
        Input::Idle,
        Input::Done,
        Input::End,
    ];

    /// The module's table, for a state entered at 3 and an input at 9.
    fn table(state: State, input: Input) -> Step<State, (Phase, Interval)> {
        use Input as I;
        use Phase as P;
        match (state, input) {
            (State::Off, I::Start) => Step::without_yield(State::In(P::Start, T)),
            (State::Off, _) => Step::without_yield(State::Off),
            (State::In(phase, _), I::End) => Step::yielding(State::Off, (phase, SPAN)),
            (State::In(P::Work, _), I::Work)
            | (State::In(P::Idle, _), I::Idle)
            | (State::In(P::Done, _), I::Done) => Step::without_yield(state),
            (State::In(phase, _), I::Work) => Step::yielding(State::In(P::Work, T), (phase, SPAN)),
            (State::In(phase, _), I::Idle) => Step::yielding(State::In(P::Idle, T), (phase, SPAN)),
            (State::In(phase, _), I::Done) => Step::yielding(State::In(P::Done, T), (phase, SPAN)),
            (State::In(..), I::Start) => Step::without_yield(state),
        }
    }

    #[test]
    fn every_row_of_the_table() {
        let states = [
            State::Off,
            State::In(Phase::Start, S),
            State::In(Phase::Work, S),
            State::In(Phase::Idle, S),
            State::In(Phase::Done, S),
        ];
        for state in states {
            for input in INPUTS {
                let expected = table(state, input);
                assert_eq!(step(state, input, T), expected, "{state:?} {input:?}");
            }
        }
        let earlier = step(State::In(Phase::Start, T), Input::Start, S);
        assert_eq!(earlier, Step::without_yield(State::In(Phase::Start, S)));
    }

    fn run(events: &[(Input, u64)]) -> Vec<(Phase, u64, u64)> {
        let mut state = State::Off;
        let mut spans = Vec::new();
        for &(input, at) in events {
            let step = step(state, input, Nanos(at));
            state = step.next;
            spans.extend(step.yields.map(|(p, s)| (p, s.start().0, s.end().0)));
        }
        spans
    }

    #[test]
    fn a_parallel_collection() {
        use Input::{Done, End, Idle, Start, Work};
        let events = [
            (Start, 5),
            (Work, 7),
            (Work, 8),
            (Idle, 9),
            (Work, 11),
            (Idle, 12),
            (Done, 15),
            (End, 20),
        ];
        let expected = [
            (Phase::Start, 5, 7),
            (Phase::Work, 7, 9),
            (Phase::Idle, 9, 11),
            (Phase::Work, 11, 12),
            (Phase::Idle, 12, 15),
            (Phase::Done, 15, 20),
        ];
        assert_eq!(run(&events), expected);
    }

    #[test]
    fn without_phases_all_is_the_start() {
        let events = [(Input::Start, 2), (Input::End, 9)];
        assert_eq!(run(&events), [(Phase::Start, 2, 9)]);
    }
}
