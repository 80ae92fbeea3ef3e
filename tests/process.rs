//! Information about the process and the log, compared with dumps of `ghc-events` and with synthetic logs.

use crate::common;

use analysis::diagnostics::Severity;
use analysis::process::{Change, Process};
use common::build::{LogBuilder, TYPES};
use common::show::{HaskellValue, parse, unescape};
use common::{Case, Tally, cases, expected_coverage, session_of};
use eventlog::ids::{ByteOffset, CapId};
use session::Session;
use views::words::diagnostics::line;

type Fields = Vec<(String, HaskellValue)>;

/// Events of a reference: time, name, fields.
struct Reference(Vec<(u64, String, Fields)>);

impl Reference {
    fn of(case: &Case) -> Option<Self> {
        let text = case.reference("events.tsv.gz")?;
        let event = |row: &str| {
            let columns: Vec<&str> = row.split('\t').collect();
            let fields = match parse(&unescape(columns.get(3)?))? {
                HaskellValue::Record(_, fields) => fields,
                _ => Vec::new(),
            };
            let (time, name) = (columns[0].parse().ok()?, columns[2].to_owned());
            Some((time, name, fields))
        };
        let event = |row| event(row).unwrap_or_else(|| panic!("{}: {row}", case.name));
        let events: Vec<_> = text.lines().map(event).collect();
        (!events.is_empty()).then_some(Self(events))
    }

    fn named<'a>(
        &'a self,
        name: &'a str,
    ) -> impl DoubleEndedIterator<Item = (u64, &'a [(String, HaskellValue)])> {
        let events = self.0.iter().filter(move |(_, other, _)| other == name);
        events.map(|(time, _, fields)| (*time, &fields[..]))
    }

    /// Returns a field of the last event with that name.
    fn last(&self, name: &str, field: &str) -> Option<&HaskellValue> {
        let mut events = self.0.iter().rev();
        let (_, _, fields) = events.find(|(_, other, _)| other == name)?;
        let mut fields = fields.iter();
        fields
            .find(|(name, _)| name == field)
            .map(|(_, value)| value)
    }

    fn number(&self, name: &str, field: &str) -> Option<u64> {
        match self.last(name, field)? {
            HaskellValue::Number(number) => Some(*number),
            other => panic!("{other:?} is no number"),
        }
    }

    fn texts(&self, name: &str, field: &str) -> Vec<String> {
        let text = |shown: &HaskellValue| match shown {
            HaskellValue::Text(text) => text.clone(),
            other => panic!("{other:?} is no text"),
        };
        match self.last(name, field) {
            Some(HaskellValue::List(texts)) => texts.iter().map(text).collect(),
            _ => Vec::new(),
        }
    }
}

fn changes(reference: &Reference) -> Vec<(u64, u64, Change)> {
    let kinds = [
        ("CapCreate", Change::Created),
        ("CapDelete", Change::Deleted),
        ("CapEnable", Change::Enabled),
        ("CapDisable", Change::Disabled),
    ];
    let mut changes = Vec::new();
    for (name, change) in kinds {
        for (time, fields) in reference.named(name) {
            let Some((_, HaskellValue::Number(cap))) = fields.first() else {
                panic!("{name} has a capability");
            };
            changes.push((time, *cap, change));
        }
    }
    changes.sort_by_key(|(time, cap, _)| (*time, *cap));
    changes
}

fn compare(case: &Case, reference: &Reference, process: &Process, session: &Session) {
    let name = &case.name;
    let mut args = reference.texts("ProgramArgs", "args");
    if !args.is_empty() {
        let program = args.remove(0);
        assert_eq!(process.program, Some(program), "{name}");
        assert_eq!(process.arguments, args, "{name}");
    }
    let pid = reference.number("OsProcessPid", "pid");
    assert_eq!(process.pid.map(u64::from), pid, "{name}");
    let parent = reference.number("OsProcessParentPid", "ppid");
    assert_eq!(process.parent_pid.map(u64::from), parent, "{name}");

    let mut environment = reference.texts("ProgramEnv", "env");
    environment.sort();
    let mut ours: Vec<String> = session
        .environment()
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    ours.sort();
    assert_eq!(ours, environment, "{name}");
    assert_eq!(process.environment_count, environment.len() as u64);

    let clock = reference
        .named("WallClockTime")
        .next_back()
        .map(|(time, _)| {
            let seconds = reference.number("WallClockTime", "sec").expect("seconds");
            let rest = reference
                .number("WallClockTime", "nsec")
                .expect("nanoseconds");
            i128::from(seconds) * 1_000_000_000 + i128::from(rest) - i128::from(time)
        });
    let started = process.started.map(|started| {
        i128::from(started.seconds) * 1_000_000_000 + i128::from(started.nanoseconds)
    });
    assert_eq!(started, clock, "{name}");

    let mut ours: Vec<_> = process
        .capability_changes
        .iter()
        .map(|change| (change.at.0, u64::from(change.cap.0), change.change))
        .collect();
    ours.sort_by_key(|(time, cap, _)| (*time, *cap));
    assert_eq!(ours, changes(reference), "{name}");

    let heap = |field| reference.number("HeapInfoGHC", field);
    let settings = process.heap;
    assert_eq!(
        settings.map(|heap| u64::from(heap.generations)),
        heap("gens"),
        "{name}"
    );
    assert_eq!(
        settings.map(|heap| heap.max_heap_bytes.unwrap_or(0)),
        heap("maxHeapSize"),
        "{name}"
    );
    assert_eq!(
        settings.map(|heap| heap.allocation_area_bytes),
        heap("allocAreaSize"),
        "{name}"
    );
    assert_eq!(
        settings.map(|heap| heap.megablock_bytes),
        heap("mblockSize"),
        "{name}"
    );
    assert_eq!(
        settings.map(|heap| heap.block_bytes),
        heap("blockSize"),
        "{name}"
    );
    let capsets = reference.named("CapsetCreate").count();
    assert_eq!(process.capsets.len(), capsets, "{name}");
}

/// Logs that `ghc-events` cannot read, or not completely.
const NOT_COMPARED: &[&str] = &[
    "ghc-9.0.2/cut-in-header",
    "ghc-9.0.2/relog-N2-l",
    "ghc-events/mandelbrot-mmc-2011-06-14",
    "ghc-events/queens-ghc-6.12.1",
    "ghc-events/testlog-part",
];

#[test]
fn processes_agree_with_the_reference() {
    let mut tally = Tally::default();
    for case in cases() {
        if NOT_COMPARED.contains(&case.name.as_str()) {
            continue;
        }
        let Some(reference) = Reference::of(&case) else {
            continue;
        };
        let session = session_of(&case.bytes()).expect("a log");
        compare(&case, &reference, &session.process(), &session);
        tally.add(&case, reference.0.len());
    }
    tally.finish(expected_coverage([39, 61390], [135, 645163]));
}

/// Sizes of event types match the bytes in the file.
#[test]
fn types_have_their_bytes() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (0, 100), |log| {
        log.run(5, 7).stop(6, 7, 3).event(19, 7, b"hello")
    })
    .end();
    let process = session_of(&log.bytes).expect("a log").process();
    let types: Vec<_> = process
        .types
        .iter()
        .map(|t| (t.id, t.count, t.bytes, t.declared_bytes))
        .collect();
    assert_eq!(
        types,
        [(1, 1, 14, Some(4)), (2, 1, 20, Some(10)), (19, 1, 17, None)]
    );
}

/// Diagnostics are ordered by time and have their position in the file.
#[test]
fn diagnostics_have_their_places() {
    let types = [TYPES, &[(250, Some(1), "Something new")]].concat();
    let mut log = LogBuilder::with_types(&types);
    let mut damaged = 0;
    log.block(Some(0), (0, 1000), |log| {
        log.event(9, 10, &[]).event(9, 20, &[]).event(10, 30, &[]);
        log.event(19, 40, b"late").event(10, 35, &[]);
        log.event(250, 50, &[1]);
        damaged = log.bytes.len() as u64;
        log.raw(&[0x7F; 33]);
        log.event(0, 60, &[0, 0, 0, 8]).run(70, 7).event(9, 80, &[])
    })
    .end();
    let session = session_of(&log.bytes).expect("a log");
    let process = session.process();
    let cap = Some(CapId(0));
    let diagnostics = &process.diagnostics;
    let rows: Vec<_> = diagnostics
        .kept()
        .iter()
        .map(|one| (one.rule().name(), one.start().map(|at| at.0), one.cap))
        .collect();
    assert_eq!(
        rows,
        [
            ("gc-start-repeated", Some(20), cap),
            ("gc-end-without-start", Some(35), cap),
            ("times-go-back", Some(35), None),
            ("undeclared-type", Some(50), cap),
            ("open-run", Some(70), cap),
            ("open-collection", Some(80), cap),
            ("unfinished-threads", Some(80), None),
            ("unknown-type", None, None),
        ],
        "{diagnostics:#?}"
    );
    assert_eq!(diagnostics.count(Severity::Note), 8);
    assert_eq!(diagnostics.kept()[3].offset, Some(ByteOffset(damaged)));
    let overview = session.overview();
    let told: Vec<String> = overview.warnings.iter().map(line).collect();
    assert_eq!(
        told,
        [
            format!(
                "event type 32639 is not declared in the header; 33 bytes were skipped (byte {damaged})"
            ),
            "a collection begins during another (capability 0)".to_owned(),
            "a collection ends that had not begun (capability 0)".to_owned(),
        ]
    );
    assert_eq!(overview.warning_count, 3);
}
