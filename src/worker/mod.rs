//! The worker: it drives a [`Session`] over a dropped file, reports how far it
//! is, and answers questions, also while it loads. It never touches the page.

mod blob;
mod blob_file;
mod events;
mod names;
mod pause;

use std::cell::RefCell;
use std::rc::Rc;

use blob::{BlobReader, Pieces};
use pause::Pauser;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, File, MessageEvent};

use crate::protocol::{Answer, FromWorker, Question, ToWorker, VERSION};
use crate::wire;
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::{LogError, Need, Stage, Step};
use views::session::Session;

/// Events between two looks at the clock.
const EVENTS_PER_STEP: usize = 50_000;
/// After so long the worker listens for messages.
const LISTEN_EVERY_MS: f64 = 40.0;
/// How often progress is reported.
const REPORT_EVERY_MS: f64 = 80.0;
/// How often what is known of the log is reported while it loads.
const OVERVIEW_EVERY_MS: f64 = 320.0;

/// What is open; a new generation with every open or cancel.
#[derive(Default)]
struct State {
    session: Option<Session>,
    /// The file that the session is about.
    file: Option<File>,
    events: events::Events,
    generation: u32,
    /// What begins and ends spans of the program, if it is not the usual.
    prefixes: Option<SpanPrefixes>,
    /// Where pieces of the file come from.
    pieces: Option<Rc<Pieces>>,
    /// What addresses are named by.
    symbols: Option<File>,
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
    // Posting fails only if the message cannot be cloned, and these can.
    let _ = scope().post_message(&wire::envelope(message));
}

/// Starts listening.
pub fn run() {
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
            Ok(ToWorker::Read) => {
                if let Some(port) = wire::port(&event) {
                    blob::serve(port);
                }
            }
            Ok(ToWorker::Pieces) => {
                let pieces = wire::port(&event).map(|port| Rc::new(Pieces::new(port)));
                shared.borrow_mut().pieces = pieces;
            }
            Ok(ToWorker::Open) => open(&shared, wire::file(&envelope)),
            Ok(ToWorker::Cancel) => {
                drop_session(&shared);
                post(&FromWorker::Cancelled);
            }
            Ok(ToWorker::SpanPrefixes(prefixes)) => set_prefixes(&shared, prefixes),
            Ok(ToWorker::Symbols) => names::take(&shared, wire::file(&envelope)),
            Ok(ToWorker::Count(list)) => events::count(&shared, list),
            Ok(ToWorker::Ask { id, question }) => answer(&shared, id, question),
            Err(message) => post(&FromWorker::Died { message }),
        }
    });
    scope().set_onmessage(Some(listener.as_ref().unchecked_ref()));
    // The worker listens as long as it lives.
    listener.forget();
    post(&FromWorker::Ready { version: VERSION });
}

/// Looks for spans of the program with other words, now and in later logs.
fn set_prefixes(shared: &Shared, prefixes: SpanPrefixes) {
    let mut state = shared.borrow_mut();
    if let Some(session) = &mut state.session {
        session.set_span_prefixes(prefixes.clone());
        let contents = Box::new(session.contents());
        post(&FromWorker::Contents(contents, session.flame_sources()));
    }
    state.prefixes = Some(prefixes);
}

fn drop_session(shared: &Shared) -> u32 {
    let mut state = shared.borrow_mut();
    state.session = None;
    state.file = None;
    state.events.clear();
    state.generation += 1;
    state.generation
}

fn open(shared: &Shared, file: Option<File>) {
    let generation = drop_session(shared);
    let Some(file) = file else { return };
    let shared = Rc::clone(shared);
    spawn_local(async move {
        let started_ms = now_ms();
        match load(&shared, generation, &file).await {
            Ok(true) => {
                let elapsed_ms = now_ms() - started_ms;
                // Names first: the page asks as soon as the log is loaded.
                let named = names::after_loading(&mut shared.borrow_mut());
                if let Some(session) = &shared.borrow().session {
                    post(&FromWorker::Loaded {
                        overview: Box::new(session.overview()),
                        elapsed_ms,
                    });
                    named.iter().for_each(post);
                }
            }
            Ok(false) => {}
            Err(error) => {
                drop_session(&shared);
                let message = error.to_string();
                post(&FromWorker::Failed { message });
            }
        }
    });
}

/// Loads a file. `Ok(false)` if something else was opened meanwhile.
async fn load(shared: &Shared, generation: u32, file: &File) -> Result<bool, LogError> {
    let Some(pieces) = shared.borrow().pieces.clone() else {
        return Ok(false);
    };
    let mut blob = BlobReader::new(file, &pieces);
    {
        let mut state = shared.borrow_mut();
        let mut session = Session::new(blob.len());
        if let Some(prefixes) = &state.prefixes {
            session.set_span_prefixes(prefixes.clone());
        }
        state.session = Some(session);
        state.file = Some(file.clone());
    }
    let pauser = Pauser::new();
    let mut bytes = Vec::new();
    let mut reporter = Reporter::default();
    let mut listened_ms = now_ms();
    loop {
        let step = match &mut *shared.borrow_mut() {
            State {
                session: Some(session),
                generation: current,
                ..
            } if *current == generation => {
                let step = session.advance(EVENTS_PER_STEP)?;
                reporter.report(session, step == Step::Indexed);
                step
            }
            _ => return Ok(false),
        };
        match step {
            Step::Done => return Ok(true),
            Step::Need(needs) => {
                for Need(range) in needs {
                    supply(shared, &mut blob, &range, &mut bytes).await?;
                }
            }
            Step::More | Step::Indexed => {}
        }
        if now_ms() - listened_ms > LISTEN_EVERY_MS {
            pauser.pause().await;
            listened_ms = now_ms();
        }
    }
}

/// Reads what the session needs, and begins to read what it will need.
async fn supply(
    shared: &Shared,
    blob: &mut BlobReader<'_>,
    range: &std::ops::Range<u64>,
    bytes: &mut Vec<u8>,
) -> Result<(), LogError> {
    let failed = |error: JsValue| LogError::Read {
        at: range.start,
        why: js_sys::Error::from(error).message().into(),
    };
    let piece = {
        let state = shared.borrow();
        let Some(session) = &state.session else {
            return Ok(());
        };
        let indexing = session.progress().stage == Stage::Indexing;
        let piece = if indexing {
            blob::begin_alone(blob.blob(), range)
        } else {
            blob.begin(range)
        };
        blob.read_ahead(session.upcoming()).map_err(failed)?;
        piece.map_err(failed)?
    };
    let read = piece.read(bytes).await;
    if let Some(session) = &mut shared.borrow_mut().session {
        match read {
            Ok(()) if !bytes.is_empty() => session.supply(range.start, bytes),
            // What was read before is still shown.
            _ if session.events() > 0 => session.cut(range.start),
            Ok(()) => return Err(failed(js_sys::Error::new("no bytes came").into())),
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// Tells the page how far the loading is, not too often.
#[derive(Default)]
struct Reporter {
    reported_ms: f64,
    overview_ms: f64,
}

impl Reporter {
    fn report(&mut self, session: &Session, at_once: bool) {
        let now = now_ms();
        if !at_once && now - self.reported_ms < REPORT_EVERY_MS {
            return;
        }
        self.reported_ms = now;
        let with_overview =
            at_once || (session.events() > 0 && now - self.overview_ms > OVERVIEW_EVERY_MS);
        if with_overview {
            self.overview_ms = now;
        }
        post(&FromWorker::Loading {
            progress: session.progress(),
            events: session.events(),
            overview: with_overview.then(|| Box::new(session.overview())),
        });
    }
}

fn answer(shared: &Shared, id: u32, question: Question) {
    let state = shared.borrow();
    let Some(session) = &state.session else {
        let answer = Answer::Nothing;
        return post(&FromWorker::Answer { id, answer });
    };
    let answer = match question {
        Question::Events(query) => {
            drop(state);
            return events::answer(shared, id, query);
        }
        Question::Timeline(query) => {
            let columns = wire::timeline_columns(&session.timeline(&query));
            return post_columns(id, Answer::Timeline, &columns);
        }
        Question::Flame(query) => match session.flame(&query) {
            Some((head, boxes)) => {
                return post_columns(id, Answer::Flame(head), &wire::flame_columns(&boxes));
            }
            None => Answer::Nothing,
        },
        Question::FlameExport(query, format) => match session.flame_export(&query, format) {
            Some(bytes) => return post_columns(id, Answer::File, &wire::file_columns(&bytes)),
            None => Answer::Nothing,
        },
        Question::FlameTable(query) => {
            let samples = session.heap_samples(&query.choice);
            Answer::FlameTable(session.flame_table(&query), samples)
        }
        Question::FlamePlace(query) => Answer::FlamePlace(session.flame_place(&query)),
        Question::Usage(range) => Answer::Usage(session.usage(range)),
        Question::Threads(filter) => {
            let (rows, total) = session.threads(&filter);
            Answer::Threads(rows, total as u64)
        }
        Question::ThreadTable(query) => session
            .thread_table(&query)
            .map_or(Answer::Nothing, Answer::ThreadTable),
        Question::ThreadCsv(query) => session
            .thread_csv(&query)
            .map_or(Answer::Nothing, Answer::ThreadCsv),
        Question::Details(query) => Answer::Details(session.details(&query)),
        Question::Flow(query) => Answer::Flow(session.flow(&query)),
        Question::Message(index) => Answer::Message(session.message(index as usize)),
        Question::Process => Answer::Process(Box::new(session.process())),
        Question::Environment => Answer::Environment(session.environment()),
        Question::Labels(threads) => Answer::Labels(session.labels(&threads)),
        Question::Summary(range) => Answer::Summary(Box::new(session.summary(range))),
        Question::Collections(query) => Answer::Collections(session.collections(&query)),
        Question::Sparks(range) => Answer::Sparks(session.sparks(range)),
    };
    post(&FromWorker::Answer { id, answer });
}

/// Answers with columns, whose memory is handed over.
fn post_columns(id: u32, answer: Answer, columns: &js_sys::Array) {
    let envelope = wire::envelope(&FromWorker::Answer { id, answer });
    let transfer = wire::attach_columns(&envelope, columns);
    let _ = scope().post_message_with_transfer(&envelope, &transfer);
}
