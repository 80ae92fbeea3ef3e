//! Words that several tracks use for their items: at once, from a mark alone.
//! What else is known of an item comes from the worker (`tracks::details`).

mod graph;

pub use graph::{at_once, in_view, value, values};

use super::format;
use super::item::{Item, Names};
use eventlog::ids::ThreadId;
use model::class::Class;
use model::profile::frames::{Frame, FrameKind};

/// How a thread is called: its label with its number, or its number.
pub fn thread_name(names: &impl Names, thread: ThreadId) -> String {
    match names.label(thread) {
        Some(label) => format!("{label} (thread {thread})"),
        None => format!("thread {thread}"),
    }
}

/// How a function is called: with its module. The runtime's own cost centres
/// are known by their label.
#[must_use]
pub fn function_name(frame: &Frame) -> String {
    match frame.kind {
        FrameKind::BuiltIn => frame.label.clone(),
        _ => frame.name(),
    }
}

/// From when to when.
pub(crate) fn when(item: &Item) -> String {
    let (start, end) = (format::time(item.span.start), format::time(item.span.end));
    format!("{start} – {end}")
}

/// How long it is.
pub(crate) fn duration(item: &Item) -> String {
    format::duration(item.span.duration())
}

/// Several spans that share a pixel: how many, and the share of each class.
pub(crate) fn several(item: &Item, what: &str) -> String {
    parts(&format!("{} {what}", item.count), item)
}

/// Something of which a pixel has several parts, with the share of each class.
pub(crate) fn parts(what: &str, item: &Item) -> String {
    let shares = Class::ALL.iter().zip(&item.shares);
    let shares: Vec<String> = shares
        .filter(|(_, share)| **share > 0.0)
        .map(|(class, share)| format!("{} {}", format::fraction(f64::from(*share)), class.name()))
        .collect();
    let shares = shares.join(", ");
    let (duration, when) = (duration(item), when(item));
    format!("{what} in {duration}: {shares} · {when}")
}
