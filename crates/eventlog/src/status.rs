//! Reasons why a thread stopped: the codes of `StopThread`, whose meaning depends on the GHC that wrote the log.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, Field, Value};
use crate::ids::ThreadId;

/// Numbering of the stop codes from 8 on. The runtime writes its `why_blocked` constant plus 6 (`rts/Schedule.c`),
/// so the codes change with that constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopCodes {
    /// All GHCs except 7.8.1 and 7.8.2.
    #[default]
    Standard,
    /// GHC 7.8.1 and 7.8.2, which inserted "blocked on readMVar" at 8.
    Ghc782,
}

/// Reason why a thread stopped running, with the constructor names of `ghc-events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is explained by `explanation`")]
pub enum StopStatus {
    NoStatus,
    HeapOverflow,
    /// The stack gets another chunk. The number is the size of all its chunks in words (`tot_stack_size`,
    /// `rts/Schedule.c`), if logged. The release of a chunk is not logged.
    StackOverflow(Option<u32>),
    ThreadYielding,
    ThreadBlocked,
    ThreadFinished,
    ForeignCall,
    BlockedOnMVar,
    BlockedOnMVarRead,
    /// The thread that owns the black hole, if logged.
    BlockedOnBlackHole(Option<ThreadId>),
    BlockedOnRead,
    BlockedOnWrite,
    BlockedOnDelay,
    BlockedOnSTM,
    BlockedOnDoProc,
    BlockedOnCCall,
    BlockedOnCCallNoUnblockExc,
    BlockedOnMsgThrowTo,
    ThreadMigrating,
    BlockedOnIOCompletion,
    /// A code that no known GHC writes.
    Other(u16),
}

impl StopStatus {
    /// Returns the status for `code` in the numbering `codes`; `info` is the third field of the event.
    pub fn from_code(codes: StopCodes, code: u16, info: Option<u32>) -> Self {
        let standard = match (codes, code) {
            (StopCodes::Ghc782, 8) => 20,
            (StopCodes::Ghc782, 9..=17 | 19) => code - 1,
            (StopCodes::Ghc782, 18 | 20) => return Self::Other(code),
            _ => code,
        };
        match standard {
            0 => Self::NoStatus,
            1 => Self::HeapOverflow,
            2 => Self::StackOverflow(info),
            3 => Self::ThreadYielding,
            4 => Self::ThreadBlocked,
            5 => Self::ThreadFinished,
            6 => Self::ForeignCall,
            7 => Self::BlockedOnMVar,
            8 => Self::BlockedOnBlackHole(info.map(ThreadId)),
            9 => Self::BlockedOnRead,
            10 => Self::BlockedOnWrite,
            11 => Self::BlockedOnDelay,
            12 => Self::BlockedOnSTM,
            13 => Self::BlockedOnDoProc,
            14 => Self::BlockedOnCCall,
            15 => Self::BlockedOnCCallNoUnblockExc,
            18 => Self::BlockedOnMsgThrowTo,
            19 => Self::ThreadMigrating,
            20 => Self::BlockedOnMVarRead,
            21 => Self::BlockedOnIOCompletion,
            _ => Self::Other(code),
        }
    }

    /// Returns the status in the standard numbering, as one byte.
    pub fn code(self) -> u8 {
        match self {
            Self::NoStatus => 0,
            Self::HeapOverflow => 1,
            Self::StackOverflow(_) => 2,
            Self::ThreadYielding => 3,
            Self::ThreadBlocked => 4,
            Self::ThreadFinished => 5,
            Self::ForeignCall => 6,
            Self::BlockedOnMVar => 7,
            Self::BlockedOnBlackHole(_) => 8,
            Self::BlockedOnRead => 9,
            Self::BlockedOnWrite => 10,
            Self::BlockedOnDelay => 11,
            Self::BlockedOnSTM => 12,
            Self::BlockedOnDoProc => 13,
            Self::BlockedOnCCall => 14,
            Self::BlockedOnCCallNoUnblockExc => 15,
            Self::BlockedOnMsgThrowTo => 18,
            Self::ThreadMigrating => 19,
            Self::BlockedOnMVarRead => 20,
            Self::BlockedOnIOCompletion => 21,
            Self::Other(code) => u8::try_from(code).unwrap_or(u8::MAX),
        }
    }

    /// Describes why the thread stopped, as a continuation of "thread 7 was …" or "stopped: …".
    pub fn explanation(self) -> Cow<'static, str> {
        match self {
            Self::NoStatus => "stopped for no stated reason",
            Self::HeapOverflow => "allocation block full",
            Self::StackOverflow(_) => "stack overflow, its stack grows",
            Self::ThreadYielding => "yielded, or its time slice ended",
            Self::ThreadBlocked => "blocked",
            Self::ThreadFinished => "finished",
            Self::ForeignCall => "in a foreign call",
            Self::BlockedOnMVar => "blocked on an MVar",
            Self::BlockedOnMVarRead => "blocked on reading an MVar",
            Self::BlockedOnBlackHole(Some(owner)) => {
                return format!("blocked on a black hole owned by thread {owner}").into();
            }
            Self::BlockedOnBlackHole(None) => "blocked on a black hole",
            Self::BlockedOnRead => "waiting to read from a file or socket",
            Self::BlockedOnWrite => "waiting to write to a file or socket",
            Self::BlockedOnDelay => "sleeping in threadDelay",
            Self::BlockedOnSTM => "blocked in an STM retry",
            Self::BlockedOnDoProc => "waiting for an asynchronous operation",
            Self::BlockedOnCCall => "in a foreign call",
            Self::BlockedOnCCallNoUnblockExc => "in an uninterruptible foreign call",
            Self::BlockedOnMsgThrowTo => "blocked in throwTo",
            Self::ThreadMigrating => "migrating to another capability",
            Self::BlockedOnIOCompletion => "waiting for I/O to complete",
            Self::Other(code) => return format!("stopped with status {code}").into(),
        }
        .into()
    }
}

impl fmt::Display for StopStatus {
    /// Writes the constructor's name, and the owner of a black hole. The stack size is omitted, as no other reader
    /// has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockedOnBlackHole(Some(owner)) => {
                write!(f, "BlockedOnBlackHoleOwnedBy {owner}")
            }
            Self::StackOverflow(_) => f.write_str("StackOverflow"),
            Self::Other(code) => write!(f, "Status {code}"),
            Self::BlockedOnBlackHole(None) => f.write_str("BlockedOnBlackHole"),
            named => fmt::Debug::fmt(named, f),
        }
    }
}

impl<'a> Field<'a> for StopStatus {
    const MIN_BYTES: u16 = 2;

    /// Reads the status and the detail that follows it, if logged.
    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        let code = u16::read(cursor)?;
        let info = Option::<u32>::read(cursor)?;
        Some(Self::from_code(cursor.stop_codes(), code, info))
    }
    fn value(&self) -> Value<'a> {
        Value::Name(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numberings() {
        let standard = |code| StopStatus::from_code(StopCodes::Standard, code, Some(9)).to_string();
        let ghc782 = |code| StopStatus::from_code(StopCodes::Ghc782, code, Some(9)).to_string();
        assert_eq!(standard(8), "BlockedOnBlackHoleOwnedBy 9");
        assert_eq!(standard(18), "BlockedOnMsgThrowTo");
        assert_eq!(standard(20), "BlockedOnMVarRead");
        assert_eq!(standard(16), "Status 16");
        assert_eq!(standard(2), "StackOverflow");
        assert_eq!(ghc782(7), "BlockedOnMVar");
        assert_eq!(ghc782(8), "BlockedOnMVarRead");
        assert_eq!(ghc782(9), "BlockedOnBlackHoleOwnedBy 9");
        assert_eq!(ghc782(13), "BlockedOnSTM");
        assert_eq!(ghc782(19), "BlockedOnMsgThrowTo");
        let bare = StopStatus::from_code(StopCodes::Standard, 8, None);
        assert_eq!(bare.to_string(), "BlockedOnBlackHole");
    }
}
