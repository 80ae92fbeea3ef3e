//! One flipped bit in the events of a log has little effect: lost and invented events are at most three in total,
//! and every event is dated between its neighbors.

use super::logs;

use std::collections::BTreeMap;

use crate::source::read_log;
use crate::{EventType, LogReader, Record};

/// Maximum number of events that one flipped bit may remove or invent.
const MAY_COST: usize = 3;
/// Number of bits flipped in each log.
const FLIPS: usize = 250;

/// Offset, type, time and capability of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    offset: u64,
    id: u16,
    time: u64,
    cap: Option<u16>,
}

/// Returns the events of a log in file order.
fn read(mut bytes: &[u8]) -> Option<(Vec<Row>, LogReader)> {
    let mut rows = Vec::new();
    let mut sink = |record: &Record<'_>| {
        rows.push(Row {
            offset: record.offset.0,
            id: record.id.0,
            time: record.time.0,
            cap: record.cap.map(|cap| cap.0),
        });
    };
    let reader = read_log(&mut bytes, &mut sink).ok()?;
    rows.sort_unstable_by_key(|row| row.offset);
    let twice = rows.windows(2).find(|two| two[0].offset == two[1].offset);
    assert_eq!(twice, None, "an event comes twice");
    let total = reader.accounting().map(|accounting| accounting.total());
    assert_eq!(total, Some(bytes.len() as u64), "{:?}", reader.accounting());
    Some((rows, reader))
}

/// Returns the range of times that the neighboring events of the same capability allow for an event.
fn neighbors(rows: &[Row], row: &Row) -> (u64, u64) {
    let place = rows.partition_point(|other| other.offset < row.offset);
    let same = |other: &&Row| other.cap == row.cap;
    let mut before = rows[..place].iter().rev().filter(same);
    let before = if row.id == EventType::GC_END.0 {
        before.find(|other| other.id == EventType::GC_START.0)
    } else {
        before.next()
    };
    let own = rows.get(place).filter(|own| own.offset == row.offset);
    let own = own.map(|row| row.time);
    let mut after = rows[place + usize::from(own.is_some())..]
        .iter()
        .filter(same);
    let next = after.find(|other| other.id != EventType::GC_END.0);
    let from = before.map_or(0, |row| row.time);
    let to = next.map_or(u64::MAX, |row| row.time);
    (own.unwrap_or(from).min(from), own.unwrap_or(to).max(to))
}

/// Returns the number of rows without a row of the same type and offset in the other log.
fn without_equal(rows: &[Row], others: &[Row]) -> usize {
    let equal = |row: &&Row| {
        let place = others.binary_search_by_key(&row.offset, |other| other.offset);
        place.is_ok_and(|place| others[place].id == row.id)
    };
    rows.len() - rows.iter().filter(equal).count()
}

/// Describes the effect of a change if it exceeds the limits.
fn excess(whole: &[Row], ends: &BTreeMap<Option<u16>, u64>, changed: &[Row]) -> Option<String> {
    // Nearly all events before and behind the change are equal.
    let both = whole.iter().zip(changed);
    let front = both.take_while(|(a, b)| a == b).count();
    let (whole_rest, changed) = (&whole[front..], &changed[front..]);
    let both = whole_rest.iter().rev().zip(changed.iter().rev());
    let back = both.take_while(|(a, b)| a == b).count();
    let was = &whole_rest[..whole_rest.len() - back];
    let is = &changed[..changed.len() - back];

    let (lost, invented) = (without_equal(was, is), without_equal(is, was));
    if lost + invented > MAY_COST {
        return Some(format!("{lost} events lost, {invented} invented"));
    }
    let mut moved = is.iter().filter(|row| !was.contains(row));
    moved.find_map(|row| {
        let (from, to) = neighbors(whole, row);
        let to = to.min(ends.get(&row.cap).copied().unwrap_or(u64::MAX));
        let fits = from <= row.time && row.time <= to;
        (!fits).then(|| format!("{row:?} is outside of {from} to {to}"))
    })
}

#[test]
fn a_flipped_bit_costs_three_events_at_most() {
    let (mut flips, mut costly) = (0, Vec::new());
    for log in logs::all() {
        let Some((whole, reader)) = read(&log.bytes).filter(|_| log.bytes.len() < 200_000) else {
            continue;
        };
        let sections = reader.index().sections.iter();
        let blocks: Vec<_> = sections.flat_map(|section| section.blocks.iter()).collect();
        let finished = blocks.iter().filter(|block| block.end_time.0 != 0);
        let inside: Vec<_> = finished
            .map(|block| (block.start.0 as usize)..(block.end.0 as usize))
            .collect();
        let mut ends = BTreeMap::new();
        for block in blocks {
            let end = ends.entry(block.cap.map(|cap| cap.0)).or_insert(0);
            *end = block.end_time.0.max(*end);
        }
        let mut bytes = log.bytes.clone();
        let step = (bytes.len() / FLIPS).max(1) | 1;
        for (i, at) in (0..bytes.len()).step_by(step).enumerate() {
            if !inside.iter().any(|block| block.contains(&at)) {
                continue;
            }
            let bit = 1 << (i % 8);
            bytes[at] ^= bit;
            let (changed, _) = read(&bytes).expect("the header is whole");
            bytes[at] ^= bit;
            flips += 1;
            if let Some(excess) = excess(&whole, &ends, &changed) {
                costly.push(format!("{} byte {at} bit {bit:#x}: {excess}", log.name));
            }
        }
    }
    println!("{flips} bits flipped, {} cost too much", costly.len());
    assert!(costly.is_empty(), "{}", costly.join("\n"));
    assert!(flips > 5000, "{flips} bits");
}
