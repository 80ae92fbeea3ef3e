//! Matrix of rules and logs: each rule has the log of a program with the problem (`found`) and of the same program
//! without it (`clear`); some have a log that only resembles the problem (`decoy`). The matrix is a snapshot, so
//! that changes of it show up in review.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use common::{findings_of, logs_in, session_of};
use insight::finding::Severity;
use insight::rules::RULES;

/// Rules with findings in each log, with the highest severity.
type FindingsByLog = BTreeMap<String, BTreeMap<String, Severity>>;

/// Returns the findings in the logs of a fixture folder.
fn found_in_logs(folder: &str) -> FindingsByLog {
    let logs = logs_in(folder).map(|(name, bytes)| {
        let session = session_of(&bytes).expect("a log");
        let mut rules: BTreeMap<String, Severity> = BTreeMap::new();
        for finding in findings_of(&session, None).findings {
            let worst = rules
                .entry(finding.rule.into_owned())
                .or_insert(finding.severity);
            *worst = (*worst).max(finding.severity);
        }
        (name, rules)
    });
    logs.collect()
}

/// Returns whether a rule has a finding above minor severity in the log `rule-kind`; `None` if there is no such
/// log.
fn finds(logs: &FindingsByLog, rule: &str, kind: &str) -> Option<bool> {
    let severity = logs.get(&format!("{rule}-{kind}"))?.get(rule);
    Some(severity.is_some_and(|severity| *severity > Severity::Minor))
}

/// Renders one line per rule: its result in its own logs, then the other logs in which it has findings.
fn matrix(logs: &FindingsByLog) -> String {
    let mut text = String::new();
    for rule in RULES {
        let of = |log: &str| {
            let rules = logs.get(log)?;
            Some(rules.get(rule.name).map_or("–", |severity| severity.name()))
        };
        let own = ["found", "clear", "decoy"].map(|kind| format!("{}-{kind}", rule.name));
        let [found, clear, decoy] = [0, 1, 2].map(|place| of(&own[place]).unwrap_or("no log"));
        let _ = write!(
            text,
            "{:<22} found: {found:<7} clear: {clear:<7} decoy: {decoy:<7}",
            rule.name
        );
        let own: BTreeSet<&String> = own.iter().collect();
        let others = logs.iter().filter(|(log, _)| !own.contains(log));
        let others = others
            .filter_map(|(log, rules)| Some(format!("{log} ({})", rules.get(rule.name)?.name())));
        let others: Vec<String> = others.collect();
        let _ = writeln!(text, " also in: {}", others.join(", "));
    }
    text.lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn which_rule_finds_what_in_which_log() {
    let logs = found_in_logs("findings");
    for rule in RULES.iter().map(|rule| rule.name) {
        let [found, clear, decoy] =
            ["found", "clear", "decoy"].map(|kind| finds(&logs, rule, kind));
        assert_ne!(found, Some(false), "{rule} misses its own log");
        assert_ne!(clear, Some(true), "{rule} in the repaired log");
        assert_ne!(decoy, Some(true), "{rule} in the decoy");
    }
    // Variants of the same problem.
    for (rule, kind) in [
        ("costly-flags", "limit"),
        ("finalizers", "many"),
        ("gc-sync-straggler", "often"),
        ("large-objects", "stacks"),
        ("lockstep", "turns"),
        ("one-at-a-time", "asks"),
        ("one-at-a-time", "calls"),
        ("one-at-a-time", "commands"),
        ("one-at-a-time", "groups"),
        ("one-at-a-time", "jobs"),
        ("one-at-a-time", "looks"),
        ("one-worker", "ahead"),
        ("one-worker", "threads"),
        ("one-worker", "workers"),
        ("pinned-blocks", "slices"),
        ("queue-grows", "fast"),
        ("ready-while-idle", "halves"),
        ("ready-while-idle", "loop"),
        ("remembered-set", "array"),
        ("remembered-set", "wide"),
        ("serial-section", "sort"),
        ("serial-section", "turns"),
        ("slowest-stage", "alone"),
        ("sparks", "list"),
        ("run-queue", "requests"),
        ("small-pool", "lost"),
        ("small-pool", "stm"),
        ("threads-never-end", "beats"),
    ] {
        assert_eq!(finds(&logs, rule, kind), Some(true), "{rule}-{kind}");
    }
    insta::assert_snapshot!(matrix(&logs));
}

/// Returns the logs of a folder in which a rule does not give the expected result.
fn differences(folder: &str) -> Vec<String> {
    let logs = found_in_logs(folder);
    assert!(logs.len() > 80, "{} logs in {folder}", logs.len());
    let mut differences = Vec::new();
    for rule in RULES.iter().map(|rule| rule.name) {
        for (kind, expected) in [("found", true), ("clear", false), ("decoy", false)] {
            if finds(&logs, rule, kind) == Some(!expected) {
                differences.push(format!("{rule}-{kind}"));
            }
        }
    }
    differences
}

#[test]
fn another_ghc_changes_nothing() {
    assert_eq!(differences("findings-ghc-9.10.3"), [""; 0]);
}

/// The same programs with GHC 9.0.2 while two endless loops ran on the two cores.
#[test]
fn a_busy_machine_is_short_of_cores_and_hides_nothing() {
    // The machine is short of cores in all of these logs, whatever the program does.
    let expected = ["short-of-cores-clear", "short-of-cores-decoy"];
    assert_eq!(differences("findings-busy"), expected);
}
