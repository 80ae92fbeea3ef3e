//! The interface of the worker program for JavaScript, in the npm package (`npm/`): a log that is fed with bytes,
//! and its analysis. The glue code that reads the file is `npm/index.js`.

use serde::Serialize;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use eventlog::ids::Nanos;
use eventlog::{Need, Step};
use insight::metrics::MetricContext;
use insight::{MeasuredMetric, Report, RuleContext};
use model::time::Interval;
use session::queries::FindingsQuery;
use session::{MemoryBudget, Session};
use views::words::diagnostics::line;

/// Events per step, about 50 ms, after which the caller may do other work.
const EVENTS_PER_STEP: usize = 400_000;

/// A log that is read step by step.
#[derive(Debug)]
#[wasm_bindgen]
pub struct Log {
    session: Session,
}

/// Analysis of a log, serialized to JSON.
#[derive(Debug, Serialize)]
struct Analysis {
    program: Option<String>,
    ghc: Option<String>,
    /// Size of the uncompressed log.
    bytes: u64,
    events: u64,
    capabilities: usize,
    threads: u64,
    span: Option<Interval>,
    damaged: bool,
    complete: bool,
    warnings: Vec<String>,
    metrics: Vec<MeasuredMetric>,
    findings: Report,
}

#[wasm_bindgen]
impl Log {
    /// Creates a log for a file of `byte_len` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(byte_len: f64) -> Self {
        let session = Session::with_memory_budget(byte_len as u64, MemoryBudget::default(), None);
        Self { session }
    }

    /// Advances reading. Returns the file ranges needed next, as pairs of start and exclusive end; an empty list
    /// if it only has to be called again; `undefined` when all is read.
    ///
    /// # Errors
    /// If the file cannot be read as a log.
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

    /// Supplies bytes of the file that begin at offset `at`.
    pub fn supply(&mut self, at: f64, bytes: &[u8]) {
        self.session.supply(at as u64, bytes);
    }

    /// Declares that the file ends at offset `at`.
    pub fn cut(&mut self, at: f64) {
        self.session.truncate(at as u64);
    }

    /// Returns the progress of reading, from 0 to 1.
    pub fn progress(&self) -> f64 {
        let progress = self.session.progress();
        progress.done as f64 / progress.total.max(1) as f64
    }

    /// Returns whether the program takes more than `bytes` of memory, and some events were read.
    pub fn exceeds_memory(&self, bytes: f64) -> bool {
        protocol::memory_bytes() as f64 > bytes && self.session.events() > 0
    }

    /// Returns the analysis of the log from `from` to before `to`, in nanoseconds, or of all of it, as JSON.
    ///
    /// # Errors
    /// If it cannot be serialized: a bug of this program.
    pub fn analysis(&self, from: Option<f64>, to: Option<f64>) -> Result<String, JsError> {
        // Casts from floats saturate.
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
        let findings = session.ask(&FindingsQuery(range));
        let context = RuleContext::new(session.recording(), range);
        let looked = MetricContext::new(context).with_report(findings.clone());
        Self {
            capabilities: overview.caps.len(),
            metrics: MeasuredMetric::evaluate_all(&looked),
            findings: findings.unwrap_or_default(),
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
