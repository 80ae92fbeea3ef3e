//! Newtypes for times, sizes and identifiers in a log, so that one cannot be passed for another.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// Timestamp of an event, in nanoseconds from the start of the runtime's elapsed clock (`rts/Stats.c`).
///
/// The difference of two timestamps is a [`Duration`]; timestamps themselves cannot be added.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Returns the time from `earlier` to `self`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates at `u64::MAX`.
impl Add<Duration> for Nanos {
    type Output = Self;
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

/// Saturates at 0, the start of the clock.
impl Sub<Duration> for Nanos {
    type Output = Self;
    fn sub(self, length: Duration) -> Self {
        Self(self.0.saturating_sub(length.0))
    }
}

/// Length of time, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Duration(pub u64);

impl Duration {
    /// Zero nanoseconds.
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
    /// Number of a capability (ThreadScope: HEC), the right to run Haskell code. `0xFFFF` on the wire means "none"
    /// and is never stored here.
    CapId(u16)
}
id! {
    /// Number of a Haskell thread.
    ThreadId(u32)
}
id! {
    /// Number of a capability set: an OS process or a clock domain.
    CapsetId(u32)
}
id! {
    /// The runtime's identifier (an address) of a task, that is, an OS thread.
    TaskId(u64)
}
id! {
    /// The kernel's identifier of an OS thread.
    OsThreadId(u64)
}
id! {
    /// Number of a cost centre, as declared by `HeapProfCostCentre`.
    CostCentreId(u32)
}
id! {
    /// Offset in the (uncompressed) log, in bytes.
    ByteOffset(u64)
}

/// Address in the process that wrote the log. It is displayed as C's `%p` prints it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
