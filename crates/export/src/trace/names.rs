//! What lanes and spans are called, the same in every format.

use super::walk::Thread;
use crate::log::Log;
use analysis::timeline::walk::Wait;
use model::class::{Class, StopCode};

/// A span in which a thread ran.
pub(crate) const RUNNING: &str = "running";
/// A span in which a thread could have run.
pub(crate) const READY: &str = "ready";
/// A collection.
pub(crate) const COLLECTION: &str = "garbage collection";
/// The point where a thread was woken.
pub(crate) const WAKES: &str = "wakes";

/// The program, or what else is known of the log.
pub(crate) fn program<'a>(log: &Log<'a>) -> &'a str {
    let info = &log.session.recording().info;
    info.program().unwrap_or(log.name)
}

/// A thread.
pub(crate) fn thread(thread: &Thread<'_>) -> String {
    match thread.label {
        Some(label) => format!("{label} (thread {})", thread.id),
        None => format!("thread {}", thread.id),
    }
}

/// A span in which something blocked a thread: what ended it tells a sleep and I/O from a lock.
pub(crate) fn blocked(wait: &Wait) -> String {
    wait.why.wait_explanation(None, wait.woken_by)
}

/// Why a run ended: the status of the stop.
pub(crate) fn stop(code: StopCode) -> String {
    code.explanation(None)
}

/// Why a thread had stopped: the status of the stop, as the column `reason` of `eventscope spans` has it.
pub(crate) fn status(wait: &Wait) -> String {
    match wait.why {
        StopCode::CREATED => "created".to_owned(),
        why => why.status(wait.owner).to_string(),
    }
}

/// A phase of a collection.
pub(crate) const fn phase(class: Class) -> &'static str {
    match class {
        Class::Gc => "collecting",
        Class::GcIdle => "idle: no work found",
        Class::GcDone => "done: waits for the others",
        _ => "begins: no work yet",
    }
}
