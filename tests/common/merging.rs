//! Merges logs in memory.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use super::build::LogBuilder;
use eventlog::LogReader;
use eventlog::source::read_log;
use eventlog_edit::merge::{Align, Facts, Feed, MergeCounts, Plan, PlanError, Survey, merge};

/// Surveys a log for a merge.
pub fn facts(name: &str, mut log: &[u8], align: &Align) -> Facts {
    let mut survey = Survey::new(name, align);
    let reader = read_log(&mut log, &mut survey).expect("a log");
    survey.finish(reader.header().map(|header| &**header))
}

/// Merges logs; returns the bytes, the counts of written events and the survey of each log.
pub fn merge_logs(
    logs: &[&[u8]],
    align: &Align,
    offsets: &[i128],
) -> Result<(Vec<u8>, MergeCounts, Vec<Facts>), PlanError> {
    let named = (0..).zip(logs);
    let facts: Vec<Facts> = named
        .map(|(place, log)| facts(&format!("log-{place}"), log, align))
        .collect();
    let plan = Plan::new(&facts, align, offsets)?;
    let feed = |log: &&'static [u8]| Feed::new(LogReader::new(log.len() as u64), *log);
    // The sources have to be `'static`; each is leaked for the rest of the test process.
    let kept: Vec<&'static [u8]> = logs.iter().map(|log| &*log.to_vec().leak()).collect();
    let (new, counts) = merge(&plan, kept.iter().map(feed).collect(), Vec::new()).expect("written");
    Ok((new, counts, facts))
}

/// Returns the merged log of two processes that collect at the same times: each has one capability, which runs a
/// thread between its collections.
pub fn two_collecting_processes() -> Vec<u8> {
    let log = |collections: &[(u64, u64)]| {
        let mut log = LogBuilder::new();
        log.block(Some(0), (10, 10_000), |log| {
            log.event(0, 10, &1_u32.to_be_bytes()).run(20, 1);
            for &(start, end) in collections {
                log.stop(start - 10, 1, 1)
                    .collection(start, end)
                    .run(end + 10, 1);
            }
            log.stop(10_000, 1, 5)
        });
        log.end().bytes.clone()
    };
    let first = log(&[(1_000, 5_000), (7_000, 7_100), (9_000, 9_100)]);
    let second = log(&[
        (2_000, 2_100),
        (3_000, 3_100),
        (6_000, 7_050),
        (8_000, 8_100),
    ]);
    let merged = merge_logs(&[&first, &second], &Align::Start, &[]);
    merged.expect("a plan").0
}
