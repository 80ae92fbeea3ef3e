//! Synthetic logs that cover the differences between versions of the format, and every kind of damage.

use crate::common;

use std::io;
use std::ops::Range;
use std::time::Instant;

use analysis::spans::Spans;
use common::build::{EventTypeDecl, LogBuilder, TYPES};
use common::{ALL_ANALYSES, CountSpans, ReadResult, read, session_of};
use eventlog::sentence::sentence;
use eventlog::source::{SharedSource, Source, read_log};
use eventlog::{DamageKind, Event, EventSet, EventType, LogError, Names, Record};
use session::queries::SummaryQuery;

/// Block of one second; the events of most tests lie around its middle ([`T`]).
const SPAN: (u64, u64) = (1_000_000_000, 2_000_000_000);
const T: u64 = 1_500_000_000;

fn ok(log: &LogBuilder) -> ReadResult {
    read(log.bytes.as_slice()).expect("a log")
}

fn error(bytes: &[u8]) -> LogError {
    read(bytes).expect_err("no log")
}

fn ids(reading: &ReadResult) -> Vec<u16> {
    reading.rows.iter().map(|row| row.id).collect()
}

/// Returns kind, offset and lost bytes of all damage.
fn damage(reading: &ReadResult) -> Vec<(DamageKind, u64, u64)> {
    let kept = reading.damage.kept.iter();
    let rows: Vec<_> = kept
        .map(|damage| (damage.kind, damage.at.0, damage.lost_bytes))
        .collect();
    assert_eq!(rows.len() as u64, reading.damage.count());
    rows
}

fn sentences(log: &LogBuilder) -> Vec<String> {
    let mut sentences = Vec::new();
    read_log(&mut log.bytes.as_slice(), &mut |record: &Record<'_>| {
        sentences.push(sentence(&record.event(), record.header, &Names::default()))
    })
    .expect("a log");
    sentences
}

fn names(log: &LogBuilder) -> Vec<&'static str> {
    let mut names = Vec::new();
    let mut sink = |record: &Record<'_>| names.push(record.event().name());
    read_log(&mut log.bytes.as_slice(), &mut sink).expect("a log");
    names
}

fn with(types: &[EventTypeDecl], extra: &[EventTypeDecl]) -> Vec<EventTypeDecl> {
    let replaced = |id| extra.iter().any(|(other, ..)| *other == id);
    let mut all: Vec<EventTypeDecl> = types
        .iter()
        .copied()
        .filter(|(id, ..)| !replaced(*id))
        .collect();
    all.extend(extra);
    all
}

// Blocks

#[test]
fn a_sound_log_has_no_damage() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2));
    log.block(Some(1), SPAN, |log| log.runs(T + 500, 1));
    log.block(None, SPAN, |log| log.event(19, T, b"hello").end());
    let reading = ok(&log);
    assert_eq!(damage(&reading), []);
    let caps: Vec<_> = reading.rows.iter().map(|row| row.cap).collect();
    let expected = [Some(0), None, Some(1), Some(0), Some(1), Some(0), Some(0)];
    assert_eq!(caps, expected);
}

#[test]
fn the_end_marker_may_stand_after_the_last_block() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2)).end();
    assert_eq!(damage(&ok(&log)), []);
}

#[test]
fn a_missing_end_marker_is_told() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2));
    let reading = ok(&log);
    assert_eq!(
        damage(&reading),
        [(DamageKind::NoEndMarker, log.offset(), 0)]
    );
    assert_eq!(reading.rows.len(), 4);
}

#[test]
fn a_block_without_end_time_is_read() {
    for begin in [0, SPAN.0] {
        let mut log = LogBuilder::new();
        log.block(Some(0), (begin, 0), |log| log.runs(T, 3)).end();
        let reading = ok(&log);
        assert_eq!(damage(&reading), [], "begun at {begin}");
        assert_eq!(reading.rows.len(), 6);
    }
}

#[test]
fn a_truncated_marker_is_told() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2));
    let at = log.offset();
    log.raw(&[0, 18, 0, 0, 0, 0]);
    let reading = ok(&log);
    assert_eq!(damage(&reading), [(DamageKind::Truncated, at, 6)]);
    assert_eq!(reading.rows.len(), 4);
}

#[test]
fn a_block_cut_between_and_inside_of_events() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 3));
    let last_event = log.offset() - 20;
    for (cut, events, lost) in [(20, 5, 0), (13, 5, 7)] {
        let mut bytes = log.bytes.clone();
        bytes.truncate(bytes.len() - cut);
        let reading = read(bytes.as_slice()).expect("a log");
        assert_eq!(
            damage(&reading),
            [(DamageKind::Truncated, last_event, lost)]
        );
        assert_eq!(reading.rows.len(), events);
    }
}

/// Invalid, too large and too small sizes.
#[test]
fn a_block_with_a_wrong_size_is_read_up_to_the_next() {
    let sound = |log: &mut LogBuilder| {
        log.block(Some(0), SPAN, |log| log.runs(T, 4));
        let at = log.offset() as usize;
        log.block(Some(1), SPAN, |log| log.runs(T + 100, 5));
        log.block(Some(2), SPAN, |log| log.runs(T + 200, 6));
        log.block(None, SPAN, |log| log.end());
        at
    };
    let mut log = LogBuilder::new();
    let at = sound(&mut log);
    let expected = ok(&log).rows;
    for size in [
        0u32,
        5,
        23,
        24,
        38,
        50,
        100,
        184,
        200,
        300,
        100_000,
        u32::MAX,
    ] {
        let mut bytes = log.bytes.clone();
        bytes[at + 10..at + 14].copy_from_slice(&size.to_be_bytes());
        let reading = read(bytes.as_slice()).expect("a log");
        assert_eq!(reading.rows, expected, "size {size}");
        let told = [(DamageKind::BlockSize(size), at as u64, 0)];
        match damage(&reading)[..] {
            [(DamageKind::BlockSize(_), told_at, 0)] => assert_eq!(told_at, at as u64),
            ref other => panic!("size {size}: {other:?}, not {told:?}"),
        }
    }
}

#[test]
fn blocks_of_no_events() {
    let mut log = LogBuilder::new();
    for cap in 0..100 {
        log.block(Some(cap), SPAN, |log| log);
    }
    log.end();
    let reading = ok(&log);
    assert_eq!((reading.rows.len(), damage(&reading)), (0, vec![]));
}

#[test]
fn events_outside_of_blocks_belong_to_no_capability() {
    let mut log = LogBuilder::new();
    log.event(19, 5, b"first").event(19, 6, b"second");
    log.block(Some(0), SPAN, |log| log.runs(T, 2));
    log.event(19, SPAN.1 + 5, b"between");
    log.block(Some(0), (SPAN.1, SPAN.1 + 9), |log| log.run(SPAN.1 + 7, 7));
    log.event(19, SPAN.1 + 20, b"last").end();
    let reading = ok(&log);
    assert_eq!(damage(&reading), []);
    assert_eq!(ids(&reading), [19, 19, 1, 2, 1, 2, 19, 1, 19]);
    let outside = reading.rows.iter().filter(|row| row.cap.is_none());
    assert_eq!(outside.count(), 4);
}

#[test]
fn bytes_after_the_end_are_told() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2)).end();
    let at = log.offset();
    log.raw(&[0x55; 300]);
    assert_eq!(damage(&ok(&log)), [(DamageKind::AfterEnd, at, 300)]);
}

/// Bytes that are neither event nor block nor log.
fn foreign_bytes() -> [(&'static str, Vec<u8>); 5] {
    let mut state = 0x9e37_79b9_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    [
        ("a byte", vec![0x55]),
        ("zeros", vec![0; 100]),
        ("many zeros", vec![0; 300_000]),
        ("text", b"eventlog ".repeat(12)),
        ("random", (0..100).map(|_| random()).collect()),
    ]
}

/// Bytes after an undamaged log change none of its numbers and are reported once, both after an end marker between
/// blocks, as GHC up to 9.0 writes it, and after one in the last block.
#[test]
fn bytes_after_the_end_change_no_number() {
    let mut places = [0; 2];
    for case in common::fixture_cases() {
        let bytes = case.bytes();
        let Ok(alone) = read(bytes.as_slice()) else {
            continue;
        };
        let is_compressed = !bytes.starts_with(b"hdrb");
        if alone.damage.count() > 0 || is_compressed || alone.reader.heap_report().is_some() {
            continue;
        }
        let numbers = session_of(&bytes).expect("a log").ask(&SummaryQuery(None));
        let is_in_block = alone.reader.index().sections.iter().all(|section| {
            let last = section.blocks.last();
            last.is_some_and(|block| block.end.0 == bytes.len() as u64)
        });
        places[usize::from(is_in_block)] += 1;
        for (what, behind) in foreign_bytes() {
            let name = format!("{what} behind {}", case.name);
            let longer = [&bytes[..], &behind].concat();
            let reading = read(longer.as_slice()).expect("a log");
            assert!(reading.rows == alone.rows, "{name}");
            let (at, count) = (bytes.len() as u64, behind.len() as u64);
            let expected = [(DamageKind::AfterEnd, at, count)];
            assert_eq!(damage(&reading), expected, "{name}");
            let session = session_of(&longer).expect("a log");
            assert_eq!(session.ask(&SummaryQuery(None)), numbers, "{name}");
        }
    }
    assert!(places.iter().all(|&logs| logs >= 5), "{places:?}");
}

/// A second log after foreign bytes is read, and the first one keeps its last block.
#[test]
fn a_log_behind_foreign_bytes_is_read() {
    for is_in_block in [false, true] {
        let mut log = LogBuilder::new();
        if is_in_block {
            log.block(Some(0), SPAN, |log| log.runs(T, 2).end());
        } else {
            log.block(Some(0), SPAN, |log| log.runs(T, 2)).end();
        }
        let at = log.offset();
        log.raw(&[0x55; 100]).header();
        log.block(Some(0), SPAN, |log| log.runs(T, 3)).end();
        let reading = ok(&log);
        assert_eq!(reading.rows.len(), 10);
        assert_eq!(damage(&reading), [(DamageKind::AfterEnd, at, 100)]);
    }
}

/// The two bytes of an end marker before the end do not end a log.
#[test]
fn an_end_marker_before_the_end() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 3));
    log.end();
    log.block(Some(1), SPAN, |log| log.runs(T, 3)).end();
    let reading = ok(&log);
    assert_eq!(reading.rows.len(), 12, "between blocks");

    let mut log = LogBuilder::new();
    let mut at = 0;
    log.block(Some(0), SPAN, |log| {
        log.runs(T, 3);
        at = log.offset();
        log.end().runs(T + 50_000, 3)
    });
    log.block(Some(1), SPAN, |log| log.runs(T, 3)).end();
    let reading = ok(&log);
    assert_eq!(reading.rows.len(), 18, "inside a block");
    let kind = DamageKind::UndeclaredType(0xFFFF);
    assert_eq!(damage(&reading), [(kind, at, 2)]);
}

/// Bytes that are read twice are counted once: `read` compares the sum over all kinds of bytes with the length of
/// the log.
#[test]
fn end_markers_are_accounted_for_once() {
    let mut log = LogBuilder::new();
    for cap in [0, 0, 1] {
        log.block(Some(cap), SPAN, |log| log.runs(T, 2).end());
    }
    assert_eq!(ok(&log).rows.len(), 12);

    // The size in the block marker spans the header of a second log, up to that log's end.
    let mut log = LogBuilder::new();
    let block = log.offset() as usize;
    log.block(Some(0), SPAN, |log| log.runs(T, 2));
    log.raw(b"hdrbhetbetb!").raw(&[7; 50]);
    let size = (log.offset() as usize - block) as u32;
    log.bytes[block + 10..block + 14].copy_from_slice(&size.to_be_bytes());
    log.end().raw(&[0x55; 40]);
    assert_eq!(ok(&log).rows.len(), 4);
}

// Sections

#[test]
fn several_logs_in_one_file() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2)).end();
    log.header();
    log.block(Some(0), SPAN, |log| log.runs(T, 3));
    log.block(None, SPAN, |log| log.end());
    log.header();
    log.event(19, 3, b"third").end();
    let reading = ok(&log);
    assert_eq!(damage(&reading), []);
    assert_eq!(reading.rows.len(), 4 + 6 + 1);
    assert_eq!(reading.reader.index().sections.len(), 3);
}

#[test]
fn a_log_that_breaks_off_before_the_next() {
    let mut first = LogBuilder::new();
    first.block(Some(0), SPAN, |log| log.runs(T, 6));
    let mut second = LogBuilder::new();
    second.block(Some(1), SPAN, |log| log.runs(T, 5)).end();
    for cut in [1, 7, 14, 30, 33, 100] {
        let mut bytes = first.bytes.clone();
        bytes.truncate(bytes.len() - cut);
        bytes.extend_from_slice(&second.bytes);
        let reading = read(bytes.as_slice()).expect("a log");
        let seconds = reading.rows.iter().filter(|row| row.cap == Some(1));
        assert_eq!(seconds.count(), 10, "cut {cut}");
        assert!(reading.damage.count() > 0, "cut {cut}");
        assert_eq!(reading.reader.index().sections.len(), 2, "cut {cut}");
    }
}

#[test]
fn stale_bytes_before_the_header() {
    let mut stale = LogBuilder::new();
    stale.bytes.clear();
    stale.block(None, SPAN, |log| log.end());
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2)).end();
    stale.raw(&log.bytes);
    let reading = ok(&stale);
    assert_eq!(damage(&reading), [(DamageKind::BeforeHeader, 0, 26)]);
    assert_eq!(reading.rows.len(), 4);
}

#[test]
fn a_broken_second_header_costs_the_second_log() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| log.runs(T, 2)).end();
    let at = log.offset();
    log.raw(b"hdrbhetbetb!").raw(&[7; 50]);
    let reading = ok(&log);
    assert_eq!(reading.rows.len(), 4);
    assert_eq!(damage(&reading), [(DamageKind::SectionHeader, at, 62)]);
}

// Sizes and types

#[test]
fn an_unknown_type_is_shown_by_its_description() {
    let types = with(
        TYPES,
        &[(250, Some(3), "Something new"), (251, None, "And more")],
    );
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), SPAN, |log| {
        log.event(250, T, &[1, 2, 3]).event(251, T, b"\xAB")
    })
    .end();
    assert_eq!(damage(&ok(&log)), []);
    assert_eq!(
        sentences(&log),
        [
            "unknown event 250 (Something new): 010203",
            "unknown event 251 (And more): ab"
        ]
    );
}

#[test]
fn type_numbers_up_to_the_largest() {
    let types = with(
        TYPES,
        &[(255, Some(1), "a"), (256, Some(2), "b"), (65534, None, "c")],
    );
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), SPAN, |log| {
        log.event(255, T, &[1])
            .event(256, T, &[1, 2])
            .event(65534, T, &[9; 9])
    })
    .end();
    assert_eq!(damage(&ok(&log)), []);
    assert_eq!(sentences(&log)[1], "unknown event 256 (b): 0102");
}

#[test]
fn larger_and_smaller_than_known() {
    let types = with(
        TYPES,
        &[
            (1, Some(9), "Run"),
            (2, Some(6), "Stop"),
            (53, Some(50), "GC"),
        ],
    );
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), SPAN, |log| {
        log.event(1, T, &[0, 0, 0, 7, 1, 2, 3, 4, 5]);
        log.event(2, T, &[0, 0, 0, 7, 0, 8]);
        log.event(53, T, &[0; 50])
    })
    .end();
    assert_eq!(damage(&ok(&log)), []);
    let sentences = sentences(&log);
    assert_eq!(sentences[0], "runs thread 7");
    assert_eq!(sentences[1], "stops thread 7: blocked on a black hole");
    assert!(!sentences[2].contains("balanced"), "{}", sentences[2]);
}

#[test]
fn a_size_class_other_than_known_is_an_unknown_event() {
    let types = with(
        TYPES,
        &[(1, None, "Run thread"), (19, Some(5), "User message")],
    );
    let mut log = LogBuilder::with_types(&types);
    log.block(Some(0), SPAN, |log| {
        log.event(1, T, &[0, 0, 0, 7]).event(19, T, b"hello")
    })
    .end();
    assert_eq!(damage(&ok(&log)), []);
    assert_eq!(names(&log), ["UnknownEvent", "UnknownEvent"]);
}

/// Mercury uses the numbers 39 and 40 for other events.
#[test]
fn reused_numbers_are_unknown_events() {
    let reused = [
        (39, None, "Intern a string"),
        (40, Some(0), "About to call main/2"),
    ];
    let mut log = LogBuilder::with_types(&with(TYPES, &reused));
    log.event(39, 0, b"x\0\0\0\0\x01").event(40, 1, &[]).end();
    assert_eq!(names(&log), ["UnknownEvent", "UnknownEvent"]);

    // Other runtimes may reuse any number.
    let other = [
        (200, Some(4), "Counters before a thread runs"),
        (9, Some(0), "Task clock"),
    ];
    let mut log = LogBuilder::with_types(&with(TYPES, &other));
    log.block(Some(0), SPAN, |log| {
        log.event(200, T, &[0, 0, 0, 7]).event(9, T, &[])
    })
    .end();
    let expected = [
        "unknown event 200 (Counters before a thread runs): 00000007",
        "unknown event 9 (Task clock): ",
    ];
    assert_eq!(sentences(&log), expected);
    let session = session_of(&log.bytes).expect("a log");
    assert!(
        !session
            .recording()
            .info
            .has(EventSet::from_types(&[EventType::GC_START]))
    );

    let ghc = [(39, Some(2), "Spark steal"), (40, Some(0), "Spark fizzle")];
    let mut log = LogBuilder::with_types(&with(TYPES, &ghc));
    log.event(39, 0, &[0, 1]).event(40, 1, &[]).end();
    assert_eq!(names(&log), ["SparkSteal", "SparkFizzle"]);
}

#[test]
fn lengths_shorter_and_longer_than_the_fields() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| {
        log.event(44, T, &[0, 0, 0]);
        log.event(44, T, &[0, 0, 0, 7]);
        log.event(164, T, b"\x01\0\0\0\0\0\0\0\x05label\0and more");
        log.event(164, T, b"\x01\0\0\0\0\0\0\0\x05no end");
        log.event(
            167,
            T,
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9, 0, 0, 0, 5, 0],
        )
    })
    .end();
    assert_eq!(damage(&ok(&log)), []);
    let sentences = sentences(&log);
    assert_eq!(names(&log)[0], "UnknownEvent");
    assert_eq!(sentences[1], "thread 7 is called “”");
    assert!(sentences[2].contains("“label”"), "{}", sentences[2]);
    assert!(sentences[3].contains("“no end”"), "{}", sentences[3]);
    assert_eq!(
        sentences[4],
        "profile sample 1 on capability 0: cost centre 5"
    );
}

/// GHC 6.12 declares 64-bit thread ids but writes 32 bits.
#[test]
fn sizes_of_ghc_6_12() {
    let types = [
        (0, Some(8), "Create thread"),
        (1, Some(8), "Run thread"),
        (2, Some(10), "Stop thread"),
        (4, Some(10), "Migrate thread"),
        (17, Some(0), "Startup"),
        (18, Some(14), "Block marker"),
    ];
    let mut log = LogBuilder::with_types(&types);
    log.event(17, 1, &[0, 2]);
    log.block(Some(0), SPAN, |log| {
        log.event(0, T, &[0, 0, 0, 7]).event(1, T, &[0, 0, 0, 7]);
        log.event(2, T, &[0, 0, 0, 7, 0, 5])
            .event(4, T, &[0, 0, 0, 7, 0, 1])
    })
    .end();
    assert_eq!(damage(&ok(&log)), []);
    assert_eq!(
        sentences(&log),
        [
            "starts up with 2 capabilities",
            "creates thread 7",
            "runs thread 7",
            "stops thread 7: finished",
            "moves thread 7 to capability 1",
        ]
    );
}

#[test]
fn stop_codes_of_ghc_7_8_2() {
    let stops = |types: &[EventTypeDecl]| {
        let mut log = LogBuilder::with_types(types);
        log.block(Some(0), SPAN, |log| {
            log.stop(T, 7, 8).stop(T, 7, 13).stop(T, 7, 12)
        })
        .end();
        sentences(&log)
            .iter()
            .map(|text| text.trim_start_matches("stops thread 7: ").to_owned())
            .collect::<Vec<_>>()
    };
    let marker = (58, None, "User marker");
    let declares_59 = with(TYPES, &[marker]);
    let without_59: Vec<_> = declares_59
        .iter()
        .copied()
        .filter(|(id, ..)| *id != 59)
        .collect();
    assert_eq!(
        stops(&without_59),
        [
            "blocked on reading an MVar",
            "blocked in an STM retry",
            "sleeping in threadDelay"
        ]
    );
    assert_eq!(
        stops(&declares_59),
        [
            "blocked on a black hole owned by thread 0",
            "waiting for an asynchronous operation",
            "blocked in an STM retry"
        ]
    );
}

fn provenance() -> Vec<u8> {
    b"\0\0\0\0\0\0\x10\x00table\x0021\0Int\0label\0Module\0src/A.hs:1:2-3\0".to_vec()
}

/// GHC 9.6.5 and later declare one byte more than they write; other versions do not.
#[test]
fn info_table_events_with_a_right_and_a_wrong_length() {
    for surplus in [0, 1] {
        let mut log = LogBuilder::new();
        log.block(None, SPAN, |log| {
            for time in T..T + 3 {
                let at = log.bytes.len();
                log.event(169, time, &provenance());
                let len = (provenance().len() + surplus) as u16;
                log.bytes[at + 10..at + 12].copy_from_slice(&len.to_be_bytes());
            }
            log.event(19, T + 3, b"after");
            let at = log.bytes.len();
            log.event(169, T + 4, &provenance());
            let len = (provenance().len() + surplus) as u16;
            log.bytes[at + 10..at + 12].copy_from_slice(&len.to_be_bytes());
            log.end()
        });
        let reading = ok(&log);
        assert_eq!(damage(&reading), [], "surplus {surplus}");
        assert_eq!(ids(&reading), [169, 169, 169, 19, 169]);
        let texts = sentences(&log);
        assert!(texts[4].contains("“src/A.hs:1:2-3”"), "{}", texts[4]);
    }
}

// Damage inside a block

#[test]
fn an_undeclared_type_costs_its_event() {
    let mut log = LogBuilder::new();
    let mut at = 0;
    log.block(Some(0), SPAN, |log| {
        log.runs(T, 3);
        at = log.offset();
        log.raw(&[0, 99]).raw(&T.to_be_bytes()).raw(&[9; 6]);
        log.runs(T + 10_000, 3)
    })
    .end();
    let reading = ok(&log);
    assert_eq!(damage(&reading), [(DamageKind::UndeclaredType(99), at, 16)]);
    assert_eq!(reading.rows.len(), 12);
    let damage = reading.damage.kept[0];
    assert_eq!(damage.cap.map(|cap| cap.0), Some(0));
    assert_eq!(damage.after.map(|time| time.0), Some(T + 5000));
}

#[test]
fn a_damaged_stretch_costs_itself() {
    for (byte, stretch) in [(0x00, 700), (0xFF, 700), (0x5A, 700), (0xEE, 300_000)] {
        let mut log = LogBuilder::new();
        let mut at = 0;
        log.block(Some(0), SPAN, |log| {
            log.runs(T, 3);
            at = log.offset();
            log.raw(&vec![byte; stretch]);
            log.runs(T + 10_000, 3)
        });
        log.block(Some(1), SPAN, |log| log.runs(T, 2)).end();
        let reading = ok(&log);
        let lost: u64 = damage(&reading).iter().map(|(.., lost)| lost).sum();
        assert_eq!(lost, stretch as u64, "{byte:#x}");
        assert_eq!(damage(&reading)[0].1, at);
        assert_eq!(reading.rows.len(), 16, "{byte:#x}");
    }
}

#[test]
fn a_damaged_stretch_at_the_end_of_a_block() {
    let mut log = LogBuilder::new();
    let mut at = 0;
    log.block(Some(0), SPAN, |log| {
        log.runs(T, 3);
        at = log.offset();
        log.raw(&[0x5A; 111])
    });
    log.block(Some(1), SPAN, |log| log.runs(T, 2)).end();
    let reading = ok(&log);
    let kind = DamageKind::UndeclaredType(0x5A5A);
    assert_eq!(damage(&reading), [(kind, at, 111)]);
    assert_eq!(reading.rows.len(), 10);
}

/// The tick of the time profiler may write in the middle of another event.
#[test]
fn a_sample_in_the_middle_of_an_event() {
    let sample = |log: &mut LogBuilder| {
        let payload = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 5];
        log.event(167, T + 100, &payload);
    };
    for cut in [1, 2, 5, 9, 10, 13] {
        let mut log = LogBuilder::new();
        let mut at = 0;
        log.block(Some(0), SPAN, |log| {
            log.runs(T - 9000, 3);
            at = log.bytes.len();
            log.run(T, 7);
            let rest = log.bytes.split_off(at + cut);
            sample(log);
            log.raw(&rest);
            log.runs(T + 1000, 3)
        })
        .end();
        let reading = ok(&log);
        let after = reading.rows.iter();
        let after = after.filter(|row| (T + 1000..T + 7000).contains(&row.time));
        assert_eq!(after.count(), 6, "cut at {cut}: {:?}", damage(&reading));
        let lost: u64 = damage(&reading).iter().map(|(.., lost)| lost).sum();
        assert!((1..60).contains(&lost), "cut at {cut}: {lost}");
    }
}

/// An event whose time alone is wrong keeps its position and gets the time of its neighbors.
#[test]
fn an_event_dated_outside_its_block_keeps_its_place() {
    let mut log = LogBuilder::new();
    let mut at = 0;
    log.block(Some(0), SPAN, |log| {
        log.runs(T, 3);
        at = log.offset();
        log.run(T << 8, 7);
        log.runs(T + 10_000, 3)
    })
    .end();
    let reading = ok(&log);
    let kind = damage(&reading)[0].0;
    assert!(matches!(kind, DamageKind::TimeOutsideBlock(time) if time.0 == T << 8));
    assert_eq!(damage(&reading), [(kind, at, 0)]);
    assert_eq!(reading.rows.len(), 13);
    let row = reading.rows.iter().find(|row| row.offset == at);
    assert_eq!(row.map(|row| row.time), Some(T + 10_000));
}

/// The runtime takes the time of `GC_START` first, and writes the full buffer to the file afterward.
#[test]
fn a_collection_that_makes_its_buffer_be_written_is_dated_before_its_block() {
    let (written, begun) = (SPAN.0 + 1_000_000, SPAN.0 + 6_000_000);
    let mut log = LogBuilder::new();
    log.block(Some(0), (SPAN.0, written), |log| log.run(SPAN.0 + 10, 7));
    let mut at = 0;
    log.block(Some(0), (begun, SPAN.1), |log| {
        at = log.offset();
        log.event(9, written - 100, &[])
            .event(10, begun + 500, &[])
            .stop(begun + 600, 7, 3)
    });
    log.block(Some(1), SPAN, |log| log.runs(SPAN.0 + 20, 4000))
        .end();
    let reading = ok(&log);
    assert_eq!(damage(&reading), []);
    let row = reading.rows.iter().find(|row| row.offset == at);
    assert_eq!(row.map(|row| row.time), Some(written - 100));
    let is_sorted = reading.rows.is_sorted_by_key(|row| row.time);
    assert!(is_sorted, "a back-dated start is not delivered late");

    // Damage: another type of event, a later position, or a time before the preceding block.
    for (first, early) in [(1, written - 100), (9, SPAN.0 - 100), (9, written + 100)] {
        let mut log = LogBuilder::new();
        log.block(Some(0), (SPAN.0, written), |log| log.run(SPAN.0 + 10, 7));
        log.block(Some(0), (begun, SPAN.1), |log| {
            let payload: &[u8] = if first == 1 { &[0, 0, 0, 7] } else { &[] };
            log.event(first, early, payload).runs(begun + 600, 4)
        })
        .end();
        let reading = ok(&log);
        let [(DamageKind::TimeOutsideBlock(time), ..)] = damage(&reading)[..] else {
            panic!("{first} at {early}: {:?}", damage(&reading));
        };
        assert_eq!(time.0, early);
    }
}

/// If all events are dated outside their block, the block's times are wrong.
#[test]
fn a_block_with_wrong_times_is_read() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (SPAN.0 * 1000, SPAN.1 * 1000), |log| {
        log.runs(T, 3)
    })
    .end();
    let reading = ok(&log);
    assert_eq!(reading.rows.len(), 6);
    assert_eq!(reading.damage.lost_bytes, 0);
    assert_eq!(reading.damage.count(), 1);
}

#[test]
fn a_length_too_large_costs_its_event() {
    for len in [30, 100, 0x0200, 0xFF05] {
        let mut log = LogBuilder::new();
        let mut at = 0;
        log.block(Some(0), SPAN, |log| {
            at = log.bytes.len();
            log.event(19, T, b"hello");
            log.runs(T, 3000)
        })
        .end();
        log.bytes[at + 10..at + 12].copy_from_slice(&u16::to_be_bytes(len));
        let reading = ok(&log);
        assert_eq!(reading.rows.len(), 6001, "length {len}");
        assert_eq!(damage(&reading), [(DamageKind::Length(19), at as u64, 0)]);
        assert_eq!(sentences(&log)[0], "hello");
    }
}

// Files that are no eventlogs, or only the beginning of one

#[test]
fn what_is_no_eventlog_is_named() {
    assert_eq!(error(b""), LogError::Empty);
    let cases: [(&[u8], &str); 8] = [
        (b"Hello, this is a text.\n", "text file"),
        (b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "program"),
        (b"PK\x03\x04\x14\0\0\0", "zip"),
        (b"{\"program\": \"x\"}", "JSON"),
        (b"BZh91AY", "compression"),
        (&[0; 4096], "zero bytes"),
        (b"h", "cut off"),
        (b"hdrbhe", "cut off"),
    ];
    for (bytes, word) in cases {
        let message = error(bytes).to_string();
        assert!(message.contains(word), "{word}: {message}");
        assert!(message.contains("byte"), "{message}");
    }
}

#[test]
fn a_log_converted_as_text_is_named() {
    let bytes = common::fixture_cases()[3].bytes();
    let header = bytes
        .windows(4)
        .position(|word| word == b"datb")
        .expect("a body");
    assert!(
        bytes[..header].contains(&b'\n'),
        "event type 10 is declared"
    );
    let mut converted = Vec::new();
    for &byte in &bytes {
        if byte == b'\n' {
            converted.push(b'\r');
        }
        converted.push(byte);
    }
    let error = error(&converted);
    let LogError::TextConverted(at) = error else {
        panic!("{error}");
    };
    assert_eq!(&converted[at as usize - 1..=at as usize], b"\r\n");
}

/// Format of early 2009: the type table has no size field; the length of the description takes its place.
#[test]
fn the_dialect_of_early_2009_is_named() {
    let mut bytes = b"hdrbhetb".to_vec();
    for (id, text) in [(0u16, "Create thread"), (1, "Run thread")] {
        bytes.extend_from_slice(b"etb\0");
        bytes.extend_from_slice(&id.to_be_bytes());
        bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&6u16.to_be_bytes());
        bytes.extend_from_slice(b"ete\0");
    }
    bytes.extend_from_slice(b"hetehdredatb\0\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\x07\xFF\xFF");
    assert_eq!(error(&bytes), LogError::Ancient(8));
}

/// Format of mid 2009: no blocks, and a capability in every event.
#[test]
fn the_dialect_of_mid_2009_is_named() {
    let log = LogBuilder::with_types(&[
        (0, Some(10), "Create thread"),
        (1, Some(10), "Run thread"),
        (9, Some(2), "Starting GC"),
    ]);
    assert!(matches!(error(&log.bytes), LogError::Ancient(_)));
}

// Anomalies

fn anomalies(log: &LogBuilder) -> (u64, Vec<String>) {
    let mut spans = Spans::new(ALL_ANALYSES, CountSpans::default());
    read_log(&mut log.bytes.as_slice(), &mut spans).expect("a log");
    let sink = spans.finish();
    (sink.spans, sink.anomalies)
}

#[test]
fn odd_collections_and_runs_are_told() {
    let mut log = LogBuilder::new();
    log.block(Some(0), SPAN, |log| {
        log.event(10, T, &[]);
        log.event(9, T + 1, &[])
            .event(9, T + 2, &[])
            .event(10, T + 3, &[]);
        log.stop(T + 4, 8, 3);
        log.run(T + 5, 7).run(T + 6, 9).stop(T + 7, 7, 5);
        log.run(T + 8, 7)
    })
    .end();
    let (spans, anomalies) = anomalies(&log);
    assert_eq!(
        anomalies,
        [
            "a collection ends that had not begun",
            "a collection begins during another",
            "thread 8 stops, but had not run",
            "thread 9 runs while thread 7 is running",
        ]
    );
    // The collection, and the run of thread 7 counted for the thread and for the capability.
    assert_eq!(spans, 3);
}

#[test]
fn unknown_events_keep_their_bytes() {
    let event = Event::UnknownEvent {
        id: 7,
        payload: &[1],
    };
    assert_eq!(event.fields().len(), 2);
}

// Hostile logs: time and bytes read stay linear

/// Source that counts the bytes read.
struct Counting<'a> {
    bytes: &'a [u8],
    read: u64,
}

impl Source for Counting<'_> {
    fn byte_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read<'a>(&'a mut self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.read += range.end - range.start;
        self.bytes.read_at(range, buffer)
    }
}

fn is_read_in_linear_time(name: &str, log: &LogBuilder) {
    let mut source = Counting {
        bytes: &log.bytes,
        read: 0,
    };
    let begin = Instant::now();
    let mut events = 0u64;
    read_log(&mut source, &mut |_: &Record<'_>| events += 1).expect("a log");
    let len = log.offset();
    assert!(
        source.read < 6 * len + (16 << 20),
        "{name}: {} bytes read of {len}",
        source.read
    );
    // Generous limit: nonlinear work would take minutes.
    println!(
        "{name}: {events} events, {} of {len} bytes read, {:?}",
        source.read,
        begin.elapsed()
    );
    assert!(
        begin.elapsed().as_secs() < 20,
        "{name}: {:?}",
        begin.elapsed()
    );
}

#[test]
fn hostile_logs_are_read_in_linear_time() {
    const BYTES: u64 = 4 << 20;
    let filled = |fill: &dyn Fn(&mut LogBuilder, u64)| {
        let mut log = LogBuilder::new();
        log.block(Some(0), (0, u64::MAX >> 2), |log| {
            while log.offset() < BYTES {
                fill(log, log.offset());
            }
            log
        });
        log
    };
    let marker = |log: &mut LogBuilder, size: u32, cap: u16| {
        log.raw(&[0, 18])
            .raw(&T.to_be_bytes())
            .raw(&size.to_be_bytes())
            .raw(&(T + 5).to_be_bytes())
            .raw(&cap.to_be_bytes());
    };
    let ipe = |log: &mut LogBuilder, len: u16| {
        log.raw(&[0, 169])
            .raw(&T.to_be_bytes())
            .raw(&len.to_be_bytes());
    };
    let cases: [(&str, LogBuilder); 10] = [
        ("ends far away", {
            let mut log = filled(&|log, at| marker(log, (at * 7919 % BYTES) as u32, 3));
            log.raw(&[0x55; 100]);
            log.bytes[750..760].fill(0x55);
            log
        }),
        ("markers outside", {
            let mut log = LogBuilder::new();
            while log.offset() < BYTES {
                let size = (log.offset() * 7919 % BYTES) as u32;
                marker(&mut log, size, 3);
                log.raw(b"!");
            }
            log
        }),
        ("blocks with wrong sizes", {
            let mut log = LogBuilder::new();
            while log.offset() < BYTES {
                let size = (log.offset() * 7919 % BYTES) as u32;
                marker(&mut log, size, 3);
                log.run(T, 1).run(T, 2).run(T, 3);
            }
            log
        }),
        ("many capabilities", {
            let mut log = LogBuilder::new();
            for i in 0..BYTES / 40 {
                let begin = T + i % 7;
                log.block(Some((i * 31 % 1024) as u16), (begin, T + 9), |log| {
                    log.run(T + i % 5, 1)
                });
            }
            log
        }),
        ("info tables without strings", filled(&|log, _| ipe(log, 0))),
        (
            "info tables of ones",
            filled(&|log, _| {
                ipe(log, 0xFFFF);
                log.raw(&[1; 100]);
            }),
        ),
        (
            "wrong lengths",
            filled(&|log, _| {
                log.raw(&[0, 19])
                    .raw(&T.to_be_bytes())
                    .raw(&[0xFF, 0xFF, 0]);
            }),
        ),
        (
            "undeclared types",
            filled(&|log, _| {
                log.run(T, 1).run(T, 1).run(T, 1).raw(&[0x77; 3]);
            }),
        ),
        (
            "end markers",
            filled(&|log, _| {
                log.end();
            }),
        ),
        ("headers", {
            let mut log = LogBuilder::with_types(&[(65534, None, "")]);
            while log.offset() < BYTES {
                log.header();
            }
            log
        }),
    ];
    for (name, log) in &cases {
        is_read_in_linear_time(name, log);
    }
}
