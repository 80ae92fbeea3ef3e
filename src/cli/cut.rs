//! `eventscope cut FILE -o OUT`: writes part of a log as a smaller log.

use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use super::event_types::types_named;
use super::input::Input;
use super::output_file::{create_output, finish_output};
use super::{Condition, Failure, LogFile, Range, print_message, report};
use analysis::info::Info;
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, ThreadId};
use eventlog::{Event, EventSet, EventType, LogReader, Record};
use eventlog_edit::anonymous::Anonymizer;
use eventlog_edit::cut::{Cut, CutCounts, Selection};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    /// Write the new log to this file
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    range: Range,
    /// Only events of this capability; may be given more than once
    #[arg(long, value_name = "NUMBER")]
    cap: Vec<u16>,
    /// Only events about this thread (number or label), or on a capability while it ran this thread; may be given more than once
    #[arg(long, value_name = "THREAD")]
    thread: Vec<String>,
    /// Only events of this type, such as RunThread or 1; may be given more than once
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// No events of this type, even if later events refer to them; may be given more than once
    #[arg(long, value_name = "TYPE")]
    leave_out_type: Vec<String>,
    /// Anonymize all texts of the program, such as its name, arguments, messages, labels and source locations; equal texts get equal names
    #[arg(long)]
    anonymise: bool,
    /// Print the number of events written and the throughput
    #[arg(long)]
    verbose: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Condition, Failure> {
    let begin = Instant::now();
    let types = |names: &[String]| -> Result<SeededSet<EventType>, Failure> {
        let mut all = SeededSet::default();
        for name in names {
            all.extend(types_named(name)?);
        }
        Ok(all)
    };
    let range = arguments.range.span()?;
    let mut selection = Selection {
        from: arguments.range.from.and(range).map(|range| range.start()),
        to: arguments.range.to.and(range).map(|range| range.end()),
        caps: None,
        threads: None,
        types: None,
        excluded: types(&arguments.leave_out_type)?,
    };
    if !arguments.cap.is_empty() {
        selection.caps = Some(arguments.cap.iter().copied().map(CapId).collect());
    }
    if !arguments.types.is_empty() {
        selection.types = Some(types(&arguments.types)?);
    }
    let file = create_output(&arguments.out, [arguments.log.path()])?;
    let input = arguments.log.open()?;
    if !arguments.thread.is_empty() {
        selection.threads = Some(threads_named(&input, &arguments.thread)?);
    }
    let failed = |error| Failure::File(arguments.out.clone(), error);
    let anonymizer = arguments.anonymise.then(Anonymizer::default);
    let cut = Cut::new(selection, anonymizer, BufWriter::new(file));
    let mut sink = (cut, Info::default());
    let reader = input.read(&mut sink)?;
    let (cut, info) = sink;
    arguments.range.check(info.covered())?;
    let known: Vec<CapId> = info.lives.caps().map(|(cap, _)| cap).collect();
    if let Some(cap) = arguments
        .cap
        .iter()
        .find(|cap| !known.contains(&CapId(**cap)))
    {
        return Err(Failure::Absent(format!("the log has no capability {cap}")));
    }
    let (file, counts) = cut.finish(&reader).map_err(failed)?;
    finish_output(file).map_err(failed)?;
    if range.is_some_and(|range| range.start() == range.end()) {
        print_message("the range has no length: the new log contains only the state at its start");
    }
    if counts.unknown > 0 {
        print_message(format_args!(
            "{} events of unknown types were left out, because they may contain texts",
            counts.unknown
        ));
    }
    if arguments.verbose {
        print_counts(counts, reader.len().0, begin);
    }
    let condition = report(&reader);
    if let Some(untold) = untold_damage(&reader) {
        print_message(untold);
    }
    Ok(condition)
}

/// Returns the message that a new log lacks the lost bytes of a damaged one without showing it. It shows only a missing
/// end.
pub(super) fn untold_damage(reader: &LogReader) -> Option<&'static str> {
    let damage = reader.damage();
    let mut kinds = damage.kinds();
    kinds
        .any(|(kind, _)| kind.loses_data() && !kind.is_missing_end())
        .then_some("the new log contains what can be read, and does not show that the damaged part is missing")
}

/// Prints event and byte counts and the throughput to standard error.
fn print_counts(counts: CutCounts, read_bytes: u64, begin: Instant) {
    let CutCounts {
        read,
        written,
        bytes,
        ..
    } = counts;
    print_message(format_args!(
        "{written} of {read} events, {bytes} of {read_bytes} bytes; {}",
        speed(read_bytes, begin)
    ));
}

/// Formats the throughput since `begin`.
pub(super) fn speed(bytes: u64, begin: Instant) -> String {
    let seconds = begin.elapsed().as_secs_f64();
    format!("{:.0} MB/s", bytes as f64 / 1e6 / seconds.max(1e-9))
}

/// Finds the threads with the given numbers or labels.
fn threads_named(input: &Input, names: &[String]) -> Result<SeededSet<ThreadId>, Failure> {
    let mut found = SeededSet::default();
    let mut wanted: Vec<(&str, Option<ThreadId>, bool)> = names
        .iter()
        .map(|name| (name.as_str(), name.parse().ok().map(ThreadId), false))
        .collect();
    input.read(&mut |record: &Record<'_>| {
        const NAMING: EventSet = EventSet::from_types(&[
            EventType::CREATE_THREAD,
            EventType::RUN_THREAD,
            EventType::THREAD_LABEL,
        ]);
        if !NAMING.contains(record.id) {
            return;
        }
        let (thread, label) = match record.event() {
            Event::CreateThread { thread } | Event::RunThread { thread } => (thread, None),
            Event::ThreadLabel { thread, label } => (thread, Some(label)),
            _ => return,
        };
        for (name, number, is_found) in &mut wanted {
            let is_called = label.is_some_and(|label| label.0 == name.as_bytes());
            if *number == Some(thread) || (number.is_none() && is_called) {
                *is_found = true;
                found.insert(thread);
            }
        }
    })?;
    match wanted.iter().find(|(.., is_found)| !is_found) {
        Some((name, None, _)) => Err(Failure::Absent(format!("no thread has the label {name}"))),
        Some((name, ..)) => Err(Failure::Absent(format!("the log has no thread {name}"))),
        None => Ok(found),
    }
}
