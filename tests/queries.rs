//! Every kind of query, asked of every kind of log, undamaged or damaged, with random parameters. No answer
//! panics, and none depends on yielding or on the pieces in which the file is read. Tables have the same cells in
//! each format.

use crate::common;
use crate::common::asking;

use std::ops::Range;
use std::sync::LazyLock;

use analysis::numbers::collections_query::CollectionsQuery;
use analysis::ticky::TickyQuery;
use analysis::timeline::thread_table::ThreadTableQuery;
use asking::{Choices, open_and_ask};
use common::{fixture_cases, open};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value};
use session::Session;
use session::cells::RowFormat;
use session::heap::census_diff::CensusDiffQuery;
use session::heap::table::BandTableQuery;
use session::heap::tree::{ExpandedNodes, TreeQuery};
use session::tables::{TableQuery, TextQuery};

/// Maximum size of logs, as each is read many times.
const LARGEST: usize = 120_000;

static LOGS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let cases = fixture_cases().into_iter();
    let logs = cases.map(|case| (case.name.clone(), case.bytes()));
    let logs: Vec<_> = logs.filter(|(_, bytes)| bytes.len() <= LARGEST).collect();
    assert!(logs.len() >= 15, "{} fixtures", logs.len());
    logs
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_query_has_an_answer(
        log in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<Index>()),
        choices in prop::collection::vec(any::<u8>(), 0..1500),
    ) {
        let (_, whole) = log.get(&LOGS);
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        // Not every damaged log can be read.
        drop(open_and_ask(&bytes, &mut Choices::new(&choices)));
    }
}

#[test]
fn whole_logs_answer_everything() {
    // Arbitrary varying bytes, the same for all logs.
    let choices: Vec<u8> = (0..4000_u32).map(|i| (i * i / 7 + i * 31) as u8).collect();
    let mut read = 0;
    for (name, bytes) in LOGS.iter() {
        match open_and_ask(bytes, &mut Choices::new(&choices)) {
            Ok(session) => {
                assert!(session.is_complete(), "{name}");
                read += 1;
            }
            Err(error) => assert!(name.contains("cut-"), "{name}: {error}"),
        }
    }
    assert!(read >= 15, "only {read} logs were read");
}

/// Asserts that the rows of a table have the same cells in each format, and that parts of its text are the whole.
fn check_table<Q: TableQuery>(session: &Session, query: &Q) {
    let text = |rows: Range<u64>, format: RowFormat| {
        let query = query.clone().with_rows(rows);
        let text = session.ask(&TextQuery { query, format });
        text.unwrap_or_else(|| panic!("no {}", Q::TEXT_NAME))
    };
    let json = text(0..u64::MAX, RowFormat::Json) + RowFormat::Json.end();
    let rows: Vec<Map<String, Value>> = serde_json::from_str(&json).expect("JSON");
    assert!(rows.len() > 1, "{}", Q::TEXT_NAME);
    let tabs = text(0..u64::MAX, RowFormat::Tsv);
    let lines: Vec<Vec<&str>> = tabs
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(lines.len(), rows.len() + 1);
    for (row, line) in rows.iter().zip(&lines[1..]) {
        assert_eq!((row.len(), lines[0].len()), (line.len(), line.len()));
        for (name, cell) in lines[0].iter().zip(line) {
            let what = format!("{name} in {}", Q::TEXT_NAME);
            match &row[*name] {
                Value::Null => assert_eq!(*cell, "", "{what}"),
                Value::String(text) => assert_eq!(*cell, text.replace('\t', " "), "{what}"),
                number => {
                    let cell: f64 = cell.parse().expect("a number");
                    let number = number.as_f64().expect("a number");
                    // JSON is read with an error of its last digit.
                    assert!((cell - number).abs() <= 1e-12 * number.abs(), "{what}");
                }
            }
        }
    }
    let parts = text(0..1, RowFormat::Tsv) + &text(1..u64::MAX, RowFormat::Tsv);
    assert!(parts == tabs, "{}", Q::TEXT_NAME);
}

#[test]
fn tables_have_the_same_cells_in_each_format() {
    let log = open("ghc-9.6.6/fib-forkio-N2-l");
    check_table(&log, &ThreadTableQuery::default());
    check_table(
        &open("ghc-9.6.6/gc-heavy-N1-l"),
        &CollectionsQuery::default(),
    );
    let profile = open("ghc-9.10.3/prof-heap-N1-hc-l-au");
    check_table(&profile, &BandTableQuery::default());
    check_table(&profile, &CensusDiffQuery::default());
    let tree = TreeQuery {
        open: Some(ExpandedNodes::All),
        ..TreeQuery::default()
    };
    check_table(&profile, &tree);
    check_table(&open("ghc-9.10.3/ticky-lT"), &TickyQuery::default());
}
