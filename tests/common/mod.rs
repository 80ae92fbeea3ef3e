//! What the corpus tests share: finding logs and running the command.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

pub mod adversary;
pub mod asking;
pub mod build;
pub mod events;
pub mod merging;
pub mod peer;
pub mod picture;
pub mod plain_time;
pub mod show;

use std::collections::BTreeSet;
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
use session::query::{Host, LocalBoxFuture, Unreadable};
use session::questions::FindingsQuery;
use session::{Session, read_session};
use views::words::diagnostics::{line, sentence};

/// A log with the reference results beside it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `ghc-9.6.6/fib-forkio-N2-l`.
    pub name: String,
    /// The log.
    pub log: PathBuf,
    reference: PathBuf,
    is_fixture: bool,
}

impl Case {
    /// A reference file, uncompressed; `None` if there is none.
    pub fn reference(&self, suffix: &str) -> Option<String> {
        let path = PathBuf::from(format!("{}.{suffix}", self.reference.display()));
        let bytes = fs::read(path).ok()?;
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .expect("gzip of UTF-8");
        Some(text)
    }

    /// The counts and sums beside the log; `None` if there are none.
    pub fn sums(&self) -> Option<serde_json::Value> {
        let path = PathBuf::from(format!("{}.agg.json", self.reference.display()));
        let text = fs::read_to_string(path).ok()?;
        Some(serde_json::from_str(&text).expect("JSON"))
    }

    /// Where the log is, for the command line.
    pub fn path(&self) -> &str {
        self.log.to_str().expect("UTF-8")
    }

    /// The log, read to its end; it has to be one.
    pub fn session(&self) -> Session {
        session_of(&self.bytes()).expect("a log")
    }

    /// The bytes of the log.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.log).expect("the log can be read")
    }
}

/// The logs in `tests/fixtures`, and those of the folder `EVENTSCOPE_CORPUS`
/// if that is set.
pub fn cases() -> Vec<Case> {
    let mut roots = vec![fixtures()];
    roots.extend(std::env::var_os("EVENTSCOPE_CORPUS").map(PathBuf::from));
    let mut cases: Vec<Case> = roots.iter().flat_map(|root| cases_in(root)).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases.dedup_by(|a, b| a.name == b.name);
    assert!(cases.len() > 20, "the fixtures are there");
    cases
}

/// The logs in `tests/fixtures` alone.
pub fn fixture_cases() -> Vec<Case> {
    cases_in(&fixtures())
}

/// The log in `tests/fixtures` of this name, such as `ghc-9.6.6/fib-forkio-N2-l`.
pub fn fixture(name: &str) -> Case {
    let case = fixture_cases().into_iter().find(|case| case.name == name);
    case.unwrap_or_else(|| panic!("no fixture is called {name}"))
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

/// Where the reference is wrong or reads nothing, and why.
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

/// Whether the reference of a log is no reference.
pub fn reference_is_wrong(case: &Case) -> bool {
    REFERENCE_IS_WRONG
        .iter()
        .any(|(name, _)| *name == case.name)
}

/// Logs and things in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Logs with at least one such thing.
    pub logs: usize,
    /// Rows, threads, numbers or whatever a test looks at.
    pub things: usize,
}

/// How much a test is known to look at. If it looks at less, a key was renamed, a file moved or a
/// filter matches nothing: it would pass whatever the code does.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// In the fixtures.
    pub fixtures: Compared,
    /// In all logs, where `EVENTSCOPE_CORPUS` is set.
    pub corpus: Compared,
}

/// Logs and things in the fixtures, then in all logs.
pub fn known(fixtures: [usize; 2], corpus: [usize; 2]) -> Known {
    let of = |[logs, things]: [usize; 2]| Compared { logs, things };
    Known {
        fixtures: of(fixtures),
        corpus: of(corpus),
    }
}

/// Counts what a test looks at.
#[derive(Debug, Default)]
pub struct Tally {
    fixtures: Compared,
    all: Compared,
    seen: BTreeSet<String>,
}

impl Tally {
    /// So many things of a log were looked at.
    pub fn add(&mut self, case: &Case, things: usize) {
        let is_new = things > 0 && self.seen.insert(case.name.clone());
        let count = |sum: &mut Compared| {
            sum.logs += usize::from(is_new);
            sum.things += things;
        };
        count(&mut self.all);
        if case.is_fixture {
            count(&mut self.fixtures);
        }
    }

    /// Fails if less was looked at than is known to be there.
    pub fn finish(self, known: Known) {
        let enough = |found: Compared, known: Compared| {
            found.logs >= known.logs && found.things >= known.things
        };
        let Self { fixtures, all, .. } = self;
        assert!(
            enough(fixtures, known.fixtures),
            "of the fixtures {fixtures:?} of {:?} were looked at; of all logs {all:?}",
            known.fixtures
        );
        if std::env::var_os("EVENTSCOPE_CORPUS").is_some() {
            let known = known.corpus;
            assert!(enough(all, known), "{all:?} of {known:?} were looked at");
        }
    }
}

/// Runs `check` on every log and reports all that fail. `check` says how many things it looked
/// at: fewer than are `known` fail too.
pub fn for_all(known: Known, check: impl Fn(&Case) -> Result<usize, String>) {
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
    tally.finish(known);
}

/// Runs `check` on every log that can be opened and has an event with a time, with the span
/// from its first to its last.
pub fn for_all_spans(known: Known, check: impl Fn(&Session, Interval) -> Result<usize, String>) {
    for_all(known, |case| {
        let session = session_of(&case.bytes()).ok();
        let opened = session.and_then(|session| Some((session.overview().span?, session)));
        opened.map_or(Ok(0), |(span, session)| check(&session, span))
    });
}

/// Runs `eventscope` with these arguments.
pub fn eventscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(arguments)
        .output()
        .expect("eventscope runs")
}

/// What `eventscope` prints; it may exit with 1, but not crash.
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

/// One event as the reader delivered it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// Where it stands.
    pub offset: u64,
    /// The number of its type.
    pub id: u16,
    /// Its time in nanoseconds.
    pub time: u64,
    /// Its capability.
    pub cap: Option<u16>,
    /// Bytes of its payload.
    pub payload_len: usize,
}

impl Row {
    /// The row of a record.
    pub fn of(record: &Record<'_>) -> Self {
        Self {
            offset: record.offset.0,
            id: record.id.0,
            time: record.time.0,
            cap: record.cap.map(|cap| cap.0),
            payload_len: record.payload.len(),
        }
    }
}

/// What reading a log gives.
#[derive(Debug)]
pub struct Reading {
    /// Every event in analysis order.
    pub rows: Vec<Row>,
    /// What was wrong.
    pub damage: DamageList,
    /// The reader, done.
    pub reader: LogReader,
}

/// Reads a log, running the span automata over it; every span and every
/// oddity is rendered, so that nothing of them goes untested.
pub fn read(mut source: impl Source) -> Result<Reading, LogError> {
    let mut rows = Vec::new();
    let mut spans = Spans::new(ALL_ANALYSES, CountSpans::default());
    let reader = read_log(&mut source, &mut |record: &Record<'_>| {
        rows.push(Row::of(record));
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
    Ok(Reading {
        rows,
        damage,
        reader,
    })
}

/// The timeline's store of a log.
pub fn store_of(bytes: &[u8]) -> Result<Store, LogError> {
    Ok(session_of(bytes)?.into_recording().store)
}

/// An open log, read to its end.
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

/// What the rules say of a range, or of all of a log.
pub fn findings_of(session: &Session, range: Option<Interval>) -> Report {
    session.ask(&FindingsQuery(range)).expect("the log is read")
}

/// Asks how threads spent a log and both of its halves: these must add up,
/// and to the life of each thread, whatever is in the log.
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

/// Asks for every number of a log and of its second half.
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

/// Every automaton runs.
pub const ALL_ANALYSES: Analyses = Analyses {
    lifecycle: true,
    mutator_by_cap: true,
};

/// Counts what the automata yield.
#[derive(Debug, Default)]
pub struct CountSpans {
    /// Spans of any kind.
    pub spans: u64,
    /// Oddities, in words.
    pub oddities: Vec<String>,
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
    fn oddity(&mut self, at: Nanos, _: Option<CapId>, oddity: Anomaly) {
        self.oddities.push(sentence(&Diagnostic::at(at, oddity)));
    }
}

/// Supplies all of a file that is asked for, at once.
#[derive(Debug)]
pub struct InMemory<'a>(pub &'a [u8]);

impl Yield for InMemory<'_> {
    fn is_due(&self) -> bool {
        false
    }

    fn pause(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Host for InMemory<'_> {
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        let end = (range.end as usize).min(self.0.len());
        let bytes = self.0[range.start as usize..end].to_vec();
        Box::pin(std::future::ready(Ok(bytes)))
    }
}
