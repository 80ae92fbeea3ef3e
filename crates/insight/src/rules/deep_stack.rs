//! Does a stack grow?
//!
//! A thread begins with a stack of a kilobyte, and gets chunks of 32 KiB as it needs them: a deep
//! recursion, or the forcing of a long chain of thunks, takes one after the other. Whenever
//! one is full the runtime logs how large all of them are.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{Nanos, ThreadId};
use model::format;
use model::gauge::Samples;
use model::sorting::CompactSort;
use model::time::Interval;

/// A recursion over data that is deep for a reason seldom needs more.
const LEAST_BYTES: u64 = 10_000_000;
/// Beside a heap of many gigabytes it is not much.
const LEAST_SHARE: f64 = 0.01;

const NAME: &str = "deep-stack";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does a stack grow?",
    inputs: &[Input::Threads],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

/// A stack at its largest, and since when it was large.
#[derive(Clone, Copy)]
struct Deepest {
    bytes: u64,
    range: Interval,
}

async fn deepest(context: &RuleContext<'_>, yielder: &dyn Yield) -> BTreeMap<ThreadId, Deepest> {
    let mut all: BTreeMap<ThreadId, Deepest> = BTreeMap::new();
    let mut steps = Steps::new(yielder);
    let inside = |at: &Nanos| context.range.start() <= *at && *at <= context.range.end();
    for (at, thread, bytes) in context.log.store.deep_stacks() {
        steps.step().await;
        if !inside(&at) {
            continue;
        }
        let range = Interval::new(at, at);
        let known = all.entry(thread).or_insert(Deepest { bytes, range });
        if bytes >= known.bytes {
            known.bytes = bytes;
            known.range.extend(at);
        }
    }
    all
}

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    let mut all = deepest(context, yielder).await;
    let most = all.values().map(|deep| deep.bytes).max().unwrap_or(0);
    let sizes = context.log.numbers.heap_sizes();
    let places = sizes.first_at(context.range.start().0)..sizes.first_after(context.range.end().0);
    let heap = places.map(|place| sizes.value(place)).max().unwrap_or(0);
    all.retain(|_, deep| deep.bytes >= LEAST_BYTES);
    let share = most as f64 / heap.max(most).max(1) as f64;
    if all.is_empty() || share < LEAST_SHARE {
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
            format::many(count, "thread"),
            format::bytes(most)
        ),
    };
    let mut finding = Finding::of_memory(NAME, title, (most, share));
    // Without statistics of the heap there is no share of anything.
    if heap == 0 {
        finding.severity = Severity::Low;
    }
    finding.confidence = Confidence::Certain;
    finding.meaning = "It recurses deeply, or forces a long chain of thunks: each call waits on the stack for the next one, and collections walk all of it.".into();
    finding.tries = vec![
        Try::code("Use an accumulator (foldl', not foldr or foldl), so that nothing waits."),
        Try::code("Do not let thunks pile up: modifyIORef', strict fields, evaluate now and then."),
        Try::code("For long lists in IO, use mapM_ or a stream instead of mapM or sequence."),
    ];
    finding.distrust =
        "A recursion may be as deep as its data, a tree for example. That a stack became smaller again is not logged."
            .into();
    finding.numbers = vec![
        ("the largest stack".into(), Value::Bytes(most)),
        ("the largest heap".into(), Value::Bytes(heap)),
        ("threads".into(), Value::Count(by_size.len() as u64)),
    ];
    let evidence = by_size.into_iter().map(|(thread, deep)| Evidence {
        range: deep.range,
        subjects: vec![Subject::Thread(thread)],
        amount: Value::Bytes(deep.bytes),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
