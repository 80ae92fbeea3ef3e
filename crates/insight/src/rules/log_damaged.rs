//! Is anything missing in this log?
//!
//! A killed program does not write its last buffers, and damaged bytes are skipped. Capabilities then look idle.

use super::prelude::*;

pub(super) const RULE: Rule = Rule {
    name: "log-damaged",
    question: "Is the log damaged or incomplete?",
    inputs: &[],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let completeness = context.log.completeness;
    let Some(completeness) = completeness.filter(|now| now.damaged || !now.ends) else {
        return Outcome::Clear("the log is whole".to_owned());
    };
    if context.log.is_followed && !completeness.has_gaps {
        return Outcome::Clear("the program is still writing the log".to_owned());
    }
    let title = if completeness.has_gaps {
        "Parts of the log cannot be read"
    } else {
        "The log ends before the program did"
    };
    let mut finding = Finding::new(RULE.name, Axis::Log, title.to_owned());
    finding.severity = Severity::Medium;
    finding.meaning = "Capabilities with missing events appear idle or still running, so idle time, waits and sums in findings may be wrong.".into();
    finding.tries = vec![Advice::measure(
        "--eventlog-flush-interval=1",
        "Flush the buffers every second (GHC 9.2 and later), or end the program with an interrupt instead of killing it.",
    )];
    finding.distrust = "Events before the missing parts are intact.".into();
    let missing = context.log.info.lives.missing_buffers(completeness);
    let evidence = missing.filter_map(|missing| {
        let range = missing.range?.intersection(context.range)?;
        Some(Evidence {
            range,
            subjects: missing.cap.map(Subject::Capability).into_iter().collect(),
            amount: Value::Ns(range.duration().0),
        })
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
