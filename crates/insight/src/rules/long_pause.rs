//! How long are the pauses?
//!
//! Long collections with a heap census are excluded: without the profile the program has no such pauses, and
//! another rule reports them. The main activity of the longest pause decides on the advice: stopping, copying, or
//! neither.

use super::prelude::*;
use crate::collection_in_range::CollectionInRange;

/// Length of a pause that users notice: three video frames.
const LONG_NS: u64 = 50_000_000;

/// Bytes per microsecond; a collector copies twenty times as much, even if it must visit each object.
const MIN_COPIED: u64 = 20;

/// A program that is busy for all but this share of the time answers no requests: its pauses matter less.
const BATCH: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    name: "long-pause",
    question: "How long are the pauses?",
    inputs: &[Input::Collections],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let counts = |gc: &CollectionInRange<'_>| gc.all_ns() >= LONG_NS && context.has_census(gc);
    let collections = context.collections.iter().filter(|gc| !counts(gc));
    let mut all: Vec<u64> = collections.map(CollectionInRange::all_ns).collect();
    all.sort_unstable();
    let longest_ns = all.last().copied().unwrap_or(0);
    let longest = format::duration_ns(longest_ns);
    if longest_ns < LONG_NS {
        return Outcome::Clear(format!(
            "the longest stop was {longest}; the limit is 50 ms"
        ));
    }
    let is_long = |gc: &CollectionInRange<'_>| gc.all_ns() >= LONG_NS && !context.has_census(gc);
    let found: Vec<_> = context.collections_where(is_long).collect();
    let title = match found.len() as u64 {
        1 => format!("A pause of {longest}"),
        count => format!(
            "{} pauses of 50 ms or more, the longest {longest}",
            format::count(count)
        ),
    };
    let mut finding = Finding::new(RULE.name, Axis::Latency, title);
    finding.severity = Severity::of_latency(longest_ns);
    if is_always_busy(context) {
        finding.severity = finding.severity.min(Severity::Low);
    }
    finding.cost = Value::Ns(longest_ns);
    finding.share = context.share(longest_ns);
    let worst = found.iter().max_by_key(|(_, gc)| gc.all_ns());
    if let Some((index, worst)) = worst {
        advise(context, (*index, worst), &mut finding);
    }
    finding.distrust =
        "Pauses do not matter in a program without latency requirements, such as a batch job."
            .into();
    // Percentile by nearest rank.
    let p99 = all.get((all.len() * 99).div_ceil(100).saturating_sub(1));
    finding.set_numbers([
        ("longest", Value::Ns(longest_ns)),
        (
            "99 % are not longer than",
            Value::Ns(p99.copied().unwrap_or(0)),
        ),
        ("stops", Value::Count(all.len() as u64)),
    ]);
    let evidence = found.iter().map(|(_, gc)| gc.evidence(gc.all_ns()));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}

/// Returns whether nearly always some capability runs a thread or a collection takes place.
fn is_always_busy(context: &RuleContext<'_>) -> bool {
    let none_running_ns = context.times.parallelism_ns.first().copied().unwrap_or(0);
    let paused_ns: u64 = context
        .collections
        .iter()
        .map(CollectionInRange::all_ns)
        .sum();
    context.share(none_running_ns.saturating_sub(paused_ns)) < BATCH
}

/// Describes the main activity of the longest pause, with advice.
fn advise(
    context: &RuleContext<'_>,
    (index, gc): (usize, &CollectionInRange<'_>),
    finding: &mut Finding,
) {
    let copied = gc.statistics.map(|statistics| statistics.copied_bytes);
    let is_too_long = |bytes: &u64| {
        let takes_less = *bytes < gc.pause_ns() / 1_000 * MIN_COPIED;
        takes_less && !gc.is_major || context.is_disturbed(index)
    };
    let hardly_copied = copied.filter(is_too_long);
    if gc.sync_ns() * 2 >= gc.all_ns() {
        finding.meaning = "The program answers no requests during a pause. Most of the longest pause was the wait for all capabilities to stop.".into();
        finding.tries.push(Advice::code(
            "Let loops allocate, or compile them with -fno-omit-yields, and import long foreign calls as safe: otherwise they cannot be interrupted.",
        ));
    } else if let Some(bytes) = hardly_copied {
        finding.confidence = Confidence::Hint;
        finding.meaning = format!(
            "All Haskell threads are stopped during a pause. The longest collection copied {}, which is too little for its length: its threads waited for cores of the machine, or for memory.",
            format::bytes(bytes)
        )
        .into();
        finding.tries.push(Advice::flag(
            "-qg",
            "Collect with one thread, which need not wait for others.",
            "large collections take longer",
        ));
        finding.tries.push(Advice::code(
            "Run the program on an idle machine, with at most as many capabilities as cores.",
        ));
    } else {
        finding.meaning = "All Haskell threads are stopped during a pause.".into();
        // What is always busy answers nobody, and would only run slower: measured, by 14 and 33 %.
        if gc.is_major && !is_always_busy(context) {
            finding.tries.push(Advice::flag(
                "--nonmoving-gc",
                "Collect the old generation concurrently (GHC 8.10 and later), if latency matters more than throughput.",
                "time: many programs run slower; memory; not with -G1, -c or heap profiles",
            ));
        }
        finding.tries.push(Advice::code(
            "Keep less data alive, or keep immutable data in a compact region: collections copy live data.",
        ));
    }
}
