#![doc = include_str!("../README.md")]

mod bands;
pub mod format;
pub mod formats;
pub mod log;
pub mod rows;
pub mod table;
pub mod tables;
mod trace;

#[cfg(test)]
mod tests;
