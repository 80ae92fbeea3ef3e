//! Do foreign calls stop all threads?
//!
//! Without `-threaded` the program has one OS thread: while it is in a foreign call, safe or not, no Haskell thread
//! runs. The log shows that where a safe call is long and other threads are ready meanwhile.

use super::prelude::*;
use crate::threads::ClippedWait;

/// Minimum share of the time in which threads were ready and nothing ran; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Minimum part of that time that foreign calls take, if they are its cause.
const MOST: f64 = 0.50;

pub(super) const RULE: Rule = Rule {
    name: "foreign-calls-block",
    question: "Do foreign calls stop all threads?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if !context.is_not_threaded() {
        return Outcome::Clear(
            "the program uses the threaded runtime: a safe foreign call lets other threads run"
                .to_owned(),
        );
    }
    let idle_ns = loss_budget.all_ns(Pool::CapIdleWorkAvailable);
    let share = context.share_of_caps(idle_ns);
    let calls_ns = context.threads().await.times.foreign_ns();
    if share < MIN_SHARE || (calls_ns as f64) < MOST * idle_ns as f64 {
        return Outcome::Clear(format!(
            "threads were ready and nothing ran for {} of the time, foreign calls took {}; the limits are 5 %, and half of that",
            format::fraction(share),
            format::fraction(context.share(calls_ns))
        ));
    }
    let calls = context.foreign_calls(0).await;
    let title = format!(
        "{} stopped all threads for {}: the program is not linked with -threaded",
        format::pluralize(calls.len() as u64, "foreign call"),
        format::duration_ns(idle_ns)
    );
    let claim = (Pool::CapIdleWorkAvailable, idle_ns);
    let mut finding = context.time_finding(RULE.name, title, loss_budget, claim);
    finding.confidence = Confidence::Certain;
    finding.meaning = "The non-threaded runtime has one OS thread. While it is in a foreign call, no Haskell thread runs, even if the call only waits; other threads were ready meanwhile.".into();
    finding.tries = vec![
        Advice::flag(
            "-threaded",
            "Link with this flag: other threads then run during safe foreign calls.",
            "each foreign call and each hand-over between threads is a little slower",
        ),
        Advice::code(
            "Import long calls as safe: an unsafe one stops its capability in any runtime.",
        ),
        Advice::code(
            "Wait without a blocking call if the library allows it: threadWaitRead, or callbacks.",
        ),
    ];
    finding.distrust =
        "Calls that compute, rather than wait, gain only with several capabilities (-N).".into();
    finding.set_numbers([
        ("foreign calls", Value::Count(calls.len() as u64)),
        ("in foreign calls", Value::Ns(calls_ns)),
    ]);
    Outcome::Found(vec![
        finding.with_evidence(calls.iter().map(ClippedWait::evidence)),
    ])
}
