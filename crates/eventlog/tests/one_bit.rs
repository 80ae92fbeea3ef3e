//! One flipped bit in the events of a log costs little: events lost and events
//! invented are three at most together, and no event is dated outside of its
//! neighbours.

mod logs;

use std::collections::BTreeMap;

use eventlog::source::read_log;
use eventlog::{EventType, LogReader, Record};

/// How many events one flipped bit may cost or invent.
const MAY_COST: usize = 3;
/// How many bits are flipped in each log.
const FLIPS: usize = 250;

/// An event: its type, time and capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    id: u16,
    time: u64,
    cap: Option<u16>,
}

type Rows = BTreeMap<u64, Row>;

fn read(mut bytes: &[u8]) -> Option<(Rows, LogReader)> {
    let mut rows = Rows::new();
    let mut sink = |record: &Record<'_>| {
        let row = Row {
            id: record.id.0,
            time: record.time.0,
            cap: record.cap.map(|cap| cap.0),
        };
        let twice = rows.insert(record.offset.0, row);
        assert_eq!(twice, None, "an event comes twice");
    };
    let reader = read_log(&mut bytes, &mut sink).ok()?;
    let total = reader.accounting().map(|accounting| accounting.total());
    assert_eq!(total, Some(bytes.len() as u64), "{:?}", reader.accounting());
    Some((rows, reader))
}

/// The times between which an event at `offset` must be, by the events around it
/// on its capability.
fn neighbours(rows: &Rows, offset: u64, row: Row) -> (u64, u64) {
    let same = |(_, other): &(&u64, &Row)| other.cap == row.cap;
    let begun =
        |(_, other): &(&u64, &Row)| other.cap == row.cap && other.id == EventType::GC_START.0;
    let before = if row.id == EventType::GC_END.0 {
        rows.range(..offset).rfind(begun)
    } else {
        rows.range(..offset).rfind(same)
    };
    let mut after = rows.range(offset + 1..).filter(same);
    let next = after.find(|(_, other)| other.id != EventType::GC_END.0);
    let own = rows.get(&offset).map(|row| row.time);
    let from = before.map_or(0, |(_, row)| row.time);
    let to = next.map_or(u64::MAX, |(_, row)| row.time);
    (own.unwrap_or(from).min(from), own.unwrap_or(to).max(to))
}

/// What a change did, if it is more than may be.
fn excess(whole: &Rows, ends: &BTreeMap<Option<u16>, u64>, changed: &Rows) -> Option<String> {
    let differs = |(offset, row): &(&u64, &Row), other: &Rows| {
        other.get(offset).is_none_or(|other| other.id != row.id)
    };
    let lost = whole.iter().filter(|row| differs(row, changed)).count();
    let invented = changed.iter().filter(|row| differs(row, whole)).count();
    if lost + invented > MAY_COST {
        return Some(format!("{lost} events lost, {invented} invented"));
    }

    changed.iter().find_map(|(&offset, &row)| {
        let same = whole.get(&offset) == Some(&row);
        let (from, to) = neighbours(whole, offset, row);
        let to = to.min(ends.get(&row.cap).copied().unwrap_or(u64::MAX));
        let fits = same || from <= row.time && row.time <= to;
        (!fits).then(|| format!("{row:?} at {offset} is outside of {from} to {to}"))
    })
}

#[test]
fn a_flipped_bit_costs_three_events_at_most() {
    let (mut flips, mut costly) = (0, Vec::new());
    for log in logs::all() {
        let Some((whole, reader)) = read(&log.bytes).filter(|_| log.bytes.len() < 200_000) else {
            continue;
        };
        let inside: Vec<_> = reader
            .index()
            .sections
            .iter()
            .flat_map(|section| &section.blocks)
            .filter(|block| block.end_time.0 != 0)
            .map(|block| (block.start.0 as usize)..(block.end.0 as usize))
            .collect();
        let mut ends = BTreeMap::new();
        for block in reader
            .index()
            .sections
            .iter()
            .flat_map(|section| &section.blocks)
        {
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
