//! Does one capability do the work of a parallel program?
//!
//! A program that makes sparks is meant to run in parallel, and so may be one whose threads come
//! and go. Where one capability runs nearly all of it, they have no effect: sparks are evaluated
//! too late, too little, or not at all, and a thread that returns what it has not evaluated leaves
//! the work to whoever looks at it.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::yielder::Yield;
use eventlog::ids::CapId;
use model::format;

/// So much of all running time is that of one capability.
const MOST: f64 = 0.95;
/// It runs for so much of the time: else the program waits for something.
const BUSY: f64 = 0.50;
/// So many sparks are made by a program that is meant to be parallel.
const LEAST_SPARKS: u64 = 100;
/// So many threads, beside the one that works, come and go: two do in any program, one when the
/// runtime starts and one that flushes its output at the end.
const LEAST_THREADS: usize = 4;
/// Each of them, and all, did so little of the work.
const LITTLE: f64 = 0.05;

pub(super) const NAME: &str = "one-worker";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does one capability do the work of a parallel program?",
    inputs: &[Input::Threads],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let times = &context.times.caps;
    let ran_ns: u64 = times.iter().map(|(_, times)| times.running_ns).sum();
    let most = times.iter().max_by_key(|(_, times)| times.running_ns);
    let (cap, most_ns) = most.map_or((CapId(0), 0), |(cap, times)| (*cap, times.running_ns));
    let share = most_ns as f64 / ran_ns.max(1) as f64;
    let busy = context.share(most_ns);
    if context.caps < 2 || share < MOST || busy < BUSY {
        return Outcome::Clear(format!(
            "the busiest of {} did {} of the work, and ran for {} of the time; the limits are 95 % and 50 %",
            format::many(context.caps, "capability"),
            format::fraction(share),
            format::fraction(busy)
        ));
    }
    let sparks = context.sparks();
    let worked = format!(
        "1 of {} did {} of the work",
        format::many(context.caps, "capability"),
        format::fraction(share)
    );
    let mut finding = if sparks.count >= LEAST_SPARKS {
        of_sparks(context, loss_budget, &worked)
    } else {
        let threads = context.finished_threads(yielder).await;
        let is_little = |ns: u64| (ns as f64) < LITTLE * ran_ns as f64;
        let helpers = threads.iter().map(|one| one.ran_ns);
        let helpers: Vec<u64> = helpers.filter(|ns| is_little(*ns)).collect();
        let workers = threads.len() - helpers.len();
        let helped_ns = helpers.iter().copied().fold(0, u64::saturating_add);
        if helpers.len() < LEAST_THREADS || workers > 1 || !is_little(helped_ns) {
            return Outcome::Clear(format!(
                "the program made {}, and {} came, did little and went; the limits are 100, and 4 that did less than 5 % of the work beside one that did the rest",
                format::many(sparks.count, "spark"),
                format::many(helpers.len() as u64, "thread")
            ));
        }
        of_threads(
            context,
            loss_budget,
            &worked,
            (helpers.len() as u64, helped_ns),
        )
    };
    finding.distrust =
        "In another part of the run, or with other input, the work may be divided better.".into();
    let busiest = ("work of the busiest".into(), Value::Share(share));
    finding.numbers.insert(0, busiest);
    let evidence = std::iter::once(Evidence {
        range: context.range,
        subjects: vec![Subject::Capability(cap)],
        amount: Value::Ns(most_ns),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}

/// Of a capability that did the work of sparks.
fn of_sparks(context: &RuleContext<'_>, loss_budget: &mut LossBudget, worked: &str) -> Finding {
    let sparks = context.sparks();
    let made = format::many(sparks.count, "spark");
    let mut finding = of_serial(
        context,
        loss_budget,
        format!("The program made {made}, but {worked}"),
    );
    finding.confidence = Confidence::Probable;
    finding.meaning = "The sparks have no effect: what was to run in parallel was evaluated by the thread that made them, or is a small part of the work.".into();
    finding.tries = vec![
        Try::code(
            "Let each spark evaluate all of its result: rdeepseq or force. A spark that ends at the first constructor leaves the work to the thread that needs the value.",
        ),
        Try::code(
            "Spark before the values are needed, and use what rpar, parList or using return.",
        ),
    ];
    finding.numbers = vec![
        ("sparks".into(), Value::Count(sparks.count)),
        ("sparks converted".into(), Value::Count(sparks.converted)),
    ];
    finding
}

/// Of a capability that worked while so many threads came and went that ran for so long in all.
fn of_threads(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    worked: &str,
    (count, ran_ns): (u64, u64),
) -> Finding {
    let went = format::many(count, "thread");
    let mut finding = of_serial(
        context,
        loss_budget,
        format!("{went} came and went, but {worked}"),
    );
    // They may be there for something else.
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = "If these threads were to share the work, they did not do it: a thread that puts a value somewhere without evaluating it leaves the work to the thread that looks at the value.".into();
    finding.tries = vec![
        Try::code(
            "Evaluate in the thread that is to do the work: evaluate, force (Control.DeepSeq) or ($!) before putMVar, writeIORef and modifyMVar.",
        ),
        Try::code("If the work is not to be shared: use one capability, -N1."),
    ];
    finding.numbers = vec![
        ("such threads".into(), Value::Count(count)),
        ("ran for, in all".into(), Value::Ns(ran_ns)),
    ];
    finding
}

/// All time in which one capability worked alone.
fn of_serial(context: &RuleContext<'_>, loss_budget: &mut LossBudget, title: String) -> Finding {
    let all_ns = loss_budget.all_ns(Pool::Serial);
    context.of_time(NAME, title, loss_budget, (Pool::Serial, all_ns))
}
