//! Do threads spin with `yield`?
//!
//! A thread that calls `yield` until something changes is always ready: it holds its capability, and each call
//! goes through the scheduler. Its runs end with `ThreadYielding` after some hundred nanoseconds, long before the
//! end of a time slice (20 ms).

use std::collections::BTreeMap;

use super::prelude::*;
use crate::threads::ThreadTurn;
use model::class::StopCode;

/// Maximum length of a spinning run. Reading a variable and yielding takes 60 to 160 ns with its two events;
/// adding up a few hundred numbers or writing a message takes more than this.
const SHORT_NS: u64 = 300;
/// Minimum number of yields; fewer are no loop.
const MIN_COUNT: u32 = 1_000;
/// Minimum share of a thread's runs that end in this way; otherwise it works, and yields in between.
const MIN_YIELD_SHARE: f64 = 0.80;
/// Minimum share of capability time.
const MIN_SHARE: f64 = 0.002;

pub(super) const RULE: Rule = Rule {
    name: "yield-spin",
    question: "Do threads spin with yield?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Runs of a thread.
#[derive(Clone, Copy, Default)]
struct Spinner {
    runs: u64,
    yields: u64,
    /// Total length of the short runs that end with a yield.
    spun_ns: u64,
    range: Option<Interval>,
}

async fn spinners(context: &RuleContext<'_>) -> BTreeMap<ThreadId, Spinner> {
    let mut all: BTreeMap<ThreadId, Spinner> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        let Some(code) = turn.code else {
            return;
        };
        let spinner = all.entry(turn.thread()).or_default();
        spinner.runs += 1;
        if code == StopCode::YIELDING && turn.run_ns() < SHORT_NS {
            let (from, to) = turn.run_span();
            let run = Interval::new(Nanos(from), Nanos(to));
            let Some(run) = run.intersection(context.range) else {
                return;
            };
            spinner.yields += 1;
            spinner.spun_ns += run.duration().0;
            spinner.range = Some(spinner.range.map_or(run, |range| range.hull(run)));
        }
    };
    let mut lives = context.log.store.lives_with_min_runs(MIN_COUNT);
    context.each_turn_in(&mut lives, &mut visit).await;
    all.retain(|_, spinner| {
        spinner.yields >= u64::from(MIN_COUNT)
            && spinner.yields as f64 >= MIN_YIELD_SHARE * spinner.runs as f64
    });
    all
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let store = &context.log.store;
    let yields = store.runs_ended_by(StopCode::YIELDING, context.range);
    let spinners = if yields < MIN_COUNT as usize {
        BTreeMap::new()
    } else {
        spinners(context).await
    };
    let cap_ns: u64 = spinners.values().map(|spinner| spinner.spun_ns).sum();
    if spinners.is_empty() || context.share_of_caps(cap_ns) < MIN_SHARE {
        return Outcome::Clear(
            "no thread yielded 1,000 times after less than 300 ns, for 0.2 % of the capabilities' time".to_owned(),
        );
    }
    let yields: u64 = spinners.values().map(|spinner| spinner.yields).sum();
    let worst = spinners.iter().max_by_key(|(_, spinner)| spinner.spun_ns);
    let whom = match (worst, spinners.len()) {
        (Some((thread, _)), 1) => context.thread_name(*thread),
        (_, count) => format::pluralize(count as u64, "thread"),
    };
    let verb = if spinners.len() == 1 { "spins" } else { "spin" };
    let title = format!(
        "{whom} {verb}: {} calls of yield, {} each on average",
        format::count(yields),
        format::duration_ns(cap_ns / yields.max(1))
    );
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Running, cap_ns));
    finding.subject = worst.map(|(thread, _)| context.thread_name(*thread));
    finding.confidence = Confidence::Probable;
    finding.meaning = "A thread in a yield loop is always ready: it occupies a capability, and each yield costs about as much as the work between two calls.".into();
    finding.tries = Advice::code_changes([
        "Block instead: wait for an MVar, or in STM with retry, until the state changes.",
        "To wait for a time: threadDelay, or timeout.",
    ]);
    finding.distrust = "A short spin before blocking can be intended where nanoseconds count. Threads that do a little work between yields look the same. Scheduler time between two runs is not included.".into();
    finding.set_numbers([
        ("threads", Value::Count(spinners.len() as u64)),
        ("yields", Value::Count(yields)),
        ("spent", Value::Ns(cap_ns)),
    ]);
    let evidence = spinners.iter().filter_map(|(thread, spinner)| {
        Some(Evidence::for_thread(
            *thread,
            spinner.range?,
            Value::Ns(spinner.spun_ns),
        ))
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
