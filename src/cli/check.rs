//! `eventscope check FILE`.

use std::io;

use serde_json::json;

use super::{Condition, Failure, LogFile, Out, Output, Table, cap_or_dash, report, say};
use analysis::account::facts::Condition as Known;
use analysis::capability::Lives;
use analysis::check::Check;
use analysis::findings::{Fact, Finding, Subject};
use eventlog::names::Key;
use eventlog::{Names, Record, Sink};
use views::words::findings::{self as words, Told};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    output: Output,
}

/// Two passes: the first collects the names of threads, and which capabilities
/// there are.
pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let input = arguments.log.open()?;
    let mut names = Names::default();
    let mut lives = Lives::default();
    input.read(&mut |record: &Record<'_>| {
        names.offer(record);
        lives.event(record);
    })?;
    let columns = ["time", "cap", "subject", "problem"];
    let mut table = Table::lines(out, arguments.output, &columns)?;
    let mut check = Check::default();
    let mut written = Ok(());
    let mut print = |finding: Finding| {
        if written.is_ok() {
            written = print_finding(&finding, &names, &mut table);
        }
    };
    let reader = input.read(&mut |record: &Record<'_>| check.event(record, &mut print))?;
    check.finish();
    written?;
    let known = Known::of(&reader.damage(), reader.inflate_error().is_none());
    let missing: Vec<Finding> = lives.missing_buffers(known).collect();
    for finding in &missing {
        print_finding(finding, &names, &mut table)?;
    }
    table.end()?;
    out.flush()?;
    summarise(&check);
    let condition = report(&reader);
    Ok(if check.findings == 0 && missing.is_empty() {
        condition
    } else {
        Condition::Damaged
    })
}

fn print_finding(finding: &Finding, names: &Names, table: &mut Table<'_>) -> io::Result<()> {
    let subjects = finding.subjects();
    let (subject, problem) = match &finding.fact {
        Fact::Order { subject, problem } => (subject.as_ref(), words::of_problem(*problem)),
        _ => (subjects.first(), words::sentence(finding)),
    };
    let cap = finding.cap.map(|cap| cap.0);
    let name = name(subject, names);
    if table.is_json() {
        let mut object = serde_json::to_value(Told::from(finding))?;
        object["name"] = json!(name);
        return table.object(&object);
    }
    let label = name.map_or_else(String::new, |name| format!(" ({name})"));
    let subject = words::subject_or_none(subject);
    table.row(&[
        finding.start().unwrap_or_default().0.into(),
        cap_or_dash(cap),
        format!("{subject}{label}").into(),
        problem.into(),
    ])
}

/// The label of the thread that a finding is about.
fn name<'a>(subject: Option<&Subject>, names: &'a Names) -> Option<&'a str> {
    match subject {
        Some(Subject::Thread(thread)) => names.get(Key::Thread(*thread)),
        _ => None,
    }
}

/// Says on standard error what was found and what was let pass.
fn summarise(check: &Check) {
    let findings = words::out_of_order(check.findings);
    let tolerated = check.tolerated.iter().map(|(what, count)| (*what, *count));
    match words::all_tolerated(tolerated) {
        None => say(findings),
        Some(tolerated) => say(format_args!("{findings}; tolerated: {tolerated}")),
    }
}
