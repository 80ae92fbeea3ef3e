//! Continues reading a log that grows.
//!
//! The longer version is loaded as a separate log, from the position where the previous one can be continued
//! ([`Session::reopen_grown`]). The previous one answers queries until then, so nothing waits, and if the rest cannot
//! be read, nothing is lost.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::load::{self, LoadOutcome};
use super::{OpenLog, Shared, names, post};
use protocol::wire::LiveFile;
use protocol::{FromWorker, LogId, LogUpdate};
use session::Session;

/// Reads what was added to a log, or all of it if another file replaced it. Does nothing if that is already being
/// read.
pub(super) fn grow(
    shared: &Shared,
    log: LogId,
    file: LiveFile,
    anew: bool,
    memory_limit_bytes: u64,
) {
    let growing = log.growing();
    let len = file.file.size() as u64;
    {
        let mut state = shared.borrow_mut();
        let Some(open) = state.logs.get(&log) else {
            return;
        };
        if state.logs.contains_key(&growing) {
            return;
        }
        let read_on = if anew {
            Session::replacement
        } else {
            Session::reopen_grown
        };
        let next = OpenLog {
            session: Rc::new(read_on(&open.session, len)),
            file: file.clone(),
            reading: None,
            preparation: None,
        };
        state.logs.insert(growing, next);
    }
    let shared = Rc::clone(shared);
    spawn_local(async move {
        let read = load::load(&shared, growing, &file, None, memory_limit_bytes).await;
        let is_whole = matches!(read, Ok(Some(LoadOutcome::Complete)));
        if is_whole {
            // The page is notified of names only when a log is opened.
            names::after_loading(&shared, growing).await;
            load::prepare(&shared, growing).await;
        }
        let hit_memory_limit = matches!(read, Ok(Some(LoadOutcome::MemoryLimit)));
        let grown = take_log(&shared, log);
        let grown = grown.filter(|grown| is_whole && grown.session.events() > 0);
        let update = match grown {
            Some(grown) => take_over(&shared, log, grown),
            None => LogUpdate::NotGrown { hit_memory_limit },
        };
        post(&FromWorker::LogUpdate(log, update));
    });
}

/// Removes and returns the longer version, unless the log was closed meanwhile.
fn take_log(shared: &Shared, log: LogId) -> Option<OpenLog> {
    shared.borrow_mut().logs.remove(&log.growing())
}

/// Replaces a log by its longer version. Answers in progress keep the previous one.
fn take_over(shared: &Shared, log: LogId, grown: OpenLog) -> LogUpdate {
    let update = LogUpdate::Grown {
        overview: Box::new(grown.session.overview()),
        memory: load::memory_use(&grown.session),
    };
    if let Some(open) = shared.borrow_mut().logs.get_mut(&log) {
        *open = grown;
    }
    update
}
