//! Eventscope reads the eventlog of a Haskell program and shows what it did.
pub mod analysis;
pub mod automata;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod eventlog;
pub mod ids;
pub mod scene;
pub mod share;
#[cfg(not(target_arch = "wasm32"))]
pub mod source;
