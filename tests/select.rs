//! `--from`, `--to`, `--thread` and `--cap` select exactly the rows described in the help, in the output of every
//! command; moves in the lifecycle of threads.

use crate::common;

use std::collections::BTreeMap;
use std::io::Write;

use common::build::LogBuilder;
use common::{Case, fixture_cases, stdout};
use serde_json::Value as Json;

const ANALYSES: [&[&str]; 6] = [
    &["gc"],
    &["mutator"],
    &["mutator", "--by", "cap"],
    &["thread-state"],
    &["capability-usage"],
    &["thread-lifecycle"],
];

fn json(arguments: &[&str]) -> Vec<Json> {
    let text = stdout(&[arguments, &["--json"]].concat());
    // Nothing is printed for a file that is not an eventlog.
    serde_json::from_str(&text).unwrap_or_default()
}

fn lines(arguments: &[&str]) -> Vec<Json> {
    let text = stdout(&[arguments, &["--json"]].concat());
    let line = |line| serde_json::from_str(line).expect("an object");
    text.lines().map(line).collect()
}

fn number(row: &Json, key: &str) -> u64 {
    row[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

/// Returns the end of one run, the start of a later one, and the busiest thread.
fn parts(case: &Case) -> Option<(u64, u64, u64)> {
    let runs = json(&["spans", case.path(), "mutator"]);
    let mut count: BTreeMap<u64, usize> = BTreeMap::new();
    for run in &runs {
        *count.entry(number(run, "thread")).or_default() += 1;
    }
    let thread = *count.iter().max_by_key(|(_, count)| **count)?.0;
    // Use the ends of spans, to test whether a range includes its ends.
    let from = number(&runs[runs.len() / 3], "end");
    let to = number(&runs[runs.len() * 2 / 3], "start");
    (from < to).then_some((from, to, thread))
}

#[test]
fn spans_are_those_that_reach_into_the_range() {
    let (mut all, mut selected) = (0, 0);
    for case in fixture_cases() {
        let Some((from, to, thread)) = parts(&case) else {
            continue;
        };
        let in_range = |row: &Json| {
            let (start, end) = (number(row, "start"), number(row, "end"));
            start < to && end > from || start == end && (from..to).contains(&start)
        };
        let [from, to, id] = [from, to, thread].map(|number| number.to_string());
        let range = ["--from", &from, "--to", &to];
        for analysis in ANALYSES {
            let command = [&["spans", case.path()], analysis].concat();
            let whole = json(&command);
            let expected: Vec<&Json> = whole.iter().filter(|row| in_range(row)).collect();
            let ours = json(&[&command[..], &range].concat());
            assert!(
                ours.iter().eq(expected.iter().copied()),
                "{} {analysis:?}",
                case.name
            );
            (all, selected) = (all + whole.len(), selected + ours.len());
            if analysis != ["gc"] {
                let ours = json(&[&command[..], &range, &["--thread", &id]].concat());
                let is_of = |row: &&Json| row["thread"] == thread;
                let expected = expected.into_iter().filter(is_of);
                assert!(ours.iter().eq(expected), "{} {analysis:?} {id}", case.name);
                selected += ours.len();
            }
        }
    }
    assert!(
        all > 10_000 && selected > 3000 && selected < all,
        "{all} {selected}"
    );
}

/// Migration of a waiting thread: thread, time, source, destination.
type Move = (u64, u64, Option<u64>, u64);

/// Returns the migrations of waiting threads, from the list of events.
fn moves(case: &Case) -> Vec<Move> {
    let mut waits: BTreeMap<u64, bool> = BTreeMap::new();
    let mut finished: BTreeMap<u64, bool> = BTreeMap::new();
    let mut moves = Vec::new();
    for event in lines(&["events", case.path()]) {
        let Some(thread) = event["thread"].as_u64() else {
            continue;
        };
        if finished.contains_key(&thread) {
            continue;
        }
        match event["name"].as_str() {
            Some("CreateThread") => {
                waits.entry(thread).or_insert(true);
            }
            Some("RunThread") => {
                waits.insert(thread, false);
            }
            Some("StopThread") if waits.contains_key(&thread) => {
                waits.insert(thread, true);
                if event["status"] == "ThreadFinished" {
                    finished.insert(thread, true);
                }
            }
            Some("MigrateThread") if waits.get(&thread) == Some(&true) => {
                let from = event["cap"].as_u64();
                moves.push((
                    thread,
                    number(&event, "time"),
                    from,
                    number(&event, "newCap"),
                ));
            }
            _ => {}
        }
    }
    moves
}

#[test]
fn the_lifecycle_has_the_moves_of_threads_that_wait() {
    let mut found = 0;
    for case in fixture_cases()
        .iter()
        .filter(|case| case.name.starts_with("ghc-9.6.6"))
    {
        let rows = json(&["spans", case.path(), "thread-lifecycle"]);
        let (marks, spans): (Vec<_>, Vec<_>) =
            rows.iter().partition(|row| row["category"] == "Migrated");
        let mut ours: Vec<Move> = Vec::new();
        for mark in marks {
            let (thread, at) = (number(mark, "thread"), number(mark, "start"));
            assert_eq!(number(mark, "end"), at);
            ours.push((thread, at, mark["cap"].as_u64(), number(mark, "to")));
            let holds = |span: &&&Json| {
                let inside = number(span, "start") <= at && at <= number(span, "end");
                span["thread"] == thread && span["category"] == "Blocked" && inside
            };
            assert!(
                spans.iter().any(|span| holds(&span)),
                "{mark} is inside a wait"
            );
        }
        let mut theirs = moves(case);
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{}", case.name);
        found += ours.len();
    }
    assert!(found > 20, "{found}");
}

#[test]
fn events_of_a_thread_are_about_it_or_happen_while_it_runs() {
    let (mut about_it, mut while_it_ran) = (0, 0);
    for case in fixture_cases()
        .iter()
        .filter(|case| case.name.starts_with("ghc-9.6.6"))
    {
        let Some((_, _, thread)) = parts(case) else {
            continue;
        };
        let id = thread.to_string();
        let runs = json(&["spans", case.path(), "mutator", "--thread", &id]);
        let all = lines(&["events", case.path()]);
        let ours = lines(&["events", case.path(), "--thread", &id]);
        let about = |row: &Json| row["thread"].as_u64();
        for row in &ours {
            if let Some(other) = about(row) {
                assert_eq!(other, thread, "{row}");
                about_it += 1;
                continue;
            }
            let (time, cap) = (number(row, "time"), &row["cap"]);
            let ran = runs.iter().any(|run| {
                run["cap"] == *cap && number(run, "start") <= time && time <= number(run, "end")
            });
            assert!(ran, "{row}");
            while_it_ran += 1;
        }
        let expected = all.iter().filter(|row| about(row) == Some(thread)).count();
        let found = ours.iter().filter(|row| about(row) == Some(thread)).count();
        assert_eq!(found, expected, "{}", case.name);
    }
    assert!(
        about_it > 500 && while_it_ran > 100,
        "{about_it} {while_it_ran}"
    );
}

/// A range of events includes its start and excludes its end, as everywhere.
#[test]
fn events_are_those_in_the_range() {
    let case = common::fixture("ghc-9.6.6/ffi-safe-N2-la");
    let all = lines(&["events", case.path()]);
    let (from, to) = (number(&all[100], "time"), number(&all[250], "time"));
    let ours = lines(&[
        "events",
        case.path(),
        "--from",
        &from.to_string(),
        "--to",
        &to.to_string(),
    ]);
    let expected = all
        .iter()
        .filter(|row| (from..to).contains(&number(row, "time")));
    assert!(ours.iter().eq(expected));
    assert!(ours.len() > 100, "{}", ours.len());
}

/// A log with one anomaly for each analysis.
#[test]
fn only_what_concerns_the_analysis_is_told() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 1000), |b| {
        b.event(10, 10, &[]) // a collection ends without a start
            .stop(20, 5, 1) // thread 5 did not run
            .run(30, 6)
            .run(40, 7) // while thread 6 is running
            .stop(50, 6, 5)
    });
    let name = format!("eventscope-odd-{}.eventlog", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut file = std::fs::File::create(&path).expect("a file");
    file.write_all(&log.end().bytes).expect("written");
    let path = path.to_str().expect("UTF-8");
    let told = |more: &[&str]| -> Vec<&str> {
        let output = common::eventscope(&[&["spans", path], more].concat());
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        let kinds = ["a collection ends", "thread 5 stops", "thread 7 runs"];
        assert_eq!(
            said.lines().filter(|line| !line.contains(": no ")).count(),
            kinds.iter().filter(|kind| said.contains(**kind)).count(),
            "{said}"
        );
        kinds
            .into_iter()
            .filter(|kind| said.contains(kind))
            .collect()
    };
    let (gc, state, cap) = ("a collection ends", "thread 5 stops", "thread 7 runs");
    assert_eq!(told(&["gc"]), [gc]);
    assert_eq!(told(&["thread-state"]), [state]);
    assert_eq!(told(&["thread-lifecycle"]), [state]);
    assert_eq!(told(&["mutator"]), [state]);
    assert_eq!(told(&["mutator", "--by", "cap"]), [cap]);
    assert_eq!(told(&["capability-usage"]), [gc, state]);
    assert_eq!(told(&["thread-state", "--thread", "6"]), [""; 0]);
    assert_eq!(told(&["capability-usage", "--from", "15"]), [state]);
    std::fs::remove_file(path).expect("it is there");
}

/// Only migrations of a waiting thread are marked.
#[test]
fn moves_of_a_running_thread_are_no_marks() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 1000), |b| {
        let moved = |to: u8| [0, 0, 0, 6, 0, to];
        b.event(0, 10, &[0, 0, 0, 6])
            .event(4, 20, &moved(1))
            .run(30, 6)
            .event(4, 40, &moved(2))
            .stop(50, 6, 3)
            .event(4, 60, &moved(3))
    });
    let name = format!("eventscope-moves-{}.eventlog", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, &log.end().bytes).expect("a file");
    let rows = stdout(&["spans", path.to_str().expect("UTF-8"), "thread-lifecycle"]);
    std::fs::remove_file(path).expect("it is there");
    let expected = [
        "6\tMigrated\t0\t\t20\t20\t\t1\t",
        "6\tBlocked\t\tcreated\t10\t30\t\t\t",
        "6\tRunning\t0\t\t30\t50\t\t\t",
        "6\tMigrated\t0\t\t60\t60\t\t3\t",
        "6\tBlocked\t\tThreadYielding\t50\t60\topen\t\t",
    ];
    assert_eq!(rows.lines().collect::<Vec<_>>(), expected);
}
