//! Texts for the results of the rules, in addition to those of the findings themselves.

use super::capitalized;
use insight::Report;
use insight::finding::{Axis, Confidence, Finding, Severity, Subject, Value};
use insight::lost_time::{Cause, LostTime};
use scene::format;

/// Returns the display name of a severity.
pub const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Minor => "Minor",
        Severity::Low => "Low",
        Severity::Medium => "Medium",
        Severity::High => "High",
    }
}

/// Describes the confidence of a finding: briefly, and in a sentence.
pub const fn confidence(confidence: Confidence) -> (&'static str, &'static str) {
    match confidence {
        Confidence::Hint => (
            "a hint",
            "This is a hint: the log does not prove it. Check the places before you change anything.",
        ),
        Confidence::Probable => (
            "probable",
            "This is probable: the pattern fits, but the log does not name the cause.",
        ),
        Confidence::Certain => (
            "certain",
            "This is certain: no other cause produces these events.",
        ),
    }
}

/// Explanation of the confidence levels.
pub const HOW_SURE: &str = "Certain: no other cause produces these events. Probable: the pattern fits, but the log does not name the cause. Hint: check the places before you change anything.";

/// Explains how costs in time are averaged over capabilities; `None` for a single one.
pub fn program_time(caps: usize) -> Option<String> {
    (caps > 1).then(|| {
        format!(
            "Costs are averages over {caps} capabilities: one capability idle for {caps} ms counts as 1 ms."
        )
    })
}

/// Heading of the reasons to distrust a finding.
pub const CAVEAT: &str = "Caveat";

/// Heading of the command that measures the suggested flags.
pub const MEASURE: &str = "To measure the proposed flags";

/// Explanation of that command.
pub const MEASURE_HOW: &str = "Runs the program without a log, unchanged and with each flag in turn, and reports which flags are faster. Run it where the program is.";

/// Formats the cost of a finding with its share; empty if there is none. A cost in time excludes what other
/// findings claim.
pub fn cost(finding: &Finding) -> String {
    match finding.cost {
        Value::Ns(cost_ns) if finding.axis == Axis::Time => {
            let claimed_ns = finding.claimed_ns.min(cost_ns);
            if claimed_ns == 0 && cost_ns > 0 {
                return "counted in other findings".to_owned();
            }
            let part = claimed_ns as f64 / cost_ns.max(1) as f64;
            let claimed = format::duration_ns(claimed_ns);
            format!("{claimed} · {}", format::fraction(finding.share * part))
        }
        cost if cost.size() <= 0.0 => String::new(),
        // The title names what is counted.
        Value::Count(_) => String::new(),
        cost if finding.axis == Axis::Memory && finding.share > 0.0 => {
            format!("{cost} · {}", format::fraction(finding.share))
        }
        cost => cost.to_string(),
    }
}

/// Refers to the finding that explains this one, by its title.
pub fn explained_by(title: &str) -> String {
    format!("Explained by another finding: {title}.")
}

/// Explains the cost in a sentence, if it needs explanation.
pub fn cost_explained(finding: &Finding) -> Option<String> {
    match (finding.axis, finding.cost) {
        // Both are rounded, so a difference that does not show is none.
        (Axis::Time, Value::Ns(cost_ns))
            if finding.claimed_ns < cost_ns
                && format::duration_ns(finding.claimed_ns) != format::duration_ns(cost_ns) =>
        {
            Some(format!(
                "Total cost: {}. Findings with a more certain cause count {} of it; no time is counted twice.",
                format::duration_ns(cost_ns),
                format::duration_ns(cost_ns - finding.claimed_ns)
            ))
        }
        (Axis::Memory, _) if finding.share > 0.0 => Some(format!(
            "This is {} of the peak heap.",
            format::fraction(finding.share)
        )),
        _ => None,
    }
}

/// Summarizes the rules: `Checked 20 rules: 3 with findings, 12 clear, 5 undecided`.
pub fn checked(report: &Report) -> String {
    let (clear, cannot_tell) = (report.clear.len(), report.cannot_tell.len());
    let found = match report.rules_with_findings() {
        0 => String::new(),
        found => format!("{found} with findings, "),
    };
    format!(
        "Checked {}: {found}{clear} clear, {cannot_tell} undecided",
        format::pluralize(report.rule_count() as u64, "rule")
    )
}

/// Formats the reason of a rule as a sentence.
pub fn sentence(why: &str) -> String {
    format!("{}.", capitalized(why.trim_end_matches('.')))
}

/// States that nothing important was found, together with the number of rules that ran, because rules cannot prove
/// that a program is fine.
pub fn nothing_found(report: &Report) -> String {
    // No rule ran, all for the same reason, for example a log of several processes.
    let same = report
        .cannot_tell
        .windows(2)
        .all(|two| two[0].why == two[1].why);
    if let Some(first) = report.cannot_tell.first()
        && same
        && report.clear.is_empty()
    {
        return format!("No rules ran. {}", sentence(&first.why));
    }
    let silent = report.cannot_tell.len() as u64;
    let could_not = match silent {
        0 => String::new(),
        silent => format!(", {} could not", format::count(silent)),
    };
    format!(
        "No problems found in {}: {} ran{could_not}.",
        format::duration(report.range.duration()),
        format::pluralize(report.rule_count() as u64 - silent, "rule"),
    )
}

/// Title of the lost time table.
pub const LOST_TIME: &str = "Capability time by cause, mean of all capabilities";

/// Column titles of the lost time table.
pub const LOST_TIME_COLUMNS: [&str; 5] =
    ["Cause", "Mean time", "Share", "In findings", "Unexplained"];

/// Formats a row of the lost time table; times are means over `caps` capabilities.
pub fn lost_time(row: &LostTime, caps: u64) -> [String; 5] {
    let wall = |cap_ns: u64| match cap_ns / caps.max(1) {
        0 => "–".to_owned(),
        ns => format::duration_ns(ns),
    };
    let [claimed, left] = if row.cause.is_lost() {
        [wall(row.claimed_cap_ns), wall(row.unexplained_cap_ns)]
    } else {
        [String::new(), String::new()]
    };
    let share = format::fraction(row.share);
    [
        row.cause.title().to_owned(),
        wall(row.cap_ns),
        share,
        claimed,
        left,
    ]
}

/// Describes which part of a log with very many runs was analyzed by the rules that look at each run.
pub fn sampled(report: &Report) -> Option<String> {
    let sample = report.sample?;
    Some(format!(
        "Threads ran {}: rules that examine each run covered only {} to {}. Their times, counts and shares apply to that range; select another range to analyze it.",
        format::pluralize(sample.of_runs, "time"),
        format::time(sample.range.start()),
        format::time(sample.range.end())
    ))
}

/// States what the findings leave open: much unexplained time with its main cause, or else that the program computes,
/// which a log without samples of cost centres does not show. `None` if neither is so.
pub fn what_is_left_open(report: &Report) -> Option<String> {
    mostly_unexplained(report).or_else(|| mostly_computing(report))
}

/// States that a program without grave findings computed, and how to see what.
fn mostly_computing(report: &Report) -> Option<String> {
    /// Minimum mean number of running capabilities outside of collections, and altogether.
    const BUSY: f64 = 0.8;
    const MIN_BUSY: f64 = 0.5;
    /// Share of the capabilities from which the program works in parallel.
    const PARALLEL: f64 = 0.8;
    /// Divisor of the range: findings that claim more are what to look into first.
    const MUCH: u64 = 3;
    let running = { report.lost_time.iter() }.find(|row| row.cause == Cause::Running)?;
    let capabilities = running.cap_ns as f64 / report.range.duration().0.max(1) as f64;
    let mut undecided = report.cannot_tell.iter();
    let has_no_samples = undecided.any(|rule| rule.rule == "hot-cost-centre");
    let of_time = report.findings.iter();
    let of_time = of_time.filter(|one| one.axis == Axis::Time && one.is_significant());
    let grave = { of_time.clone() }.filter(|one| one.severity >= Severity::Medium);
    let claimed_ns = grave.map(|one| one.claimed_ns);
    let claimed_ns = claimed_ns.fold(0, u64::saturating_add);
    // What matters on another axis, such as memory, costs time too.
    let is_answer = |finding: &Finding| match finding.axis {
        Axis::Time => finding.severity >= Severity::High,
        Axis::Log => false,
        // Censuses are of the profile, not of the program.
        _ if finding.rule == "census-pauses" => false,
        _ => finding.severity >= Severity::Medium,
    };
    let is_answered =
        report.findings.iter().any(is_answer) || claimed_ns > report.range.duration().0 / MUCH;
    let in_gc = [
        Cause::Collecting,
        Cause::GcSync,
        Cause::GcWaiting,
        Cause::Census,
    ];
    let in_gc = report
        .lost_time
        .iter()
        .filter(|row| in_gc.contains(&row.cause));
    let outside_of_gc = 1.0 - in_gc.map(|row| row.share).sum::<f64>();
    let is_busy = capabilities >= MIN_BUSY && capabilities >= BUSY * outside_of_gc;
    if !is_busy || !has_no_samples || is_answered {
        return None;
    }
    let nothing = match of_time.count() {
        0 => ", and no finding is about time",
        _ => "",
    };
    let is_parallel = report.caps > 1 && capabilities >= PARALLEL * report.caps as f64;
    let repeats = match is_parallel {
        true => {
            " If it uses STM: transactions that conflict run again, which no event shows. Compare the time with -N1."
        }
        false => "",
    };
    Some(format!(
        "On average {capabilities:.1} of {} ran threads{nothing}: the program computes (or is in unsafe foreign calls, which look the same).{repeats} This log does not show which functions ran. A profile by cost centres does: build with -prof -fprof-late, and run with +RTS -p -l.{}",
        format::pluralize(report.caps, "capability"),
        busiest(report)
    ))
}

/// States how much lost time is unexplained, and its main cause; `None` if it is at most a fifth of the range, or less
/// than what the findings explain.
fn mostly_unexplained(report: &Report) -> Option<String> {
    /// Divisor of the range: a smaller unexplained part is not worth looking into first.
    const MUCH: u64 = 5;
    let lost = report.lost_time.iter().filter(|row| row.cause.is_lost());
    let claimed_cap_ns: u64 = { lost.clone() }.map(|row| row.claimed_cap_ns).sum();
    let explained_ns = claimed_cap_ns / report.caps.max(1);
    if report.unexplained_ns <= explained_ns.max(report.range.duration().0 / MUCH) {
        return None;
    }
    let most = lost.max_by_key(|row| row.unexplained_cap_ns)?;
    let for_outside = matches!(most.cause, Cause::Sleeping | Cause::Outside);
    let may_be_no_loss = match for_outside {
        true => " If the program had nothing to do then, nothing is lost.",
        false => "",
    };
    Some(format!(
        "{} Largest cause: {}.{may_be_no_loss}{}",
        unexplained(report),
        most.cause.title(),
        busiest(report)
    ))
}

/// Names the busiest threads and what they waited for, after a space; empty if there are none.
fn busiest(report: &Report) -> String {
    let threads = report.busiest.iter().map(|busy| {
        let name = report.subject_name(Subject::Thread(busy.thread));
        let name = name.replacen("Thread", "thread", 1);
        let waited = match &busy.longest_wait {
            Some(wait) => {
                let ns = format::duration_ns(wait.ns);
                format!("blocked longest by {} ({ns} in all)", wait.reason)
            }
            None => "never blocked".to_owned(),
        };
        format!("{name} for {}, {waited}", format::duration_ns(busy.ran_ns))
    });
    let threads: Vec<String> = threads.collect();
    match threads.is_empty() {
        true => String::new(),
        false => format!(" Threads that ran longest: {}.", threads.join("; ")),
    }
}

/// Share of unknown time from which it is stated.
const MUCH_UNKNOWN: f64 = 0.05;

/// Formats the total unexplained time.
pub fn unexplained(report: &Report) -> String {
    let mut text = format!(
        "Not explained by any finding: {} ({}).",
        format::duration_ns(report.unexplained_ns),
        format::percent(report.unexplained_ns, report.range.duration().0)
    );
    let unknown = report
        .lost_time
        .iter()
        .find(|row| row.cause == Cause::Unknown);
    if let Some(unknown) = unknown.filter(|row| row.share >= MUCH_UNKNOWN) {
        text.push_str(&format!(
            " {} are unknown: the log has no events of threads there.",
            format::fraction(unknown.share)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;
    use insight::finding::Finding;
    use insight::report::RuleWithoutFinding;
    use model::time::Interval;

    fn of_time(cost_ns: u64, claimed_ns: u64, share: f64) -> Finding {
        Finding {
            cost: Value::Ns(cost_ns),
            claimed_ns,
            share,
            ..Finding::new("rule", Axis::Time, String::new())
        }
    }

    #[test]
    fn a_cost_of_time_is_what_is_claimed_of_it() {
        let all = of_time(2_000_000, 2_000_000, 0.2);
        assert_eq!(
            cost(&all),
            format!(
                "{} · {}",
                format::duration_ns(2_000_000),
                format::fraction(0.2)
            )
        );
        assert_eq!(cost_explained(&all), None);
        let half = of_time(2_000_000, 1_000_000, 0.2);
        assert_eq!(
            cost(&half),
            format!(
                "{} · {}",
                format::duration_ns(1_000_000),
                format::fraction(0.1)
            )
        );
        assert!(cost_explained(&half).unwrap().contains("counted twice"));
        let rounded = of_time(567_000_001, 567_000_000, 0.4);
        assert_eq!(cost_explained(&rounded), None);
        let nothing = Finding::new("rule", Axis::Log, String::new());
        assert_eq!(cost(&nothing), "");
    }

    #[test]
    fn a_program_that_computes_needs_a_profile() {
        let running = |cap_ns| LostTime {
            cause: Cause::Running,
            cap_ns,
            ns: cap_ns / 2,
            share: cap_ns as f64 / 200.0,
            claimed_cap_ns: 0,
            unexplained_cap_ns: 0,
        };
        let report = |cap_ns, findings| Report {
            range: Interval::new(Nanos(0), Nanos(100)),
            caps: 2,
            lost_time: vec![running(cap_ns)],
            cannot_tell: vec![RuleWithoutFinding {
                rule: "hot-cost-centre".to_owned(),
                question: String::new(),
                why: String::new(),
            }],
            findings,
            ..Report::default()
        };
        let text = what_is_left_open(&report(95, Vec::new())).expect("a sentence");
        assert!(text.contains("of 2") && text.contains("-prof"), "{text}");
        // A finding about a tenth of the time does not say what it computes.
        let found = |severity, claimed_ns| Finding {
            severity,
            ..of_time(claimed_ns, claimed_ns, claimed_ns as f64 / 100.0)
        };
        let text = what_is_left_open(&report(95, vec![found(Severity::Medium, 10)]));
        assert!(text.is_some_and(|text| text.contains("ran threads: the program computes")));
        // It waits for most of the time, has a grave finding about time or one about much of it, or has samples.
        assert_eq!(what_is_left_open(&report(50, Vec::new())), None);
        // It runs for most of the time outside of collections.
        let mut collecting = report(65, Vec::new());
        assert_eq!(what_is_left_open(&collecting), None);
        collecting.lost_time.push(LostTime {
            cause: Cause::Collecting,
            share: 0.3,
            ..running(0)
        });
        assert!(what_is_left_open(&collecting).is_some());
        for found in [found(Severity::High, 10), found(Severity::Medium, 40)] {
            assert_eq!(what_is_left_open(&report(95, vec![found])), None);
        }
        // Another axis is an answer, too, unless it is about the censuses of the profile.
        let other = |rule| Finding {
            severity: Severity::Medium,
            ..Finding::new(rule, Axis::Latency, String::new())
        };
        assert_eq!(
            what_is_left_open(&report(95, vec![other("long-pause")])),
            None
        );
        assert!(what_is_left_open(&report(95, vec![other("census-pauses")])).is_some());
        let mut sampled = report(95, Vec::new());
        sampled.cannot_tell.clear();
        assert_eq!(what_is_left_open(&sampled), None);
    }

    #[test]
    fn what_is_not_in_the_log_is_said() {
        let unknown = |share| Report {
            range: Interval::new(Nanos(0), Nanos(100)),
            lost_time: vec![LostTime {
                cause: Cause::Unknown,
                cap_ns: 100,
                ns: 100,
                share,
                claimed_cap_ns: 0,
                unexplained_cap_ns: 0,
            }],
            ..Report::default()
        };
        assert!(unexplained(&unknown(0.5)).contains("are unknown"));
        assert!(!unexplained(&unknown(0.01)).contains("are unknown"));
    }

    #[test]
    fn much_that_is_not_explained_is_said_with_the_most_of_it() {
        let row = |cause, claimed, left| LostTime {
            cause,
            cap_ns: claimed + left,
            ns: claimed + left,
            share: 0.5,
            claimed_cap_ns: claimed,
            unexplained_cap_ns: left,
        };
        let report = |claimed, serial| Report {
            caps: 1,
            range: Interval::new(Nanos(0), Nanos(100)),
            lost_time: vec![
                row(Cause::GcWaiting, claimed, 10),
                row(Cause::Serial, 0, serial),
            ],
            unexplained_ns: 10 + serial,
            ..Report::default()
        };
        let text = mostly_unexplained(&report(20, 11)).unwrap();
        assert!(
            text.ends_with(&format!("{}.", Cause::Serial.title())),
            "{text}"
        );
        assert!(!text.contains("nothing is lost"), "{text}");
        let mut idle = report(0, 0);
        idle.lost_time.push(row(Cause::Sleeping, 0, 60));
        idle.unexplained_ns += 60;
        let text = mostly_unexplained(&idle).unwrap();
        assert!(text.contains("nothing is lost"), "{text}");
        assert_eq!(mostly_unexplained(&report(0, 10)), None);
        assert_eq!(mostly_unexplained(&report(21, 11)), None);
    }

    #[test]
    fn rules_are_counted_once_each() {
        let passed = |rule: &str| RuleWithoutFinding {
            rule: rule.to_owned(),
            question: String::new(),
            why: String::new(),
        };
        let report = Report {
            findings: vec![of_time(2, 2, 0.5), of_time(1, 1, 0.25)],
            clear: vec![passed("a"), passed("b")],
            cannot_tell: vec![passed("c")],
            ..Report::default()
        };
        assert_eq!(
            checked(&report),
            "Checked 4 rules: 1 with findings, 2 clear, 1 undecided"
        );
        assert!(nothing_found(&report).contains("3 rules ran, 1 could not"));
    }

    #[test]
    fn a_cost_is_what_no_other_finding_claims() {
        let mut finding = Finding::new("rule", Axis::Time, "A title".to_owned());
        (finding.cost, finding.share) = (Value::Ns(4_000_000), 0.4);
        for (claimed_ns, text) in [
            (4_000_000, "4.00 ms · 40.0 %"),
            (1_000_000, "1.000 ms · 10.0 %"),
            (0, "counted in other findings"),
        ] {
            finding.claimed_ns = claimed_ns;
            assert_eq!(cost(&finding).replace('\u{a0}', " "), text);
        }
    }
}
