//! Compressed logs: damage of the compressed data is reported.

use super::logs;

use std::io::Write;

use crate::source::read_log;
use crate::{LogError, Record};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Offset, type and time of every event, and whether damage of the compressed data was reported.
type Reading = (Vec<(u64, u16, u64)>, bool);

fn read(mut bytes: &[u8]) -> Result<Reading, LogError> {
    let mut rows = Vec::new();
    let mut sink = |record: &Record<'_>| {
        rows.push((record.offset.0, record.id.0, record.time.0));
    };
    let reader = read_log(&mut bytes, &mut sink)?;
    let told = reader.inflate_error().is_some();
    Ok((rows, told))
}

fn log() -> Vec<u8> {
    let mut logs = logs::all().into_iter();
    let log = logs.find(|log| log.name == "ghc-9.6.6/fib-forkio-N2-l.eventlog");
    log.expect("the fixture").bytes
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn skippable(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    [&[0x57, 0x2A, 0x4D, 0x18], length.as_slice(), content].concat()
}

#[test]
fn a_flipped_bit_is_told_or_harmless() {
    let log = log();
    let whole = read(&log).expect("a log");
    for (form, file) in [("zstd", zstd(&log)), ("gzip", gzip(&log))] {
        let mut changed = file.clone();
        let (mut told, mut flips) = (0, 0);
        for at in (0..file.len()).step_by(17) {
            changed[at] ^= 1 << (at % 8);
            match read(&changed) {
                Ok(reading) if reading.1 => told += 1,
                Ok(reading) => assert_eq!(reading, whole, "{form} byte {at}"),
                Err(error) => {
                    told += 1;
                    let words = error.to_string();
                    assert!(!words.contains("Error") && !words.contains('{'), "{words}");
                }
            }
            changed[at] = file[at];
            flips += 1;
        }
        println!("{form}: {told} of {flips} flipped bits were told");
        assert!(told * 10 > flips * 9, "{form}: {told} of {flips}");
    }
}

#[test]
fn frames_without_data_are_passed_over() {
    let log = log();
    let whole = read(&log).expect("a log");
    let (first, second) = log.split_at(log.len() / 3);
    let files = [
        [skippable(b"first"), zstd(&log)].concat(),
        [zstd(&log), skippable(b"")].concat(),
        [zstd(first), skippable(&[7; 3000]), zstd(second)].concat(),
    ];
    for file in &files {
        assert_eq!(read(file), Ok(whole.clone()));
    }
    let cut = [zstd(&log), skippable(&[7; 30])].concat();
    let (rows, told) = read(&cut[..cut.len() - 1]).expect("a log");
    assert!(rows == whole.0 && told);
}

#[test]
fn a_log_that_was_compressed_twice_is_named() {
    let log = log();
    for file in [
        gzip(&gzip(&log)),
        zstd(&gzip(&log)),
        gzip(&zstd(&log)),
        zstd(&zstd(&log)),
    ] {
        assert_eq!(read(&file), Err(LogError::CompressedTwice));
    }
}
