//! Plain English sentences for all events, with every number of the event. Byte counts are given both in readable
//! units and exactly.

mod eden;
mod gc;
mod mercury;
mod message;
mod process;
mod profile;
mod scheduler;

use std::fmt::{self, Write};

#[cfg(test)]
pub(super) use message::in_words as write_telemetry_or_stack;

use super::event::{Event, Subject};
use super::header::Header;
use super::names::{Key, Names};
use super::status::StopStatus;
use crate::ids::ThreadId;

/// Describes an event in words. `header` provides the descriptions of unknown types.
pub fn sentence(event: &Event<'_>, header: &Header, names: &Names) -> String {
    let mut out = String::new();
    write_sentence(&mut out, event, header, names);
    out
}

/// Appends the sentence to `out`, without further allocations except for a few rare events.
pub fn write_sentence(out: &mut String, event: &Event<'_>, header: &Header, names: &Names) {
    let written = match event.subject() {
        Some(Subject::Scheduling | Subject::Spark | Subject::Task) => {
            scheduler::write(out, event, names)
        }
        Some(Subject::Collection | Subject::Heap | Subject::Nonmoving) => gc::write(out, event),
        Some(Subject::Process | Subject::Capability) => process::write(out, event),
        Some(Subject::HeapProfile | Subject::Profile | Subject::Ticky) => {
            profile::write(out, event, names)
        }
        Some(Subject::Message | Subject::Perf) | None => message::write(out, event, header, names),
        Some(Subject::Eden) => eden::write(out, event, names),
        Some(Subject::Mercury) => mercury::write(out, event, names),
    };
    debug_assert!(written.is_ok(), "a string can always be written to");
}

/// Displays `thread 12 (worker-3)`.
struct Thread<'a>(ThreadId, &'a Names);

impl fmt::Display for Thread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(thread, names) = self;
        write!(
            f,
            "thread {}",
            names.with_name(thread, Key::Thread(*thread))
        )
    }
}

/// Appends `before`, a thread as [`Thread`] displays it, and `after`. Most sentences of a log are such, and this is
/// several times faster than a formatter.
fn push_with_thread(
    out: &mut String,
    [before, after]: [&str; 2],
    thread: ThreadId,
    names: &Names,
) -> fmt::Result {
    out.push_str(before);
    out.push_str("thread ");
    push_number(out, thread.0);
    if let Some(name) = names.thread(thread) {
        out.push_str(" (");
        out.push_str(name);
        out.push(')');
    }
    out.push_str(after);
    Ok(())
}

/// Appends a number in decimal.
fn push_number(out: &mut String, number: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Displays a text of the log in quotation marks.
struct Quoted<'a>(super::cursor::Text<'a>);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "“{}”", self.0.to_str())
    }
}

/// Writes why a thread stopped, with the name of the thread that it waits for.
fn write_stop(out: &mut String, status: StopStatus, names: &Names) -> fmt::Result {
    match status {
        StopStatus::BlockedOnBlackHole(Some(owner)) => {
            write!(
                out,
                "blocked on a black hole owned by {}",
                Thread(owner, names)
            )
        }
        other => out.write_str(&other.explanation()),
    }
}

/// Writes the items with `separator` between them.
fn join<T: fmt::Display>(
    out: &mut String,
    separator: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_str(separator)?;
        }
        write!(out, "{item}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
