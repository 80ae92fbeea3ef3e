//! Whole logs, read in every way that there is.

mod compressed;
mod live;
mod logs;
mod one_bit;
mod slices;
mod sound;
