#![doc = include_str!("../README.md")]

mod read;
mod temporary;

pub use read::read_session_on;
pub use temporary::TemporaryFile;
