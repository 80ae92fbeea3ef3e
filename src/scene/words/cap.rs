//! Runs and collections of a capability.

use super::{duration, several, thread_name, when};
use crate::ids::{CapId, ThreadId};
use crate::scene::item::{Item, Names};
use crate::timeline::class::Class;
use crate::timeline::reply::MarkKind;

pub(super) fn describe(cap: CapId, item: &Item, names: &impl Names) -> (String, String) {
    let subject = format!("Capability {cap}");
    if item.kind == MarkKind::Many {
        let what = match (item.class, item.count) {
            (Class::Gc, _) => "collections",
            (_, 1) => "run of a thread",
            _ => "runs of threads",
        };
        return (subject, several(item, what));
    }
    let (duration, when) = (duration(item), when(item));
    if item.class == Class::Gc {
        return (
            subject,
            format!("collected garbage for {duration} · {when}"),
        );
    }
    let thread = item.detail.map_or_else(
        || "a thread".to_owned(),
        |thread| thread_name(names, ThreadId(thread)),
    );
    let ended = match item.class {
        Class::Open => "it was still running when the log ended".to_owned(),
        _ => format!("then: {}", item.code.explanation(None)),
    };
    (
        thread,
        format!("ran for {duration} on capability {cap}, {ended} · {when}"),
    )
}
