//! English texts for results of the analyses, shared by the page, the command line and the tests.
//!
//! - [`collection`]: table cells of collections.
//! - [`diagnostics`]: damage and anomalies of a log.
//! - [`held`]: why more memory is held than is live.
//! - [`insight`]: results of the rules.
//! - [`process`]: how a program was run.
//! - [`processes`]: numbers of several processes.
//! - [`report`]: the lines of `+RTS -s`.
//! - [`ticky`]: ticky counters.
//!
//! Texts of marks are with their [`tracks`](session::tracks), those of boxes with the [flame graph](crate::flame).

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

/// Returns a text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
