//! Do options that were asked for cost time?
//!
//! Some options of the runtime trade speed for memory, for short pauses or for checks. Where
//! the log shows what they cost, dropping them is the first thing to try.

use super::asked_for::claim;
use super::nursery_too_small::asked_small;
use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Axis, Confidence, Evidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::timeline::nonmoving::Phase;
use eventlog::ids::{Duration, Nanos};
use model::format;
use model::gauge::Samples;
use model::time::Interval;

/// Less of the time is a price that the option may be worth.
const LEAST_SHARE: f64 = 0.05;
/// Fewer full collections are no habit.
const LEAST: usize = 3;
/// Of fewer minor collections a single long one has most of the time.
const LEAST_MINOR: usize = 50;
/// With a smaller factor the old generation is collected twice as often as by default, or more.
const SMALL_FACTOR: f64 = 1.5;
/// A heap of so much of its limit comes near it.
const NEAR: f64 = 0.80;
/// Marking takes a core: for so much of the time it slows a program down.
const LEAST_MARKING: f64 = 0.20;

const NAME: &str = "costly-flags";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do options that were asked for cost time?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

/// An option whose price is time in collections.
struct Costly {
    flag: String,
    /// Whether it is about full collections, or about those of the young generation.
    is_major: bool,
    meaning: &'static str,
    price: &'static str,
}

/// Whether the heap was nearly as large as it may be.
fn comes_near(context: &RuleContext<'_>, limit: u64) -> bool {
    let sizes = context.log.numbers.heap_sizes();
    let (from, to) = (context.range.start().0, context.range.end().0);
    let places = sizes.first_at(from)..sizes.first_after(to);
    let most = places.map(|place| sizes.value(place)).max();
    most.is_some_and(|most| most as f64 >= NEAR * limit as f64)
}

/// The options of the run that cost time in collections.
fn asked(context: &RuleContext<'_>) -> Vec<Costly> {
    let mut all = Vec::new();
    let options = context.log.info.runtime_options();
    let checks = |word: &&String| word.starts_with("-D") && word.contains('S');
    if let Some(flag) = options.iter().find(checks) {
        all.push(Costly {
            flag: flag.clone(),
            is_major: true,
            meaning: "The debug runtime checks the whole heap around each collection.",
            price: "no sanity checks",
        });
    }
    if context.has_argument("-c") {
        all.push(Costly {
            flag: "-c".to_owned(),
            is_major: true,
            meaning: "All live data is marked and moved together in place: that takes longer than to copy it, and needs less memory.",
            price: "memory: live data is there twice during a collection",
        });
    }
    if context.has_argument("-G1") {
        all.push(Costly {
            flag: "-G1".to_owned(),
            is_major: true,
            meaning: "There is one generation: each collection copies all live data.",
            price: "collections of the old generation are rarer, and not shorter",
        });
    }
    if let Some(value) = context.option_value("-F")
        && context.old_generation_factor() < SMALL_FACTOR
        && !context.is_nonmoving()
    {
        all.push(Costly {
            flag: format!("-F{value}"),
            is_major: true,
            meaning: "The old generation is collected whenever it has grown a little, not when it has doubled as by default.",
            price: "memory: the old generation may grow to twice live data",
        });
    }
    if let Some(value) = context.option_value("-M")
        && context
            .heap_limit_bytes()
            .is_some_and(|limit| comes_near(context, limit))
    {
        all.push(Costly {
            flag: format!("-M{value}"),
            is_major: true,
            meaning: "The heap came near this limit. The nearer it comes, the more often the old generation is collected, and at last it is compacted in place.",
            price: "memory: the heap may become larger",
        });
    }
    if let Some(flag) = asked_small(context) {
        all.push(Costly {
            flag,
            is_major: false,
            meaning: "The smaller the allocation area, the more collections there are, each with a cost of its own.",
            price: "memory: 1 MiB for each capability before GHC 9.2, 4 MiB since",
        });
    }
    all
}

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let asked = asked(context);
    let looked_at = asked.iter().map(|one| one.flag.clone()).collect::<Vec<_>>();
    let found = asked
        .into_iter()
        .filter_map(|one| collections(context, loss_budget, one));
    let mut found: Vec<Finding> = found.collect();
    found.extend(nonmoving(context));
    if !found.is_empty() {
        return Outcome::Found(found);
    }
    Outcome::Clear(match looked_at.is_empty() {
        true => {
            "the command line and GHCRTS have no option that costs time in collections".to_owned()
        }
        false => format!(
            "{}: its collections took less than the limit of 5 % of the time, were too few, or another finding has them",
            looked_at.join(", ")
        ),
    })
}

/// The finding of an option by the collections that it is about.
fn collections(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    costly: Costly,
) -> Option<Finding> {
    let wanted = |stop: &GcPause<'_>| stop.told.is_some() && stop.is_major == costly.is_major;
    let found: Vec<_> = context
        .stops_where(wanted)
        .filter(|(place, _)| loss_budget.is_free(*place))
        .collect();
    let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let share = context.share(pause_ns);
    let least = if costly.is_major { LEAST } else { LEAST_MINOR };
    if share < LEAST_SHARE || found.len() < least {
        return None;
    }
    let kind = if costly.is_major { "major" } else { "minor" };
    let title = format!(
        "{} was asked for: {} took {} of the time",
        costly.flag,
        format::many(found.len() as u64, &format!("{kind} collection")),
        format::fraction(share)
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    finding.confidence = Confidence::Probable;
    finding.meaning = costly.meaning.into();
    finding.tries = vec![run_without(&costly.flag, costly.price)];
    finding.distrust =
        "Without the option some of these collections remain; it may be there on purpose.".into();
    finding.numbers = vec![
        ("collections".into(), Value::Count(found.len() as u64)),
        ("their pauses".into(), Value::Ns(pause_ns)),
    ];
    finding.subject = Some(costly.flag);
    Some(finding)
}

/// To run without an option.
fn run_without(flag: &str, price: &'static str) -> Try {
    let mut advice = Try::code(format!(
        "Drop {flag}, and compare runs with and without it."
    ));
    advice.price = Some(price.into());
    advice
}

/// The nonmoving collector, if it was asked for: its price is a core that marks, and slower
/// promotion, of which the log shows the first.
fn nonmoving(context: &RuleContext<'_>) -> Option<Finding> {
    let flag = ["--nonmoving-gc", "-xn"]
        .into_iter()
        .find(|flag| context.has_argument(flag))?;
    let marks = context
        .log
        .tracks
        .nonmoving
        .lane(Phase::Mark)
        .within(context.range);
    let spans = marks.filter_map(|piece| {
        Interval::new(Nanos(piece.start), Nanos(piece.end)).intersection(context.range)
    });
    let spans: Vec<Interval> = spans.collect();
    let marking_ns: u64 = spans.iter().map(|span| span.duration().0).sum();
    let share = context.share(marking_ns);
    if share < LEAST_MARKING {
        return None;
    }
    let title = format!(
        "{flag} was asked for: marking took {}, {} of the time",
        format::duration(Duration(marking_ns)),
        format::fraction(share)
    );
    // It takes no time of capabilities as long as a core is free: there is nothing to claim.
    let mut finding = Finding::new(NAME, Axis::Time, title);
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Hint;
    finding.cost = Value::Share(share);
    finding.share = share;
    finding.subject = Some(flag.to_owned());
    finding.meaning = "The nonmoving collector makes pauses short, and programs slower: it marks beside the program, and promotion costs more.".into();
    finding.tries = vec![run_without(flag, "long pauses, with much live data")];
    finding.distrust =
        "Where answers in time count for more than throughput, that is its use.".into();
    finding.numbers = vec![("marking".into(), Value::Ns(marking_ns))];
    let evidence = spans.into_iter().map(|range| Evidence {
        range,
        subjects: Vec::new(),
        amount: Value::Ns(range.duration().0),
    });
    Some(finding.seen_in(evidence))
}
