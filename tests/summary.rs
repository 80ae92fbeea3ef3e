//! Numbers of a log compared with the runtime's own report of the same run (`NAME.rts-s.txt`): every number that
//! both have, at the precision of the report.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use analysis::info::Info;
use analysis::numbers::summary::Summary;
use common::Case;
use eventlog::source::read_log;
use session::queries::SummaryQuery;
use session::read_session;

/// Names and values as the report prints them.
type Numbers = BTreeMap<String, String>;

/// Parses the numbers in the runtime's report that a log may have.
fn parse_report(report: &str) -> Numbers {
    let mut numbers = Numbers::new();
    let mut put = |name: String, value: &str| {
        let value = value.trim_matches(|c: char| "(),%s".contains(c));
        numbers.insert(name, value.replace(',', ""));
    };
    for line in report.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [n, "bytes", "allocated", ..] => put("allocated".into(), n),
            [n, "bytes", "copied", ..] => put("copied".into(), n),
            [n, "bytes", "maximum", "residency", samples, ..] => {
                put("residency".into(), n);
                put("residency samples".into(), samples);
            }
            [n, "bytes", "maximum", "slop"] => put("slop".into(), n),
            [n, "MiB" | "MB", "total", "memory", ..] => put("memory".into(), n),
            ["Gen", g, n, "colls,", par, "par", _cpu, elapsed, avg, max] => {
                put(format!("gen {g} collections"), n);
                put(format!("gen {g} parallel"), par);
                put(format!("gen {g} elapsed"), elapsed);
                // Without collections, the runtime prints 0 for the mean.
                if n != "0" {
                    put(format!("gen {g} average"), avg);
                    put(format!("gen {g} longest"), max);
                }
            }
            ["Parallel", "GC", "work", "balance:", n, ..] => put("balance".into(), n),
            // This count includes threads of the nonmoving collector and excludes calls by foreign threads, so
            // that it is compared only where there are neither.
            ["TASKS:", n, "(1", "bound,", ..] => put("tasks".into(), n),
            [
                "SPARKS:",
                n,
                converted,
                _,
                overflowed,
                _,
                dud,
                _,
                gcd,
                _,
                fizzled,
                _,
            ] => {
                put("sparks".into(), n);
                put("sparks converted".into(), converted);
                put("sparks overflowed".into(), overflowed);
                put("sparks dud".into(), dud);
                put("sparks gcd".into(), gcd);
                put("sparks fizzled".into(), fizzled);
            }
            ["Productivity", _, "of", "total", "user,", share, ..] => {
                put("productivity".into(), share);
            }
            [name, "time", _cpu, "(", elapsed, "elapsed)"] => {
                put(format!("{name} elapsed"), elapsed);
            }
            _ => {}
        }
    }
    add_retainers(&mut numbers);
    numbers
}

/// Adds RP (retainer profiling) to PROF: logs do not distinguish the two, as both are heap censuses.
fn add_retainers(numbers: &mut Numbers) {
    let Some(retainers) = numbers.remove("RP elapsed") else {
        return;
    };
    let seconds = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    let prof = numbers
        .get("PROF elapsed")
        .map_or(0.0, |text| seconds(text));
    let both = format!("{:.3}", prof + seconds(&retainers));
    numbers.insert("PROF elapsed".to_owned(), both);
}

/// Formats the numbers of a log as the runtime's report does.
fn numbers_of(summary: &Summary) -> Numbers {
    let mut numbers = Numbers::new();
    let mut put = |name: String, value: Option<String>| {
        value.map(|value| numbers.insert(name, value));
    };
    let whole = |number: Option<u64>| number.map(|number| number.to_string());
    let seconds =
        |ns: Option<u64>, digits: usize| ns.map(|ns| format!("{:.digits$}", ns as f64 / 1e9));
    put("allocated".into(), whole(summary.bytes_allocated));
    put("copied".into(), whole(summary.bytes_copied));
    put("residency".into(), whole(summary.max_residency));
    put("residency samples".into(), whole(summary.residency_samples));
    put("slop".into(), whole(summary.max_slop));
    let memory = summary.max_heap_size.map(|size| size.div_ceil(1 << 20));
    put("memory".into(), whole(memory));
    for row in &summary.generations {
        let g = row.generation;
        put(format!("gen {g} collections"), whole(Some(row.collections)));
        put(format!("gen {g} parallel"), whole(Some(row.parallel)));
        put(format!("gen {g} elapsed"), seconds(Some(row.elapsed_ns), 3));
        put(
            format!("gen {g} average"),
            seconds(Some(row.avg_pause_ns), 4),
        );
        put(
            format!("gen {g} longest"),
            seconds(Some(row.max_pause_ns), 4),
        );
    }
    let balance = summary
        .work_balance
        .map(|share| format!("{:.2}", 100.0 * share));
    // The runtime omits a balance of 0.
    put(
        "balance".into(),
        balance.filter(|balance| balance != "0.00"),
    );
    put("tasks".into(), whole(summary.os_threads));
    if let Some(sparks) = &summary.sparks {
        put("sparks".into(), whole(Some(sparks.count)));
        put("sparks converted".into(), whole(Some(sparks.converted)));
        put("sparks overflowed".into(), whole(Some(sparks.overflowed)));
        put("sparks dud".into(), whole(Some(sparks.dud)));
        put("sparks gcd".into(), whole(Some(sparks.gcd)));
        put("sparks fizzled".into(), whole(Some(sparks.fizzled)));
    }
    let productivity = summary.productivity;
    put(
        "productivity".into(),
        productivity.map(|share| format!("{:.1}", 100.0 * share)),
    );
    put("INIT elapsed".into(), seconds(summary.init_ns, 3));
    put("GC elapsed".into(), seconds(summary.gc_ns, 3));
    put("PROF elapsed".into(), seconds(summary.prof_ns, 3));
    put("EXIT elapsed".into(), seconds(summary.exit_ns, 3));
    put("MUT elapsed".into(), seconds(summary.mutator_ns, 3));
    put("Total elapsed".into(), seconds(Some(summary.total_ns), 3));
    numbers
}

/// Numbers that differ from the report, with the reason.
const DIFFERS: &[(&str, &[&str], &str)] = &[
    (
        "/relog-N2-l",
        &[
            "copied",
            "gen 0 collections",
            "gen 0 parallel",
            "balance",
            "tasks",
            "INIT elapsed",
            "MUT elapsed",
            "EXIT elapsed",
            "productivity",
        ],
        "the program stops logging and begins anew: the log has its last phase alone",
    ),
    (
        "9.0.2/relog-N2-l",
        &["residency samples", "gen 1 collections", "gen 1 parallel"],
        "the program stops logging and begins anew: the log has its last phase alone",
    ),
    (
        "9.0.2/tasks-N2-la",
        &["tasks"],
        "the report leaves out the OS threads of forkOS, which have ended by then",
    ),
    (
        "9.10.3/tasks-N2-la",
        &["tasks"],
        "the report leaves out the OS threads of forkOS, which have ended by then",
    ),
    (
        "9.6.6/tasks-N1-l",
        &["tasks"],
        "the report leaves out the OS threads of forkOS, which have ended by then",
    ),
    (
        "9.6.6/tasks-N4-la",
        &["tasks"],
        "the report leaves out the OS threads of forkOS, which have ended by then",
    ),
    (
        "9.10.3/gc-heavy-N1-la-nonmoving-long",
        &["EXIT elapsed", "productivity"],
        "the phases of the report are 4 ms less than its own total",
    ),
    (
        "9.10.3/gc-heavy-N2-l-Fd",
        &["memory"],
        "the peak is inside of a collection, where nothing is logged",
    ),
    (
        "9.6.6/gc-heavy-N2-l-G3",
        &["memory"],
        "the peak is inside of a collection, where nothing is logged",
    ),
    (
        "9.6.6/gc-heavy-N2-lg-n",
        &["memory"],
        "the peak is inside of a collection, where nothing is logged",
    ),
    (
        "9.6.6/gc-heavy-N4-la-A1m",
        &["memory"],
        "the peak is inside of a collection, where nothing is logged",
    ),
    (
        "9.0.2/fib-forkio-N2-l-a",
        &["Total elapsed"],
        "of this log's five events the last is at the start of the program",
    ),
    (
        "9.10.3/fib-forkio-N2-l-a",
        &["Total elapsed"],
        "of this log's five events the last is at the start of the program",
    ),
    (
        "9.0.2/prof-heap-N1-hc-l-au",
        &["Total elapsed"],
        "only heap profile samples are logged, and none at the end",
    ),
];

/// Returns the tolerance for numbers in seconds: both sides are rounded, and the report is made shortly after the
/// last event (before it with `-Ds`).
fn tolerance(name: &str) -> f64 {
    match name {
        "Total elapsed" | "GC elapsed" | "PROF elapsed" | "INIT elapsed" | "EXIT elapsed"
        | "MUT elapsed" => 0.0011,
        // In a program of a few milliseconds, microseconds are tenths of a percent.
        "productivity" => 0.6,
        _ => 0.0,
    }
}

/// Reported time of heap censuses and total time, in seconds.
#[derive(Default)]
struct Counting {
    prof: f64,
    total: f64,
}

impl Counting {
    /// Relative tolerance. Logs lack the start of a census, which is taken to be the moment when the leader of the
    /// collection has no work left. This is slightly early: in three programs PROF was 1.1 to 1.7 % longer than
    /// reported, and GC shorter by the same time.
    const APART: f64 = 0.02;

    fn of(report: &Numbers) -> Self {
        let seconds = |name: &str| report.get(name).and_then(|text| text.parse().ok());
        Self {
            prof: seconds("PROF elapsed").unwrap_or(0.0),
            total: seconds("Total elapsed").unwrap_or(f64::INFINITY),
        }
    }

    fn tolerance(&self, name: &str) -> f64 {
        match name {
            "GC elapsed" | "PROF elapsed" => Self::APART * self.prof,
            "productivity" => 100.0 * Self::APART * self.prof / self.total,
            _ => 0.0,
        }
    }
}

/// Returns the events that a number requires.
fn sources(name: &str) -> &'static [&'static str] {
    match name {
        "allocated" => &["HeapAllocated"],
        "residency" | "residency samples" => &["HeapLive"],
        "memory" => &["HeapSize"],
        "tasks" | "INIT elapsed" | "EXIT elapsed" => &["TaskCreate"],
        "GC elapsed" => &["StartGC"],
        "MUT elapsed" | "productivity" => &["StartGC", "TaskCreate"],
        _ if name.starts_with("sparks") => &["SparkCounters"],
        _ => &["GCStatsGHC"],
    }
}

fn event_types(case: &Case) -> BTreeSet<String> {
    let mut info = Info::default();
    read_log(&mut case.bytes().as_slice(), &mut info).expect("a log");
    info.types()
        .into_iter()
        .map(|counted| counted.name)
        .collect()
}

/// Compares a number of the report with ours, at the precision of the report.
fn agree(name: &str, report: &str, ours: &str, counting: &Counting) -> bool {
    let apart = || Some((report.parse::<f64>().ok()? - ours.parse::<f64>().ok()?).abs());
    report == ours
        || apart().is_some_and(|apart| apart <= tolerance(name) + counting.tolerance(name))
}

#[test]
fn numbers_agree_with_the_report_of_the_runtime() {
    let mut failures = Vec::new();
    let mut compared: BTreeMap<String, u32> = BTreeMap::new();
    let mut tally = common::Tally::default();
    let mut used = BTreeSet::new();
    for case in common::cases() {
        let Ok(report) = std::fs::read_to_string(case.log.with_extension("rts-s.txt")) else {
            continue;
        };
        let session = read_session(&mut case.bytes().as_slice()).expect("a log");
        let ours = numbers_of(&session.ask(&SummaryQuery(None)));
        let types = event_types(&case);
        let report = parse_report(&report);
        let counting = Counting::of(&report);
        for (name, theirs) in report {
            let listed = DIFFERS.iter().position(|(log, names, _)| {
                case.name.ends_with(log) && names.contains(&name.as_str())
            });
            let mine = ours.get(&name);
            let agrees = match mine {
                Some(mine) => agree(&name, &theirs, mine, &counting),
                None => sources(&name).iter().any(|event| !types.contains(*event)),
            };
            if agrees == listed.is_some() {
                let said = if agrees {
                    "listed, but agrees"
                } else {
                    "differs"
                };
                failures.push(format!("{}: {name} {said}: {theirs}, {mine:?}", case.name));
            }
            if agrees && mine.is_some() {
                *compared.entry(name.clone()).or_default() += 1;
                tally.add(&case, 1);
            }
            used.extend(listed.map(|at| (at, name)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // Guard against a test that passes because nothing was compared.
    for (name, reports) in [
        ("allocated", 24),
        ("gen 0 elapsed", 24),
        ("gen 1 longest", 20),
        ("sparks fizzled", 20),
        ("MUT elapsed", 21),
        ("INIT elapsed", 21),
        ("EXIT elapsed", 21),
        ("PROF elapsed", 1),
        ("productivity", 19),
        ("balance", 8),
    ] {
        assert!(compared.get(name) >= Some(&reports), "{name}: {compared:?}");
    }
    tally.finish(common::expected_coverage([35, 589], [110, 2121]));
    let every_log = std::env::var_os("EVENTSCOPE_CORPUS").is_some();
    let listed: usize = DIFFERS.iter().map(|(_, names, _)| names.len()).sum();
    // In the three logs of the first entry, the same numbers differ.
    assert!(!every_log || used.len() == listed, "{used:?}");
}

/// The command prints lines in the runtime's own format.
#[test]
fn text_is_that_of_the_runtime() {
    let mut lines = 0;
    for name in [
        "ghc-9.0.2/sparks-N4-lsf",
        "ghc-9.6.6/gc-heavy-N1-l",
        "ghc-9.10.3/caps-N2-la",
    ] {
        let case = common::fixture(name);
        let report = std::fs::read_to_string(case.log.with_extension("rts-s.txt")).expect("report");
        let ours = common::stdout(&["summary", case.log.to_str().expect("UTF-8")]);
        let mut place = 0;
        for line in report.lines() {
            let same = ["bytes ", "work balance", "SPARKS"]
                .iter()
                .any(|part| line.contains(part));
            if same && !line.contains("MUT second") {
                let at = ours[place..].find(line);
                place += at.unwrap_or_else(|| panic!("{name}: {line:?} is not in\n{ours}"));
                lines += 1;
            }
        }
    }
    assert!(lines >= 14, "{lines}");
}

/// Scripts rely on the names and order of keys.
#[test]
fn json_has_every_key_in_order() {
    let keys = [
        "range",
        "bytes_allocated",
        "bytes_copied",
        "max_residency",
        "residency_samples",
        "max_slop",
        "max_heap_size",
        "max_fragmentation",
        "generations",
        "work_balance",
        "sparks",
        "init_ns",
        "mutator_ns",
        "gc_ns",
        "prof_ns",
        "exit_ns",
        "total_ns",
        "productivity",
        "cap_busy",
        "allocation_rate",
        "capabilities",
        "places",
    ];
    let nested: [(&str, &[&str]); 4] = [
        (
            "/generations/0",
            &[
                "gen",
                "collections",
                "parallel",
                "elapsed_ns",
                "avg_pause_ns",
                "max_pause_ns",
                "longest",
            ],
        ),
        (
            "/sparks",
            &[
                "count",
                "created",
                "converted",
                "overflowed",
                "dud",
                "gcd",
                "fizzled",
            ],
        ),
        (
            "/capabilities/0",
            &["cap", "mutator_ns", "gc_ns", "idle_ns", "bytes_allocated"],
        ),
        (
            "/places",
            &[
                "max_residency",
                "max_slop",
                "max_heap_size",
                "max_fragmentation",
            ],
        ),
    ];
    let case = common::fixture("ghc-9.6.6/gc-heavy-N1-l");
    let text = common::stdout(&["summary", "--json", case.log.to_str().expect("UTF-8")]);
    let places: Vec<Option<usize>> = keys
        .iter()
        .map(|key| text.find(&format!("\"{key}\":")))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for (pointer, keys) in nested {
        let object = json
            .pointer(pointer)
            .and_then(serde_json::Value::as_object)
            .expect(pointer);
        assert_eq!(object.len(), keys.len());
        assert!(
            keys.iter().all(|key| object.contains_key(*key)),
            "{object:?}"
        );
    }
    // Half of the log has part of everything, and half-open halves add up to the whole.
    let half = (json["total_ns"].as_u64().expect("a number") / 2).to_string();
    let file = case.log.to_str().expect("UTF-8");
    let part = |option: &str| {
        let text = common::stdout(&["summary", "--json", option, &half, file]);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["bytes_allocated"].as_u64().expect("a number")
    };
    let (early, late) = (part("--to"), part("--from"));
    assert!(early > 0 && late > 0);
    assert_eq!(Some(early + late), json["bytes_allocated"].as_u64());
}
