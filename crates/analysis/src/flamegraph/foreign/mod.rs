//! Foreign calls as programs announce them with user messages, in the
//! convention of `hs-safescope`. While a `safe` call runs, the runtime has
//! given the capability away and its samples show nothing of the call.
//!
//! | message | meaning |
//! |---|---|
//! | `START n name` | call `n` of `name` begins |
//! | `ANN_SCC n name ["M.f (loc)",…]`, also `ANN_CCS` | its cost-centre stack: the list of `ccsToStrings`, outermost first, without `MAIN`, printed by `show` |
//! | `ANN_TH n name tid` | the OS thread that performs it: what `gettid` says, or a handle (`0x…`) |
//! | `STOP n name`, also `END n name` | it is over |
//! | `ANN_CALL_TO fn site tid` | a C function begins on an OS thread: the address of its code, and where it was called |
//! | `ANN_CALL_RET fn site tid` | it returns |
//!
//! A `START` without a number is `ghc-events-analyze`'s, and no foreign call.
//! C functions are announced by the hooks of `gcc -finstrument-functions`.
//! They know nothing of calls; what they stand on is found by their OS thread
//! ([`thread_stack`]).
//!
//! The automaton of one call:
//!
//! | state | message | next | yields |
//! |---|---|---|---|
//! | `Idle` | start at t | `Calling(t)` | |
//! | `Idle` | stop | `Idle` | oddity: stop without start |
//! | `Idle` | stack, thread | `Idle` | oddity: annotation before start |
//! | `Calling(c)` | start | `Calling(c)` | oddity: start repeated |
//! | `Calling(c)` | stop at t | `Idle` | the call from c to t |
//! | `Calling(c)` | stack, where c has none | `Calling(c with it)` | |
//! | `Calling(c)` | thread, where c has none | `Calling(c with it)` | |
//! | `Calling(c)` | stack or thread, where c has one | `Calling(c)` | oddity: annotation repeated |

mod calls;
mod functions;
mod haskell_strings;
mod oddities;
mod parse;
pub mod thread_stack;

pub use calls::{Call, Calls};
pub use functions::{FunctionId, FunctionStep, Functions, ThreadSteps};
pub use oddities::CallProblem;
pub(crate) use parse::may_be_about_calls;
pub use parse::{FunctionMessage, Message, Says, parse};

use serde::{Deserialize, Serialize};

use eventlog::ids::{Nanos, OsThreadId};
use model::profile::stacks::StackId;
use model::time::Interval;

/// What tells calls apart: the counter of the program and the function's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallKey {
    /// The counter; programs keep it in a C `int`, so it may be negative.
    pub number: i64,
    /// The foreign function.
    pub name: String,
}

/// What a message says about a call. A stack is one of [`Calls::stacks`].
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

/// A call that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calling {
    /// Since when.
    pub since: Nanos,
    /// From where, if that was announced.
    pub stack: Option<StackId>,
    /// On which OS thread, if that was announced.
    pub thread: Option<OsThreadId>,
}

/// The state of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It has not begun, or is over.
    #[default]
    Idle,
    /// It goes on.
    Calling(Calling),
}

/// What kind of oddity a step meets; the key is the caller's.
type OddityOf = fn(CallKey) -> CallProblem;

/// What a message leads to.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The state after it.
    pub next: State,
    /// The call that it ends, and when.
    pub yields: Option<(Calling, Interval)>,
    /// What is odd about it.
    pub oddity: Option<OddityOf>,
}

impl Step {
    const fn to(next: State) -> Self {
        Self {
            next,
            yields: None,
            oddity: None,
        }
    }

    const fn odd(next: State, oddity: OddityOf) -> Self {
        Self {
            next,
            yields: None,
            oddity: Some(oddity),
        }
    }
}

/// The automaton.
#[must_use]
pub fn step(state: State, input: Input, at: Nanos) -> Step {
    let State::Calling(call) = state else {
        return match input {
            Input::Start => Step::to(State::Calling(Calling {
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
            oddity: None,
        },
        Input::Stack(stack) if call.stack.is_none() => Step::to(State::Calling(Calling {
            stack: Some(stack),
            ..call
        })),
        Input::Thread(thread) if call.thread.is_none() => Step::to(State::Calling(Calling {
            thread: Some(thread),
            ..call
        })),
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

    /// Every row of the table at the top of this file.
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
        type Row = (State, Input, State, Option<Calling>, Option<OddityOf>);
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
        for (state, input, next, yields, oddity) in rows {
            let step = step(state, input, late);
            let row = format!("{state:?} {input:?}");
            assert_eq!(step.next, next, "{row}");
            assert_eq!(
                step.yields,
                yields.map(|call| (call, Interval::new(early, late))),
                "{row}"
            );
            assert_eq!(
                step.oddity.map(|of| of(key())),
                oddity.map(|of| of(key())),
                "{row}"
            );
        }
    }
}
