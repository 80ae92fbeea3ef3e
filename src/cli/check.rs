//! `eventscope check FILE`: validates the behavior of threads, capabilities, tasks and sparks.

use std::io;

use serde_json::json;

use super::{Condition, Failure, LogFile, Out, Output, Table, cap_or_dash, print_message, report};
use analysis::account::facts::LogCompleteness;
use analysis::capability::CapLifetimes;
use analysis::check::Check;
use analysis::diagnostics::{Diagnostic, Fact, Subject};
use eventlog::names::Key;
use eventlog::{Names, Record, Sink};
use views::words::diagnostics::{self as words, DiagnosticJson};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    output: Output,
}

/// Reads the log twice: the first pass collects thread names and capabilities.
pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let input = arguments.log.open()?;
    let mut names = Names::default();
    let mut lives = CapLifetimes::default();
    input.read(&mut |record: &Record<'_>| {
        names.offer(record);
        lives.event(record);
    })?;
    let columns = ["time", "cap", "subject", "problem"];
    let mut table = Table::lines(out, arguments.output, &columns)?;
    let mut check = Check::default();
    let mut written = Ok(());
    let mut print = |diagnostic: Diagnostic| {
        if written.is_ok() {
            written = print_diagnostic(&diagnostic, &names, &mut table);
        }
    };
    let reader = input.read(&mut |record: &Record<'_>| check.event(record, &mut print))?;
    check.finish();
    written?;
    let known = LogCompleteness::from_damage(&reader.damage(), reader.inflate_error().is_none());
    let missing: Vec<Diagnostic> = lives.missing_buffers(known).collect();
    for diagnostic in &missing {
        print_diagnostic(diagnostic, &names, &mut table)?;
    }
    table.end()?;
    out.flush()?;
    summarize(&check);
    let found = Condition::new(check.diagnostics > 0 || !missing.is_empty());
    Ok(report(&reader).max(found))
}

fn print_diagnostic(
    diagnostic: &Diagnostic,
    names: &Names,
    table: &mut Table<'_>,
) -> io::Result<()> {
    let subjects = diagnostic.subjects();
    let (subject, problem) = match &diagnostic.fact {
        Fact::Order { subject, problem } => (subject.as_ref(), words::problem_text(*problem)),
        _ => (subjects.first(), words::sentence(diagnostic)),
    };
    let name = name(subject, names);
    if table.is_json() {
        let mut object = serde_json::to_value(DiagnosticJson::from(diagnostic))?;
        object["name"] = json!(name);
        return table.object(&object);
    }
    let label = name.map_or_else(String::new, |name| format!(" ({name})"));
    let subject = words::subject_or_none(subject);
    table.row(&[
        diagnostic.start().unwrap_or_default().into(),
        cap_or_dash(diagnostic.cap),
        format!("{subject}{label}").into(),
        problem.into(),
    ])
}

/// Returns the label of the thread that a diagnostic concerns.
fn name<'a>(subject: Option<&Subject>, names: &'a Names) -> Option<&'a str> {
    match subject {
        Some(Subject::Thread(thread)) => names.get(Key::Thread(*thread)),
        _ => None,
    }
}

/// Prints the number of diagnostics and of tolerated deviations to standard error.
fn summarize(check: &Check) {
    let diagnostics = words::out_of_order(check.diagnostics);
    let tolerated = check.tolerated.iter().map(|(what, count)| (*what, *count));
    match words::all_tolerated(tolerated) {
        None => print_message(diagnostics),
        Some(tolerated) => print_message(format_args!("{diagnostics}; tolerated: {tolerated}")),
    }
}
