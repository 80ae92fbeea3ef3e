//! Newtypes for times, sizes and the identifiers that appear in a log, so that
//! one cannot be passed where another is meant.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// A point in time, in nanoseconds from the start of the runtime's elapsed
/// clock (`rts/Stats.c`), as every event carries it. What lies between two points
/// is a [`Duration`]; points themselves cannot be added.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The time from `earlier` until this; none if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// So much later, at most at the end of what can be counted.
impl Add<Duration> for Nanos {
    type Output = Self;
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

/// So much earlier, at the earliest when the clock started.
impl Sub<Duration> for Nanos {
    type Output = Self;
    fn sub(self, length: Duration) -> Self {
        Self(self.0.saturating_sub(length.0))
    }
}

/// A length of time, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Duration(pub u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A capability (ThreadScope calls it HEC): the right to run Haskell code.
    /// `0xFFFF` on the wire means "none" and is never stored here.
    CapId(u16)
}
id! {
    /// A Haskell thread.
    ThreadId(u32)
}
id! {
    /// A capability set: an OS process or a clock domain.
    CapsetId(u32)
}
id! {
    /// A task: an OS thread as the runtime numbers it (by address).
    TaskId(u64)
}
id! {
    /// An OS thread as the kernel numbers it.
    OsThreadId(u64)
}
id! {
    /// A cost centre, as `HeapProfCostCentre` numbers it.
    CostCentreId(u32)
}
id! {
    /// A position in the (uncompressed) log, in bytes from its start.
    ByteOffset(u64)
}

/// An address in the memory of the process that wrote the log, as C's `%p`
/// prints it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
