//! The events of a log as they stand in it, for what writes logs.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use eventlog::source::read_log;
use eventlog::{LogError, LogReader, Record};
use eventlog_edit::definition::is_definition;

/// An event as a log has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    pub id: u16,
    pub time: u64,
    pub cap: Option<u16>,
    pub payload: Vec<u8>,
    pub is_definition: bool,
}

/// All events of a log in their order, and who read them.
pub fn events(mut log: &[u8]) -> Result<(Vec<Held>, LogReader), LogError> {
    let mut events = Vec::new();
    let reader = read_log(&mut log, &mut |record: &Record<'_>| {
        events.push(Held {
            id: record.id.0,
            time: record.time.0,
            cap: record.cap.map(|cap| cap.0),
            payload: record.payload.to_vec(),
            is_definition: is_definition(record),
        });
    })?;
    Ok((events, reader))
}

/// Fails where two lists of events part.
pub fn same(ours: &[Held], expected: &[Held]) -> Result<(), String> {
    let parted = (0..ours.len().max(expected.len())).find(|&i| ours.get(i) != expected.get(i));
    parted.map_or(Ok(()), |at| {
        let (ours, expected) = (ours.get(at), expected.get(at));
        Err(format!("event {at} is {ours:?}, not {expected:?}"))
    })
}
