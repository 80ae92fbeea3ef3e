//! The command line: the same library as in the browser, for scripts, for
//! tests against references and for measurements.
//!
//! Rows go to standard output, one line each, tab-separated; on a terminal some commands print
//! aligned tables. What is wrong
//! with a log goes to standard error, and then the exit status is 1; what
//! could be read is printed all the same. Wrong usage exits with 2. An assertion that does
//! not hold exits with 3, one of which a log does not tell with 4. When
//! nobody reads the output any more the status is that of a process that a
//! closed pipe ends, 141.
//!
//! A command is a file here: its arguments, and `run`. `Command` lists them.

mod assert;
mod check;
mod collections;
mod compare;
mod comparison;
mod cut;
mod digest;
mod duration;
mod empty;
mod event_types;
mod eventlog2html;
mod events;
mod export;
mod findings;
mod flame_beside;
mod flamegraph;
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
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use eventlog::{LogError, LogReader, system_words};
use model::time::Interval;
use session::Session;
use session::cells::Cell;
use views::words::diagnostics::line;

use input::{Input, LogFile};
use out::{Out, Output, Style, Table, say};
use range::Range;

/// Reads GHC eventlogs. Files may be compressed with gzip or zstd; `-` is standard input. Pipes may be read too: up to 64 MiB are kept in memory, more in a temporary file.
#[derive(Debug, Parser)]
#[command(name = "eventscope", version = env!("EVENTSCOPE_VERSION"), disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The page in the browser, with these logs open in it: nothing leaves this computer
    View(view::Arguments),
    /// GHC version, program, capabilities, first and last time, events by type, warnings
    Info(info::Arguments),
    /// Every event, by time
    Events(events::Arguments),
    /// What a log says as it comes: from a file that grows, standard input or a socket
    Tail(tail::Arguments),
    /// Whether threads, capabilities, tasks and sparks do only what they can
    Check(check::Arguments),
    /// Spans of garbage collection, of running and blocked threads, of capability usage
    Spans(spans::Arguments),
    /// The numbers of `+RTS -s`, of the whole log or of a part of it
    Summary(Whole),
    /// What is wrong with the program, as far as the log tells: what it costs, where it is seen, what to try
    Findings(findings::Arguments),
    /// Measure which flags of the runtime make a program faster: `try -- ./program +RTS -N2`
    Try(Box<try_flags::Arguments>),
    /// All that matters of a log in one HTML file, to be read, printed and sent: numbers, findings, timeline, collections, heap, threads
    Report(report::Arguments),
    /// Every number of a log that has a name, for scripts and for `assert`
    Metrics(Whole),
    /// Check conditions on a log's numbers: `assert run.eventlog 'gc.pause.p99 < 10 ms'`
    Assert(assert::Arguments),
    /// Compare two sets of runs: what differs, by how much, and whether the change is significant
    Compare(compare::Arguments),
    /// What is compared of a log, as JSON: `compare` takes it in place of the log
    Digest(digest::Arguments),
    /// How each thread spent its time: running, waiting for a capability, blocked and on what
    Threads(threads::Arguments),
    /// Every collection: when, how long the program stood still, what was copied, what is live
    Collections(collections::Arguments),
    /// What holds the heap: bands of a heap profile with their numbers, single censuses, the difference of two, charts
    Heap(heap::Arguments),
    /// How often code was entered and what it allocated, by ticky counters (ghc -ticky, +RTS -lT)
    Ticky(ticky::Arguments),
    /// Where the time of capabilities, threads and the program went, every nanosecond in one class
    Time(time::Arguments),
    /// Flame graphs as files for speedscope, flamegraph.pl, inferno and pprof, as a picture, or as a table
    Flamegraph(flamegraph::Arguments),
    /// A part of a log as a smaller log, to be sent to a colleague; its texts can be replaced
    Cut(cut::Arguments),
    /// Several logs as one: of several processes on one axis of time, or the parts that `cut` made of a log
    Merge(merge::Arguments),
    /// Logs as files for other programs: tables for DuckDB, Spark and other engines
    Export(export::Arguments),
    /// A script that completes commands, options and files in a shell
    Completions(manual::Completions),
    /// The manual page, for `man`
    Man(manual::Manual),
}

/// A log, which part of it, and whether to print JSON.
#[derive(Debug, clap::Args)]
struct Whole {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds, sizes in bytes, shares from 0 to 1
    #[arg(long)]
    json: bool,
}

impl Whole {
    /// Reads the log with all analyses.
    fn read(&self) -> Result<(Session, Option<Interval>), Failure> {
        self.log.read(self.range)
    }
}

/// Why a command did not do all of its work.
#[derive(Debug)]
enum Failure {
    /// The log could not be read.
    Log(LogError),
    /// The output could not be written.
    Output(io::Error),
    /// A file could not be opened, read or written.
    File(PathBuf, io::Error),
    /// The log has nothing of what was asked for.
    Absent(String),
    /// What was asked for makes no sense, whatever the log.
    Usage(String),
    /// A log does not fulfil what was asked of it; that has been said.
    Unfulfilled,
    /// A log does not tell whether it does; that has been said.
    NoData,
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
        Command::Threads(arguments) => threads::run(arguments, &mut out),
        Command::Collections(arguments) => collections::run(arguments, &mut out),
        Command::Heap(arguments) => heap::run(arguments, &mut out),
        Command::Ticky(arguments) => ticky::run(arguments, &mut out),
        Command::Time(arguments) => time::run(arguments, &mut out),
        Command::Flamegraph(arguments) => flamegraph::run(arguments, &mut out),
        Command::Cut(arguments) => cut::run(arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Completions(arguments) => manual::completions(arguments, &mut out),
        Command::Man(arguments) => manual::manual(arguments, &mut out),
    };
    let flushed = out.flush();
    exit(result.and_then(|condition| Ok(flushed.map(|()| condition)?)))
}

/// The status of a process that writes to a pipe nobody reads, as shells give it: 128 + SIGPIPE.
const NOBODY_READS: u8 = 141;

/// Says what went wrong, and with which status the process ends.
fn exit(result: Result<Condition, Failure>) -> ExitCode {
    match result {
        Ok(Condition::Sound) => return ExitCode::SUCCESS,
        // What is wrong with the log has been said.
        Ok(Condition::Damaged) => {}
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::from(NOBODY_READS);
        }
        Err(Failure::Usage(what)) => {
            say(what);
            return ExitCode::from(2);
        }
        Err(Failure::Unfulfilled) => return ExitCode::from(3),
        Err(Failure::NoData) => return ExitCode::from(4),
        Err(Failure::Output(error)) => {
            say(format_args!(
                "could not write the output: {}",
                system_words(&error)
            ));
        }
        Err(Failure::File(path, error)) => {
            say(format_args!("{}: {}", path.display(), system_words(&error)));
        }
        Err(Failure::Log(error)) => say(error),
        Err(Failure::Absent(what)) => say(what),
    }
    ExitCode::FAILURE
}

/// A terminal lists so many damaged places; `check` lists all of them.
const MOST_PLACES: usize = 20;

/// Says on standard error what is wrong with the log.
fn report(reader: &LogReader) -> Condition {
    let damage = reader.damage();
    let is_for_reader = io::stderr().is_terminal();
    let most = if is_for_reader {
        MOST_PLACES
    } else {
        usize::MAX
    };
    for damage in damage.kept.iter().take(most) {
        say(line(&damage.into()));
    }
    let listed = damage.kept.len().min(most) as u64;
    if damage.count() > listed {
        say(format_args!(
            "{} more damaged places, {} bytes lost in all",
            damage.count() - listed,
            damage.lost_bytes
        ));
    }
    if let Some(error) = reader.inflate_error() {
        say(error);
        return Condition::Damaged;
    }
    if damage.loses_data() {
        Condition::Damaged
    } else {
        Condition::Sound
    }
}

/// The capability in whose block an event stands; a dash for none.
fn cap_or_dash(cap: Option<u16>) -> Cell<'static> {
    cap.map_or(Cell::from("-"), |cap| u64::from(cap).into())
}
