//! Are threads too small?
//!
//! A thread costs about a microsecond: it is created, queued, switched to and from, and
//! its stack is collected. Where it has less work than that, a loop would be faster.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::yielder::{Steps, Yield};
use eventlog::hash::SeededSet;
use eventlog::ids::{Duration, ThreadId};
use model::format;

/// Fewer threads a second cost less than a hundredth of a capability.
const LEAST_RATE: f64 = 5_000.0;
/// Half of the threads do less than this in all of their life.
const TINY_NS: u64 = 10_000;
/// Fewer threads are no habit.
const LEAST: usize = 1000;
/// A longer gap between two runs is not the switch alone.
const LONGEST_GAP_NS: u64 = 20_000;

pub(super) const NAME: &str = "tiny-threads";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Are threads too small?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// The time between runs of such threads that followed each other at once.
async fn switching_ns(
    context: &RuleContext<'_>,
    small: &SeededSet<ThreadId>,
    yielder: &dyn Yield,
) -> u64 {
    let store = &context.log.store;
    let (mut all_ns, mut steps) = (0, Steps::new(yielder));
    for cap in context.cap_ids() {
        let mut last_end = None;
        for (place, (start, end)) in context.runs_on(cap) {
            steps.step().await;
            let gap_ns = last_end.map_or(u64::MAX, |last: u64| start.saturating_sub(last));
            let is_small = || {
                store
                    .thread_of(cap, place)
                    .is_some_and(|thread| small.contains(&thread))
            };
            if gap_ns <= LONGEST_GAP_NS && is_small() {
                all_ns += gap_ns;
            }
            last_end = Some(end);
        }
    }
    all_ns
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let mut threads = context.finished_threads(yielder).await;
    let rate = threads.len() as f64 * 1e9 / context.length_ns() as f64;
    let middle = threads.len() / 2;
    let median_ns = match threads.is_empty() {
        true => 0,
        false => {
            threads
                .select_nth_unstable_by_key(middle, |small| small.ran_ns)
                .1
                .ran_ns
        }
    };
    let count = threads.len() as u64;
    if threads.len() < LEAST || rate < LEAST_RATE || median_ns >= TINY_NS {
        return Outcome::Clear(format!(
            "{} came and went, {} a second, half of them with {} of work or more; the limits are 5,000 a second and 10 µs",
            format::many(count, "thread"),
            format::count(rate as u64),
            format::duration(Duration(median_ns))
        ));
    }
    threads.retain(|small| small.ran_ns < TINY_NS);
    let small: SeededSet<ThreadId> = threads.iter().map(|small| small.thread).collect();
    let switching_ns = switching_ns(context, &small, yielder).await;
    let title = format!(
        "{} had less than 10 µs of work each, half of all threads less than {}",
        format::many(small.len() as u64, "thread"),
        format::duration(Duration(median_ns))
    );
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::HandOver, switching_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "Creating such a thread and switching to it costs about as much as its work, and more in collections.".into();
    finding.tries = vec![
        Try::code("Give each thread a batch of the work."),
        Try::code("Let a pool of a few threads take the work from a queue."),
    ];
    finding.distrust =
        "In a server with a thread for each connection, simple threads may be worth the cost."
            .into();
    finding.numbers = vec![
        ("threads".into(), Value::Count(count)),
        ("a second".into(), Value::PerSecond(rate)),
        ("work of half of them at most".into(), Value::Ns(median_ns)),
        ("switching".into(), Value::Ns(switching_ns)),
    ];
    let evidence = threads.iter().map(|small| Evidence {
        range: small.life,
        subjects: vec![Subject::Thread(small.thread)],
        amount: Value::Ns(small.ran_ns),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
