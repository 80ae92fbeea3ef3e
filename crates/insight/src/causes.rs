//! Relations between findings: which one is the cause of which symptom.

use std::collections::BTreeMap;

use crate::finding::{Advice, AdviceKind, Confidence, Evidence, Finding, Severity, Value};
use crate::rules;
use model::time::Interval;

/// Symptom and cause rules, of one symptom the deepest cause first.
const CAUSES: &[(&str, &str)] = &[
    ("major-gc-heavy", "threads-never-end"),
    ("major-gc-heavy", "queue-grows"),
    ("major-gc-heavy", "unevaluated"),
    ("major-gc-heavy", "heap-holder"),
    // A consumer that falls behind has most of the work.
    ("one-worker", "queue-grows"),
    ("long-pause", "threads-never-end"),
    // Each has a stack, which may be several large objects.
    ("large-objects", "threads-never-end"),
    ("long-pause", "queue-grows"),
    ("long-pause", "unevaluated"),
    ("long-pause", "heap-holder"),
    ("live-growth", "threads-never-end"),
    ("live-growth", "queue-grows"),
    ("live-growth", "unevaluated"),
    ("live-growth", "pinned-blocks"),
    ("live-growth", "heap-holder"),
    // Data that live threads refer to stays alive with them.
    ("heap-holder", "threads-never-end"),
    // Collections copy what was not evaluated.
    ("nursery-too-small", "threads-never-end"),
    ("nursery-too-small", "queue-grows"),
    ("nursery-too-small", "unevaluated"),
    ("mutual-thunks", "threads-never-end"),
    ("mutual-thunks", "stm-herd"),
    ("mutual-thunks", "timer-storm"),
    ("tiny-threads", "threads-never-end"),
    ("shared-thunk", "stm-herd"),
    ("hand-overs", "threads-never-end"),
    ("hand-overs", "lock-convoy"),
    ("hand-overs", "mutual-thunks"),
    ("hand-overs", "timer-storm"),
    ("hand-overs", "one-worker"),
    ("hand-overs", "lockstep"),
    ("gc-sync-idle-caps", "short-of-cores"),
    ("gc-sync-idle-caps", "one-worker"),
    ("par-gc-unbalanced", "one-worker"),
    ("ready-while-idle", "stm-herd"),
    ("short-of-cores", "stm-herd"),
    ("run-queue", "stm-herd"),
    ("run-queue", "one-capability"),
];

/// Symptom and cause rules that are related only if the check on both findings succeeds.
const CAUSES_BY_EVIDENCE: &[(&str, &str, IsRelated)] = &[
    // A chain of thunks is forced when it is long; a recursion goes deeper from the start, and leaves thunks and stack.
    ("deep-stack", "unevaluated", grows_late),
    ("unevaluated", "deep-stack", has_grown_early),
    ("serial-section", "queue-grows", share_a_subject),
    // A capability whose thread is stopped for a collection runs nothing.
    ("capabilities-unused", "gc-sync-straggler", is_severe),
    // The thread that works alone evaluates what sparks were to evaluate.
    ("serial-section", "sparks", are_mostly_left),
    ("serial-section", "shared-thunk", costs_half),
    ("serial-section", "mutual-thunks", costs_half),
    // Threads that all wake for one commit wait again: no lock.
    ("lock-convoy", "stm-herd", is_severe),
    // They take turns with what its holder has while it sleeps.
    ("lock-convoy", "small-pool", is_severe_or_medium),
    // A lock in a thunk's evaluation, or main that waits for both.
    ("lock-convoy", "mutual-thunks", costs_half),
    // Who holds what the others wait for waits for a core.
    ("lock-convoy", "short-of-cores", is_severe_or_medium),
    // Collections copy the chain of thunks, and stop threads that take turns.
    ("nursery-too-small", "mutual-thunks", is_severe),
    ("par-gc-unbalanced", "mutual-thunks", is_severe),
    // Timers are kept in a table of thunks.
    ("mutual-thunks", "polling", is_severe),
    ("hand-overs", "polling", is_severe),
    ("shared-thunk", "polling", is_severe),
    ("one-at-a-time", "polling", is_severe),
    ("short-of-cores", "polling", is_severe),
    // parList over a long list recurses as deeply as the list is long.
    ("deep-stack", "sparks", is_severe),
    ("live-growth", "deep-stack", is_large_part),
    ("live-growth", "tiny-threads", are_their_stacks),
    ("heap-holder", "deep-stack", is_stack),
    ("lock-convoy", "finalizers", is_no_hint),
    // Each file that is opened gets buffers, which are large objects.
    ("large-objects", "finalizers", is_no_hint),
    // Who makes the threads waits until each has received an exception.
    ("one-worker", "throwto-wait", is_severe),
    ("one-at-a-time", "throwto-wait", is_severe),
    ("major-gc-heavy", "costly-flags", costs_half),
    ("major-gc-heavy", "live-growth", is_severe_or_medium),
    ("long-pause", "costly-flags", costs_half),
    ("major-gc-heavy", "finalizers", is_no_hint),
    // Each thread has a stack, and is woken once at least.
    ("major-gc-heavy", "tiny-threads", is_severe),
    ("remembered-set", "tiny-threads", is_severe),
    // Threads that wait for a core make collections long, however little they copy.
    ("remembered-set", "short-of-cores", is_severe_or_medium),
    ("hand-overs", "tiny-threads", is_severe),
    ("bound-main", "tiny-threads", are_as_many),
    ("mutual-thunks", "short-of-cores", is_severe_or_medium),
    ("nursery-too-small", "finalizers", is_no_hint),
    ("nursery-too-small", "costly-flags", is_time_slice),
    ("major-gc-heavy", "costly-flags", is_time_slice),
    ("major-gc-heavy", "deep-stack", is_stack_involved),
    ("long-pause", "deep-stack", is_stack_involved),
    ("nursery-too-small", "deep-stack", is_stack_involved),
    ("gc-sync-straggler", "short-of-cores", is_hint),
    ("gc-sync-straggler", "large-objects", share_a_subject),
    ("long-pause", "gc-sync-straggler", has_longest),
    ("long-pause", "short-of-cores", has_longest),
    ("par-gc-unbalanced", "capabilities-unused", is_severe),
    ("gc-sync-idle-caps", "capabilities-unused", is_severe),
    ("par-gc-unbalanced", "sparks", is_severe),
    ("nursery-too-small", "sparks", is_severe),
    ("major-gc-heavy", "sparks", is_severe),
    ("gc-sync-idle-caps", "sparks", is_severe),
    ("par-gc-unbalanced", "short-of-cores", none_collected),
    ("nursery-too-small", "short-of-cores", none_collected),
    ("nursery-too-small", "heap-holder", are_threads),
    ("hand-overs", "heap-holder", are_threads),
    ("par-gc-unbalanced", "heap-holder", are_threads),
    ("major-gc-heavy", "short-of-cores", none_collected),
];

/// Checks whether a symptom, the first argument, belongs to a cause.
type IsRelated = fn(&Finding, &Finding) -> bool;

/// The longest evidence of both has a subject in common.
fn share_a_subject(symptom: &Finding, cause: &Finding) -> bool {
    let subjects = |finding: &Finding| {
        let longest = finding.evidence.first();
        longest.map_or_else(Vec::new, |longest| longest.subjects.clone())
    };
    let of_symptom = subjects(symptom);
    subjects(cause).iter().any(|one| of_symptom.contains(one))
}

/// The largest evidence of the cause has at least half of the bytes of the symptom's largest.
fn is_large_part(symptom: &Finding, cause: &Finding) -> bool {
    let largest = |finding: &Finding| finding.evidence.first().map(|one| one.amount);
    match (largest(symptom), largest(cause)) {
        (Some(Value::Bytes(all)), Some(Value::Bytes(part))) => part >= all.div_ceil(2),
        _ => false,
    }
}

/// The stack of the symptom began to grow after the first fifth of the time until it was deepest.
fn grows_late(symptom: &Finding, _: &Finding) -> bool {
    !has_grown_early(symptom, symptom)
}

/// The stack of the cause began to grow in the first fifth of the time until it was deepest.
fn has_grown_early(_: &Finding, cause: &Finding) -> bool {
    let growth = cause.evidence.first().map(|one| one.range);
    growth.is_some_and(|growth| growth.start().0 <= growth.end().0 / 5)
}

/// Less than half of the sparks were converted.
fn are_mostly_left(_: &Finding, cause: &Finding) -> bool {
    let number = |name| cause.number(name).map_or(0.0, Value::size);
    number(rules::sparks::CONVERTED) < number(rules::sparks::SPARKS) / 2.0
}

/// Threads with a stack of a kibibyte each are half of the growth, or more.
fn are_their_stacks(symptom: &Finding, cause: &Finding) -> bool {
    const STACK_BYTES: u64 = 1 << 10;
    let growth = symptom
        .evidence
        .first()
        .map_or(0.0, |one| one.amount.size());
    cause.places.saturating_mul(STACK_BYTES) as f64 >= growth / 2.0
}

/// The stack grows for a fifth of the time or longer, so that a chain of thunks, which collections copied before, is
/// forced; or most of the symptom comes after it has begun to grow.
fn is_stack_involved(symptom: &Finding, cause: &Finding) -> bool {
    let ranges = cause.evidence.iter().map(|one| one.range);
    let Some(growth) = ranges.reduce(Interval::hull) else {
        return true;
    };
    let first = symptom.evidence.iter().map(|one| one.range.start()).min();
    let all = Interval::new(
        first.unwrap_or(growth.start()).min(growth.start()),
        growth.end(),
    );
    let size = |is_counted: &dyn Fn(&Evidence) -> bool| {
        let evidence = symptom.evidence.iter().filter(|one| is_counted(one));
        evidence.map(|one| one.amount.size()).sum::<f64>()
    };
    let later = size(&|one| one.range.end() >= growth.start());
    growth.duration().0 >= all.duration().0 / 5 || later >= size(&|_| true) / 2.0
}

/// The longest of the symptom is one of the times that the cause names.
fn has_longest(symptom: &Finding, cause: &Finding) -> bool {
    let longest = symptom.evidence.first().map(|one| one.range);
    let ranges = cause.evidence.iter().map(|one| one.range);
    { ranges }.any(|range| {
        longest
            .is_some_and(|longest| range.start() < longest.end() && longest.start() < range.end())
    })
}

/// The cause costs at least half as much as the symptom: while one thread evaluates, those that wait for it cannot run.
fn costs_half(symptom: &Finding, cause: &Finding) -> bool {
    match (symptom.cost, cause.cost) {
        (Value::Ns(all), Value::Ns(part)) => part >= all.div_ceil(2),
        _ => false,
    }
}

/// Stacks hold the heap, and one of them has grown.
fn is_stack(symptom: &Finding, _: &Finding) -> bool {
    symptom.title.starts_with("Threads ")
}

/// Threads hold the heap: collections walk their stacks, and each is created and woken.
fn are_threads(_: &Finding, cause: &Finding) -> bool {
    cause.title.starts_with("Threads ")
}

/// Threads are stopped so often that collections find most of them unfinished.
fn is_time_slice(_: &Finding, cause: &Finding) -> bool {
    rules::costly_flags::is_about_time_slice(cause) && cause.severity == Severity::High
}

/// The cause has much of the time.
fn is_severe(_: &Finding, cause: &Finding) -> bool {
    cause.severity == Severity::High
}

/// The cause has half as many places as the symptom, or more: a thread is created, and waited for.
fn are_as_many(symptom: &Finding, cause: &Finding) -> bool {
    symptom.places <= cause.places.saturating_mul(2)
}

/// The cause is more than small.
fn is_severe_or_medium(_: &Finding, cause: &Finding) -> bool {
    cause.severity >= Severity::Medium
}

/// The symptom is only a hint, so the log cannot distinguish it from its cause.
fn is_hint(symptom: &Finding, _: &Finding) -> bool {
    symptom.confidence == Confidence::Hint
}

/// The cause is more than a hint.
fn is_no_hint(_: &Finding, cause: &Finding) -> bool {
    cause.confidence != Confidence::Hint
}

/// For at least half of the symptom's cost, no thread collected for lack of a core.
fn none_collected(symptom: &Finding, cause: &Finding) -> bool {
    let none_collecting = cause.number(rules::short_of_cores::NONE_COLLECTING);
    match (symptom.cost, none_collecting) {
        (Value::Ns(all), Some(Value::Ns(none_collecting_ns))) => {
            none_collecting_ns >= all.div_ceil(2)
        }
        _ => false,
    }
}

/// Rules about pauses, which are less certain on a busy machine.
const ABOUT_PAUSES: &[&str] = &[
    "gc-sync-straggler",
    "idle-gc",
    "forced-gc",
    "census-pauses",
    "remembered-set",
    "long-pause",
];

/// Links each finding to the one that explains it, and lowers the confidence of findings that a busy machine may
/// have caused.
pub(crate) fn link_causes(findings: &mut [Finding]) {
    let matter = findings.iter().filter(|finding| finding.is_significant());
    let matter: Vec<String> = matter.map(|finding| finding.rule.to_string()).collect();
    let is_found = |rule: &str| matter.iter().any(|found| found == rule);
    let is_busy = is_found(rules::noisy_machine::RULE.name);
    let seen = findings
        .iter()
        .map(|finding| cause_by_evidence(finding, findings));
    let seen: Vec<Option<&str>> = seen.collect();
    let is_short = findings.iter().any(|finding| {
        finding.rule == rules::short_of_cores::RULE.name && finding.severity >= Severity::Medium
    });
    if is_short {
        drop_advice_for_serial_programs(findings);
    }
    advise_on_bound_main(findings);
    let is_stack_large = has_stack_like_holder(findings);
    advise_one_area(findings);
    for (finding, seen) in findings.iter_mut().zip(seen) {
        let mut causes = CAUSES.iter().filter(|(rule, _)| *rule == finding.rule);
        let cause = causes.find(|(_, cause)| is_found(cause));
        let cause = cause.map(|(_, cause)| *cause).or(seen);
        let cause = cause.map(|cause| match seen {
            Some("deep-stack") if cause == "heap-holder" && is_stack_large => "deep-stack",
            _ => cause,
        });
        finding.explained_by = cause.map(Into::into);
        // The cause comes first: without it, options that treat the symptom may gain nothing. Data that grows may be
        // wanted, however.
        if cause.is_some_and(|cause| cause != "live-growth") {
            finding.tries.retain(|one| one.kind != AdviceKind::Flag);
        }
        if is_busy && ABOUT_PAUSES.contains(&&*finding.rule) {
            finding.confidence = finding.confidence.min(Confidence::Probable);
        }
    }
    link_to_first_causes(findings);
}

/// Links each finding whose cause is itself explained to the cause of that one, so that it is listed below it.
fn link_to_first_causes(findings: &mut [Finding]) {
    let links = findings.iter().filter_map(|finding| {
        let cause = finding.explained_by.as_ref()?;
        Some((finding.rule.to_string(), cause.to_string()))
    });
    let links: BTreeMap<String, String> = links.collect();
    for finding in findings {
        // No longer than there are links, as these could form a circle.
        for _ in 0..links.len() {
            let cause = finding.explained_by.as_deref();
            let Some(first) = cause.and_then(|cause| links.get(cause)) else {
                break;
            };
            finding.explained_by = Some(first.clone().into());
        }
        if finding.explained_by.as_ref() == Some(&finding.rule) {
            finding.explained_by = None;
        }
    }
}

/// Returns whether a stack grew to half of what holds the heap, or more: then what it refers to is part of that.
fn has_stack_like_holder(findings: &[Finding]) -> bool {
    let of_rule = |rule: &str| findings.iter().find(|finding| finding.rule == rule);
    match (of_rule("heap-holder"), of_rule("deep-stack")) {
        (Some(holder), Some(stack)) => is_large_part(holder, stack),
        _ => false,
    }
}

/// Removes other allocation areas if the rule that estimates what they save names one.
fn advise_one_area(findings: &mut [Finding]) {
    let is_area = |one: &Advice| one.flag.as_ref().is_some_and(|flag| flag.starts_with("-A"));
    let is_estimate = |finding: &Finding| finding.rule == rules::nursery_too_small::RULE.name;
    let estimates = findings.iter().filter(|finding| is_estimate(finding));
    if estimates.flat_map(|finding| &finding.tries).any(is_area) {
        for finding in findings.iter_mut().filter(|finding| !is_estimate(finding)) {
            finding.tries.retain(|one| !is_area(one));
        }
    }
}

/// Threads that a bound main makes change its OS thread on one capability, too: -N1 made them 8 and 13 % slower, and an
/// unbound main six times as fast.
fn advise_on_bound_main(findings: &mut [Finding]) {
    let is_main = |one: &Finding| one.rule == "bound-main" && one.severity >= Severity::Medium;
    if !findings.iter().any(is_main) {
        return;
    }
    for finding in findings.iter_mut().filter(|one| one.rule == "tiny-threads") {
        let advice = { finding.tries.iter_mut() }.find(|one| one.flag.as_deref() == Some("-N1"));
        if let Some(advice) = advice {
            *advice = Advice::code(
                "Run main's body with runInUnboundThread: main is bound to an OS thread of its own, and each change to or from it goes through the kernel.",
            );
        }
    }
}

/// Removes advice to use less parallelism: a program that had no cores looks serial, whatever it is.
fn drop_advice_for_serial_programs(findings: &mut [Finding]) {
    let is_for_serial = |one: &Advice| matches!(one.flag.as_deref(), Some("-N1" | "-qg"));
    for finding in findings {
        if finding.rule != rules::short_of_cores::RULE.name
            && finding.tries.iter().any(|one| !is_for_serial(one))
        {
            finding.tries.retain(|one| !is_for_serial(one));
        }
    }
}

/// Returns the rule that explains a finding according to the evidence of both.
fn cause_by_evidence(finding: &Finding, findings: &[Finding]) -> Option<&'static str> {
    let causes = CAUSES_BY_EVIDENCE
        .iter()
        .filter(|(rule, ..)| *rule == finding.rule);
    let explains = |(_, cause, is_related): &&(&str, &str, IsRelated)| {
        let mut causes = findings.iter().filter(|other| other.rule == *cause);
        // What the machine costs hides no larger problem of the program, unless that is a mere possibility.
        let is_larger = |other: &Finding| {
            other.rule == rules::short_of_cores::RULE.name
                && finding.severity > other.severity
                && finding.confidence != Confidence::Hint
        };
        causes
            .any(|other| other.is_significant() && !is_larger(other) && is_related(finding, other))
    };
    { causes }.find(explains).map(|(_, cause, _)| *cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Axis;
    use crate::rules::RULES;
    use eventlog::ids::{Nanos, ThreadId};
    use model::time::Interval;

    fn found(rule: &'static str) -> Finding {
        Finding {
            severity: Severity::Low,
            ..Finding::new(rule, Axis::Time, rule.to_owned())
        }
    }

    #[test]
    fn a_symptom_names_its_deepest_cause() {
        let late = Interval::new(Nanos(900), Nanos(1000));
        let mut all = [
            found("long-pause"),
            found("deep-stack").with_evidence([Evidence::new(late, Value::Bytes(1))]),
            found("unevaluated"),
        ];
        link_causes(&mut all);
        let causes = all.map(|finding| finding.explained_by);
        let unevaluated = Some("unevaluated".into());
        assert_eq!(causes, [unevaluated.clone(), unevaluated, None]);
    }

    #[test]
    fn a_stack_that_grows_from_the_start_is_a_recursion() {
        for (from, expected) in [
            (200, [None, Some("deep-stack")]),
            (201, [Some("unevaluated"), None]),
        ] {
            let growth = Interval::new(Nanos(from), Nanos(1000));
            let stack = Evidence::new(growth, Value::Bytes(1));
            let mut all = [
                found("deep-stack").with_evidence([stack]),
                found("unevaluated"),
            ];
            link_causes(&mut all);
            let causes = all.each_ref().map(|one| one.explained_by.as_deref());
            assert_eq!(causes, expected, "{from}");
        }
    }

    #[test]
    fn one_thread_works_alone_on_sparks_that_nobody_took() {
        for (converted, cause) in [(49, Some("sparks")), (50, None)] {
            let mut sparks = found("sparks");
            sparks.set_numbers([
                (rules::sparks::SPARKS, Value::Count(100)),
                (rules::sparks::CONVERTED, Value::Count(converted)),
            ]);
            assert_eq!(
                cause_with(found("serial-section"), sparks).as_deref(),
                cause
            );
        }
    }

    #[test]
    fn live_data_grows_by_stacks_of_many_threads() {
        for (places, cause) in [(500, Some("tiny-threads")), (499, None)] {
            let growth = Evidence::new(Interval::default(), Value::Bytes(1000 << 10));
            let threads = Finding {
                places,
                ..found("tiny-threads")
            };
            let symptom = found("live-growth").with_evidence([growth]);
            assert_eq!(cause_with(symptom, threads).as_deref(), cause, "{places}");
        }
    }

    #[test]
    fn a_finding_is_explained_by_the_first_cause_of_its_cause() {
        let mut all = [
            found("hand-overs"),
            found("mutual-thunks"),
            found("timer-storm"),
        ];
        link_causes(&mut all);
        let causes = all.map(|finding| finding.explained_by);
        let timers = Some("timer-storm".into());
        assert_eq!(causes, [timers.clone(), timers, None]);
    }

    /// Returns the cause of a symptom if there is another finding.
    fn cause_with(symptom: Finding, other: Finding) -> Option<String> {
        let mut all = [symptom, other];
        link_causes(&mut all);
        all[0].explained_by.as_deref().map(str::to_owned)
    }

    #[test]
    fn a_serial_part_is_a_queues_if_one_thread_is_in_both() {
        let seen = |rule, thread| {
            let (thread, range) = (ThreadId(thread), Interval::default());
            found(rule).with_evidence([Evidence::for_thread(thread, range, Value::Ns(1))])
        };
        for (thread, cause) in [(5, Some("queue-grows")), (6, None)] {
            let found = cause_with(seen("serial-section", thread), seen("queue-grows", 5));
            assert_eq!(found.as_deref(), cause);
        }
    }

    #[test]
    fn threads_take_turns_with_what_a_sleeper_holds() {
        use Severity::{Low, Medium};
        for (severity, cause) in [(Medium, Some("small-pool")), (Low, None)] {
            let pool = Finding {
                severity,
                ..found("small-pool")
            };
            assert_eq!(cause_with(found("lock-convoy"), pool).as_deref(), cause);
        }
    }

    #[test]
    fn live_data_grows_with_a_stack_that_is_half_of_it() {
        let seen = |rule, bytes| {
            let evidence = Evidence::new(Interval::default(), Value::Bytes(bytes));
            found(rule).with_evidence([evidence])
        };
        for (stack, cause) in [(50, Some("deep-stack")), (49, None)] {
            let found = cause_with(seen("live-growth", 100), seen("deep-stack", stack));
            assert_eq!(found.as_deref(), cause, "{stack}");
        }
    }

    #[test]
    fn collections_are_long_for_want_of_cores_if_nobody_collected_for_half_of_them() {
        for (none_collecting_ns, cause) in [(50, Some("short-of-cores")), (49, None)] {
            let (mut symptom, mut other) = (found("nursery-too-small"), found("short-of-cores"));
            symptom.cost = Value::Ns(100);
            let none_collecting = rules::short_of_cores::NONE_COLLECTING;
            other.set_numbers([(none_collecting, Value::Ns(none_collecting_ns))]);
            assert_eq!(cause_with(symptom, other).as_deref(), cause);
        }
    }

    #[test]
    fn who_came_last_by_chance_came_last_for_want_of_cores() {
        for (confidence, cause) in [
            (Confidence::Hint, Some("short-of-cores")),
            (Confidence::Certain, None),
        ] {
            let straggler = Finding {
                confidence,
                ..found("gc-sync-straggler")
            };
            let found = cause_with(straggler, found("short-of-cores"));
            assert_eq!(found.as_deref(), cause, "{confidence:?}");
        }
    }

    #[test]
    fn only_severe_causes_explain_what_they_bring() {
        use Severity::{High, Low, Medium};
        for (symptom, cause, subject, least) in [
            ("hand-overs", "tiny-threads", None, High),
            ("major-gc-heavy", "tiny-threads", None, High),
            ("par-gc-unbalanced", "capabilities-unused", None, High),
            ("nursery-too-small", "costly-flags", Some("-C0.0001"), High),
            ("major-gc-heavy", "live-growth", None, Medium),
            ("lock-convoy", "short-of-cores", None, Medium),
            ("mutual-thunks", "short-of-cores", None, Medium),
            ("remembered-set", "short-of-cores", None, Medium),
            ("deep-stack", "sparks", None, High),
        ] {
            for severity in [High, Medium, Low] {
                let other = Finding {
                    severity,
                    subject: subject.map(str::to_owned),
                    ..found(cause)
                };
                let expected = (severity >= least).then_some(cause);
                let found = cause_with(found(symptom), other);
                assert_eq!(found.as_deref(), expected, "{symptom}");
            }
        }
    }

    #[test]
    fn the_machine_explains_a_larger_problem_only_if_that_is_uncertain() {
        for (confidence, cause) in [
            (Confidence::Hint, Some("short-of-cores")),
            (Confidence::Probable, None),
        ] {
            let large = Finding {
                severity: Severity::High,
                confidence,
                ..found("remembered-set")
            };
            let cores = Finding {
                severity: Severity::Medium,
                ..found("short-of-cores")
            };
            assert_eq!(cause_with(large, cores).as_deref(), cause);
        }
    }

    #[test]
    fn changes_to_main_are_of_the_threads_that_it_waits_for() {
        let of_places = |rule, places| Finding {
            places,
            ..found(rule)
        };
        for (threads, expected) in [(50, Some("tiny-threads")), (49, None)] {
            let symptom = of_places("bound-main", 100);
            let found = cause_with(symptom, of_places("tiny-threads", threads));
            assert_eq!(found.as_deref(), expected, "{threads}");
        }
    }

    #[test]
    fn one_area_is_advised() {
        let advising = |rule, flag| Finding {
            tries: vec![Advice::flag(flag, "", "")],
            ..found(rule)
        };
        let other_areas = |flag| {
            let mut all = [
                advising("nursery-too-small", flag),
                advising("gc-sync-idle-caps", "-A4m"),
            ];
            link_causes(&mut all);
            assert_eq!(all[0].tries.len(), 1);
            all[1].tries.len()
        };
        assert_eq!(other_areas("-A16m"), 0);
        assert_eq!(other_areas("-qg"), 1);
    }

    #[test]
    fn a_symptom_advises_no_flags() {
        let code = || Advice::code("Hand over batches.");
        let advising = |rule| Finding {
            tries: vec![Advice::flag("-N1", "", ""), code()],
            ..found(rule)
        };
        let mut all = [advising("hand-overs"), advising("lock-convoy")];
        link_causes(&mut all);
        assert_eq!(all[0].tries, [code()]);
        assert_eq!(all[1].tries.len(), 2);
    }

    #[test]
    fn what_hardly_matters_explains_nothing() {
        let stack = Finding {
            severity: Severity::Minor,
            ..found("deep-stack")
        };
        assert_eq!(cause_with(found("long-pause"), stack), None);
    }

    #[test]
    fn on_a_busy_machine_no_pause_is_certain() {
        let mut all = [
            found("long-pause"),
            found("noisy-machine"),
            found("deep-stack"),
        ];
        link_causes(&mut all);
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
        let causes = CAUSES.iter().flat_map(|(rule, cause)| [rule, cause]);
        let by_evidence = CAUSES_BY_EVIDENCE.iter();
        let causes = causes.chain(by_evidence.flat_map(|(rule, cause, _)| [rule, cause]));
        for rule in causes.chain(ABOUT_PAUSES) {
            assert!(RULES.iter().any(|one| one.name == *rule), "{rule}");
        }
    }
}
