//! Where the time went, and what held the memory: from the events of a log to
//! the boxes of a flame graph.
//!
//! Data flows [`profiles`] (events in, a [`profile`] for each [`source`] out,
//! built of [`frames`] and [`stacks`]) → [`origin`] (weighted stacks of what
//! was chosen) → [`step`] (what the user does to them, kept in a [`cache`]) →
//! `layout` (boxes) → [`query`] (what page and command line ask, answered in
//! `answer`, `table` and `place`). [`export`] writes stacks as files for other
//! programs. [`foreign`] is the automaton of the foreign calls that a program
//! announces with user messages. Nothing here draws.

pub mod choosing;
pub mod collect;
mod draft;
pub mod foreign;
pub mod heap_collect;
mod nesting;
pub mod profiles;
pub mod sources;
pub mod spans;
pub mod stack_samples;
#[cfg(test)]
mod test_support;
mod ticks;
pub mod waiting;

pub use collect::ProfileCollector;
pub use foreign::{CallKey, CallProblem};
pub use profiles::{Profiles, SourceInfo, TrackInfo};
pub use spans::ProgramSpans;
pub use spans::totals::{SpanTotal, WindowTotals, span_totals};
pub use stack_samples::StackProblem;
