//! Logs of other versions and programs: all versions of ghc-stack-profiler, GHC 10, passes of GHC, and reused
//! event numbers.

use crate::common;

use std::collections::BTreeMap;
use std::io::Cursor;

use analysis::flamegraph::sources;
use analysis::timeline::user_spans::SpanPrefixes;
use common::build::{EventTypeDecl, LogBuilder, TYPES};
use common::{eventscope, session_of};
use eventlog::EventType;
use eventlog::info_tables::InfoTables;
use eventlog::{Event, status::StopCodes};
use model::profile::frames::Frame;
use model::profile::source::Source;
use model::profile::stack_source::FlameSelection;
use session::Session;
use symbols::Symbols;

const CAP_0: Option<u16> = Some(0);
const BINARY: u16 = 181;

fn types() -> Vec<EventTypeDecl> {
    let more = [
        (BINARY, None, "User binary message"),
        (29, None, "RTS name and version"),
    ];
    [TYPES, &more].concat()
}

/// Returns the time of each stack of a source, outermost frame first.
fn stacks(session: &Session, source: Source) -> BTreeMap<String, u64> {
    let choice = FlameSelection {
        source,
        ..FlameSelection::default()
    };
    let Some(origin) = session.stack_source(source) else {
        return BTreeMap::new();
    };
    let weighed = origin.weighted_stacks(&choice);
    let mut stacks = BTreeMap::new();
    for (stack, weight) in weighed.stacks.ids().zip(&weighed.own) {
        let frames = weighed.stacks.outermost_first(stack).into_iter();
        let shown = |frame: &Frame| match &frame.location {
            Some(location) => format!("{} ({location})", frame.name()),
            None => frame.name(),
        };
        let names: Vec<String> = frames
            .filter_map(|id| weighed.frames.get(id).map(shown))
            .collect();
        if weight.count > 0 {
            *stacks.entry(names.join(" > ")).or_default() += weight.count;
        }
    }
    stacks
}

/// Message formats of ghc-stack-profiler, according to the `Binary` instances of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Versions 0.1 and 0.2.
    First,
    /// Versions 0.3 and 0.4.
    Middle,
    /// Version 0.5.
    Last,
}

impl Version {
    pub(crate) const ALL: [Self; 3] = [Self::First, Self::Middle, Self::Last];
}

/// Stack frame as the profiled program has it.
#[derive(Clone, Copy, Debug)]
enum ProgramFrame {
    Table(u64),
    Text(&'static str),
    At(&'static str, u32),
}
use ProgramFrame::{At, Table, Text};

const FILE: &str = "src/Größe.hs";

/// Writer of messages of ghc-stack-profiler.
struct Profiler {
    version: Version,
    /// Maximum number of frames in one message.
    part: usize,
    texts: Vec<&'static str>,
    /// Function and line of each source location.
    places: Vec<(&'static str, u32)>,
    messages: Vec<(u64, Vec<u8>)>,
}

fn number<T: PartialEq>(all: &mut Vec<T>, item: T) -> u64 {
    let place = all.iter().position(|other| *other == item);
    let place = place.unwrap_or_else(|| {
        all.push(item);
        all.len() - 1
    });
    place as u64 + 1
}

impl Profiler {
    fn new(version: Version, part: usize) -> Self {
        let mut profiler = Self {
            version,
            part,
            texts: vec![FILE],
            places: Vec::new(),
            messages: Vec::new(),
        };
        if version == Version::Last {
            profiler.messages.push((1, vec![0xFF, 0xC0, 0]));
        }
        profiler
    }

    fn frame(&mut self, frame: ProgramFrame) -> Vec<u8> {
        let (kind, numbers) = match frame {
            Table(address) => (1, vec![address]),
            Text(text) => (2, vec![number(&mut self.texts, text)]),
            At(function, line) => {
                let text = number(&mut self.texts, function);
                let place = number(&mut self.places, (function, line));
                match self.version {
                    Version::First => (3, vec![place]),
                    Version::Middle | Version::Last => (3, vec![text, place]),
                }
            }
        };
        let mut bytes = vec![kind];
        bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        bytes
    }

    /// Appends a sample of a thread, split into messages of `part` frames.
    fn sample(&mut self, time: u64, cap: u32, thread: u32, innermost_first: &[ProgramFrame]) {
        let mut parts: Vec<Vec<ProgramFrame>> = innermost_first
            .chunks(self.part)
            .map(<[_]>::to_vec)
            .collect();
        if self.version != Version::First {
            parts.reverse();
            parts.iter_mut().for_each(|part| part.reverse());
        }
        let last = parts.len() - 1;
        for (place, part) in parts.into_iter().enumerate() {
            let mut bytes = vec![0xFF, if place == last { 0xCA } else { 0xCB }];
            bytes.extend(cap.to_be_bytes());
            match self.version {
                Version::Last => bytes.extend(u64::from(thread).to_be_bytes()),
                Version::First | Version::Middle => bytes.extend(thread.to_be_bytes()),
            }
            bytes.extend((part.len() as u16).to_be_bytes());
            for frame in part {
                bytes.extend(self.frame(frame));
            }
            self.messages.push((time + place as u64, bytes));
        }
    }

    /// Appends the definitions of texts and locations that the samples refer to.
    fn define(&mut self, time: u64) {
        for (text, id) in self.texts.iter().zip(1_u64..) {
            let len = match self.version {
                Version::Last => text.len(),
                Version::First | Version::Middle => text.chars().count(),
            };
            let mut bytes = [&[0xFF, 0xCC][..], &id.to_be_bytes()].concat();
            bytes.extend((len as u16).to_be_bytes());
            bytes.extend(text.as_bytes());
            self.messages.push((time, bytes));
        }
        for ((function, line), id) in self.places.clone().into_iter().zip(1_u64..) {
            let mut bytes = [&[0xFF, 0xCD][..], &id.to_be_bytes()].concat();
            bytes.extend(line.to_be_bytes());
            bytes.extend(7_u32.to_be_bytes());
            if self.version == Version::First {
                bytes.extend(number(&mut self.texts, function).to_be_bytes());
            }
            bytes.extend(number(&mut self.texts, FILE).to_be_bytes());
            self.messages.push((time, bytes));
        }
    }

    fn write(&self, log: &mut LogBuilder) {
        for (time, message) in &self.messages {
            log.event(BINARY, *time, message);
        }
    }
}

fn describe(log: &mut LogBuilder, time: u64, table: u64, label: &str) {
    let texts = format!("{label}_info\x0016\0Int\0{label}\0Main\0A.hs:1:2\0");
    let payload = [&table.to_be_bytes()[..], texts.as_bytes()].concat();
    log.event(169, time, &payload);
}

const MAIN: u64 = 0x40_1000;
const LOOP: u64 = 0x40_2000;

/// Builds a log with deep stacks, split into messages of two frames. Definitions follow the samples, and are
/// repeated.
pub(crate) fn profiled(version: Version) -> LogBuilder {
    let mut profiler = Profiler::new(version, 2);
    let deep = [
        Text("λ-Kalkül"),
        At("step", 12),
        Table(LOOP),
        At("run", 30),
        Table(MAIN),
    ];
    for time in (100..1000).step_by(100) {
        profiler.sample(time, 0, 7, &deep);
        profiler.sample(time + 10, 0, 8, &[At("wait", 44), Table(MAIN)]);
    }
    profiler.define(1100);
    profiler.sample(1200, 0, 7, &deep[1..]);
    profiler.define(1300);
    let mut log = LogBuilder::with_types(&types());
    log.block(CAP_0, (0, 2000), |log| {
        profiler.write(log);
        describe(log, 1400, MAIN, "main");
        describe(log, 1400, LOOP, "loop");
        log
    })
    .end();
    log
}

#[test]
fn stacks_of_all_versions_of_the_stack_profiler_are_the_same() {
    let main = "Main.main (A.hs:1:2)";
    let deep = format!(
        "{main} > run (src/Größe.hs:30:7) > Main.loop (A.hs:1:2) > step (src/Größe.hs:12:7)"
    );
    let expected = BTreeMap::from([
        (format!("{deep} > λ-Kalkül"), 9),
        (deep, 1),
        (format!("{main} > wait (src/Größe.hs:44:7)"), 9),
    ]);
    for version in Version::ALL {
        let session = session_of(&profiled(version).bytes).expect("a log");
        assert_eq!(
            stacks(&session, sources::STACK_SAMPLES),
            expected,
            "{version:?}"
        );
    }
}

/// Without messages that reveal the version, the order of frames is derived from split stacks, or from what stacks
/// have in common.
#[test]
fn the_order_of_frames_is_found_without_locations() {
    let tables = |addresses: &[u64]| addresses.iter().map(|&at| Table(at)).collect::<Vec<_>>();
    for version in [Version::First, Version::Middle] {
        // Three frames, split into two messages and in a single one.
        for part in [2, 10] {
            let mut profiler = Profiler::new(version, part);
            profiler.sample(100, 0, 7, &tables(&[3, 2, 1]));
            profiler.sample(200, 0, 7, &tables(&[4, 2, 1]));
            profiler.sample(300, 0, 7, &tables(&[3, 2, 1]));
            let mut log = LogBuilder::with_types(&types());
            log.block(CAP_0, (0, 2000), |log| {
                profiler.write(log);
                log
            })
            .end();
            let session = session_of(&log.bytes).expect("a log");
            let expected = [("0x1 > 0x2 > 0x3", 2), ("0x1 > 0x2 > 0x4", 1)];
            let expected = expected.map(|(stack, count)| (stack.to_owned(), count));
            let found = stacks(&session, sources::STACK_SAMPLES);
            assert_eq!(
                found,
                BTreeMap::from(expected),
                "{version:?} in parts of {part}"
            );
        }
    }
}

/// Thread 7 runs, is blocked, and waits for its capability; thread 9 samples it.
#[test]
fn samples_are_told_apart_by_the_state_of_their_thread() {
    let mut profiler = Profiler::new(Version::Last, 10);
    for (time, table) in [(150, 1), (250, 2), (350, 3), (450, 1)] {
        profiler.sample(time, 0, 7, &[Table(table), Table(MAIN)]);
    }
    let mut log = LogBuilder::with_types(&types());
    let mvar = 7;
    log.block(CAP_0, (0, 2000), |log| {
        log.event(0, 10, &[0, 0, 0, 7])
            .run(100, 7)
            .stop(200, 7, mvar)
            .event(8, 300, &[0, 0, 0, 7, 0, 0])
            .run(400, 7)
            .stop(500, 7, 5)
    });
    log.block(Some(1), (0, 2000), |log| {
        log.event(0, 10, &[0, 0, 0, 9]).run(20, 9);
        profiler.write(log);
        log.stop(600, 9, 5)
    })
    .end();
    let session = session_of(&log.bytes).expect("a log");
    let states = sources::by_name("stack-states").expect("a source");
    let expected = [
        ("blocked > MVar > 0x401000 > 0x2", 1),
        ("ready > 0x401000 > 0x3", 1),
        ("running > 0x401000 > 0x1", 2),
    ];
    let expected = expected.map(|(stack, count)| (stack.to_owned(), count));
    assert_eq!(stacks(&session, states), BTreeMap::from(expected));

    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &log.bytes).expect("written");
    let path = file.path().to_string_lossy();
    let arguments = ["flamegraph", &path, "--source", "stack-states"];
    let on_cpu = [
        "--format",
        "folded",
        "--measure",
        "samples",
        "--step",
        "focus:running",
    ];
    let output = eventscope(&[&arguments[..], &on_cpu].concat());
    let folded = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<&str> = folded.lines().collect();
    assert!(
        matches!(lines[..], [line] if line.ends_with(" 2")),
        "{folded}"
    );
}

/// Logs of GHC 10 contain ids of info tables, which must not be looked up as addresses in an executable.
#[test]
fn ids_of_info_tables_are_no_addresses() {
    let id = |index: u64| 1 << 32 | index;
    let log = |rts: &str, described: &[u64]| {
        let mut profiler = Profiler::new(Version::Last, 10);
        profiler.sample(100, 0, 7, &[Table(id(2)), Table(id(1))]);
        let mut log = LogBuilder::with_types(&types());
        log.block(CAP_0, (0, 2000), |log| {
            log.event(29, 1, &[&[0; 4][..], rts.as_bytes()].concat());
            profiler.write(log);
            for &index in described {
                describe(log, 200, id(index), &format!("f{index}"));
            }
            log
        })
        .end();
        log
    };
    // Executables of macOS use such addresses; an info table ends 16 bytes before its code.
    let nm = b"0000000100000011 T _base_GHCziBase_map_info\n0000000100000012 T _base_GHCziBase_id_info\n";
    for (rts, described) in [("GHC-10.0.1 rts_thr", &[][..]), ("", &[1][..])] {
        let mut session = session_of(&log(rts, described).bytes).expect("a log");
        assert_eq!(session.addresses().info_tables, [], "{rts}");
        let mut symbols = Symbols::read(Cursor::new(nm)).expect("symbols");
        let names = session.set_symbols(&mut symbols).expect("read");
        assert_eq!((names.named, names.failed), (0, true), "{}", names.text);
        let found = stacks(&session, sources::STACK_SAMPLES);
        assert!(
            found.keys().all(|stack| stack.ends_with("0x100000002")),
            "{found:?}"
        );

        // Another log of the same build provides the names.
        let mut tables = InfoTables::default();
        for index in [1, 2] {
            let texts = format!("t\x0016\0Int\0f{index}\0Main\0A.hs:1:2\0");
            let payload = [&id(index).to_be_bytes()[..], texts.as_bytes()].concat();
            tables.describe(&Event::decode(
                EventType::IPE,
                &payload,
                StopCodes::default(),
            ));
        }
        if described.is_empty() {
            let names = session.set_info_tables(&tables);
            assert!(!names.failed, "{}", names.text);
            let found = stacks(&session, sources::STACK_SAMPLES);
            let expected = "Main.f1 (A.hs:1:2) > Main.f2 (A.hs:1:2)";
            assert!(found.contains_key(expected), "{found:?}");
        }
    }
}

#[test]
fn tags_behind_a_colon_and_passes_of_ghc_are_spans() {
    let mut log = LogBuilder::with_types(&types());
    let messages = [
        (100, "START:load"),
        (120, "GHC:started: Parser [Data.Map]"),
        (130, "GHC:finished: Parser [Data.Map]"),
        (200, "END:load"),
        (300, "START load"),
        (400, "STOP load"),
    ];
    log.block(CAP_0, (0, 2000), |log| {
        log.event(0, 10, &[0, 0, 0, 7]).run(20, 7);
        for (time, text) in messages {
            log.event(19, time, text.as_bytes());
        }
        log.stop(600, 7, 5)
    })
    .end();
    let session = session_of(&log.bytes).expect("a log");
    let expected = [("load", 2), ("load > Data.Map.Parser", 1)];
    let found = stacks(&session, sources::SPANS);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, expected.map(|(stack, _)| stack), "{found:?}");
    let totals = session.recording().span_totals(None);
    let rows = totals.iter().flat_map(|window| &window.rows);
    let rows: Vec<_> = rows
        .map(|row| (row.name.as_str(), row.time.0, row.count))
        .collect();
    assert_eq!(rows, [("load", 200, 2), ("Parser", 10, 1)]);
    assert_eq!(SpanPrefixes::default().parse("STARTED:load"), None);
}

#[test]
fn threads_of_the_stack_profiler_are_not_of_the_program() {
    for (label, is_of_runtime) in [
        ("Sample Profiler Thread 3", true),
        ("Stack Sampler 1", true),
        ("TimerManager", true),
        ("Sampler", false),
    ] {
        assert_eq!(insight::is_runtime_label(label), is_of_runtime, "{label}");
    }
}
