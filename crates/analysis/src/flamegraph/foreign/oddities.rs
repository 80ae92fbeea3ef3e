//! What can be wrong with messages about foreign calls. Each oddity costs no
//! more than its message.

use serde::{Deserialize, Serialize};

use super::CallKey;
use eventlog::ids::{Address, Nanos, OsThreadId};

/// Something about an announced call that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOddity {
    /// When: the time of the message.
    pub at: Nanos,
    /// What.
    pub what: CallProblem,
}

/// What is odd. It costs only the message itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallProblem {
    /// A call begins that goes on already.
    StartRepeated(CallKey),
    /// A call ends that had not begun.
    StopWithoutStart(CallKey),
    /// A stack or a thread is announced for a call that had not begun.
    AnnotationBeforeStart(CallKey),
    /// A stack or a thread is announced a second time.
    AnnotationRepeated(CallKey),
    /// An annotation in which the call's number is missing, or is none.
    NumberMissing,
    /// A thread annotation without a thread number.
    ThreadMissing(CallKey),
    /// A stack that is no printed list of strings.
    StackUnreadable(CallKey),
    /// A stack names a cost centre that the log does not declare. Said once
    /// for each such cost centre.
    UnknownCostCentre(String),
    /// A call was still going on when another began on its OS thread, and
    /// ended before that one: it is cut off where the other begins.
    Overlap(CallKey),
    /// A call was still going on when a C function around it returned: it is
    /// cut off there.
    CutByReturn {
        /// The call.
        call: CallKey,
        /// The function that returned.
        function: Address,
    },
    /// A C function is announced without an address that can be read.
    AddressMissing,
    /// A C function is announced without the thread that runs it.
    FunctionThreadMissing(Address),
    /// A C function returns that was not running.
    ReturnWithoutCall {
        /// The function.
        function: Address,
        /// Where.
        thread: OsThreadId,
    },
    /// More calls at once than are shown, on unknown threads.
    TooManyAtOnce(CallKey),
    /// So many more oddities, which are not kept.
    More(u64),
}

impl std::fmt::Display for CallProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::StartRepeated(key) => write!(f, "{key} starts twice"),
            Self::StopWithoutStart(key) => write!(f, "{key} stops, but had not started"),
            Self::AnnotationBeforeStart(key) => write!(f, "{key} is annotated before its start"),
            Self::AnnotationRepeated(key) => write!(f, "{key} has the same annotation twice"),
            Self::NumberMissing => f.write_str("an annotation has no call number"),
            Self::ThreadMissing(key) => write!(f, "the annotation of {key} has no thread number"),
            Self::StackUnreadable(key) => {
                write!(f, "the stack of {key} is no printed list of strings")
            }
            Self::UnknownCostCentre(name) => {
                write!(
                    f,
                    "an annotation names {name}, which the log does not declare"
                )
            }
            Self::Overlap(key) => {
                write!(
                    f,
                    "{key} overlaps with another on its OS thread and is cut off"
                )
            }
            Self::CutByReturn { call, function } => {
                write!(
                    f,
                    "{call} is cut off: function {function} around it returns"
                )
            }
            Self::AddressMissing => {
                f.write_str("an annotation of a C function has no addresses that can be read")
            }
            Self::FunctionThreadMissing(function) => {
                write!(
                    f,
                    "the annotation of function {function} has no thread number"
                )
            }
            Self::ReturnWithoutCall { function, thread } => {
                write!(
                    f,
                    "function {function} returns on OS thread {thread}, where it was not running"
                )
            }
            Self::TooManyAtOnce(key) => {
                write!(f, "{key} is not shown: too many calls go on at once")
            }
            Self::More(count) => write!(f, "{count} more"),
        }
    }
}

/// What was odd; a program that announces nothing right does not fill the
/// memory.
#[derive(Clone, Debug, Default)]
pub struct Oddities {
    kept: Vec<CallOddity>,
    more: u64,
}

impl Oddities {
    /// How many are kept.
    pub const KEPT: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, at: Nanos, what: CallProblem) {
        if self.kept.len() < Self::KEPT {
            self.kept.push(CallOddity { at, what });
        } else {
            self.more += 1;
        }
    }

    /// All that are kept, by time; then how many are not.
    #[must_use]
    pub fn finish(mut self, end: Nanos) -> Vec<CallOddity> {
        self.kept.sort_by_key(|oddity| oddity.at);
        if self.more > 0 {
            let what = CallProblem::More(self.more);
            self.kept.push(CallOddity { at: end, what });
        }
        self.kept
    }
}
