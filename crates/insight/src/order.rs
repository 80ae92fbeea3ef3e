//! The order of findings: symptoms stand below their causes.

use std::cmp::Reverse;

use crate::finding::{Axis, Finding, Severity};
use model::sorting::CompactSort;

/// Sorts by severity, with each symptom below its cause. A cause has at least the severity of its symptoms. Among
/// equals, the finding that claims the most time with its symptoms is first.
pub(crate) fn sorted(findings: Vec<Finding>) -> Vec<Finding> {
    let with_symptoms = |finding: &'_ Finding| {
        let symptoms = findings.iter();
        let symptoms = symptoms.filter(|one| one.explained_by.as_ref() == Some(&finding.rule));
        let of_all = symptoms.map(|one| (one.severity, one.claimed_ns));
        of_all.fold((finding.severity, finding.claimed_ns), |all, one| {
            (all.0.max(one.0), all.1.saturating_add(one.1))
        })
    };
    let key = |finding: &Finding| {
        let is_log = finding.axis == Axis::Log;
        let (severity, claimed_ns) = with_symptoms(finding);
        let claimed = Reverse(claimed_ns);
        (
            !finding.is_significant(),
            is_log,
            Reverse(severity),
            claimed,
        )
    };
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_small_by(|a, b| {
        let (a, b) = (&findings[*a], &findings[*b]);
        let by_share = b.share.total_cmp(&a.share);
        let by_trust = b.confidence.cmp(&a.confidence);
        key(a).cmp(&key(b)).then(by_share).then(by_trust)
    });
    // Finding to sort below; of several findings of the causing rule, the first.
    let cause_of = |index: usize| {
        let rule = findings[index].explained_by.as_ref()?;
        let is_cause = |other: &usize| findings[*other].rule == *rule;
        order.iter().copied().find(is_cause)
    };
    // Only one level of nesting: a symptom has no symptoms below it.
    let is_symptom = |index: usize| cause_of(index).is_some_and(|cause| cause_of(cause).is_none());
    let (symptoms, causes): (Vec<usize>, Vec<usize>) = order
        .iter()
        .copied()
        .partition(|index| findings[*index].is_significant() && is_symptom(*index));
    let below = |cause: usize| {
        symptoms
            .iter()
            .copied()
            .filter(move |one| cause_of(*one) == Some(cause))
    };
    let all: Vec<usize> = causes
        .iter()
        .flat_map(|cause| std::iter::once(*cause).chain(below(*cause)))
        .collect();
    let severities: Vec<Severity> = findings.iter().map(|one| with_symptoms(one).0).collect();
    let findings = findings.into_iter().zip(severities);
    let mut rest: Vec<Option<Finding>> = findings
        .map(|(finding, severity)| {
            Some(Finding {
                severity,
                ..finding
            })
        })
        .collect();
    all.into_iter()
        .filter_map(|index| rest[index].take())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::causes::link_causes;

    fn found(rule: &'static str) -> Finding {
        Finding {
            severity: Severity::Low,
            ..Finding::new(rule, Axis::Time, rule.to_owned())
        }
    }

    #[test]
    fn causes_come_before_what_is_less_grave_and_symptoms_right_below_them() {
        let of = |rule: &'static str, severity, claimed_ns| Finding {
            severity,
            claimed_ns,
            ..found(rule)
        };
        let log = Finding {
            axis: Axis::Log,
            ..of("classes-missing", Severity::High, 0)
        };
        let mut all = vec![
            log,
            of("forced-gc", Severity::Low, 900),
            of("par-gc-unbalanced", Severity::Medium, 1),
            of("idle-gc", Severity::Minor, 5_000),
            of("long-pause", Severity::Medium, 0),
            of("major-gc-heavy", Severity::High, 7),
            of("deep-stack", Severity::Low, 0),
            of("serial-section", Severity::Medium, 2),
        ];
        link_causes(&mut all);
        let order: Vec<String> = sorted(all)
            .into_iter()
            .map(|one| one.rule.to_string())
            .collect();
        let expected = [
            "deep-stack",
            "major-gc-heavy",
            "long-pause",
            "serial-section",
            "par-gc-unbalanced",
            "forced-gc",
            "classes-missing",
            "idle-gc",
        ];
        assert_eq!(order, expected);
    }

    proptest! {
        /// No finding is lost, whatever the relations; findings may even explain each other.
        #[test]
        fn an_order_has_all(places in prop::collection::vec((0_usize..6, 0_usize..8), 0..12)) {
            const RULES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
            let findings: Vec<Finding> = places.iter().map(|(rule, cause)| Finding {
                explained_by: RULES.get(*cause).map(|cause| (*cause).into()),
                ..found(RULES[*rule])
            }).collect();
            prop_assert_eq!(sorted(findings).len(), places.len());
        }
    }
}
