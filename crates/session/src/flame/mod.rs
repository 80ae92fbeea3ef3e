//! Flame graphs: from weighted stacks to boxes.
//!
//! Data flows from a [`StackSource`](model::profile::stack_source::StackSource) (selected weighted stacks) through
//! [`transform`] (transformations by the user, kept in a [`cache`]) and `layout` (boxes) to [`query`] (queries of page and
//! command line, answered in `answer`, `table`, `place`, `matches` and [`area`]). [`export`] writes stacks in the
//! file formats of other programs. Nothing here draws.

mod answer;
pub mod area;
pub mod cache;
pub mod export;
mod layout;
mod matches;
mod occurrence;
pub mod query;
mod table;
#[cfg(test)]
mod tests;
pub mod transform;
