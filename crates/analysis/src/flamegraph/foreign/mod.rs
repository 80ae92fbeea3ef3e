//! Foreign calls announced with user messages in the convention of `hs-safescope`.
//!
//! During a `safe` call the runtime has released the capability, so its samples do not show the call.
//!
//! | message | meaning |
//! |---|---|
//! | `START n name` | call `n` of `name` begins |
//! | `ANN_SCC n name ["M.f (loc)",…]`, also `ANN_CCS` | its cost centres, outermost first: `show` of `ccsToStrings` |
//! | `ANN_TH n name tid` | its OS thread: the result of `gettid`, or a handle (`0x…`) |
//! | `STOP n name`, also `END n name` | it ends |
//! | `ANN_CALL_TO fn site tid` | a C function begins on an OS thread: its code address, and that of the call site |
//! | `ANN_CALL_RET fn site tid` | it returns |
//!
//! Announced stacks omit `MAIN`. A `START` without a number belongs to `ghc-events-analyze` and is no foreign call.
//! C functions are announced by the hooks of `gcc -finstrument-functions`, which know nothing of calls; their OS
//! thread determines what they run in ([`thread_stack`]).
//!
//! Automaton of one call:
//!
//! | state | message | next | yields |
//! |---|---|---|---|
//! | `Idle` | start at t | `Calling(t)` | |
//! | `Idle` | stop | `Idle` | anomaly: stop without start |
//! | `Idle` | stack, thread | `Idle` | anomaly: annotation before start |
//! | `Calling(c)` | start | `Calling(c)` | anomaly: start repeated |
//! | `Calling(c)` | stop at t | `Idle` | the call from c to t |
//! | `Calling(c)` | stack, where c has none | `Calling(c with it)` | |
//! | `Calling(c)` | thread, where c has none | `Calling(c with it)` | |
//! | `Calling(c)` | stack or thread, where c has one | `Calling(c)` | anomaly: annotation repeated |

mod anomalies;
mod calls;
mod functions;
mod haskell_strings;
mod parse;
pub mod thread_stack;

pub use anomalies::CallProblem;
pub use calls::{Call, Calls};
pub use functions::{FunctionId, FunctionStep, Functions, ThreadSteps};
pub(crate) use parse::may_be_about_calls;
pub use parse::{FunctionMessage, Message, MessageKind, parse};

use serde::{Deserialize, Serialize};

use eventlog::ids::{Nanos, OsThreadId};
use model::profile::stacks::StackId;
use model::time::Interval;

/// Identity of a call: the program's counter and the function's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallKey {
    /// Counter value; may be negative, as programs use a C `int`.
    pub number: i64,
    /// Name of the foreign function.
    pub name: String,
}

/// Message about a call, with its stack interned in [`Calls::stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// `START`.
    Start,
    /// `STOP` or `END`.
    Stop,
    /// `ANN_SCC` or `ANN_CCS`.
    Stack(StackId),
    /// `ANN_TH`.
    Thread(OsThreadId),
}

/// A call in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calling {
    /// Time of the `START`.
    pub since: Nanos,
    /// Haskell stack of the caller, if announced.
    pub stack: Option<StackId>,
    /// OS thread of the call, if announced.
    pub thread: Option<OsThreadId>,
}

/// State of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not begun, or ended.
    #[default]
    Idle,
    /// In progress since its `START`.
    Calling(Calling),
}

/// Constructor of the problem of a step; the caller supplies the key.
type AnomalyConstructor = fn(CallKey) -> CallProblem;

/// Result of one transition.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// State after the message.
    pub next: State,
    /// The call that ended, and its time.
    pub yields: Option<(Calling, Interval)>,
    /// Problem with the message, if any.
    pub anomaly: Option<AnomalyConstructor>,
}

impl Step {
    const fn without_yield(next: State) -> Self {
        Self {
            next,
            yields: None,
            anomaly: None,
        }
    }

    const fn odd(next: State, anomaly: AnomalyConstructor) -> Self {
        Self {
            next,
            yields: None,
            anomaly: Some(anomaly),
        }
    }
}

/// Transition function; the module documentation has its table.
pub fn step(state: State, input: Input, at: Nanos) -> Step {
    let State::Calling(call) = state else {
        return match input {
            Input::Start => Step::without_yield(State::Calling(Calling {
                since: at,
                stack: None,
                thread: None,
            })),
            Input::Stop => Step::odd(state, CallProblem::StopWithoutStart),
            Input::Stack(_) | Input::Thread(_) => {
                Step::odd(state, CallProblem::AnnotationBeforeStart)
            }
        };
    };
    match input {
        Input::Start => Step::odd(state, CallProblem::StartRepeated),
        Input::Stop => Step {
            next: State::Idle,
            yields: Some((call, Interval::new(call.since, at.max(call.since)))),
            anomaly: None,
        },
        Input::Stack(stack) if call.stack.is_none() => {
            Step::without_yield(State::Calling(Calling {
                stack: Some(stack),
                ..call
            }))
        }
        Input::Thread(thread) if call.thread.is_none() => {
            Step::without_yield(State::Calling(Calling {
                thread: Some(thread),
                ..call
            }))
        }
        Input::Stack(_) | Input::Thread(_) => Step::odd(state, CallProblem::AnnotationRepeated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CallKey {
        CallKey {
            number: 3,
            name: "blur".into(),
        }
    }

    /// Checks every row of the automaton's table in the module documentation.
    #[test]
    fn table() {
        let (early, late) = (Nanos(3), Nanos(9));
        let (stack, thread) = (Input::Stack(StackId(4)), Input::Thread(OsThreadId(5)));
        let bare = Calling {
            since: early,
            stack: None,
            thread: None,
        };
        let with_stack = Calling {
            stack: Some(StackId(4)),
            ..bare
        };
        let with_thread = Calling {
            thread: Some(OsThreadId(5)),
            ..bare
        };
        let full = Calling {
            stack: Some(StackId(4)),
            ..with_thread
        };
        let (idle, calling) = (State::Idle, State::Calling);
        let new = Calling {
            since: late,
            ..bare
        };
        type Row = (
            State,
            Input,
            State,
            Option<Calling>,
            Option<AnomalyConstructor>,
        );
        let rows: [Row; 13] = [
            (idle, Input::Start, calling(new), None, None),
            (
                idle,
                Input::Stop,
                idle,
                None,
                Some(CallProblem::StopWithoutStart),
            ),
            (
                idle,
                stack,
                idle,
                None,
                Some(CallProblem::AnnotationBeforeStart),
            ),
            (
                idle,
                thread,
                idle,
                None,
                Some(CallProblem::AnnotationBeforeStart),
            ),
            (
                calling(full),
                Input::Start,
                calling(full),
                None,
                Some(CallProblem::StartRepeated),
            ),
            (calling(bare), Input::Stop, idle, Some(bare), None),
            (calling(full), Input::Stop, idle, Some(full), None),
            (calling(bare), stack, calling(with_stack), None, None),
            (calling(with_thread), stack, calling(full), None, None),
            (calling(bare), thread, calling(with_thread), None, None),
            (calling(with_stack), thread, calling(full), None, None),
            (
                calling(full),
                stack,
                calling(full),
                None,
                Some(CallProblem::AnnotationRepeated),
            ),
            (
                calling(full),
                thread,
                calling(full),
                None,
                Some(CallProblem::AnnotationRepeated),
            ),
        ];
        for (state, input, next, yields, anomaly) in rows {
            let step = step(state, input, late);
            let row = format!("{state:?} {input:?}");
            assert_eq!(step.next, next, "{row}");
            assert_eq!(
                step.yields,
                yields.map(|call| (call, Interval::new(early, late))),
                "{row}"
            );
            assert_eq!(
                step.anomaly.map(|of| of(key())),
                anomaly.map(|of| of(key())),
                "{row}"
            );
        }
    }
}
