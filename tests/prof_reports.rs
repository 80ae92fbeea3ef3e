//! Cost-centre samples compared stack by stack with the reports that the runtime wrote at the end of the same runs
//! (`+RTS -p`, `-P`, `-pj`).
//!
//! Both count differently: at each tick the runtime reads the current cost-centre stack of a capability twice
//! (`handleProfTick` in `rts/Proftimer.c`), first for the report, then for the log, and the program continues in
//! between. A tick may therefore have another stack in the log than in the report, but both have the same number
//! of ticks: sums are exact. Functions that call each other all the time exchange ticks; common callers are not
//! affected, as the tick stays below them.

use crate::common;

use session::queries::FlameExportQuery;
use std::collections::BTreeMap;
use std::path::Path;

use common::{Tally, cases, expected_coverage, session_of};
use model::profile::TrackSource;
use model::profile::stack_source::FlameSelection;
use model::profile::weights::Measure;
use serde_json::Value;
use session::flame::query::{ExportFormat, FlameQuery};

/// Ticks by stack, outermost first, without the common root `MAIN`.
type Ticks = BTreeMap<Vec<String>, f64>;

/// Report of the time profiler.
#[derive(Debug, Default)]
struct Report {
    sum: f64,
    individual: Ticks,
    inherited: Ticks,
    /// Whether it includes cost centres of the runtime; only JSON does.
    counts_runtime: bool,
    /// Rounding error in ticks: 0.1 % in text.
    rounding: f64,
}

/// Cost centres of the runtime that a text report omits (`pruneCCSTree` in `rts/ProfilerReport.c` and `ignoreCCS`
/// in `rts/Profiling.c`).
const LEFT_OUT: [&str; 3] = ["IDLE", "GC", "SYSTEM"];

/// Functions that call each other within microseconds.
const EXCHANGING: [&str; 8] = [
    "Main.isEven'",
    "Main.isOdd'",
    "Main.leaf_work",
    "Main.leaf.\\",
    "Main.primes",
    "Main.primes.sieve",
    "Main.table",
    "Main.slow",
];

/// Returns the name of a cost centre in exported files.
fn name(label: &str, module: &str, location: &str) -> String {
    if location == "<built-in>" {
        label.to_owned()
    } else {
        format!("{module}.{label}")
    }
}

fn text_report(text: &str) -> Report {
    let ticks = text.split(" ticks @").next().expect("a sum");
    let sum: f64 = ticks
        .rsplit('(')
        .next()
        .expect("a sum")
        .parse()
        .expect("a number");
    let mut report = Report {
        sum,
        rounding: 0.0005 * sum,
        ..Report::default()
    };
    let is_head = |line: &&str| line.starts_with("COST CENTRE");
    let head = text.lines().filter(is_head).nth(1).expect("a tree");
    let rows = text.lines().skip_while(|line| *line != head).skip(2);
    // `-P` appends columns for ticks and bytes.
    let more = if head.contains(" ticks ") { 2 } else { 0 };
    let mut path: Vec<String> = Vec::new();
    for row in rows.take_while(|row| !row.is_empty()) {
        let words: Vec<&str> = row.split_whitespace().collect();
        path.truncate(row.len() - row.trim_start().len());
        path.push(name(words[0], words[1], words[2]));
        let number =
            |from_end: usize| -> f64 { words[words.len() - from_end].parse().expect("a number") };
        let share = |from_end| number(from_end) / 100.0 * sum;
        let individual = if more > 0 { number(2) } else { share(4) };
        let stack = path[1..].to_vec();
        *report.individual.entry(stack.clone()).or_default() += individual;
        *report.inherited.entry(stack).or_default() += share(2 + more);
    }
    report
}

fn json_report(report: &Value) -> Report {
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    for centre in report["cost_centres"].as_array().expect("cost centres") {
        let text = |key: &str| centre[key].as_str().expect("text");
        let id = centre["id"].as_u64().expect("an id");
        names.insert(id, name(text("label"), text("module"), text("src_loc")));
    }
    let mut ticks = Report {
        sum: report["total_ticks"].as_f64().expect("ticks"),
        counts_runtime: true,
        ..Report::default()
    };
    json_stack(&report["profile"], &names, &mut Vec::new(), &mut ticks);
    ticks
}

/// Adds a node and its descendants. Returns the sum of their ticks.
fn json_stack(
    node: &Value,
    names: &BTreeMap<u64, String>,
    path: &mut Vec<String>,
    into: &mut Report,
) -> f64 {
    path.push(names[&node["id"].as_u64().expect("an id")].clone());
    let own = node["ticks"].as_f64().expect("ticks");
    let children = node["children"].as_array().expect("children");
    let inner: f64 = children
        .iter()
        .map(|child| json_stack(child, names, path, into))
        .sum();
    let stack = path[1..].to_vec();
    *into.individual.entry(stack.clone()).or_default() += own;
    *into.inherited.entry(stack).or_default() += own + inner;
    path.pop();
    own + inner
}

/// Reads the report next to a log; `None` for retainer profiles.
fn report_beside(log: &Path) -> Option<Report> {
    let text = std::fs::read_to_string(log.with_extension("prof")).ok()?;
    if text.starts_with('{') {
        let report = serde_json::from_str(&text).expect("JSON");
        return Some(json_report(&report));
    }
    (!text.starts_with("Retainer")).then(|| text_report(&text))
}

/// Returns the ticks of a log by stack.
fn ticks(bytes: &[u8]) -> Ticks {
    let session = session_of(bytes).expect("a log");
    let sources = session.flame_sources();
    let tracks = sources.iter().flat_map(|info| &info.tracks);
    let is_cap = |track: &TrackSource| matches!(track, TrackSource::Capability(_));
    let query = FlameQuery {
        choice: FlameSelection {
            tracks: tracks.map(|track| track.source).filter(is_cap).collect(),
            ..FlameSelection::default()
        },
        measure: Measure::Count,
        ..FlameQuery::default()
    };
    let format = ExportFormat::Folded;
    let file = session.ask(&FlameExportQuery { query, format });
    let text = String::from_utf8(file.expect("samples").bytes).expect("UTF-8");
    let mut ticks = Ticks::new();
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a stack and a number");
        let frames = stack.split(';').map(str::to_owned);
        let stack = frames.filter(|frame| frame != "MAIN").collect();
        *ticks.entry(stack).or_default() += count.parse::<f64>().expect("a number");
    }
    ticks
}

/// Returns the ticks of each stack including all stacks that extend it.
fn inherited(individual: &Ticks) -> Ticks {
    let mut inherited = Ticks::new();
    for (stack, ticks) in individual {
        for len in 0..=stack.len() {
            *inherited.entry(stack[..len].to_vec()).or_default() += ticks;
        }
    }
    inherited
}

/// Returns ticks by cost centre: where it is innermost, and where it is anywhere in the stack.
fn by_centre(individual: &Ticks) -> [Ticks; 2] {
    let mut sums = [Ticks::new(), Ticks::new()];
    for (stack, ticks) in individual {
        let innermost = stack.last().cloned();
        *sums[0].entry(innermost.into_iter().collect()).or_default() += ticks;
        let anywhere: std::collections::BTreeSet<&String> = stack.iter().collect();
        for centre in anywhere {
            *sums[1].entry(vec![centre.clone()]).or_default() += ticks;
        }
    }
    sums
}

/// Returns the greatest differences in ticks, for stacks that end in an exchanging function and for others.
fn differences(ours: &Ticks, theirs: &Ticks) -> [f64; 2] {
    let mut greatest = [0.0_f64; 2];
    for stack in ours.keys().chain(theirs.keys()) {
        let of = |ticks: &Ticks| ticks.get(stack).copied().unwrap_or(0.0);
        let exchanging = |name: &String| EXCHANGING.contains(&name.as_str());
        let kind = usize::from(!stack.last().is_some_and(exchanging));
        greatest[kind] = greatest[kind].max((of(ours) - of(theirs)).abs());
    }
    greatest
}

/// Returns the differences of a log for exchanging functions and others: individual and inherited, by stack and by
/// centre.
fn compare(case: &common::Case, report: &Report) -> [[f64; 2]; 4] {
    let mut ours = ticks(&case.bytes());
    if !report.counts_runtime {
        ours.retain(
            |stack, _| !matches!(stack.as_slice(), [one] if LEFT_OUT.contains(&one.as_str())),
        );
    }
    let sum: f64 = ours.values().sum();
    assert_eq!(sum, report.sum, "{}: the sums are exact", case.name);
    let [our_own, our_all] = by_centre(&ours);
    let [their_own, their_all] = by_centre(&report.individual);
    [
        differences(&ours, &report.individual),
        differences(&inherited(&ours), &report.inherited),
        differences(&our_own, &their_own),
        differences(&our_all, &their_all),
    ]
}

/// Tightest tolerances that hold, as shares of all ticks, for exchanging functions and for others. A difference of
/// two ticks in 186 is 1.1 %.
const TOLERANCES: [(&str, [f64; 2]); 4] = [
    ("individual by stack", [0.065, 0.012]),
    ("inherited by stack", [0.065, 0.006]),
    ("individual by centre", [0.065, 0.012]),
    ("inherited by centre", [0.065, 0.007]),
];

#[test]
fn ticks_are_those_of_the_reports() {
    let mut tally = Tally::default();
    for case in cases() {
        let Some(report) = report_beside(&case.log) else {
            continue;
        };
        tally.add(&case, report.individual.len());
        for (found, (what, tolerances)) in compare(&case, &report).iter().zip(TOLERANCES) {
            for (found, tolerance) in found.iter().zip(tolerances) {
                // Allow 0.1 ticks more, as the report rounds.
                let share = (found - 0.1) / report.sum;
                let name = &case.name;
                assert!(share < tolerance, "{name}: {what}: {found:.2} ticks");
            }
        }
    }
    tally.finish(expected_coverage([3, 260], [8, 605]));
}

/// If the program runs on one OS thread, or is stopped at a tick, both reads see the same stack: only rounding
/// differs.
#[test]
fn a_tick_that_stands_still_is_the_same_in_both() {
    let mut tally = Tally::default();
    for case in cases() {
        let quiet = [
            "prof-time-nt-p-l",
            "prof-ffi-safe-N1-p-l",
            "prof-time-N1-P-l-hc",
        ];
        if !quiet.iter().any(|name| case.name.ends_with(name)) {
            continue;
        }
        let report = report_beside(&case.log).expect("a report");
        let [own, ..] = compare(&case, &report);
        let rounding = report.rounding.max(0.01);
        assert!(own[0].max(own[1]) <= rounding, "{}: {own:?}", case.name);
        tally.add(&case, report.individual.len());
    }
    tally.finish(expected_coverage([1, 20], [3, 92]));
}
