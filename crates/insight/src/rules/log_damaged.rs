//! Is anything missing in this log?
//!
//! A program that is killed does not write its last buffers, and damaged bytes are left
//! out: capabilities then seem to stand still.

use super::{Look, Rule};
use crate::context::RuleContext;
use crate::finding::{Axis, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use crate::loss_budget::LossBudget;

const NAME: &str = "log-damaged";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Is anything missing in this log?",
    inputs: &[],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let condition = context.log.condition;
    let Some(condition) = condition.filter(|now| now.damaged || !now.ends) else {
        return Outcome::Clear("the log is whole".to_owned());
    };
    if context.log.is_followed && !condition.has_gaps {
        return Outcome::Clear("the program is still writing the log".to_owned());
    }
    let title = if condition.has_gaps {
        "Parts of the log cannot be read"
    } else {
        "The log ends before the program did"
    };
    let mut finding = Finding::new(NAME, Axis::Log, title.to_owned());
    finding.severity = Severity::Medium;
    finding.meaning = "Capabilities of which events are missing seem to be idle or to run on, so what findings say of idle time, waits and sums may be wrong.".into();
    finding.tries = vec![Try::measure(
        "--eventlog-flush-interval=1",
        "If the program is killed, let it write its buffers every second (GHC 9.2 and later), or end it with an interrupt.",
    )];
    finding.distrust = "What lies before the missing parts is as the runtime wrote it.".into();
    let missing = context.log.info.lives.missing_buffers(condition);
    let evidence = missing.filter_map(|missing| {
        let range = missing.range?.intersection(context.range)?;
        Some(Evidence {
            range,
            subjects: missing.cap.map(Subject::Capability).into_iter().collect(),
            amount: Value::Ns(range.duration().0),
        })
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
