//! Results of assertions, for human readers and build servers.

use clap::ValueEnum;
use serde::Serialize;

use super::similar_names::similar_names;
use super::{Condition, Failure, Out};
use insight::assertion::{Assertion, Level, ValueSource};
use insight::metrics::{LocatedNumber, MetricContext, NumberError};
use insight::rules::RULES;

/// Output format for the results of assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Plain text
    Text,
    /// JSON
    Json,
    /// JUnit XML report, for build servers
    Junit,
    /// Annotations for GitHub workflows
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
    /// The log cannot be read.
    Unreadable,
}

impl State {
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Passed => "✓",
            Self::Warned => "!",
            Self::Failed => "✗",
            Self::NoData | Self::Inconclusive | Self::Unreadable => "?",
        }
    }

    /// Returns whether the values are missing.
    const fn is_missing(self) -> bool {
        matches!(self, Self::NoData | Self::Inconclusive | Self::Unreadable)
    }

    /// Returns whether the assertion does not hold, and the command succeeds nevertheless.
    const fn is_tolerated(self, allow_missing: bool) -> bool {
        match self {
            Self::Warned => true,
            Self::NoData | Self::Inconclusive => allow_missing,
            Self::Passed | Self::Failed | Self::Unreadable => false,
        }
    }
}

/// Result of one assertion.
#[derive(Debug, Serialize)]
pub(super) struct AssertionResult {
    /// Log or set of logs that was checked.
    log: String,
    pub(super) assertion: String,
    pub(super) state: State,
    /// Values found, or the reason why there are none.
    pub(super) found: String,
    /// Locations of those values that are extremes or quantiles.
    places: Vec<ValueLocation>,
}

/// Location of a value in the log.
#[derive(Debug, Serialize)]
struct ValueLocation {
    asked: String,
    #[serde(flatten)]
    seen: LocatedNumber,
}

impl AssertionResult {
    /// Creates the result of an assertion on a log that cannot be read.
    pub(super) fn unreadable(log: &str, assertion: &Assertion, why: &str) -> Self {
        Self {
            log: log.to_owned(),
            assertion: assertion.text.clone(),
            state: State::Unreadable,
            found: why.to_owned(),
            places: Vec::new(),
        }
    }

    /// Adds the locations of the values in one log.
    pub(super) fn with_locations(
        mut self,
        assertion: &Assertion,
        context: &MetricContext<'_>,
    ) -> Self {
        for asked in assertion.requests() {
            if let Some(seen) = asked.position(context) {
                self.found += &format!("; {} {seen}", asked.text);
                let asked = asked.text.clone();
                self.places.push(ValueLocation { asked, seen });
            }
        }
        self
    }
}

/// Parses assertions from arguments and a file with one per line; lines that begin with `#` are comments.
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
        Assertion::parse(text).map_err(|wrong| {
            let rules = RULES.iter().map(|rule| rule.name);
            let similar = wrong.unknown_rule.as_deref();
            let similar = similar.map_or_else(String::new, |name| similar_names(name, rules));
            Failure::Usage(format!("{text}: {wrong}{similar}"))
        })
    };
    words.iter().copied().chain(lines).map(parse).collect()
}

/// Checks an assertion against a source of values.
pub(super) fn check(
    of: &str,
    assertion: &Assertion,
    values: &impl ValueSource,
) -> Result<AssertionResult, Failure> {
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
        Err(NumberError::Usage(why)) => {
            return Err(Failure::Usage(format!("{}: {why}", assertion.text)));
        }
        // Warnings never fail a command.
        Err(NumberError::NoData(why) | NumberError::Inconclusive(why))
            if assertion.level == Level::Warn =>
        {
            (State::Warned, why)
        }
        Err(NumberError::NoData(why)) => (State::NoData, why),
        Err(NumberError::Inconclusive(why)) => (State::Inconclusive, why),
    };
    Ok(AssertionResult {
        log: of.to_owned(),
        assertion: assertion.text.clone(),
        state,
        found,
        places: Vec::new(),
    })
}

/// Returns the outcome of the command. A failed assertion takes precedence over missing data, which takes
/// precedence over a damaged log.
pub(super) fn conclude(
    checked: &[AssertionResult],
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

pub(super) fn print(
    checked: &[AssertionResult],
    format: Format,
    allow_missing: bool,
    out: &mut Out,
) -> Result<(), Failure> {
    match format {
        Format::Json => out.json(&checked)?,
        Format::Junit => out.text(junit(checked, allow_missing))?,
        Format::Text => {
            for checked in checked {
                let AssertionResult {
                    log,
                    assertion,
                    state,
                    found,
                    ..
                } = checked;
                let sign = state.sign();
                let verb = if state.is_missing() { "" } else { "found " };
                out.text(format_args!("{sign} {log}: {assertion} ({verb}{found})\n"))?;
            }
        }
        Format::Github => out.text(github(checked, allow_missing))?,
    }
    Ok(())
}

/// Formats annotations. GitHub shows ten annotations of a kind per step, so failures come first and the rest is
/// summarized.
fn github(checked: &[AssertionResult], allow_missing: bool) -> String {
    const MAX_ANNOTATIONS: usize = 10;
    let mut text = String::new();
    for (command, is_of) in [("error", false), ("warning", true)] {
        let reported = checked.iter().filter(|checked| {
            checked.state != State::Passed && checked.state.is_tolerated(allow_missing) == is_of
        });
        let mut reported: Vec<&AssertionResult> = reported.collect();
        reported.sort_by_key(|checked| checked.state != State::Failed);
        let shown = if reported.len() > MAX_ANNOTATIONS {
            MAX_ANNOTATIONS - 1
        } else {
            reported.len()
        };
        for checked in reported.iter().take(shown) {
            let title = property(&checked.assertion);
            let line = message(&format!("{}: found {}", checked.log, checked.found));
            text += &format!("::{command} title={title}::{line}\n");
        }
        if shown < reported.len() {
            let more = reported.len() - shown;
            text += &format!("::{command} title=eventscope::{more} more failed\n");
        }
    }
    text
}

/// Escapes the message of a GitHub workflow command.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a GitHub workflow command.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// Formats a JUnit XML report.
fn junit(checked: &[AssertionResult], allow_missing: bool) -> String {
    let count = |is_wanted: &dyn Fn(State) -> bool| {
        let of = checked.iter().filter(|checked| is_wanted(checked.state));
        of.count()
    };
    let is_tolerated = |state: State| state.is_tolerated(allow_missing);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"eventscope\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        checked.len(),
        count(&|state| state == State::Failed),
        count(&|state| state.is_missing() && !is_tolerated(state)),
        count(&is_tolerated)
    );
    for checked in checked {
        let found = escaped(&checked.found);
        let inside = match checked.state {
            State::Passed => String::new(),
            State::Failed => format!("<failure message=\"found {found}\"/>"),
            State::Warned => format!("<skipped message=\"found {found}\"/>"),
            state if is_tolerated(state) => format!("<skipped message=\"{found}\"/>"),
            State::NoData | State::Inconclusive | State::Unreadable => {
                format!("<error message=\"{found}\"/>")
            }
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
