//! Are the threads that findings name known by numbers alone?
//!
//! A number says nothing of what a thread is for, and is another one in the next run. That
//! matters for threads that findings are about, so this rule is asked last.

use std::collections::BTreeMap;

use super::{Look, Rule, tiny_threads};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use crate::loss_budget::LossBudget;
use eventlog::ids::ThreadId;
use model::format;
use model::time::Interval;

/// One thread without a label is often the main thread, and easy to tell.
const LEAST: usize = 2;

const NAME: &str = "unlabelled";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do the threads that findings name have labels?",
    inputs: &[Input::Threads],
    look: Look::AtFindings(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget, findings: &[Finding]) -> Outcome {
    // With the first place where it is named, and how long all of them are.
    let mut threads: BTreeMap<ThreadId, (Interval, u64)> = BTreeMap::new();
    // What is said of thousands of threads is not about any of them.
    let is_of_many = |finding: &Finding| finding.rule == tiny_threads::NAME;
    let found = findings.iter().filter(|finding| finding.matters());
    let found = found.filter(|finding| !is_of_many(finding));
    for place in found.flat_map(|finding| &finding.evidence) {
        let named = place.subjects.iter().find_map(|subject| match *subject {
            Subject::Thread(thread) => Some(thread),
            _ => None,
        });
        if let Some(thread) = named {
            let (_, all_ns) = threads.entry(thread).or_insert((place.range, 0));
            *all_ns = all_ns.saturating_add(place.range.duration().0);
        }
    }
    let all = threads.len();
    threads.retain(|thread, _| context.log.store.label_of(*thread).is_none());
    let said = format!(
        "{} of {} that findings name {} no label",
        format::count(threads.len() as u64),
        format::many(all as u64, "thread"),
        if threads.len() == 1 { "has" } else { "have" }
    );
    if threads.len() < LEAST || threads.len() * 2 < all {
        return Outcome::Clear(format!("{said}; the limits are 2 and half of them"));
    }
    let mut finding = Finding::new(NAME, Axis::Log, said);
    finding.severity = Severity::Low;
    finding.cost = Value::Count(threads.len() as u64);
    finding.meaning = "Only their numbers identify them, and those change from run to run.".into();
    finding.tries = vec![Try::code(
        "Label threads where they are forked: labelThread of GHC.Conc.",
    )];
    finding.distrust =
        "Threads that a library forks can be labelled only if it hands out their ThreadId.".into();
    let evidence = threads.iter().map(|(thread, (range, ns))| Evidence {
        range: *range,
        subjects: vec![Subject::Thread(*thread)],
        amount: Value::Ns(*ns),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
