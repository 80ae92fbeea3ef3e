//! A log as a trace: what capabilities, threads and the program did, one span after the other, for
//! the formats of programs that show timelines. All of them are told the same by
//! [`walk`], and so have the same spans.

pub(crate) mod counters;
pub(crate) mod draw;
pub(crate) mod names;
pub(crate) mod walk;

pub(crate) use counters::Counter;
pub(crate) use walk::{Visitor, walk};
