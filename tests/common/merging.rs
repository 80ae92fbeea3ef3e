//! Logs that are merged in memory.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use eventlog::LogReader;
use eventlog::source::read_log;
use eventlog_edit::merge::{Align, Facts, Feed, MergeCounts, Plan, PlanError, Survey, merge};

/// What has to be known of a log before it is merged.
pub fn facts(name: &str, mut log: &[u8], align: &Align) -> Facts {
    let mut survey = Survey::new(name, align);
    let reader = read_log(&mut log, &mut survey).expect("a log");
    survey.finish(reader.header().map(|header| &**header))
}

/// Logs as one, what was written, and what was known of each.
pub fn merged(
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
    // Sources are slices that live as long as the test.
    let kept: Vec<&'static [u8]> = logs.iter().map(|log| &*log.to_vec().leak()).collect();
    let (new, counts) = merge(&plan, kept.iter().map(feed).collect(), Vec::new()).expect("written");
    Ok((new, counts, facts))
}
