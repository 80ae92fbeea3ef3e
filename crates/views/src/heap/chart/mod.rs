//! Chart of a heap profile: painting, hit testing, and texts.

pub mod hit;
pub mod paint;
pub mod picture;
mod stack;
#[cfg(test)]
mod tests;
pub mod words;
