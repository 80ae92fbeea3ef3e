//! Flame graph data: turns log events into weighted stacks of time and memory.
//!
//! Each of the [`sources`] defines how its [`Profile`](model::profile::Profile) is built from events: see
//! [`collect`], [`stack_samples`], [`spans`] and [`waiting`]. [`profiles`] feeds events to all of them and stores
//! the results; [`track_names`] resolves track names; [`foreign`] is the automaton for foreign calls that a program
//! announces with user messages. The crate `views` turns the stacks into boxes and files.

pub mod centres;
pub mod collect;
pub(crate) mod cost_centre_samples;
mod draft;
pub mod foreign;
mod nesting;
pub mod profiles;
pub mod source_info;
pub mod sources;
pub mod spans;
pub mod stack_samples;
#[cfg(test)]
pub(crate) mod test_support;
pub mod track_names;
pub mod waiting;
