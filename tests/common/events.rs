//! Raw events of a log, for tests of programs that write logs.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use eventlog::source::read_log;
use eventlog::{DamageKind, LogError, LogReader, Record};
use eventlog_edit::definition::is_definition;

/// Owned event with its raw payload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawEvent {
    pub id: u16,
    pub time: u64,
    pub cap: Option<u16>,
    pub payload: Vec<u8>,
    pub is_definition: bool,
}

/// Returns all events of a log in analysis order, with the finished reader.
pub fn events(mut log: &[u8]) -> Result<(Vec<RawEvent>, LogReader), LogError> {
    let mut events = Vec::new();
    let reader = read_log(&mut log, &mut |record: &Record<'_>| {
        events.push(RawEvent {
            id: record.id.0,
            time: record.time.0,
            cap: record.cap.map(|cap| cap.0),
            payload: record.payload.to_vec(),
            is_definition: is_definition(record),
        });
    })?;
    Ok((events, reader))
}

/// Returns an error that names the first difference between two lists of events.
pub fn compare_events(ours: &[RawEvent], expected: &[RawEvent]) -> Result<(), String> {
    let parted = (0..ours.len().max(expected.len())).find(|&i| ours.get(i) != expected.get(i));
    parted.map_or(Ok(()), |at| {
        let (ours, expected) = (ours.get(at), expected.get(at));
        Err(format!("event {at} is {ours:?}, not {expected:?}"))
    })
}

/// Returns an error if a written log has damage. It lacks its end if what it was made from does.
pub fn expect_sound(written: &LogReader, has_end: bool) -> Result<(), String> {
    let damage = written.damage();
    let kinds: Vec<DamageKind> = damage.kinds().map(|(kind, _)| kind).collect();
    let expected = if has_end {
        Vec::new()
    } else {
        vec![DamageKind::NoEndMarker]
    };
    if kinds == expected {
        return Ok(());
    }
    Err(format!("{damage:?}"))
}
