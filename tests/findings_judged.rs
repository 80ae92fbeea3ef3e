//! What the rules say of logs of real programs, each finding judged once by its evidence and
//! by what the program does: `tests/findings_judged.txt`. A rule that says something else now
//! has to be judged again.

mod common;

use std::collections::BTreeMap;

use common::{cases, findings_of, session_of};
use insight::finding::Finding;

const JUDGED: &str = include_str!("findings_judged.txt");

/// What stands between a finding and the judgement.
const BETWEEN: &str = " -- ";

/// The findings by log, without their judgements.
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
    for case in cases() {
        let Ok(session) = session_of(&case.bytes()) else {
            continue;
        };
        let report = findings_of(&session, None);
        let matter = report.findings.iter().filter(|found| found.matters());
        let said: Vec<String> = matter.map(line).collect();
        let known = judged.get(&*case.name).map_or(&[][..], Vec::as_slice);
        if said != known {
            other += &format!("{}\n  {}\n", case.name, said.join("\n  "));
        }
    }
    assert!(other.is_empty(), "these are to be judged again:\n{other}");
}
