//! `eventscope cut FILE -o OUT`: a part of a log, as a log.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::input::Input;
use super::{Condition, Failure, LogFile, Range, report, say};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, ThreadId};
use eventlog::{Event, EventType, Record};
use eventlog_edit::anonymous::Anonymiser;
use eventlog_edit::cut::{Cut, CutCounts, Selection};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    /// Where the new log goes
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    range: Range,
    /// Only events of this capability; may be given more than once
    #[arg(long, value_name = "NUMBER")]
    cap: Vec<u16>,
    /// Only events about this thread, or on a capability while it ran this thread; by its number or its label, may be given more than once
    #[arg(long, value_name = "THREAD")]
    thread: Vec<String>,
    /// Only events of this type, such as RunThread or 1; may be given more than once
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// No events of this type, not even if later events refer to them; may be given more than once
    #[arg(long, value_name = "TYPE")]
    leave_out_type: Vec<String>,
    /// Replace every text of the program, such as its name, arguments, messages, labels and places in its source: the same text gets the same name
    #[arg(long)]
    anonymise: bool,
    /// Say how many events were written, and how fast
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
        left_out: types(&arguments.leave_out_type)?,
    };
    if !arguments.cap.is_empty() {
        selection.caps = Some(arguments.cap.iter().copied().map(CapId).collect());
    }
    if !arguments.types.is_empty() {
        selection.types = Some(types(&arguments.types)?);
    }
    let input = arguments.log.open()?;
    if !arguments.thread.is_empty() {
        selection.threads = Some(threads_named(&input, &arguments.thread)?);
    }
    let file = NewFile::new(&arguments.out, [arguments.log.path()])?;
    let failed = |error| Failure::File(arguments.out.clone(), error);
    let anonymiser = arguments.anonymise.then(Anonymiser::default);
    let mut cut = Cut::new(selection, anonymiser, BufWriter::new(file));
    let reader = input.read(&mut cut)?;
    let header = reader.header().map(|header| &**header);
    let (_, counts) = cut.finish(header).map_err(failed)?;
    if counts.unknown > 0 {
        say(format_args!(
            "{} events of types that are not known were left out: nobody can tell which texts they have",
            counts.unknown
        ));
    }
    if arguments.verbose {
        tell(counts, reader.len().0, begin);
    }
    Ok(report(&reader))
}

/// Says what was done.
fn tell(counts: CutCounts, read_bytes: u64, begin: Instant) {
    let CutCounts {
        read,
        written,
        bytes,
        ..
    } = counts;
    say(format_args!(
        "{written} of {read} events, {bytes} of {read_bytes} bytes; {}",
        speed(read_bytes, begin)
    ));
}

/// How fast so many bytes were read.
pub(super) fn speed(bytes: u64, begin: Instant) -> String {
    let seconds = begin.elapsed().as_secs_f64();
    format!("{:.0} MB/s", bytes as f64 / 1e6 / seconds.max(1e-9))
}

/// The file of a new log. It is made when something is written to it: if the log that is read is
/// none, a file that is there stays as it is.
pub(super) struct NewFile {
    path: PathBuf,
    file: Option<File>,
}

impl NewFile {
    /// A file at `path`, which is none of those that are read.
    pub(super) fn new<'a>(
        path: &Path,
        read: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, Failure> {
        let place = path.canonicalize().ok();
        for other in read {
            if place.is_some() && other.canonicalize().ok() == place {
                let what = format!("{} cannot be read and written at once", path.display());
                return Err(Failure::Usage(what));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            file: None,
        })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => self.file.insert(File::create(&self.path)?).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

/// The types of this name or number.
fn types_named(name: &str) -> Result<Vec<EventType>, Failure> {
    if let Ok(number) = name.parse() {
        return Ok(vec![EventType(number)]);
    }
    let named = |id: &&EventType| id.name() == Some(name);
    let found: Vec<EventType> = EventType::ALL.iter().filter(named).copied().collect();
    if found.is_empty() {
        let what = format!(
            "no type of events is called {name}: `eventscope info FILE` lists those of a log"
        );
        return Err(Failure::Usage(what));
    }
    Ok(found)
}

/// The threads of these numbers or labels.
fn threads_named(input: &Input, names: &[String]) -> Result<SeededSet<ThreadId>, Failure> {
    let mut found = SeededSet::default();
    let mut labels: Vec<(&str, bool)> = Vec::new();
    for name in names {
        match name.parse() {
            Ok(number) => drop(found.insert(ThreadId(number))),
            Err(_) => labels.push((name, false)),
        }
    }
    if labels.is_empty() {
        return Ok(found);
    }
    input.read(&mut |record: &Record<'_>| {
        if record.id == EventType::THREAD_LABEL
            && let Event::ThreadLabel { thread, label } = record.event()
        {
            for (name, is_found) in &mut labels {
                if label.0 == name.as_bytes() {
                    *is_found = true;
                    found.insert(thread);
                }
            }
        }
    })?;
    match labels.iter().find(|(_, is_found)| !is_found) {
        Some((name, _)) => Err(Failure::Absent(format!("no thread is called {name}"))),
        None => Ok(found),
    }
}
