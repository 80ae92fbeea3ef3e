//! Does one capability do the work of a parallel program?
//!
//! A program that makes sparks, or whose work is divided among threads, is meant to run in parallel.
//! Where one capability runs nearly all of it, the division has no effect: the sparks are
//! not evaluated in parallel, or the threads wait for each other.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::ledger::{Ledger, Pool};
use crate::scope::{Input, Scope};
use analysis::listen::Listen;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::Turn;
use eventlog::ids::{CapId, ThreadId};
use model::format;

/// So much of all running time is that of one capability.
const MOST: f64 = 0.95;
/// It runs for so much of the time: else the program waits for something.
const BUSY: f64 = 0.50;
/// So many sparks are made by a program that is meant to be parallel.
const LEAST_SPARKS: u64 = 100;
/// So many threads have a share of the work, each of so much.
const LEAST_THREADS: usize = 2;
const LEAST_PART: f64 = 0.10;

pub(super) const NAME: &str = "one-worker";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does one capability do the work of a parallel program?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|scope, ledger, listen| Box::pin(look(scope, ledger, listen))),
};

/// How long threads ran that have a share of the work.
async fn workers(scope: &Scope<'_>, ran_ns: u64, listen: &dyn Listen) -> BTreeMap<ThreadId, u64> {
    let mut all: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &Turn)| {
        if turn.code.is_some() {
            *all.entry(life.id()).or_default() += turn.duration(2);
        }
    };
    scope.each_turn(listen, look).await;
    all.retain(|_, ns| *ns as f64 >= LEAST_PART * ran_ns as f64);
    all
}

async fn look(scope: &Scope<'_>, ledger: &mut Ledger, listen: &dyn Listen) -> Outcome {
    let times = &scope.times.caps;
    let ran_ns: u64 = times.iter().map(|(_, times)| times.running_ns).sum();
    let most = times.iter().max_by_key(|(_, times)| times.running_ns);
    let (cap, most_ns) = most.map_or((CapId(0), 0), |(cap, times)| (*cap, times.running_ns));
    let share = most_ns as f64 / ran_ns.max(1) as f64;
    let busy = scope.share(most_ns);
    if scope.caps < 2 || share < MOST || busy < BUSY {
        return Outcome::Clear(format!(
            "the busiest of {} did {} of the work, and ran for {} of the time; the limits are 95 % and 50 %",
            format::many(scope.caps, "capability"),
            format::fraction(share),
            format::fraction(busy)
        ));
    }
    let sparks = scope.log.sparks(Some(scope.range));
    let sparks = sparks
        .rows
        .first()
        .map(|all| all.totals)
        .unwrap_or_default();
    let workers = workers(scope, ran_ns, listen).await;
    // Threads that are ready, and wait for that capability, are another finding.
    let are_ready = ledger.all_ns(Pool::ReadyLong) > ledger.all_ns(Pool::Serial);
    let what = if sparks.count >= LEAST_SPARKS {
        format::many(sparks.count, "spark")
    } else if workers.len() >= LEAST_THREADS && !are_ready {
        format!(
            "{} that share the work",
            format::many(workers.len() as u64, "thread")
        )
    } else {
        return Outcome::Clear(format!(
            "the program is not divided, or its threads wait for a busy capability: {}, and {} with a tenth of the work; the limits are 100 and 2",
            format::many(sparks.count, "spark"),
            format::many(workers.len() as u64, "thread")
        ));
    };
    let title = format!(
        "The program has {what}, but 1 of {} did {} of the work",
        format::many(scope.caps, "capability"),
        format::fraction(share)
    );
    let mut finding = scope.of_time(
        NAME,
        title,
        ledger,
        (Pool::Serial, ledger.all_ns(Pool::Serial)),
    );
    finding.confidence = Confidence::Probable;
    finding.meaning = "The division has no effect: what was to run in parallel was evaluated by one thread, is too little, or waits for its turn.".into();
    finding.tries = if sparks.count >= LEAST_SPARKS {
        vec![
            Try::code(
                "Let each spark evaluate all of its result: rdeepseq or force. A spark that ends at the first constructor leaves the work to who needs the value.",
            ),
            Try::code(
                "Spark before the values are needed, and use what rpar, parList or using return.",
            ),
        ]
    } else {
        vec![
            Try::code(
                "Evaluate results inside of the threads that are to compute them: evaluate, or force, before they are handed over.",
            ),
            Try::code("Do not make one thread wait for the next: start all, then wait for all."),
        ]
    };
    finding.distrust =
        "In another part of the run, or with other input, the work may be divided better.".into();
    finding.numbers = vec![
        ("work of the busiest".into(), Value::Share(share)),
        ("sparks".into(), Value::Count(sparks.count)),
        ("sparks converted".into(), Value::Count(sparks.converted)),
        (
            "threads with a tenth of the work".into(),
            Value::Count(workers.len() as u64),
        ),
    ];
    let evidence = std::iter::once(Evidence {
        range: scope.range,
        subjects: vec![Subject::Capability(cap)],
        amount: Value::Ns(most_ns),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
