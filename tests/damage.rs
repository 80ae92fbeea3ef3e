//! Damaged logs: every log truncated at many places, and with one byte changed at many places. Reading must
//! neither panic nor hang; a changed byte costs only the range around it, and the loss is reported.

use crate::common;

use std::collections::BTreeMap;

use common::{Case, ReadResult, Row, Tally, cases, expected_coverage, read};
use eventlog::LogError;
use views::words::diagnostics::line;

/// Returns the distance between damaged places. Each place costs one reading of the log, so that larger logs are
/// damaged at fewer places.
fn step(len: usize) -> usize {
    const READ_BYTES: usize = 20_000_000;
    let wanted = len.saturating_mul(len) / READ_BYTES;
    [997, 1999, 4999, 9973, 49_999, 99_991]
        .into_iter()
        .find(|&prime| prime >= wanted)
        .unwrap_or(999_983)
}

fn body_start(bytes: &[u8]) -> usize {
    let found = bytes.windows(4).position(|word| word == b"datb");
    found.map_or(bytes.len(), |at| at + 4)
}

fn readable(case: &Case) -> Option<(Vec<u8>, ReadResult)> {
    let bytes = case.bytes();
    let reading = read(bytes.as_slice()).ok()?;
    Some((bytes, reading))
}

/// Sorts rows by file offset. Panics if two have the same offset.
fn by_offset(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| row.offset);
    let is_one_each = rows.is_sorted_by(|row, next| row.offset < next.offset);
    assert!(is_one_each, "no event comes twice");
    rows
}

/// Calls `each` with the rows of both lists at each offset. Linear, as tens of thousands of lists are compared.
fn side_by_side(before: &[Row], after: &[Row], mut each: impl FnMut(Option<&Row>, Option<&Row>)) {
    let (mut at, mut other) = (0, 0);
    while at < before.len() || other < after.len() {
        let (row, found) = (before.get(at), after.get(other));
        let offset = |row: Option<&Row>| row.map_or(u64::MAX, |row| row.offset);
        let next = offset(row).min(offset(found));
        let (row, found) = (
            row.filter(|row| row.offset == next),
            found.filter(|row| row.offset == next),
        );
        each(row, found);
        at += usize::from(row.is_some());
        other += usize::from(found.is_some());
    }
}

#[test]
fn a_cut_log_gives_what_stands_before_the_cut() {
    let mut tally = Tally::default();
    for case in cases() {
        let Some((bytes, whole)) = readable(&case) else {
            continue;
        };
        let whole = by_offset(whole.rows);
        let body = body_start(&bytes);
        for cut in (0..bytes.len()).step_by(step(bytes.len())) {
            let context = format!("{} cut at {cut}", case.name);
            let reading = match read(&bytes[..cut]) {
                Ok(reading) => reading,
                Err(error) => {
                    assert!(cut < body, "{context}: {error}");
                    let expected = if cut == 0 {
                        matches!(error, LogError::Empty)
                    } else {
                        matches!(
                            error,
                            LogError::HeaderCut(_) | LogError::NotAnEventlog { .. }
                        )
                    };
                    assert!(expected, "{context}: {error}");
                    continue;
                }
            };
            let damage = reading.damage.count();
            let rows = by_offset(reading.rows);
            let mut expected = 0;
            side_by_side(&whole, &rows, |before, row| {
                assert!(row.is_none() || row == before, "{context}: {row:?}");
                let ends = |row: &Row| row.offset + 12 + row.payload_len as u64;
                expected += usize::from(before.is_some_and(|row| ends(row) <= cut as u64));
            });
            assert!(
                rows.len() >= expected,
                "{context}: {} of {expected} events",
                rows.len()
            );
            assert!(
                damage > 0 || rows.len() == whole.len(),
                "{context}: nothing is reported"
            );
            tally.add(&case, 1);
        }
    }
    tally.finish(expected_coverage([39, 914], [134, 4357]));
}

/// Effect of a change on the result of reading.
struct Change {
    context: String,
    /// Events of the undamaged log that are absent or have another type.
    missing: usize,
    /// Events that the undamaged log does not have, or with another type.
    spurious: usize,
    /// Events on another capability than before.
    moved: usize,
    /// Diagnostics of the damage, as sentences.
    damage: Vec<String>,
}

impl Change {
    fn new(context: String, whole: &[Row], reading: ReadResult) -> Self {
        let (mut missing, mut spurious, mut moved) = (0, 0, 0);
        side_by_side(whole, &by_offset(reading.rows), |before, row| {
            let is_same = before.map(|row| row.id) == row.map(|row| row.id);
            missing += usize::from(before.is_some() && !is_same);
            spurious += usize::from(row.is_some() && !is_same);
            let both = before.zip(row);
            moved += usize::from(both.is_some_and(|(before, row)| before.cap != row.cap));
        });
        let damage = reading.damage.kept.iter();
        Self {
            context,
            missing,
            spurious,
            moved,
            damage: damage.map(|damage| line(&damage.into())).collect(),
        }
    }

    fn words(&self) -> String {
        let Self {
            context,
            missing,
            spurious,
            moved,
            damage,
        } = self;
        let damage = damage.join("\n    ");
        format!("{context}: {missing} missing, {spurious} spurious, {moved} moved\n    {damage}")
    }

    /// Returns whether the effect is small and, if events are lost, reported. A changed event type may make
    /// another valid event; a changed time, or the capability in a marker, may make another valid value. These
    /// cannot be detected.
    fn is_bounded(&self, whole_has_damage: bool, in_cap_of_marker: bool) -> bool {
        let reported = !self.damage.is_empty() || self.missing <= self.spurious;
        self.missing <= MAX_LOST_EVENTS
            && self.spurious <= MAX_LOST_EVENTS
            && (self.moved == 0 || in_cap_of_marker)
            && (reported || whole_has_damage)
    }
}

/// Maximum number of events that one changed byte may cost: its own, and those decoded at wrong offsets until
/// three in a row are valid again.
const MAX_LOST_EVENTS: usize = 8;

/// Returns whether the byte belongs to the capability field of a block marker.
fn is_in_cap_of_marker(bytes: &[u8], at: usize) -> bool {
    [22, 23].into_iter().any(|field| {
        let marker = at.checked_sub(field).and_then(|start| bytes.get(start..));
        marker.is_some_and(|marker| marker.starts_with(&[0, 18]))
    })
}

#[test]
fn a_changed_byte_costs_its_stretch() {
    let mut tally = Tally::default();
    let mut by_missing: BTreeMap<usize, usize> = BTreeMap::new();
    let mut unbounded = Vec::new();
    for case in cases() {
        let Some((bytes, whole)) = readable(&case) else {
            continue;
        };
        let had_damage = whole.damage.count() > 0;
        let whole = by_offset(whole.rows);
        let body = body_start(&bytes);
        let mut changed = bytes.clone();
        for at in (0..bytes.len()).step_by(step(bytes.len())) {
            changed[at] ^= 0xFF;
            let result = read(changed.as_slice());
            changed[at] ^= 0xFF;
            if at < body {
                continue;
            }
            let context = format!("{} byte {at}", case.name);
            let reading = result.unwrap_or_else(|error| panic!("{context}: {error}"));
            let change = Change::new(context, &whole, reading);
            tally.add(&case, 1);
            *by_missing.entry(change.missing).or_default() += 1;
            if !change.is_bounded(had_damage, is_in_cap_of_marker(&bytes, at)) {
                unbounded.push(change.words());
            }
        }
    }
    println!("changed bytes by the number of events that one cost: {by_missing:?}");
    assert!(unbounded.is_empty(), "{}", unbounded.join("\n"));
    tally.finish(expected_coverage([39, 914], [134, 4357]));
}

/// Every byte of every block marker is changed, one at a time.
#[test]
fn a_changed_marker_costs_no_event() {
    let mut tally = Tally::default();
    let mut unbounded = Vec::new();
    for case in cases() {
        let Some((bytes, whole)) = readable(&case) else {
            continue;
        };
        if bytes.len() > 100_000 {
            continue;
        }
        let had_damage = whole.damage.count() > 0;
        let blocks = whole.reader.index().sections[0].blocks.clone();
        let whole = by_offset(whole.rows);
        let mut changed = bytes.clone();
        let starts = blocks.iter().map(|block| block.start.0 as usize);
        let markers = starts.filter_map(|start| start.checked_sub(24));
        for marker in markers
            .filter(|&at| bytes[at..].starts_with(&[0, 18]))
            .take(12)
        {
            for field in 0..24 {
                let at = marker + field;
                changed[at] ^= 0xFF;
                let result = read(changed.as_slice());
                changed[at] ^= 0xFF;
                let context = format!("{} marker {marker} byte {field}", case.name);
                let reading = result.unwrap_or_else(|error| panic!("{context}: {error}"));
                let change = Change::new(context, &whole, reading);
                if !change.is_bounded(had_damage, field >= 22) {
                    unbounded.push(change.words());
                }
                tally.add(&case, 1);
            }
        }
    }
    assert!(unbounded.is_empty(), "{}", unbounded.join("\n"));
    tally.finish(expected_coverage([37, 4944], [111, 14064]));
}

/// Dense damage: every 997th byte is wrong.
#[test]
fn many_changed_bytes_cost_their_stretches() {
    let mut tally = Tally::default();
    for case in cases() {
        let Some((mut bytes, whole)) = readable(&case) else {
            continue;
        };
        let body = body_start(&bytes);
        let mut changed = 0;
        for at in (body..bytes.len()).step_by(997) {
            bytes[at] ^= 0xFF;
            changed += 1;
        }
        let reading = read(bytes.as_slice()).unwrap_or_else(|error| panic!("{error}"));
        tally.add(&case, changed);
        let change = Change::new(case.name, &by_offset(whole.rows), reading);
        assert!(
            change.missing <= changed * MAX_LOST_EVENTS,
            "{changed} changed: {}",
            change.words()
        );
    }
    tally.finish(expected_coverage([40, 1197], [139, 12047]));
}

/// A log with a wrong byte in its header is either read or rejected with a full sentence.
#[test]
fn a_changed_header_is_refused_or_read() {
    let (mut refused, mut still_read) = (0, 0);
    for case in common::fixture_cases() {
        let bytes = case.bytes();
        let body = body_start(&bytes);
        let mut changed = bytes[..bytes.len().min(body + 4000)].to_vec();
        for at in (0..body.min(changed.len())).step_by(29) {
            changed[at] ^= 0xFF;
            match read(changed.as_slice()) {
                Ok(_) => still_read += 1,
                Err(error) => {
                    assert!(error.to_string().len() > 40, "{error}");
                    refused += 1;
                }
            }
            changed[at] ^= 0xFF;
        }
    }
    assert!(
        refused > 1000 && still_read > 1000,
        "{refused} {still_read}"
    );
}
