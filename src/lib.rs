//! Eventscope reads the eventlog of a Haskell program and shows what it did.
//!
//! The modules, in the order in which data flows:
//!
//! - [`quantity`]: sizes, durations and dates in words.
//! - [`eventlog`]: the format, from bytes to events in order; it does no I/O.
//! - [`automata`]: state machines over events, pure step functions.
//! - [`analysis`]: what the events mean: spans, usage, general information.
//! - [`timeline`]: spans in columns, with an index for every zoom.
//! - [`flamegraph`]: samples and foreign calls, from events to boxes.
//! - [`cells`]: cells of tables for other programs, and CSV.
//! - [`events`]: the event list: rows found again in the file, filters, searches.
//! - [`session`]: one open log; what all drivers talk to.
//! - [`protocol`]: the messages between page and workers.
//! - [`symbols`]: names for addresses, from executables.
//! - [`scene`]: what to draw, without a browser.
//! - [`notes`]: names that a reader gives to moments and ranges.
//! - [`share`]: the link.
//! - [`actions`]: what can be done, with keys and words.
//!
//! Drivers are the page (`ui`, `worker` and `wire`, for wasm32 only), the
//! command line (`cli`) and the tests.

pub mod actions;
pub mod analysis;
pub mod automata;
pub mod cells;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod eventlog;
pub mod events;
pub mod flamegraph;
pub mod ids;
pub mod notes;
pub mod protocol;
pub mod quantity;
pub mod scene;
pub mod session;
pub mod share;
#[cfg(not(target_arch = "wasm32"))]
pub mod source;
pub mod symbols;
pub mod timeline;
#[cfg(target_arch = "wasm32")]
pub mod ui;
#[cfg(target_arch = "wasm32")]
pub mod wire;
#[cfg(target_arch = "wasm32")]
pub mod worker;
