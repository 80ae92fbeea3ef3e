//! `eventscope assert FILE... 'ASSERTION'...`: a guard for scripts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::input::LogFile;
use super::verdicts::{Format, assertions, check, conclude, print};
use super::{Condition, Failure, Out, report};
use insight::RuleContext;
use insight::assertion::runs::{Across, Runs};
use insight::metrics::MetricContext;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs, and what each of them has to fulfil: `gc.pause.p99 < 10 ms`, `heap.live.max <= 512 MiB`,
    /// `finding(*, high) == 0`, `warn: gc.time.share < 20 %`; `eventscope metrics` lists the names
    /// (a word with <, > or = is an assertion, unless there is a file of that name)
    #[arg(value_name = "LOG or ASSERTION")]
    words: Vec<OsString>,
    /// Logs whatever their names
    #[arg(last = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// More assertions, one in each line; lines that begin with # are comments
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What has to fulfil them: each log, or the median, least or greatest number of all logs
    #[arg(long, value_enum, default_value_t = Of::All)]
    runs: Of,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Whether what a log does not tell is passed over: else the exit status is 4
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Of {
    /// Each log for itself
    All,
    /// The median of all logs
    Median,
    /// The least of all logs
    Min,
    /// The greatest of all logs
    Max,
}

impl Of {
    /// `None` if each log counts for itself.
    const fn across(self) -> Option<(&'static str, Across)> {
        match self {
            Self::All => None,
            Self::Median => Some(("median", Across::Median)),
            Self::Min => Some(("least", Across::Min)),
            Self::Max => Some(("greatest", Across::Max)),
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
            "assert needs a log, and something to assert of it".to_owned(),
        ));
    }
    let across = arguments.runs.across();
    let mut runs = across.map(|(_, across)| Runs::new(across));
    let mut checked = Vec::new();
    let mut condition = Condition::Sound;
    for log in &logs {
        let session = LogFile::of(log).open()?.read_session()?;
        let name = log.to_string_lossy();
        let looked = MetricContext::new(RuleContext::new(session.recording(), None));
        match &mut runs {
            Some(runs) => runs.add(&assertions, &looked),
            None => {
                for assertion in &assertions {
                    let of = check(&name, assertion, &looked)?;
                    checked.push(of.seen_in(assertion, &looked));
                }
            }
        }
        if report(session.reader()) == Condition::Damaged {
            condition = Condition::Damaged;
        }
    }
    if let Some(((name, _), runs)) = across.zip(runs) {
        let of = format!("{name} of {} logs", logs.len());
        for assertion in &assertions {
            checked.push(check(&of, assertion, &runs)?);
        }
    }
    print(&checked, arguments.format, out)?;
    conclude(&checked, arguments.allow_missing, condition)
}
