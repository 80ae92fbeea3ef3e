//! Findings in logs of real programs, each judged once by its evidence and by what the program does:
//! `tests/findings_judged.txt`. If a rule changes its findings, they have to be judged again.

use crate::common;

use std::collections::BTreeMap;

use common::{cases, findings_of, logs_in, session_of};
use insight::finding::Finding;

const JUDGED: &str = include_str!("findings_judged.txt");

/// Separator between a finding and its judgment.
const BETWEEN: &str = " -- ";

/// Returns the findings of each log, without their judgments.
fn judged() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut log = "";
    for line in JUDGED.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => log = line,
            Some(found) => {
                let (found, judgement) = found.split_once(BETWEEN).expect("a judgement");
                let word = judgement.split(':').next().unwrap_or_default();
                assert!(matches!(word, "true" | "arguable"), "{line}");
                all.entry(log).or_default().push(found);
            }
        }
    }
    all
}

fn line(finding: &Finding) -> String {
    let severity = finding.severity.name();
    format!("{} {severity}: {}", finding.identity(), finding.title)
}

#[test]
fn each_finding_is_judged() {
    let judged = judged();
    let mut other = String::new();
    let corpus = cases().into_iter();
    let corpus = corpus.map(|case| (case.name.clone(), case.bytes()));
    // Logs recorded for single rules; other rules may have findings in them too.
    let made_for_rules =
        logs_in("findings").map(|(name, bytes)| (format!("findings/{name}"), bytes));
    for (name, bytes) in corpus.chain(made_for_rules) {
        let Ok(session) = session_of(&bytes) else {
            continue;
        };
        let report = findings_of(&session, None);
        let matter = report
            .findings
            .iter()
            .filter(|found| found.is_significant());
        let said: Vec<String> = matter.map(line).collect();
        let known = judged.get(&*name).map_or(&[][..], Vec::as_slice);
        if said != known {
            other += &format!("{name}\n  {}\n", said.join("\n  "));
        }
    }
    assert!(other.is_empty(), "these are to be judged again:\n{other}");
}
