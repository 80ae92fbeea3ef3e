//! Ticky counters: every number is recomputed from the reference's list of events, for whole logs and for parts of
//! them. Synthetic logs cover what real ones lack.

use crate::common;

use std::collections::BTreeMap;

use analysis::ticky::{Counts, Flaw, TickyColumn, TickyQuery, TickyTable};
use common::build::{LogBuilder, TYPES};
use common::{Case, eventscope, expected_coverage, fixture, for_all, session_of, stdout};
use eventlog::ids::Nanos;
use model::time::Interval;
use serde_json::Value as Json;
use session::Session;

const FIXTURE: &str = "ghc-9.10.3/ticky-lT";

/// Returns the value of a field in the reference's text of an event.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("{name} = "))?;
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn number(text: &str, name: &str) -> u64 {
    let value = field(text, name).unwrap_or_else(|| panic!("{name} in {text}"));
    value.parse().expect("a number")
}

/// Ticky data of a log according to the reference: (time, counter, counts) of the samples.
#[derive(Default)]
struct Reference {
    samples: Vec<(u64, u64, Counts)>,
    /// Arity and, if known, the number of free variables, by counter.
    definitions: BTreeMap<u64, (u64, Option<u64>)>,
    /// Bytes allocated since the start: time, capability, bytes.
    allocated: Vec<(u64, String, u64)>,
}

impl Reference {
    fn of(case: &Case) -> Option<Self> {
        let mut reference = Self::default();
        for line in case.reference("events.tsv.gz")?.lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let [time, cap, name, text, ..] = cells[..] else {
                continue;
            };
            let time = time.parse().expect("a time");
            match name {
                "TickyCounterSample" => {
                    let counts = Counts {
                        entries: number(text, "tickyCtrSampleEntryCount"),
                        allocs_bytes: number(text, "tickyCtrSampleAllocs"),
                        allocd_bytes: number(text, "tickyCtrSampleAllocd"),
                    };
                    let id = number(text, "tickyCtrSampleId");
                    reference.samples.push((time, id, counts));
                }
                "TickyCounterDef" => {
                    let free = text.split_once("fvs_c\\\\\":").map(|(_, rest)| {
                        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
                        digits.and_then(|it| it.parse().ok()).expect("a number")
                    });
                    let id = number(text, "tickyCtrDefId");
                    let arity = number(text, "tickyCtrDefArity");
                    reference.definitions.insert(id, (arity, free));
                }
                "HeapAllocated" => {
                    let bytes = number(text, "allocBytes");
                    reference.allocated.push((time, cap.to_owned(), bytes));
                }
                _ => {}
            }
        }
        Some(reference).filter(|it| !it.samples.is_empty() || !it.definitions.is_empty())
    }

    fn sums(&self, from: u64, to: u64) -> BTreeMap<u64, Counts> {
        let mut sums: BTreeMap<u64, Counts> = BTreeMap::new();
        for (time, id, counts) in &self.samples {
            if (from..to).contains(time) {
                let sum = sums.entry(*id).or_default();
                sum.entries += counts.entries;
                sum.allocs_bytes += counts.allocs_bytes;
                sum.allocd_bytes += counts.allocd_bytes;
            }
        }
        sums
    }

    /// Returns the bytes allocated by all capabilities before `to`, minus those before `from`.
    fn allocated(&self, from: u64, to: u64) -> Option<u64> {
        let until = |end: u64| {
            let mut last = BTreeMap::new();
            for (time, cap, bytes) in &self.allocated {
                if *time < end {
                    last.insert(cap, *bytes);
                }
            }
            last.values().sum::<u64>()
        };
        (!self.allocated.is_empty()).then(|| until(to) - until(from))
    }
}

fn close(ours: Option<f64>, theirs: Option<f64>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() <= 1e-9 * theirs.abs(),
        (ours, theirs) => ours == theirs,
    }
}

/// Compares the rows and sums of a range. Returns the number of rows.
fn compare(table: &TickyTable, theirs: &Reference, from: u64, to: u64) -> Result<usize, String> {
    let mut sums = theirs.sums(from, to);
    let counted: u64 = sums.values().map(|counts| counts.allocs_bytes).sum();
    let allocated = theirs.allocated(from, to);
    if table.allocated_bytes != allocated {
        return Err(format!("{:?} for {allocated:?}", table.allocated_bytes));
    }
    for row in &table.rows {
        let counts = sums.remove(&row.id).unwrap_or_default();
        let definition = theirs.definitions.get(&row.id);
        let count = definition.and_then(|(arity, free)| {
            let header = if *arity == 0 { 2 } else { 1 };
            Some(counts.allocd_bytes / ((header + (*free)?) * 8))
        });
        let ratio = |a: u64, b: u64| (b > 0).then(|| a as f64 / b as f64);
        let each = count.and_then(|count| ratio(counts.entries, count));
        let whole = allocated.filter(|all| counted <= *all);
        let share = whole.and_then(|all| ratio(counts.allocs_bytes, all));
        let equal = row.counts == counts
            && row.definition.is_some() == definition.is_some()
            && row.allocd_count() == count
            && close(row.entries_per_allocd(), each)
            && close(
                row.allocs_per_entry(),
                ratio(counts.allocs_bytes, counts.entries),
            )
            && close(table.share(row.counts.allocs_bytes), share);
        if !equal {
            return Err(format!("{row:?} of {table:?}: {counts:?}"));
        }
    }
    if sums.values().any(|counts| !counts.is_zero()) {
        return Err(format!("not listed: {sums:?}"));
    }
    let all = theirs
        .sums(from, to)
        .into_values()
        .fold(Counts::default(), Counts::plus);
    if table.all != all {
        return Err(format!("{:?} for {all:?}", table.all));
    }
    Ok(table.rows.len())
}

fn ask(session: &Session, range: Option<(u64, u64)>) -> TickyTable {
    session.ask(&TickyQuery {
        range: range.map(|(from, to)| Interval::new(Nanos(from), Nanos(to))),
        descending: true,
        rows: 0..u64::MAX,
        ..TickyQuery::default()
    })
}

#[test]
fn counters_are_those_of_the_reference() {
    for_all(expected_coverage([2, 200], [4, 206]), |case| {
        let Some(theirs) = Reference::of(case) else {
            return Ok(0);
        };
        let session = case.session();
        let end = session.overview().span.ok_or("no events")?.end().0;
        let mut rows = compare(&ask(&session, None), &theirs, 0, u64::MAX)?;
        for part in 0..10 {
            // Each cut divides a sample between its counters.
            let cut = |place: usize| theirs.samples.get(place).map_or(end, |sample| sample.0);
            let from = cut(part * theirs.samples.len() / 10) + part as u64 % 2;
            for to in [from, from + 1000, cut(part * 3), end - 1, end + 1] {
                let range = (from, to.max(from));
                rows += compare(&ask(&session, Some(range)), &theirs, range.0, range.1)?;
            }
        }
        Ok(rows)
    });
}

#[test]
fn the_parts_of_a_log_sum_up_to_it() {
    for_all(expected_coverage([2, 20], [4, 40]), |case| {
        let Some(session) = session_of(&case.bytes()).ok() else {
            return Ok(0);
        };
        let whole = ask(&session, None);
        let Some(span) = session.overview().span.filter(|_| whole.counters > 0) else {
            return Ok(0);
        };
        let (end, parts) = (span.end().0, 17);
        let mut all = Counts::default();
        let mut allocated = 0;
        for part in 0..parts {
            let range = (part * end / parts, (part + 1) * end / parts);
            let table = ask(&session, Some(range));
            all = all.plus(table.all);
            allocated += table.allocated_bytes.unwrap_or(0);
        }
        if (all, allocated) != (whole.all, whole.allocated_bytes.unwrap_or(0)) {
            return Err(format!("{all:?}, {allocated} for {whole:?}"));
        }
        Ok(parts as usize)
    });
}

#[test]
fn the_command_line_says_the_same() {
    let case = fixture(FIXTURE);
    let theirs = Reference::of(&case).expect("counters");
    let json: Json =
        serde_json::from_str(&stdout(&["ticky", case.path(), "--json"])).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), theirs.sums(0, u64::MAX).len());
    for row in rows {
        let counts = theirs.sums(0, u64::MAX)[&row["id"].as_u64().expect("a number")];
        assert_eq!(row["entries"], counts.entries);
        assert_eq!(row["allocs_bytes"], counts.allocs_bytes);
        assert_eq!(row["allocd_bytes"], counts.allocd_bytes);
        assert_eq!(
            row["module"],
            if row["name"] == ":Main.main{v 01D} (fun)" {
                ":Main"
            } else {
                "Main"
            }
        );
    }
    assert_eq!(
        json["allocated_bytes"],
        theirs.allocated(0, u64::MAX).expect("told")
    );

    let arguments = [
        "--tsv",
        "--header",
        "--sort",
        "entries",
        "--limit",
        "2",
        "--filter",
        "kind:function",
    ];
    let tsv = stdout(&[&["ticky", case.path()], &arguments[..]].concat());
    let cells: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(cells.len(), 3, "{tsv}");
    assert_eq!(cells[0][..3], ["id", "name", "kind"]);
    assert_eq!(cells[1][1], "$wcollatz{v r2Pd} (Main) (fun)");
    assert!(cells.iter().all(|row| row.len() == cells[0].len()), "{tsv}");

    let table = stdout(&["ticky", case.path(), "--reverse", "--filter", "allocs>1M"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[1].contains("16.00") && lines[1].ends_with("sat_s2Px{v} (Main) (thk) in s2Pt"));
    assert!(
        lines[2].contains("54.61 %") && lines[2].contains("10500.00"),
        "{table}"
    );
    assert!(lines[3].ends_with("2 counters, 3 samples"), "{table}");

    let csv = stdout(&["ticky", case.path(), "--csv", "--from", "0", "--to", "1"]);
    assert_eq!(csv, "");
    assert_eq!(
        eventscope(&["ticky", case.path(), "--sort", "colour"])
            .status
            .code(),
        Some(2)
    );
    let without = eventscope(&["ticky", fixture("ghc-9.6.6/fib-forkio-N2-l").path()]);
    assert_eq!(without.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&without.stderr).contains("-ticky"),
        "{without:?}"
    );
}

#[test]
fn what_one_ghc_adds_to_the_entries_is_said() {
    let flaw = |name: &str| ask(&fixture(name).session(), None).flaw();
    assert_eq!(flaw("ghc-9.6.6/ticky-la"), Some(Flaw::EntriesHoldBytes));
    assert_eq!(flaw(FIXTURE), None);
    let output = eventscope(&["ticky", fixture("ghc-9.6.6/ticky-la").path()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("GHC 9.6"),
        "{said}"
    );
}

/// Builder of logs with only counters.
struct TickyLogBuilder(LogBuilder);

impl TickyLogBuilder {
    fn new() -> Self {
        let mut types = TYPES.to_vec();
        types.extend([
            (210, None, "Ticky-ticky entry counter definition"),
            (211, Some(32), "Ticky-ticky entry counter sample"),
            (212, Some(0), "Ticky-ticky entry counter begin sample"),
        ]);
        Self(LogBuilder::with_types(&types))
    }

    fn counter(&mut self, time: u64, id: u64, numbers: [u64; 3]) -> &mut Self {
        let numbers = [id].into_iter().chain(numbers);
        let payload: Vec<u8> = numbers.flat_map(u64::to_be_bytes).collect();
        self.0.event(211, time, &payload);
        self
    }

    fn define(&mut self, time: u64, id: u64, arity: u16, rest: &[u8]) -> &mut Self {
        let payload = [&id.to_be_bytes()[..], &arity.to_be_bytes(), rest].concat();
        self.0.event(210, time, &payload);
        self
    }

    fn table(&mut self) -> TickyTable {
        ask(&session_of(&self.0.end().bytes).expect("a log"), None)
    }
}

#[test]
fn definitions_of_all_versions_are_read() {
    let mut log = TickyLogBuilder::new();
    log.define(1, 1, 2, b"Li\0f{v r1} (M) (fun)\0");
    log.define(2, 2, 1, b"i\0M.g{v r2} (fun)\0\0\0\0\0\0\0\x10\0");
    log.define(3, 3, 0, b"\0t{v s3} (M) (thk) in r1\0\0\0\0\0\0\0\0\0{\"subTy\":\"thk_u\",\"fvs_c\":2,\"fvs\":\"Ii\"}\0");
    log.define(4, 4, 0, b"\0x (M) (fun)\0\0\0\0\0\0\0\0\0no JSON\0");
    log.counter(5, 3, [7, 10, 65]);
    let table = log.table();
    let rows = [1, 2, 3, 4].map(|id| table.rows.iter().find(|row| row.id == id).expect("a row"));
    let facts = rows.map(|row| {
        let definition = row.definition.as_ref().expect("a definition");
        (
            row.short_name(),
            row.module(),
            definition.info_table,
            definition.free_variables(),
        )
    });
    assert_eq!(facts[0], ("f".to_owned(), Some("M"), None, None));
    assert_eq!(facts[1], ("g".to_owned(), Some("M"), Some(0x1000), None));
    assert_eq!(facts[2], ("t".to_owned(), Some("M"), None, Some("Ii")));
    assert_eq!(facts[3], ("x".to_owned(), Some("M"), None, None));
    let parent = rows[2]
        .parent
        .as_ref()
        .map(|parent| (parent.id, parent.name.as_str()));
    assert_eq!(parent, Some((1, "f")));
    assert_eq!(
        (rows[2].allocd_count(), rows[2].entries_per_allocd()),
        (Some(2), Some(3.5))
    );
    assert_eq!(
        (rows[0].allocd_count(), rows[0].allocs_per_entry()),
        (None, None)
    );
    assert_eq!((table.allocated_bytes, table.share(10)), (None, None));
}

#[test]
fn info_tables_say_module_and_place() {
    let mut log = TickyLogBuilder::new();
    let texts = b"sat_s1_info\x0015\0Int\0outer.x\0Lib.Real\0src/Real.hs:3:4-9\0";
    log.0
        .event(169, 1, &[&0x1000_u64.to_be_bytes()[..], texts].concat());
    log.define(2, 1, 0, b"\0sat_s1{v} (M) (thk)\0\0\0\0\0\0\0\x10\0{}\0");
    log.define(2, 2, 1, b"i\0M.g{v r2} (fun)\0\0\0\0\0\0\0\x20\0{}\0");
    let table = log.table();
    let row = |id| table.rows.iter().find(|row| row.id == id).expect("a row");
    let info = row(1).info.as_ref().expect("a description");
    assert_eq!(info.name, "Lib.Real.outer.x");
    assert_eq!(info.place, "src/Real.hs:3:4-9");
    assert_eq!(info.type_, "Int");
    assert_eq!(
        (row(1).module(), row(1).enclosing_name()),
        (Some("Lib.Real"), Some("outer.x"))
    );
    assert_eq!((row(2).module(), row(2).info.as_ref()), (Some("M"), None));
    let session = session_of(&log.0.bytes).expect("a log");
    assert_eq!(
        session
            .ask(&TickyQuery {
                filter: "module=Lib".to_owned(),
                ..TickyQuery::default()
            })
            .total,
        0
    );
    for filter in [
        "place:real.hs",
        "module:lib",
        "module=Lib.Real",
        "outer",
        "real kind:thunk",
    ] {
        let query = TickyQuery {
            filter: filter.to_owned(),
            rows: 0..9,
            ..TickyQuery::default()
        };
        let ids: Vec<u64> = session.ask(&query).rows.iter().map(|row| row.id).collect();
        assert_eq!(ids, [1], "{filter}");
    }
}

#[test]
fn counters_without_a_definition_count_under_their_number() {
    let mut log = TickyLogBuilder::new();
    log.counter(10, 99, [1, 2, 3])
        .counter(20, 99, [4, 5, 6])
        .counter(20, 7, [1, 1, 1]);
    let table = log.table();
    assert_eq!(table.rows[0].short_name(), "counter 99");
    assert_eq!(
        table.rows[0].counts,
        Counts {
            entries: 5,
            allocs_bytes: 7,
            allocd_bytes: 9
        }
    );
    assert_eq!((table.total, table.counters, table.samples), (2, 2, 0));
    let session = session_of(&log.0.bytes).expect("a log");
    let filtered = session.ask(&TickyQuery {
        filter: "99".to_owned(),
        rows: 0..9,
        ..TickyQuery::default()
    });
    assert_eq!(filtered.total, 1);
}

#[test]
fn names_without_numbers_are_listed_and_said_to_be_that() {
    let mut log = TickyLogBuilder::new();
    log.define(1, 1, 2, b"Li\0f{v r1} (M) (fun)\0");
    let table = log.table();
    assert_eq!((table.total, table.flaw()), (1, Some(Flaw::NoCounts)));
    assert_eq!(table.all, Counts::default());
}

#[test]
fn rows_come_in_the_order_of_any_column() {
    let session = fixture(FIXTURE).session();
    for sort in TickyColumn::ALL {
        let rows = |descending: bool, rows| {
            let query = TickyQuery {
                sort,
                descending,
                rows,
                ..TickyQuery::default()
            };
            session.ask(&query).rows
        };
        let all = rows(true, 0..u64::MAX);
        assert_eq!(all.len(), 13);
        // Any window is that part of all rows.
        assert_eq!(rows(true, 4..9), all[4..9], "{sort:?}");
        assert_eq!(rows(true, 12..40), all[12..], "{sort:?}");
        assert_eq!(rows(true, 40..50), [], "{sort:?}");
        // Missing values come last in both directions.
        let last = rows(false, 12..13);
        if sort == TickyColumn::EntriesPerAllocd {
            assert_eq!(last[0].entries_per_allocd(), None);
            assert_eq!(all[12].entries_per_allocd(), None);
            assert_eq!(all[0].entries_per_allocd(), Some(10_500.0));
        }
    }
}

#[test]
fn no_share_of_a_truncated_log_exceeds_the_whole() {
    let mut shares = 0;
    for case in common::fixture_cases() {
        let bytes = case.bytes();
        let whole = session_of(&bytes).map(|session| session.ask(&TickyQuery::default()));
        if !whole.is_ok_and(|table| table.counters > 0) {
            continue;
        }
        for parts in 1..=64 {
            let Ok(session) = session_of(&bytes[..bytes.len() * parts / 64]) else {
                continue;
            };
            let table = session.ask(&TickyQuery {
                rows: 0..u64::MAX,
                ..TickyQuery::default()
            });
            let rows = table.rows.iter().map(|row| row.counts.allocs_bytes);
            for bytes in rows.chain([table.all.allocs_bytes]) {
                let share = table.share(bytes).unwrap_or(0.0);
                assert!(share <= 1.0, "{} {parts}/64: {share}", case.name);
                shares += usize::from(share > 0.0);
            }
        }
    }
    assert!(shares > 0, "some shares are known");
}
