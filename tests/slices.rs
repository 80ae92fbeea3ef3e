//! Answers depend neither on the slices of a log nor on the order in which they are analyzed.

use crate::common;
use crate::common::asking;
use crate::formats::{Version, profiled};

use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use analysis::segment::Scratch;
use asking::assert_equal_answers;
use common::build::LogBuilder;
use common::{Case, cases, fixture, session_of};
use eventlog::ids::Nanos;
use eventlog::source::SharedSource;
use eventlog::{Need, SliceStep, SlicingRule, Step};
use native::read_session_on;
use session::{Job, Session, SliceAnalyzer};

fn requested_bytes<'a>(bytes: &'a [u8], need: &Need) -> &'a [u8] {
    &bytes[need.0.start as usize..need.0.end as usize]
}

/// Analyzes a slice from its bytes, as a worker does, and returns the segment to the session.
fn work(session: &mut Session, job: Job, log: &[u8], scratch: &mut Scratch) -> Step {
    let mut working = SliceAnalyzer::new(job, scratch);
    loop {
        match working.advance(1000) {
            SliceStep::Need(needs) => {
                for need in needs {
                    working.supply(need.0.start, requested_bytes(log, &need));
                }
            }
            SliceStep::More => {}
            SliceStep::Done => {
                let (id, segment) = working.finish(scratch);
                return session.add_segment(id, segment);
            }
        }
    }
}

/// Reads a log until its slices are known. Returns the number of reads.
fn indexed(bytes: &[u8], cuts: Vec<Nanos>) -> (Session, usize) {
    let mut session = Session::new(bytes.len() as u64).with_slicing_rule(SlicingRule::At(cuts));
    let mut reads = 0;
    loop {
        match session.advance(1000).expect("a log") {
            Step::Need(needs) => {
                for need in needs {
                    reads += 1;
                    session.supply(need.0.start, requested_bytes(bytes, &need));
                }
            }
            Step::More => {}
            Step::Indexed | Step::Done => return (session, reads),
        }
    }
}

/// Reads a log in slices, each batch of three in reverse order. Returns the number of slices.
fn sliced(bytes: &[u8], cuts: Vec<Nanos>) -> (Session, usize) {
    let (mut session, _) = indexed(bytes, cuts);
    let log = session
        .inflated()
        .map_or_else(|| bytes.to_vec(), |log| log.to_vec().expect("in memory"));
    let (mut scratch, mut read) = (Scratch::default(), 0);
    while !session.is_complete() {
        let jobs: Vec<Job> = std::iter::from_fn(|| session.next_job()).take(3).collect();
        assert!(!jobs.is_empty(), "something is left to do");
        read += jobs.len();
        for job in jobs.into_iter().rev() {
            work(&mut session, job, &log, &mut scratch);
        }
    }
    (session, read)
}

/// Returns times throughout the log, including those of collections and runs.
fn cuts(session: &Session, parts: u64) -> Vec<Nanos> {
    let Some(log) = session.overview().span else {
        return Vec::new();
    };
    let length = log.duration().0;
    let even = (1..parts).map(|part| log.start().0 + length / parts * part);
    let store = &session.recording().store;
    let caps = session.recording().info.lives.caps();
    let runs = caps.filter_map(|(cap, _)| store.cap(cap)).flat_map(|cap| {
        let places = (0..parts as usize).map(|part| part * 7919);
        places.filter_map(|place| cap.runs.span_at(place))
    });
    let times = runs.flat_map(|(start, end)| [start, start + 1, end, end + 1]);
    let mut cuts: Vec<Nanos> = even.chain(times).map(Nanos).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Asserts that two sessions of a log give the same answers.
fn agree(whole: &Session, cut: &Session, bytes: &[u8], how: &str) {
    for seed in 0..3_u32 {
        let bytes_of = |i: u32| (i * i / 7 + i * (31 + seed)) as u8;
        let choices: Vec<u8> = (0..4000_u32).map(bytes_of).collect();
        assert_equal_answers(whole, cut, bytes, &choices, how);
    }
}

fn says_the_same(case: &Case, bytes: &[u8], parts: u64) -> usize {
    let Ok(whole) = session_of(bytes) else {
        return 0;
    };
    let (cut, read) = sliced(bytes, cuts(&whole, parts));
    agree(&whole, &cut, bytes, &format!("{} in {parts}", case.name));
    read
}

/// Maximum of log bytes times slices: a slice may be read from the start of a block, so that many slices are
/// expensive.
const AFFORDABLE: usize = 3_000_000;

#[test]
fn a_log_says_the_same_whatever_it_is_cut_into() {
    let mut slices = 0;
    for case in cases() {
        let bytes = case.bytes();
        for parts in [2, 5, 24] {
            if parts as usize * bytes.len() <= AFFORDABLE {
                slices += says_the_same(&case, &bytes, parts);
            }
        }
    }
    assert!(slices > 500, "only {slices} slices");
}

#[test]
fn a_damaged_log_says_the_same_whatever_it_is_cut_into() {
    for case in cases() {
        let mut bytes = case.bytes();
        if bytes.len() > 60_000 {
            continue;
        }
        let mut random = 0x9E37_79B9_u64;
        for _ in 0..3 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (random >> 33) as usize % bytes.len();
            bytes[at] ^= 1 << (random % 8);
        }
        says_the_same(&case, &bytes, 6);
    }
}

/// File that is truncated after a number of reads.
struct Shrinking<'a> {
    bytes: &'a [u8],
    whole_reads: usize,
    then_bytes: usize,
    reads: AtomicUsize,
}

impl SharedSource for Shrinking<'_> {
    fn byte_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        let bytes = if read < self.whole_reads {
            self.bytes
        } else {
            &self.bytes[..self.then_bytes]
        };
        bytes.read_at(range, buffer)
    }
}

/// Reads a log on `threads` threads.
fn read_on_threads(threads: usize, file: &(impl SharedSource + ?Sized), cuts: &[Nanos]) -> Session {
    let threads = NonZeroUsize::new(threads).expect("some");
    let session = Session::new(file.byte_len()).with_slicing_rule(SlicingRule::At(cuts.to_vec()));
    read_session_on(threads, session, file).expect("a log")
}

#[test]
fn a_log_says_the_same_however_many_threads_read_it() {
    const PARTS: u64 = 24;
    for case in cases() {
        let bytes = case.bytes();
        if PARTS as usize * bytes.len() > AFFORDABLE {
            continue;
        }
        let Ok(whole) = session_of(&bytes) else {
            continue;
        };
        let cuts = cuts(&whole, PARTS);
        for threads in [1, 4] {
            let how = format!("{} on {threads} threads", case.name);
            agree(
                &whole,
                &read_on_threads(threads, &*bytes, &cuts),
                &bytes,
                &how,
            );
        }
    }
}

#[test]
fn a_log_that_loses_its_end_while_threads_read_it_ends_there() {
    let bytes = fixture("ghc-9.6.6/dense-N2-l-flush").bytes();
    let whole = session_of(&bytes).expect("a log");
    let cuts = cuts(&whole, 24);
    let (_, whole_reads) = indexed(&bytes, cuts.clone());
    for part in 1..8 {
        let [alone, together] = [1, 4].map(|threads| {
            let file = Shrinking {
                bytes: &bytes,
                whole_reads,
                then_bytes: bytes.len() / 8 * part,
                reads: AtomicUsize::new(0),
            };
            read_on_threads(threads, &file, &cuts)
        });
        agree(&alone, &together, &bytes, &format!("{part} eighths"));
        assert!(alone.reader().damage().loses_data());
        assert!(alone.events() < whole.events());
    }
}

#[test]
fn a_thread_that_only_stops_does_not_count_wherever_the_log_is_cut() {
    let mut build = LogBuilder::new();
    build
        .block(Some(0), (10, 100), |log| {
            log.stop(20, 5, 3).run(30, 6).stop(40, 6, 3).stop(50, 5, 3)
        })
        .end();
    let log = build.bytes.as_slice();
    let whole = session_of(log).expect("a log");
    assert_eq!(whole.overview().threads, 1);
    for cut in 20..60 {
        let (cut, _) = sliced(log, vec![Nanos(cut)]);
        agree(&whole, &cut, log, "two stops");
    }
}

/// A collection is dated before its block, and a cut may lie between these times.
#[test]
fn a_collection_dated_before_its_block_is_the_same_wherever_the_log_is_cut() {
    let mut build = LogBuilder::new();
    build.block(Some(0), (10, 40), |log| log.run(20, 5).stop(35, 5, 3));
    build.block(Some(1), (10, 100), |log| {
        log.run(11, 7)
            .stop(30, 7, 3)
            .event(19, 43, b"here")
            .run(44, 7)
    });
    build
        .block(Some(0), (45, 100), |log| {
            log.event(9, 38, &[]).event(10, 50, &[]).run(51, 5)
        })
        .end();
    let log = build.bytes.as_slice();
    let whole = session_of(log).expect("a log");
    for cut in 30..60 {
        let (cut, _) = sliced(log, vec![Nanos(cut)]);
        agree(&whole, &cut, log, "an early collection");
    }
}

#[test]
fn stacks_in_parts_are_the_same_wherever_the_log_is_cut() {
    for version in Version::ALL {
        let build = profiled(version);
        let log = build.bytes.as_slice();
        let whole = session_of(log).expect("a log");
        for cuts in [vec![101], vec![102, 111], vec![500, 1100, 1200, 1201]] {
            let (cut, _) = sliced(log, cuts.into_iter().map(Nanos).collect());
            agree(&whole, &cut, log, "stacks in parts");
        }
    }
}
