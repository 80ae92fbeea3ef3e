//! Command line of Eventscope. It uses the same library as the browser, for scripts, for tests against references
//! and for measurements.
//!
//! Rows go to standard output, one per line and tab-separated; on a terminal, some commands print aligned tables.
//! Damage in a log is reported on standard error and makes the exit status 1, but everything readable is still
//! printed. Wrong usage exits with 2, a failed assertion with 3, and an assertion that the log has no data for
//! with 4. If the reader closes the output pipe, the exit status is 141, as for a process ended by SIGPIPE.
//!
//! Each command has a file here with its `Arguments` and `run`; `Command` lists them.

mod assert;
mod check;
mod collections;
mod compact;
mod compare;
mod comparison;
mod cut;
mod dataset;
mod digest;
mod duration;
mod empty;
mod event_types;
mod eventlog2html;
mod events;
mod export;
mod findings;
mod flame_comparison;
mod flamegraph;
mod fleet;
mod fleet_dataset;
mod fleet_files;
mod heap;
mod heap_bands;
mod heap_censuses;
mod info;
mod input;
mod manual;
mod merge;
mod metrics;
mod out;
mod output_file;
mod range;
mod report;
mod similar_names;
mod spans;
mod stream;
mod summary;
mod tail;
mod tail_numbers;
mod tail_rows;
mod threads;
mod ticky;
mod time;
mod try_candidates;
mod try_child;
mod try_flags;
mod try_outcome;
mod try_rounds;
mod verdicts;
mod view;
mod view_files;
mod view_follow;
mod view_presence;
mod view_server;
mod view_site;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use eventlog::ids::CapId;
use eventlog::{LogError, LogReader, system_words};
use model::time::Interval;
use session::Session;
use session::cells::Cell;
use views::words::diagnostics::line;

use input::{Input, LogFile};
use out::{EscapeStyle, Out, Output, RowLimit, Table, print_message};
use range::Range;

/// Analyze GHC eventlogs. Files may be compressed with gzip or zstd; `-` is standard input, and as an output file standard output. Up to 64 MiB of a pipe are kept in memory, more in a temporary file.
#[derive(Debug, Parser)]
#[command(name = "eventscope", version = env!("EVENTSCOPE_VERSION"))]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open logs in the browser; nothing leaves this computer
    View(view::Arguments),
    /// GHC version, program, capabilities, time range, events by type, warnings
    Info(info::Arguments),
    /// All events by time
    Events(events::Arguments),
    /// Follow a log while it is written: a growing file, standard input or a socket
    Tail(tail::Arguments),
    /// Check for impossible sequences of events of threads, capabilities, tasks and sparks
    Check(check::Arguments),
    /// Spans of garbage collections, running and blocked threads, and capability usage
    Spans(spans::Arguments),
    /// The report of `+RTS -s`, for the whole log or a range
    Summary(LogRangeArguments),
    /// Problems of the program: cost, evidence and advice
    Findings(findings::Arguments),
    /// Measure which flags of the runtime make a program faster: `try -- ./program +RTS -N2`
    Try(Box<try_flags::Arguments>),
    /// HTML report in one file: numbers, findings, timeline, collections, heap, threads
    Report(report::Arguments),
    /// All named metrics of a log, for scripts and for `assert`
    Metrics(LogRangeArguments),
    /// Check conditions on a log's numbers: `assert run.eventlog 'gc.pause.p99 < 10 ms'`
    Assert(assert::Arguments),
    /// Compare two sets of runs: differences, with their size and significance
    Compare(compare::Arguments),
    /// Data of a log for comparison, as JSON; `compare` accepts it in place of the log
    Digest(digest::Arguments),
    /// Statistics over thousands of digests, as a page: distributions, changes in time, hosts that differ, outliers
    Fleet(fleet::Arguments),
    /// Time of each thread: running, waiting for a capability, blocked by reason
    Threads(ListArguments),
    /// All garbage collections: time, pause, copied bytes, live bytes
    Collections(ListArguments),
    /// Heap profiles: bands, single censuses, the difference of two censuses, charts
    Heap(heap::Arguments),
    /// Ticky counters: entries and allocation of code (ghc -ticky, +RTS -lT)
    Ticky(ticky::Arguments),
    /// Time of capabilities, threads and the program by class; each nanosecond counts in exactly one class
    Time(time::Arguments),
    /// Flame graphs for speedscope, flamegraph.pl, inferno and pprof, as a picture, or as a table
    Flamegraph(flamegraph::Arguments),
    /// Cut a part out of a log, as a smaller log; optionally with anonymized texts
    Cut(cut::Arguments),
    /// Merge logs: of several processes on one time axis, or the parts that `cut` made of a log
    Merge(merge::Arguments),
    /// Export logs as tables for DuckDB, Spark and other engines, or as traces for Perfetto and others
    Export(Box<export::Arguments>),
    /// Merge the small files of a data set that `export --dataset` made
    Compact(compact::Arguments),
    /// Shell completion script for commands, options and files
    Completions(manual::Completions),
    /// Manual page for `man`
    Man(manual::Manual),
}

/// A log, which part of it, and whether to print JSON.
#[derive(Debug, clap::Args)]
struct LogRangeArguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds, sizes in bytes, shares from 0 to 1
    #[arg(long)]
    json: bool,
}

impl LogRangeArguments {
    /// Reads the log with all analyses.
    fn read(&self) -> Result<(Session, Option<Interval>), Failure> {
        self.log.read(self.range)
    }
}

/// A log, which part of it, and how to print its rows.
#[derive(Debug, clap::Args)]
struct ListArguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    #[command(flatten)]
    limit: RowLimit,
    #[command(flatten)]
    output: Output,
}

/// Reason why a command failed.
#[derive(Debug)]
enum Failure {
    /// The log could not be read.
    Log(LogError),
    /// The output could not be written.
    Output(io::Error),
    /// A file could not be opened, read or written.
    File(PathBuf, io::Error),
    /// The log lacks the requested data.
    Absent(String),
    /// The arguments are invalid for any log.
    Usage(String),
    /// An assertion failed; this has been reported.
    Unfulfilled,
    /// A log has no data for an assertion; this has been reported.
    NoData,
}

impl Failure {
    /// Adds the name of the log that could not be read or lacks data, for commands that read several.
    fn in_log(self, path: &Path) -> Self {
        match self {
            Self::Log(error) => Self::Absent(format!("{}: {error}", path.display())),
            Self::Absent(what) => Self::Absent(format!("{}: {what}", path.display())),
            other => other,
        }
    }

    /// Returns the message for users; `None` if it has been reported already.
    fn message(&self) -> Option<String> {
        match self {
            Self::Log(error) => Some(error.to_string()),
            Self::Output(error) => Some(format!(
                "could not write the output: {}",
                system_words(error)
            )),
            Self::File(path, error) => Some(format!("{}: {}", path.display(), system_words(error))),
            Self::Absent(what) | Self::Usage(what) => Some(what.clone()),
            Self::Unfulfilled | Self::NoData => None,
        }
    }
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

/// Whether the logs are intact; of several, the greatest condition counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Sound,
    Damaged,
}

impl Condition {
    const fn new(is_damaged: bool) -> Self {
        match is_damaged {
            true => Self::Damaged,
            false => Self::Sound,
        }
    }
}

/// Runs the command given by the arguments of the process.
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = Out::new(Box::new(io::stdout().lock()));
    let result = match &arguments.command {
        Command::View(arguments) => view::run(arguments, &mut out),
        Command::Info(arguments) => info::run(arguments, &mut out),
        Command::Events(arguments) => events::run(arguments, &mut out),
        Command::Tail(arguments) => tail::run(arguments, &mut out),
        Command::Check(arguments) => check::run(arguments, &mut out),
        Command::Spans(arguments) => spans::run(arguments, &mut out),
        Command::Summary(arguments) => summary::run(arguments, &mut out),
        Command::Findings(arguments) => findings::run(arguments, &mut out),
        Command::Try(arguments) => try_flags::run(arguments, &mut out),
        Command::Report(arguments) => report::run(arguments, &mut out),
        Command::Metrics(arguments) => metrics::run(arguments, &mut out),
        Command::Assert(arguments) => assert::run(arguments, &mut out),
        Command::Compare(arguments) => compare::run(arguments, &mut out),
        Command::Digest(arguments) => digest::run(arguments, &mut out),
        Command::Fleet(arguments) => fleet::run(arguments, &mut out),
        Command::Threads(arguments) => threads::run(arguments, &mut out),
        Command::Collections(arguments) => collections::run(arguments, &mut out),
        Command::Heap(arguments) => heap::run(arguments, &mut out),
        Command::Ticky(arguments) => ticky::run(arguments, &mut out),
        Command::Time(arguments) => time::run(arguments, &mut out),
        Command::Flamegraph(arguments) => flamegraph::run(arguments, &mut out),
        Command::Cut(arguments) => cut::run(arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Compact(arguments) => compact::run(arguments),
        Command::Completions(arguments) => manual::completions(arguments, &mut out),
        Command::Man(arguments) => manual::manual(arguments, &mut out),
    };
    let flushed = out.flush();
    exit(result.and_then(|condition| Ok(flushed.map(|()| condition)?)))
}

/// Exit status after writing to a closed pipe, as shells report it: 128 + SIGPIPE.
const NOBODY_READS: u8 = 141;

/// Reports a failure and returns the exit status.
fn exit(result: Result<Condition, Failure>) -> ExitCode {
    let failure = match result {
        Ok(Condition::Sound) => return ExitCode::SUCCESS,
        // The damage has been reported already.
        Ok(Condition::Damaged) => return ExitCode::FAILURE,
        Err(failure) => failure,
    };
    if let Failure::Output(error) | Failure::File(_, error) = &failure
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return ExitCode::from(NOBODY_READS);
    }
    if let Some(message) = failure.message() {
        print_message(message);
    }
    match failure {
        Failure::Usage(_) => ExitCode::from(2),
        Failure::Unfulfilled => ExitCode::from(3),
        Failure::NoData => ExitCode::from(4),
        _ => ExitCode::FAILURE,
    }
}

/// Maximum number of damaged places listed on a terminal; `check` lists all of them.
const MAX_PLACES: usize = 20;

/// Reports damage of one of several logs on standard error, after its name.
fn report_in_log(path: &Path, reader: &LogReader) -> Condition {
    if reader.damage().loses_data() {
        print_message(format_args!("{}:", path.display()));
    }
    report(reader)
}

/// Reports damage of the log on standard error.
fn report(reader: &LogReader) -> Condition {
    let damage = reader.damage();
    let is_for_reader = io::stderr().is_terminal();
    let most = if is_for_reader {
        MAX_PLACES
    } else {
        usize::MAX
    };
    for damage in damage.kept.iter().take(most) {
        print_message(line(&damage.into()));
    }
    let listed = damage.kept.len().min(most) as u64;
    if damage.count() > listed {
        print_message(format_args!(
            "{} more damaged places, {} bytes lost in total",
            damage.count() - listed,
            damage.lost_bytes
        ));
    }
    if let Some(error) = reader.inflate_error() {
        print_message(error);
        return Condition::Damaged;
    }
    Condition::new(damage.loses_data())
}

/// Returns the capability whose block contains an event, or a dash.
fn cap_or_dash(cap: Option<CapId>) -> Cell<'static> {
    cap.map_or(Cell::from("-"), Cell::from)
}
