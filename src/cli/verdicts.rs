//! What came of assertions, for people and for build servers.

use clap::ValueEnum;
use serde::Serialize;

use super::{Condition, Failure, Out};
use insight::assertion::{Assertion, Level, Values};
use insight::metrics::{MetricContext, NoNumber, Seen};

/// How to print what came of assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
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
pub(super) enum State {
    Passed,
    Warned,
    Failed,
    NoData,
    Inconclusive,
}

impl State {
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Passed => "✓",
            Self::Warned => "!",
            Self::Failed => "✗",
            Self::NoData | Self::Inconclusive => "?",
        }
    }
}

/// What came of an assertion.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
    /// The log, or what else the assertion is about.
    log: String,
    pub(super) assertion: String,
    pub(super) state: State,
    /// What was found, or why there is nothing.
    pub(super) found: String,
    /// Where the numbers are to be seen that are extremes or ranks of many.
    places: Vec<Place>,
}

/// Where a number of an assertion is to be seen.
#[derive(Debug, Serialize)]
struct Place {
    asked: String,
    #[serde(flatten)]
    seen: Seen,
}

impl Checked {
    /// Says where the numbers of one log are.
    pub(super) fn seen_in(mut self, assertion: &Assertion, looked: &MetricContext<'_>) -> Self {
        for asked in assertion.asked() {
            if let Some(seen) = asked.place(looked) {
                self.found += &format!("; {} {seen}", asked.text);
                let asked = asked.text.clone();
                self.places.push(Place { asked, seen });
            }
        }
        self
    }
}

/// The assertions of words and of a file: one in each line, `#` begins a comment.
pub(super) fn assertions(
    words: &[&str],
    config: Option<&std::path::Path>,
) -> Result<Vec<Assertion>, Failure> {
    let file = config.map(|path| {
        let read = std::fs::read_to_string(path);
        read.map_err(|error| Failure::File(path.to_owned(), error))
    });
    let file = file.transpose()?.unwrap_or_default();
    let lines = file.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parse = |text: &str| {
        Assertion::parse(text).map_err(|wrong| Failure::Usage(format!("{text}: {wrong}")))
    };
    words.iter().copied().chain(lines).map(parse).collect()
}

/// Checks an assertion of whatever has numbers.
pub(super) fn check(
    of: &str,
    assertion: &Assertion,
    values: &impl Values,
) -> Result<Checked, Failure> {
    let (state, found) = match assertion.check(values) {
        Ok(verdict) => {
            let state = match (verdict.holds, assertion.level) {
                (true, _) => State::Passed,
                (false, Level::Warn) => State::Warned,
                (false, Level::Error) => State::Failed,
            };
            let (left, right) = verdict.found;
            (state, format!("{left} against {right}"))
        }
        Err(NoNumber::NoData(why)) => (State::NoData, why),
        Err(NoNumber::Inconclusive(why)) => (State::Inconclusive, why),
        Err(NoNumber::Usage(why)) => {
            return Err(Failure::Usage(format!("{}: {why}", assertion.text)));
        }
    };
    Ok(Checked {
        log: of.to_owned(),
        assertion: assertion.text.clone(),
        state,
        found,
        places: Vec::new(),
    })
}

/// With what the process ends: what does not hold is worse than what is not known, and that
/// is worse than a log that is damaged.
pub(super) fn conclude(
    checked: &[Checked],
    allow_missing: bool,
    condition: Condition,
) -> Result<Condition, Failure> {
    let any = |wanted: &[State]| {
        checked
            .iter()
            .any(|checked| wanted.contains(&checked.state))
    };
    if any(&[State::Failed]) {
        return Err(Failure::Unfulfilled);
    }
    if any(&[State::NoData, State::Inconclusive]) && !allow_missing {
        return Err(Failure::NoData);
    }
    Ok(condition)
}

pub(super) fn print(checked: &[Checked], format: Format, out: &mut Out) -> Result<(), Failure> {
    match format {
        Format::Json => out.json(&checked)?,
        Format::Junit => out.text(junit(checked))?,
        Format::Text => {
            for checked in checked {
                let Checked {
                    log,
                    assertion,
                    state,
                    found,
                    ..
                } = checked;
                let sign = state.sign();
                out.text(format_args!("{sign} {log}: {assertion} (found {found})\n"))?;
            }
        }
        Format::Github => out.text(github(checked))?,
    }
    Ok(())
}

/// GitHub shows ten annotations of a kind in a step: what fails comes first, the rest is
/// summed up.
fn github(checked: &[Checked]) -> String {
    const MOST: usize = 10;
    let mut text = String::new();
    for (command, is_of) in [("error", false), ("warning", true)] {
        let said = checked.iter().filter(|checked| {
            checked.state != State::Passed && (checked.state == State::Warned) == is_of
        });
        let mut said: Vec<&Checked> = said.collect();
        said.sort_by_key(|checked| checked.state != State::Failed);
        let shown = if said.len() > MOST {
            MOST - 1
        } else {
            said.len()
        };
        for checked in said.iter().take(shown) {
            let title = property(&checked.assertion);
            let line = message(&format!("{}: found {}", checked.log, checked.found));
            text += &format!("::{command} title={title}::{line}\n");
        }
        if shown < said.len() {
            let more = said.len() - shown;
            text += &format!("::{command} title=crate::{more} more do not hold\n");
        }
    }
    text
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
    let count = |wanted: &[State]| {
        let of = checked
            .iter()
            .filter(|checked| wanted.contains(&checked.state));
        of.count()
    };
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"eventscope\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        checked.len(),
        count(&[State::Failed]),
        count(&[State::NoData, State::Inconclusive]),
        count(&[State::Warned])
    );
    for checked in checked {
        let found = escaped(&checked.found);
        let inside = match checked.state {
            State::Passed => String::new(),
            State::Failed => format!("<failure message=\"found {found}\"/>"),
            State::Warned => format!("<skipped message=\"found {found}\"/>"),
            State::NoData | State::Inconclusive => format!("<error message=\"{found}\"/>"),
        };
        let (log, name) = (escaped(&checked.log), escaped(&checked.assertion));
        xml += &format!("  <testcase classname=\"{log}\" name=\"{name}\">{inside}</testcase>\n");
    }
    xml + "</testsuite>\n"
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
