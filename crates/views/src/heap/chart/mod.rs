//! The chart of a heap profile as a picture: painted, hit by the pointer, in words.

pub mod hit;
pub mod paint;
pub mod picture;
mod stack;
#[cfg(test)]
mod tests;
pub mod words;
