//! What explains what: findings that are causes, and those that are their symptoms.

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::finding::{Axis, Confidence, Finding, Try, Value};
use crate::rules;
use model::sorting::CompactSort;

/// What a rule finds, and the rules that can explain it, the deepest cause first.
const CAUSES: &[(&str, &[&str])] = &[
    ("deep-stack", &["unevaluated"]),
    (
        "major-gc-heavy",
        &[
            "threads-never-end",
            "queue-grows",
            "unevaluated",
            "heap-holder",
            "deep-stack",
        ],
    ),
    (
        "long-pause",
        &[
            "threads-never-end",
            "queue-grows",
            "unevaluated",
            "heap-holder",
            "deep-stack",
            "short-of-cores",
        ],
    ),
    (
        "live-growth",
        &[
            "threads-never-end",
            "queue-grows",
            "unevaluated",
            "heap-holder",
        ],
    ),
    // What threads refer to is kept with them.
    ("heap-holder", &["threads-never-end"]),
    ("nursery-too-small", &["queue-grows"]),
    ("hand-overs", &["lock-convoy", "mutual-thunks"]),
    ("gc-sync-idle-caps", &["short-of-cores"]),
    ("run-queue", &["one-capability"]),
];

/// The same, where both, the symptom first, show it.
const CAUSES_BY_EVIDENCE: &[(&str, &str, Shows)] = &[
    ("serial-section", "queue-grows", share_a_subject),
    ("live-growth", "deep-stack", is_large_part),
    ("gc-sync-straggler", "short-of-cores", is_hint),
    ("par-gc-unbalanced", "short-of-cores", nobody_collected),
    ("nursery-too-small", "short-of-cores", nobody_collected),
    ("major-gc-heavy", "short-of-cores", nobody_collected),
];

/// Whether a symptom and a cause belong together.
type Shows = fn(&Finding, &Finding) -> bool;

/// The longest evidence of both is of one thread.
fn share_a_subject(symptom: &Finding, cause: &Finding) -> bool {
    let subjects = |finding: &Finding| {
        let longest = finding.evidence.first();
        longest.map_or_else(Vec::new, |longest| longest.subjects.clone())
    };
    let of_symptom = subjects(symptom);
    subjects(cause).iter().any(|one| of_symptom.contains(one))
}

/// The largest that the cause holds is half of the bytes of the other, or more.
fn is_large_part(symptom: &Finding, cause: &Finding) -> bool {
    let largest = |finding: &Finding| finding.evidence.first().map(|one| one.amount);
    match (largest(symptom), largest(cause)) {
        (Some(Value::Bytes(all)), Some(Value::Bytes(part))) => part >= all.div_ceil(2),
        _ => false,
    }
}

/// The log does not tell the symptom from the cause.
fn is_hint(symptom: &Finding, _: &Finding) -> bool {
    symptom.confidence == Confidence::Hint
}

/// For half of what the symptom costs or more, nobody collected for want of a core.
fn nobody_collected(symptom: &Finding, cause: &Finding) -> bool {
    let mut numbers = cause.numbers.iter();
    let nobody = numbers.find(|(name, _)| name == rules::short_of_cores::NOBODY);
    match (symptom.cost, nobody) {
        (Value::Ns(all), Some((_, Value::Ns(nobody_ns)))) => *nobody_ns >= all.div_ceil(2),
        _ => false,
    }
}

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
    let seen = findings
        .iter()
        .map(|finding| cause_by_evidence(finding, findings));
    let seen: Vec<Option<&str>> = seen.collect();
    let advised = flags_of_each(findings);
    for (finding, seen) in findings.iter_mut().zip(seen) {
        let causes = CAUSES.iter().find(|(rule, _)| *rule == finding.rule);
        let mut causes = causes.iter().flat_map(|(_, causes)| causes.iter().copied());
        let cause = causes.find(|cause| is_found(cause)).or(seen);
        finding.explained_by = cause.map(Into::into);
        // A flag is advised once, with the cause.
        let of_cause = cause.and_then(|cause| advised.iter().find(|(rule, _)| rule == cause));
        if let Some((_, flags)) = of_cause {
            let is_new = |one: &Try| !one.flag.as_ref().is_some_and(|flag| flags.contains(flag));
            if finding.tries.iter().any(is_new) {
                finding.tries.retain(is_new);
            }
        }
        if is_busy && ABOUT_PAUSES.contains(&&*finding.rule) {
            finding.confidence = finding.confidence.min(Confidence::Probable);
        }
    }
}

/// The flags that each rule advises that found something.
fn flags_of_each(findings: &[Finding]) -> Vec<(String, Vec<Cow<'static, str>>)> {
    let flags = |finding: &Finding| {
        let flags = finding.tries.iter().filter_map(|one| one.flag.clone());
        (finding.rule.to_string(), flags.collect())
    };
    let matter = findings.iter().filter(|finding| finding.matters());
    matter.map(flags).collect()
}

/// The rule that explains a finding, as the evidence of both shows.
fn cause_by_evidence(finding: &Finding, findings: &[Finding]) -> Option<&'static str> {
    let mut causes = CAUSES_BY_EVIDENCE.iter();
    let (_, cause, shows) = causes.find(|(rule, ..)| *rule == finding.rule)?;
    let mut causes = findings.iter().filter(|other| other.rule == *cause);
    causes
        .any(|other| other.matters() && shows(finding, other))
        .then_some(*cause)
}

/// The gravest first, each symptom below its cause. A cause is as grave as the gravest of its
/// symptoms. Of those that are alike, what claims most time comes first.
pub(crate) fn in_order(findings: Vec<Finding>) -> Vec<Finding> {
    let severity_of = |finding: &Finding| {
        let symptoms = findings.iter();
        let symptoms = symptoms.filter(|one| one.explained_by.as_ref() == Some(&finding.rule));
        let all = symptoms.chain(std::iter::once(finding));
        all.map(|one| one.severity).max()
    };
    let key = |finding: &Finding| {
        let is_log = finding.axis == Axis::Log;
        let claimed = Reverse(finding.claimed_ns);
        (
            !finding.matters(),
            is_log,
            Reverse(severity_of(finding)),
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
    // What a finding stands below: of several findings of one rule, the first.
    let cause_of = |place: usize| {
        let rule = findings[place].explained_by.as_ref()?;
        let is_cause = |other: &usize| findings[*other].rule == *rule;
        order.iter().copied().find(is_cause)
    };
    // What stands below another one has nothing below itself.
    let is_symptom = |place: usize| cause_of(place).is_some_and(|cause| cause_of(cause).is_none());
    let (symptoms, causes): (Vec<usize>, Vec<usize>) = order
        .iter()
        .copied()
        .partition(|place| findings[*place].matters() && is_symptom(*place));
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
    let mut rest: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
    all.into_iter()
        .filter_map(|place| rest[place].take())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::finding::{Evidence, Severity, Subject};
    use crate::rules::RULES;
    use eventlog::ids::ThreadId;
    use model::time::Interval;

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
    fn a_serial_part_is_a_queues_if_one_thread_is_in_both() {
        let seen = |rule, thread| {
            found(rule).seen_in([Evidence {
                range: Interval::default(),
                subjects: vec![Subject::Thread(ThreadId(thread))],
                amount: Value::Ns(1),
            }])
        };
        let mut all = [seen("serial-section", 5), seen("queue-grows", 5)];
        relate(&mut all);
        assert_eq!(all[0].explained_by.as_deref(), Some("queue-grows"));
        let mut all = [seen("serial-section", 6), seen("queue-grows", 5)];
        relate(&mut all);
        assert_eq!(all[0].explained_by, None);
    }

    #[test]
    fn live_data_grows_with_a_stack_that_is_half_of_it() {
        let seen = |rule, bytes| {
            found(rule).seen_in([Evidence {
                range: Interval::default(),
                subjects: Vec::new(),
                amount: Value::Bytes(bytes),
            }])
        };
        for (stack, cause) in [(50, Some("deep-stack")), (49, None)] {
            let mut all = [seen("live-growth", 100), seen("deep-stack", stack)];
            relate(&mut all);
            assert_eq!(all[0].explained_by.as_deref(), cause, "{stack}");
        }
    }

    #[test]
    fn collections_are_long_for_want_of_cores_if_nobody_collected_for_half_of_them() {
        for (nobody_ns, cause) in [(50, Some("short-of-cores")), (49, None)] {
            let mut all = [found("nursery-too-small"), found("short-of-cores")];
            all[0].cost = Value::Ns(100);
            let nobody = rules::short_of_cores::NOBODY;
            all[1].numbers = vec![(nobody.into(), Value::Ns(nobody_ns))];
            relate(&mut all);
            assert_eq!(all[0].explained_by.as_deref(), cause, "{nobody_ns}");
        }
    }

    #[test]
    fn who_came_last_by_chance_came_last_for_want_of_cores() {
        for (confidence, cause) in [
            (Confidence::Hint, Some("short-of-cores")),
            (Confidence::Certain, None),
        ] {
            let mut all = [found("gc-sync-straggler"), found("short-of-cores")];
            all[0].confidence = confidence;
            relate(&mut all);
            assert_eq!(all[0].explained_by.as_deref(), cause, "{confidence:?}");
        }
    }

    #[test]
    fn a_flag_is_advised_with_the_cause_alone() {
        let advising = |rule, flags: &[&'static str]| {
            let tries = flags.iter().map(|flag| Try::flag(*flag, "", ""));
            Finding {
                tries: tries.collect(),
                ..found(rule)
            }
        };
        let flags_of_symptom = |symptom: &[&'static str]| {
            let mut all = [
                advising("hand-overs", symptom),
                advising("lock-convoy", &["-N1"]),
            ];
            relate(&mut all);
            let flags = all[0].tries.iter().filter_map(|one| one.flag.clone());
            flags.collect::<Vec<_>>()
        };
        assert_eq!(flags_of_symptom(&["-N1", "-qg"]), ["-qg"]);
        // Nothing would be left.
        assert_eq!(flags_of_symptom(&["-N1"]), ["-N1"]);
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
        let by_evidence = CAUSES_BY_EVIDENCE.iter();
        let causes = causes.chain(by_evidence.flat_map(|(rule, cause, _)| [rule, cause]));
        for rule in causes.chain(ABOUT_PAUSES) {
            assert!(RULES.iter().any(|one| one.name == *rule), "{rule}");
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
            of("nursery-too-small", Severity::Low, 900),
            of("par-gc-unbalanced", Severity::Medium, 1),
            of("idle-gc", Severity::Minor, 5_000),
            of("long-pause", Severity::Medium, 0),
            of("major-gc-heavy", Severity::High, 7),
            of("deep-stack", Severity::Low, 0),
            of("serial-section", Severity::Medium, 2),
        ];
        relate(&mut all);
        let order: Vec<String> = in_order(all)
            .into_iter()
            .map(|one| one.rule.to_string())
            .collect();
        let expected = [
            "deep-stack",
            "major-gc-heavy",
            "long-pause",
            "serial-section",
            "par-gc-unbalanced",
            "nursery-too-small",
            "classes-missing",
            "idle-gc",
        ];
        assert_eq!(order, expected);
    }

    proptest! {
        /// None is lost, whatever explains what: findings may even explain each other.
        #[test]
        fn an_order_has_all(places in prop::collection::vec((0_usize..6, 0_usize..8), 0..12)) {
            const RULES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
            let findings: Vec<Finding> = places.iter().map(|(rule, cause)| Finding {
                explained_by: RULES.get(*cause).map(|cause| (*cause).into()),
                ..found(RULES[*rule])
            }).collect();
            prop_assert_eq!(in_order(findings).len(), places.len());
        }
    }
}
