//! A log cut at any times and reassembled is unchanged: the same events in the same order, the same damage, the
//! same row chunks.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::ids::Nanos;
use crate::{EventType, LogReader, Need, Record, SliceReader, SliceStep, SlicingRule, Step};

type Row = (u64, u16, Nanos, Option<u16>, usize);

fn row(record: &Record<'_>) -> Row {
    let cap = record.cap.map(|cap| cap.0);
    (
        record.offset.0,
        record.id.0,
        record.time,
        cap,
        record.payload.len(),
    )
}

/// Results of reading a log.
#[derive(Debug, PartialEq)]
struct Known {
    rows: Vec<Row>,
    damage: crate::DamageList,
    accounting: Option<crate::Accounting>,
    row_count: u64,
    chunk_of_rows: Vec<u64>,
}

fn part<'a>(bytes: &'a [u8], need: &Need) -> &'a [u8] {
    &bytes[need.0.start as usize..need.0.end as usize]
}

/// Reads up to the block index; `false` if the file is not a log.
fn index(reader: &mut LogReader, bytes: &[u8]) -> bool {
    loop {
        match reader.advance(&mut |_: &Record<'_>| {}, 1) {
            Ok(Step::Need(needs)) => {
                needs
                    .iter()
                    .for_each(|need| reader.supply(need.0.start, part(bytes, need)));
            }
            Ok(Step::Indexed) => return true,
            Ok(Step::More) => {}
            Ok(Step::Done) | Err(_) => return false,
        }
    }
}

fn known(reader: &LogReader, rows: Vec<Row>) -> Known {
    let index = &reader.rows().expect("rows").index;
    let every = (rows.len() as u64 / 50).max(1);
    // Chunks may differ, but not the rows to which a time belongs.
    let chunk_of_rows = (0..index.rows()).step_by(every as usize).map(|row| {
        let chunk = index.chunk_of_row(row).expect("a chunk");
        u64::from(row >= index.chunks[chunk].first_row())
    });
    Known {
        damage: reader.damage(),
        accounting: reader.accounting(),
        row_count: index.rows(),
        chunk_of_rows: chunk_of_rows.collect(),
        rows,
    }
}

fn whole(bytes: &[u8]) -> Option<Known> {
    let mut reader = LogReader::new(bytes.len() as u64).with_rows(100);
    let mut rows = Vec::new();
    loop {
        match reader
            .advance(&mut |record: &Record<'_>| rows.push(row(record)), 1000)
            .ok()?
        {
            Step::Need(needs) => {
                needs
                    .iter()
                    .for_each(|need| reader.supply(need.0.start, part(bytes, need)));
            }
            Step::Indexed | Step::More => {}
            Step::Done => return Some(known(&reader, rows)),
        }
    }
}

fn sliced(bytes: &[u8], cuts: Vec<Nanos>) -> Known {
    let mut reader = LogReader::new(bytes.len() as u64).with_rows(100);
    assert!(index(&mut reader, bytes));
    let mut rows = Vec::new();
    let mut slices: VecDeque<_> = reader.slices(&SlicingRule::At(cuts)).into();
    while let Some(slice) = slices.pop_front() {
        let mut reading = SliceReader::new(slice);
        loop {
            match reading.advance(&mut |record: &Record<'_>| rows.push(row(record)), 333) {
                SliceStep::Need(needs) => {
                    needs
                        .iter()
                        .for_each(|need| reading.supply(need.0.start, part(bytes, need)));
                }
                SliceStep::More => {}
                SliceStep::Done => break,
            }
        }
        if !reader.append(reading.finish()) {
            rows.clear();
            slices = reader.slices(&SlicingRule::At(Vec::new())).into();
        }
    }
    reader.finish();
    known(&reader, rows)
}

fn logs() -> Vec<PathBuf> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|end| end == "eventlog") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/logs");
    find(&fixtures, &mut found);
    if let Some(corpus) = std::env::var_os("EVENTSCOPE_CORPUS") {
        find(&Path::new(&corpus).join("logs"), &mut found);
    }
    found.sort();
    assert!(found.len() > 10);
    found
}

/// Returns times of some events, times between, and times before and after all.
fn cuts(rows: &[Row], parts: usize) -> Vec<Nanos> {
    let every = (rows.len() / parts).max(1);
    let mut cuts: Vec<Nanos> = rows
        .iter()
        .skip(every / 2)
        .step_by(every)
        .map(|row| row.2)
        .collect();
    cuts.extend(cuts.clone().iter().map(|time| Nanos(time.0 + 1)).step_by(3));
    cuts.extend([Nanos(1), Nanos(u64::MAX - 1)]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Limit of the work for one log, in bytes.
const WORK_BYTES: usize = 4 << 20;

fn holds(path: &Path, bytes: &[u8]) {
    let Some(whole) = whole(bytes) else { return };
    // Each slice may read a block from its start, and a small log has one block.
    let affordable = WORK_BYTES / bytes.len().max(1);
    for parts in [1, 5, 30]
        .into_iter()
        .take_while(|&parts| parts <= affordable.max(1))
    {
        let sliced = sliced(bytes, cuts(&whole.rows, parts));
        let first = whole
            .rows
            .iter()
            .zip(&sliced.rows)
            .position(|(a, b)| a != b);
        assert!(
            first.is_none(),
            "{path:?} in {parts}: event {first:?} of {}",
            whole.rows.len()
        );
        assert_eq!(whole, sliced, "{path:?} in {parts}");
    }
}

#[test]
fn slices_are_the_log() {
    for path in logs() {
        let bytes = std::fs::read(&path).expect("a log");
        holds(&path, &bytes);
    }
}

/// Damage may yield an index of blocks whose events have other times than it says.
#[test]
fn slices_of_damaged_logs_are_the_log() {
    for path in logs() {
        let mut bytes = std::fs::read(&path).expect("a log");
        if bytes.len() > 200 << 10 {
            continue;
        }
        let mut random = 0x9E37_79B9_u64;
        for _ in 0..6 {
            for _ in 0..4 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let at = (random >> 33) as usize % bytes.len();
                bytes[at] ^= 1 << (random % 8);
            }
            holds(&path, &bytes);
        }
    }
}

fn block(cap: u16, (begin, end): (u64, u64), events: &[(EventType, u64)]) -> Vec<u8> {
    let thread = 7_u32.to_be_bytes();
    let event = |(id, time): &(EventType, u64)| {
        let payload = if *id == EventType::RUN_THREAD {
            &thread[..]
        } else {
            &[]
        };
        [&id.0.to_be_bytes()[..], &time.to_be_bytes(), payload].concat()
    };
    let events: Vec<u8> = events.iter().flat_map(event).collect();
    let size = (crate::record::Marker::BYTES + events.len()) as u32;
    let mut bytes = EventType::BLOCK_MARKER.0.to_be_bytes().to_vec();
    bytes.extend(begin.to_be_bytes());
    bytes.extend(size.to_be_bytes());
    bytes.extend(end.to_be_bytes());
    bytes.extend(cap.to_be_bytes());
    bytes.extend(events);
    bytes
}

/// Cuts between the time of a collection's start and the block that contains it.
#[test]
fn a_collection_dated_before_its_block_is_in_its_place() {
    let types = [
        (EventType::RUN_THREAD, Some(4), "Run thread"),
        (EventType::GC_START, Some(0), "Starting GC"),
        (EventType::GC_END, Some(0), "Finished GC"),
        (EventType::BLOCK_MARKER, Some(14), "Block marker"),
    ];
    let mut log = crate::encode::header_bytes(types);
    let run = EventType::RUN_THREAD;
    log.extend(block(0, (10, 40), &[(run, 20), (run, 30)]));
    log.extend(block(
        1,
        (10, 90),
        &[(run, 25), (run, 42), (run, 44), (run, 60)],
    ));
    let collection = [(EventType::GC_START, 38), (EventType::GC_END, 50)];
    log.extend(block(0, (45, 90), &collection));
    log.extend([0xFF, 0xFF]);
    let whole = whole(&log).expect("a log");
    let times: Vec<u64> = whole.rows.iter().map(|row| row.2.0).collect();
    assert_eq!(times, [20, 25, 30, 38, 42, 44, 50, 60]);
    assert_eq!(whole.damage.count(), 0);
    for cut in 1..95 {
        assert_eq!(whole, sliced(&log, vec![Nanos(cut)]), "cut at {cut}");
    }
}
