//! Flame graphs: from weighted stacks to boxes.
//!
//! Data flows [`Origin`](model::profile::origin::Origin) (weighted stacks of
//! what was chosen) → [`step`] (what the user does to them, kept in a
//! [`cache`]) → `layout` (boxes) → [`query`] (what page and command line ask,
//! answered in `answer`, `table`, `place`, `matches` and [`area`]). [`export`] writes stacks as
//! files for other programs. Nothing here draws.

mod answer;
pub mod area;
pub mod cache;
pub mod export;
mod layout;
mod matches;
mod place;
pub mod query;
pub mod step;
mod table;
#[cfg(test)]
mod tests;
