//! Messages, and events at points in time.

use super::{format, thread_name, when};
use crate::scene::item::{Item, Names};
use analysis::timeline::instants::InstantKind;
use eventlog::ids::{CapId, ThreadId};
use model::marks::MarkKind;

pub(super) fn message(item: &Item, names: &impl Names) -> (String, String) {
    let text = item.detail.and_then(|number| names.message(number));
    let text = text.unwrap_or_default();
    let at = format::time(item.span.start);
    match (item.count, item.kind) {
        (1, MarkKind::Marker) => (text.to_owned(), format!("· marker at {at}")),
        (1, _) => (text.to_owned(), format!("· message at {at}")),
        (count, _) => (
            format!("{count} messages"),
            format!("from {at}; the first: {text}"),
        ),
    }
}

pub(super) fn describe(cap: CapId, item: &Item, names: &impl Names) -> (String, String) {
    let subject = format!("Capability {cap}");
    let Some(kind) = InstantKind::from_number(item.code.0) else {
        return (subject, when(item));
    };
    if item.count == 1 {
        let at = format::time(item.span.start);
        let thread = item
            .detail
            .map(|thread| thread_name(names, ThreadId(thread)));
        let thread = thread.map_or(String::new(), |thread| format!(": {thread}"));
        return (subject, format!("{}{thread} · at {at}", kind.singular()));
    }
    let (count, what, when) = (format::count(item.count.into()), kind.plural(), when(item));
    (
        subject,
        format!("{count} events, the most notable are {what} · {when}"),
    )
}
