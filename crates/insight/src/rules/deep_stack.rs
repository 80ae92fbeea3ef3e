//! Does a stack grow?
//!
//! A thread starts with a stack of a kilobyte and gets 32 KiB chunks as needed: deep recursion, or forcing a long
//! chain of thunks, takes one after the other. Whenever a chunk is full, the runtime logs the size of the whole
//! stack.

use std::collections::BTreeMap;

use super::prelude::*;
use model::gauge::Samples;
use model::sorting::CompactSort;

/// Minimum size; recursion over deep data seldom needs more.
const MIN_BYTES: u64 = 10_000_000;
/// Minimum share of the heap; with a heap of many gigabytes, less is negligible.
const MIN_SHARE: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    name: "deep-stack",
    question: "Does a stack grow?",
    inputs: &[Input::Threads],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

/// Maximum size of a stack, with the time range in which it grew to that.
#[derive(Clone, Copy)]
struct Deepest {
    bytes: u64,
    range: Interval,
}

async fn deepest(context: &RuleContext<'_>) -> BTreeMap<ThreadId, Deepest> {
    let mut all: BTreeMap<ThreadId, Deepest> = BTreeMap::new();
    let mut steps = context.steps();
    let inside = |at: &Nanos| context.range.start() <= *at && *at <= context.range.end();
    for (at, thread, bytes) in context.log.store.deep_stacks() {
        steps.step().await;
        if !inside(&at) {
            continue;
        }
        let range = Interval::empty_at(at);
        let known = all.entry(thread).or_insert(Deepest { bytes, range });
        if bytes >= known.bytes {
            known.bytes = bytes;
            known.range.extend(at);
        }
    }
    all
}

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    let mut all = deepest(context).await;
    let most = all.values().map(|deep| deep.bytes).max().unwrap_or(0);
    let sizes = context.log.numbers.heap_sizes();
    let indices = sizes.first_at(context.range.start().0)..sizes.first_after(context.range.end().0);
    let heap = indices.map(|index| sizes.value(index)).max().unwrap_or(0);
    all.retain(|_, deep| deep.bytes >= MIN_BYTES);
    let share = most as f64 / heap.max(most).max(1) as f64;
    if all.is_empty() || share < MIN_SHARE {
        let most = match most {
            0 => "no stack reached 1 MiB".to_owned(),
            most => format!("the largest stack had {}", format::bytes(most)),
        };
        return Outcome::Clear(format!("{most}; the limits are 10 MB and 1 % of the heap"));
    }
    let mut by_size: Vec<(ThreadId, Deepest)> = all.into_iter().collect();
    by_size.sort_small_by_key(|(_, deep)| std::cmp::Reverse(deep.bytes));
    let name = context.thread_name(by_size[0].0);
    let title = match by_size.len() as u64 {
        1 => format!("The stack of {name} grew to {}", format::bytes(most)),
        count => format!(
            "The stacks of {} grew to 10 MB and more, that of {name} to {}",
            format::pluralize(count, "thread"),
            format::bytes(most)
        ),
    };
    let mut finding = Finding::of_memory(RULE.name, title, (most, share));
    // Without heap statistics the share is meaningless.
    if heap == 0 {
        finding.severity = Severity::Low;
    }
    finding.confidence = Confidence::Certain;
    finding.meaning = "The thread recurses deeply, or forces a long chain of thunks: each call waits on the stack for the next one, and collections traverse all of it.".into();
    finding.tries = Advice::code_changes([
        "Use an accumulator (foldl', not foldr or foldl), so that no calls wait.",
        "Avoid chains of thunks: strict fields, modifyIORef', and modify' of Control.Monad.State.Strict; evaluate at intervals.",
        "For long lists in IO, use mapM_ or a stream instead of mapM or sequence.",
    ]);
    finding.distrust =
        "A recursion may be as deep as its data, such as a tree. The log does not show when a stack shrinks."
            .into();
    finding.set_numbers([
        ("the largest stack", Value::Bytes(most)),
        ("the largest heap", Value::Bytes(heap)),
        ("threads", Value::Count(by_size.len() as u64)),
    ]);
    let evidence = by_size
        .into_iter()
        .map(|(thread, deep)| Evidence::for_thread(thread, deep.range, Value::Bytes(deep.bytes)));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
