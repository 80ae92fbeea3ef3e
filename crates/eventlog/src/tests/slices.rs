//! A log that is cut anywhere and put together again is the log: the same events in
//! the same order, the same damage, the same chunks of rows.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::ids::Nanos;
use crate::{Cutting, LogReader, Need, Record, SliceReader, SliceStep, Step};

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

/// What is known of a log that was read.
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

/// Until the blocks are known; `false` if it is no log.
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
    // Chunks differ; in which rows a time is does not.
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
    let mut reader = LogReader::new(bytes.len() as u64).keeping_rows(100);
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
    let mut reader = LogReader::new(bytes.len() as u64).keeping_rows(100);
    assert!(index(&mut reader, bytes));
    let mut rows = Vec::new();
    let mut slices: VecDeque<_> = reader.slices(&Cutting::At(cuts)).into();
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
            slices = reader.slices(&Cutting::At(Vec::new())).into();
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

/// Times of events here and there, times between, and times before and after all.
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

/// How much one log may cost.
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

/// Damage may make an index of blocks that hold other times than it says.
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
