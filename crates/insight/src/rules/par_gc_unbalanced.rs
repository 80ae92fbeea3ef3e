//! Does parallel collection pay off?
//!
//! The runtime says of each parallel collection how much its threads copied in balance.
//! Where that is little, one thread did the work and the others waited. To collect with one
//! thread (`-qg`) helps a program of which one capability works most of the time. Programs that
//! work in parallel lose by it: `docs/findings.md` has one of each kind.

use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Confidence, Finding, Outcome, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use model::format;

/// What is balanced of all that is copied: below, the threads hardly share the work.
const BALANCED: f64 = 0.30;
/// So little is copied faster than threads are woken.
const LITTLE_BYTES: u64 = 100_000;
/// Fewer collections are no habit.
const LEAST: usize = 20;
/// Less of the time is not worth a change.
const LEAST_SHARE: f64 = 0.05;
/// Up to so many capabilities that run on average, one works most of the time.
pub(super) const MOSTLY_ONE: f64 = 1.3;

const NAME: &str = "par-gc-unbalanced";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does parallel collection pay off?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let mut worst = 0.0_f64;
    for is_major in [false, true] {
        let wanted = |stop: &GcPause<'_>| {
            stop.is_major == is_major && stop.told.is_some_and(|told| told.is_parallel())
        };
        let found: Vec<(usize, &GcPause<'_>)> = context
            .stops_where(wanted)
            .filter(|(place, _)| loss_budget.is_free(*place))
            .collect();
        let told = || found.iter().filter_map(|(_, stop)| stop.told);
        let copied: u64 = told()
            .map(|told| told.total_copied_bytes.max(told.copied_bytes))
            .sum();
        let balanced: Option<u64> = told().map(|told| told.balanced_bytes).sum();
        let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
        worst = worst.max(context.share(pause_ns));
        let Some(balanced) = balanced else { continue };
        let count = found.len() as u64;
        let balance = balanced as f64 / copied.max(1) as f64;
        let is_little = copied / count.max(1) < LITTLE_BYTES;
        let is_bad = balance < BALANCED || is_little;
        if found.len() < LEAST || !is_bad || context.share(pause_ns) < LEAST_SHARE {
            continue;
        }
        let threads = told().map(|told| told.threads).max().unwrap_or(1);
        // One thread did the work of `1 - balance`; the others stood by meanwhile.
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
        let mut finding = context.of_time(NAME, title, loss_budget, (Pool::Collecting, cap_ns));
        finding.subject = Some(which.to_owned());
        finding.meaning = if balance < BALANCED {
            "The other threads of the collector only waited for it."
        } else {
            "One thread copies so little in less time than it takes to wake the others."
        }
        .into();
        advise(context, &mut finding);
        finding.numbers = vec![
            ("balance".into(), Value::Share(balance)),
            ("copied in each".into(), Value::Bytes(copied / count.max(1))),
            ("collections".into(), Value::Count(count)),
        ];
        let evidence = RuleContext::evidence_of(found.iter().map(|(_, stop)| *stop), |stop| {
            Value::Ns(stop.pause_ns())
        });
        return Outcome::Found(vec![finding.seen_in(evidence)]);
    }
    let worst = format::fraction(worst);
    Outcome::Clear(format!(
        "parallel collections of a generation took {worst} of the time at the most, or were in balance"
    ))
}

/// What may help: it depends on whether the program itself works in parallel.
fn advise(context: &RuleContext<'_>, finding: &mut Finding) {
    let is_serial = context.parallelism() <= MOSTLY_ONE;
    finding.confidence = Confidence::Probable;
    finding.distrust = "The runtime counts capabilities that it left idle too (-qn): threads may be fewer than it says.".into();
    if is_serial {
        finding.tries.push(Try::flag(
            "-qg",
            "Collect with one thread: one capability works most of the time.",
            "large collections may take longer",
        ));
        finding.tries.push(Try::flag(
            "-N1",
            "Use one capability: collections then need no others to stop.",
            "no parallel work at all",
        ));
    }
    let areas = context.larger_areas();
    if !areas.is_empty() {
        finding.tries.push(Try::flag(
            areas.join(", "),
            "Collect less often, and more at a time. The best size depends on the processor's caches: measure it.",
            "memory: as much for each capability; the processor's cache helps less",
        ));
    }
    // Where all capabilities work, one collecting thread or one capability makes programs
    // slower: with two of them there is nothing between.
    if is_serial || context.caps <= 2 {
        return;
    }
    let half = (context.caps / 2).max(2);
    finding.tries.push(Try::flag(
        format!("-qn{half}"),
        "Collect with fewer threads.",
        "large collections may take longer",
    ));
    finding.tries.push(Try::flag(
        format!("-N{}", context.caps - 1),
        "Use fewer capabilities: fewer have to stop, and to share the work. Measure it, as the program itself may become slower.",
        "less parallel work",
    ));
}
