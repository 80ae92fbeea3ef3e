//! Tests that read whole logs, with all readers.

mod compressed;
mod live;
pub(crate) mod logs;
mod one_bit;
mod slices;
mod sound;
