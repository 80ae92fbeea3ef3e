//! `eventscope assert FILE... 'ASSERTION'...`: a guard for scripts.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::input::LogFile;
use super::{Condition, Failure, Out, report};
use insight::Scope;
use insight::assertion::{Assertion, Level};
use insight::metrics::{Looked, NoNumber};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs, and what each of them has to fulfil: `gc.pause.p99 < 10 ms`, `heap.live.max <= 512 MiB`,
    /// `finding(*, high) == 0`, `warn: gc.time.share < 20 %`; `eventscope metrics` lists the names
    #[arg(required = true, value_name = "LOG or ASSERTION")]
    words: Vec<String>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Whether what a log does not tell is passed over: else the exit status is 4
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
    /// A report of tests, as build servers read it
    Junit,
    /// Annotations of GitHub's workflows
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Passed,
    Warned,
    Failed,
    NoData,
}

/// What came of an assertion on a log.
#[derive(Debug, Serialize)]
struct Checked {
    log: PathBuf,
    assertion: String,
    state: State,
    /// What was found, or why there is nothing.
    found: String,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let is_assertion = |word: &&String| word.contains(['<', '>', '=']);
    let (assertions, logs): (Vec<&String>, Vec<&String>) =
        arguments.words.iter().partition(is_assertion);
    if logs.is_empty() || assertions.is_empty() {
        return Err(Failure::Usage(
            "assert needs a log, and something to assert of it".to_owned(),
        ));
    }
    let parse = |text: &String| {
        Assertion::parse(text).map_err(|wrong| Failure::Usage(format!("{text}: {wrong}")))
    };
    let assertions: Vec<Assertion> = assertions
        .into_iter()
        .map(parse)
        .collect::<Result<_, _>>()?;
    let mut checked = Vec::new();
    let mut condition = Condition::Sound;
    for log in logs {
        let session = LogFile::named(log).open()?.read_session()?;
        let looked = Looked::new(Scope::new(session.recording(), None));
        for assertion in &assertions {
            checked.push(check(log, assertion, &looked)?);
        }
        if report(session.reader()) == Condition::Damaged {
            condition = Condition::Damaged;
        }
    }
    print(&checked, arguments.format, out)?;
    let any = |state| checked.iter().any(|checked| checked.state == state);
    if any(State::Failed) {
        return Err(Failure::Unfulfilled);
    }
    if any(State::NoData) && !arguments.allow_missing {
        return Err(Failure::NoData);
    }
    Ok(condition)
}

fn check(log: &str, assertion: &Assertion, looked: &Looked<'_>) -> Result<Checked, Failure> {
    let (state, found) = match assertion.check(looked) {
        Ok(verdict) => {
            let state = match (verdict.holds, assertion.level) {
                (true, _) => State::Passed,
                (false, Level::Warn) => State::Warned,
                (false, Level::Error) => State::Failed,
            };
            (
                state,
                format!("{} and {}", verdict.found.0, verdict.found.1),
            )
        }
        Err(NoNumber::NoData(why)) => (State::NoData, why),
        Err(NoNumber::Usage(why)) => {
            return Err(Failure::Usage(format!("{}: {why}", assertion.text)));
        }
    };
    Ok(Checked {
        log: log.into(),
        assertion: assertion.text.clone(),
        state,
        found,
    })
}

fn print(checked: &[Checked], format: Format, out: &mut Out) -> Result<(), Failure> {
    match format {
        Format::Json => out.json(&checked)?,
        Format::Junit => out.text(junit(checked))?,
        Format::Text => {
            for checked in checked {
                let sign = match checked.state {
                    State::Passed => "✓",
                    State::Warned => "!",
                    State::Failed => "✗",
                    State::NoData => "?",
                };
                let (log, assertion) = (checked.log.display(), &checked.assertion);
                let found = &checked.found;
                out.text(format_args!("{sign} {log}: {assertion} (found {found})\n"))?;
            }
        }
        Format::Github => {
            let said = checked
                .iter()
                .filter(|checked| checked.state != State::Passed);
            for checked in said {
                let command = if checked.state == State::Warned {
                    "warning"
                } else {
                    "error"
                };
                let title = property(&checked.assertion);
                let text = message(&format!(
                    "{}: found {}",
                    checked.log.display(),
                    checked.found
                ));
                out.text(format_args!("::{command} title={title}::{text}\n"))?;
            }
        }
    }
    Ok(())
}

/// The text of an annotation, as GitHub's workflow commands want it.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of an annotation.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// XML as JUnit writes it.
fn junit(checked: &[Checked]) -> String {
    let count = |state| {
        checked
            .iter()
            .filter(|checked| checked.state == state)
            .count()
    };
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"eventscope\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        checked.len(),
        count(State::Failed),
        count(State::NoData),
        count(State::Warned)
    );
    for checked in checked {
        let found = escaped(&checked.found);
        let inside = match checked.state {
            State::Passed => String::new(),
            State::Failed => format!("<failure message=\"found {found}\"/>"),
            State::Warned => format!("<skipped message=\"found {found}\"/>"),
            State::NoData => format!("<error message=\"{found}\"/>"),
        };
        let (log, name) = (
            escaped(&checked.log.to_string_lossy()),
            escaped(&checked.assertion),
        );
        xml += &format!("  <testcase classname=\"{log}\" name=\"{name}\">{inside}</testcase>\n");
    }
    xml + "</testsuite>\n"
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
