//! How fast a log is read, from the bare bytes up to the span automata. Run
//! with `cargo bench`; throughput is in events and in bytes.
//!
//! The log is the file that `EVENTSCOPE_BENCH_LOG` names. Without that, it is
//! made in memory: the blocks of the fixture `dense-N2-l-flush` (GHC 9.6.6, two
//! capabilities, 18,436 events in 313 kB, mostly short runs of threads), again
//! and again, each time later, until there are 100 MB. Threads come back in
//! each repetition after they have finished, so a log of this kind yields
//! fewer spans than a real one: compare its figures with themselves only.
#![allow(missing_docs, reason = "criterion makes an undocumented function")]

use std::hint::black_box;
use std::path::Path;

use analysis::automata::thread_state::ThreadSpan;
use analysis::spans::{Analyses, SpanSink, Spans};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use eventlog::header::{BLOCK_MARKER, END_OF_DATA, Header, Parsed};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Need, Record, Step};
use model::time::Interval;
use views::session::Session;

const FIXTURE: &str = "tests/fixtures/logs/ghc-9.6.6/dense-N2-l-flush.eventlog";
const MADE_BYTES: usize = 100_000_000;
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

/// The blocks of the fixture, again and again.
fn made() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE);
    let mut fixture = std::fs::read(path).expect("the fixture");
    let (header, start) = header(&fixture);
    let mut times = Vec::new();
    let mut last_block = start;
    walk(&fixture, &header, start, |at, id| {
        times.push(at + 2);
        if id == BLOCK_MARKER {
            times.push(at + 14);
            last_block = at;
        }
    });
    // The end-of-data marker is part of the last block; it moves to the end.
    assert!(fixture.ends_with(&[0xFF, 0xFF]));
    fixture.truncate(fixture.len() - 2);
    let size = (fixture.len() - last_block) as u32;
    fixture[last_block + 10..last_block + 14].copy_from_slice(&size.to_be_bytes());

    let time_at = |bytes: &[u8], at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_be_bytes(word)
    };
    let latest = times.iter().map(|&at| time_at(&fixture, at)).max();
    let latest = latest.unwrap_or(0);
    let body = &fixture[start..];
    let mut log = fixture[..start].to_vec();
    for turn in 0.. {
        if log.len() >= MADE_BYTES {
            break;
        }
        let base = log.len();
        log.extend_from_slice(body);
        for at in times.iter().map(|at| base + at - start) {
            let time = time_at(&log, at) + turn * latest;
            log[at..at + 8].copy_from_slice(&time.to_be_bytes());
        }
    }
    log.extend_from_slice(&[0xFF, 0xFF]);
    log
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

fn load(criterion: &mut Criterion) {
    let (name, log) = match std::env::var_os("EVENTSCOPE_BENCH_LOG") {
        Some(path) => {
            let log = std::fs::read(&path).expect("the log that EVENTSCOPE_BENCH_LOG names");
            (Path::new(&path).display().to_string(), log)
        }
        None => ("repeated fixture".to_owned(), made()),
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

criterion_group!(benches, load);
criterion_main!(benches);
