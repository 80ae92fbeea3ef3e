//! All rules, in the order in which they claim time: the most certain cause of a loss first. A new rule is a file
//! here, and a line in [`RULES`].

mod alloc_burst;
mod area_estimate;
mod blocked_together;
mod bound_main;
mod capabilities_unused;
mod census;
mod census_pauses;
mod classes_missing;
pub(crate) mod costly_flags;
mod deadlock_found;
mod deep_stack;
mod few_calls;
mod finalizers;
mod forced_gc;
mod foreign_calls;
mod foreign_calls_block;
mod gc_sync_idle_caps;
mod gc_sync_straggler;
mod group_waits;
mod hand_overs;
mod heap_holder;
mod heap_over_live;
mod hot_cost_centre;
mod idle_gc;
mod large_objects;
mod live_growth;
mod lock_convoy;
mod lockstep;
mod log_damaged;
mod long_pause;
mod major_gc_heavy;
mod many_messages;
mod mutual_thunks;
pub(crate) mod noisy_machine;
mod nonmoving_lag;
mod not_representative;
pub(crate) mod nursery_too_small;
mod one_at_a_time;
mod one_capability;
mod one_worker;
mod par_gc_unbalanced;
mod pinned_blocks;
mod polling;
mod queue_grows;
mod race_losers;
mod ready_while_idle;
mod remembered_set;
mod requested_collections;
mod run_queue;
mod serial_section;
mod shared_thunk;
mod short_foreign_calls;
pub(crate) mod short_of_cores;
mod sleeping_threads;
mod slow_spans;
mod slowest_stage;
mod small_pool;
mod spark_tiny;
pub(crate) mod sparks;
mod stm_herd;
mod threads_never_end;
mod throwto_wait;
mod timer_storm;
mod tiny_threads;
mod unevaluated;
mod uneven_parts;
mod unlabelled;
mod yield_spin;

use crate::context::RuleContext;
use crate::finding::{Finding, Outcome};
use crate::input::Input;
use crate::loss_budget::LossBudget;
use analysis::yielder::LocalBoxFuture;

/// What nearly every rule uses.
mod prelude {
    pub(super) use super::{Evaluation, Rule, yielding};
    pub(super) use crate::context::RuleContext;
    pub(super) use crate::finding::{
        Advice, Axis, Confidence, Evidence, Finding, Outcome, Severity, Subject, Value,
    };
    pub(super) use crate::input::Input;
    pub(super) use crate::loss_budget::{LossBudget, Pool};
    pub(super) use eventlog::ids::{Nanos, ThreadId};
    pub(super) use model::class::WaitReason;
    pub(super) use model::format;
    pub(super) use model::time::Interval;
}

/// Question about a log, with the function that answers it.
#[derive(Debug)]
pub struct Rule {
    /// Stable name for scripts.
    pub name: &'static str,
    /// Question that the rule answers.
    pub question: &'static str,
    /// Events that the rule needs; without them it is not evaluated.
    pub inputs: &'static [Input],
    /// Function that answers the question.
    pub evaluate: Evaluation,
}

/// Function that evaluates a rule, by when it runs and whether it yields.
#[derive(Debug)]
pub enum Evaluation {
    /// Takes at most some hundredths of a second for any log.
    Immediate(fn(&RuleContext<'_>, &mut LossBudget) -> Outcome),
    /// Looks at every run, thread or collection, and yields to the event loop in between.
    Yielding(for<'a> fn(&'a RuleContext<'_>, &'a mut LossBudget) -> LocalBoxFuture<'a, Outcome>),
    /// Looks at the findings of earlier rules.
    OnFindings(fn(&RuleContext<'_>, &mut LossBudget, &[Finding]) -> Outcome),
}

/// Makes an `async` function the evaluation of a rule.
macro_rules! yielding {
    ($evaluate:path) => {
        $crate::rules::Evaluation::Yielding(|context, loss_budget| {
            Box::pin($evaluate(context, loss_budget))
        })
    };
}
use yielding;

/// All rules, in order of evaluation.
pub static RULES: &[Rule] = &[
    gc_sync_straggler::RULE,
    gc_sync_idle_caps::RULE,
    idle_gc::RULE,
    forced_gc::RULE,
    census_pauses::RULE,
    short_of_cores::RULE,
    par_gc_unbalanced::RULE,
    remembered_set::RULE,
    nursery_too_small::RULE,
    costly_flags::RULE,
    major_gc_heavy::RULE,
    long_pause::RULE,
    nonmoving_lag::RULE,
    bound_main::RULE,
    foreign_calls_block::RULE,
    ready_while_idle::RULE,
    hand_overs::RULE,
    mutual_thunks::RULE,
    lock_convoy::RULE,
    small_pool::RULE,
    shared_thunk::RULE,
    stm_herd::RULE,
    uneven_parts::RULE,
    serial_section::RULE,
    slowest_stage::RULE,
    one_worker::RULE,
    lockstep::RULE,
    yield_spin::RULE,
    finalizers::RULE,
    short_foreign_calls::RULE,
    tiny_threads::RULE,
    race_losers::RULE,
    timer_storm::RULE,
    run_queue::RULE,
    foreign_calls::RULE,
    throwto_wait::RULE,
    blocked_together::RULE,
    deadlock_found::RULE,
    one_at_a_time::RULE,
    polling::RULE,
    slow_spans::RULE,
    hot_cost_centre::RULE,
    sparks::RULE,
    spark_tiny::RULE,
    live_growth::RULE,
    queue_grows::RULE,
    threads_never_end::RULE,
    heap_over_live::RULE,
    heap_holder::RULE,
    unevaluated::RULE,
    pinned_blocks::RULE,
    deep_stack::RULE,
    large_objects::RULE,
    alloc_burst::RULE,
    log_damaged::RULE,
    noisy_machine::RULE,
    classes_missing::RULE,
    not_representative::RULE,
    many_messages::RULE,
    capabilities_unused::RULE,
    one_capability::RULE,
    // Last, as it looks at the findings of all others.
    unlabelled::RULE,
];
