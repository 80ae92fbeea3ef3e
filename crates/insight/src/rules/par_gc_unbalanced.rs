//! Does parallel collection pay off?
//!
//! For each parallel collection the runtime logs how many bytes its threads copied in balance. If these are few,
//! one thread did the work and the others waited. Collecting with one thread (`-qg`) helps programs in which one
//! capability works most of the time, but slows programs that work in parallel; `docs/findings.md` has one of each
//! kind.

use super::area_estimate::default_area_advice;
use super::prelude::*;
use crate::collection_in_range::CollectionInRange;

/// Balanced share of copied bytes below which the threads hardly share the work.
const BALANCED: f64 = 0.30;
/// Copying less than this is faster than waking threads.
const LITTLE_BYTES: u64 = 100_000;
/// Minimum number of collections; fewer are no pattern.
const MIN_COUNT: usize = 20;
/// Minimum share of the time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Mean number of running capabilities up to which one works most of the time.
pub(super) const MOSTLY_ONE: f64 = 1.3;

/// Advice where no flag is known to gain.
pub(super) const FEWER_COLLECTIONS: &str =
    "Make fewer collections: allocate less, or measure larger allocation areas (eventscope try).";

pub(super) const RULE: Rule = Rule {
    name: "par-gc-unbalanced",
    question: "Does parallel collection pay off?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let mut worst = 0.0_f64;
    for is_major in [false, true] {
        let wanted = |gc: &CollectionInRange<'_>| gc.is_major == is_major && gc.is_parallel();
        let found = loss_budget.free_pauses(context.collections_where(wanted));
        let statistics = || found.iter().filter_map(|(_, gc)| gc.statistics);
        let copied: u64 = statistics()
            .map(|statistics| statistics.total_copied_bytes.max(statistics.copied_bytes))
            .sum();
        let balanced: Option<u64> = statistics()
            .map(|statistics| statistics.balanced_bytes)
            .sum();
        let pause_ns: u64 = found.iter().map(|(_, gc)| gc.pause_ns()).sum();
        worst = worst.max(context.share(pause_ns));
        let Some(balanced) = balanced else { continue };
        let count = found.len() as u64;
        let balance = balanced as f64 / copied.max(1) as f64;
        let is_little = copied / count.max(1) < LITTLE_BYTES;
        let is_bad = balance < BALANCED || is_little;
        if found.len() < MIN_COUNT || !is_bad || context.share(pause_ns) < MIN_SHARE {
            continue;
        }
        let threads = statistics()
            .map(|statistics| statistics.threads)
            .max()
            .unwrap_or(1);
        // One thread did `1 - balance` of the work; the others were idle meanwhile.
        let idle = (1.0 - balance) * f64::from(threads - 1) / f64::from(threads);
        let cap_ns = (pause_ns as f64 * idle * context.caps as f64) as u64;
        let which = if is_major { "major" } else { "minor" };
        let made = format!(
            "{} {which} GCs used {threads} threads",
            format::count(count)
        );
        let title = if balance < BALANCED {
            let balance = format::fraction(balance);
            format!("{made}; one did nearly all the work (balance {balance})")
        } else {
            let each = format::bytes(copied / count.max(1));
            format!("{made} and copied {each} each: too little to share")
        };
        let mut finding =
            context.time_finding(RULE.name, title, loss_budget, (Pool::Collecting, cap_ns));
        finding.subject = Some(which.to_owned());
        finding.meaning = if balance < BALANCED {
            "The other GC threads only waited for it."
        } else {
            "One thread copies so little in less time than it takes to wake the others."
        }
        .into();
        advise(context, &mut finding);
        finding.set_numbers([
            ("balance", Value::Share(balance)),
            ("copied in each", Value::Bytes(copied / count.max(1))),
            ("collections", Value::Count(count)),
        ]);
        let evidence = found.iter().map(|(_, gc)| gc.evidence(gc.pause_ns()));
        return Outcome::Found(vec![finding.with_evidence(evidence)]);
    }
    let worst = format::fraction(worst);
    Outcome::Clear(format!(
        "parallel collections of a generation took at most {worst} of the time, or were balanced"
    ))
}

/// Returns advice to collect with one thread; major collections do so only unless several threads share their work.
fn one_thread_advice(context: &RuleContext<'_>) -> Vec<Advice> {
    if is_major_work_shared(context) {
        return vec![Advice::flag(
            "-qg1",
            "Collect the young generation with one thread: one capability works most of the time, but the threads share the work of major collections.",
            "large minor collections may take longer",
        )];
    }
    // One capability instead would save no more, and threads that are woken now and then would wait for time slices.
    vec![Advice::flag(
        "-qg",
        "Collect with one thread: one capability works most of the time.",
        "large collections may take longer",
    )]
}

/// Returns whether major collections take much time, and several threads share their work.
pub(super) fn is_major_work_shared(context: &RuleContext<'_>) -> bool {
    let (mut pause_ns, mut copied, mut balanced) = (0_u64, 0_u64, 0_u64);
    for (_, gc) in context.collections_where(|gc| gc.is_major) {
        let Some(statistics) = gc.statistics.filter(|one| one.is_parallel()) else {
            continue;
        };
        let all = statistics.total_copied_bytes.max(statistics.copied_bytes);
        pause_ns = pause_ns.saturating_add(gc.pause_ns());
        copied = copied.saturating_add(all);
        balanced = balanced.saturating_add(statistics.balanced_bytes.unwrap_or(0));
    }
    context.share(pause_ns) >= MIN_SHARE && balanced as f64 >= BALANCED * copied as f64
}

/// Adds advice, which depends on whether the program itself works in parallel.
fn advise(context: &RuleContext<'_>, finding: &mut Finding) {
    let is_serial = context.wanted_parallelism() <= MOSTLY_ONE;
    finding.confidence = Confidence::Probable;
    finding.distrust = "With +RTS -qn, fewer threads collect than the log counts.".into();
    if is_serial {
        finding.tries.extend(one_thread_advice(context));
    }
    finding.tries.extend(default_area_advice(context));
    if context.caps <= 2 {
        // A second thread that only waits hardly delays the first: one thread alone collected 15 % faster at best.
        finding.severity = match finding.severity {
            Severity::High => Severity::Medium,
            other => other.min(Severity::Low),
        };
    }
    // If all capabilities work, collecting with one thread or using one capability slows programs down. With two
    // of them there is nothing in between.
    if is_serial {
        return;
    }
    if context.caps <= 2 {
        finding.tries.push(Advice::code(FEWER_COLLECTIONS));
        return;
    }
    let half = (context.caps / 2).max(2);
    finding.tries.push(Advice::flag(
        format!("-qn{half}"),
        "Collect with fewer threads.",
        "large collections may take longer",
    ));
    finding.tries.push(Advice::flag(
        format!("-N{}", context.caps - 1),
        "Use fewer capabilities: fewer must stop and share the work. Measure it: the program itself may become slower.",
        "less parallel work",
    ));
}
