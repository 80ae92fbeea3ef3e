//! English for what the analyses found and counted, made here alone: the page,
//! the command line and the tests say it alike.
//!
//! - [`findings`]: what is wrong or odd about a log.
//! - [`report`]: the lines of `+RTS -s`.
//!
//! The words of marks on the timeline and of boxes of the flame graph are in
//! [`scene`](crate::scene), beside what draws them.

pub mod findings;
pub mod report;
mod rules;
