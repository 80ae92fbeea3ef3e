//! Where the time went: cost-centre samples and announced foreign calls, from
//! the events of a log to the boxes of a flame graph.
//!
//! Data flows [`collect`] (events in) → [`profile`] (tracks of samples, built
//! of [`frames`] and [`stacks`]) → [`layout`] (boxes, totals, search).
//! [`foreign`] is the automaton of the foreign calls that a program announces
//! with user messages. Nothing here draws.

pub mod collect;
pub mod foreign;
pub mod frames;
pub mod layout;
mod nesting;
pub mod profile;
pub mod query;
pub mod stacks;
mod weights;

pub use collect::ProfileCollector;
pub use foreign::{CallKey, CallOddity, CallProblem};
pub use frames::{Frame, FrameId, FrameKind, Frames};
pub use layout::{Layout, Order, layout};
pub use profile::{Profile, Samples, Track, TrackSource};
pub use stacks::{StackId, Stacks};
pub use weights::{FrameTotal, Matches, frame_totals, search};
