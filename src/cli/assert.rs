//! `eventscope assert FILE... 'ASSERTION'...`: checks conditions on logs, for use in scripts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::input::LogFile;
use super::verdicts::{AssertionResult, Format, assertions, check, conclude, print};
use super::{Condition, Failure, Out, print_message, report_in_log};
use insight::RuleContext;
use insight::assertion::runs::{RunAggregate, RunValues};
use insight::metrics::MetricContext;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs and assertions about each of them: `gc.pause.p99 < 10 ms`, `heap.live.max <= 512 MiB`,
    /// `finding(*, high) == 0`, `warn: gc.time.share < 20 %`; `eventscope metrics` lists the names
    /// (an argument with <, > or = is an assertion, unless a file has that name)
    #[arg(value_name = "LOG or ASSERTION")]
    words: Vec<OsString>,
    /// Logs, even if their names look like assertions
    #[arg(last = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// File with more assertions, one per line; lines that begin with # are comments
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Values to check: of each log, or the median, minimum or maximum of all logs
    #[arg(long, value_enum, default_value_t = RunSelection::All)]
    runs: RunSelection,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Skip assertions that a log has no data for; otherwise the exit status is 4
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RunSelection {
    /// Each log separately
    All,
    /// The median of all logs
    Median,
    /// The minimum of all logs
    Min,
    /// The maximum of all logs
    Max,
}

impl RunSelection {
    /// Returns the name and the aggregate over all logs; `None` to check each log separately.
    const fn aggregate(self) -> Option<(&'static str, RunAggregate)> {
        match self {
            Self::All => None,
            Self::Median => Some(("median", RunAggregate::Median)),
            Self::Min => Some(("least", RunAggregate::Min)),
            Self::Max => Some(("greatest", RunAggregate::Max)),
        }
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let mut words = Vec::new();
    let mut logs: Vec<&Path> = Vec::new();
    for word in &arguments.words {
        match word.to_str() {
            Some(text) if text.contains(['<', '>', '=']) && !Path::new(word).exists() => {
                words.push(text);
            }
            _ => logs.push(Path::new(word)),
        }
    }
    logs.extend(arguments.logs.iter().map(PathBuf::as_path));
    let assertions = assertions(&words, arguments.config.as_deref())?;
    if logs.is_empty() || assertions.is_empty() {
        return Err(Failure::Usage(
            "assert needs a log and an assertion".to_owned(),
        ));
    }
    let aggregate = arguments.runs.aggregate();
    let mut runs = aggregate.map(|(_, aggregate)| RunValues::new(aggregate));
    let mut checked = Vec::new();
    let mut condition = Condition::Sound;
    for log in &logs {
        let name = log.to_string_lossy();
        let read = LogFile::from_path(log).open().and_then(|input| {
            let session = input.read_session();
            session.map_err(|failure| failure.in_log(log))
        });
        let session = match read {
            Ok(session) => session,
            // The other logs have results of their own, but no median without this one.
            Err(failure @ (Failure::Absent(_) | Failure::File(..)))
                if logs.len() > 1 && runs.is_none() =>
            {
                let message = failure.message().unwrap_or_default();
                let prefix = format!("{}: ", log.display());
                let why = message.strip_prefix(&prefix).unwrap_or(&message);
                let results = assertions.iter();
                checked.extend(
                    results.map(|assertion| AssertionResult::unreadable(&name, assertion, why)),
                );
                print_message(&message);
                condition = Condition::Damaged;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        let context = MetricContext::new(RuleContext::new(session.recording(), None));
        match &mut runs {
            Some(runs) => runs.add(&assertions, &context),
            None => {
                for assertion in &assertions {
                    let of = check(&name, assertion, &context)?;
                    checked.push(of.with_locations(assertion, &context));
                }
            }
        }
        condition = condition.max(report_in_log(log, session.reader()));
    }
    if let Some(((name, _), runs)) = aggregate.zip(runs) {
        let of = format!("{name} of {} logs", logs.len());
        for assertion in &assertions {
            checked.push(check(&of, assertion, &runs)?);
        }
    }
    print(&checked, arguments.format, arguments.allow_missing, out)?;
    conclude(&checked, arguments.allow_missing, condition)
}
