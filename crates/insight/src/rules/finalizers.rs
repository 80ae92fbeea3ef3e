//! Do finalizers of weak pointers take time?
//!
//! After each collection the runtime runs the finalizers of the weak pointers that died in it, all in one new thread,
//! which it labels. Weak pointers themselves cost too: each collection visits those of the generations that it
//! collects, which the log does not show.

use super::{Evaluation, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Advice, Confidence, Evidence, Outcome, Subject, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::yielder::{Steps, Yield};
use model::format;

/// Label of the threads, from `GHC.Weak.Finalize`.
const LABEL: &str = "weak finalizer thread";
/// Minimum number of such threads; fewer belong to the end of some phase.
const MIN_COUNT: usize = 5;
/// Minimum share of the time; less is not worth a change.
const MIN_SHARE: f64 = 0.01;

const NAME: &str = "finalizers";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do finalizers of weak pointers take time?",
    inputs: &[Input::Threads],
    evaluate: Evaluation::Yielding(|context, loss_budget, yielder| {
        Box::pin(evaluate(context, loss_budget, yielder))
    }),
};

async fn evaluate(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let mut steps = Steps::new(yielder);
    let mut threads = Vec::new();
    for thread in context.log.store.threads_labeled(|label| label == LABEL) {
        steps.step().await;
        let runs = context.run_statistics(thread, context.range);
        if runs.all_ns > 0 {
            threads.push((thread, runs.all_ns));
        }
    }
    let ran_ns: u64 = threads.iter().map(|(_, ns)| ns).sum();
    let share = context.share_of_caps(ran_ns);
    if threads.len() < MIN_COUNT || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "{} ran finalizers, for {} of the time; the limits are 5 and 1 %",
            format::pluralize(threads.len() as u64, "thread"),
            format::fraction(share)
        ));
    }
    let title = format!(
        "{} ran finalizers of weak pointers, for {} of the time",
        format::pluralize(threads.len() as u64, "thread"),
        format::fraction(share)
    );
    let mut finding = context.time_finding(NAME, title, loss_budget, (Pool::Running, ran_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "Weak pointers with Haskell finalizers (mkWeak, addFinalizer, Foreign.Concurrent, System.Mem.StableName and caches made of them) die by the thousand. After each collection a new thread runs the finalizers, and each collection visits the weak pointers that live.".into();
    finding.tries = vec![
        Advice::code(
            "Release resources explicitly (bracket), one by one or in batches, and keep finalizers for what is forgotten.",
        ),
        Advice::code("Give a whole batch or table one weak pointer instead of one for each entry."),
        Advice::code(
            "For foreign memory use mallocForeignPtr, which needs no finalizer, or a finalizer in C.",
        ),
    ];
    finding.distrust =
        "The log shows the time of finalizers, but not how many there are, nor what visiting weak pointers costs."
            .into();
    finding.numbers = vec![("ran for".into(), Value::Ns(ran_ns))];
    let evidence = threads.into_iter().map(|(thread, ns)| Evidence {
        range: context.range,
        subjects: vec![Subject::Thread(thread)],
        amount: Value::Ns(ns),
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
