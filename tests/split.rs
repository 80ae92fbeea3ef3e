//! Events do not depend on the form in which bytes arrive: in pieces of any size, compressed with gzip or zstd,
//! before or after another log.

use crate::common;

use std::io::{self, Write};
use std::ops::Range;

use common::{Case, ReadResult, Row, fixture, fixture_cases, read};
use eventlog::display::{BackDating, DisplayOrder};
use eventlog::source::{Source, read_log};
use eventlog::{DamageKind, LogError, Record};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::select;

/// Source that returns at least one byte, but possibly fewer than requested.
struct Short<'a> {
    bytes: &'a [u8],
    /// Sizes of the pieces, used in turn.
    pieces: &'a [u64],
    reads: usize,
}

impl Source for Short<'_> {
    fn byte_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read<'a>(&'a mut self, range: Range<u64>, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        assert!(range.start < range.end, "{range:?} is asked for");
        let piece = self.pieces[self.reads % self.pieces.len()];
        self.reads += 1;
        let end = range.end.min(range.start + piece);
        Ok(&self.bytes[range.start as usize..end as usize])
    }
}

/// Returns readable logs of moderate size.
fn logs() -> Vec<Case> {
    let mut cases = fixture_cases();
    cases.retain(|case| case.bytes().len() < 150_000 && !case.name.contains("cut-in-header"));
    cases
}

fn log() -> impl Strategy<Value = (String, Vec<u8>)> {
    select(logs()).prop_map(|case| (case.name.clone(), case.bytes()))
}

fn whole(bytes: &[u8]) -> ReadResult {
    read(bytes).expect("a log")
}

fn gzip(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Shifts the offsets of rows by `by` bytes.
fn moved(rows: &[Row], by: usize) -> Vec<Row> {
    let moved = |row: &Row| Row {
        offset: row.offset + by as u64,
        ..row.clone()
    };
    rows.iter().map(moved).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_pieces(
        (name, bytes) in log(),
        pieces in prop::collection::vec(prop_oneof![1..40u64, 1..3000u64, 1..300_000u64], 1..20),
        damage in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = bytes;
        if let Some(at) = damage {
            let at = at.index(bytes.len());
            bytes[at] ^= 0xFF;
        }
        let expected = read(bytes.as_slice());
        let source = Short { bytes: &bytes, pieces: &pieces, reads: 0 };
        match (expected, read(source)) {
            (Ok(expected), Ok(reading)) => {
                prop_assert_eq!(expected.rows, reading.rows, "{}", name);
                prop_assert_eq!(expected.damage, reading.damage, "{}", name);
            }
            (expected, reading) => prop_assert_eq!(expected.err(), reading.err(), "{}", name),
        }
    }

    #[test]
    fn compressed((name, bytes) in log(), level in 0..=9u32, cut in any::<prop::sample::Index>()) {
        let expected = whole(&bytes);
        // Several gzip members or zstd frames may follow each other.
        let (first, second) = bytes.split_at(cut.index(bytes.len()));
        let files = [
            gzip(&bytes, level),
            [gzip(first, level), gzip(second, 1)].concat(),
            zstd(&bytes),
            [zstd(first), zstd(second)].concat(),
        ];
        for (file, form) in files.iter().zip(["gzip", "two members", "zstd", "two frames"]) {
            let reading = whole(file);
            prop_assert_eq!(&expected.rows, &reading.rows, "{} {}", &name, form);
            prop_assert_eq!(reading.reader.inflate_error(), None);
            prop_assert_eq!(reading.reader.len().0, bytes.len() as u64);
        }
    }

    /// A truncated compressed file is read like the truncated log that it inflates to.
    #[test]
    fn compressed_and_cut((name, bytes) in log(), cut in any::<prop::sample::Index>()) {
        for file in [gzip(&bytes, 6), zstd(&bytes)] {
            let cut = cut.index(file.len());
            let result = read(&file[..cut]);
            let reading = match result {
                Ok(reading) => reading,
                Err(error) => {
                    let message = error.to_string();
                    prop_assert!(message.contains("byte"), "{}: {}", name, message);
                    continue;
                }
            };
            prop_assert!(reading.reader.inflate_error().is_some(), "{} cut at {}", name, cut);
            let inflated = reading.reader.len().0 as usize;
            let expected = whole(&bytes[..inflated]);
            prop_assert_eq!(expected.rows, reading.rows);
        }
    }

    #[test]
    fn two_in_one_file((first_name, first) in log(), (second_name, second) in log()) {
        let context = format!("{first_name} and {second_name}");
        let (before, after) = (whole(&first), whole(&second));
        let both = whole(&[first.clone(), second].concat());
        let sections = before.reader.index().sections.len() + after.reader.index().sections.len();
        let sound = before.damage.count() == 0 && after.damage.count() == 0;
        if sound {
            prop_assert_eq!(both.reader.index().sections.len(), sections, "{}", context);
            prop_assert_eq!(both.damage.count(), 0);
            let expected = [before.rows, moved(&after.rows, first.len())].concat();
            prop_assert_eq!(both.rows, expected, "{}", context);
        }
    }

    #[test]
    fn stale_bytes_in_front((name, bytes) in log(), stale in prop::collection::vec(any::<u8>(), 1..5000)) {
        prop_assume!(!name.contains("relog") && !stale.starts_with(&[0x1F, 0x8B]));
        let expected = whole(&bytes);
        let reading = whole(&[stale.clone(), bytes].concat());
        prop_assert_eq!(moved(&expected.rows, stale.len()), reading.rows);
        let told = reading.damage.kept[0];
        prop_assert_eq!(told.kind, DamageKind::BeforeHeader);
        prop_assert_eq!(told.lost_bytes, stale.len() as u64);
    }
}

#[test]
fn one_byte_at_a_time() {
    let mut events = 0;
    for case in fixture_cases() {
        let bytes = case.bytes();
        let Ok(expected) = read(bytes.as_slice()) else {
            continue;
        };
        let source = Short {
            bytes: &bytes,
            pieces: &[1],
            reads: 0,
        };
        let reading = read(source).expect("the same");
        assert_eq!(expected.rows, reading.rows, "{}", case.name);
        events += reading.rows.len();
    }
    assert!(events > 60_000, "{events}");
}

#[test]
fn no_bytes_are_an_error_and_no_loop() {
    let bytes = logs()[0].bytes();
    let source = Short {
        bytes: &bytes,
        pieces: &[1000, 0],
        reads: 0,
    };
    let error = read(source).expect_err("no log");
    assert!(matches!(error, LogError::Read { .. }), "{error}");
}

/// Display order is a stable sort by time.
#[test]
fn display_order_is_sorted_by_time_and_place() {
    let mut tally = common::Tally::default();
    for case in common::cases() {
        let bytes = case.bytes();
        let mut rows = Vec::new();
        let mut back = BackDating::default();
        let result = read_log(&mut bytes.as_slice(), &mut |record: &Record<'_>| {
            rows.push(Row::from_record(record));
            back.observe(record.time);
        });
        if result.is_err() {
            continue;
        }
        rows.sort_by_key(|row| (row.time, row.offset));
        let mut shown = Vec::new();
        let mut order = DisplayOrder::new(
            |record: &Record<'_>| shown.push(Row::from_record(record)),
            back.max(),
        );
        read_log(&mut bytes.as_slice(), &mut order).expect("a log");
        let _ = order.finish();
        assert!(rows == shown, "{}", case.name);
        tally.add(&case, rows.len());
    }
    tally.finish(common::expected_coverage([40, 61748], [139, 652281]));
}

/// Source that fails after a number of reads.
struct Failing<'a> {
    bytes: &'a [u8],
    reads_left: u32,
}

impl Source for Failing<'_> {
    fn byte_len(&self) -> u64 {
        self.bytes.len() as u64
    }
    fn read<'a>(&'a mut self, range: Range<u64>, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.reads_left = self
            .reads_left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("gone"))?;
        Ok(&self.bytes[range.start as usize..range.end as usize])
    }
}

/// A source that fails in the middle ends the log there; events read before remain.
#[test]
fn a_source_that_fails_later_ends_the_log() {
    let bytes = fixture("ghc-9.6.6/dense-N2-l-flush").bytes();
    let count = |reads: u32| {
        let mut events = 0;
        let mut source = Failing {
            bytes: &bytes,
            reads_left: reads,
        };
        let reader = read_log(&mut source, &mut |_: &Record<'_>| events += 1).expect("a log");
        (events, reader.damage().loses_data(), source.reads_left)
    };
    let (whole, damaged, left) = count(1_000_000);
    assert!(!damaged);
    let (some, damaged, _) = count(1_000_000 - left - 2);
    assert!(0 < some && some < whole, "{some} of {whole}");
    assert!(damaged);
}
