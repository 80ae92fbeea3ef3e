//! What programs in JavaScript have of the worker's program, in the package for npm (`npm/`): a log
//! that is fed, and what was found in it. The glue around it, which reads the file, is `npm/index.js`.

use serde::Serialize;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use eventlog::ids::Nanos;
use eventlog::{Need, Step};
use insight::metrics::Looked;
use insight::{Measured, Report, Scope};
use model::time::Interval;
use session::questions::FindingsQuery;
use session::{MemoryBudget, Session};
use views::words::diagnostics::line;

/// So many events are taken before somebody else may do something: some 50 ms.
const EVENTS_PER_STEP: usize = 400_000;

/// A log that is read piece by piece.
#[derive(Debug)]
#[wasm_bindgen]
pub struct Log {
    session: Session,
}

/// What was found in a log.
#[derive(Debug, Serialize)]
struct Analysis {
    program: Option<String>,
    ghc: Option<String>,
    /// Uncompressed.
    bytes: u64,
    events: u64,
    capabilities: usize,
    threads: u64,
    span: Option<Interval>,
    damaged: bool,
    complete: bool,
    warnings: Vec<String>,
    metrics: Vec<Measured>,
    findings: Report,
}

#[wasm_bindgen]
impl Log {
    /// A file of so many bytes.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(byte_len: f64) -> Self {
        let session = Session::within(byte_len as u64, MemoryBudget::default(), None);
        Self { session }
    }

    /// Goes on. The ranges of the file that are needed next, each by its first byte and the one behind its
    /// last; none if it only has to be called again; `undefined` if all is read.
    ///
    /// # Errors
    /// If the file is no log that can be read.
    pub fn advance(&mut self) -> Result<Option<Vec<f64>>, JsError> {
        Ok(match self.session.advance(EVENTS_PER_STEP)? {
            Step::Done => None,
            Step::Need(needs) => {
                let ends = |Need(range): Need| [range.start as f64, range.end as f64];
                Some(needs.into_iter().flat_map(ends).collect())
            }
            Step::Indexed | Step::More => Some(Vec::new()),
        })
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: f64, bytes: &[u8]) {
        self.session.supply(at as u64, bytes);
    }

    /// Learns that the file ends at `at`.
    pub fn cut(&mut self, at: f64) {
        self.session.cut(at as u64);
    }

    /// How much of the file is read, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        let progress = self.session.progress();
        progress.done as f64 / progress.total.max(1) as f64
    }

    /// Whether this program has taken more memory than that, and has something to tell.
    #[must_use]
    pub fn is_short_of(&self, bytes: f64) -> bool {
        protocol::memory_bytes() as f64 > bytes && self.session.events() > 0
    }

    /// What was found in the part of the log from `from` to before `to`, in nanoseconds, or in all of it, as JSON.
    ///
    /// # Errors
    /// If JSON can't be made of it: a defect of this program.
    pub fn analysis(&self, from: Option<f64>, to: Option<f64>) -> Result<String, JsError> {
        // A number that is too large becomes the largest.
        let part = |from: f64, to: f64| Interval::new(Nanos(from as u64), Nanos(to as u64));
        let range = match (from, to) {
            (None, None) => None,
            (from, to) => Some(part(from.unwrap_or(0.0), to.unwrap_or(f64::INFINITY))),
        };
        Ok(serde_json::to_string(&Analysis::of(&self.session, range))?)
    }
}

impl Analysis {
    fn of(session: &Session, range: Option<Interval>) -> Self {
        let overview = session.overview();
        let looked = Looked::new(Scope::new(session.recording(), range));
        Self {
            capabilities: overview.caps.len(),
            metrics: Measured::all(&looked),
            findings: session.ask(&FindingsQuery(range)).unwrap_or_default(),
            program: overview.program,
            ghc: overview.ghc,
            bytes: overview.bytes,
            events: overview.events,
            threads: overview.threads,
            span: overview.span,
            damaged: overview.damaged,
            complete: overview.complete,
            warnings: overview.warnings.iter().map(line).collect(),
        }
    }
}
