//! One synthetic log for each rule of diagnostics, as most of them are rare in real logs. One snapshot holds all
//! sentences, so that they can be read together.

use crate::common;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use analysis::automata::Anomaly;
use analysis::diagnostics::{Diagnostic, Diagnostics, Fact, Rule};
use analysis::spans::{SpanSink, Spans};
use common::build::{EventTypeDecl, LogBuilder, TYPES};
use common::{ALL_ANALYSES, MemoryHost, session_of};
use eventlog::Backing;
use eventlog::ids::{CapId, Nanos};
use eventlog::source::{drive, read_log};
use flate2::Compression;
use flate2::write::GzEncoder;
use model::saturating::saturating_u32;
use session::check::CheckQuery;
use session::{MemoryBudget, Session};
use views::words::diagnostics::line;

/// Sink that collects anomalies of the automata.
#[derive(Debug, Default)]
struct AnomalySink(Diagnostics);

impl SpanSink for AnomalySink {
    fn anomaly(&mut self, at: Nanos, _: Option<CapId>, anomaly: Anomaly) {
        self.0.push(Diagnostic::at_time(at, anomaly));
    }
}

const US: u64 = 1000;

/// Backing store that accepts writes and fails all reads.
#[derive(Debug)]
struct LossyBacking;

impl Backing for LossyBacking {
    fn append(&self, _: &[u8]) -> Option<u64> {
        Some(0)
    }
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

/// Backing store that also reports a counter overflow, which no log of the tests is large enough to cause.
#[derive(Debug)]
struct OverflowingBacking;

impl Backing for OverflowingBacking {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        let _ = saturating_u32(usize::MAX);
        LossyBacking.append(bytes)
    }
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

/// Reads a log with a memory budget of 0 bytes.
fn with_little_memory(log: &LogBuilder, backing: Option<Arc<dyn Backing>>) -> Session {
    let memory = MemoryBudget { bytes: 0 };
    let mut session = Session::with_memory_budget(log.bytes.len() as u64, memory, backing);
    drive(&mut log.bytes.as_slice(), &mut session).expect("it can be read");
    session
}

/// Returns the diagnostics of a log by the name of their rule.
fn found(log: &LogBuilder) -> BTreeMap<&'static str, String> {
    found_in(&session_of(&log.bytes).expect("it can be read"), log)
}

fn found_in(session: &Session, log: &LogBuilder) -> BTreeMap<&'static str, String> {
    let checked = session
        .ask_with(&CheckQuery, &MemoryHost(&log.bytes))
        .expect("a file");
    // The session does not compute mutator spans by capability; only the command line does.
    let mut runs = Spans::new(ALL_ANALYSES, AnomalySink::default());
    read_log(&mut log.bytes.as_slice(), &mut runs).expect("it can be read");
    let anomalies = runs.finish().0;
    let all = [session.diagnostics(), checked.diagnostics, anomalies];
    let kept = all.iter().flat_map(|found| found.kept());
    kept.map(|found| (found.rule().name(), line(found)))
        .collect()
}

fn types() -> Vec<EventTypeDecl> {
    let more = [
        (20, Some(0), "GC work"),
        (15, Some(4), "Create spark thread"),
        (17, Some(2), "Startup"),
        (38, Some(0), "Spark run"),
        (55, Some(18), "Task create"),
        (56, Some(12), "Task migrate"),
        (57, Some(8), "Task delete"),
        (162, Some(8), "Start of heap profile sample"),
        (164, None, "Heap profile string sample"),
        (165, Some(8), "End of heap profile sample"),
        (161, None, "Heap profile cost-centre definition"),
        (169, None, "An IPE entry"),
        (181, None, "User binary message"),
    ];
    [TYPES, &more].concat()
}

/// Builds a complete log with one block on capability 0.
fn on_cap_0(fill: impl FnOnce(&mut LogBuilder) -> &mut LogBuilder) -> LogBuilder {
    let mut log = LogBuilder::with_types(&types());
    log.block(Some(0), (0, 1_000_000 * US), fill).end();
    log
}

/// Builds a log with messages that are 1 µs apart, in a running thread.
fn messages(texts: &[&str]) -> LogBuilder {
    on_cap_0(|log| {
        log.event(0, 1, &[0, 0, 0, 7]).run(1, 7);
        for (at, text) in (1..).zip(texts) {
            log.event(19, at * US, text.as_bytes());
        }
        log.stop(999_999 * US, 7, 5)
    })
}

/// Builds a log with `count` messages made by `text`.
fn numbered(count: u32, text: impl Fn(u32) -> String) -> LogBuilder {
    let texts: Vec<String> = (0..count).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    messages(&texts)
}

/// Builds a log of events whose payload is a thread id and constants.
fn events(list: &[(u16, u32)]) -> LogBuilder {
    on_cap_0(|log| {
        for (at, (id, thread)) in (1..).zip(list) {
            let payload = match id {
                2 => [&thread.to_be_bytes()[..], &[0, 3, 0, 0, 0, 0]].concat(),
                4 | 8 => [&thread.to_be_bytes()[..], &[0, 1]].concat(),
                9 | 10 | 38 => Vec::new(),
                _ => thread.to_be_bytes().to_vec(),
            };
            log.event(*id, at, &payload);
        }
        log
    })
}

fn task(moves: &[(u16, u16)]) -> LogBuilder {
    on_cap_0(|log| {
        let task = 9_u64.to_be_bytes();
        log.event(55, 1, &[&task[..], &[0; 10]].concat());
        for (from, to) in moves {
            let ends = [from.to_be_bytes(), to.to_be_bytes()].concat();
            log.event(56, 2, &[&task[..], &ends].concat());
        }
        log
    })
}

/// Builds a log with binary messages as `ghc-stack-profiler` writes them.
fn binary(parts: &[&[u8]]) -> LogBuilder {
    on_cap_0(|log| {
        for (at, part) in (1..).zip(parts) {
            log.event(181, at, part);
        }
        log
    })
}

/// Builds a log with `count` threads, each with its own label of 200 bytes.
fn long_labels(count: u32) -> LogBuilder {
    on_cap_0(|log| {
        for thread in 1..=count {
            let label = format!("{thread:0>200}");
            let payload = [&thread.to_be_bytes()[..], label.as_bytes()].concat();
            log.event(44, thread.into(), &payload);
        }
        log
    })
}

/// Builds a log with `count` info tables that have names of 4,000 bytes.
fn many_info_tables(count: u64) -> LogBuilder {
    let text = "x".repeat(4000);
    on_cap_0(|log| {
        for at in 1..=count {
            let texts = format!("{at}{text}\0\0{at}{text}a\0{at}{text}b\0{at}{text}c\0:\0");
            log.event(169, at, &[&at.to_be_bytes()[..], texts.as_bytes()].concat());
        }
        log
    })
}

/// Builds a log with one census, in which each band has `bytes` bytes.
fn census(bands: impl Iterator<Item = String>, bytes: u64) -> LogBuilder {
    on_cap_0(|log| {
        log.event(162, 1, &1_u64.to_be_bytes());
        for band in bands {
            let payload = [&[0][..], &bytes.to_be_bytes(), band.as_bytes(), b"\0"];
            log.event(164, 1, &payload.concat());
        }
        log.event(165, 1, &1_u64.to_be_bytes())
    })
}

/// Builds a log with two blocks on two capabilities and lets `spoil` change its bytes, given the offsets of the
/// blocks.
fn damaged(spoil: impl FnOnce(&mut Vec<u8>, [usize; 2])) -> LogBuilder {
    let mut log = two_blocks(
        |log| log.runs(1000, 20),
        |log| log.runs(101_000, 20),
        [(0, 100_000), (100_000, 200_000)],
    );
    let first = LogBuilder::with_types(&types()).bytes.len();
    let second = nth(first, 40);
    spoil(&mut log.bytes, [first, second]);
    log
}

/// Returns the offset of the event with index `event` in a block of [`LogBuilder::runs`].
const fn nth(block: usize, event: usize) -> usize {
    const MARKER: usize = 24;
    const RUN: usize = 14;
    const STOP: usize = 20;
    block + MARKER + event / 2 * (RUN + STOP) + event % 2 * RUN
}

/// Encodes a message that declares `claimed` bytes but has three.
fn text_of_length(time: u64, claimed: u16) -> Vec<u8> {
    let start = [&[0, 19][..], &time.to_be_bytes(), &claimed.to_be_bytes()];
    [&start.concat()[..], b"abc"].concat()
}

/// Builds a heap profile in text.
fn heap_report(lines: &str) -> LogBuilder {
    let mut log = LogBuilder::new();
    log.bytes = format!("JOB \"p\"\nBEGIN_SAMPLE 0\nEND_SAMPLE 0\n{lines}").into();
    log
}

/// Builds a log with one block on each of two capabilities.
fn two_blocks(
    first: impl FnOnce(&mut LogBuilder) -> &mut LogBuilder,
    second: impl FnOnce(&mut LogBuilder) -> &mut LogBuilder,
    times: [(u64, u64); 2],
) -> LogBuilder {
    let mut log = LogBuilder::with_types(&types());
    log.block(Some(0), times[0], first);
    log.block(Some(1), times[1], second).end();
    log
}

/// Builds a collection that ends before its last phase begins, as the runtime dates its end back.
fn collection(work: u64, end: u64) -> LogBuilder {
    on_cap_0(|log| {
        log.event(9, 1000, &[])
            .event(20, work, &[])
            .event(10, end, &[])
            .run(work + 1, 7)
    })
}

/// Logs, each of which triggers at least one rule.
fn logs() -> Vec<(Rule, LogBuilder)> {
    const SCC: &str = r#"ANN_SCC 0 bar ["Main.gone (M.hs:9:9)"]"#;
    let call = ["START 0 bar", "ANN_TH 0 bar 71"];
    let with = |more: &[&str]| messages(&[&call[..], more].concat());
    let stack =
        |last, cap: [u8; 4], rest: &[u8]| [&[0xFF, last][..], &cap, &[0, 0, 0, 7], rest].concat();
    let table = [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 9];
    let text = [0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 5];
    let place = [0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6];
    let cut = |bytes: &mut Vec<u8>, len: usize| bytes.truncate(len);
    vec![
        (
            Rule::UndeclaredType,
            damaged(|b, [at, _]| b[nth(at, 4)] = 7),
        ),
        (
            Rule::EventTime,
            damaged(|b, [at, _]| b[nth(at, 4) + 2] = 0x70),
        ),
        (Rule::BlockSize, damaged(|b, [at, _]| b[at + 11] = 0x70)),
        (Rule::BlockMarker, damaged(|b, [_, at]| b[at + 14] = 0x70)),
        (
            Rule::EventMisfit,
            damaged(|b, [at, _]| b[nth(at, 5) + 1] = 0),
        ),
        (
            Rule::BetweenBlocks,
            damaged(|b, [at, _]| {
                b.splice(at..at, [0x55; 40]);
            }),
        ),
        (
            Rule::BeforeHeader,
            damaged(|b, _| {
                b.splice(0..0, [0; 5]);
            }),
        ),
        (Rule::AfterEnd, damaged(|b, _| b.extend([0x55; 40]))),
        (Rule::CutOff, damaged(|b, [_, at]| cut(b, nth(at, 8) + 5))),
        (
            Rule::Compressed,
            damaged(|bytes, _| {
                let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
                gzip.write_all(bytes).expect("memory");
                *bytes = gzip.finish().expect("memory");
                let checksum = bytes.len() - 8;
                bytes[checksum] ^= 1;
            }),
        ),
        (Rule::BufferMissing, {
            // The program is killed before the second of two capabilities writes its buffer.
            let mut log = LogBuilder::with_types(&types());
            log.block(Some(0), (0, 99), |log| log.event(17, 1, &[0, 2]).run(2, 7));
            log
        }),
        (Rule::NoEndMarker, damaged(|b, _| cut(b, b.len() - 2))),
        (
            Rule::SectionHeader,
            damaged(|b, _| b.extend(*b"hdrbhetbetb\0broken")),
        ),
        (
            Rule::ReportLine,
            heap_report(
                "BEGIN_SAMPLE 1\nTHUNK\tmany\nEND_SAMPLE 1\nBEGIN_SAMPLE 2\nEND_SAMPLE 2\n",
            ),
        ),
        (
            Rule::ReportTime,
            heap_report("BEGIN_SAMPLE 2\nTHUNK\t8\nEND_SAMPLE 2\nBEGIN_SAMPLE 1\nEND_SAMPLE 1\n"),
        ),
        (
            Rule::ReportUnit,
            heap_report("SAMPLE_UNIT \"ticks\"\nBEGIN_SAMPLE 2\nEND_SAMPLE 2\n"),
        ),
        (
            Rule::ReportCut,
            heap_report("BEGIN_SAMPLE 1\nTHUNK\t8\nEND_SAMPLE 1\nBEGIN_SAMPLE 2\nTHU"),
        ),
        (
            Rule::MessagesCut,
            numbered(34_000, |_| "a long story ".repeat(320)),
        ),
        (Rule::NamesLeftOut, long_labels(180_000)),
        (Rule::InfoTablesLeftOut, many_info_tables(8_000)),
        (
            Rule::HeapBandsFolded,
            census((0..270_000).map(|band| format!("0x{band:x}")), 8),
        ),
        (
            Rule::HeapBytesCapped,
            census(std::iter::once("THUNK".to_owned()), u64::MAX),
        ),
        (Rule::GcEndWithoutStart, events(&[(10, 0)])),
        (Rule::GcStartRepeated, events(&[(9, 0), (9, 0), (10, 0)])),
        (Rule::StopBeforeRun, events(&[(2, 7)])),
        (Rule::OtherThread, events(&[(0, 7), (0, 8), (1, 7), (2, 8)])),
        (Rule::OrderUncreated, events(&[(0, 7), (1, 8)])),
        (Rule::OrderCreatedAgain, events(&[(0, 7), (0, 7)])),
        (Rule::OrderRunsAlready, events(&[(0, 7), (1, 7), (1, 7)])),
        (Rule::OrderStopsUnrun, events(&[(0, 7), (2, 7)])),
        (Rule::OrderMovesRunning, events(&[(0, 7), (1, 7), (4, 7)])),
        (
            Rule::OrderOtherThread,
            events(&[(0, 7), (0, 8), (1, 7), (1, 8)]),
        ),
        (Rule::OrderTaskElsewhere, task(&[(3, 1)])),
        (Rule::OrderSparkWithoutThread, events(&[(38, 0)])),
        (
            Rule::OrderSparkInOtherThread,
            events(&[(0, 7), (1, 7), (38, 0)]),
        ),
        (Rule::CallStartRepeated, with(&["START 0 bar"])),
        (Rule::CallStopWithoutStart, with(&["STOP 1 bar"])),
        (Rule::CallAnnotationEarly, with(&["ANN_TH 1 bar 71"])),
        (Rule::CallAnnotationRepeated, with(&["ANN_TH 0 bar 72"])),
        (Rule::CallNumberMissing, with(&["ANN_TH bar 72"])),
        (
            Rule::CallThreadMissing,
            messages(&["START 0 bar", "ANN_TH 0 bar none"]),
        ),
        (
            Rule::CallStackUnreadable,
            with(&["ANN_SCC 0 bar [Main.main]"]),
        ),
        (
            Rule::CallUnknownCostCentre,
            on_cap_0(|log| {
                log.event(161, 1, b"\0\0\0\x01main\0Main\0M.hs:1:1\0\0")
                    .event(19, 2, call[0].as_bytes())
                    .event(19, 3, SCC.as_bytes())
                    .event(19, 4, call[1].as_bytes())
                    .event(19, 9, b"STOP 0 bar")
            }),
        ),
        (
            Rule::CallOverlap,
            with(&["START 1 baz", "ANN_TH 1 baz 71", "STOP 0 bar", "STOP 1 baz"]),
        ),
        (
            Rule::CallCutByReturn,
            messages(&[
                "ANN_CALL_TO 0x410061 0x40ff00 71",
                call[0],
                call[1],
                "ANN_CALL_RET 0x410061 0x40ff00 71",
                "STOP 0 bar",
            ]),
        ),
        (
            Rule::CallAddressMissing,
            with(&["ANN_CALL_TO bar_c 0x40ff00 71"]),
        ),
        (
            Rule::CallFunctionThreadMissing,
            with(&["ANN_CALL_TO 0x410061 0x40ff00"]),
        ),
        (
            Rule::CallReturnUnmatched,
            with(&["ANN_CALL_RET 0x410099 0x40ff00 71"]),
        ),
        (
            Rule::CallTooMany,
            numbered(140, |n| match n / 70 {
                0 => format!("START {n} bar"),
                _ => format!("STOP {} bar", n - 70),
            }),
        ),
        (
            Rule::StackIncomplete,
            binary(&[&stack(0xCB, [0; 4], &table)]),
        ),
        (
            Rule::StackNoSuchCapability,
            binary(&[&stack(0xCA, [0, 1, 0, 0], &table)]),
        ),
        (
            Rule::StackUnknownText,
            binary(&[&stack(0xCA, [0; 4], &text)]),
        ),
        (
            Rule::StackUnknownLocation,
            binary(&[&stack(0xCA, [0; 4], &place)]),
        ),
        (
            Rule::SpansLeftOut,
            numbered(600, |n| match n / 300 {
                0 => format!("START s{n}"),
                _ => format!("STOP s{}", n - 300),
            }),
        ),
        (
            Rule::EventOverrun,
            on_cap_0(|log| log.runs(1000, 9).raw(&text_of_length(90_000, 0x7000))),
        ),
        (
            Rule::EventLength,
            on_cap_0(|log| {
                log.runs(1000, 9)
                    .raw(&text_of_length(90_000, 63))
                    .runs(100_000, 9)
            }),
        ),
        (
            Rule::BlockTimes,
            two_blocks(
                |log| log.runs(1000, 20),
                |log| log.runs(101_000, 20),
                [(0, 100_000), (700_000_000, 800_000_000)],
            ),
        ),
        (
            Rule::OrderAfterEnd,
            on_cap_0(|log| {
                log.event(0, 1, &[0, 0, 0, 7])
                    .run(2, 7)
                    .stop(3, 7, 5)
                    .stop(4, 7, 5)
            }),
        ),
        (
            Rule::OrderStopsElsewhere,
            two_blocks(
                |log| log.event(0, 1, &[0, 0, 0, 7]).run(2, 7),
                |log| log.stop(3, 7, 3),
                [(0, 9); 2],
            ),
        ),
        (Rule::TimesGoBack, collection(5000, 4000)),
        (Rule::TimesGoFarBack, collection(5_000_000, 2_000_000)),
        (Rule::UnknownType, {
            let mut log = LogBuilder::with_types(&[TYPES, &[(250, Some(0), "Novelty")]].concat());
            log.block(Some(0), (0, 9), |log| log.event(250, 5, &[]))
                .end();
            log
        }),
        (Rule::OpenCollection, events(&[(9, 0)])),
        (Rule::OpenRun, events(&[(0, 7), (1, 7)])),
        (Rule::UnfinishedThreads, events(&[(0, 7), (0, 8)])),
    ]
}

#[test]
fn each_rule_has_a_log() {
    let mut said: BTreeMap<&str, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    let large = on_cap_0(|log| log.runs(1000, 20_000));
    let in_memory = with_little_memory(&large, None);
    let forgotten = with_little_memory(&large, Some(Arc::new(LossyBacking)));
    let little = [
        (Rule::MemoryExceeded, found_in(&in_memory, &large)),
        (Rule::SpillLost, found_in(&forgotten, &large)),
    ];
    // Another log that is open at the same time must not get the diagnostic.
    let small = on_cap_0(|log| log.runs(1, 1));
    let other = session_of(&small.bytes).expect("a log");
    let overflowing = with_little_memory(&large, Some(Arc::new(OverflowingBacking)));
    let too_large = [(Rule::TooLarge, found_in(&overflowing, &large))];
    assert!(!found_in(&other, &small).contains_key(Rule::TooLarge.name()));
    let logs = logs().into_iter().map(|(rule, log)| (rule, found(&log)));
    for (rule, mut found) in logs.chain(little).chain(too_large) {
        match found.remove(rule.name()) {
            Some(line) => _ = said.insert(rule.name(), line),
            None => wrong.push(format!("{} is not among {found:#?}", rule.name())),
        }
        for (other, line) in found {
            said.entry(other).or_insert(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing = Rule::ALL.iter().map(|rule| rule.name());
    let missing: Vec<&str> = missing.filter(|name| !said.contains_key(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // A fixed size, as the actual one depends on the layout of columns.
    let exceeded = Diagnostic::new(Fact::MemoryExceeded {
        resident_bytes: 900 << 20,
        allowed_bytes: 724 << 20,
    });
    said.insert(Rule::MemoryExceeded.name(), line(&exceeded));
    let lines = said.iter().map(|(name, line)| format!("{name}: {line}"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
