//! What the events mean: spans, usage, general information. Analyses depend
//! on events, never on how they are shown.

pub mod capability;
pub mod check;
pub mod info;
pub mod numbers;
pub mod process;
pub mod spans;
pub(crate) mod thread_map;
