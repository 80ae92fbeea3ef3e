//! Do threads spin with yield?
//!
//! A thread that calls `yield` until something has changed is always ready: it holds its
//! capability, and each call goes through the scheduler. Its runs end by `ThreadYielding` long
//! before the end of their time slice.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::ledger::{Ledger, Pool};
use crate::scope::{Input, Scope};
use analysis::listen::Listen;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::Turn;
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::StopCode;
use model::format;
use model::time::Interval;

/// A time slice has 20 ms (`-C`): who yields after less than this has not worked.
const SHORT_NS: u64 = 10_000;
/// The scheduler takes less from one run to the next: a longer wait is behind other threads.
const LONGEST_WAIT_NS: u64 = 1_000;
/// Fewer are no loop.
const LEAST: u64 = 1_000;
/// So many of a thread's runs end so: else it works, and yields between.
const MOST_RUNS: f64 = 0.80;
/// Less of the capabilities' time is not told.
const LEAST_SHARE: f64 = 0.002;

const NAME: &str = "yield-spin";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads spin with yield?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|scope, ledger, listen| Box::pin(look(scope, ledger, listen))),
};

/// What a thread did.
#[derive(Clone, Copy, Default)]
struct Spinner {
    runs: u64,
    yields: u64,
    /// In runs that end so, and in the scheduler before them, in nanoseconds.
    spun_ns: u64,
    range: Option<Interval>,
}

async fn spinners(scope: &Scope<'_>, listen: &dyn Listen) -> BTreeMap<ThreadId, Spinner> {
    let mut all: BTreeMap<ThreadId, Spinner> = BTreeMap::new();
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &Turn)| {
        let Some(code) = turn.code else {
            return;
        };
        let spinner = all.entry(life.id()).or_default();
        spinner.runs += 1;
        if code == StopCode::YIELDING && turn.duration(2) < SHORT_NS {
            let (from, to) = turn.part(2);
            spinner.yields += 1;
            spinner.spun_ns += (to - from) + turn.duration(1).min(LONGEST_WAIT_NS);
            let run = Interval::new(Nanos(from), Nanos(to));
            spinner.range = Some(spinner.range.map_or(run, |range| range.hull(run)));
        }
    };
    scope.each_turn(listen, look).await;
    all.retain(|_, spinner| {
        spinner.yields >= LEAST && spinner.yields as f64 >= MOST_RUNS * spinner.runs as f64
    });
    all
}

async fn look(scope: &Scope<'_>, ledger: &mut Ledger, listen: &dyn Listen) -> Outcome {
    let spinners = spinners(scope, listen).await;
    let cap_ns: u64 = spinners.values().map(|spinner| spinner.spun_ns).sum();
    if spinners.is_empty() || scope.share_of_caps(cap_ns) < LEAST_SHARE {
        return Outcome::Clear(
            "no thread yielded 1,000 times after less than 10 µs, for 0.2 % of the capabilities' time".to_owned(),
        );
    }
    let yields: u64 = spinners.values().map(|spinner| spinner.yields).sum();
    let worst = spinners.iter().max_by_key(|(_, spinner)| spinner.spun_ns);
    let whom = match (worst, spinners.len()) {
        (Some((thread, _)), 1) => scope.thread_name(*thread),
        (_, count) => format::many(count as u64, "thread"),
    };
    let verb = if spinners.len() == 1 { "spins" } else { "spin" };
    let title = format!(
        "{whom} {verb}: {} calls of yield, {} each on average",
        format::count(yields),
        format::duration(Duration(cap_ns / yields.max(1)))
    );
    let mut finding = scope.of_time(NAME, title, ledger, (Pool::Running, cap_ns));
    finding.subject = worst.map(|(thread, _)| scope.thread_name(*thread));
    finding.confidence = Confidence::Probable;
    finding.meaning = "A thread in a loop of yield is always ready: it takes the time of a capability, and other threads of that capability run between its yields.".into();
    finding.tries = vec![
        Try::code(
            "Block instead: wait for an MVar, or in STM with retry, until the state changes.",
        ),
        Try::code("If the wait is for a time: threadDelay, or timeout."),
    ];
    finding.distrust = "A short spin before a block can be wanted where nanoseconds count.".into();
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
