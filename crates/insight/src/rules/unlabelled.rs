//! Do the threads listed by findings have labels?
//!
//! A number does not show the purpose of a thread, and changes from run to run. That matters for threads in
//! findings, so this rule is evaluated last.

use std::collections::BTreeMap;

use super::prelude::*;
use super::tiny_threads;

/// Minimum number of threads; a single one without a label is often the main thread, and easy to recognize.
const MIN_COUNT: usize = 2;

pub(super) const RULE: Rule = Rule {
    name: "unlabelled",
    question: "Do the threads listed by findings have labels?",
    inputs: &[Input::Threads],
    evaluate: Evaluation::OnFindings(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget, findings: &[Finding]) -> Outcome {
    // First evidence of each thread, and how often evidence names it.
    let mut threads: BTreeMap<ThreadId, (Interval, u64)> = BTreeMap::new();
    // A finding on thousands of threads is not about any single one.
    let is_of_many = |finding: &Finding| finding.rule == tiny_threads::RULE.name;
    let found = findings.iter().filter(|finding| finding.is_significant());
    let found = found.filter(|finding| !is_of_many(finding));
    for evidence in found.flat_map(|finding| &finding.evidence) {
        let named = evidence.subjects.iter().find_map(|subject| match *subject {
            Subject::Thread(thread) => Some(thread),
            _ => None,
        });
        if let Some(thread) = named {
            let (_, count) = threads.entry(thread).or_insert((evidence.range, 0));
            *count += 1;
        }
    }
    let all = threads.len();
    threads.retain(|thread, _| context.log.store.label_of(*thread).is_none());
    let said = format!(
        "{} of {} listed by findings {} no label",
        format::count(threads.len() as u64),
        format::pluralize(all as u64, "thread"),
        if threads.len() == 1 { "has" } else { "have" }
    );
    if threads.len() < MIN_COUNT || threads.len() * 2 < all {
        return Outcome::Clear(format!("{said}; the limits are 2 and half of them"));
    }
    let mut finding = Finding::new(RULE.name, Axis::Log, said);
    finding.severity = Severity::Low;
    finding.cost = Value::Count(threads.len() as u64);
    finding.meaning =
        "Only numbers identify these threads, and they change from run to run.".into();
    finding.tries = vec![Advice::code(
        "Label threads where they are forked: labelThread from GHC.Conc.",
    )];
    finding.distrust =
        "Threads that a library forks can be labelled only if it exposes their ThreadId.".into();
    finding.counted = "mention".into();
    let evidence = threads.iter().map(|(thread, (range, count))| {
        Evidence::for_thread(*thread, *range, Value::Count(*count))
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
