//! The few classes of state that a timeline shows, each with one colour.

use serde::{Deserialize, Serialize};

use crate::eventlog::StopStatus;
use crate::eventlog::status::StopCodes;
use crate::ids::ThreadId;

/// What a capability or thread does, as coarsely as it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Class {
    /// Runs Haskell code (mutator).
    Running = 0,
    /// Collects garbage.
    Gc = 1,
    /// Could run, but no capability runs it: it yielded, ran out of heap or
    /// stack, or is new.
    Ready = 2,
    /// Waits for a Haskell object: an MVar, a black hole, STM, throwTo.
    Blocked = 3,
    /// Is in a foreign call.
    Foreign = 4,
    /// Waits for I/O or time, or for a reason that is not known.
    Io = 5,
    /// Was still running when the log ended.
    Open = 6,
}

/// How many classes there are.
pub const CLASSES: usize = 7;

/// Nanoseconds by class.
pub type ClassTimes = [u64; CLASSES];

impl Class {
    /// All of them, by number.
    pub const ALL: [Self; CLASSES] = [
        Self::Running,
        Self::Gc,
        Self::Ready,
        Self::Blocked,
        Self::Foreign,
        Self::Io,
        Self::Open,
    ];

    /// The class of that number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        if (number as usize) < CLASSES {
            Some(Self::ALL[number as usize])
        } else {
            None
        }
    }

    /// A short name for legends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Gc => "collecting garbage",
            Self::Ready => "ready, waiting for a capability",
            Self::Blocked => "blocked on a Haskell object",
            Self::Foreign => "in a foreign call",
            Self::Io => "waiting for I/O, a delay or other",
            Self::Open => "still running at the end of the log",
        }
    }
}

/// Why a thread stopped, in one byte: the standard stop codes, and two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StopCode(pub u8);

impl StopCode {
    /// It was created and has not run yet.
    pub const CREATED: Self = Self(254);
    /// It did not stop: the log ends.
    pub const OPEN: Self = Self(253);
    /// It finished.
    pub const FINISHED: Self = Self(5);

    /// The class of the time after a stop with this code.
    #[must_use]
    pub const fn class_after(self) -> Class {
        match self.0 {
            1..=3 | 19 | 254 => Class::Ready,
            4 | 7 | 8 | 12 | 18 | 20 => Class::Blocked,
            6 | 14 | 15 => Class::Foreign,
            _ => Class::Io,
        }
    }

    /// The reason in words; `owner` is the thread that owns a black hole.
    #[must_use]
    pub fn explanation(self, owner: Option<ThreadId>) -> String {
        match self {
            Self::CREATED => "created, not run yet".to_owned(),
            Self::OPEN => "still running at the end of the log".to_owned(),
            Self(code) => {
                let owner = owner.map(|thread| thread.0);
                StopStatus::from_code(StopCodes::Standard, u16::from(code), owner)
                    .explanation()
                    .into_owned()
            }
        }
    }
}
