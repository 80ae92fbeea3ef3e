//! What the events of a log mean. Analyses depend on events, never on how
//! they are shown.
//!
//! - [`automata`]: state machines over events, pure step functions.
//! - [`spans`]: runs them over a log; [`capability`], [`info`], [`process`]
//!   and [`check`] say what a log is and what is odd about it.
//! - [`recording`]: all of this over one log, wired together once.
//! - [`numbers`]: the numbers of `+RTS -s`.
//! - [`timeline`]: what happened when, in columns.
//! - [`flamegraph`]: where the time went, as samples of stacks.

pub mod automata;
pub mod capability;
pub mod check;
pub mod flamegraph;
pub mod info;
pub mod numbers;
pub mod process;
pub mod recording;
pub mod spans;
pub mod timeline;
