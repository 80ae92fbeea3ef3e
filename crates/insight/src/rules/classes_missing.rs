//! Which events are missing, and what would they show?

use super::prelude::*;
use crate::truncated_name::truncated_name;
use eventlog::{EventSet, EventType};

pub(super) const RULE: Rule = Rule {
    name: "classes-missing",
    question: "Which events are missing?",
    inputs: &[],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Events that plain `+RTS -l` logs: input, name, flag, questions that need them.
const USUAL: [(Input, &str, &str, &str); 2] = [
    (
        Input::Threads,
        "events of threads",
        "-ls",
        "Running, waiting and blocked threads, with the reasons.",
    ),
    (
        Input::GcStatistics,
        "statistics of collections",
        "-lg",
        "Time of collections, copied bytes and live bytes (GHC 7.6 and later).",
    ),
];

/// Describes the spans of the program that take the most time, which show where to look without other events.
fn longest_spans(context: &RuleContext<'_>) -> Option<String> {
    let totals = context.log.span_totals(None);
    let longest = totals.first()?.rows.first()?;
    let share = context.share(longest.time.0);
    Some(format!(
        "Of the spans that the program logs, {} took the longest: {} in {}, {} of the time.",
        truncated_name(&longest.name),
        format::duration_ns(longest.time.0),
        format::pluralize(longest.count, "span"),
        format::fraction(share.min(1.0))
    ))
}

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let info = &context.log.info;
    let has = |types: &[EventType]| info.has(EventSet::from_types(types));
    // The same flag logs the heap settings at program start: with these but no statistics, there was no
    // collection.
    let none_yet = has(&[EventType::HEAP_INFO_GHC]) && !has(&[EventType::GC_START]);
    let is_missing = |input: Input| {
        let is_told = input == Input::GcStatistics && none_yet;
        !is_told && !input.is_in(info)
    };
    let missing: Vec<_> = USUAL.iter().filter(|one| is_missing(one.0)).collect();
    if missing.is_empty() {
        return Outcome::Clear("threads and collections are in the log".to_owned());
    }
    let names: Vec<&str> = missing.iter().map(|(_, name, ..)| *name).collect();
    let title = format!("The log has no {}", names.join(" and no "));
    let mut finding = Finding::new(RULE.name, Axis::Log, title);
    finding.severity = Severity::Low;
    finding.cost = Value::Count(missing.len() as u64);
    finding.meaning =
        "Rules that need these events could not run: problems may go unnoticed.".into();
    if let Some(longest) = longest_spans(context) {
        finding.meaning = format!("{} {longest}", finding.meaning).into();
    }
    let tries = missing
        .iter()
        .map(|(_, _, flag, tells)| Advice::measure(flag, *tells));
    finding.tries = tries.collect();
    finding.distrust = "A program that ends at once may have no such events.".into();
    Outcome::Found(vec![finding])
}
