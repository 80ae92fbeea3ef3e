//! `eventscope merge LOG… -o OUT`: merges several logs into one.

use std::io::BufWriter;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use super::cut::{speed, untold_damage};
use super::duration::nanoseconds;
use super::input::Input;
use super::output_file::{create_output, finish_output};
use super::{Condition, Failure, LogFile, print_message, report_in_log};
use eventlog_edit::merge::{Align, Facts, MergeCounts, MergeError, Plan, Survey, merge};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs of several processes, or the parts that `cut` made of one log
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Write the new log to this file
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Shift the events of a log, named by its file name or path, by this duration: `server.eventlog=250us`, `client.eventlog=-1.5ms`; units are ns, us, ms, s, min and h
    #[arg(long, value_name = "LOG=DURATION")]
    offset: Vec<Offset>,
    /// Align the logs by `wall-clock`, `start` (their first events), `marker=TEXT` (the first marker or message with that text), `pairs` (messages that they send each other, in both directions: markers or messages such as `SEND 42` and `RECV 42`) or `messages=WORD,WORD` (the same with other words)
    #[arg(long, value_name = "WHAT", default_value = "wall-clock")]
    by: AlignMethod,
    /// Print the number of events written and the throughput
    #[arg(long)]
    verbose: bool,
}

/// Time shift of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Offset {
    log: String,
    ns: i128,
}

impl FromStr for Offset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (log, duration) = text
            .rsplit_once('=')
            .ok_or("write LOG=DURATION, such as server.eventlog=250us")?;
        let ns = nanoseconds(duration).ok_or_else(|| {
            format!("“{duration}” is not a duration: write one such as 250us or -1.5ms")
        })?;
        Ok(Self {
            log: log.to_owned(),
            ns,
        })
    }
}

/// Method for aligning logs on one time axis.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AlignMethod(Align);

impl FromStr for AlignMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let after = |what| text.strip_prefix(what);
        let words = |(send, receive): (&str, &str)| {
            Align::Messages(send.trim().to_owned(), receive.trim().to_owned())
        };
        Ok(Self(match text {
            "wall-clock" => Align::WallClock,
            "start" => Align::Start,
            "pairs" => words(Align::WORDS),
            _ => match (after("marker="), after("messages=")) {
                (Some(marker), _) => Align::Marker(marker.to_owned()),
                (_, Some(both)) => both
                    .split_once(',')
                    .map(words)
                    .ok_or("write two words, as in messages=SEND,RECV")?,
                _ => {
                    let all = "wall-clock, start, marker=TEXT, pairs or messages=SEND,RECV";
                    return Err(format!("write {all}"));
                }
            },
        }))
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Condition, Failure> {
    let begin = Instant::now();
    let logs: Vec<LogFile> = arguments
        .logs
        .iter()
        .map(|path| LogFile::from_path(path))
        .collect();
    let offsets = offsets(&logs, &arguments.offset)?;
    let mut condition = Condition::Sound;
    let (mut inputs, mut facts, mut read_bytes) = (Vec::new(), Vec::new(), 0);
    for log in &logs {
        let input = log.open()?;
        let (found, of_log, bytes) = survey(log, &input, &arguments.by.0)?;
        condition = condition.max(of_log);
        read_bytes += bytes;
        facts.push(found);
        inputs.push(input);
    }
    let plan = Plan::new(&facts, &arguments.by.0, &offsets);
    let plan = plan.map_err(|error| Failure::Absent(error.to_string()))?;
    if plan.processes() == 1 && !arguments.offset.is_empty() {
        let what = "the logs are parts of one process and already aligned: omit --offset";
        return Err(Failure::Usage(what.to_owned()));
    }
    print_alignment(&plan);
    let file = create_output(&arguments.out, &arguments.logs)?;
    let failed = |error| Failure::File(arguments.out.clone(), error);
    let feeds = inputs.iter().map(Input::feed).collect();
    let merged = merge(&plan, feeds, BufWriter::new(file));
    let (file, counts) = merged.map_err(|error| match error {
        MergeError::Log(error) => Failure::Log(error),
        MergeError::Write(error) => failed(error),
    })?;
    finish_output(file).map_err(failed)?;
    print_left_out(&counts);
    if arguments.verbose {
        print_message(format_args!(
            "{} {}, {} events, {} bytes of {read_bytes}; {}",
            plan.processes(),
            if plan.processes() == 1 {
                "process"
            } else {
                "processes"
            },
            counts.events,
            counts.bytes,
            speed(read_bytes, begin)
        ));
    }
    Ok(condition)
}

/// Returns the time shift of each log, in nanoseconds.
fn offsets(logs: &[LogFile], asked: &[Offset]) -> Result<Vec<i128>, Failure> {
    let mut offsets = vec![0; logs.len()];
    for Offset { log, ns } in asked {
        let place = place(logs, log).map_err(|why| Failure::Usage(format!("--offset: {why}")))?;
        if let Some(offset) = offsets.get_mut(place) {
            *offset += ns;
        }
    }
    Ok(offsets)
}

/// Returns the index of the log with this path, or else with this file name.
fn place(logs: &[LogFile], wanted: &str) -> Result<usize, String> {
    let has_path = |file: &LogFile| file.path().as_os_str() == wanted;
    if let Some(place) = logs.iter().position(has_path) {
        return Ok(place);
    }
    let named = logs.iter().enumerate();
    let named: Vec<(usize, &LogFile)> = named.filter(|(_, file)| file.name() == wanted).collect();
    match named[..] {
        [] => Err(format!("no log is named {wanted}")),
        [(place, _)] => Ok(place),
        [(_, first), ..] => Err(format!(
            "{} logs are named {wanted}: write the path, such as {}=250us",
            named.len(),
            first.path().display()
        )),
    }
}

/// Surveys a log for merging and reports its damage. Returns the facts, whether the log is intact, and its size in
/// bytes.
fn survey(log: &LogFile, input: &Input, align: &Align) -> Result<(Facts, Condition, u64), Failure> {
    let mut survey = Survey::new(&log.name(), align);
    let reader = input
        .read(&mut survey)
        .map_err(|failure| failure.in_log(log.path()))?;
    let condition = report_in_log(log.path(), &reader);
    if let Some(untold) = untold_damage(&reader) {
        print_message(format_args!("{}: {untold}", log.path().display()));
    }
    let header = reader.header().map(|header| &**header);
    Ok((survey.finish(header), condition, reader.len().0))
}

/// Reports how well messages align the logs.
fn print_alignment(plan: &Plan) {
    for one in plan.aligned() {
        print_message(one);
    }
}

/// Reports what the merged log cannot represent.
fn print_left_out(counts: &MergeCounts) {
    if counts.censuses > 0 {
        print_message(format_args!(
            "{} events of heap profiles were left out: a log can contain the heap profile of only one process",
            counts.censuses
        ));
    }
    if let Some(note) = counts.note_on_intervals() {
        print_message(note);
    }
    for (id, count) in &counts.misfits {
        print_message(format_args!(
            "{count} events of type {} ({}) were left out: the logs declare it differently",
            id.0,
            id.name().unwrap_or("unknown")
        ));
    }
}
