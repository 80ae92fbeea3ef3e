#![doc = include_str!("../README.md")]

pub mod byte_lru;
pub mod census;
pub mod class;
pub mod columns;
pub mod density;
pub mod forest;
pub mod format;
pub mod gauge;
pub mod lane;
pub mod marks;
pub mod moments;
mod named_enum;
pub mod packed_column;
pub mod profile;
pub mod saturating;
pub mod sorting;
pub mod span_lane;
pub mod spill_store;
pub mod time;

pub use class::Class;
pub use time::Interval;
