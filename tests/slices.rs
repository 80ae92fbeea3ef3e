//! Whatever a log is cut into, and whoever analyses the parts in whatever order, it says
//! the same.

#[path = "common/asking.rs"]
mod asking;
mod common;

use analysis::segment::Scratch;
use asking::{Choices, answers};
use common::{Case, cases, session_of};
use eventlog::ids::Nanos;
use eventlog::{Cutting, Need, SliceStep, Step};
use views::session::{Job, Session, Working};

fn part<'a>(bytes: &'a [u8], need: &Need) -> &'a [u8] {
    &bytes[need.0.start as usize..need.0.end as usize]
}

/// What others do: they analyse a slice, of which they have the bytes.
fn work(session: &mut Session, job: Job, log: &[u8], scratch: &mut Scratch) -> Step {
    let mut working = Working::new(job, scratch);
    loop {
        match working.advance(1000) {
            SliceStep::Need(needs) => {
                for need in needs {
                    working.supply(need.0.start, part(log, &need));
                }
            }
            SliceStep::More => {}
            SliceStep::Done => {
                let (id, segment) = working.finish(scratch);
                return session.give(id, segment);
            }
        }
    }
}

/// Reads a log in slices, the last of three first. With how many were read.
fn sliced(bytes: &[u8], cuts: Vec<Nanos>) -> (Session, usize) {
    let mut session = Session::new(bytes.len() as u64).cut_into(Cutting::At(cuts));
    loop {
        match session.advance(1000).expect("a log") {
            Step::Need(needs) => {
                for need in needs {
                    session.supply(need.0.start, part(bytes, &need));
                }
            }
            Step::More => {}
            Step::Indexed | Step::Done => break,
        }
    }
    let log = session
        .inflated()
        .map_or_else(|| bytes.to_vec(), <[u8]>::to_vec);
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

/// Times here and there in the log, those of collections and runs among them.
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

fn says_the_same(case: &Case, bytes: &[u8], parts: u64) -> usize {
    let Ok(whole) = session_of(bytes) else {
        return 0;
    };
    let (cut, read) = sliced(bytes, cuts(&whole, parts));
    let json = |session: &Session| serde_json::to_value(session.overview()).expect("plain data");
    assert_eq!(json(&whole), json(&cut), "{} in {parts}", case.name);
    assert_eq!(whole.reader().accounting(), cut.reader().accounting());
    for seed in 0..3_u32 {
        let bytes_of = |i: u32| (i * i / 7 + i * (31 + seed)) as u8;
        let choices: Vec<u8> = (0..4000_u32).map(bytes_of).collect();
        let before = answers(&whole, bytes, &mut Choices::new(&choices));
        let after = answers(&cut, bytes, &mut Choices::new(&choices));
        for (before, after) in before.iter().zip(&after) {
            assert!(
                before == after,
                "{} in {parts}: {before:.400?}, {after:.400?}",
                case.name
            );
        }
    }
    read
}

/// A slice may be read from the start of a block, so that many of them cost.
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
