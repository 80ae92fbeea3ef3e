//! Findings about threads and capabilities on logs of real programs (`demo/findings`): each rule finds the problem
//! that its program provokes, at the threads that cause it, and nothing in a run that differs only in the relevant
//! aspect.

use crate::common;

use common::{finding_session, findings_of};
use insight::finding::{Axis, Confidence, Finding, Severity, Subject};
use insight::lost_time::Cause;
use insight::report::RuleWithoutFinding;
use model::time::Interval;
use session::Session;

/// Rules with their axes, and the label prefix of the threads that they name.
const CASES: &[(&str, Axis, &str)] = &[
    ("bound-main", Axis::Time, "main"),
    ("ready-while-idle", Axis::Time, "worker-"),
    ("lock-convoy", Axis::Time, "locker-"),
    ("shared-thunk", Axis::Time, "needs-"),
    ("mutual-thunks", Axis::Time, "updater-"),
    ("stm-herd", Axis::Time, "member-"),
    ("serial-section", Axis::Time, "main"),
    ("tiny-threads", Axis::Time, ""),
    ("race-losers", Axis::Time, "slow"),
    ("run-queue", Axis::Latency, "worker-"),
    ("foreign-calls", Axis::Latency, "caller-"),
    ("throwto-wait", Axis::Latency, "killer"),
    ("polling", Axis::Latency, "watcher"),
];

/// Returns the label of the first thread of each piece of evidence.
fn labels(finding: &Finding, session: &Session) -> Vec<String> {
    let store = &session.recording().store;
    let first = finding.evidence.iter().filter_map(|one| {
        one.subjects.iter().find_map(|subject| match subject {
            Subject::Thread(thread) => Some(*thread),
            _ => None,
        })
    });
    let label = |thread| store.label_of(thread).unwrap_or_default().to_owned();
    first.map(label).collect()
}

#[test]
fn each_rule_finds_what_a_program_provokes() {
    for &(rule, axis, wanted) in CASES {
        let session = finding_session(&format!("{rule}-found"));
        let report = findings_of(&session, None);
        let of_axis: Vec<&Finding> = report.findings_on_axis(axis).collect();
        let said: Vec<&str> = of_axis.iter().map(|found| found.title.as_str()).collect();
        let place = of_axis.iter().position(|found| found.rule == rule);
        let place = place.unwrap_or_else(|| panic!("{rule} is not found, but {said:#?}"));
        assert!(place < 2, "{rule} is not first or second of {said:#?}");
        let found = of_axis[place];
        assert!(found.severity > Severity::Minor, "{rule}: {said:#?}");
        assert!((1..=3).contains(&found.tries.len()), "{rule}");
        let labels = labels(found, &session);
        let right = labels.iter().filter(|label| label.starts_with(wanted));
        assert!(
            2 * right.count() > labels.len(),
            "{rule} is about {labels:?}"
        );
        let inside = found.evidence.iter().all(|one| {
            report.range.start() <= one.range.start() && one.range.end() <= report.range.end()
        });
        assert!(inside, "{rule} is seen where nobody looked");
        let sizes: Vec<f64> = found.evidence.iter().map(|one| one.amount.size()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{rule}: {sizes:?}");
    }
}

#[test]
fn each_rule_is_silent_where_nothing_is_wrong() {
    for &(rule, ..) in CASES {
        let report = findings_of(&finding_session(&format!("{rule}-clear")), None);
        let found = report.findings.iter().find(|found| found.rule == rule);
        assert!(found.is_none(), "{rule} is found: {found:#?}");
        let is_it = |passed: &&RuleWithoutFinding| passed.rule == rule;
        assert!(report.clear.iter().any(|passed| is_it(&passed)), "{rule}");
    }
}

/// Findings in a range depend only on what lies in the range.
#[test]
fn half_of_a_log_shows_what_goes_on_in_all_of_it() {
    for rule in ["bound-main", "ready-while-idle", "lock-convoy", "polling"] {
        let session = finding_session(&format!("{rule}-found"));
        let all = findings_of(&session, None).range;
        let middle = eventlog::ids::Nanos(all.start().0.midpoint(all.end().0));
        let half = findings_of(&session, Some(Interval::new(all.start(), middle)));
        let found = half.findings.iter().find(|found| found.rule == rule);
        let found = found.unwrap_or_else(|| panic!("{rule} is not found in the first half"));
        let inside = found.evidence.iter().all(|one| one.range.end() <= middle);
        assert!(inside, "{rule} is seen outside");
    }
}

/// A thread that hardly runs, and that others wait for, waits behind threads that compute.
#[test]
fn who_is_kept_from_answering_is_named() {
    let found = finding("run-queue", "run-queue-requests");
    assert!(found.severity >= Severity::Medium, "{:?}", found.severity);
    assert!(found.meaning.contains("waited"), "{}", found.meaning);
    // All threads compute, and nobody waits for one of them.
    let batch = finding("run-queue", "run-queue-found");
    assert_eq!(batch.severity, Severity::Low);
}

/// With one capability, each answer would wait until the thread that computes is preempted.
#[test]
fn capabilities_that_answer_are_kept() {
    let names_fewer = |log: &str| {
        let found = finding("capabilities-unused", log);
        let mut flags = found.tries.iter().filter_map(|one| one.flag.as_deref());
        flags.any(|flag| flag.starts_with("-N"))
    };
    assert!(!names_fewer("capabilities-unused-answers"));
    assert!(names_fewer("capabilities-unused-found"));
}

/// A pool that loses its slots is not only small.
#[test]
fn slots_that_are_not_given_back_are_told() {
    let tells = |log: &str| {
        let report = findings_of(&finding_session(log), None);
        let pool = report
            .findings
            .iter()
            .find(|found| found.rule == "small-pool");
        pool.expect("a small pool")
            .meaning
            .contains("seem not to be given back")
    };
    assert!(tells("small-pool-lost"));
    // Each place that is given back wakes all that wait, and most of them wait again.
    assert!(tells("small-pool-stm"));
    assert!(!tells("small-pool-found"));
}

/// Returns the finding of a rule about a log.
fn finding(rule: &str, log: &str) -> Finding {
    let found = findings_of(&finding_session(log), None)
        .findings
        .into_iter();
    let found = { found }.find(|found| found.rule == rule);
    found.unwrap_or_else(|| panic!("{rule} finds nothing in {log}"))
}

/// Returns what a rule means to say about a log.
fn meaning(rule: &str, log: &str) -> String {
    finding(rule, log).meaning.into_owned()
}

/// Whoever goes on with the results of others had no uneven share.
#[test]
fn a_thread_that_waited_for_the_others_had_no_larger_share() {
    let merge = meaning("serial-section", "serial-section-merge");
    assert!(
        merge.contains("waited for 2 other threads, and then works alone"),
        "{merge}"
    );
    let uneven = meaning("serial-section", "ready-while-idle-list");
    assert!(
        uneven.starts_with("The shares of the work are uneven"),
        "{uneven}"
    );
}

/// Threads that poll are one finding, if there are many.
#[test]
fn many_threads_that_poll_are_one_finding() {
    let report = findings_of(&finding_session("polling-many"), None);
    let polling = |found: &&Finding| found.rule == "polling";
    let found: Vec<&Finding> = report.findings.iter().filter(polling).collect();
    let [found] = found[..] else {
        panic!("{} findings", found.len());
    };
    assert!(found.title.contains("40 threads"), "{}", found.title);
    assert_eq!(found.places, 40);
}

/// A capability that runs nothing right after a thread has left for a short call waits because of it.
#[test]
fn short_calls_cost_what_capabilities_idle_after_them() {
    let found = finding("short-foreign-calls", "short-foreign-calls-threads");
    let number = |name: &str| {
        let number = found.numbers.iter().find(|(found, _)| found == name);
        number.map(|(_, value)| value.size()).expect("the number")
    };
    let (gaps, calls) = (number("capabilities idle after calls"), number("in calls"));
    assert!(gaps > 0.0 && calls > 0.0);
    let cost = found.cost.size();
    assert!(
        cost * 2.0 >= gaps.max(calls) * 0.99,
        "{cost}, {gaps}, {calls}"
    );
}

/// Returns what a rule says about a log: title and meaning.
fn said(rule: &str, log: &str) -> String {
    let found = finding(rule, log);
    format!("{} {}", found.title, found.meaning)
}

/// Returns the options that a finding advises.
fn flags(finding: &Finding) -> Vec<&str> {
    let tries = finding.tries.iter();
    tries.filter_map(|one| one.flag.as_deref()).collect()
}

/// An area that is nearly all of the memory was asked for: the advice is a smaller one.
#[test]
fn a_huge_area_is_told_with_a_smaller_one() {
    let areas = finding("heap-over-live", "heap-over-live-areas");
    assert_eq!(flags(&areas), ["-A16m"]);
}

/// Threads that all stay alive are copied by several threads, and live longer than any area: neither one capability nor
/// a larger area is advised.
#[test]
fn no_flag_makes_living_threads_cheaper() {
    let found = findings_of(&finding_session("tiny-threads-alive"), None).findings;
    let rules: Vec<&str> = found.iter().map(|finding| &*finding.rule).collect();
    assert_eq!(
        rules,
        ["major-gc-heavy", "tiny-threads", "par-gc-unbalanced"]
    );
    let flags: Vec<&str> = found.iter().flat_map(flags).collect();
    assert_eq!(flags, ["-F4", "-hT -l"]);
}

/// Time that a finding explains is no longer open in the account: nobody runs while one thread waits in `throwTo`, and
/// a capability waits until another one has copied a large object.
#[test]
fn the_account_knows_what_findings_explain() {
    for (rule, log, cause) in [
        ("throwto-wait", "throwto-wait-asleep", Cause::Sleeping),
        ("large-objects", "large-objects-copies", Cause::GcSync),
        ("timer-storm", "timer-storm-found", Cause::HandOver),
    ] {
        let session = finding_session(log);
        let report = findings_of(&session, None);
        let found = report.findings.iter().find(|found| found.rule == rule);
        assert!(found.is_some_and(|found| found.claimed_ns > 0), "{log}");
        let all = report.lost_time.iter().find(|row| row.cause == cause);
        let open = all.map(|row| row.unexplained_cap_ns as f64 / row.cap_ns as f64);
        assert!(open.is_some_and(|open| open < 0.15), "{log}: {open:?}");
    }
}

/// A thread that hardly works is no smaller share of another one's work if labels tell them apart: it fills a queue.
#[test]
fn threads_with_other_labels_have_no_shares_of_the_same_work() {
    let found = findings_of(&finding_session("queue-grows-pair"), None).findings;
    assert_eq!(found[0].rule, "queue-grows");
    assert!(found.iter().all(|one| one.rule != "one-worker"));
}

/// What no finding explains names the threads to look at, and what they waited for.
#[test]
fn what_is_left_open_names_the_busiest_threads() {
    let report = findings_of(&finding_session("hand-overs-decoy"), None);
    let text = views::words::insight::what_is_left_open(&report).expect("most is unexplained");
    let named = ["thread 6 (server) for 29", "thread 7 (client) for "];
    assert!(named.iter().all(|name| text.contains(name)), "{text}");
    assert_eq!(text.matches("by MVar (").count(), 2, "{text}");
}

/// Threads that never run at the same time gain from one capability, others from sharing each step.
#[test]
fn one_capability_is_advised_only_if_the_work_fits() {
    assert_eq!(flags(&finding("lockstep", "lockstep-turns")), ["-N1"]);
    assert_eq!(flags(&finding("lockstep", "lockstep-found")), [""; 0]);
}

/// One bound thread and an unbound one need no second capability to take turns; two bound ones gain nothing without.
#[test]
fn main_that_takes_turns_is_told_to_use_one_capability() {
    let main = finding("hand-overs", "hand-overs-main");
    assert_eq!(flags(&main), ["-N1"]);
}

/// Waits of several threads at once are longer than the log: the cost is the longest one, and a sum is told as such.
#[test]
fn a_sum_over_threads_is_no_time_of_the_log() {
    let found = finding("throwto-wait", "throwto-wait-found");
    assert_eq!(found.cost, found.evidence[0].amount);
    let found = finding("ready-while-idle", "ready-while-idle-found");
    assert!(found.title.contains("summed over threads"));
}

/// Words in the title or the meaning of a finding: `rule log: words`, with `^` before words that the title begins with.
/// The name of the log is that of the rule, a dash, and `log`.
const WORDS: &[&str] = &[
    "small-pool chan: threads waited for a lock, or a pool's only slot",
    "small-pool lost: threads waited for a slot",
    "tiny-threads callbacks: ^Foreign code called Haskell functions",
    "one-at-a-time fresh: 79 other threads, one after the other",
    "tiny-threads os: 2,997 threads had an OS thread each",
    "mutual-thunks finalizers: ^Finalizers of weak pointers",
    "one-worker moved: 80 threads, one after the other",
    "one-at-a-time beaten: 120 times for I/O or a foreign call",
    "one-at-a-time calls: (caller-2) were in 240 foreign calls",
    "one-at-a-time queue: 3 other threads waited for them",
    "short-foreign-calls kernel: of up to 1 µs",
    "throwto-wait often: of 100 µs or more",
    "one-at-a-time groups: waited 30 times for the slowest of several threads",
    "serial-section asleep: threads with work to do slept",
    "serial-section left: work that they left to it",
    "slowest-stage server: compute answers for the others",
    "ready-while-idle halves: only thread 7 (share 30) had work",
    "slowest-stage alone: 2 other threads waited for it",
    "serial-section sort: ^For ",
    "one-at-a-time jobs: ^Thread 5 waited 40 times for a timer",
    "one-at-a-time batch: 8 other threads waited for it",
    "one-at-a-time results: They give work to other threads",
    "lock-convoy commands: perhaps to start commands",
    "threads-never-end third: stayed blocked until the end",
    "heap-holder unread: a Chan has one for each message",
    "tiny-threads pairs: less than 50 µs of work each",
    "finalizers files: ^4,000 short foreign calls",
    "one-worker each: ^Thread 5 waited for 80 threads, one after the other",
    "costly-flags qg: ^With -qg, ",
    "costly-flags slice: ^With -C0.0002, ",
    "large-objects numbers: as if large objects caused them",
    "short-of-cores resuming: had not resumed after a collection",
    "uneven-parts found: ^36 groups of 2 threads that began together",
    "stm-herd alert: 400 times before they run",
    "threads-never-end found: Thread 5 created 1,033 of them.",
    "tiny-threads found: Thread 5 created 5,996 of them.",
    "serial-section sparks: they evaluate only the outermost constructor",
    "heap-holder table: Its size stays the same, but 9 major collections copied it",
    "finalizers cache: ^Weak pointers died in 203 of 230 collections",
];

/// A pool is too small whatever hands its places on; threads that foreign code makes are calls; a clock is not asked.
#[test]
fn causes_that_look_like_others_are_told_from_them() {
    for line in WORDS {
        let (log, words) = line.split_once(": ").expect("words");
        let (rule, kind) = log.split_once(' ').expect("a log");
        let said = said(rule, &format!("{rule}-{kind}"));
        let is_there = match words.strip_prefix('^') {
            Some(words) => said.starts_with(words),
            None => said.contains(words),
        };
        assert!(is_there, "{log}: {said}");
    }
    let convoy = finding("lock-convoy", "lock-convoy-found");
    assert_eq!(flags(&convoy), ["-N1"]);
    let callers = findings_of(&finding_session("one-at-a-time-callers"), None).findings;
    assert!(callers.is_empty(), "{callers:?}");
    let clock = finding("one-at-a-time", "one-at-a-time-clock");
    assert_eq!(clock.severity, Severity::Low, "{}", clock.title);
    let transactional = finding("lock-convoy", "lock-convoy-stm");
    let mut tries = transactional.tries.iter();
    assert!(tries.any(|one| one.text.contains("in place of a TMVar")));
    let sure = finding("finalizers", "finalizers-files").confidence;
    assert_eq!(sure, Confidence::Probable);
}
