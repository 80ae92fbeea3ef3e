//! Where the time went, and what held the memory: from the events of a log to
//! weighted stacks.
//!
//! Each of the [`sources`] says what makes its [`Profile`](model::profile::Profile)
//! of events: [`collect`], [`stack_samples`], [`spans`],
//! [`waiting`]. [`profiles`] feeds them all and keeps what comes of it;
//! [`choosing`] says which tracks a name stands for. [`foreign`] is the
//! automaton of the foreign calls that a program announces with user messages.
//! Boxes and files are made of the stacks by `views`.

pub mod centres;
pub mod choosing;
pub mod collect;
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
pub(crate) mod ticks;
pub mod waiting;
