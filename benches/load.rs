//! How fast a log is read, from the bare bytes up to a session. Run with
//! `cargo bench`; throughput is in events and in bytes. Time is what the
//! processor worked for it, so that it hardly matters what else runs.
//!
//! The log is the file that `EVENTSCOPE_BENCH_LOG` names. Without that, it is
//! the first 100 MB of `examples/make_big_log.rs`, made in memory. What a session
//! costs over a walk over the records is printed by `node benches/native.mjs`.
#![allow(missing_docs, reason = "criterion makes an undocumented function")]

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use analysis::automata::thread_state::ThreadSpan;
use analysis::spans::{Analyses, SpanSink, Spans};
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use eventlog::header::{BLOCK_MARKER, END_OF_DATA, Header, Parsed};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Need, Record, Step};
use model::time::Interval;
use rustix::time::{ClockId, clock_gettime};
use views::session::Session;

#[path = "../examples/container/mod.rs"]
mod container;
#[path = "../examples/program/mod.rs"]
mod program;
#[path = "../examples/stream/mod.rs"]
mod stream;

const MADE_BYTES: u64 = 100_000_000;
/// What a driver reads in one go.
const PIECE: usize = 2 << 20;

fn header(log: &[u8]) -> (Header, usize) {
    match Header::parse(log, 0) {
        Ok(Parsed::Header(header, len)) => (*header, len),
        other => panic!("no header: {other:?}"),
    }
}

/// Calls `each` with the place of every event and block marker. This trusts
/// the log: it is the least that any reader has to do.
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

/// The time that the processor worked, in all threads together.
#[derive(Debug)]
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        // Time of a process is not negative.
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

/// Counts spans.
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

/// What the browser's worker does, but for the reading of the file.
fn session(log: &[u8]) -> u64 {
    let mut session = Session::new(log.len() as u64);
    loop {
        match session.advance(50_000).expect("a log") {
            Step::Need(needs) => {
                for Need(range) in needs {
                    session.supply(range.start, &log[range.start as usize..range.end as usize]);
                }
            }
            Step::More | Step::Indexed => {}
            Step::Done => return session.events(),
        }
    }
}

fn load(criterion: &mut Criterion<CpuTime>) {
    let (name, log) = match std::env::var_os("EVENTSCOPE_BENCH_LOG") {
        Some(path) => {
            let log = std::fs::read(&path).expect("the log that EVENTSCOPE_BENCH_LOG names");
            (Path::new(&path).display().to_string(), log)
        }
        None => {
            let mut log = Vec::new();
            let told = program::write(&mut log, MADE_BYTES, 4, false, 1).expect("memory");
            (told, log)
        }
    };
    let events = count(&log);
    let bytes = log.len() as u64;
    println!(
        "{name}: {bytes} bytes, {events} events, {} spans",
        spans(&log)
    );
    assert_eq!(scan(&log), events, "a sound log");

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
    group.throughput(Throughput::ElementsAndBytes {
        elements: events,
        bytes,
    });
    for (stage, run) in stages {
        let id = BenchmarkId::from_parameter(stage);
        group.bench_with_input(id, log.as_slice(), |bench, log| {
            bench.iter(|| run(black_box(log)));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = load
}
criterion_main!(benches);
