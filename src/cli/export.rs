//! `eventscope export --format FORMAT -o OUT LOG…`: converts logs for other programs. With `--dataset`, they become
//! a part of a data set.

use std::collections::HashMap;
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use chrono::DateTime;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::cut::speed;
use super::dataset;
use super::duration::nanoseconds;
use super::output_file::{
    INTERRUPTED, check_folder, create_output, finish_output, is_input, remove_unfinished_on_signals,
};
use super::{
    Condition, Failure, LogFile, Range, print_message, report, report_in_log, system_words,
};
use eventlog::Record;
use export::format::{Error, Format, OutputKind};
use export::formats::{self, FORMATS};
use export::log::{Log, RecordCallback};
use model::time::Interval;
use native::is_standard_output;
use session::MemoryBudget;
use session::cells::Formulas;
use views::fingerprint::Fingerprint;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs to export
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = format(), required_unless_present = "dataset")]
    format: Option<&'static Format>,
    /// Output: for tables and OpenTelemetry a folder, which may contain the output of other logs; otherwise a file, or a folder for several logs
    #[arg(short, long, value_name = "OUT", required_unless_present = "dataset")]
    out: Option<PathBuf>,
    #[command(flatten)]
    range: Range,
    /// Approximate memory for the data of a log, in MiB; more goes to a temporary file
    #[arg(long, value_name = "MIB", default_value_t = MemoryBudget::default().bytes >> 20)]
    memory: u64,
    /// Wall-clock time of the log's time 0, for logs without one: as 2026-11-20T09:47:03Z, or in seconds since 1970
    #[arg(long, value_name = "TIME")]
    wall_clock: Option<WallClock>,
    /// In CSV, do not put an apostrophe before cells that a spreadsheet would run as formulas
    #[arg(long)]
    raw: bool,
    /// Print the bytes read of each log and the throughput
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    dataset: dataset::Arguments,
}

/// What is written, and where to.
#[derive(Clone, Copy)]
struct Target<'a> {
    format: &'static Format,
    out: &'a Path,
}

/// Wall-clock time, in nanoseconds since 1970.
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
            // A unit would be read as a part of another one: "m" as milliseconds.
            None if text.ends_with(|c: char| c.is_ascii_digit()) => {
                nanoseconds(&format!("{text}s"))
            }
            None => None,
        };
        let ns = ns.and_then(|ns| u64::try_from(ns).ok());
        let ns = ns.ok_or("write a time such as 2026-11-20T09:47:03Z, or seconds since 1970")?;
        Ok(Self { ns })
    }
}

/// Parses the name of a format.
fn format() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS.map(|format| PossibleValue::new(format.name).help(format.help));
    let named = |name: String| formats::find_format(&name).ok_or("no such format");
    PossibleValuesParser::new(names).try_map(named)
}

pub(super) fn run(arguments: &Arguments) -> Result<Condition, Failure> {
    let target = match (&arguments.dataset.dataset, arguments.format, &arguments.out) {
        (Some(folder), ..) => {
            check_folder(folder)?;
            let run = dataset::Run {
                folder,
                logs: &arguments.logs,
                memory_mib: arguments.memory,
                clock_origin_ns: arguments.wall_clock.map(|clock| clock.ns),
            };
            return dataset::run(&arguments.dataset, &run);
        }
        (None, Some(format), Some(out)) => Target { format, out },
        // The arguments require both.
        (None, ..) => return Err(Failure::Usage("name --format and --out".to_owned())),
    };
    let range = arguments.range.span()?;
    if arguments.raw && target.format.name != "csv" {
        let what = "--raw requires --format csv: other formats write texts unchanged";
        return Err(Failure::Usage(what.to_owned()));
    }
    let is_one_file =
        arguments.logs.len() == 1 && matches!(target.format.output, OutputKind::File { .. });
    if !is_one_file {
        check_folder(target.out)?;
    }
    let mut condition = Condition::Sound;
    let mut exported = ExportedLogs::default();
    remove_unfinished_on_signals(INTERRUPTED);
    for path in &arguments.logs {
        let is_alone = arguments.logs.len() == 1;
        match export(arguments, target, path, range, &mut exported) {
            Ok(of_log) => condition = condition.max(of_log),
            // The other files may be valid logs.
            Err(Failure::Log(error)) if !is_alone => {
                print_message(format_args!("{}: {error}", path.display()));
                condition = Condition::Damaged;
            }
            Err(Failure::File(file, error)) if !is_alone && file == *path => {
                print_message(format_args!("{}: {}", path.display(), system_words(&error)));
                condition = Condition::Damaged;
            }
            Err(Failure::Absent(why)) if !is_alone => {
                print_message(why);
                condition = Condition::Damaged;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(condition)
}

/// Logs exported so far, by fingerprint.
#[derive(Default)]
struct ExportedLogs(HashMap<Fingerprint, PathBuf>);

/// Exports one log, unless an identical one was exported already.
fn export(
    arguments: &Arguments,
    target: Target<'_>,
    path: &Path,
    range: Option<Interval>,
    exported: &mut ExportedLogs,
) -> Result<Condition, Failure> {
    let begin = Instant::now();
    let file = LogFile::with_memory(path, arguments.memory);
    let input = file.open()?;
    let fingerprint = input.fingerprint(path)?;
    if let Some(before) = exported.0.get(&fingerprint) {
        let (path, before) = (path.display(), before.display());
        print_message(format_args!(
            "{path} is the same log as {before}: it is written only once"
        ));
        return Ok(Condition::Sound);
    }
    let session = input.read_session()?;
    let info = &session.recording().info;
    let checked = arguments.range.check(info.covered());
    checked.map_err(|failure| failure.in_log(path))?;
    let name = file.name();
    let read_again = |take: &mut RecordCallback<'_>| {
        let mut sink = |record: &Record<'_>| take(record);
        input.read_again(&session, &mut sink)
    };
    let log = Log {
        name: &name,
        inputs: &arguments.logs,
        fingerprint,
        session: &session,
        range: session.recording().clip_to_cut(range),
        clock_origin_ns: session
            .clock_origin_ns()
            .or(arguments.wall_clock.map(|clock| clock.ns)),
        formulas: Formulas::new(arguments.raw),
        original: None,
        reread: &read_again,
    };
    write(arguments, target, &log)?;
    for what in target.format.left_out(&log) {
        print_message(format_args!("{}: {what}", path.display()));
    }
    exported.0.insert(fingerprint, path.to_owned());
    if arguments.verbose {
        let bytes = session.overview().bytes;
        print_message(format_args!(
            "{}: {bytes} bytes; {}",
            path.display(),
            speed(bytes, begin)
        ));
    }
    Ok(match arguments.logs.len() {
        1 => report(session.reader()),
        _ => report_in_log(path, session.reader()),
    })
}

fn write(arguments: &Arguments, target: Target<'_>, log: &Log<'_>) -> Result<(), Failure> {
    match target.format.output {
        OutputKind::Tables(write) => {
            write(log, target.out).map_err(|error| failure(error, log, target.out))
        }
        OutputKind::Files(write) => {
            let base = target.out.join(file_name(arguments, log));
            write(log, &base).map_err(|error| failure(error, log, target.out))
        }
        OutputKind::File { extension, write } => {
            let path = output_path(arguments, target.out, log, extension)?;
            let mut out = BufWriter::new(create_output(&path, log.inputs)?);
            let written = write(log, &mut out).and_then(|()| Ok(finish_output(out)?));
            written.map_err(|error| failure(error, log, &path))
        }
    }
}

/// Returns the output path of a log: the given path, or a file in the given folder.
fn output_path(
    arguments: &Arguments,
    out: &Path,
    log: &Log<'_>,
    extension: &str,
) -> Result<PathBuf, Failure> {
    if is_standard_output(out) || arguments.logs.len() == 1 && !out.is_dir() {
        return Ok(out.to_owned());
    }
    fs::create_dir_all(out).map_err(|error| Failure::File(out.to_owned(), error))?;
    Ok(out.join(format!("{}.{extension}", file_name(arguments, log))))
}

/// Returns the name of the files of a log, without extension: if several logs share a name, it includes the run's
/// identifier.
fn file_name(arguments: &Arguments, log: &Log<'_>) -> String {
    let name = log.name;
    // Different names that are not UTF-8 may have the same text.
    let is_called_so = |path: &&PathBuf| LogFile::from_path(path).name() == name;
    match arguments.logs.iter().filter(is_called_so).count() {
        0 | 1 => name.to_owned(),
        _ => format!("{name}-{}", log.run_id()),
    }
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
            "1m",
        ] {
            assert_eq!(ns(wrong), None, "{wrong}");
        }
    }
}
