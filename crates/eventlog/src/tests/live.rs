//! Incremental reading yields the events of the log, independent of how it is split into pieces.

use super::logs;

use std::sync::Arc;

use crate::display::DisplayOrder;
use crate::event::EventType;
use crate::ids::{ByteOffset, Duration, Nanos};
use crate::live::{LateStats, LiveReader};
use crate::source::read_log;
use crate::{LogReader, Record, Sink};
use proptest::prelude::*;

/// An event with all its contents.
type Row = (u64, u16, u64, Option<u16>, Arc<[u8]>);

fn row(record: &Record<'_>) -> Row {
    let cap = record.cap.map(|cap| cap.0);
    let payload = record.payload.into();
    (record.offset.0, record.id.0, record.time.0, cap, payload)
}

/// Returns the events of a log in file order, with the reader.
fn whole(mut bytes: &[u8]) -> Option<(Vec<Row>, LogReader)> {
    let mut rows = Vec::new();
    let mut sink = |record: &Record<'_>| rows.push(row(record));
    let reader = read_log(&mut bytes, &mut sink).ok()?;
    rows.sort_unstable_by_key(|row| row.0);
    Some((rows, reader))
}

/// Returns the events of a log that arrives in pieces with the given ends.
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
    // A file that is not a log is an error.
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

/// Random pieces of randomly damaged logs.
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

/// A log truncated at any byte has all its complete events.
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
        let (mut late, mut came) = (LateStats::default(), Vec::new());
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

/// A writer may give any number of events the same time, but memory is limited.
#[test]
fn events_of_one_time_are_not_held_without_end() {
    const MAX_BYTES: usize = 1 << 20;
    let log = logs::all()
        .into_iter()
        .find(|log| whole(&log.bytes).is_some());
    let log = log.expect("a log").bytes;
    let mut first = None;
    let mut header_of = |record: &Record<'_>| {
        first.get_or_insert_with(|| Arc::clone(record.header));
    };
    read_log(&mut &log[..], &mut header_of).expect("a log");
    let header = first.expect("an event");
    let mut times = Vec::new();
    let sink = |record: &Record<'_>| times.push(record.time);
    let mut order = DisplayOrder::new(sink, Duration(1_000_000_000)).with_buffer_limit(MAX_BYTES);
    let payload = [0; 1000];
    for number in 0..10_000 {
        order.event(&Record {
            offset: ByteOffset(number),
            id: EventType::USER_MSG,
            time: Nanos(7),
            cap: None,
            payload: &payload,
            header: &header,
        });
    }
    let early = order.delivered_early();
    assert!((9_000..10_000).contains(&early), "{early}");
    let _sink = order.finish();
    assert_eq!(times.len(), 10_000);
}

/// A header without an end is not parsed again for each piece.
#[test]
fn a_header_without_end_takes_time_in_proportion() {
    let mut header = b"hdrbhetb".to_vec();
    for id in 0..30_000_u16 {
        header.extend(b"etb\0");
        header.extend(id.to_be_bytes());
        header.extend([0, 0, 0, 0, 0, 8]);
        // Apparent ends do not make it worse.
        header.extend(b"hdredatb\0\0\0\0ete\0");
    }
    let mut reader = LiveReader::new();
    for piece in header.chunks(16) {
        let nothing = &mut |_: &Record<'_>| {};
        assert_eq!(reader.feed(piece, nothing), Ok(()));
    }
    let parsed = reader.parsed_header_bytes();
    assert!(parsed < 32 * header.len() as u64, "{parsed} bytes parsed");
}

/// Stale bytes are skipped as by [`LogReader`], in pieces of any size.
#[test]
fn stale_bytes_before_the_header_are_passed_over() {
    let log = logs::all()
        .into_iter()
        .find(|log| whole(&log.bytes).is_some());
    let log = log.expect("a log").bytes;
    let (rows, lost_bytes, _) = live(&log, &[]);
    for stale in [&b"text of a program"[..], &[0, 18, 0, 0, 7, 0xFF, 0xFF]] {
        let bytes = [stale, &log].concat();
        for ends in [vec![], vec![3, 9], vec![stale.len(), stale.len() + 5]] {
            let (came, lost, _) = live(&bytes, &ends);
            assert_eq!(came.len(), rows.len());
            assert_eq!(lost, lost_bytes + stale.len() as u64);
        }
    }
    let mut reader = LiveReader::new();
    let nothing = &mut |_: &Record<'_>| {};
    assert!(reader.feed(b"no log at all", nothing).is_ok());
    assert!(reader.pause().is_err() && reader.finish(nothing).is_err());
}
