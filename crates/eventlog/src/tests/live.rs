//! A log that is read as it comes has the events of the log, however it is cut into pieces.

use super::logs;

use std::sync::Arc;

use crate::display::DisplayOrder;
use crate::ids::Duration;
use crate::live::{Late, LiveReader};
use crate::source::read_log;
use crate::{LogReader, Record};
use proptest::prelude::*;

/// An event with all that it holds.
type Row = (u64, u16, u64, Option<u16>, Arc<[u8]>);

fn row(record: &Record<'_>) -> Row {
    let cap = record.cap.map(|cap| cap.0);
    let payload = record.payload.into();
    (record.offset.0, record.id.0, record.time.0, cap, payload)
}

/// The events of a log in the order of the file, and how it was read.
fn whole(mut bytes: &[u8]) -> Option<(Vec<Row>, LogReader)> {
    let mut rows = Vec::new();
    let mut sink = |record: &Record<'_>| rows.push(row(record));
    let reader = read_log(&mut bytes, &mut sink).ok()?;
    rows.sort_unstable_by_key(|row| row.0);
    Some((rows, reader))
}

/// The events of a log that comes in pieces, the ends of which are given.
fn live(bytes: &[u8], ends: &[usize]) -> (Vec<Row>, u64, bool) {
    let mut rows = Vec::new();
    let mut sink = |record: &Record<'_>| rows.push(row(record));
    let mut reader = LiveReader::new();
    let mut from = 0;
    for &end in ends.iter().chain([&bytes.len()]) {
        if reader.feed(&bytes[from..end], &mut sink).is_err() {
            break;
        }
        from = end;
    }
    // What is no log says so.
    let _ = reader.finish(&mut sink);
    (rows, reader.lost_bytes(), reader.has_ended())
}

#[test]
fn sound_logs_have_the_same_events() {
    let mut sound = 0;
    for log in logs::all() {
        let Some((rows, reader)) = whole(&log.bytes) else {
            continue;
        };
        let whole_file = reader.damage().count() == 0 && reader.inflated().is_none();
        if !whole_file {
            continue;
        }
        sound += 1;
        let (came, lost_bytes, has_ended) = live(&log.bytes, &[]);
        assert!(came == rows, "{}", log.name);
        assert_eq!((lost_bytes, has_ended), (0, true), "{}", log.name);
    }
    assert!(sound > 10, "{sound} logs");
}

/// Cut anywhere, damaged anywhere.
#[test]
fn pieces_change_nothing() {
    let logs: Vec<_> = logs::all()
        .into_iter()
        .filter(|log| log.bytes.len() < 100_000)
        .collect();
    let choice = (0..logs.len(), prop::collection::vec(any::<u32>(), 0..40));
    let damage = prop::collection::vec((any::<u32>(), any::<u8>()), 0..3);
    proptest!(ProptestConfig::with_cases(400), |((log, cuts) in choice, damage in damage)| {
        let mut bytes = logs[log].bytes.clone();
        let len = bytes.len();
        for (at, byte) in damage {
            bytes[at as usize % len] ^= byte;
        }
        let mut ends: Vec<usize> = cuts.iter().map(|&cut| cut as usize % len).collect();
        ends.sort_unstable();
        prop_assert!(live(&bytes, &ends) == live(&bytes, &[]), "{}", logs[log].name);
    });
}

/// A log that breaks off at any byte has the events that are whole.
#[test]
fn a_log_that_breaks_off_has_what_is_whole() {
    let log = logs::all()
        .into_iter()
        .find(|log| log.name.ends_with("fib-forkio-N2-l.eventlog"));
    let bytes = log.expect("a fixture").bytes;
    let (all, ..) = live(&bytes, &[]);
    let mut before = 0;
    for len in 0..bytes.len() {
        let (rows, ..) = live(&bytes[..len], &[len / 2]);
        assert!(
            rows.len() >= before && rows[..] == all[..rows.len()],
            "{len}"
        );
        before = rows.len();
    }
}

#[test]
fn events_wait_for_others_before_them() {
    for log in logs::all() {
        let Some((rows, _)) = whole(&log.bytes) else {
            continue;
        };
        let (mut late, mut came) = (Late::default(), Vec::new());
        let sink = |record: &Record<'_>| {
            late.observe(record.time);
            came.push(row(record));
        };
        let mut order = DisplayOrder::new(sink, Duration(u64::MAX));
        let mut reader = LiveReader::new();
        if reader.feed(&log.bytes, &mut order).is_err() {
            continue;
        }
        let _sink = order.finish();
        assert_eq!(late.events, 0, "{}", log.name);
        if reader.lost_bytes() == 0 && came.len() == rows.len() {
            came.sort_unstable_by_key(|row| row.0);
            assert!(came == rows, "{}", log.name);
        }
    }
}
