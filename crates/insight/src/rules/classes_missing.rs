//! Which events are missing, and what would they tell?

use super::{Look, Rule};
use crate::finding::{Axis, Finding, Outcome, Severity, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope};

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
        "What collections cost, what they copied, and how much is alive.",
    ),
];

fn look(scope: &Scope<'_>, _: &mut Ledger) -> Outcome {
    let missing = USUAL
        .iter()
        .filter(|(input, ..)| !input.is_in(&scope.log.info));
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() {
        return Outcome::Clear("threads and collections are in the log".to_owned());
    }
    let names: Vec<&str> = missing.iter().map(|(_, name, ..)| *name).collect();
    let title = format!("The log has no {}", names.join(" and no "));
    let mut finding = Finding::new(NAME, Axis::Log, title);
    finding.severity = Severity::Low;
    finding.cost = Value::Count(missing.len() as u64);
    finding.meaning = "Rules that need them could not be asked, so that nothing was found does not mean that nothing is wrong.".into();
    let tries = missing
        .iter()
        .map(|(_, _, flag, tells)| Try::measure(flag, *tells));
    finding.tries = tries.collect();
    finding.distrust = "A program that ends at once may have none of them.".into();
    Outcome::Found(vec![finding])
}
