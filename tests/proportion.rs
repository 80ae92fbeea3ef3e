//! Work grows in proportion to the log, also for logs that are made to cost more: very many
//! capabilities, sets of them, blocks that cannot be, threads that never stop.
//!
//! A loop over a list is no step that could be counted from outside, so the work is what the
//! processor did for this thread alone. A busy machine only adds to that: the least of several runs
//! counts, and of more of them as long as it seems too much. Four times the log should be about four
//! times the work; more than eight times is taken to be out of proportion, as growth with the square
//! would be sixteen times.

use crate::common;

use std::time::Duration;

use analysis::check::Check;
use analysis::info::Info;
use common::build::{Build, TYPES};
use eventlog::source::read_log;
use eventlog::{Record, Sink};
use rustix::time::{ClockId, clock_gettime};
use session::questions::SummaryQuery;

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// What all commands do with a log: information, the order of events, all analyses.
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

/// Compares a log of so many things with one of a quarter as many.
fn grows_in_proportion(what: &str, log: impl Fn(u32) -> Vec<u8>, most: u32) {
    /// How often the work is done: at least, and where it seems too much.
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
        let mut log = Build::with_types(&types);
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
        let mut log = Build::new();
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
        let mut log = Build::new();
        log.block(Some(0), (1, 100_000_000), |b| {
            for thread in 1..=count {
                let at = u64::from(thread) * 10;
                b.event(0, at, &thread.to_be_bytes()).run(at + 1, thread);
            }
            b
        });
        log.end().bytes.clone()
    };
    // So many that of both logs most threads are packed.
    grows_in_proportion("open threads", log, 400_000);
}
