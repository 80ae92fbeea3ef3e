//! Findings about the collector, sparks, memory and the log itself, on logs of real programs (`demo/findings`):
//! each rule finds the problem that its program provokes, and nothing in a run that differs only in the relevant
//! aspect.

use crate::common;

use common::{finding_session, findings_of, fixture, logs_in, session_of};
use insight::Report;
use insight::finding::{Axis, MAX_EVIDENCE, Severity, Value};
use insight::rules::RULES;

/// Rules with their axes.
const CASES: &[(&str, Axis)] = &[
    ("gc-sync-straggler", Axis::Time),
    ("finalizers", Axis::Time),
    ("deadlock-found", Axis::Time),
    ("foreign-calls-block", Axis::Time),
    ("gc-sync-idle-caps", Axis::Time),
    ("idle-gc", Axis::Time),
    ("forced-gc", Axis::Time),
    ("census-pauses", Axis::Time),
    ("par-gc-unbalanced", Axis::Time),
    ("remembered-set", Axis::Time),
    ("nursery-too-small", Axis::Time),
    ("major-gc-heavy", Axis::Time),
    ("costly-flags", Axis::Time),
    ("long-pause", Axis::Latency),
    ("nonmoving-lag", Axis::Latency),
    ("sparks", Axis::Time),
    ("spark-tiny", Axis::Time),
    ("live-growth", Axis::Memory),
    ("heap-over-live", Axis::Memory),
    ("heap-holder", Axis::Memory),
    ("unevaluated", Axis::Memory),
    ("pinned-blocks", Axis::Memory),
    ("deep-stack", Axis::Memory),
    ("alloc-burst", Axis::Memory),
    ("slow-spans", Axis::Latency),
    ("log-damaged", Axis::Log),
    ("noisy-machine", Axis::Log),
    ("classes-missing", Axis::Log),
    ("not-representative", Axis::Log),
    ("timer-storm", Axis::Time),
    ("large-objects", Axis::Time),
    ("capabilities-unused", Axis::Time),
    ("one-capability", Axis::Time),
    ("unlabelled", Axis::Log),
];

/// Returns the findings in the log of this name.
fn report(name: &str) -> Report {
    findings_of(&finding_session(name), None)
}

/// Returns the rank of a rule on its axis, and the titles of all findings on the axis.
fn place_of(rule: &str, axis: Axis, report: &Report) -> (Option<usize>, Vec<String>) {
    let said = |finding: &insight::Finding| format!("{}: {}", finding.rule, finding.title);
    let place = report
        .findings_on_axis(axis)
        .position(|found| found.rule == rule);
    (place, report.findings_on_axis(axis).map(said).collect())
}

#[test]
fn each_rule_finds_what_a_program_provokes() {
    for &(rule, axis) in CASES {
        let report = report(&format!("{rule}-found"));
        let (place, said) = place_of(rule, axis, &report);
        // Collections that wake idle capabilities are also too frequent and unbalanced, and that log is short of
        // cores: three other findings may rank higher.
        // The program with censuses holds thunks, so that all collections are long.
        let most = match rule {
            "gc-sync-idle-caps" => 4,
            "census-pauses" => 3,
            _ => 2,
        };
        let place = place.unwrap_or_else(|| panic!("{rule} is not found, but {said:#?}"));
        assert!(
            axis != Axis::Time || place < most,
            "{rule} is not in the first {most} of {said:#?}"
        );
        let found = report
            .findings_on_axis(axis)
            .nth(place)
            .expect("it is there");
        // The options that treat a symptom alone are left out.
        let least = usize::from(found.explained_by.is_none());
        assert!((least..=3).contains(&found.tries.len()), "{rule}");
        assert!(
            !found.meaning.is_empty() && !found.distrust.is_empty(),
            "{rule}"
        );
        assert!(found.evidence.len() <= MAX_EVIDENCE, "{rule}");
        let sizes: Vec<f64> = found.evidence.iter().map(|one| one.amount.size()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{rule}: {sizes:?}");
    }
}

#[test]
fn each_rule_is_silent_where_nothing_is_wrong() {
    for &(rule, axis) in CASES {
        let report = report(&format!("{rule}-clear"));
        let (place, said) = place_of(rule, axis, &report);
        assert_eq!(place, None, "{rule} is found: {said:#?}");
        let mut silent = report.clear.iter().chain(&report.cannot_tell);
        let why = silent.find(|passed| passed.rule == rule);
        assert!(why.is_some_and(|passed| !passed.why.is_empty()), "{rule}");
    }
}

#[test]
fn the_rules_exist() {
    for (rule, _) in CASES {
        let mut all = RULES.iter();
        assert!(all.any(|one| one.name == *rule), "{rule}");
    }
}

/// Opens the logs recorded for single rules, with their names.
fn logs() -> impl Iterator<Item = (String, session::Session)> {
    logs_in("findings").map(|(name, bytes)| (name, session_of(&bytes).expect("it can be read")))
}

/// Returns the RTS options that a finding advises.
fn advised(finding: &insight::Finding) -> impl Iterator<Item = &str> {
    let flags = finding
        .tries
        .iter()
        .filter_map(|attempt| attempt.flag.as_deref());
    flags
        .flat_map(|flags| flags.split([' ', ',']))
        .filter(|flag| !flag.is_empty())
}

#[test]
fn advice_knows_the_options_of_the_run() {
    let mut looked_at = 0;
    for (name, session) in logs() {
        let has = session.process().arguments;
        for finding in &findings_of(&session, None).findings {
            for flag in advised(finding) {
                let known = has.iter().any(|word| word == flag) && flag != "-l";
                assert!(!known, "{name}: {flag} of {}", finding.rule);
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 50, "{looked_at} options");
}

/// The nonmoving collector makes programs slower; advice names it only for latency.
#[test]
fn the_nonmoving_collector_is_for_pauses() {
    let mut named = 0;
    for (name, session) in logs() {
        for finding in &findings_of(&session, None).findings {
            if advised(finding).any(|flag| flag == "--nonmoving-gc") {
                assert_eq!(finding.axis, Axis::Latency, "{name}: {}", finding.rule);
                named += 1;
            }
        }
    }
    assert!(named > 0);
}

#[test]
fn one_thread_collects_only_where_one_capability_works() {
    let found = |name: &str| {
        let findings = report(name).findings.into_iter();
        let mut found = findings.filter(|found| found.rule == "par-gc-unbalanced");
        found.next().expect("it is found")
    };
    let serial = found("par-gc-unbalanced-found");
    // Its threads share the work of major collections.
    assert_eq!(advised(&serial).next(), Some("-qg1"));
    let parallel = found("serial-section-clear");
    assert!(
        advised(&parallel).all(|flag| !flag.starts_with("-qg")),
        "{parallel:?}"
    );
}

#[test]
fn symptoms_stand_below_their_cause() {
    let report = report("unevaluated-found");
    let gravest: Vec<&str> = report
        .significant_findings()
        .iter()
        .map(|found| &*found.rule)
        .collect();
    let place = |rule: &str| gravest.iter().position(|found| *found == rule);
    let stack = report
        .findings
        .iter()
        .find(|found| found.rule == "deep-stack");
    let stack = stack.expect("the thunks are forced");
    assert_eq!(stack.explained_by.as_deref(), Some("unevaluated"));
    let cause = report.cause_title(stack).expect("a title");
    assert!(cause.contains("thunks"), "{cause}");
    assert!(place("unevaluated") < place("deep-stack"), "{gravest:?}");
}

#[test]
fn an_option_that_costs_little_is_told_where_it_is_clear() {
    let report = report("costly-flags-clear");
    let mut passed = report.clear.iter();
    let passed = passed.find(|passed| passed.rule == "costly-flags");
    let why = &passed.expect("it is clear").why;
    assert!(why.starts_with("-F1.1:"), "{why}");
}

#[test]
fn the_page_about_findings_has_every_rule() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/findings.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for rule in RULES {
        assert!(
            page.contains(&format!("\n| `{}` |", rule.name)),
            "{}",
            rule.name
        );
    }
}

/// For each program in the table of measurements in `docs/findings.md`, the advised allocation area saves at least half
/// of what the finding estimates.
#[test]
fn what_advice_promises_was_measured() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/findings.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let number = |cell: &str| -> Option<f64> {
        let (number, _) = cell.split_once(" %")?;
        number.trim_start_matches('−').parse().ok()
    };
    let mut rows = 0;
    for row in page.lines() {
        let cells: Vec<&str> = row.split(" | ").collect();
        let Some(estimate) = cells.get(4).and_then(|cell| number(cell)) else {
            continue;
        };
        let change = cells[6];
        let saved = number(change).filter(|_| change.starts_with('−'));
        assert!(saved.is_some_and(|saved| saved >= estimate / 2.0), "{row}");
        rows += 1;
    }
    assert!(rows > 8, "{rows}");
}

/// Young data that lives for long is copied in each collection too, although no old object is scanned for it.
#[test]
fn long_lived_data_is_no_remembered_set() {
    for name in [
        "census-pauses-clear",
        "nonmoving-lag-found",
        "unevaluated-found",
        "remembered-set-twice",
    ] {
        let (place, said) = place_of("remembered-set", Axis::Time, &report(name));
        assert_eq!(place, None, "{name}: {said:#?}");
    }
}

/// `hot-cost-centre` needs logs of programs built for profiling, which are not among the logs recorded for rules.
#[test]
fn one_cost_centre_has_much_of_the_time() {
    let found = |name: &str| {
        let report = findings_of(&fixture(name).session(), None);
        let mut found = report.findings.into_iter();
        found.find(|found| found.rule == "hot-cost-centre")
    };
    let hot = found("ghc-9.10.3/prof-time-N2-pj-l").expect("it is found");
    assert_eq!(hot.identity(), "hot-cost-centre:Main.isEven'");
    // The rule needs at least 200 samples.
    assert_eq!(found("ghc-9.6.6/prof-ffi-safe-N1-p-l"), None);
}

/// The cost of `deep-stack` is the stack size that the runtime logged.
#[test]
fn a_stack_is_as_large_as_the_runtime_says() {
    let report = report("deep-stack-found");
    let mut deep = report.findings_on_axis(Axis::Memory);
    let deep = deep.find(|found| found.rule == "deep-stack");
    // 2,071,168 words before the last of 507 chunks.
    let bytes = deep.map(|found| found.cost);
    assert_eq!(bytes, Some(Value::Bytes(2_071_168 * 8)));
}

/// Major collections that copy little walk through a boxed array; the first two collections after it was made do so
/// too, which is no sign of a busy machine.
#[test]
fn collections_that_walk_through_an_array_or_compact_are_told_from_those_that_copy() {
    let title_of = |name: &str| {
        let found = report(name).findings.into_iter();
        let found = found.into_iter().find(|it| it.rule == "major-gc-heavy");
        found.map(|it| it.title).unwrap_or_default()
    };
    let array = title_of("major-gc-heavy-array");
    assert!(array.contains("walked through 15.3"), "{array}");
    let table = title_of("major-gc-heavy-found");
    assert!(table.contains("copied"), "{table}");
    let compacting = title_of("major-gc-heavy-compacting");
    assert!(compacting.contains("compacted"), "{compacting}");
    let found = report("major-gc-heavy-array").findings;
    assert!(found.iter().all(|it| it.rule != "noisy-machine"));
    // The array lives as long as the program, but is not copied: a table lives until the next one is made.
    let lives = |name: &str| name.starts_with("allocated while it lives");
    let numbers = found.iter().flat_map(|it| &it.numbers);
    let lifetimes: Vec<Value> = numbers
        .filter(|(name, _)| lives(name))
        .map(|(_, value)| *value)
        .collect();
    assert!(
        matches!(lifetimes[..], [Value::Bytes(1_000_000..=16_000_000)]),
        "{lifetimes:?}"
    );
}

/// A full area does not cause major collections one after the other: they are requested.
#[test]
fn collections_right_after_each_other_are_requested() {
    let found = report("forced-gc-full").findings;
    let rules: Vec<&str> = found.iter().map(|it| &*it.rule).collect();
    assert_eq!(rules, ["forced-gc"]);
    assert!(found[0].title.starts_with("40 of 44"), "{}", found[0].title);
}

/// The last major collection may be long before the end, as each comes when live data has doubled. Minor ones show that
/// it still grows.
#[test]
fn growth_goes_on_after_the_last_major_collection() {
    let report = report("live-growth-steady");
    let rules: Vec<&str> = report.findings.iter().map(|it| &*it.rule).collect();
    assert_eq!(rules[..2], ["live-growth", "major-gc-heavy"]);
    // As severe as the collections that it explains.
    assert_eq!(report.findings[0].severity, Severity::High);
}

/// Fixtures must not contain paths of the machine that recorded them.
#[test]
fn logs_have_no_paths_of_the_machine_that_made_them() {
    let folders = ["findings", "findings-ghc-9.10.3", "findings-busy"];
    let entries = folders.iter().flat_map(|folder| {
        let folder = format!("{}/tests/fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(folder).expect("the folder")
    });
    for entry in entries {
        let path = entry.expect("an entry").path();
        let file = std::fs::File::open(&path).expect("a log");
        let mut decoder: Box<dyn std::io::Read> = match path.extension() {
            Some(kind) if kind == "zst" => {
                Box::new(ruzstd::decoding::StreamingDecoder::new(file).expect("zstd"))
            }
            _ => Box::new(flate2::read::GzDecoder::new(file)),
        };
        let mut bytes = Vec::new();
        decoder.read_to_end(&mut bytes).expect("it is whole");
        for root in ["/tmp/", "/home/", "/root/", "/Users/", "/build/"] {
            let has = bytes.windows(root.len()).any(|at| at == root.as_bytes());
            assert!(!has, "{} has a path in {root}", path.display());
        }
    }
}
