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

mod answer;
pub mod cache;
pub mod choosing;
pub mod collect;
mod draft;
pub mod export;
pub mod foreign;
pub mod frames;
pub mod heap;
pub mod heap_collect;
mod layout;
mod nesting;
pub mod origin;
mod place;
pub mod profile;
pub mod profiles;
pub mod query;
mod sample_threads;
mod samples;
pub mod source;
pub mod spans;
pub mod stack_samples;
pub mod stacks;
pub mod step;
mod sums;
mod table;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
mod ticks;
mod tree_order;
pub mod waiting;
mod weights;

pub use cache::StepCache;
pub use collect::ProfileCollector;
pub use foreign::{CallKey, CallOddity, CallProblem};
pub use frames::{Frame, FrameId, FrameKind, Frames};
pub use origin::{Choice, Origin, Weighed};
pub use profile::{Profile, Sample, Samples, Track, TrackSource};
pub use profiles::{Profiles, ProfilesCollector, SourceInfo, TrackInfo};
pub use sample_threads::SampleThreads;
pub use source::{Source, Unit};
pub use spans::ProgramSpans;
pub use spans::totals::{SpanTotal, WindowTotals, span_totals};
pub use stack_samples::{StackOddity, StackProblem};
pub use stacks::{StackId, Stacks};
pub use step::{Step, Transformed};
pub use tree_order::TreeOrder;
pub use weights::Weight;
