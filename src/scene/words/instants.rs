//! Messages, and events at points in time.

use super::{format, when};
use crate::ids::CapId;
use crate::scene::item::{Item, Names};
use crate::timeline::reply::MarkKind;

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

pub(super) fn describe(cap: CapId, item: &Item, _names: &impl Names) -> (String, String) {
    (format!("Capability {cap}"), when(item))
}
