//! The phases of the collections of one capability, and the wait for the
//! other capabilities before them.
//!
//! | state | event | next | yields |
//! |---|---|---|---|
//! | `Off` | `RequestSeqGC` or `RequestParGC` at t | `Requested(t)` | |
//! | `Off` | `StartGC` at t | `In(Start, t)` | |
//! | `Off` | any other | `Off` | |
//! | `Requested(s)` | `RequestSeqGC` or `RequestParGC` at t | `Requested(t)` | |
//! | `Requested(s)` | `StopThread` at t | `Requested(t)` | |
//! | `Requested(s)` | `RunThread` at t | `Off` | `Sync` `[s, t]` |
//! | `Requested(s)` | `StartGC` at t | `In(Start, t)` | `Sync` `[s, t]` |
//! | `Requested(s)` | `EndGC` | `Off` | |
//! | `Requested(s)` | any other | unchanged | |
//! | `In(Start, s)` | `StartGC` at t | `In(Start, min(s, t))` | |
//! | `In(p, s)` | `GCWork`, `GCIdle` or `GCDone` at t, another than p | `In(that, t)` | p `[s, t]` |
//! | `In(p, s)` | `EndGC` at t | `Off` | p `[s, t]` |
//! | `In(p, s)` | any other | unchanged | |
//!
//! Of a collection in which no phase is logged, as those of a runtime without
//! threads, all is `Start`. `GlobalSyncGC` says nothing of this capability and is
//! no input. A capability asks for a collection after its thread has stopped;
//! where a log says otherwise, the wait does not cover the thread.
//!
//! The end of a collection is back-dated by microseconds, so that the last
//! spans of one may reach beyond it: who keeps them cuts them there.

use super::Step;
use eventlog::ids::Nanos;
use model::time::Interval;

/// What a capability does for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has asked for the collection and waits until all have stopped.
    Sync,
    /// It has begun, but there is no work in it yet.
    Start,
    /// It collects.
    Work,
    /// It has no work and looks for some.
    Idle,
    /// It has done its part.
    Done,
}

/// Where the capability is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// No collection.
    #[default]
    Off,
    /// It has asked for one, and waits since then.
    Requested(Nanos),
    /// In a collection, and in this phase of it since then.
    In(Phase, Nanos),
}

/// The events that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `RequestSeqGC`, `RequestParGC`.
    Request,
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
    /// `RunThread`.
    Run,
    /// `StopThread`.
    Stop,
}

impl Input {
    /// The phase that it says.
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
    /// The phase that still goes on, as if it ended at `end`.
    #[must_use]
    pub const fn open(self, end: Nanos) -> Option<(Phase, Interval)> {
        match self {
            Self::In(phase, since) => Some((phase, Interval::new(since, end))),
            Self::Off | Self::Requested(_) => None,
        }
    }
}

/// The automaton.
#[must_use]
pub fn step(state: State, input: Input, at: Nanos) -> Step<State, (Phase, Interval)> {
    match state {
        State::Off => Step::to(match input {
            Input::Request => State::Requested(at),
            Input::Start => State::In(Phase::Start, at),
            _ => State::Off,
        }),
        State::Requested(since) => requested(since, input, at),
        State::In(phase, since) => collecting(phase, since, input, at),
    }
}

fn requested(since: Nanos, input: Input, at: Nanos) -> Step<State, (Phase, Interval)> {
    let sync = (Phase::Sync, Interval::new(since, at));
    match input {
        Input::Request | Input::Stop => Step::to(State::Requested(at)),
        Input::Start => Step::yielding(State::In(Phase::Start, at), sync),
        Input::Run => Step::yielding(State::Off, sync),
        Input::End => Step::to(State::Off),
        Input::Work | Input::Idle | Input::Done => Step::to(State::Requested(since)),
    }
}

fn collecting(
    phase: Phase,
    since: Nanos,
    input: Input,
    at: Nanos,
) -> Step<State, (Phase, Interval)> {
    let span = Interval::new(since, at);
    match (phase, input) {
        (Phase::Start, Input::Start) => Step::to(State::In(phase, since.min(at))),
        (_, Input::End) => Step::yielding(State::Off, (phase, span)),
        _ => match input.phase().filter(|next| *next != phase) {
            Some(next) => Step::yielding(State::In(next, at), (phase, span)),
            None => Step::to(State::In(phase, since)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = Nanos(3);
    const T: Nanos = Nanos(9);
    const SPAN: Interval = Interval::new(S, T);
    const INPUTS: [Input; 8] = [
        Input::Request,
        Input::Start,
        Input::Work,
        Input::Idle,
        Input::Done,
        Input::End,
        Input::Run,
        Input::Stop,
    ];

    /// What the table says of a state in which something has begun at 3, and
    /// an input at 9.
    fn table(state: State, input: Input) -> Step<State, (Phase, Interval)> {
        use Input as I;
        use Phase as P;
        let sync = (P::Sync, SPAN);
        match (state, input) {
            (State::Off, I::Request) => Step::to(State::Requested(T)),
            (State::Off, I::Start) => Step::to(State::In(P::Start, T)),
            (State::Off, _) => Step::to(State::Off),
            (State::Requested(_), I::Request | I::Stop) => Step::to(State::Requested(T)),
            (State::Requested(_), I::Run) => Step::yielding(State::Off, sync),
            (State::Requested(_), I::Start) => Step::yielding(State::In(P::Start, T), sync),
            (State::Requested(_), I::End) => Step::to(State::Off),
            (State::Requested(_), _) => Step::to(state),
            (State::In(phase, _), I::End) => Step::yielding(State::Off, (phase, SPAN)),
            (State::In(P::Work, _), I::Work)
            | (State::In(P::Idle, _), I::Idle)
            | (State::In(P::Done, _), I::Done) => Step::to(state),
            (State::In(phase, _), I::Work) => Step::yielding(State::In(P::Work, T), (phase, SPAN)),
            (State::In(phase, _), I::Idle) => Step::yielding(State::In(P::Idle, T), (phase, SPAN)),
            (State::In(phase, _), I::Done) => Step::yielding(State::In(P::Done, T), (phase, SPAN)),
            (State::In(..), I::Request | I::Start | I::Run | I::Stop) => Step::to(state),
        }
    }

    #[test]
    fn every_row_of_the_table() {
        let states = [
            State::Off,
            State::Requested(S),
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
        assert_eq!(earlier, Step::to(State::In(Phase::Start, S)));
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
        use Input::{Done, End, Idle, Request, Start, Work};
        let events = [
            (Request, 1),
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
            (Phase::Sync, 1, 5),
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

    #[test]
    fn a_request_alone_is_nothing() {
        let events = [(Input::Request, 2), (Input::Request, 4), (Input::End, 5)];
        assert_eq!(run(&events), []);
    }
}
