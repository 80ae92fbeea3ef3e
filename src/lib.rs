//! Eventscope reads the eventlog of a Haskell program and shows what it did.
pub mod analysis;
pub mod automata;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod eventlog;
pub mod flamegraph;
pub mod ids;
pub mod protocol;
pub mod session;
#[cfg(not(target_arch = "wasm32"))]
pub mod source;
pub mod timeline;
#[cfg(target_arch = "wasm32")]
pub mod wire;
#[cfg(target_arch = "wasm32")]
pub mod worker;
