//! Eventscope reads the eventlog of a Haskell program and shows what it did.
pub mod eventlog;
pub mod ids;
