//! `eventscope check FILE`.

use std::io;
use std::path::PathBuf;

use serde_json::json;

use super::{Condition, Failure, Input, Out, Output, Table, cap_or_dash, report, say};
use analysis::check::{Check, Finding, Subject};
use eventlog::names::Key;
use eventlog::{Names, Record};

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
    let Finding {
        time,
        cap,
        subject,
        problem,
    } = finding;
    let cap = cap.map(|cap| cap.0);
    let name = name(*subject, names);
    if table.is_json() {
        return table.object(&json!({
            "time": time.0,
            "cap": cap,
            "subject": subject.to_string(),
            "name": name,
            "problem": problem.to_string(),
        }));
    }
    let label = name.map_or_else(String::new, |name| format!(" ({name})"));
    table.row(&[
        time.0.into(),
        cap_or_dash(cap),
        format!("{subject}{label}").into(),
        problem.to_string().into(),
    ])
}

fn name(subject: Subject, names: &Names) -> Option<&str> {
    match subject {
        Subject::Thread(thread) => names.get(Key::Thread(thread)),
        Subject::Capability(_) | Subject::Task(_) => None,
    }
}

/// Says on standard error what was found and what was let pass.
fn summarise(check: &Check) {
    let findings = match check.findings {
        0 => "nothing is out of order".to_owned(),
        1 => "1 event is out of order".to_owned(),
        many => format!("{many} events are out of order"),
    };
    let tolerated: Vec<String> = check
        .tolerated
        .iter()
        .map(|(what, count)| format!("{}: {count}", what.plural()))
        .collect();
    if tolerated.is_empty() {
        say(findings);
    } else {
        say(format_args!(
            "{findings}; tolerated: {}",
            tolerated.join(", ")
        ));
    }
}
