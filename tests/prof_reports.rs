//! Cost-centre samples against the reports that the runtime wrote at the end
//! of the same runs (`+RTS -p`, `-P`, `-pj`), stack by stack.
//!
//! The rule where the two count differently: at each tick the runtime looks
//! twice where a capability is (`handleProfTick` in `rts/Proftimer.c`), first
//! for the report's count, then for the log's event, and the program goes on
//! in between. So a tick may be at another stack in the log than in the
//! report, but there are as many in both: sums are exact. Functions that
//! call each other all the time exchange ticks; callers of both do not see
//! it, as a tick stays below them.

use crate::common;

use session::questions::FlameExportQuery;
use std::collections::BTreeMap;
use std::path::Path;

use common::{Tally, cases, known, session_of};
use model::profile::TrackSource;
use model::profile::origin::Choice;
use model::profile::weights::Measure;
use serde_json::Value;
use session::flame::query::{ExportFormat, FlameQuery};

/// Ticks by stack, outermost first, without `MAIN`, in which all lie.
type Ticks = BTreeMap<Vec<String>, f64>;

/// A report.
#[derive(Debug, Default)]
struct Report {
    sum: f64,
    individual: Ticks,
    inherited: Ticks,
    /// Whether it counts what the runtime itself did: reports in JSON do.
    counts_runtime: bool,
    /// By how much its numbers are rounded, in ticks: text has 0.1 %.
    rounding: f64,
}

/// The runtime's own cost centres that a report in text leaves out
/// (`pruneCCSTree` in `rts/ProfilerReport.c` and `ignoreCCS` in `rts/Profiling.c`).
const LEFT_OUT: [&str; 3] = ["IDLE", "GC", "SYSTEM"];

/// Functions of the programs that go over into each other within microseconds.
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

/// The names that the log's files have.
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
    // `-P` has ticks and bytes at the end.
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

/// Adds a node and what is in it; the ticks of all of it.
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

/// The report beside a log; those of retainer profiles have another subject.
fn report_beside(log: &Path) -> Option<Report> {
    let text = std::fs::read_to_string(log.with_extension("prof")).ok()?;
    if text.starts_with('{') {
        let report = serde_json::from_str(&text).expect("JSON");
        return Some(json_report(&report));
    }
    (!text.starts_with("Retainer")).then(|| text_report(&text))
}

/// Ticks by stack out of the log.
fn ticks(bytes: &[u8]) -> Ticks {
    let session = session_of(bytes).expect("a log");
    let sources = session.flame_sources();
    let tracks = sources.iter().flat_map(|info| &info.tracks);
    let is_cap = |track: &TrackSource| matches!(track, TrackSource::Capability(_));
    let query = FlameQuery {
        choice: Choice {
            tracks: tracks.map(|track| track.source).filter(is_cap).collect(),
            ..Choice::default()
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

/// Ticks of each stack and of all that begin with it.
fn inherited(individual: &Ticks) -> Ticks {
    let mut inherited = Ticks::new();
    for (stack, ticks) in individual {
        for len in 0..=stack.len() {
            *inherited.entry(stack[..len].to_vec()).or_default() += ticks;
        }
    }
    inherited
}

/// Ticks by cost centre, in whatever stacks; where it is anywhere in them.
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

/// The greatest difference among the stacks that end in an exchanging
/// function, and among the others, in ticks.
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

/// Differences of a log: exchanging functions and others, for each of
/// individual and inherited by stack and by centre.
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

/// The tightest that hold, as shares of all ticks; a difference of two ticks
/// in 186 is 1.1 %. First of functions that exchange ticks, then of others.
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
                // A tenth of a tick more for numbers that the report rounds.
                let share = (found - 0.1) / report.sum;
                let name = &case.name;
                assert!(share < tolerance, "{name}: {what}: {found:.2} ticks");
            }
        }
    }
    tally.finish(known([3, 260], [8, 605]));
}

/// Where the program runs on one OS thread, or stands still at a tick, the two
/// looks see the same: only what the report rounds differs.
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
    tally.finish(known([1, 20], [3, 92]));
}
