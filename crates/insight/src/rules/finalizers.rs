//! Do finalizers of weak pointers take time?
//!
//! After each collection the runtime runs the finalizers of the weak pointers that died in it, all in one new thread,
//! which it labels. Weak pointers themselves cost too: each collection visits those of the generations that it
//! collects. How many there are is known from a heap profile by closure type only.

use super::census::Peak;
use super::prelude::*;
use crate::threads::ThreadTurn;

/// Label of the threads, from `GHC.Weak.Finalize`.
pub(super) const LABEL: &str = "weak finalizer thread";
/// Minimum number of such threads; fewer belong to the end of some phase.
const MIN_COUNT: usize = 3;
/// Minimum share of the time; less is not worth a change.
const MIN_SHARE: f64 = 0.01;

/// Minimum number and share of collections after which finalizers ran, and minimum share of the time of collections,
/// for a hint: what weak pointers cost there is not logged.
const MIN_COLLECTIONS: usize = 50;
const MOST_COLLECTIONS: f64 = 0.50;
const MIN_COLLECTING: f64 = 0.10;

/// Minimum number of short foreign calls for each collection after which weak pointers died, and minimum share of the time
/// in them, for a program that opens and closes files all the time.
const CALLS: u64 = 10;
const MIN_CALLING: f64 = 0.10;
/// Maximum length of such a call.
const SHORT_CALL_NS: u64 = 1_000_000;

/// Minimum number of live weak pointers, and minimum share of the heap: less than that costs little.
const MIN_WEAK: u64 = 50_000;
const MIN_WEAK_SHARE: f64 = 0.10;
/// Size of a weak pointer: header, finalizers, key, value, finalizer, link (`StgWeak`, rts/include/rts/storage/Closures.h).
const WEAK_BYTES: u64 = 48;

/// Share of the time in short foreign calls that is hardly due to anything but files.
const MUCH_IN_CALLS: f64 = 0.20;

pub(super) const RULE: Rule = Rule {
    name: "finalizers",
    question: "Do finalizers of weak pointers take time?",
    inputs: &[Input::Threads],
    evaluate: yielding!(evaluate),
};

/// Returns the ready time of threads that run finalizers: one is created after each collection, and they have little
/// to do.
pub(super) async fn runnable_behind_ns(context: &RuleContext<'_>) -> u64 {
    let store = &context.log.store;
    let (mut all_ns, mut steps) = (0_u64, context.steps());
    for thread in store.threads_labeled(|label| label == LABEL) {
        if let Some(life) = store.thread_lane(thread) {
            for (_, turn) in life.turns_overlapping(context.range) {
                steps.step().await;
                all_ns = all_ns.saturating_add(turn.behind_ns());
            }
        }
    }
    all_ns
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let mut steps = context.steps();
    let mut threads = Vec::new();
    for thread in context.log.store.threads_labeled(|label| label == LABEL) {
        steps.step().await;
        let runs = context.run_statistics(thread, context.range);
        if runs.all_ns > 0 {
            threads.push((thread, runs.all_ns));
        }
    }
    let ran_ns: u64 = threads.iter().map(|(_, ns)| ns).sum();
    let share = context.share_of_caps(ran_ns);
    if threads.len() < MIN_COUNT || share < MIN_SHARE {
        if let Some(finding) = many_weak_pointers(context) {
            return Outcome::Found(vec![finding]);
        }
        if let Some(mut finding) = after_collections(context, &threads) {
            let calls = foreign_calls(context).await;
            if calls.count >= CALLS * threads.len() as u64 && calls.share(context) >= MIN_CALLING {
                explain_files(context, &mut finding, calls);
            }
            return Outcome::Found(vec![finding]);
        }
        return Outcome::Clear(format!(
            "{} ran finalizers, for {} of the time; the limits are 3 and 1 %",
            format::pluralize(threads.len() as u64, "thread"),
            format::fraction(share)
        ));
    }
    let title = format!(
        "{} ran finalizers of weak pointers, for {} of the time",
        format::pluralize(threads.len() as u64, "thread"),
        format::fraction(share)
    );
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Running, ran_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "Many weak pointers with Haskell finalizers die (mkWeak, addFinalizer, Foreign.Concurrent, and caches made of them). After each collection a new thread runs the finalizers, and each collection visits the weak pointers that live.".into();
    finding.tries = advice();
    finding.distrust =
        "The log shows the time of finalizers, but not how many there are, nor what visiting weak pointers costs."
            .into();
    finding.set_numbers([("ran for", Value::Ns(ran_ns))]);
    Outcome::Found(vec![finding.with_evidence(evidence(context, &threads))])
}

fn evidence(
    context: &RuleContext<'_>,
    threads: &[(ThreadId, u64)],
) -> impl Iterator<Item = Evidence> {
    let life = |thread| {
        let life = context.log.store.thread_lane(thread);
        let range = life
            .and_then(|life| life.complete_life())
            .map(|(life, _)| life);
        let range = range.and_then(|life| life.intersection(context.range));
        range.unwrap_or(context.range)
    };
    threads
        .iter()
        .map(move |(thread, ns)| Evidence::for_thread(*thread, life(*thread), Value::Ns(*ns)))
}

/// Finds finalizers that ran after most collections, in a program that collects for much of the time.
fn after_collections(context: &RuleContext<'_>, threads: &[(ThreadId, u64)]) -> Option<Finding> {
    let collections = context.collections.len();
    let collecting = context.share_of_caps(context.times.all_caps().in_collections_ns());
    let is_most = threads.len() as f64 >= MOST_COLLECTIONS * collections as f64;
    if threads.len() < MIN_COLLECTIONS || !is_most || collecting < MIN_COLLECTING {
        return None;
    }
    let title = format!(
        "Weak pointers died in {} of {}, and collections take {} of the time",
        format::count(threads.len() as u64),
        format::pluralize(collections as u64, "collection"),
        format::fraction(collecting)
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Hint;
    finding.cost = Value::Count(threads.len() as u64);
    finding.meaning = "After such a collection a new thread runs the finalizers. Each collection visits all weak pointers of the generations that it collects, and copies their values: how many there are is not in the log.".into();
    finding.tries = advice();
    finding.tries.insert(
        0,
        Advice::measure(
            "-hT -l",
            "A heap profile by closure type has weak pointers as WEAK.",
        ),
    );
    finding.distrust = "A few weak pointers, as of files and foreign memory, cost nothing.".into();
    Some(finding.with_evidence(evidence(context, threads)))
}

/// Short foreign calls of the program, with their total time.
#[derive(Clone, Copy, Default)]
struct ForeignCalls {
    count: u64,
    ns: u64,
}

impl ForeignCalls {
    fn share(self, context: &RuleContext<'_>) -> f64 {
        context.share_of_caps(self.ns)
    }
}

async fn foreign_calls(context: &RuleContext<'_>) -> ForeignCalls {
    let mut calls = ForeignCalls::default();
    let mut visit = |turn: ThreadTurn<'_>| {
        let ns = turn.blocked_ns();
        if ns < SHORT_CALL_NS {
            calls.count += 1;
            calls.ns += ns;
        }
    };
    context
        .each_wait(WaitReason::ForeignCall, 0, &mut visit)
        .await;
    calls
}

/// Changes a finding of a program that makes many short foreign calls between collections, after each of which weak
/// pointers die: it opens and closes files again and again.
fn explain_files(context: &RuleContext<'_>, finding: &mut Finding, calls: ForeignCalls) {
    let share = calls.share(context);
    finding.title = format!(
        "{} took {} of the time, and weak pointers died in most collections: as if files are opened and closed again and again",
        format::pluralize(calls.count, "short foreign call"),
        format::fraction(share)
    );
    finding.severity = Severity::of_share(share).min(Severity::Medium);
    // Two signs of the same: a program that makes that many calls for something else hardly makes weak pointers, too.
    if share >= MUCH_IN_CALLS {
        finding.confidence = Confidence::Probable;
    }
    finding.meaning = "Each Handle has a weak pointer, whose finalizer closes the file if nobody else does. Opening, locking, writing and closing are foreign calls, and each Handle gets new buffers.".into();
    finding.tries.insert(
        0,
        Advice::code(
            "Keep a file open, with a buffer, for many writes or reads: one Handle in place of appendFile, readFile or withFile for each.",
        ),
    );
    finding.set_numbers([
        ("short foreign calls", Value::Count(calls.count)),
        ("in them", Value::Ns(calls.ns)),
    ]);
}

fn advice() -> Vec<Advice> {
    Advice::code_changes([
        "Release resources explicitly (bracket), one by one or in batches, and keep finalizers for what is forgotten.",
        "Give a whole batch or table one weak pointer instead of one for each entry.",
        "For foreign memory use mallocForeignPtr, which needs no finalizer, or a finalizer in C.",
    ])
}

/// Finds many weak pointers in the largest census.
fn many_weak_pointers(context: &RuleContext<'_>) -> Option<Finding> {
    let peak = Peak::find(context)?;
    let bytes = peak.bytes_of(|name| name == "WEAK");
    let (count, share) = (bytes / WEAK_BYTES, peak.share(bytes));
    if count < MIN_WEAK || share < MIN_WEAK_SHARE {
        return None;
    }
    let title = format!(
        "About {} weak pointers are {} of the heap",
        format::count(count),
        format::fraction(share)
    );
    let mut finding = Finding::of_memory(RULE.name, title, (bytes, share));
    finding.severity = finding.severity.min(Severity::Medium);
    finding.meaning = "Each collection visits the weak pointers of the generations that it collects, and copies them. If they have finalizers (mkWeak, addFinalizer, Foreign.Concurrent), a new thread runs those of the dead ones after it.".into();
    finding.tries = advice();
    finding.distrust =
        "Weak pointers belong to foreign pointers and caches of libraries, too.".into();
    finding.set_numbers([("weak pointers", Value::Count(count))]);
    Some(finding.with_evidence([peak.evidence(bytes)]))
}
