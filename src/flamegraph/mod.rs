//! Where the time went, and what held the memory: from the events of a log to
//! the boxes of a flame graph.
//!
//! Data flows [`profiles`] (events in, a [`profile`] for each [`source`] out,
//! built of [`frames`] and [`stacks`]) → [`origin`] (weighted stacks of what
//! was chosen) → [`step`] (what the user does to them) → [`layout`] (boxes,
//! totals, search) → [`query`] (what page and command line ask). [`export`]
//! writes stacks as files for other programs. [`foreign`]
//! is the automaton of the foreign calls that a program announces with user
//! messages. Nothing here draws.

pub mod choosing;
pub mod collect;
mod draft;
pub mod export;
pub mod foreign;
pub mod frames;
pub mod heap;
pub mod heap_collect;
pub mod layout;
mod nesting;
pub mod origin;
pub mod profile;
pub mod profiles;
pub mod query;
pub mod source;
pub mod spans;
pub mod stack_samples;
pub mod stacks;
pub mod step;
#[cfg(test)]
mod test_support;
pub mod waiting;
mod weights;

pub use collect::ProfileCollector;
pub use foreign::{CallKey, CallOddity, CallProblem};
pub use frames::{Frame, FrameId, FrameKind, Frames};
pub use layout::{Layout, Order, layout};
pub use origin::{Choice, Origin, Weighed};
pub use profile::{Profile, Samples, Track, TrackSource};
pub use profiles::{Profiles, ProfilesCollector, SourceInfo, TrackInfo};
pub use source::{Source, Unit};
pub use spans::ProgramSpans;
pub use spans::totals::{SpanTotal, WindowTotals, span_totals};
pub use stack_samples::{StackOddity, StackProblem};
pub use stacks::{StackId, Stacks};
pub use step::Step;
pub use weights::{FrameTotal, Matches, Weight, frame_totals, search};
