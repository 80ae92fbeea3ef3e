//! Problems in messages about foreign calls.

use serde::{Deserialize, Serialize};

use super::CallKey;
use eventlog::ids::{Address, OsThreadId};

/// A problem with a message; it affects only that message, or the call named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallProblem {
    /// A call begins that is already in progress.
    StartRepeated(CallKey),
    /// A call ends without having begun.
    StopWithoutStart(CallKey),
    /// A stack or a thread is announced for a call that has not begun.
    AnnotationBeforeStart(CallKey),
    /// A stack or a thread is announced a second time.
    AnnotationRepeated(CallKey),
    /// The call number of an annotation is missing or invalid.
    NumberMissing,
    /// A thread annotation lacks the thread number.
    ThreadMissing(CallKey),
    /// A stack is not a printed list of strings.
    StackUnreadable(CallKey),
    /// A stack names a cost centre that the log does not declare. Reported once per cost centre.
    UnknownCostCentre(String),
    /// A call in progress is cut off where another begins on its OS thread and outlasts it.
    Overlap(CallKey),
    /// A call in progress is cut off where an enclosing C function returns.
    CutByReturn {
        /// The call that was cut off.
        call: CallKey,
        /// The function that returned.
        function: Address,
    },
    /// A C function is announced without a readable address.
    AddressMissing,
    /// A C function is announced without its OS thread.
    FunctionThreadMissing(Address),
    /// A C function returns that was not running.
    ReturnWithoutCall {
        /// The function that returned.
        function: Address,
        /// The OS thread of the message.
        thread: OsThreadId,
    },
    /// A call on an unknown OS thread does not fit on the limited number of lanes.
    TooManyAtOnce(CallKey),
}
