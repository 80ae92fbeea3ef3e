//! `eventscope export --format FORMAT -o OUT LOG…`: logs for other programs.

use std::collections::HashMap;
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use chrono::DateTime;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::cut::speed;
use super::duration::nanoseconds;
use super::output_file::{
    INTERRUPTED, create_output, finish_output, is_input, remove_unfinished_on_signals,
};
use super::{Condition, Failure, LogFile, Range, report, say};
use eventlog::Record;
use export::format::{Error, Format, Written};
use export::formats::{self, FORMATS};
use export::log::{Log, Taker};
use model::time::Interval;
use session::cells::Formulas;
use session::{MemoryBudget, Session};
use views::fingerprint::Fingerprint;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The logs
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: &'static Format,
    /// Where it goes: for tables and OpenTelemetry a folder, which may hold those of other logs; else a file, or a folder for several logs
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    range: Range,
    /// About how much memory to take for what is known of a log, in MiB; what is beyond that goes to a temporary file
    #[arg(long, value_name = "MIB", default_value_t = MemoryBudget::default().bytes >> 20)]
    memory: u64,
    /// When the clocks of the logs were 0, for those that do not tell: as 2026-11-20T09:47:03Z, or in seconds since 1970
    #[arg(long, value_name = "TIME")]
    wall_clock: Option<WallClock>,
    /// In CSV, leave cells alone that a spreadsheet would take for formulas; without this they
    /// begin with an apostrophe
    #[arg(long)]
    raw: bool,
    /// Say how many bytes were read of each log, and how fast
    #[arg(long)]
    verbose: bool,
}

/// A point of the wall clock, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WallClock {
    ns: u64,
}

impl FromStr for WallClock {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let date = DateTime::parse_from_rfc3339(text).ok();
        let ns = match date {
            Some(date) => date.timestamp_nanos_opt().map(i128::from),
            None => nanoseconds(&format!("{text}s")),
        };
        let ns = ns.and_then(|ns| u64::try_from(ns).ok());
        let ns = ns.ok_or("it has to be like 2026-11-20T09:47:03Z, or seconds since 1970")?;
        Ok(Self { ns })
    }
}

/// When the clock of a log was 0, if it tells.
fn clock_origin_ns(session: &Session) -> Option<u64> {
    let origin = session.recording().info.clock_origin_ns;
    origin.and_then(|origin| u64::try_from(origin).ok())
}

/// The names of the formats.
fn format() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS.map(|format| PossibleValue::new(format.name).help(format.help));
    let named = |name: String| formats::named(&name).ok_or("no such format");
    PossibleValuesParser::new(names).try_map(named)
}

pub(super) fn run(arguments: &Arguments) -> Result<Condition, Failure> {
    let range = arguments.range.span()?;
    if arguments.raw && arguments.format.name != "csv" {
        let what = "--raw is for --format csv: other formats have texts as they are";
        return Err(Failure::Usage(what.to_owned()));
    }
    let mut condition = Condition::Sound;
    let mut done = Done::default();
    remove_unfinished_on_signals(INTERRUPTED);
    for path in &arguments.logs {
        let is_alone = arguments.logs.len() == 1;
        match export(arguments, path, range, &mut done) {
            Ok(Condition::Sound) => {}
            Ok(Condition::Damaged) => condition = Condition::Damaged,
            // The others may be logs.
            Err(Failure::Log(error)) if !is_alone => {
                say(format_args!("{}: {error}", path.display()));
                condition = Condition::Damaged;
            }
            Err(Failure::Absent(why)) if !is_alone => {
                say(why);
                condition = Condition::Damaged;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(condition)
}

/// The logs that were written, by what tells them apart.
#[derive(Default)]
struct Done(HashMap<Fingerprint, PathBuf>);

/// Writes one log.
fn export(
    arguments: &Arguments,
    path: &Path,
    range: Option<Interval>,
    done: &mut Done,
) -> Result<Condition, Failure> {
    let begin = Instant::now();
    let file = LogFile::within(path, arguments.memory);
    let input = file.open()?;
    let fingerprint = input.fingerprint(path)?;
    if let Some(before) = done.0.get(&fingerprint) {
        let (path, before) = (path.display(), before.display());
        say(format_args!(
            "{path} is the same log as {before}: it is written once"
        ));
        return Ok(Condition::Sound);
    }
    let session = input.read_session()?;
    arguments
        .range
        .check(session.recording().info.lives.log())?;
    let name = file.name();
    let read_again = |take: &mut Taker<'_>| {
        let mut sink = |record: &Record<'_>| take(record);
        input.read_again(&session, &mut sink)
    };
    let log = Log {
        name: &name,
        inputs: &arguments.logs,
        fingerprint,
        session: &session,
        range: session.recording().within_cut(range),
        clock_origin_ns: clock_origin_ns(&session).or(arguments.wall_clock.map(|clock| clock.ns)),
        formulas: match arguments.raw {
            true => Formulas::Kept,
            false => Formulas::Neutralised,
        },
        read_again: &read_again,
    };
    write(arguments, &log)?;
    done.0.insert(fingerprint, path.to_owned());
    if arguments.verbose {
        let bytes = session.overview().bytes;
        say(format_args!(
            "{}: {bytes} bytes; {}",
            path.display(),
            speed(bytes, begin)
        ));
    }
    Ok(report(session.reader()))
}

fn write(arguments: &Arguments, log: &Log<'_>) -> Result<(), Failure> {
    match arguments.format.written {
        Written::Tables(write) | Written::Files(write) => {
            write(log, &arguments.out).map_err(|error| failure(error, log, &arguments.out))
        }
        Written::File { extension, write } => {
            let path = place(arguments, log, extension)?;
            let mut out = BufWriter::new(create_output(&path, log.inputs)?);
            let written = write(log, &mut out).and_then(|()| Ok(finish_output(out)?));
            written.map_err(|error| failure(error, log, &path))
        }
    }
}

/// Where the file of a log goes: the one that is named, or one in the folder that is named. Where
/// several logs have one name, what tells them apart stands in the names of their files.
fn place(arguments: &Arguments, log: &Log<'_>, extension: &str) -> Result<PathBuf, Failure> {
    let (out, name) = (&arguments.out, log.name);
    if arguments.logs.len() == 1 && !out.is_dir() {
        return Ok(out.clone());
    }
    fs::create_dir_all(out).map_err(|error| Failure::File(out.clone(), error))?;
    let is_called_so = |path: &&PathBuf| path.file_name().is_some_and(|other| other == name);
    let file = match arguments.logs.iter().filter(is_called_so).count() {
        0 | 1 => format!("{name}.{extension}"),
        _ => format!("{name}-{}.{extension}", log.run()),
    };
    Ok(out.join(file))
}

fn failure(error: Error, log: &Log<'_>, path: &Path) -> Failure {
    match error {
        Error::Log(error) => Failure::Log(error),
        Error::Output(error) => Failure::File(path.to_owned(), error),
        Error::File(path, error) => Failure::File(path, error),
        Error::IsInput(path) => is_input(&path),
        Error::Refused(why) => Failure::Absent(format!("{}: {why}", log.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_is_a_date_or_seconds() {
        let ns = |text: &str| text.parse::<WallClock>().ok().map(|clock| clock.ns);
        assert_eq!(ns("1970-01-01T00:00:01.000000002Z"), Some(1_000_000_002));
        assert_eq!(ns("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(ns("1.5"), Some(1_500_000_000));
        for wrong in [
            "",
            "-1",
            "yesterday",
            "1970-01-01",
            "1969-12-31T23:59:59Z",
            "1s",
        ] {
            assert_eq!(ns(wrong), None, "{wrong}");
        }
    }
}
