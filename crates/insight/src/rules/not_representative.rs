//! Does the program run as its users run it?
//!
//! The runtime's name shows how the program was built. With `-debug` the runtime constantly checks itself; with
//! `-prof` the compiler omits optimizations in order to preserve cost centres.

use super::prelude::*;
use analysis::process::Way;

pub(super) const RULE: Rule = Rule {
    name: "not-representative",
    question: "Is the build representative of what users run?",
    // A log without times cannot mislead about them.
    inputs: &[Input::Threads],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let process = context.log.info.process();
    if process.rts.is_none() {
        return Outcome::CannotTell("the log does not name the runtime".into());
    }
    let (title, meaning, text) = if process.ways.contains(&Way::Debugging) {
        (
            "Linked with the debug runtime",
            "The debug runtime checks itself constantly: times are several times as long, most of all those of collections and context switches.",
            "Link without -debug before comparing times.",
        )
    } else if process.ways.contains(&Way::Profiling) {
        (
            "The program is built for profiling",
            "Cost centres prevent some optimizations, and each object has a larger header: the program allocates more and runs slower, unevenly.",
            "Measure times and sizes in a build without -prof; -hT and -hi work without it.",
        )
    } else {
        return Outcome::Clear("it is built neither for debugging nor for profiling".to_owned());
    };
    let mut finding = Finding::new(RULE.name, Axis::Log, title.to_owned());
    finding.severity = Severity::Low;
    finding.meaning = meaning.into();
    finding.tries = vec![Advice::code(text)];
    finding.distrust = "The relative cost of parts is mostly the same.".into();
    Outcome::Found(vec![finding])
}
