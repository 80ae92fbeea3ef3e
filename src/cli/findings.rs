//! `eventscope findings FILE`: reports performance problems of the program.

use std::fmt;

use super::{Condition, Failure, LogRangeArguments, Out, report};
use insight::finding::{Axis, Finding};
use insight::report::{Report, RuleWithoutFinding};
use model::format;
use session::queries::FindingsQuery;
use views::words::insight as words;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    of: LogRangeArguments,
    /// Also show minor findings, and the rules that are clear or undecided
    #[arg(long)]
    all: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.of.read()?;
    let found = session.ask(&FindingsQuery(range)).unwrap_or_default();
    if arguments.of.json {
        out.json(&found)?;
    } else {
        out.text(Text {
            report: &found,
            all: arguments.all,
        })?;
    }
    Ok(report(session.reader()))
}

/// Report as plain text.
struct Text<'a> {
    report: &'a Report,
    all: bool,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let shown = |finding: &&Finding| self.all || finding.is_significant();
        let is_log = |finding: &&Finding| finding.axis == Axis::Log;
        let shown: Vec<&Finding> = report.findings.iter().filter(shown).collect();
        let hidden = report.findings.len() - shown.len();
        let (log, program): (Vec<&Finding>, Vec<&Finding>) = shown.into_iter().partition(is_log);
        if let Some(text) = words::sampled(report) {
            writeln!(f, "{text}\n")?;
        }
        if let Some(text) = words::what_is_left_open(report) {
            writeln!(f, "{text}\n")?;
        }
        for finding in program {
            write_finding(report, finding, f)?;
        }
        if !log.is_empty() {
            writeln!(f, "{}\n", Axis::Log.title())?;
        }
        for finding in log {
            write_finding(report, finding, f)?;
        }
        let minor = match hidden {
            0 => String::new(),
            hidden => format!(", and {hidden} minor"),
        };
        writeln!(
            f,
            "{}{minor}. {}{}.",
            format::pluralize((report.findings.len() - hidden) as u64, "finding"),
            words::checked(report),
            if self.all { "" } else { " (--all shows all)" }
        )?;
        let (from, to) = (report.range.start(), report.range.end());
        writeln!(
            f,
            "Range: {} – {}. In brackets: severity, confidence and rule.",
            format::time(from),
            format::time(to)
        )?;
        write_lost_time(report, f)?;
        if self.all {
            write_passed("Clear", &report.clear, f)?;
            write_passed("Undecided", &report.cannot_tell, f)?;
        }
        if let Some(command) = &report.try_command {
            writeln!(f, "\n{}: {command}", words::MEASURE)?;
        }
        Ok(())
    }
}

/// Writes the table of lost time, including the part that no finding explains.
fn write_lost_time(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if report.lost_time.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{}\n", words::LOST_TIME)?;
    let rows = report.lost_time.iter();
    let rows = rows.map(|row| words::lost_time(row, report.caps));
    let heads = words::LOST_TIME_COLUMNS.map(str::to_owned);
    for [cause, numbers @ ..] in std::iter::once(heads).chain(rows) {
        write!(f, "    {cause:<44}")?;
        for number in numbers {
            write!(f, " {number:>15}")?;
        }
        writeln!(f)?;
    }
    writeln!(f, "\n{}", words::unexplained(report))
}

fn write_finding(report: &Report, finding: &Finding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "{} [{}, {}, {}]\n    {}",
        finding.title,
        finding.severity.name(),
        finding.confidence.name(),
        finding.rule,
        finding.meaning
    )?;
    if let Some(cause) = report.cause_title(finding) {
        writeln!(f, "    Explained by: {cause}")?;
    }
    let is_symptom = |other: &&Finding| other.explained_by.as_ref() == Some(&finding.rule);
    let symptoms = report.findings.iter().filter(is_symptom).count();
    if symptoms > 0 {
        let many = format::pluralize(symptoms as u64, "finding");
        writeln!(f, "    Explains {many} below.")?;
    }
    for attempt in &finding.tries {
        let what = match &attempt.flag {
            Some(flag) => format!("Try {flag}"),
            None => "Advice".to_owned(),
        };
        let price = attempt
            .price
            .as_ref()
            .map(|price| format!(" (price: {price})"));
        let price = price.unwrap_or_default();
        writeln!(f, "    {what}: {}{price}", attempt.text)?;
    }
    writeln!(f, "    {}: {}", words::CAVEAT, finding.distrust)?;
    const SHOWN: usize = 3;
    if finding.places > SHOWN as u64 {
        writeln!(f, "    The largest {SHOWN} of {}:", finding.places)?;
    }
    for place in finding.evidence.iter().take(SHOWN) {
        let subjects = place
            .subjects
            .iter()
            .map(|subject| report.subject_name(*subject));
        let (from, to) = (place.range.start(), place.range.end());
        let when = match from == to {
            true => format!("At {}", format::time(from)),
            false => format!("{} – {}", format::time(from), format::time(to)),
        };
        writeln!(
            f,
            "    {when}: {}{}{}",
            subjects.collect::<Vec<_>>().join(", "),
            if place.subjects.is_empty() { "" } else { ", " },
            finding.amount_text(place)
        )?;
    }
    writeln!(f)
}

fn write_passed(
    title: &str,
    passed: &[RuleWithoutFinding],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if !passed.is_empty() {
        writeln!(f, "\n{title}")?;
    }
    for passed in passed {
        writeln!(f, "    {} {}", passed.question, passed.why)?;
    }
    Ok(())
}
