//! What is said of an item, in words: at once, from its mark alone. What else
//! is known of it comes from the worker (`timeline::details`).

mod cap;
mod graph;
mod instants;
mod profile;
mod spans;
mod thread;

pub use graph::{at_once, series_name, unit, value, values};

use super::format;
use super::item::{Item, Names};
use analysis::timeline::row::Row;
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

/// What is known of a mark, in words: a name to stand out, and the rest.
#[must_use]
pub fn describe(item: &Item, names: &impl Names) -> (String, String) {
    match item.row {
        Row::Cap(cap) => cap::describe(cap, item, names),
        Row::Thread(thread) => thread::describe(thread, item, names),
        Row::Messages => instants::message(item, names),
        Row::Instants(cap) => instants::describe(cap, item, names),
        Row::Collections | Row::Nonmoving | Row::UserSpan(_) | Row::Task(_) | Row::Blocks(_) => {
            spans::describe(item, names)
        }
        Row::ForeignCalls(of) => profile::call(of, item, names),
        Row::Samples(cap) => profile::sample(cap, item, names),
        Row::Activity | Row::Graph(_) | Row::Sparks(..) | Row::Perf(_) => {
            (graph::title(item.row), when(item))
        }
    }
}

/// From when to when.
fn when(item: &Item) -> String {
    let (start, end) = (format::time(item.span.start), format::time(item.span.end));
    format!("{start} – {end}")
}

fn duration(item: &Item) -> String {
    format::duration(item.span.duration())
}

/// Several spans that share a pixel: how many, and the share of each class.
fn several(item: &Item, what: &str) -> String {
    parts(&format!("{} {what}", item.count), item)
}

/// Something of which a pixel has several parts, with the share of each class.
fn parts(what: &str, item: &Item) -> String {
    let shares = Class::ALL.iter().zip(&item.shares);
    let shares: Vec<String> = shares
        .filter(|(_, share)| **share > 0.0)
        .map(|(class, share)| format!("{} {}", format::fraction(f64::from(*share)), class.name()))
        .collect();
    let shares = shares.join(", ");
    let (duration, when) = (duration(item), when(item));
    format!("{what} in {duration}: {shares} · {when}")
}
