//! `eventscope flamegraph FILE`: writes flame graphs as files, pictures or tables.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::flame_comparison::ComparedLog;
use super::out::MAX_ROWS;
use super::output_file::print_to_file;
use super::{
    Condition, EscapeStyle, Failure, LogFile, Out, Output, Range, Table, print_message, report,
};
use analysis::flamegraph::source_info::{SourceInfo, TrackInfo};
use analysis::flamegraph::sources;
use analysis::flamegraph::spans::totals::WindowTotals;
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::inflate::Compression;
use eventlog::info_tables::InfoTables;
use eventlog::{EventType, Record, header, system_words};
use model::profile::TrackSource;
use model::profile::source::{Source, Unit};
use model::profile::stack_source::{CensusCounts, FlameSelection};
use model::profile::weights::Measure;
use model::time::Interval;
use scene::palette::Palette;
use session::cells::{Column, Columns};
use session::flame::query::{ExportFormat, FlameQuery, FlameRow, FlameTableQuery, View};
use session::flame::transform::Transform;
use session::{Session, WrittenStacks};
use symbols::{MAGIC_BYTES, Symbols};
use views::flame::{picture_query, svg};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    /// Source of the stacks; by default the first of these that the log has
    #[arg(long, value_parser = stacks())]
    pub(super) source: Option<Stacks>,
    /// Output format
    #[arg(long, value_enum, default_value = "totals")]
    pub(super) format: Format,
    /// Order of the stacks in a picture
    #[arg(long, value_enum, default_value = "time")]
    order: Order,
    /// Only this track, such as cap0, os4242, thread5; may be repeated
    #[arg(long, value_name = "TRACK", value_parser = track, value_delimiter = ',')]
    pub(super) track: Vec<TrackSource>,
    #[command(flatten)]
    pub(super) range: Range,
    /// Transform the stacks: focus:NAME, drop:NAME, merge:NAME, recursion, modules, idle, invert; may be repeated
    #[arg(long, value_name = "STEP", value_parser = step)]
    step: Vec<Transform>,
    /// Weight of the stacks; by default the unit of the source
    #[arg(long, value_enum)]
    measure: Option<MeasureChoice>,
    /// Names for addresses: the executable that wrote the log, the output of nm for it, or another log of the same build that describes the info tables
    #[arg(long, value_name = "FILE")]
    symbols: Option<PathBuf>,
    /// Totals of spans in each span of this name, without collections, as in ghc-events-analyze
    #[arg(long, value_name = "NAME", conflicts_with_all = ["track", "from", "to", "step", "measure"])]
    window: Option<String>,
    /// Prefixes of messages that begin a span, comma-separated; selects the source spans [default: START]
    #[arg(long, value_name = "WORDS")]
    span_start: Option<String>,
    /// Prefixes of messages that end a span, comma-separated; selects the source spans [default: STOP,END]
    #[arg(long, value_name = "WORDS")]
    span_stop: Option<String>,
    /// Compare with this earlier log, stacks by names; with `--format totals` or `svg`
    #[arg(long, value_name = "FILE", conflicts_with = "window")]
    compare: Option<PathBuf>,
    /// Compare shares of each log's total, not absolute weights
    #[arg(long, requires = "compare")]
    pub(super) shares: bool,
    /// Write to this file
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: Output,
}

impl Arguments {
    /// Sets the prefixes of messages that begin and end spans.
    pub(super) fn set_span_prefixes(&self, session: &mut Session) {
        let start = self.span_start.as_deref().unwrap_or("START");
        let stop = self.span_stop.as_deref().unwrap_or("STOP,END");
        let words = SpanPrefixes::of_lists(start, stop);
        if words != SpanPrefixes::default() {
            session.set_span_prefixes(words);
        }
    }

    /// Returns the requested source; words that begin and end spans request the source of spans.
    fn requested(&self) -> Option<Stacks> {
        let has_words = self.span_start.is_some() || self.span_stop.is_some();
        let spans = has_words.then_some(Stacks::Of(sources::SPANS));
        self.source.or(spans)
    }
}

/// Source of stacks, as selected by `--source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stacks {
    Of(Source),
    /// The foreign calls in the cost centre source, without its other tracks.
    ForeignCalls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// JSON for speedscope, one profile per track
    Speedscope,
    /// One line per stack, for flamegraph.pl and inferno
    Folded,
    /// Compressed protocol buffer for pprof
    Pprof,
    /// SVG picture
    Svg,
    /// One row per frame: self and total weight
    Totals,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// By time, one band per track
    Time,
    /// Equal stacks merged, the heaviest on the left
    LeftHeavy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureChoice {
    /// Nanoseconds
    Time,
    /// Samples, calls or spans
    Samples,
    /// Bytes
    Bytes,
}

/// Parses the name of a source.
fn stacks() -> impl TypedValueParser<Value = Stacks> {
    let names = Stacks::all().map(|stacks| PossibleValue::new(stacks.name()).help(stacks.help()));
    let named = |name: String| Stacks::all().find(|stacks| stacks.name() == name);
    PossibleValuesParser::new(names).try_map(move |name| named(name).ok_or("no such source"))
}

fn track(text: &str) -> Result<TrackSource, String> {
    TrackSource::from_name(text).ok_or_else(|| {
        "not a track: names are cap0, os4242, unknown0, thread5, spans5.0, program".to_owned()
    })
}

fn step(text: &str) -> Result<Transform, String> {
    Transform::parse(text).ok_or_else(|| {
        "not a step: use focus:NAME, drop:NAME, merge:NAME, recursion, modules, idle, invert"
            .to_owned()
    })
}

impl Stacks {
    /// Returns all sources, in order of preference.
    fn all() -> impl Iterator<Item = Self> + Clone {
        sources::all().flat_map(|source| {
            let calls = (source == sources::COST_CENTRES).then_some(Self::ForeignCalls);
            std::iter::once(Self::Of(source)).chain(calls)
        })
    }

    /// Returns the underlying source.
    pub(super) const fn source(self) -> Source {
        match self {
            Self::Of(source) => source,
            Self::ForeignCalls => sources::COST_CENTRES,
        }
    }

    /// Returns whether a track of the underlying source belongs to it.
    const fn has(self, track: TrackSource) -> bool {
        !matches!(self, Self::ForeignCalls)
            || matches!(
                track,
                TrackSource::OsThread(_) | TrackSource::UnknownThread { .. }
            )
    }

    fn name(self) -> &'static str {
        match self {
            Self::Of(source) => sources::description(source).name,
            Self::ForeignCalls => "foreign-calls",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Of(source) => sources::description(source).help,
            Self::ForeignCalls => "Only the foreign calls that the program announces",
        }
    }

    /// Explains how to record a log with such stacks.
    fn how(self) -> &'static str {
        match self {
            Self::Of(source) => sources::description(source).how_to_record,
            Self::ForeignCalls => {
                "let the program announce its calls with messages, \"START 1 name\" and \"STOP 1 name\""
            }
        }
    }

    /// Returns the tracks that a log has for it.
    fn tracks(self, sources: &[SourceInfo]) -> impl Iterator<Item = &TrackInfo> {
        let of_source = sources
            .iter()
            .filter(move |info| info.source == self.source());
        let tracks = of_source.flat_map(|info| &info.tracks);
        tracks.filter(move |track| self.has(track.source))
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let is_for_programs = matches!(
        arguments.format,
        Format::Pprof | Format::Speedscope | Format::Svg
    );
    if is_for_programs && arguments.out.is_none() && io::stdout().is_terminal() {
        let what = "this format is not for terminals: write it to a file with --out";
        return Err(Failure::Usage(what.to_owned()));
    }
    let is_of_spans = arguments.requested() == Some(Stacks::Of(sources::SPANS));
    let words = [
        ("--span-start", &arguments.span_start),
        ("--span-stop", &arguments.span_stop),
    ];
    if let Some((option, _)) = words.into_iter().find(|(_, words)| words.is_some())
        && !is_of_spans
    {
        return Err(Failure::Usage(format!("{option} requires --source spans")));
    }
    if arguments.window.is_some() && !(is_of_spans && arguments.format == Format::Totals) {
        let what = "--window requires --source spans --format totals";
        return Err(Failure::Usage(what.to_owned()));
    }
    if arguments.compare.is_some() && !matches!(arguments.format, Format::Totals | Format::Svg) {
        let what = "--compare requires --format totals or svg: other formats have only one weight";
        return Err(Failure::Usage(what.to_owned()));
    }
    let (mut session, range) = arguments.log.read(arguments.range)?;
    if let Some(path) = &arguments.symbols {
        name_addresses(&mut session, path)?;
    }
    arguments.set_span_prefixes(&mut session);
    let query = query(arguments, range, &session)?;
    let other = arguments.compare.as_ref();
    let other = other.map(|path| ComparedLog::read(path, arguments, &query));
    let other = other.transpose()?;
    let print = |out: &mut Out| match &other {
        None => print(arguments, &session, &query, out),
        Some(other) => other.print(arguments, &session, &query, out),
    };
    match &arguments.out {
        None => print(out)?,
        Some(path) => {
            let log = Some(arguments.log.path());
            let inputs = [
                log,
                arguments.compare.as_deref(),
                arguments.symbols.as_deref(),
            ];
            print_to_file(path, inputs.into_iter().flatten(), print)?;
        }
    }
    let condition = report(session.reader());
    let of_other = other.map_or(Condition::Sound, |other| report(other.session.reader()));
    Ok(condition.max(of_other))
}

/// Names the addresses in a log and reports if that fails.
pub(super) fn name_addresses(session: &mut Session, path: &Path) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        let what = format!("{}: {error}", path.display());
        Failure::Absent(what)
    };
    let mut file = File::open(path).map_err(|error| failed(&system_words(&error)))?;
    let mut first = Vec::new();
    let read = Read::by_ref(&mut file)
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut first);
    read.and_then(|_| file.rewind())
        .map_err(|error| failed(&system_words(&error)))?;
    let names = if first.starts_with(header::MAGIC) || Compression::detect(&first).is_some() {
        let mut tables = InfoTables::default();
        let mut describe = |record: &Record<'_>| {
            if record.id == EventType::IPE {
                tables.describe(&record.event());
            }
        };
        LogFile::from_path(path).open()?.read(&mut describe)?;
        session.set_info_tables(&tables)
    } else {
        let mut symbols = Symbols::read(file).map_err(|error| failed(&error))?;
        session
            .set_symbols(&mut symbols)
            .map_err(|error| failed(&error))?
    };
    if names.failed {
        print_message(names.text);
    }
    Ok(())
}

/// Clips a range to the profile: a picture covers exactly its range.
pub(super) fn clip_to_profile(
    range: Option<Interval>,
    session: &Session,
    source: Source,
) -> Option<Interval> {
    let whole = session.flame_span(source).or(session.overview().span);
    range.zip(whole).map(|(range, whole)| range.clip(whole))
}

/// Builds the query from the arguments.
fn query(
    arguments: &Arguments,
    range: Option<Interval>,
    session: &Session,
) -> Result<FlameQuery, Failure> {
    let sources = session.flame_sources();
    let from = from(arguments.requested(), &sources)?;
    let tracks = tracks(from, &arguments.track, &sources)?;
    let measure = measure(from, arguments.measure)?;
    let range = clip_to_profile(range, session, from.source());
    Ok(FlameQuery {
        choice: FlameSelection {
            source: from.source(),
            tracks,
            range,
            before: None,
            moments: None,
            other: None,
        },
        steps: arguments.step.clone(),
        view: match arguments.order {
            Order::Time => View::Time,
            Order::LeftHeavy => View::LeftHeavy,
        },
        measure,
        window: (0.0, 1.0),
        width_px: 0,
        levels: None,
        search: String::new(),
    })
}

/// Returns the requested source, or the first available one.
///
/// # Errors
/// If the log has no data for it; the message lists the available sources.
pub(super) fn from(asked: Option<Stacks>, sources: &[SourceInfo]) -> Result<Stacks, Failure> {
    let has = |from: &Stacks| from.tracks(sources).next().is_some();
    let there_are: Vec<Stacks> = Stacks::all().filter(has).collect();
    let found = match asked {
        Some(asked) => there_are.iter().find(|&&from| from == asked),
        None => there_are.first(),
    };
    if let Some(&found) = found {
        return Ok(found);
    }
    let names: Vec<&str> = there_are.iter().map(|from| from.name()).collect();
    let there_is = if names.is_empty() {
        "It has no data for flame graphs.".to_owned()
    } else {
        format!("It has: {}.", names.join(", "))
    };
    Err(Failure::Absent(match asked {
        Some(asked) => format!(
            "this log has no {}. {there_is} To record such a log, {}.",
            asked.name(),
            asked.how()
        ),
        None => format!(
            "this log has no stacks. To record such a log, {}.",
            Stacks::Of(sources::COST_CENTRES).how()
        ),
    }))
}

/// Returns the requested tracks; empty for all tracks that belong in one picture.
pub(super) fn tracks(
    from: Stacks,
    asked: &[TrackSource],
    sources: &[SourceInfo],
) -> Result<Vec<TrackSource>, Failure> {
    let there_are: Vec<TrackSource> = from.tracks(sources).map(|track| track.source).collect();
    if let Some(missing) = asked.iter().find(|asked| !there_are.contains(asked)) {
        let names: Vec<String> = there_are.iter().map(|track| track.name()).collect();
        return Err(Failure::Absent(format!(
            "this log has no track {} of {}. It has: {}.",
            missing.name(),
            from.name(),
            names.join(", ")
        )));
    }
    Ok(match (from, asked) {
        (Stacks::ForeignCalls, []) => there_are,
        (_, asked) => asked.to_vec(),
    })
}

fn measure(from: Stacks, asked: Option<MeasureChoice>) -> Result<Measure, Failure> {
    match (sources::description(from.source()).unit, asked) {
        (_, None)
        | (Unit::Time, Some(MeasureChoice::Time))
        | (Unit::Bytes, Some(MeasureChoice::Bytes)) => Ok(Measure::Amount),
        (_, Some(MeasureChoice::Samples)) => Ok(Measure::Count),
        (Unit::Bytes, Some(MeasureChoice::Time)) => Err(Failure::Usage(
            "a census has bytes, not times: use --measure bytes or samples".to_owned(),
        )),
        (Unit::Time, Some(MeasureChoice::Bytes)) => Err(Failure::Usage(format!(
            "{} have times, not bytes: use --measure time or samples",
            from.name()
        ))),
    }
}

fn print(
    arguments: &Arguments,
    session: &Session,
    query: &FlameQuery,
    out: &mut Out,
) -> Result<(), Failure> {
    let (format, style) = match arguments.format {
        Format::Speedscope => (ExportFormat::Speedscope, EscapeStyle::Json),
        Format::Folded => (ExportFormat::Folded, EscapeStyle::Text),
        Format::Pprof => (ExportFormat::Pprof, EscapeStyle::Exact),
        Format::Svg => {
            let (svg, is_empty) = picture(session, query).unwrap_or_default();
            report_if_empty(is_empty, query);
            return Ok(out.file(EscapeStyle::Xml)?.write_all(svg.as_bytes())?);
        }
        Format::Totals => {
            if let Some(window) = &arguments.window {
                let windows = session.span_totals(Some(window));
                if windows.is_empty() {
                    return Err(no_window(session, window));
                }
                return Ok(print_windows(&windows, arguments.output, out)?);
            }
            let (rows, censuses) = session.ask(&FlameTableQuery {
                choice: query.choice.clone(),
                steps: query.steps.clone(),
            });
            report_if_empty(rows.is_empty(), query);
            let most = match arguments.out {
                None if arguments.output.is_for_terminal() => MAX_ROWS as usize,
                _ => rows.len(),
            };
            return Ok(print_totals(
                (&rows, most),
                censuses,
                arguments.output,
                out,
            )?);
        }
    };
    if let Some(written) = session.write_flame(query, format, out.file(style)?) {
        let WrittenStacks {
            is_empty,
            incomplete,
        } = written?;
        report_if_empty(is_empty, query);
        if !incomplete.is_empty() {
            print_message(incomplete);
        }
    }
    Ok(())
}

/// Explains on standard error why there are no stacks.
pub(super) fn report_if_empty(is_empty: bool, query: &FlameQuery) {
    if is_empty {
        print_message(match (query.steps.is_empty(), query.choice.range) {
            (false, _) => "no stacks match: the steps leave none",
            (true, Some(_)) => "no stacks: none in the range",
            (true, None) => "no stacks: the log contains none",
        });
    }
}

/// Renders the picture of the whole selection. Also returns whether it has no boxes.
fn picture(session: &Session, query: &FlameQuery) -> Option<(String, bool)> {
    let query = picture_query(query);
    let sources = session.flame_sources();
    let source = sources
        .iter()
        .find(|info| info.source == query.choice.source)?;
    let answer = session.ask(&query)?;
    let is_empty = answer.1.is_empty();
    let svg = svg(answer, &query, source, &Palette::LIGHT, false);
    Some((svg, is_empty))
}

/// Columns of the table of totals; weights are in nanoseconds or bytes.
const COLUMNS: Columns<FlameRow, 9> = Columns([
    Column::text("frame", "Its name").value(|row| row.frame.name().into()),
    Column::number("self", "Weight where it is innermost").value(|row| row.own.into()),
    Column::number("total", "Weight with its callees").value(|row| row.total.into()),
    Column::number("self_samples", "Samples of self").value(|row| row.own_count.into()),
    Column::number("samples", "Samples of total").value(|row| row.count.into()),
    Column::text("location", "Its place").value(|row| row.frame.location.as_deref().into()),
    Column::text("label", "Bare name").value(|row| row.frame.label.as_str().into()),
    Column::text("module", "Its module").value(|row| row.frame.module.as_str().into()),
    Column::text("package", "Its package").value(|row| row.frame.package.as_str().into()),
]);
/// Number of columns without those that only JSON has.
const PRINTED: usize = 6;

fn print_totals(
    (rows, most): (&[FlameRow], usize),
    censuses: CensusCounts,
    output: Output,
    out: &mut Out,
) -> io::Result<()> {
    let names = COLUMNS.names();
    let shown = if output.json { names.len() } else { PRINTED };
    let mut table = Table::begin(out, output, &names[..shown])?;
    for row in rows.iter().take(most) {
        let row = row.with_means(censuses);
        table.row(&COLUMNS.cells(&row)[..shown])?;
    }
    table.end()?;
    let more = rows.len().saturating_sub(most);
    if more > 0 {
        print_message(format_args!(
            "{more} more functions: write the table to a file or pipe to see all"
        ));
    }
    Ok(())
}

/// Maximum number of spans listed.
const MAX_LISTED: usize = 10;

/// Reports that the log has no span with the name of the window, and lists the longest ones.
fn no_window(session: &Session, window: &str) -> Failure {
    let totals = session.span_totals(None);
    let rows = totals.iter().flat_map(|whole| &whole.rows);
    let mut names: Vec<&str> = rows.map(|row| row.name.as_str()).collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    names.truncate(MAX_LISTED);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Failure::Absent(format!(
        "this log has no span {window}. It has: {}{more}.",
        names.join(", ")
    ))
}

/// Columns of the table of span totals by window; times are in nanoseconds.
const WINDOW_COLUMNS: [&str; 6] = ["start", "end", "collecting", "span", "time", "count"];

fn print_windows(windows: &[WindowTotals], output: Output, out: &mut Out) -> io::Result<()> {
    if output.json {
        return out.json(&windows);
    }
    let rows = windows.iter().flat_map(|window| {
        let span = window.window;
        window.rows.iter().map(move |row| {
            [
                span.start().into(),
                span.end().into(),
                window.collecting.into(),
                row.name.as_str().into(),
                row.time.into(),
                row.count.into(),
            ]
        })
    });
    Table::print(out, output, &WINDOW_COLUMNS, rows)
}
