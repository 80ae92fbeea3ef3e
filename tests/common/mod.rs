//! Helpers shared by the integration tests: finding logs, reading them, running the command line.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

pub mod adversary;
pub mod asking;
pub mod build;
pub mod events;
pub mod ghc_events;
pub mod merging;
pub mod picture;
pub mod plain_time;
pub mod polling;
pub mod show;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use analysis::automata::Anomaly;
use analysis::automata::thread_state::ThreadSpan;
use analysis::diagnostics::Diagnostic;
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::recording::Recording;
use analysis::spans::{Analyses, SpanSink, Spans};
use analysis::timeline::flow::FlowQuery;
use analysis::timeline::store::Store;
use analysis::timeline::thread_table::{ThreadSums, ThreadTableQuery};
use analysis::yielder::{NoYield, Yield, block_on};
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use eventlog::source::{Source, read_log};
use eventlog::{DamageList, LogError, LogReader, Need, Record, Sink, Step};
use insight::Report;
use model::time::Interval;
use session::queries::FindingsQuery;
use session::query::{Host, LocalBoxFuture, Unreadable};
use session::{Session, read_session};
use views::words::diagnostics::{line, sentence};

/// Log with the results of the reference program (ghc-events).
#[derive(Clone, Debug)]
pub struct Case {
    /// Folder and file stem, such as `ghc-9.6.6/fib-forkio-N2-l`.
    pub name: String,
    /// Path of the eventlog.
    pub log: PathBuf,
    reference: PathBuf,
    is_fixture: bool,
}

impl Case {
    /// Returns a reference file, uncompressed; `None` if there is none.
    pub fn reference(&self, suffix: &str) -> Option<String> {
        let path = PathBuf::from(format!("{}.{suffix}", self.reference.display()));
        let bytes = fs::read(path).ok()?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .expect("gzip of UTF-8");
        Some(text)
    }

    /// Returns the reference counts and sums (`.agg.json`); `None` if there are none.
    pub fn sums(&self) -> Option<serde_json::Value> {
        let path = PathBuf::from(format!("{}.agg.json", self.reference.display()));
        let text = fs::read_to_string(path).ok()?;
        Some(serde_json::from_str(&text).expect("JSON"))
    }

    /// Path of the log as a command-line argument.
    pub fn path(&self) -> &str {
        self.log.to_str().expect("UTF-8")
    }

    /// Reads the log to its end. Panics if it cannot be opened.
    pub fn session(&self) -> Session {
        session_of(&self.bytes()).expect("a log")
    }

    /// Returns the bytes of the log.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.log).expect("the log can be read")
    }
}

/// Returns the logs in `tests/fixtures`, and those in the folder `EVENTSCOPE_CORPUS` if that is set.
pub fn cases() -> Vec<Case> {
    let mut roots = vec![fixtures()];
    roots.extend(std::env::var_os("EVENTSCOPE_CORPUS").map(PathBuf::from));
    let mut cases: Vec<Case> = roots.iter().flat_map(|root| cases_in(root)).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases.dedup_by(|a, b| a.name == b.name);
    assert!(cases.len() > 20, "the fixtures are there");
    cases
}

/// Returns the logs in `tests/fixtures` only.
pub fn fixture_cases() -> Vec<Case> {
    cases_in(&fixtures())
}

/// Returns the log in `tests/fixtures` of this name, such as `ghc-9.6.6/fib-forkio-N2-l`.
pub fn fixture(name: &str) -> Case {
    let case = fixture_cases().into_iter().find(|case| case.name == name);
    case.unwrap_or_else(|| panic!("no fixture is called {name}"))
}

/// Reads the log in `tests/fixtures` of this name to its end.
pub fn open(name: &str) -> Session {
    fixture(name).session()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn cases_in(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for set in entries(&root.join("logs"))
        .into_iter()
        .filter(|path| path.is_dir())
    {
        let set_name = set
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        for log in entries(&set) {
            if log
                .extension()
                .is_some_and(|extension| extension == "eventlog")
            {
                let stem = log
                    .file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned();
                cases.push(Case {
                    reference: root.join("reference").join(&set_name).join(&stem),
                    name: format!("{set_name}/{stem}"),
                    log,
                    is_fixture: root == fixtures(),
                });
            }
        }
    }
    cases
}

/// Logs for which the reference is wrong or empty, with the reason.
const REFERENCE_IS_WRONG: &[(&str, &str)] = &[
    (
        "ghc-9.0.2/cut-in-header",
        "the header is not whole: neither reads it",
    ),
    (
        "ghc-9.0.2/relog-N2-l",
        "26 stale bytes before the header, at which ghc-events stops",
    ),
    (
        "ghc-events/782stop",
        "GHC 7.8.2 numbers stop codes 8 and 9 otherwise, which ghc-events 0.20 does not know",
    ),
    (
        "ghc-events/mandelbrot-mmc-2011-06-14",
        "Mercury's event 40 is no SparkFizzle, and ghc-events does not read its StopThread of 6 bytes",
    ),
    (
        "ghc-events/queens-ghc-6.12.1",
        "ghc-events believes the sizes that GHC 6.12 declares, and reads nothing",
    ),
    (
        "ghc-events/testlog-part",
        "ghc-events does not read the StopThread of 6 bytes of GHC 7.0",
    ),
];

/// Returns whether the reference of a log is unusable.
pub fn reference_is_wrong(case: &Case) -> bool {
    REFERENCE_IS_WRONG
        .iter()
        .any(|(name, _)| *name == case.name)
}

/// Number of logs and of compared items in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Logs with at least one item.
    pub logs: usize,
    /// Items: rows, threads, numbers or whatever the test compares.
    pub things: usize,
}

/// Least coverage that a test is known to have. If it compares less, a key was renamed, a file moved or a filter
/// matches nothing: the test would pass whatever the code does.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedCoverage {
    /// Coverage of the fixtures.
    pub fixtures: Coverage,
    /// Coverage of all logs if `EVENTSCOPE_CORPUS` is set.
    pub corpus: Coverage,
}

/// Makes an [`ExpectedCoverage`] of `[logs, things]` of the fixtures and of all logs.
pub fn expected_coverage(fixtures: [usize; 2], corpus: [usize; 2]) -> ExpectedCoverage {
    let coverage = |[logs, things]: [usize; 2]| Coverage { logs, things };
    ExpectedCoverage {
        fixtures: coverage(fixtures),
        corpus: coverage(corpus),
    }
}

/// Counts how much a test compares.
#[derive(Debug, Default)]
pub struct Tally {
    fixtures: Coverage,
    all: Coverage,
    seen: BTreeSet<String>,
}

impl Tally {
    /// Adds `things` compared items of a log.
    pub fn add(&mut self, case: &Case, things: usize) {
        let is_new = things > 0 && self.seen.insert(case.name.clone());
        let count = |sum: &mut Coverage| {
            sum.logs += usize::from(is_new);
            sum.things += things;
        };
        count(&mut self.all);
        if case.is_fixture {
            count(&mut self.fixtures);
        }
    }

    /// Panics if less was compared than is `expected` to be there.
    pub fn finish(self, expected: ExpectedCoverage) {
        let enough = |found: Coverage, expected: Coverage| {
            found.logs >= expected.logs && found.things >= expected.things
        };
        let Self { fixtures, all, .. } = self;
        assert!(
            enough(fixtures, expected.fixtures),
            "of the fixtures {fixtures:?} of {:?} were looked at; of all logs {all:?}",
            expected.fixtures
        );
        if std::env::var_os("EVENTSCOPE_CORPUS").is_some() {
            let expected = expected.corpus;
            assert!(
                enough(all, expected),
                "{all:?} of {expected:?} were looked at"
            );
        }
    }
}

/// Runs `check` on every log and reports all that fail. `check` returns the number of compared items; fewer than
/// `expected` in total fail too.
pub fn for_all(expected: ExpectedCoverage, check: impl Fn(&Case) -> Result<usize, String>) {
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for case in cases() {
        match check(&case) {
            Ok(things) => tally.add(&case, things),
            Err(why) => failures.push(format!("{}: {why}", case.name)),
        }
    }
    assert!(
        failures.is_empty(),
        "{} logs differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    tally.finish(expected);
}

/// Runs `check` on every log that can be opened and has an event with a time, with the interval from its first to
/// its last event.
pub fn for_all_spans(
    expected: ExpectedCoverage,
    check: impl Fn(&Session, Interval) -> Result<usize, String>,
) {
    for_all(expected, |case| {
        let session = session_of(&case.bytes()).ok();
        let opened = session.and_then(|session| Some((session.overview().span?, session)));
        opened.map_or(Ok(0), |(span, session)| check(&session, span))
    });
}

/// Runs `check` on the timeline store of every readable log.
pub fn for_all_stores(
    expected: ExpectedCoverage,
    check: impl Fn(&Case, &Store) -> Result<usize, String>,
) {
    for_all(expected, |case| match store_of(&case.bytes()) {
        Ok(store) => check(case, &store),
        Err(_) => Ok(0),
    });
}

/// Returns an error that names `what`, unless both values are equal.
pub fn expect<T: PartialEq + Debug>(what: &str, ours: T, expected: T) -> Result<(), String> {
    if ours == expected {
        return Ok(());
    }
    Err(format!("{what}: {ours:?}, expected {expected:?}"))
}

/// Returns the interval between two times in nanoseconds.
pub fn span(from: u64, to: u64) -> Interval {
    Interval::new(Nanos(from), Nanos(to))
}

/// Runs `eventscope` with these arguments.
pub fn eventscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(arguments)
        .output()
        .expect("eventscope runs")
}

/// Returns the standard output of `eventscope`. Panics unless the exit code is 0 or 1.
pub fn stdout(arguments: &[&str]) -> String {
    let output = eventscope(arguments);
    let code = output.status.code();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        matches!(code, Some(0 | 1)),
        "{arguments:?}: {code:?} {errors}"
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Event as the reader delivered it, without its payload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// Byte offset in the log.
    pub offset: u64,
    /// Number of the event type.
    pub id: u16,
    /// Time in nanoseconds.
    pub time: u64,
    /// Capability of the block that holds the event; `None` outside of capability blocks.
    pub cap: Option<u16>,
    /// Payload size in bytes.
    pub payload_len: usize,
}

impl Row {
    /// Copies the fields of a record.
    pub fn from_record(record: &Record<'_>) -> Self {
        Self {
            offset: record.offset.0,
            id: record.id.0,
            time: record.time.0,
            cap: record.cap.map(|cap| cap.0),
            payload_len: record.payload.len(),
        }
    }
}

/// Result of reading a log.
#[derive(Debug)]
pub struct ReadResult {
    /// All events in analysis order.
    pub rows: Vec<Row>,
    /// Damaged ranges.
    pub damage: DamageList,
    /// Finished reader.
    pub reader: LogReader,
}

/// Reads a log and runs the span automata over it. Renders every span and every anomaly, so that the code for them
/// is covered too.
pub fn read(mut source: impl Source) -> Result<ReadResult, LogError> {
    let mut rows = Vec::new();
    let mut spans = Spans::new(ALL_ANALYSES, CountSpans::default());
    let reader = read_log(&mut source, &mut |record: &Record<'_>| {
        rows.push(Row::from_record(record));
        spans.offer(record);
    })?;
    spans.finish();
    let session = read_session(&mut source)?;
    assert_eq!(session.reader().accounting(), reader.accounting());
    assert_eq!(session.reader().damage(), reader.damage());
    ask_for_threads(&session.recording().store);
    ask_for_numbers(session.recording());
    let accounting = reader.accounting().expect("it is read");
    assert_eq!(accounting.total(), reader.len().0, "{accounting:?}");
    let damage = reader.damage();
    for one in &damage.kept {
        let text = line(&one.into());
        assert!(text.contains(" (byte "), "{text}");
    }
    Ok(ReadResult {
        rows,
        damage,
        reader,
    })
}

/// Returns the timeline store of a log.
pub fn store_of(bytes: &[u8]) -> Result<Store, LogError> {
    Ok(session_of(bytes)?.into_recording().store)
}

/// Reads a log from memory to its end.
pub fn session_of(bytes: &[u8]) -> Result<Session, LogError> {
    let mut session = Session::new(bytes.len() as u64);
    loop {
        match session.advance(1000)? {
            Step::Need(needs) => {
                for Need(range) in needs {
                    let piece = &bytes[range.start as usize..range.end as usize];
                    session.supply(range.start, piece);
                }
            }
            Step::More | Step::Indexed => {}
            Step::Done => return Ok(session),
        }
    }
}

/// Reads the log in a file to its end. Panics if it cannot be opened.
pub fn session_at(path: &str) -> Session {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    session_of(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the path of the log in `tests/fixtures/findings` of this name.
pub fn finding_log(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/findings");
    format!("{folder}/{name}.eventlog.gz")
}

/// Reads the log in `tests/fixtures/findings` of this name to its end.
pub fn finding_session(name: &str) -> Session {
    session_at(&finding_log(name))
}

/// Returns the name and the bytes of each log in a folder of `tests/fixtures`.
pub fn logs_in(folder: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
    entries(&fixtures().join(folder)).into_iter().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        let (name, _) = name.split_once('.').expect("what kind of file it is");
        (name.to_owned(), fs::read(&path).expect("a log"))
    })
}

/// Returns the findings in a range, or in all of the log.
pub fn findings_of(session: &Session, range: Option<Interval>) -> Report {
    session.ask(&FindingsQuery(range)).expect("the log is read")
}

/// Checks the table of threads of a log and of both of its halves: the halves must add up to the whole, and the
/// classes to the life of each thread, whatever the log holds.
fn ask_for_threads(store: &Store) {
    let end = store.end();
    let middle = Nanos(end.0 / 2);
    let table = |range| {
        let query = ThreadTableQuery {
            range,
            rows: 0..u64::MAX,
            ..ThreadTableQuery::default()
        };
        block_on(store.thread_table(&query, &NoYield)).expect("the log is read")
    };
    let whole = table(None);
    for row in &whole.rows {
        let life = row.life.map_or(Duration::ZERO, |life| life.duration());
        assert_eq!(row.sums.times.life_ns(), life.0, "thread {}", row.id);
    }
    for row in whole.rows.iter().take(8) {
        let view = Interval::new(Nanos(0), end);
        let thread = row.id;
        for arrow in store.flow(&FlowQuery { thread, view }) {
            assert!(
                arrow.from <= arrow.to && arrow.thread == thread,
                "{arrow:?}"
            );
        }
    }
    let halves = [(Nanos(0), middle), (middle, end)].map(|(from, to)| Interval::new(from, to));
    let halves = halves.map(|half| table(Some(half)).all);
    let sum = |of: fn(&ThreadSums) -> u64| halves.iter().map(of).fold(0, u64::saturating_add);
    assert_eq!(
        sum(|half| half.times.ready_ns()),
        whole.all.times.ready_ns()
    );
    assert_eq!(sum(|half| half.times.life_ns()), whole.all.times.life_ns());
    assert_eq!(sum(|half| half.runs), whole.all.runs);
}

/// Checks the summary of a log and of its second half against the numbers behind it.
fn ask_for_numbers(recording: &Recording) {
    let (numbers, end) = (&recording.numbers, recording.end().0);
    let query = |range| CollectionsQuery {
        range,
        rows: 0..10,
        pauses: true,
        ..CollectionsQuery::default()
    };
    for range in [None, Some(Interval::new(Nanos(end / 2), Nanos(end)))] {
        let summary = recording.summary(range);
        assert!(summary.total_ns <= end);
        let collections = numbers.collections(Nanos(end), &query(range)).total;
        assert_eq!(summary.collections.unwrap_or(0), collections);
        let sparks = recording.sparks(range);
        assert_eq!(sparks.rows.first().map(|row| row.totals), summary.sparks);
    }
}

/// Analyses with every automaton enabled.
pub const ALL_ANALYSES: Analyses = Analyses {
    lifecycle: true,
    mutator_by_cap: true,
};

/// Sink that counts spans and renders anomalies.
#[derive(Debug, Default)]
pub struct CountSpans {
    /// Spans of any kind.
    pub spans: u64,
    /// Anomalies in order of detection, as sentences.
    pub anomalies: Vec<String>,
}

impl SpanSink for CountSpans {
    fn gc(&mut self, _: CapId, span: Interval) {
        self.spans += 1;
        let _ = span.duration();
    }
    fn thread(&mut self, _: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        self.spans += 1;
        let _ = span.span.duration();
    }
    fn mutator(&mut self, _: CapId, _: ThreadId, span: Interval) {
        self.spans += 1;
        let _ = span.duration();
    }
    fn anomaly(&mut self, at: Nanos, _: Option<CapId>, anomaly: Anomaly) {
        self.anomalies
            .push(sentence(&Diagnostic::at_time(at, anomaly)));
    }
}

/// Host that holds the whole file in memory and never yields.
#[derive(Debug)]
pub struct MemoryHost<'a>(pub &'a [u8]);

impl Yield for MemoryHost<'_> {
    fn is_due(&self) -> bool {
        false
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Host for MemoryHost<'_> {
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        let end = (range.end as usize).min(self.0.len());
        let bytes = self.0[range.start as usize..end].to_vec();
        Box::pin(std::future::ready(Ok(bytes)))
    }
}
