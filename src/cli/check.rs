//! `eventscope check FILE`.

use std::io;
use std::path::PathBuf;

use serde_json::json;

use super::{Condition, Failure, Input, Out, Output, Table, cap_or_dash, report, say};
use analysis::check::Check;
use analysis::findings::{Fact, Finding, Subject};
use eventlog::names::Key;
use eventlog::{Names, Record};
use views::words::findings::{self as words, Told};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Two passes: the first collects the names of threads.
pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let input = Input::open(&arguments.file)?;
    let mut names = Names::default();
    input.read(&mut names)?;
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
    table.end()?;
    out.flush()?;
    summarise(&check);
    let condition = report(&reader);
    Ok(if check.findings == 0 {
        condition
    } else {
        Condition::Damaged
    })
}

fn print_finding(finding: &Finding, names: &Names, table: &mut Table<'_>) -> io::Result<()> {
    let Fact::Order { subject, problem } = &finding.fact else {
        return Ok(());
    };
    let cap = finding.cap.map(|cap| cap.0);
    let name = name(subject.as_ref(), names);
    if table.is_json() {
        let mut object = serde_json::to_value(Told::from(finding))?;
        object["name"] = json!(name);
        return table.object(&object);
    }
    let label = name.map_or_else(String::new, |name| format!(" ({name})"));
    let subject = words::subject_or_none(subject.as_ref());
    table.row(&[
        finding.start().unwrap_or_default().0.into(),
        cap_or_dash(cap),
        format!("{subject}{label}").into(),
        words::of_problem(*problem).into(),
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
