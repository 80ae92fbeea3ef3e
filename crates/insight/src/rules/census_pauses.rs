//! Does heap profiling distort the measurement?
//!
//! A census traverses the live heap while the program is stopped.

use super::prelude::*;
use super::requested_collections::claim_collections;

/// Minimum share of the time; less does not distort the picture.
const MIN_SHARE: f64 = 0.02;

/// Intervals between censuses in seconds, with their flags.
const INTERVALS: [(f64, &str); 4] = [(0.5, "-i0.5"), (1.0, "-i1"), (5.0, "-i5"), (30.0, "-i30")];

/// Minimum censuses per run: fewer do not show a trend.
const FEW: f64 = 5.0;

/// Interval between censuses by default, in seconds. A shorter one was asked for: its cost is the program's.
const DEFAULT_INTERVAL_S: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    name: "census-pauses",
    question: "Does heap profiling distort the measurements?",
    inputs: &[Input::Collections, Input::Censuses],
    evaluate: yielding!(evaluate),
};

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let mut found = Vec::new();
    for (index, gc) in context.collections_where(|_| true) {
        context.yielder.yield_if_due().await;
        if loss_budget.is_pause_free(index) && context.has_census(gc) {
            found.push((index, gc));
        }
    }
    let all_ns: u64 = found.iter().map(|(_, gc)| gc.pause_ns()).sum();
    let share = context.share(all_ns);
    if share < MIN_SHARE {
        let share = format::fraction(share);
        return Outcome::Clear(format!(
            "collections with censuses took {share} of the time; the limit is 2 %"
        ));
    }
    let title = format!(
        "{} stopped the program for {} of {}",
        format::pluralize(found.len() as u64, "census"),
        format::duration_ns(all_ns),
        format::duration_ns(context.length_ns())
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    // The program itself is not at fault: what is comes first.
    finding.severity = finding.severity.min(Severity::Low);
    if interval_s(context).is_none_or(|interval| interval >= DEFAULT_INTERVAL_S) {
        finding.axis = Axis::Log;
    }
    finding.meaning = "Each census runs a major collection and traverses the live heap while the program is stopped. In the table of capability time by cause, the census alone is a row; the collection is GC work. Findings about time are less certain because of it.".into();
    finding.tries = tries(context.length_ns(), found.len() as u64, all_ns);
    finding.distrust = "Without the heap profile the program does not have these pauses.".into();
    finding.set_numbers([("censuses", Value::Count(found.len() as u64))]);
    Outcome::Found(vec![finding])
}

/// Returns the interval between censuses that was asked for (`-i`), in seconds.
fn interval_s(context: &RuleContext<'_>) -> Option<f64> {
    context.option_value("-i")?.parse().ok()
}

/// Advises a longer interval, if the run is long enough for one at which censuses take little time.
fn tries(length_ns: u64, censuses: u64, all_ns: u64) -> Vec<Advice> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let (length, each) = (seconds(length_ns), seconds(all_ns / censuses.max(1)));
    let is_seldom = |interval: f64| {
        let is_longer = interval * censuses as f64 > length;
        is_longer && each < MIN_SHARE * interval && length >= FEW * interval
    };
    let seldom = INTERVALS.iter().find(|(interval, _)| is_seldom(*interval));
    let flag = seldom.map(|(_, flag)| {
        Advice::flag(
            *flag,
            "Take a census less often: censuses then take less than 2 % of the time.",
            "a coarser heap profile",
        )
    });
    let without = Advice::code("Leave the heap profile (-h) out of runs whose time matters.");
    flag.into_iter().chain([without]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_fits_pauses_and_run() {
        let flag = |length_ms: u64, censuses, each_ms: u64| {
            let tries = tries(
                length_ms * 1_000_000,
                censuses,
                censuses * each_ms * 1_000_000,
            );
            tries.iter().find_map(|one| one.flag.clone())
        };
        assert_eq!(flag(10_000, 100, 5).as_deref(), Some("-i0.5"));
        assert_eq!(flag(10_000, 100, 15).as_deref(), Some("-i1"));
        // At -i5 there would be only two censuses.
        assert_eq!(flag(10_000, 100, 40), None);
        assert_eq!(flag(100_000, 100, 40).as_deref(), Some("-i5"));
        // The current interval is already as long.
        assert_eq!(flag(10_000, 10, 5), None);
        assert_eq!(flag(100, 2, 5), None);
    }
}
