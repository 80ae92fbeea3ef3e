//! `eventscope check FILE`.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use super::{Condition, Failure, Input, Output, escaped, report};
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
pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<Condition, Failure> {
    let input = Input::open(&arguments.file)?;
    let mut names = Names::default();
    input.read(&mut names)?;
    if arguments.output.header && !arguments.output.json {
        writeln!(out, "time\tcap\tsubject\tproblem")?;
    }
    let mut check = Check::default();
    let mut written = Ok(());
    let mut print = |finding: Finding| {
        if written.is_ok() {
            written = print_finding(&finding, &names, arguments.output.json, out);
        }
    };
    let reader = input.read(&mut |record: &Record<'_>| check.event(record, &mut print))?;
    check.finish();
    written?;
    out.flush()?;
    summarise(&check);
    let condition = report(&reader);
    Ok(if check.findings == 0 {
        condition
    } else {
        Condition::Damaged
    })
}

fn print_finding(
    finding: &Finding,
    names: &Names,
    json: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let Finding {
        time,
        cap,
        subject,
        problem,
    } = finding;
    let cap = cap.map(|cap| cap.0);
    if json {
        let row = json!({
            "time": time.0,
            "cap": cap,
            "subject": subject.to_string(),
            "name": name(*subject, names),
            "problem": problem.to_string(),
        });
        return writeln!(out, "{row}");
    }
    let cap = cap.map_or_else(|| "-".to_owned(), |cap| cap.to_string());
    let label = name(*subject, names).map_or_else(String::new, |name| format!(" ({name})"));
    let subject = format!("{subject}{label}");
    writeln!(out, "{}\t{cap}\t{}\t{problem}", time.0, escaped(&subject))
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
        eprintln!("eventscope: {findings}");
    } else {
        eprintln!(
            "eventscope: {findings}; tolerated: {}",
            tolerated.join(", ")
        );
    }
}
