//! Are the program's messages most of the log?
//!
//! Each `traceEvent` builds a text and copies it into a buffer, which takes several hundred nanoseconds or more: a
//! program that logs each item of its work measures its own messages.

use super::prelude::*;
use analysis::info::TypeCount;
use eventlog::EventType;

/// Minimum share of the log's bytes. Of a range it is unknown: only the whole log has the bytes of each type.
const MIN_SHARE: f64 = 0.50;
/// Minimum number of messages; fewer cost nothing.
const MIN_COUNT: u64 = 1_000;
/// Maximum running time per message; beyond that, messages cost little compared to the work.
const MAX_BETWEEN_NS: u64 = 20_000;
/// Estimated time of a message, and of each byte of it: most texts are made from a `String`, character by character.
const MESSAGE_NS: u64 = 200;
const BYTE_NS: u64 = 20;

const MESSAGE_EVENTS: [EventType; 3] = [
    EventType::USER_MSG,
    EventType::USER_MARKER,
    EventType::USER_BINARY_MSG,
];

pub(super) const RULE: Rule = Rule {
    name: "many-messages",
    question: "Do messages of the program dominate the log?",
    inputs: &[Input::Threads],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let types = context.log.info.types();
    let is_message = |of: &&TypeCount| MESSAGE_EVENTS.contains(&EventType(of.id));
    let bytes: u64 = types.iter().filter(is_message).map(|of| of.bytes).sum();
    let all_bytes: u64 = types.iter().map(|of| of.bytes).sum();
    let share = bytes as f64 / all_bytes.max(1) as f64;
    let count = context.log.messages.indexes_in(context.range).len() as u64;
    let running_ns = context.times.all_caps().running_ns;
    let between_ns = running_ns / count.max(1);
    if count < MIN_COUNT || share < MIN_SHARE || between_ns > MAX_BETWEEN_NS {
        return Outcome::Clear(format!(
            "{} of the program, one for each {} that threads ran; messages are {} of the whole log; the limits are 1,000, 20 µs and 50 %",
            format::pluralize(count, "message"),
            format::duration_ns(between_ns),
            format::fraction(share)
        ));
    }
    let of_types: u64 = types.iter().filter(is_message).map(|of| of.count).sum();
    let message_ns = MESSAGE_NS.saturating_add(bytes / of_types.max(1) * BYTE_NS);
    let messages_ns = count.saturating_mul(message_ns).min(running_ns);
    let title = format!(
        "{}, one for each {} of work, take an estimated {} of the time; messages are {} of the whole log",
        format::pluralize(count, "user message"),
        format::duration_ns(between_ns),
        format::fraction(context.share_of_caps(messages_ns)),
        format::fraction(share)
    );
    let cost = (Pool::Running, messages_ns);
    let mut finding = context.time_finding(RULE.name, title, loss_budget, cost);
    finding.confidence = Confidence::Probable;
    finding.meaning = "A message is formatted and then copied character by character: some hundred nanoseconds, and about 20 for each character. Without messages the program is faster.".into();
    finding.tries = Advice::code_changes([
        "Trace less often: once per batch, or every hundredth item.",
        "Record a log without them: +RTS -l-u. They are not written then, but their texts may still be built.",
        "Guard them with a flag of the program, so that texts are not built either.",
    ]);
    finding.distrust =
        "A short constant text costs less than one that is built at run time.".into();
    finding.set_numbers([
        ("messages", Value::Count(count)),
        ("running time for each", Value::Ns(between_ns)),
    ]);
    if context.is_whole() {
        let bytes = ("bytes".into(), Value::Bytes(bytes));
        finding.numbers.push(bytes);
    }
    Outcome::Found(vec![finding])
}
