//! Does heap profiling distort what is seen?
//!
//! A census walks the live heap while the program stands still.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::yielder::Yield;
use eventlog::ids::Duration;
use model::format;

/// Less of the time does not change the picture.
const LEAST_SHARE: f64 = 0.02;

/// Intervals between censuses, in seconds, and their flags.
const INTERVALS: [(f64, &str); 4] = [(0.5, "-i0.5"), (1.0, "-i1"), (5.0, "-i5"), (30.0, "-i30")];

/// A heap profile of fewer censuses shows no course.
const FEW: f64 = 5.0;

const NAME: &str = "census-pauses";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does heap profiling distort what is seen?",
    inputs: &[Input::Collections, Input::Censuses],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let mut found = Vec::new();
    for (place, stop) in context.stops_where(|_| true) {
        yielder.yield_if_due().await;
        if loss_budget.is_free(place) && context.has_census(stop) {
            found.push((place, stop));
        }
    }
    let all_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let share = context.share(all_ns);
    if share < LEAST_SHARE {
        let share = format::fraction(share);
        return Outcome::Clear(format!(
            "collections with censuses took {share} of the time; the limit is 2 %"
        ));
    }
    let title = format!(
        "{} stopped the program for {} of {}",
        format::many(found.len() as u64, "census"),
        format::duration(Duration(all_ns)),
        format::duration(Duration(context.length_ns()))
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    // It is no fault of the program.
    finding.severity = finding.severity.min(Severity::Medium);
    finding.meaning = "Each census runs a major collection and walks the live heap while the program is stopped. Other findings about time are less certain because of it.".into();
    finding.tries = tries(context.length_ns(), found.len() as u64, all_ns);
    finding.distrust = "Without the heap profile the program does not have these pauses.".into();
    finding.numbers = vec![("censuses".into(), Value::Count(found.len() as u64))];
    Outcome::Found(vec![finding])
}

/// A longer interval, if the run is long enough for one at which censuses take little of it.
fn tries(length_ns: u64, censuses: u64, all_ns: u64) -> Vec<Try> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let (length, each) = (seconds(length_ns), seconds(all_ns / censuses.max(1)));
    let is_seldom = |interval: f64| {
        let is_longer = interval * censuses as f64 > length;
        is_longer && each < LEAST_SHARE * interval && length >= FEW * interval
    };
    let seldom = INTERVALS.iter().find(|(interval, _)| is_seldom(*interval));
    let flag = seldom.map(|(_, flag)| {
        Try::flag(
            *flag,
            "Take a census less often: they take less than 2 % of the time then.",
            "a coarser heap profile",
        )
    });
    let without = Try::code("Measure times in a run without a heap profile.");
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
        // At -i5 it would have two censuses.
        assert_eq!(flag(10_000, 100, 40), None);
        assert_eq!(flag(100_000, 100, 40).as_deref(), Some("-i5"));
        // They are as seldom as that already.
        assert_eq!(flag(10_000, 10, 5), None);
        assert_eq!(flag(100, 2, 5), None);
    }
}
