#![doc = include_str!("../README.md")]

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
pub mod pages;
pub mod place;
pub mod profile;
pub mod remembered;
pub mod shelf;
pub mod sorting;
pub mod span_lane;
pub mod time;

pub use class::Class;
pub use time::Interval;
