//! English for what the analyses found and counted, made here alone: the page,
//! the command line and the tests say it alike.
//!
//! - [`collection`]: a collection as it is listed.
//! - [`diagnostics`]: what is wrong or odd about a log.
//! - [`held`]: why more memory is held than is live.
//! - [`insight`]: what the rules say of a program.
//! - [`process`]: how a program was run.
//! - [`processes`]: what numbers of several processes mean.
//! - [`report`]: the lines of `+RTS -s`.
//! - [`ticky`]: what ticky counters are about.
//!
//! The words of marks are with their [`tracks`](session::tracks), those of boxes
//! with the [flame graph](crate::flame).

pub mod collection;
pub mod diagnostics;
pub mod heap_report;
pub mod held;
pub mod insight;
pub mod process;
pub mod processes;
pub mod report;
mod rules;
pub mod ticky;
