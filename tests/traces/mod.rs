//! Parsers of exported traces, which check the rules of each format and count the content.

pub(crate) mod chrome;
pub(crate) mod firefox;
pub(crate) mod openmetrics;
pub(crate) mod otlp;
pub(crate) mod perfetto;

use std::collections::BTreeMap;
use std::fs;

use analysis::automata::thread_state::{Activity, ThreadSpan};
use analysis::spans::{Analyses, OpenSpan, SpanSink, Spans};
use eventlog::Record;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use export::format::{Error, Format, OutputKind};
use export::formats;
use export::log::{Log, RecordCallback};
use model::time::Interval;
use session::Session;
use session::cells::Formulas;
use views::fingerprint::fingerprint;

use super::common::session_of;

/// Number of spans, and their total length in nanoseconds.
pub(crate) type Sum = (u64, u64);

/// Adds a span to the sum of its key.
pub(crate) fn add<K: Ord>(sums: &mut BTreeMap<K, Sum>, key: K, ns: u64) {
    let sum = sums.entry(key).or_default();
    *sum = (sum.0 + 1, sum.1 + ns);
}

/// Content of a trace, as a viewer sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Spans by lane and category.
    pub(crate) spans: BTreeMap<(String, String), Sum>,
    /// Number of blocked spans by the name of the reason.
    pub(crate) blocked: BTreeMap<String, u64>,
    /// Instants by lane and category.
    pub(crate) instants: BTreeMap<(String, String), u64>,
    /// Number of arrows with two ends.
    pub(crate) arrows: u64,
    /// Number of values and last value of each counter.
    pub(crate) counters: BTreeMap<String, (u64, u64)>,
}

impl Tally {
    /// Returns the number of spans and instants.
    pub(crate) fn count(&self) -> usize {
        let spans: u64 = self.spans.values().map(|(count, _)| count).sum();
        let instants: u64 = self.instants.values().sum();
        (spans + instants) as usize
    }
}

/// Finished spans of a log, as `eventscope spans` lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FinishedSpans {
    pub(crate) runs_on: BTreeMap<u16, Sum>,
    pub(crate) collections: BTreeMap<u16, Sum>,
    pub(crate) running: BTreeMap<u32, Sum>,
    /// Complete waits; formats that split a wait into two spans count it once.
    pub(crate) waiting: BTreeMap<u32, Sum>,
    /// Whether a collection had no end; viewers extend it to the end of the log.
    pub(crate) has_open_collection: bool,
}

impl FinishedSpans {
    /// Describes the first difference to the content of a trace, whose waits may be split.
    pub(crate) fn differs(&self, found: &Self) -> Option<String> {
        let ns = |sums: &BTreeMap<u32, Sum>| -> BTreeMap<u32, u64> {
            let long = sums.iter().filter(|(_, (_, ns))| *ns > 0);
            long.map(|(thread, (_, ns))| (*thread, *ns)).collect()
        };
        if self.runs_on != found.runs_on {
            return Some(format!("runs {:?}, {:?}", self.runs_on, found.runs_on));
        }
        if self.running != found.running {
            return Some(format!("running {:?}, {:?}", self.running, found.running));
        }
        if ns(&self.waiting) != ns(&found.waiting) {
            return Some(format!("waiting {:?}, {:?}", self.waiting, found.waiting));
        }
        if !self.has_open_collection && self.collections != found.collections {
            let (ours, theirs) = (&self.collections, &found.collections);
            return Some(format!("collections {ours:?}, {theirs:?}"));
        }
        None
    }
}

impl SpanSink for FinishedSpans {
    fn gc(&mut self, cap: CapId, span: Interval) {
        add(&mut self.collections, cap.0, span.duration().0);
    }
    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        let ns = span.span.duration().0;
        match span.activity {
            Activity::Running(cap) => {
                add(&mut self.running, thread.0, ns);
                if let Some(cap) = cap {
                    add(&mut self.runs_on, cap.0, ns);
                }
            }
            Activity::Blocked(_) => add(&mut self.waiting, thread.0, ns),
        }
    }
    fn open(&mut self, open: OpenSpan) {
        self.has_open_collection |= matches!(open, OpenSpan::Gc(..));
    }
}

/// Returns the finished spans of a log.
pub(crate) fn finished_spans(mut bytes: &[u8]) -> FinishedSpans {
    let analyses = Analyses {
        lifecycle: true,
        mutator_by_cap: false,
    };
    let mut spans = Spans::new(analyses, FinishedSpans::default());
    read_log(&mut bytes, &mut spans).expect("a log");
    spans.finish()
}

/// Log prepared for export.
pub(crate) struct ExportInput {
    pub(crate) session: Session,
    pub(crate) range: Option<(u64, u64)>,
    bytes: Vec<u8>,
}

impl ExportInput {
    /// Opens a log; `None` if the bytes are not an eventlog.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            session: session_of(bytes).ok()?,
            range: None,
            bytes: bytes.to_vec(),
        })
    }

    /// Returns the wall-clock time of the log's zero; an arbitrary one if the log lacks it.
    pub(crate) fn origin_ns(&self) -> u64 {
        let told = self.session.recording().info.clock_origin_ns;
        let told = told.and_then(|origin| u64::try_from(origin).ok());
        told.unwrap_or(1_000_000_000_000_000_000)
    }

    pub(crate) fn first_and_last(&self) -> (u64, u64) {
        let times = self.session.recording().info.first_and_last();
        times.map_or((0, 0), |(first, last)| (first.0, last.0))
    }

    fn export(&self, write: impl FnOnce(&Log<'_>) -> Result<(), Error>) {
        let read_again = |take: &mut RecordCallback<'_>| {
            let mut bytes = self.bytes.as_slice();
            read_log(&mut bytes, &mut |record: &Record<'_>| take(record)).map(|_| ())
        };
        let range = self.range;
        let log = Log {
            inputs: &[],
            name: "a.eventlog",
            fingerprint: fingerprint(self.bytes.len() as u64, &[&self.bytes]),
            session: &self.session,
            range: range.map(|(from, to)| Interval::new(Nanos(from), Nanos(to))),
            clock_origin_ns: Some(self.origin_ns()),
            formulas: Formulas::default(),
            original: None,
            reread: &read_again,
        };
        write(&log).expect("it is written");
    }

    /// Exports to a format that writes one file.
    pub(crate) fn file(&self, format: &str) -> Vec<u8> {
        let OutputKind::File { write, .. } = written(format) else {
            panic!("{format} is one file");
        };
        let mut bytes = Vec::new();
        self.export(|log| write(log, &mut bytes));
        bytes
    }

    /// Exports to a format that writes several files; returns them by name.
    pub(crate) fn files(&self, format: &str) -> BTreeMap<String, Vec<u8>> {
        let OutputKind::Files(write) = written(format) else {
            panic!("{format} is several files");
        };
        let folder = tempfile::TempDir::new().expect("a folder");
        self.export(|log| write(log, &folder.path().join(log.name)));
        let entries = fs::read_dir(folder.path()).expect("the folder");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        let file = |path: std::path::PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("the file"))
        };
        entries.map(file).collect()
    }
}

fn written(name: &str) -> OutputKind {
    let format: &Format = formats::find_format(name).expect("a format");
    format.output
}
