//! Which rule finds what in which log: each rule has a log of a program with the problem (`found`), of
//! the same program without it (`clear`), and some have one that looks like it and is not
//! (`decoy`). The matrix is a snapshot, so that a change of it is seen in review.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use common::{findings_of, session_of};
use insight::finding::Severity;
use insight::rules::RULES;

/// The rules that find something in each log, with how grave it is.
fn found_in_logs() -> BTreeMap<String, BTreeMap<String, Severity>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/findings");
    let logs = std::fs::read_dir(folder).expect("the folder").map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let name = name.strip_suffix(".eventlog.gz").expect("a log").to_owned();
        let bytes = std::fs::read(&path).expect("the log can be read");
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

/// A line for each rule: what it says of its own logs, then in which others it finds something.
fn matrix(logs: &BTreeMap<String, BTreeMap<String, Severity>>) -> String {
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
    let logs = found_in_logs();
    for rule in RULES {
        let is_found = |kind: &str| {
            let rules = logs.get(&format!("{}-{kind}", rule.name))?;
            Some(
                rules
                    .get(rule.name)
                    .is_some_and(|severity| *severity > Severity::Minor),
            )
        };
        assert_ne!(
            is_found("found"),
            Some(false),
            "{} misses its own log",
            rule.name
        );
        assert_ne!(
            is_found("clear"),
            Some(true),
            "{} in the repaired log",
            rule.name
        );
        assert_ne!(is_found("decoy"), Some(true), "{} in the decoy", rule.name);
    }
    insta::assert_snapshot!(matrix(&logs));
}
