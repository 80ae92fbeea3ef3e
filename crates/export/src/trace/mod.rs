//! A log as a trace: consecutive spans of capabilities, threads and the program, for formats of timeline viewers.
//!
//! All formats are written by visitors of one [`walk`], and so have the same spans.

pub(crate) mod counters;
pub(crate) mod draw;
pub(crate) mod left_out;
pub(crate) mod names;
pub(crate) mod walk;

pub(crate) use counters::Counter;
pub(crate) use walk::{Visitor, walk};
