//! Throughput of reading a log, from raw bytes to a session, in events and bytes. Run with `cargo bench`. Times
//! are CPU times, so that other processes hardly matter. `slices` measures the two phases of a session separately:
//! the parallel one, and the sequential one. `threads` measures elapsed time, so nothing else should run.
//!
//! The log is the file that `EVENTSCOPE_BENCH_LOG` names; the default is the first 100 MB of
//! `examples/make_big_log.rs`, made in memory. `node benches/native.mjs` prints the cost of a session relative to
//! a walk over the records.
#![allow(missing_docs, reason = "criterion makes an undocumented function")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use analysis::automata::thread_state::ThreadSpan;
use analysis::segment::{Scratch, Segment};
use analysis::spans::{Analyses, SpanSink, Spans};
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use eventlog::header::{BLOCK_MARKER, END_OF_DATA, Header, Parsed};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Need, Record, SliceStep, Step};
use model::time::Interval;
use native::read_session_on;
use rustix::time::{ClockId, clock_gettime};
use session::{Job, JobId, Session, SliceAnalyzer};

#[path = "../examples/container/mod.rs"]
mod container;
#[path = "../examples/program/mod.rs"]
mod program;
#[path = "../examples/stream/mod.rs"]
mod stream;

const MADE_BYTES: u64 = 100_000_000;
/// Bytes that a driver reads at once.
const PIECE: usize = 2 << 20;

fn header(log: &[u8]) -> (Header, usize) {
    match Header::parse(log, 0) {
        Ok(Parsed::Header(header, len)) => (*header, len),
        other => panic!("no header: {other:?}"),
    }
}

/// Calls `each` with the offset and type of every event and block marker. Trusts the log, and so is a lower bound
/// for any reader.
fn walk(log: &[u8], header: &Header, start: usize, mut each: impl FnMut(usize, u16)) {
    let ids = header.types.iter().map(|decl| usize::from(decl.id.0));
    let mut sizes = vec![Some(0); ids.max().unwrap_or(0) + 1];
    for decl in &header.types {
        sizes[usize::from(decl.id.0)] = decl.size;
    }
    let be16 = |at: usize| u16::from_be_bytes([log[at], log[at + 1]]);
    let mut at = start;
    while at + 10 <= log.len() {
        let id = be16(at);
        if id == END_OF_DATA {
            at += 2;
            continue;
        }
        each(at, id);
        at += match sizes[usize::from(id)] {
            Some(size) => 10 + usize::from(size),
            None => 12 + usize::from(be16(at + 10)),
        };
    }
}

/// CPU time of all threads of the process.
#[derive(Debug)]
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        // CPU times are never negative.
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    fn end(&self, started: Duration) -> Duration {
        self.start() - started
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Sink that counts spans.
#[derive(Debug, Default)]
struct Count(u64);

impl SpanSink for Count {
    fn gc(&mut self, _: CapId, _: Interval) {
        self.0 += 1;
    }
    fn thread(&mut self, _: ThreadId, _: ThreadSpan, _: Option<Nanos>) {
        self.0 += 1;
    }
    fn mutator(&mut self, _: CapId, _: ThreadId, _: Interval) {
        self.0 += 1;
    }
}

fn sum_of_bytes(log: &[u8]) -> u64 {
    let mut piece = vec![0; PIECE];
    let mut sum = 0u64;
    for part in log.chunks(PIECE) {
        piece[..part.len()].copy_from_slice(part);
        let words = piece[..part.len()].as_chunks::<8>().0.iter();
        sum = words.fold(sum, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
    }
    sum
}

fn scan(log: &[u8]) -> u64 {
    let (header, start) = header(log);
    let mut count = 0;
    walk(log, &header, start, |_, id| {
        count += u64::from(id != BLOCK_MARKER);
    });
    count
}

fn count(mut log: &[u8]) -> u64 {
    let mut count = 0;
    read_log(&mut log, &mut |_: &Record<'_>| count += 1).expect("a log");
    count
}

fn spans(mut log: &[u8]) -> u64 {
    let analyses = Analyses {
        lifecycle: true,
        mutator_by_cap: true,
    };
    let mut spans = Spans::new(analyses, Count::default());
    read_log(&mut log, &mut spans).expect("a log");
    spans.finish().0
}

fn supply(needs: Vec<Need>, log: &[u8], mut take: impl FnMut(u64, &[u8])) {
    for Need(range) in needs {
        take(range.start, &log[range.start as usize..range.end as usize]);
    }
}

/// Advances a session until `end`: its slices are known, or all is read.
fn session_until(end: &Step, log: &[u8]) -> Session {
    let mut session = Session::new(log.len() as u64);
    loop {
        match session.advance(50_000).expect("a log") {
            Step::Need(needs) => supply(needs, log, |at, bytes| session.supply(at, bytes)),
            step if step == *end => return session,
            Step::More | Step::Indexed | Step::Done => {}
        }
    }
}

/// Does the work of the browser's worker, except reading the file.
fn session(log: &[u8]) -> u64 {
    session_until(&Step::Done, log).events()
}

fn analyze(job: Job, log: &[u8], scratch: &mut Scratch) -> (JobId, Segment) {
    let mut working = SliceAnalyzer::new(job, scratch);
    loop {
        match working.advance(usize::MAX) {
            SliceStep::Need(needs) => supply(needs, log, |at, bytes| working.supply(at, bytes)),
            SliceStep::More => {}
            SliceStep::Done => return working.finish(scratch),
        }
    }
}

/// Returns a session with all of its slices, ready for analysis.
fn jobs(log: &[u8]) -> (Session, Vec<Job>) {
    let mut session = session_until(&Step::Indexed, log);
    let jobs = std::iter::from_fn(|| session.next_job()).collect();
    (session, jobs)
}

/// Returns a session with all of its analyzed segments, ready for stitching.
fn segments(log: &[u8]) -> (Session, Vec<(JobId, Segment)>) {
    let (session, jobs) = jobs(log);
    let mut scratch = Scratch::default();
    let analyze = |job| analyze(job, log, &mut scratch);
    (session, jobs.into_iter().map(analyze).collect())
}

fn put_together((mut session, segments): (Session, Vec<(JobId, Segment)>)) -> Session {
    for (id, segment) in segments {
        session.add_segment(id, segment);
    }
    assert!(session.is_complete(), "no slice was to be read again");
    session
}

/// Log to measure.
struct Log {
    name: String,
    bytes: Vec<u8>,
    events: u64,
}

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let (name, bytes) = match std::env::var_os("EVENTSCOPE_BENCH_LOG") {
        Some(path) => {
            let bytes = std::fs::read(&path).expect("the log that EVENTSCOPE_BENCH_LOG names");
            (Path::new(&path).display().to_string(), bytes)
        }
        None => {
            let mut bytes = Vec::new();
            let told = program::write(&mut bytes, MADE_BYTES, 4, false, 1).expect("memory");
            (told, bytes)
        }
    };
    let events = count(&bytes);
    Log {
        name,
        bytes,
        events,
    }
});

fn throughput() -> Throughput {
    Throughput::ElementsAndBytes {
        elements: LOG.events,
        bytes: LOG.bytes.len() as u64,
    }
}

fn load(criterion: &mut Criterion<CpuTime>) {
    let Log {
        name,
        bytes: log,
        events,
    } = &*LOG;
    println!(
        "{name}: {} bytes, {events} events, {} spans",
        log.len(),
        spans(log)
    );
    assert_eq!(scan(log), *events, "a sound log");

    type Stage = (&'static str, fn(&[u8]) -> u64);
    let stages: [Stage; 5] = [
        ("bytes", sum_of_bytes),
        ("records", scan),
        ("reader", count),
        ("reader and spans", spans),
        ("session", session),
    ];
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10);
    group.throughput(throughput());
    for (stage, run) in stages {
        let id = BenchmarkId::from_parameter(stage);
        group.bench_with_input(id, log.as_slice(), |bench, log| {
            bench.iter(|| run(black_box(log)));
        });
    }
    group.finish();
}

fn slices(criterion: &mut Criterion<CpuTime>) {
    let log = LOG.bytes.as_slice();
    let mut group = criterion.benchmark_group("slices");
    group.sample_size(10);
    group.throughput(throughput());
    group.bench_function("analysed", |bench| {
        bench.iter(|| {
            let (_, jobs) = jobs(black_box(log));
            let mut scratch = Scratch::default();
            jobs.into_iter()
                .for_each(|job| drop(analyze(job, log, &mut scratch)));
        });
    });
    group.bench_function("put together", |bench| {
        bench.iter_batched(|| segments(log), put_together, BatchSize::PerIteration);
    });
    group.finish();
}

fn threads(criterion: &mut Criterion) {
    let log = LOG.bytes.as_slice();
    let mut group = criterion.benchmark_group("threads");
    group.sample_size(10);
    group.throughput(throughput());
    for threads in [1, 2, 4] {
        group.bench_function(BenchmarkId::from_parameter(threads), |bench| {
            let threads = NonZeroUsize::new(threads).expect("some");
            bench.iter(|| {
                let session = Session::new(log.len() as u64);
                read_session_on(threads, session, black_box(log)).expect("a log")
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = processor;
    config = Criterion::default().with_measurement(CpuTime);
    targets = load, slices
}
criterion_group! {
    name = clock;
    config = Criterion::default();
    targets = threads
}
criterion_main!(processor, clock);
