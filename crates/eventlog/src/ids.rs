//! Newtypes for times, sizes and the identifiers that appear in a log, so that
//! one cannot be passed where another is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A point in time or a duration, in nanoseconds. Points count from the start
/// of the runtime's elapsed clock (`rts/Stats.c`), as every event carries them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

impl Nanos {
    /// `self - earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
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
