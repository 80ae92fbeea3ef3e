//! What is wrong with a program, as far as its log tells: [`Rule`]s, each of
//! which answers one question with a [`Finding`], or says why there is none.
//!
//! A rule is a pure function of a [`RuleContext`], a log and a part of it. It stands in
//! a file of its own in [`rules`], with its formula, its thresholds and their
//! reasons, and its words. What time a finding lost is claimed from a [`LossBudget`],
//! so that no nanosecond of a capability is lost twice.

pub mod amount;
pub mod assertion;
mod causes;
pub mod command_line;
pub mod compare;
pub mod context;
pub mod digest;
mod disturbance;
pub mod experiment;
pub mod finding;
mod flags;
mod kept_name;
pub mod loss_budget;
pub mod lost_time;
pub mod measured;
pub mod metrics;
pub mod report;
pub mod rules;
mod threads;
pub mod window;

pub use amount::Amount;
pub use compare::Comparison;
pub use context::RuleContext;
pub use digest::Digest;
pub use finding::{Finding, Outcome};
pub use flags::option_bytes;
pub use loss_budget::LossBudget;
pub use lost_time::LostTime;
pub use measured::Measured;
pub use report::Report;
pub use rules::Rule;
pub use threads::is_of_runtime;
