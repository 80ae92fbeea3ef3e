//! `eventscope export --dataset DIR LOG…`: adds logs to a data set.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread::available_parallelism;

use clap::ValueEnum;

use super::out::Out;
use super::{Condition, Failure, print_message};
use dataset::{
    Added, Choices, Dataset, Error, Isolation, Options, Outcome, Rules, Texts, add_logs,
};

/// Options of `export` for data sets.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data sets of many logs (--dataset)")]
pub(super) struct Arguments {
    /// Add the logs to this data set: partitioned Parquet with a manifest; for a folder, all logs in it. Logs that the data set already contains are skipped
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "out", "from", "to", "raw", "verbose"])]
    pub(super) dataset: Option<PathBuf>,
    /// Keys of the folders, outermost first; app,host,day for a new data set
    #[arg(
        long,
        value_name = "KEY,…",
        value_delimiter = ',',
        requires = "dataset"
    )]
    partition: Option<Vec<String>>,
    /// Value of a partition key for all these logs; may be given more than once
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, requires = "dataset")]
    set: Vec<(String, String)>,
    /// Take a partition key from an environment variable of the program, if the log contains it; may be given more than once
    #[arg(long, value_name = "KEY=VARIABLE", value_parser = pair, requires = "dataset")]
    env: Vec<(String, String)>,
    /// Take partition keys from file names, such as '{host}_{app}-{version}.eventlog', with as many folders as the pattern has; * is any text. The first matching pattern counts
    #[arg(long, value_name = "PATTERN", requires = "dataset")]
    name_pattern: Vec<String>,
    /// Texts of the programs: keep them, replace them as `cut --anonymise` does, or leave them out
    #[arg(long, value_name = "WHAT", requires = "dataset")]
    texts: Option<TextsArgument>,
    /// The same as --texts replace
    #[arg(long, requires = "dataset", conflicts_with = "texts")]
    anonymise: bool,
    /// Tables to leave out, for a new data set: events and spans are the largest
    #[arg(
        long,
        value_name = "TABLE,…",
        value_delimiter = ',',
        requires = "dataset"
    )]
    without: Option<Vec<String>>,
    /// Number of logs that are analyzed at a time; they share the memory [default: number of cores]
    #[arg(long, value_name = "N", requires = "dataset")]
    jobs: Option<NonZeroUsize>,
    /// Exit with status 1 if a log is damaged or cannot be read
    #[arg(long, requires = "dataset")]
    strict: bool,
    /// Add one log to an existing data set, and print the result; --dataset runs this for each log
    #[arg(long, requires = "dataset", hide = true)]
    isolated: bool,
}

impl Arguments {
    /// How each log is added in a process of its own.
    fn isolation(&self, jobs: NonZeroUsize, run: &Run<'_>) -> Result<Isolation, Failure> {
        let program = env::current_exe();
        let program = program.map_err(|error| Failure::File("eventscope".into(), error))?;
        let mut arguments: Vec<OsString> =
            ["export", "--isolated", "--dataset"].map(Into::into).into();
        arguments.push(run.folder.into());
        let mut option =
            |name: &str, value: String| arguments.push(format!("{name}={value}").into());
        for (key, value) in &self.set {
            option("--set", format!("{key}={value}"));
        }
        for (key, variable) in &self.env {
            option("--env", format!("{key}={variable}"));
        }
        for pattern in &self.name_pattern {
            option("--name-pattern", pattern.clone());
        }
        option("--jobs", jobs.to_string());
        option("--memory", run.memory_mib.to_string());
        if let Some(ns) = run.clock_origin_ns {
            option(
                "--wall-clock",
                format!("{}.{:09}", ns / NS_PER_S, ns % NS_PER_S),
            );
        }
        Ok(Isolation { program, arguments })
    }
}

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;

/// What `export` was told about a data set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) folder: &'a Path,
    pub(super) logs: &'a [PathBuf],
    /// Memory for all logs together.
    pub(super) memory_mib: u64,
    /// Wall-clock time of time 0 of logs that do not have it, in nanoseconds since 1970.
    pub(super) clock_origin_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TextsArgument {
    Keep,
    Replace,
    Omit,
}

impl From<TextsArgument> for Texts {
    fn from(texts: TextsArgument) -> Self {
        match texts {
            TextsArgument::Keep => Self::Keep,
            TextsArgument::Replace => Self::Replace,
            TextsArgument::Omit => Self::Omit,
        }
    }
}

fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    match key.is_empty() || value.is_empty() {
        true => Err("write KEY=VALUE"),
        false => Ok((key.to_owned(), value.to_owned())),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::File(path, error) => Self::File(path, error),
            Error::Refused(why) => Self::Absent(why),
            Error::Usage(why) => Self::Usage(why),
        }
    }
}

/// Adds logs to a data set.
pub(super) fn run(arguments: &Arguments, run: &Run<'_>) -> Result<Condition, Failure> {
    let rules = Rules::new(&arguments.set, &arguments.env, &arguments.name_pattern);
    let rules = rules.map_err(|error| Failure::Usage(error.to_string()))?;
    let logs = logs_in(run.logs)?;
    let jobs = arguments.jobs.or(available_parallelism().ok());
    let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
    let mut options = Options {
        jobs,
        memory_bytes: run.memory_mib.saturating_mul(1 << 20),
        clock_origin_ns: run.clock_origin_ns,
        isolation: None,
    };
    if arguments.isolated {
        return add_isolated(run.folder, &logs, &rules, &options);
    }
    // Fewer logs than jobs have more memory and cores each.
    options.jobs = NonZeroUsize::new(logs.len()).map_or(jobs, |logs| jobs.min(logs));
    options.isolation = Some(arguments.isolation(options.jobs, run)?);
    let choices = Choices {
        partition: arguments.partition.clone(),
        texts: match arguments.anonymise {
            true => Some(Texts::Replace),
            false => arguments.texts.map(Into::into),
        },
        without: arguments.without.clone(),
    };
    let partition = arguments.partition.as_deref();
    let default = ["app", "host", "day"].map(str::to_owned);
    // Before anything is written. An existing data set may refuse the partition itself.
    if Dataset::open(run.folder).is_err() {
        rules.check(partition.unwrap_or(&default), &logs)?;
    }
    let dataset = Dataset::create(run.folder, &choices)?;
    let progress = Progress::new(logs.len());
    let added = add_logs(&dataset, &logs, &rules, &options, &|path, outcome| {
        progress.advance(path, outcome);
    });
    progress.clear();
    let added = added?;
    print_message(closing_line(added, &dataset));
    let is_damaged = added.failed + added.damaged > 0;
    Ok(Condition::new(arguments.strict && is_damaged))
}

/// Adds one log, and prints what became of it as JSON.
fn add_isolated(
    folder: &Path,
    logs: &[PathBuf],
    rules: &Rules,
    options: &Options,
) -> Result<Condition, Failure> {
    let [log] = logs else {
        return Err(Failure::Usage("--isolated adds one log".to_owned()));
    };
    let outcome = dataset::add_log(&Dataset::open(folder)?, log, rules, options)?;
    let mut out = Out::new(Box::new(io::stdout()));
    out.json(&outcome)?;
    out.flush()?;
    Ok(Condition::Sound)
}

/// Returns the logs, with folders replaced by the logs in them and below.
fn logs_in(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut logs = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = logs.len();
            add_logs_below(path, &mut logs)?;
            logs[before..].sort_unstable();
        } else {
            logs.push(path.clone());
        }
    }
    Ok(logs)
}

fn add_logs_below(folder: &Path, logs: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error| Failure::File(folder.to_owned(), error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // Links to folders could lead back.
        if entry.file_type().map_err(failed)?.is_dir() {
            add_logs_below(&path, logs)?;
            continue;
        }
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let name = name.strip_suffix(".zst").unwrap_or(name);
        if [".eventlog", ".hp"].iter().any(|end| name.ends_with(end)) {
            logs.push(path);
        }
    }
    Ok(())
}

/// Such as: `998 logs added (2 damaged), 3 already in the data set, 1 could not be read (in DIR/manifest)`.
fn closing_line(added: Added, dataset: &Dataset) -> String {
    let logs = match added.added {
        1 => "log",
        _ => "logs",
    };
    let mut line = format!("{} {logs} added", added.added);
    if added.damaged > 0 {
        line.push_str(&format!(" ({} damaged)", added.damaged));
    }
    if added.present > 0 {
        line.push_str(&format!(", {} already in the data set", added.present));
    }
    if added.failed > 0 {
        let manifest = dataset.folder().join("manifest");
        line.push_str(&format!(
            ", {} could not be read (see {})",
            added.failed,
            manifest.display()
        ));
    }
    line
}

/// Messages about logs, and on a terminal a line that counts them.
struct Progress {
    all: usize,
    done: Mutex<usize>,
    is_shown: bool,
}

impl Progress {
    fn new(all: usize) -> Self {
        Self {
            all,
            done: Mutex::new(0),
            is_shown: io::stderr().is_terminal(),
        }
    }

    fn advance(&self, path: &Path, outcome: &Outcome) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        match outcome {
            Outcome::Failed(why) => {
                self.clear();
                print_message(format_args!("{}: {why}", path.display()));
            }
            Outcome::Damaged(messages) => {
                self.clear();
                let first = messages.first().map_or("it is damaged", String::as_str);
                print_message(format_args!("{}: {first}", path.display()));
            }
            Outcome::Added | Outcome::Present => {}
        }
        if self.is_shown {
            let mut stderr = io::stderr().lock();
            // Without progress the logs are added all the same.
            let _ = write!(stderr, "\r{done} of {} logs", self.all).and_then(|()| stderr.flush());
        }
    }

    /// Clears the line that counts.
    fn clear(&self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
