//! Diagnoses a Haskell program from its eventlog. Each [`Rule`] answers one question with [`Finding`]s, or
//! explains why there is none.
//!
//! A rule is a pure function of a [`RuleContext`]: a log and a range of it. Each rule has its own file in
//! [`rules`], with its formula, its thresholds and their reasons, and its texts. Findings claim the time they cost
//! from a [`LossBudget`], so that no nanosecond of a capability is counted twice.

pub mod amount;
pub mod assertion;
pub mod busiest;
mod causes;
pub mod collection_in_range;
mod collector;
pub mod command_line;
pub mod compare;
pub mod context;
pub mod digest;
mod disturbance;
pub mod experiment;
pub mod finding;
mod flags;
pub mod fleet;
mod heartbeats;
pub mod input;
pub mod loss_budget;
pub mod lost_time;
pub mod measured;
pub mod metrics;
mod order;
pub mod report;
pub mod rules;
mod thread_names;
mod threads;
mod time_findings;
mod truncated_name;
mod turn_cache;
mod wakeup_list;
mod wakeups;
pub mod window;

pub use amount::Amount;
pub use compare::Comparison;
pub use context::RuleContext;
pub use digest::Digest;
pub use finding::{Finding, Outcome};
pub use flags::option_bytes;
pub use loss_budget::LossBudget;
pub use lost_time::LostTime;
pub use measured::MeasuredMetric;
pub use report::Report;
pub use rules::Rule;
pub use threads::is_runtime_label;
