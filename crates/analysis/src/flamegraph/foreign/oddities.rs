//! What can be wrong with messages about foreign calls.

use serde::{Deserialize, Serialize};

use super::CallKey;
use eventlog::ids::{Address, OsThreadId};

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
        /// The OS thread on which it was seen.
        thread: OsThreadId,
    },
    /// More calls at once than are shown, on unknown threads.
    TooManyAtOnce(CallKey),
}
