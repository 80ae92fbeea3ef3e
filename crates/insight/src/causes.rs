//! What explains what: findings that are causes, and those that are their symptoms.

use crate::finding::{Confidence, Finding};
use crate::rules;

/// What a rule finds, and the rules that can explain it, the deepest cause first.
const CAUSES: &[(&str, &[&str])] = &[
    ("deep-stack", &["unevaluated"]),
    (
        "major-gc-heavy",
        &["unevaluated", "heap-holder", "deep-stack"],
    ),
    ("long-pause", &["unevaluated", "heap-holder", "deep-stack"]),
    ("live-growth", &["unevaluated", "heap-holder"]),
    ("run-queue", &["one-capability"]),
];

/// Rules about pauses: a busy machine makes them less sure.
const ABOUT_PAUSES: &[&str] = &[
    "gc-sync-straggler",
    "idle-gc",
    "forced-gc",
    "census-pauses",
    "remembered-set",
    "long-pause",
];

/// Says of each finding which other one explains it, and takes certainty from those that a
/// busy machine may have brought about.
pub(crate) fn relate(findings: &mut [Finding]) {
    let matter = findings.iter().filter(|finding| finding.matters());
    let matter: Vec<String> = matter.map(|finding| finding.rule.to_string()).collect();
    let is_found = |rule: &str| matter.iter().any(|found| found == rule);
    let is_busy = is_found(rules::noisy_machine::NAME);
    for finding in findings {
        let causes = CAUSES.iter().find(|(rule, _)| *rule == finding.rule);
        let mut causes = causes.iter().flat_map(|(_, causes)| causes.iter().copied());
        finding.explained_by = causes.find(|cause| is_found(cause)).map(Into::into);
        if is_busy && ABOUT_PAUSES.contains(&&*finding.rule) {
            finding.confidence = finding.confidence.min(Confidence::Probable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Axis, Severity};
    use crate::rules::RULES;

    fn found(rule: &'static str) -> Finding {
        Finding {
            severity: Severity::Low,
            ..Finding::new(rule, Axis::Time, rule.to_owned())
        }
    }

    #[test]
    fn a_symptom_names_its_deepest_cause() {
        let mut all = [
            found("long-pause"),
            found("deep-stack"),
            found("unevaluated"),
        ];
        relate(&mut all);
        let causes = all.map(|finding| finding.explained_by);
        let unevaluated = Some("unevaluated".into());
        assert_eq!(causes, [unevaluated.clone(), unevaluated, None]);
    }

    #[test]
    fn what_hardly_matters_explains_nothing() {
        let mut all = [found("long-pause"), found("deep-stack")];
        all[1].severity = Severity::Minor;
        relate(&mut all);
        assert_eq!(all[0].explained_by, None);
    }

    #[test]
    fn on_a_busy_machine_no_pause_is_certain() {
        let mut all = [
            found("long-pause"),
            found("noisy-machine"),
            found("deep-stack"),
        ];
        relate(&mut all);
        let sure = all.map(|finding| finding.confidence);
        assert_eq!(
            sure,
            [
                Confidence::Probable,
                Confidence::Certain,
                Confidence::Certain
            ]
        );
    }

    #[test]
    fn all_of_them_are_rules() {
        let causes = CAUSES
            .iter()
            .flat_map(|(rule, causes)| causes.iter().chain([rule]));
        for rule in causes.chain(ABOUT_PAUSES) {
            assert!(RULES.iter().any(|one| one.name == *rule), "{rule}");
        }
    }
}
