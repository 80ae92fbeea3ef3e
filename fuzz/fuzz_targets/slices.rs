//! Reads a log at once, and cut at the times of some of its events: both must give the same answers. The first two
//! bytes are the number of following bytes that determine the cuts and the queries; the rest is the log.
#![no_main]

#[path = "../../tests/common/asking.rs"]
mod asking;

use asking::assert_equal_answers;
use eventlog::ids::Nanos;
use eventlog::source::{drive, read_log};
use eventlog::{Inflated, LogError, Record, SlicingRule};
use libfuzzer_sys::fuzz_target;
use session::Session;

/// Limit for the inflated size of compressed inputs; larger ones would only be slow.
const MAX_INFLATED: u64 = 1 << 20;
/// Limit, as each slice may read a block from its start.
const MAX_CUTS: usize = 8;

fn read(mut log: &[u8], cuts: Vec<Nanos>) -> Result<Session, LogError> {
    let mut session = Session::new(log.len() as u64)
        .with_inflate_limit(MAX_INFLATED)
        .with_slicing_rule(SlicingRule::At(cuts));
    drive(&mut log, &mut session)?;
    Ok(session)
}

/// Returns times at or 1 ns after those of events, which are chosen by two bytes each.
fn cuts(mut log: &[u8], choices: &[u8]) -> Vec<Nanos> {
    let mut times = Vec::new();
    read_log(&mut log, &mut |record: &Record<'_>| times.push(record.time)).expect("a log");
    let numbers = choices.as_chunks().0.iter().take(MAX_CUTS);
    let mut cuts: Vec<Nanos> = numbers
        .map(|&bytes| usize::from(u16::from_be_bytes(bytes)))
        .filter_map(|number| {
            let time = times.get(number / 2 % times.len().max(1))?;
            Some(Nanos(time.0.saturating_add(number as u64 % 2)))
        })
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[high, low], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let choices = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
    let (choices, log) = rest.split_at(choices);
    let Ok(whole) = read(log, Vec::new()) else {
        return;
    };
    let inflated = whole.inflated().and_then(Inflated::to_vec);
    let cuts = cuts(inflated.as_deref().unwrap_or(log), choices);
    let how = format!("cut at {cuts:?}");
    let cut = read(log, cuts).expect("it was read before");
    assert_equal_answers(&whole, &cut, log, choices, &how);
});
