//! Does the program run as its users run it?
//!
//! The runtime's name says how the program was built. With `-debug` it checks itself all the
//! time; with `-prof` the compiler leaves optimisations out, so that cost centres stay.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Finding, Outcome, Severity, Try};
use crate::loss_budget::LossBudget;
use analysis::process::Way;

const NAME: &str = "not-representative";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does the program run as its users run it?",
    // Where no times are told, none can mislead.
    inputs: &[Input::Threads],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let process = context.log.info.process();
    if process.rts.is_none() {
        return Outcome::CannotTell("the log does not name the runtime".into());
    }
    let (title, meaning, text) = if process.ways.contains(&Way::Debugging) {
        (
            "Linked with the debug runtime",
            "It checks itself all the time: times are several times as long, those of collections and of switching most of all.",
            "Link without -debug before comparing times with anything.",
        )
    } else if process.ways.contains(&Way::Profiling) {
        (
            "The program is built for profiling",
            "Cost centres prevent some optimisations, and each object has a larger header: the program allocates more and runs slower, and not evenly so.",
            "For times and sizes as users have them, take a log of a build without -prof; -hT and -hi work without it.",
        )
    } else {
        return Outcome::Clear("it is built neither for debugging nor for profiling".to_owned());
    };
    let mut finding = Finding::new(NAME, Axis::Log, title.to_owned());
    finding.severity = Severity::Low;
    finding.meaning = meaning.into();
    finding.tries = vec![Try::code(text)];
    finding.distrust = "Which parts are slow compared with others is mostly the same.".into();
    Outcome::Found(vec![finding])
}
