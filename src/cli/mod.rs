//! The command line: the same library as in the browser, for scripts, for
//! tests against references and for measurements.
//!
//! Rows go to standard output, one line each, tab-separated. What is wrong
//! with a log goes to standard error, and then the exit status is 1; what
//! could be read is printed all the same. Wrong usage exits with 2.

mod check;
mod events;
mod flamegraph;
mod info;
mod spans;
mod summary;
mod threads;

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use eventlog::ids::Nanos;
use eventlog::source::{FileSource, Source, read_log};
use eventlog::{LogError, LogReader, Sink};
use model::time::Span;
use views::session::Session;
use views::session::read_session;

/// Reads GHC eventlogs. Files may be compressed with gzip or zstd; `-` is standard input.
#[derive(Debug, Parser)]
#[command(name = "eventscope", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// GHC version, program, capabilities, first and last time, events by type, warnings
    Info(info::Arguments),
    /// Every event, by time
    Events(events::Arguments),
    /// Whether threads, capabilities, tasks and sparks do only what they can
    Check(check::Arguments),
    /// Spans of garbage collection, of running and blocked threads, of capability usage
    Spans(spans::Arguments),
    /// The numbers of `+RTS -s`, of the whole log or of a part of it
    Summary(summary::Arguments),
    /// How each thread spent its time: running, waiting for a capability, blocked and on what
    Threads(threads::Arguments),
    /// Flame graphs as files for speedscope, flamegraph.pl, inferno and pprof, as a picture, or as a table
    Flamegraph(flamegraph::Arguments),
}

/// How every command prints.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Output {
    /// Print a first row with the names of the columns
    #[arg(long)]
    header: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A part of the log.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Range {
    /// Only from this time on, in nanoseconds
    #[arg(long)]
    from: Option<u64>,
    /// Only before this time, in nanoseconds
    #[arg(long)]
    to: Option<u64>,
}

impl Range {
    /// The part; `None` for the whole log.
    fn span(self) -> Option<Span> {
        self.from.or(self.to)?;
        let from = self.from.unwrap_or(0);
        let to = self.to.unwrap_or(u64::MAX).max(from);
        Some(Span::new(Nanos(from), Nanos(to)))
    }
}

/// Why a command did not do all of its work.
#[derive(Debug)]
enum Failure {
    /// The log could not be read.
    Log(LogError),
    /// The output could not be written.
    Output(io::Error),
    /// The log has nothing of what was asked for.
    Absent(String),
    /// What was asked for makes no sense, whatever the log.
    Usage(String),
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Whether the log was whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Sound,
    Damaged,
}

/// Runs the program with the arguments of the process.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let result = match &arguments.command {
        Command::Info(arguments) => info::run(arguments, &mut out),
        Command::Events(arguments) => events::run(arguments, &mut out),
        Command::Check(arguments) => check::run(arguments, &mut out),
        Command::Spans(arguments) => spans::run(arguments, &mut out),
        Command::Summary(arguments) => summary::run(arguments, &mut out),
        Command::Threads(arguments) => threads::run(arguments, &mut out),
        Command::Flamegraph(arguments) => flamegraph::run(arguments, &mut out),
    };
    let flushed = out.flush();
    match result.and_then(|condition| Ok(flushed.map(|()| condition)?)) {
        Ok(Condition::Sound) => ExitCode::SUCCESS,
        Ok(Condition::Damaged) => ExitCode::FAILURE,
        // Whoever reads the output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Output(error)) => {
            eprintln!("eventscope: could not write the output: {error}");
            ExitCode::FAILURE
        }
        Err(Failure::Log(error)) => {
            eprintln!("eventscope: {error}");
            ExitCode::FAILURE
        }
        Err(Failure::Absent(what)) => {
            eprintln!("eventscope: {what}");
            ExitCode::FAILURE
        }
        Err(Failure::Usage(what)) => {
            eprintln!("eventscope: {what}");
            ExitCode::from(2)
        }
    }
}

/// A log that can be read more than once.
enum Input {
    File(PathBuf),
    Memory(Vec<u8>),
}

impl Input {
    fn open(path: &Path) -> Result<Self, LogError> {
        if path.as_os_str() != "-" {
            return Ok(Self::File(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        let at = bytes.len() as u64;
        read.map_err(|error| LogError::Read {
            at,
            why: error.to_string(),
        })?;
        Ok(Self::Memory(bytes))
    }

    fn read(&self, sink: &mut impl Sink) -> Result<LogReader, LogError> {
        match self {
            Self::Memory(bytes) => read_log(&mut bytes.as_slice(), sink),
            Self::File(path) => read_log(&mut open_file(path)?, sink),
        }
    }

    fn read_session(&self) -> Result<Session, LogError> {
        match self {
            Self::Memory(bytes) => read_session(&mut bytes.as_slice()),
            Self::File(path) => read_session(&mut open_file(path)?),
        }
    }
}

fn open_file(path: &Path) -> Result<impl Source, LogError> {
    FileSource::open(path).map_err(|error| LogError::Read {
        at: 0,
        why: format!("{error}: {}", path.display()),
    })
}

/// Says on standard error what is wrong with the log.
fn report(reader: &LogReader) -> Condition {
    let damage = reader.damage();
    for damage in &damage.kept {
        eprintln!("eventscope: {damage}");
    }
    if damage.count > damage.kept.len() as u64 {
        eprintln!(
            "eventscope: {} more damaged places, {} bytes lost in all",
            damage.count - damage.kept.len() as u64,
            damage.lost_bytes
        );
    }
    if let Some(error) = reader.inflate_error() {
        eprintln!("eventscope: {error}");
        return Condition::Damaged;
    }
    if damage.loses_data() {
        Condition::Damaged
    } else {
        Condition::Sound
    }
}

/// A text in one field of a row: line ends and tabs are escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    escaped
}
