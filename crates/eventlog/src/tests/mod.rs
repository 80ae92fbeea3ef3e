//! Whole logs, read in every way that there is.

mod compressed;
mod live;
pub(crate) mod logs;
mod one_bit;
mod slices;
mod sound;
