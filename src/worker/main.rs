//! The worker program. Nothing starts by itself: a worker of the page calls [`serve`], scripts use [`script`].
//!
//! It drives a [`Session`] for each open file, reports progress, and answers queries, also while loading. It
//! never accesses the page, and regularly yields to messages.

mod answer;
mod background;
mod blob;
mod blob_file;
mod grow;
mod help;
mod index;
mod load;
mod merge;
mod names;
mod script;
mod spill;
mod worker_pool;
mod yielding;

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::AbortHandle;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, File, MessageEvent};
use worker_pool::WorkerPool;
use yielding::MessageYielder;

use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::hash::SeededMap;
use protocol::wire::{self, LiveFile};
use protocol::{AskId, FromWorker, LogId, LogUpdate, ToWorker, VERSION};
use session::Session;

/// Log that this worker owns, with its file and the pages that were read ahead.
struct OpenLog {
    /// Shared with answers in progress; modified only while there are none ([`change`]).
    session: Rc<Session>,
    file: LiveFile,
    /// Read-ahead pages for queries.
    reading: Option<answer::ReadAhead>,
    /// Preparation of further answers, while the worker is idle.
    preparation: Option<background::Preparation>,
}

/// Query that is being answered.
struct Asked {
    log: LogId,
    /// Cancels the answer.
    cancel: AbortHandle,
    /// Whether its answer lets those of other queries go first.
    is_background: bool,
}

/// State of the worker.
#[derive(Default)]
struct State {
    logs: SeededMap<LogId, OpenLog>,
    /// Queries that are being answered.
    asked: SeededMap<AskId, Asked>,
    /// Custom prefixes of user spans, if set.
    prefixes: Option<SpanPrefixes>,
    /// Helpers that analyze slices.
    worker_pool: Rc<RefCell<WorkerPool>>,
    /// File of symbols for naming addresses.
    symbols: Option<File>,
    /// Whether leftover files of other tabs were removed.
    cleared: bool,
}

type Shared = Rc<RefCell<State>>;

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

fn now_ms() -> f64 {
    scope()
        .performance()
        .map_or(0.0, |performance| performance.now())
}

fn post(message: &FromWorker) {
    // Posting fails only for messages that cannot be cloned; these can.
    let _ = scope().post_message(&wire::envelope(message));
}

/// Installs the message handler, and reports panics to the page.
#[wasm_bindgen]
pub fn serve() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        post(&FromWorker::Died {
            message: info.to_string(),
        });
    }));
    let shared = Shared::default();
    let listener = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let envelope = event.data();
        match wire::message(&envelope) {
            Ok(message) => handle_message(&shared, message, &event),
            Err(message) => post(&FromWorker::Died { message }),
        }
    });
    scope().set_onmessage(Some(listener.as_ref().unchecked_ref()));
    // The handler lives as long as the worker.
    listener.forget();
    post(&FromWorker::Ready { version: VERSION });
}

fn handle_message(shared: &Shared, message: ToWorker, event: &MessageEvent) {
    let envelope = event.data();
    match message {
        ToWorker::ServeSlices => {
            if let Some(port) = wire::port(event) {
                help::serve(port);
            }
        }
        ToWorker::AddHelper => {
            if let Some(port) = wire::port(event) {
                shared.borrow().worker_pool.borrow_mut().add_helper(port);
            }
        }
        ToWorker::RemoveHelpers => shared.borrow().worker_pool.borrow_mut().remove_helpers(),
        ToWorker::Open(log, memory, memory_limit_bytes) => {
            post(&FromWorker::Acknowledged(log));
            if let Some(file) = wire::live_file(&envelope) {
                load::open(shared, log, file, memory, memory_limit_bytes);
            }
        }
        ToWorker::Grow(log, anew, memory_limit_bytes) => {
            if let Some(file) = wire::live_file(&envelope) {
                grow::grow(shared, log, file, anew, memory_limit_bytes);
            }
        }
        ToWorker::StopFollowing(log) => {
            if let Some(open) = shared.borrow_mut().logs.get_mut(&log) {
                open.file.handle = None;
                open.reading = None;
            }
        }
        ToWorker::Close(log) => {
            post(&FromWorker::Acknowledged(log));
            close(shared, log);
        }
        ToWorker::SpanPrefixes(prefixes) => set_prefixes(shared, prefixes),
        ToWorker::Symbols => {
            if let Some(file) = wire::file(&envelope) {
                names::set_symbols_file(shared, file);
            }
        }
        ToWorker::Ask(id, log, name) => answer::ask(shared, id, log, &name, envelope),
        ToWorker::Merge(options) => merge::begin(shared, options, wire::files(&envelope)),
        ToWorker::CancelAsk(id) => {
            if let Some(asked) = shared.borrow_mut().asked.remove(&id) {
                asked.cancel.abort();
            }
        }
    }
}

/// Drops a log and cancels its queries.
fn close(shared: &Shared, log: LogId) {
    let mut state = shared.borrow_mut();
    state.logs.remove(&log);
    state.logs.remove(&log.growing());
    state.asked.retain(|_, asked| {
        if asked.log == log {
            asked.cancel.abort();
        }
        asked.log != log
    });
}

/// Modifies a log as soon as no query about it is being answered. Returns `None` if it was closed meanwhile.
async fn change<R>(
    shared: &Shared,
    log: LogId,
    change: impl FnOnce(&mut Session) -> R,
) -> Option<R> {
    let mut message_yielder = None;
    loop {
        {
            let mut state = shared.borrow_mut();
            let open = state.logs.get_mut(&log)?;
            open.preparation = None;
            if let Some(session) = Rc::get_mut(&mut open.session) {
                return Some(change(session));
            }
        }
        message_yielder
            .get_or_insert_with(MessageYielder::new)
            .yield_now()
            .await;
    }
}

/// Changes the prefixes of user spans, in open and future logs.
fn set_prefixes(shared: &Shared, prefixes: SpanPrefixes) {
    shared.borrow_mut().prefixes = Some(prefixes.clone());
    for log in open_logs(shared) {
        let (shared, prefixes) = (Rc::clone(shared), prefixes.clone());
        spawn_local(async move {
            let changed = change(&shared, log, |session| {
                session.set_span_prefixes(prefixes);
                report_contents(log, session);
            });
            changed.await;
        });
    }
}

fn open_logs(shared: &Shared) -> Vec<LogId> {
    shared.borrow().logs.keys().copied().collect()
}

/// Reports the available contents of a log, if it is fully read.
fn report_contents(log: LogId, session: &Session) {
    if session.is_complete() {
        let contents = Box::new(session.contents());
        let update = LogUpdate::LogContents(contents, session.flame_sources());
        post(&FromWorker::LogUpdate(log, update));
    }
}

fn main() {
    let random = || js_sys::Math::random().to_bits();
    eventlog::hash::set_seeds(random(), random());
}
