//! Do threads spin with yield?
//!
//! A thread that calls `yield` until something has changed is always ready: it holds its
//! capability, and each call goes through the scheduler. Its runs end by `ThreadYielding` after
//! some hundred nanoseconds, long before the end of a time slice (20 ms).

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::Yield;
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::StopCode;
use model::format;
use model::time::Interval;

/// A run that only reads a variable and yields takes 60 to 160 ns with its two events; one that
/// adds up a few hundred numbers or writes a message takes more than this.
const SHORT_NS: u64 = 300;
/// Fewer are no loop.
const LEAST: u32 = 1_000;
/// So many of a thread's runs end so: else it works, and yields between.
const MOST_RUNS: f64 = 0.80;
/// Less of the capabilities' time is not told.
const LEAST_SHARE: f64 = 0.002;

const NAME: &str = "yield-spin";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads spin with yield?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// What a thread did.
#[derive(Clone, Copy, Default)]
struct Spinner {
    runs: u64,
    yields: u64,
    /// In runs that end so, in nanoseconds.
    spun_ns: u64,
    range: Option<Interval>,
}

async fn spinners(context: &RuleContext<'_>, yielder: &dyn Yield) -> BTreeMap<ThreadId, Spinner> {
    let mut all: BTreeMap<ThreadId, Spinner> = BTreeMap::new();
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &WaitRunCycle)| {
        let Some(code) = turn.code else {
            return;
        };
        let spinner = all.entry(life.id()).or_default();
        spinner.runs += 1;
        if code == StopCode::YIELDING && turn.duration(2) < SHORT_NS {
            let (from, to) = turn.part(2);
            let run = Interval::new(Nanos(from), Nanos(to));
            let Some(run) = run.intersection(context.range) else {
                return;
            };
            spinner.yields += 1;
            spinner.spun_ns += run.duration().0;
            spinner.range = Some(spinner.range.map_or(run, |range| range.hull(run)));
        }
    };
    let lives = context.log.store.lives_of_runs(LEAST);
    context.each_turn_of(lives, yielder, look).await;
    all.retain(|_, spinner| {
        spinner.yields >= u64::from(LEAST)
            && spinner.yields as f64 >= MOST_RUNS * spinner.runs as f64
    });
    all
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let yields = context.log.store.runs_ended_by(StopCode::YIELDING);
    let spinners = if yields < LEAST as usize {
        BTreeMap::new()
    } else {
        spinners(context, yielder).await
    };
    let cap_ns: u64 = spinners.values().map(|spinner| spinner.spun_ns).sum();
    if spinners.is_empty() || context.share_of_caps(cap_ns) < LEAST_SHARE {
        return Outcome::Clear(
            "no thread yielded 1,000 times after less than 300 ns, for 0.2 % of the capabilities' time".to_owned(),
        );
    }
    let yields: u64 = spinners.values().map(|spinner| spinner.yields).sum();
    let worst = spinners.iter().max_by_key(|(_, spinner)| spinner.spun_ns);
    let whom = match (worst, spinners.len()) {
        (Some((thread, _)), 1) => context.thread_name(*thread),
        (_, count) => format::many(count as u64, "thread"),
    };
    let verb = if spinners.len() == 1 { "spins" } else { "spin" };
    let title = format!(
        "{whom} {verb}: {} calls of yield, {} each on average",
        format::count(yields),
        format::duration(Duration(cap_ns / yields.max(1)))
    );
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::Running, cap_ns));
    finding.subject = worst.map(|(thread, _)| context.thread_name(*thread));
    finding.confidence = Confidence::Probable;
    finding.meaning = "A thread in a loop of yield is always ready: it holds a capability, and each call of yield costs about as much as what the thread does between two calls.".into();
    finding.tries = vec![
        Try::code(
            "Block instead: wait for an MVar, or in STM with retry, until the state changes.",
        ),
        Try::code("If the wait is for a time: threadDelay, or timeout."),
    ];
    finding.distrust = "A short spin before a block can be wanted where nanoseconds count. Threads that do a little work between yields look the same. The time of the scheduler between two runs comes on top.".into();
    finding.numbers = vec![
        ("threads".into(), Value::Count(spinners.len() as u64)),
        ("yields".into(), Value::Count(yields)),
        ("spent".into(), Value::Ns(cap_ns)),
    ];
    let evidence = spinners.iter().filter_map(|(thread, spinner)| {
        Some(Evidence {
            range: spinner.range?,
            subjects: vec![Subject::Thread(*thread)],
            amount: Value::Ns(spinner.spun_ns),
        })
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
