//! Findings are available rule by rule while later rules still run.

use std::pin::pin;

use insight::report::Progress;
use insight::rules::RULES;
use session::queries::{FindingsProgressQuery, FindingsQuery};
use session::query::Query;

use crate::common::finding_session;
use crate::common::polling::{AlwaysYield, poll};

#[test]
fn findings_are_told_one_by_one() {
    let session = finding_session("serial-section-turns");
    let progress = |answered| FindingsProgressQuery {
        range: None,
        answered,
    };
    let question = FindingsQuery(None);
    let mut whole = pin!(question.answer(&session, &AlwaysYield));
    assert!(poll(whole.as_mut()).is_none(), "it takes a while");
    let mut told: Vec<Progress> = Vec::new();
    let report = 'all: loop {
        let question = progress(told.last().map_or(0, |last| last.answered));
        let mut next = pin!(question.answer(&session, &AlwaysYield));
        loop {
            if let Some(report) = poll(whole.as_mut()) {
                break 'all report.expect("the log is whole");
            }
            match poll(next.as_mut()) {
                Some(Some(now)) => break told.push(now),
                Some(None) => panic!("the rules are at work"),
                None => {}
            }
        }
    };
    assert!(told.len() > 10, "{}", told.len());
    for pair in told.windows(2) {
        assert!(pair[0].answered < pair[1].answered);
        assert!(pair[1].found.starts_with(&pair[0].found));
    }
    let last = told.last().expect("many");
    assert_eq!(last.rules, RULES.len());
    assert!(!last.found.is_empty());
    for (severity, title) in &last.found {
        let mut all = report.findings.iter();
        assert!(
            all.any(|one| one.title == *title && one.severity == *severity),
            "{title}"
        );
    }
    // No progress remains after the report is complete.
    let question = progress(0);
    let mut after = pin!(question.answer(&session, &AlwaysYield));
    assert_eq!(poll(after.as_mut()), Some(None));
}
