//! Names of lanes and spans, the same in every format.

use std::borrow::Cow;

use super::walk::Thread;
use crate::log::Log;
use analysis::timeline::walk::WaitSpan;
use model::class::{Class, StopCode};

/// Span in which a thread runs.
pub(crate) const RUNNING: &str = "running";
/// Span in which a thread is runnable.
pub(crate) const READY: &str = "ready";
/// Span of a collection.
pub(crate) const COLLECTION: &str = "garbage collection";
/// Instant at which a thread is woken.
pub(crate) const WAKES: &str = "wakes";

/// Returns the name of the program, or else of the log file.
pub(crate) fn program<'a>(log: &Log<'a>) -> &'a str {
    let info = &log.session.recording().info;
    info.program().unwrap_or(log.name)
}

/// Appends the name of a thread, with its label.
pub(crate) fn push_thread(text: &mut String, thread: &Thread<'_>) {
    if let Some(label) = thread.label {
        text.push_str(label);
        text.push_str(" (");
    }
    text.push_str("thread ");
    text.push_str(itoa::Buffer::new().format(thread.id.0));
    if thread.label.is_some() {
        text.push(')');
    }
}

/// Returns the name of a span in which a thread is blocked; sleeps and I/O are distinguished from locks by what
/// ended the wait.
pub(crate) fn blocked(wait: &WaitSpan) -> Cow<'static, str> {
    wait.last_stop.wait_explanation(None, wait.woken_by)
}

/// Returns the reason why a run ended: the stop status.
pub(crate) fn stop(code: StopCode) -> Cow<'static, str> {
    code.explanation(None)
}

/// Returns the stop status before a wait, as in the column `reason` of `eventscope spans`.
pub(crate) fn status(wait: &WaitSpan) -> String {
    match wait.last_stop {
        StopCode::CREATED => "created".to_owned(),
        last_stop => last_stop.status(wait.owner).to_string(),
    }
}

/// Returns the name of a phase of a collection.
pub(crate) const fn phase(class: Class) -> &'static str {
    match class {
        Class::Gc => "collecting",
        Class::GcIdle => "idle: no work found",
        Class::GcDone => "done: waits for the others",
        _ => "begins: no work yet",
    }
}
