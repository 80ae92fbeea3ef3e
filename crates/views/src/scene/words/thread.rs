//! Runs and waits of a thread.

use super::{duration, several, thread_name, when};
use crate::scene::format;
use crate::scene::item::{Item, Names};
use eventlog::ids::{Nanos, ThreadId};
use model::class::Class;
use model::marks::MarkKind;

pub(super) fn describe(thread: ThreadId, item: &Item, names: &impl Names) -> (String, String) {
    let name = thread_name(names, thread);
    if item.kind == MarkKind::Many {
        let what = if item.count == 1 { "run" } else { "runs" };
        return (name, several(item, what));
    }
    let (duration, when) = (duration(item), when(item));
    let cap = item.detail.map(|cap| format!(" on capability {cap}"));
    let cap = cap.unwrap_or_default();
    let text = match item.class {
        Class::Running => format!("ran for {duration}{cap} · {when}"),
        Class::Open => format!("ran for {duration}{cap}, until the log ended · {when}"),
        _ => format!("{} · {when}", wait(item)),
    };
    (name, text)
}

/// A wait of a thread in words: what blocked it, and how long it then waited
/// for a capability.
fn wait(item: &Item) -> String {
    let why = item.code.explanation(item.detail.map(ThreadId));
    let duration = format::duration(item.span.duration());
    let other = format::duration(item.other_wait);
    match (item.class, item.other_wait) {
        (Class::Ready, Nanos(0)) => format!("waited {duration} for a capability: {why}"),
        (Class::Ready, _) => {
            format!("waited {duration} for a capability, after it was {why} for {other}")
        }
        (_, Nanos(0)) => format!("was {why} for {duration}"),
        _ => format!("was {why} for {duration}, then waited {other} for a capability"),
    }
}
