//! Which events are missing, and what would they tell?

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use eventlog::{EventSet, EventType};

const NAME: &str = "classes-missing";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Which events are missing?",
    inputs: &[],
    look: Look::AtOnce(look),
};

/// What a plain `+RTS -l` logs: its name, the flag, the questions that need it.
const USUAL: [(Input, &str, &str, &str); 2] = [
    (
        Input::Threads,
        "events of threads",
        "-ls",
        "Which threads ran, waited or were blocked, and on what.",
    ),
    (
        Input::GcStatistics,
        "statistics of collections",
        "-lg",
        "What collections cost, what they copied, and how much is alive (GHC 7.6 and later).",
    ),
];

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let info = &context.log.info;
    let has = |types: &[EventType]| info.has(EventSet::of(types));
    // The settings of the heap are logged by the same flag when the program starts: then there
    // was no collection.
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
    let mut finding = Finding::new(NAME, Axis::Log, title);
    finding.severity = Severity::Low;
    finding.cost = Value::Count(missing.len() as u64);
    finding.meaning =
        "Rules that need them could not run: finding nothing does not mean that nothing is wrong."
            .into();
    let tries = missing
        .iter()
        .map(|(_, _, flag, tells)| Try::measure(flag, *tells));
    finding.tries = tries.collect();
    finding.distrust = "A program that ends at once may have none of them.".into();
    Outcome::Found(vec![finding])
}
