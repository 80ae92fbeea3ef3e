//! Are messages of the program most of the log?
//!
//! Each `traceEvent` makes a text and copies it into a buffer, some hundred nanoseconds and more:
//! a program that says something for each item of its work measures its own messages.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::info::TypeCount;
use eventlog::EventType;
use eventlog::ids::Duration;
use model::format;

/// The messages have so much of the log's bytes.
const LEAST_SHARE: f64 = 0.50;
/// Fewer cost nothing.
const LEAST: u64 = 1_000;
/// Less often than for each so many nanoseconds that threads ran, a message costs little beside
/// the work.
const MOST_BETWEEN_NS: u64 = 20_000;

const NAME: &str = "many-messages";

const OF_THE_PROGRAM: [EventType; 3] = [
    EventType::USER_MSG,
    EventType::USER_MARKER,
    EventType::USER_BINARY_MSG,
];

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Are messages of the program most of the log?",
    inputs: &[Input::Threads],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let types = context.log.info.types();
    let is_message = |of: &&TypeCount| OF_THE_PROGRAM.contains(&EventType(of.id));
    let bytes: u64 = types.iter().filter(is_message).map(|of| of.bytes).sum();
    let all_bytes: u64 = types.iter().map(|of| of.bytes).sum();
    let share = bytes as f64 / all_bytes.max(1) as f64;
    let count = context.log.messages.places(context.range).len() as u64;
    let between_ns = context.times.all_caps().running_ns / count.max(1);
    if count < LEAST || share < LEAST_SHARE || between_ns > MOST_BETWEEN_NS {
        return Outcome::Clear(format!(
            "{} of the program are {} of the log, one for each {} that threads ran; the limits are 1,000, 50 % and 20 µs",
            format::many(count, "message"),
            format::fraction(share),
            format::duration(Duration(between_ns))
        ));
    }
    let title = format!(
        "{} are {} of the log, one for each {} of work",
        format::many(count, "user message"),
        format::fraction(share),
        format::duration(Duration(between_ns))
    );
    let mut finding = Finding::new(NAME, Axis::Log, title);
    finding.severity = Severity::Medium;
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Bytes(bytes);
    finding.share = share;
    finding.meaning = "To make a text and write it takes some hundred nanoseconds and more, so that much of the time in this log is for messages: without them the program is faster.".into();
    finding.tries = vec![
        Try::code("Trace less often: once for a batch, or for each hundredth item."),
        Try::code(
            "Take a log without them: +RTS -l-u. They are not written then, though their texts may still be made.",
        ),
        Try::code("Guard them with a flag of the program, so that texts are not made either."),
    ];
    finding.distrust = "A short text that is known when the program is compiled costs less than one that is put together.".into();
    finding.numbers = vec![
        ("messages".into(), Value::Count(count)),
        ("bytes".into(), Value::Bytes(bytes)),
        ("running time for each".into(), Value::Ns(between_ns)),
    ];
    Outcome::Found(vec![finding])
}
