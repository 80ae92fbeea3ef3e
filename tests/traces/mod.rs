//! Reads traces that were exported by the rules of their formats, and counts what is in them.

pub(crate) mod chrome;
pub(crate) mod firefox;
pub(crate) mod openmetrics;
pub(crate) mod otlp;
pub(crate) mod perfetto;

use std::collections::BTreeMap;
use std::fs;

use analysis::automata::thread_state::{Activity, ThreadSpan};
use analysis::spans::{Analyses, Open, SpanSink, Spans};
use eventlog::Record;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use export::format::{Error, Format, Written};
use export::formats;
use export::log::{Log, Taker};
use model::time::Interval;
use session::Session;
use session::cells::Formulas;
use views::fingerprint::fingerprint;

use super::common::session_of;

/// How many spans there are, and how long they are together.
pub(crate) type Sum = (u64, u64);

/// Adds a span.
pub(crate) fn add<K: Ord>(sums: &mut BTreeMap<K, Sum>, key: K, ns: u64) {
    let sum = sums.entry(key).or_default();
    *sum = (sum.0 + 1, sum.1 + ns);
}

/// What a viewer finds in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Spans by lane and category.
    pub(crate) spans: BTreeMap<(String, String), Sum>,
    /// How many spans in which something blocked a thread have a name.
    pub(crate) blocked: BTreeMap<String, u64>,
    /// Points by lane and category.
    pub(crate) instants: BTreeMap<(String, String), u64>,
    /// Arrows with two ends.
    pub(crate) arrows: u64,
    /// For each counter how many values it has, and the last one.
    pub(crate) counters: BTreeMap<String, (u64, u64)>,
}

impl Tally {
    /// How many things they are.
    pub(crate) fn count(&self) -> usize {
        let spans: u64 = self.spans.values().map(|(count, _)| count).sum();
        let instants: u64 = self.instants.values().sum();
        (spans + instants) as usize
    }
}

/// The spans of a log that have an end, as `eventscope spans` finds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lives {
    pub(crate) runs_on: BTreeMap<u16, Sum>,
    pub(crate) collections: BTreeMap<u16, Sum>,
    pub(crate) running: BTreeMap<u32, Sum>,
    /// Waits, whole: what formats make two spans of counts once.
    pub(crate) waiting: BTreeMap<u32, Sum>,
    /// Whether a collection had no end; viewers show it up to the end of the log.
    pub(crate) has_open_collection: bool,
}

impl Lives {
    /// In what others differ from it, whose waits may be in parts.
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

impl SpanSink for Lives {
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
    fn open(&mut self, open: Open) {
        self.has_open_collection |= matches!(open, Open::Gc(..));
    }
}

/// The spans of a log.
pub(crate) fn lives_of(mut bytes: &[u8]) -> Lives {
    let analyses = Analyses {
        lifecycle: true,
        mutator_by_cap: false,
    };
    let mut spans = Spans::new(analyses, Lives::default());
    read_log(&mut bytes, &mut spans).expect("a log");
    spans.finish()
}

/// A log that can be exported.
pub(crate) struct Exporting {
    pub(crate) session: Session,
    pub(crate) range: Option<(u64, u64)>,
    bytes: Vec<u8>,
}

impl Exporting {
    /// Of the bytes of a log, if they are one.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            session: session_of(bytes).ok()?,
            range: None,
            bytes: bytes.to_vec(),
        })
    }

    /// When the log's clock was 0; a log that does not tell gets some time.
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
        let read_again = |take: &mut Taker<'_>| {
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
            read_again: &read_again,
        };
        write(&log).expect("it is written");
    }

    /// The file of a format.
    pub(crate) fn file(&self, format: &str) -> Vec<u8> {
        let Written::File { write, .. } = written(format) else {
            panic!("{format} is one file");
        };
        let mut bytes = Vec::new();
        self.export(|log| write(log, &mut bytes));
        bytes
    }

    /// The files of a format, by name.
    pub(crate) fn files(&self, format: &str) -> BTreeMap<String, Vec<u8>> {
        let Written::Files(write) = written(format) else {
            panic!("{format} is several files");
        };
        let folder = tempfile::TempDir::new().expect("a folder");
        self.export(|log| write(log, folder.path()));
        let entries = fs::read_dir(folder.path()).expect("the folder");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        let file = |path: std::path::PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("the file"))
        };
        entries.map(file).collect()
    }
}

fn written(name: &str) -> Written {
    let format: &Format = formats::named(name).expect("a format");
    format.written
}
