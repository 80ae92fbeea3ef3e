//! Comparison of the flame graphs of two logs, on the command line and by the worker's queries.

use crate::common;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use common::{eventscope, session_at, stdout};
use model::profile::stack_source::{FlameSelection, OtherLog};
use serde_json::Value;
use session::Session;
use session::flame::query::{FlameBoxes, FlameHead, FlameQuery, FlameTableQuery, View};
use session::query::{Host, LocalBoxFuture, NoYield, Unreadable, Yield};

const NOW: &str = "tests/fixtures/logs/ghc-9.6.6/prof-time-N1-p-l-au.eventlog";
const BEFORE: &str = "tests/fixtures/logs/ghc-9.10.3/prof-time-N2-pj-l.eventlog";

/// Returns the weights of each frame: self before, self now, total before, total now.
fn rows(words: &[&str]) -> BTreeMap<String, [f64; 4]> {
    let words: Vec<&str> = ["flamegraph", "--json"]
        .iter()
        .chain(words)
        .copied()
        .collect();
    let rows: Value = serde_json::from_str(&stdout(&words)).expect("JSON");
    let row = |row: &Value| {
        let columns = ["self_before", "self", "total_before", "total"];
        let weights = columns.map(|column| row[column].as_f64().unwrap_or_default());
        (
            row["frame"].as_str().unwrap_or_default().to_owned(),
            weights,
        )
    };
    rows.as_array().into_iter().flatten().map(row).collect()
}

#[test]
fn each_side_is_what_its_log_has_alone() {
    let both = rows(&[NOW, "--compare", BEFORE]);
    let (now, before) = (rows(&[NOW]), rows(&[BEFORE]));
    assert!(now.len() > 5 && before.len() > 5);
    for (frame, [own_before, own, total_before, total]) in &both {
        let alone = |of: &BTreeMap<String, [f64; 4]>| {
            of.get(frame).map_or((0.0, 0.0), |row| (row[1], row[3]))
        };
        assert_eq!((*own, *total), alone(&now), "{frame}");
        assert_eq!((*own_before, *total_before), alone(&before), "{frame}");
    }
    for frame in now.keys().chain(before.keys()) {
        assert!(both.contains_key(frame), "{frame}");
    }
}

#[test]
fn a_log_beside_itself_is_the_same_and_swapped_sides_are_mirrored() {
    for (_, [own_before, own, total_before, total]) in rows(&[NOW, "--compare", NOW]) {
        assert_eq!((own_before, total_before), (own, total));
    }
    let (forth, back) = (
        rows(&[NOW, "--compare", BEFORE]),
        rows(&[BEFORE, "--compare", NOW]),
    );
    for (frame, [a, b, c, d]) in &forth {
        assert_eq!(back.get(frame), Some(&[*b, *a, *d, *c]), "{frame}");
    }
}

#[test]
fn shares_are_those_of_each_log() {
    let shares = rows(&[NOW, "--compare", BEFORE, "--shares"]);
    for side in [0, 1] {
        let sum: f64 = shares.values().map(|row| row[side]).sum();
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    }
    let now = rows(&[NOW]);
    let all: f64 = now.values().map(|row| row[1]).sum();
    for (frame, row) in now {
        assert!((shares[&frame][1] - row[1] / all).abs() < 1e-5, "{frame}");
    }
}

/// Host of a worker that has another log open.
struct OtherLogHost(Rc<Session>);

impl Yield for OtherLogHost {
    fn is_due(&self) -> bool {
        false
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        NoYield.yield_now()
    }
}

impl Host for OtherLogHost {
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        NoYield.read(range)
    }

    fn other_log(&self, log: u32) -> Option<Rc<Session>> {
        (log == 7).then(|| Rc::clone(&self.0))
    }
}

/// The worker's answers about two open logs equal those of the command line, whichever of the two is asked.
#[test]
fn two_open_logs_are_asked_as_one() {
    let [now, before] = [NOW, BEFORE].map(|path| Rc::new(session_at(path)));
    let choice = |log, is_after, shares| FlameSelection {
        other: Some(OtherLog {
            log,
            range: None,
            is_after,
            shares,
        }),
        ..FlameSelection::default()
    };
    let query = |choice| FlameTableQuery {
        choice,
        steps: Vec::new(),
    };
    let expected = rows(&[NOW, "--compare", BEFORE]);
    for (asked, other, is_after) in [(&now, &before, false), (&before, &now, true)] {
        let host = OtherLogHost(Rc::clone(other));
        let (rows, _) = asked.ask_with(&query(choice(7, is_after, false)), &host);
        assert_eq!(rows.len(), expected.len());
        for row in rows {
            let (own, total) = row.before.expect("it is compared");
            let weights = [own, row.own, total, row.total].map(|weight| weight as f64);
            assert_eq!(expected[&row.frame.name()], weights);
        }
        // A choice that names a log that is not open has no rows.
        assert!(
            asked
                .ask_with(&query(choice(8, is_after, false)), &host)
                .0
                .is_empty()
        );
    }
    let graph = |shares| {
        let query = FlameQuery {
            choice: choice(7, false, shares),
            view: View::Time,
            window: (0.0, 1.0),
            width_px: 1000,
            ..FlameQuery::default()
        };
        let answer = now.ask_with(&query, &OtherLogHost(Rc::clone(&before)));
        answer.expect("both have samples")
    };
    let ((amounts, wide), (shares, half)) = (graph(false), graph(true));
    assert!(amounts.absolute && !shares.absolute);
    let wholes = |head: &FlameHead| (head.total, head.total_before);
    assert_eq!(wholes(&amounts), wholes(&shares));
    // With shares, each log takes half of the width; with amounts, every nanosecond has the same width.
    let both = amounts.total as f64 + amounts.total_before.unwrap_or(0) as f64;
    let width = |boxes: &FlameBoxes, place: usize, scale: (f64, f64)| {
        let expected = boxes.total[place] * scale.0 + boxes.before[place] * scale.1;
        assert!((boxes.width[place] - expected).abs() < 1e-9);
    };
    let scale = (
        0.5 / amounts.total as f64,
        0.5 / amounts.total_before.unwrap_or(1) as f64,
    );
    (0..wide.len()).for_each(|place| width(&wide, place, (1.0 / both, 1.0 / both)));
    (0..half.len()).for_each(|place| width(&half, place, scale));
}

/// Bands of heap profiles and waits of threads are compared by the same code.
#[test]
fn every_source_can_be_compared() {
    let heap = "tests/fixtures/logs/ghc-9.10.3/prof-heap-N1-hc-l-au.eventlog";
    for (_, [own_before, own, ..]) in rows(&[heap, "--compare", heap, "--source", "heap"]) {
        assert_eq!(own_before, own);
    }
    let run = |kind: &str| format!("tests/fixtures/compare/{kind}-01.eventlog.gz");
    let (slow, plain) = (run("slow"), run("plain"));
    let rows = rows(&[&slow, "--compare", &plain, "--source", "spans"]);
    let [_, _, before, now] = rows["round"];
    assert!(now > before && before > 0.0);
}

#[test]
fn a_picture_says_what_became_more() {
    let svg = |more: &[&str]| {
        let words = ["flamegraph", NOW, "--compare", BEFORE, "--format", "svg"];
        stdout(&[&words[..], more].concat())
    };
    let absolute = svg(&[]);
    assert!(
        absolute.contains("before, ") && absolute.contains("less"),
        "{absolute}"
    );
    let shares = svg(&["--shares"]);
    assert!(shares.contains(" → ") && !absolute.contains(" → "));
    // Comparisons have their own colors.
    assert_ne!(absolute, stdout(&["flamegraph", NOW, "--format", "svg"]));
}

/// An empty picture has the same reason as an empty table.
#[test]
fn an_empty_comparison_has_a_reason() {
    let words = [
        "flamegraph",
        NOW,
        "--compare",
        BEFORE,
        "--step",
        "focus:Typo",
    ];
    for format in ["svg", "totals"] {
        let output = eventscope(&[&words[..], &["--format", format]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("no stacks match"), "{format}: {said}");
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let status = |words: &[&str]| eventscope(words).status.code();
    let folded = ["flamegraph", NOW, "--compare", BEFORE, "--format", "folded"];
    assert_eq!(status(&folded), Some(2));
    assert_eq!(status(&["flamegraph", NOW, "--shares"]), Some(2));
    // The other log has no stacks of this source.
    let without = "tests/fixtures/logs/ghc-9.6.6/fib-forkio-N2-l.eventlog";
    assert_eq!(status(&["flamegraph", NOW, "--compare", without]), Some(1));
}

/// A range that covers both logs is the whole of each, whichever is longer.
#[test]
fn a_range_is_clipped_to_each_log() {
    for (log, other) in [(NOW, BEFORE), (BEFORE, NOW)] {
        assert_eq!(
            rows(&[log, "--compare", other, "--from", "0"]),
            rows(&[log, "--compare", other])
        );
    }
}
