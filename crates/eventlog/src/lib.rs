#![doc = include_str!("../README.md")]
//!
//! # Internals
//!
//! The crate does no I/O (except in the drivers of `source`), does not depend on a browser, and never panics,
//! whatever the input. Data flows from [`header`] through `blocks` (the index) and `order` (the merge, with one
//! `stream` per capability; `recovery` decides which bytes are an event) to [`event`] (lazy decoding) and
//! [`sentence`], which uses [`names`] and [`conventions`]. [`LogReader`] ties them together. [`rows`] re-reads
//! events from any row on; [`live`] reads a log incrementally, without seeking. The format follows GHC's
//! `rts/include/rts/EventLogFormat.h` and `rts/eventlog/EventLog.c`.

pub mod ahead;
pub mod backing;
pub mod block_list;
pub mod blocks;
pub mod cap_table;
pub mod closure_type;
pub mod conventions;
pub mod cursor;
pub mod display;
pub mod encode;
pub mod event;
mod event_set;
#[cfg(any(unix, windows))]
mod file_source;
pub mod hash;
pub mod header;
pub mod hp;
pub mod ids;
pub mod inflate;
mod inflated;
pub mod info_tables;
pub mod live;
pub mod names;
mod order;
pub mod problem;
pub mod quantity;
mod reader;
pub mod record;
mod recovery;
pub mod rows;
mod scan;
pub mod sentence;
pub mod slices;
pub mod source;
pub mod status;
mod stream;
pub mod texts;
pub mod thread_map;
mod window;

pub use backing::Backing;
pub use event::{Event, EventType, Subject};
pub use event_set::EventSet;
#[cfg(any(unix, windows))]
pub use file_source::FileSource;
pub use inflated::Inflated;
pub use names::Names;
pub use order::Sink;
pub use problem::{Damage, DamageKind, DamageList, LogError, system_words};
pub use reader::{Accounting, Checkpoint, LogReader, Progress, Stage, Step};
pub use record::Record;
pub use scan::is_undated;
pub use slices::{Slice, SliceReader, SliceResult, SliceStep, SlicingRule};
pub use status::StopStatus;
pub use window::Need;

#[cfg(test)]
mod tests;
