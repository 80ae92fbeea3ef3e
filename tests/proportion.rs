//! Work is proportional to the size of the log, also for adversarial logs: very many capabilities or capability
//! sets, invalid blocks, threads that never stop.
//!
//! Iterations cannot be counted from outside, so the work is measured as CPU time of this thread. A busy machine
//! can only add to it: the minimum of several runs counts, and of more runs as long as it seems too high. Four
//! times the log should be about four times the work; more than eight times counts as out of proportion, as
//! quadratic growth would be sixteen times.

use crate::common;

use std::time::Duration;

use analysis::check::Check;
use analysis::info::Info;
use common::build::{LogBuilder, TYPES};
use eventlog::source::read_log;
use eventlog::{Record, Sink};
use rustix::time::{ClockId, clock_gettime};
use session::queries::{DigestQuery, FindingsQuery, SummaryQuery};

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Does what all commands do with a log: information, order of events, all analyses.
fn work(bytes: &[u8]) {
    let mut info = Info::default();
    let mut check = Check::default();
    let mut diagnostics = 0_u64;
    read_log(&mut { bytes }, &mut |record: &Record<'_>| {
        info.offer(record);
        check.event(record, &mut |_| diagnostics += 1);
    })
    .expect("a log");
    assert!(info.process().capability_changes.len() <= 1000);
    let session = common::session_of(bytes).expect("a log");
    assert!(session.events() > 0);
    let _ = session.process();
    let _ = session.ask(&SummaryQuery(None));
}

fn time(bytes: &[u8]) -> Duration {
    let before = processor_time();
    work(bytes);
    processor_time() - before
}

/// Compares a log of size `most` with one of a quarter of the size.
fn grows_in_proportion(what: &str, log: impl Fn(u32) -> Vec<u8>, most: u32) {
    /// Number of runs: minimum, and maximum while the work seems too high.
    const RUNS: (usize, usize) = (5, 50);
    let logs = [most / 4, most].map(log);
    let mut least = [Duration::MAX; 2];
    for run in 1..=RUNS.1 {
        for (log, least) in logs.iter().zip(&mut least) {
            *least = time(log).min(*least);
        }
        if run >= RUNS.0 && least[1] < 8 * least[0] {
            return;
        }
    }
    panic!("{what}: {:?}, four times the log {:?}", least[0], least[1]);
}

#[test]
fn sets_of_capabilities() {
    let types = [
        TYPES,
        &[
            (25, Some(6), "Create capability set"),
            (27, Some(6), "Add capability to capability set"),
        ],
    ]
    .concat();
    let log = |count: u32| {
        let mut log = LogBuilder::with_types(&types);
        log.block(None, (1, 10_000_000), |b| {
            b.event(25, 2, &[0, 0, 0, 1, 0, 1]);
            for cap in 0..count {
                let set = [0, 0, 0, 1];
                b.event(27, 3, &[&set[..], &(cap as u16).to_be_bytes()].concat());
            }
            b
        });
        log.end().bytes.clone()
    };
    grows_in_proportion("sets of capabilities", log, 60_000);
}

#[test]
fn capabilities_that_cannot_be() {
    let log = |count: u32| {
        let mut log = LogBuilder::new();
        for number in 0..count {
            let at = u64::from(number) * 10 + 1;
            log.block(Some(number as u16), (at, at + 9), |b| {
                b.run(at + 1, 7).stop(at + 2, 7, 1)
            });
        }
        log.end().bytes.clone()
    };
    grows_in_proportion("capabilities", log, 60_000);
}

#[test]
fn threads_that_never_stop() {
    let log = |count: u32| {
        let mut log = LogBuilder::new();
        log.block(Some(0), (1, 100_000_000), |b| {
            for thread in 1..=count {
                let at = u64::from(thread) * 10;
                b.event(0, at, &thread.to_be_bytes()).run(at + 1, thread);
            }
            b
        });
        log.end().bytes.clone()
    };
    // Enough that in both logs most threads are packed.
    grows_in_proportion("open threads", log, 400_000);
}

/// Returns ids that collide in a table that multiplies them by a known constant.
fn colliding(number: u32) -> u64 {
    const INVERSE: u64 = 0x7814_94a5_5daa_ed0d;
    u64::from(number + 1).wrapping_mul(INVERSE)
}

/// Builds a log with one event per number.
fn of_events(count: u32, event: impl Fn(u32) -> (u16, Vec<u8>)) -> Vec<u8> {
    let types = [
        TYPES,
        &[
            (55, Some(18), "Task create"),
            (181, None, "User binary message"),
            (210, None, "Ticky counter definition"),
            (212, Some(0), "Ticky sample"),
        ],
    ]
    .concat();
    let mut log = LogBuilder::with_types(&types);
    for first in (0..count).step_by(1000) {
        let time = |number: u32| 1000 + 10 * u64::from(number);
        log.block(Some(0), (time(first), time(first + 1000)), |log| {
            for number in first..count.min(first + 1000) {
                let (id, payload) = event(number);
                log.event(id, time(number), &payload);
            }
            log
        });
    }
    log.end().bytes.clone()
}

#[test]
fn tasks_whose_ids_collide() {
    let task = |number: u32| {
        let id = colliding(number).to_be_bytes();
        (55, [&id[..], &[0; 10]].concat())
    };
    grows_in_proportion("tasks", |count| of_events(count, task), 40_000);
}

#[test]
fn info_tables_whose_addresses_collide() {
    let table = |number: u32| {
        let address = colliding(number).to_be_bytes();
        let texts = format!("t{number}\0\x31\0t\0l\0m\0f:1\0");
        (169, [&address[..], texts.as_bytes()].concat())
    };
    grows_in_proportion("info tables", |count| of_events(count, table), 40_000);
}

#[test]
fn ticky_counters_whose_ids_collide() {
    let counter = |number: u32| {
        let id = colliding(number).to_be_bytes();
        let texts = format!("\0\x01a\0n{number}\0");
        (210, [&id[..], texts.as_bytes()].concat())
    };
    grows_in_proportion("ticky counters", |count| of_events(count, counter), 40_000);
}

#[test]
fn texts_of_stacks_whose_ids_collide() {
    let text = |number: u32| {
        let id = colliding(number).to_be_bytes();
        let text = format!("{:04}", number % 10_000);
        (
            181,
            [&[0xFF, 0xCC], &id[..], &[0, 4], text.as_bytes()].concat(),
        )
    };
    grows_in_proportion("texts of stacks", |count| of_events(count, text), 40_000);
}

#[test]
fn spans_whose_ids_collide() {
    let span = |number: u32| {
        let id = colliding(number).to_le_bytes();
        (181, [b"OT\x03\x01", &id[..], b"n"].concat())
    };
    grows_in_proportion("spans", |count| of_events(count, span), 40_000);
}

/// Builds a log with `collections` collections, and one event that names capability `cap`.
fn names_a_capability(cap: u16, collections: u64) -> Vec<u8> {
    let types = [TYPES, &[(45, Some(2), "Create capability")]].concat();
    let mut log = LogBuilder::with_types(&types);
    log.block(None, (1, 5), |log| {
        log.event(45, 2, &[0, 0]).event(45, 2, &cap.to_be_bytes())
    });
    log.block(Some(0), (10, 1_000_000 + collections * 500_000), |log| {
        for number in 0..collections {
            let at = 1000 + number * 500_000;
            log.run(at, 1).stop(at + 400_000, 1, 1);
            log.event(9, at + 400_000, &[]).event(10, at + 430_000, &[]);
        }
        log
    });
    log.end().bytes.clone()
}

/// One flipped bit may make a very large capability number.
#[test]
fn a_great_number_is_no_more_work_than_a_small_one() {
    let time = |cap| {
        let log = names_a_capability(cap, 200);
        let before = processor_time();
        let session = common::session_of(&log).expect("a log");
        let _ = session.ask(&SummaryQuery(None));
        let _ = session.ask(&FindingsQuery(None));
        let _ = session.ask(&DigestQuery(None));
        processor_time() - before
    };
    let least = |cap| (0..5).map(|_| time(cap)).min().unwrap_or_default();
    let [small, great] = [1, 65_534].map(least);
    assert!(
        great < 8 * small,
        "{small:?}, with a great number {great:?}"
    );
}

/// A hole in a file is skipped at once.
#[test]
fn zeros_are_less_work_than_other_bytes_that_are_no_events() {
    let time = |byte: u8| {
        let mut log = LogBuilder::new();
        log.block(Some(0), (1, 1_000_000), |log| log.runs(10, 100));
        log.raw(&vec![byte; 4 << 20]);
        let before = processor_time();
        let session = common::session_of(&log.bytes).expect("a log");
        assert_eq!(session.events(), 200);
        processor_time() - before
    };
    let least = |byte| (0..5).map(|_| time(byte)).min().unwrap_or_default();
    let [zeros, others] = [0, 0x30].map(least);
    assert!(4 * zeros < others, "{zeros:?}, other bytes {others:?}");
}
