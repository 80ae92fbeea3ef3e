//! Runs and collections of a capability.

use super::{duration, parts, several, thread_name, when};
use crate::scene::item::{Item, Names};
use eventlog::ids::{CapId, ThreadId};
use model::class::Class;
use model::marks::MarkKind;

pub(super) fn describe(cap: CapId, item: &Item, names: &impl Names) -> (String, String) {
    let subject = format!("Capability {cap}");
    let of_gc = item.class.is_gc() || item.class == Class::GcSync;
    if item.kind == MarkKind::Many {
        let text = match (of_gc, item.count) {
            (true, 0) => parts("parts of a collection", item),
            (true, 1) => several(item, "collection"),
            (true, _) => several(item, "collections"),
            (false, 1) => several(item, "run of a thread"),
            (false, _) => several(item, "runs of threads"),
        };
        return (subject, text);
    }
    let (duration, when) = (duration(item), when(item));
    if of_gc {
        let text = phase(item.class);
        return (subject, format!("{text} for {duration} · {when}"));
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

/// What a capability does in a part of a collection, as a sentence goes on.
const fn phase(class: Class) -> &'static str {
    match class {
        Class::GcSync => "waited until all capabilities had stopped for a collection",
        Class::GcStart => "had begun a collection, but had no work in it yet,",
        Class::GcIdle => "had no work in a collection and looked for some",
        Class::GcDone => "had done its part of a collection and waited for its end",
        _ => "collected garbage",
    }
}
