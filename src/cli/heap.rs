//! `eventscope heap FILE`: prints heap profiles, by band and by census.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::flamegraph::name_addresses;
use super::output_file::print_to_file;
use super::{Condition, EscapeStyle, Failure, LogFile, Out, Output, Range, print_message, report};
use super::{eventlog2html, heap_bands, heap_censuses};
use analysis::heap::ranking::BandOrder;
use analysis::heap::{HeapProfile, Label};
use eventlog::info_tables::InfoTable;
use model::census::BandId;
use model::time::Interval;
use scene::format;
use session::Session;
use session::heap::chart::ChartQuery;
use session::heap::choice::{Grouping, HeapChoice, SelectedBands};
use session::heap::profiles::profiling_hints;
use views::heap::chart::picture::{Look, chart_px, heap_svg};
use views::heap::settings::Form;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    /// Number of the heap profile, counted from 0; by default all in JSON, otherwise the first
    #[arg(long, value_name = "N")]
    profile: Option<u32>,
    /// Maximum number of bands, the largest first; 0 for all [default: 15 in charts and in tables for reading, otherwise all]
    #[arg(long, value_name = "N")]
    pub(super) bands: Option<u32>,
    /// Order of the bands
    #[arg(long, value_name = "ORDER", default_value = "size", value_parser = order())]
    pub(super) sort: BandOrder,
    /// Reverse the order
    #[arg(long)]
    pub(super) reverse: bool,
    /// Only bands with this text in their names
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(super) filter: String,
    /// Group bands by this property
    #[arg(long, value_name = "BY", default_value = "band", value_parser = group())]
    pub(super) group: Grouping,
    #[command(flatten)]
    range: Range,
    /// List the censuses: time, era, bytes; with --json also the bytes of all bands
    #[arg(long)]
    censuses: bool,
    /// Print the bands of one census, counted from 0
    #[arg(long, value_name = "CENSUS", conflicts_with_all = ["censuses", "from", "to"])]
    census: Option<u32>,
    /// Compare the bands of two censuses, counted from 0
    #[arg(long, value_names = ["CENSUS", "CENSUS"], num_args = 2, conflicts_with_all = ["censuses", "census", "from", "to"])]
    between: Option<Vec<u32>>,
    /// Write the chart to this file, as SVG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["censuses", "census", "between", "json", "csv", "tsv"])]
    chart: Option<PathBuf>,
    /// Form of the chart
    #[arg(long, default_value = "area", requires = "chart", value_parser = form())]
    form: Form,
    /// Draw the chart for dark pages
    #[arg(long, requires = "chart")]
    dark: bool,
    /// Print the JSON of eventlog2html --json, for scripts that read it
    #[arg(long, conflicts_with_all = ["censuses", "census", "between", "chart", "group", "from", "to", "csv", "tsv"])]
    eventlog2html: bool,
    #[command(flatten)]
    pub(super) traces: eventlog2html::Traces,
    /// Names for info tables: the executable that wrote the log, the output of nm for it, or another log of the same build that describes them
    #[arg(long, value_name = "FILE")]
    symbols: Option<PathBuf>,
    /// Print tab-separated rows with all columns
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    tsv: bool,
    #[command(flatten)]
    pub(super) output: Output,
}

fn order() -> impl TypedValueParser<Value = BandOrder> {
    PossibleValuesParser::new(BandOrder::ALL.map(BandOrder::name))
        .try_map(|name| BandOrder::from_name(&name).ok_or("no such order"))
}

fn group() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::name))
        .try_map(|name| Grouping::from_name(&name).ok_or("no such grouping"))
}

fn form() -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(Form::ALL.map(Form::name))
        .try_map(|name| Form::from_name(&name).ok_or("no such form"))
}

/// Default number of bands in charts and in tables for reading.
pub(super) const BANDS: u32 = 15;

/// Refuses options that would have no effect.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    let of_bands = [
        ("--bands", arguments.bands.is_some()),
        ("--sort", arguments.sort != BandOrder::default()),
        ("--reverse", arguments.reverse),
        ("--filter", !arguments.filter.is_empty()),
        ("--group", arguments.group != Grouping::default()),
        ("--symbols", arguments.symbols.is_some()),
    ];
    let given = of_bands.into_iter().find(|(_, is_given)| *is_given);
    if let Some((option, _)) = given
        && arguments.censuses
        && !arguments.output.json
    {
        let what = format!("--censuses prints bands only as JSON: omit {option}, or add --json");
        return Err(Failure::Usage(what));
    }
    let (one, two) = (arguments.census.is_some(), arguments.between.is_some());
    let what = match arguments.sort {
        BandOrder::Deviation | BandOrder::Growth if one => {
            "one census has no deviation and no growth: use --sort size or name"
        }
        BandOrder::Deviation if two => {
            "two censuses are not sorted by deviation: use --sort size, name or growth"
        }
        _ => return Ok(()),
    };
    Err(Failure::Usage(what.to_owned()))
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    check(arguments)?;
    let range = arguments.range.span()?;
    let input = arguments.log.open()?;
    let mut session = input.read_session()?;
    arguments.range.check(session.recording().info.covered())?;
    let range = session.recording().clip_to_cut(range);
    if let Some(path) = &arguments.symbols {
        name_addresses(&mut session, path)?;
    }
    let condition = report(session.reader());
    let request = HeapRequest {
        arguments,
        session: &session,
        range,
        profiles: profiles(arguments, &session)?,
    };
    if arguments.eventlog2html {
        eventlog2html::print(&request, &input, out)?;
    } else if let Some(path) = &arguments.chart {
        request.draw(path)?;
    } else if arguments.censuses {
        heap_censuses::print_all(&request, out)?;
    } else if let Some(census) = arguments.census {
        heap_censuses::print_one(&request, census, out)?;
    } else if let Some([before, after]) = arguments.between.as_deref() {
        heap_censuses::print_difference(&request, [*before, *after], out)?;
    } else {
        heap_bands::print(&request, out)?;
    }
    request.report_if_empty();
    Ok(condition)
}

/// Returns the numbers of the requested profiles.
fn profiles(arguments: &Arguments, session: &Session) -> Result<Vec<u32>, Failure> {
    let count = session.recording().heap().iter().count() as u32;
    if count == 0 {
        let what = no_profile(session.overview().ghc.as_deref());
        return Err(Failure::Absent(what));
    }
    match arguments.profile {
        Some(profile) if profile < count => Ok(vec![profile]),
        Some(profile) => Err(Failure::Absent(format!(
            "the log has no heap profile {profile}: it has {}, counted from 0",
            format::pluralize(count.into(), "profile")
        ))),
        None if arguments.output.json && !arguments.eventlog2html => Ok((0..count).collect()),
        None => {
            if count > 1 {
                print_message(format_args!(
                    "this is heap profile 0 of {count}; --profile selects another"
                ));
            }
            Ok(vec![0])
        }
    }
}

/// Explains how to record a heap profile with a GHC version.
fn no_profile(ghc: Option<&str>) -> String {
    let hints = profiling_hints(ghc).into_iter();
    let mut flags = hints.map(|(flags, ..)| flags.trim_start_matches("-l "));
    let Some(first) = flags.next() else {
        return "the log has no heap profile: GHC 8.2 and later write heap profiles to logs"
            .to_owned();
    };
    let others: Vec<&str> = flags.collect();
    format!(
        "the log has no heap profile: run the program with +RTS {first} -l, or another of {}",
        others.join(", ")
    )
}

/// Arguments together with the log that they apply to.
pub(super) struct HeapRequest<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) session: &'a Session,
    pub(super) range: Option<Interval>,
    profiles: Vec<u32>,
}

impl HeapRequest<'_> {
    /// Returns whether the output is for human readers, rather than for other programs.
    pub(super) const fn for_reading(&self) -> bool {
        let Arguments { tsv, output, .. } = self.arguments;
        !(*tsv || output.json || output.is_csv())
    }

    /// Returns which bands of a profile to show.
    pub(super) fn choice(&self, profile: u32) -> HeapChoice {
        let arguments = self.arguments;
        let usual = if self.for_reading() { BANDS } else { 0 };
        let bands = match arguments.bands.unwrap_or(usual) {
            0 => u32::MAX,
            bands => bands,
        };
        HeapChoice {
            profile,
            group: arguments.group,
            bands,
            order: arguments.sort,
            reversed: arguments.reverse,
            filter: arguments.filter.clone(),
            ..HeapChoice::default()
        }
    }

    /// Returns the requested profiles with their numbers.
    pub(super) fn profiles(&self) -> impl Iterator<Item = (u32, &HeapProfile)> {
        let all = self.session.recording().heap();
        let numbers = self.profiles.iter();
        numbers.filter_map(|&number| Some((number, all.get(number as usize)?)))
    }

    /// Explains on standard error why there are no censuses or no bands.
    fn report_if_empty(&self) {
        let profiles = self.profiles();
        let all = profiles
            .filter_map(|(number, _)| self.session.heap(&self.choice(number), self.range))
            .collect::<Vec<SelectedBands>>();
        if all
            .iter()
            .all(|chosen| chosen.ranking.censuses().is_empty())
        {
            print_message(match self.range {
                Some(_) => "no censuses: none in the range",
                None => "no censuses: the log contains none",
            });
        } else if all.iter().all(|chosen| chosen.shown.is_empty()) {
            print_message(match self.arguments.filter.as_str() {
                "" => "no bands: the log contains none",
                _ => "no bands match",
            });
        }
    }

    /// Returns the label of a band, for other programs.
    pub(super) fn label(&self, profile: &HeapProfile, band: BandId) -> String {
        self.session.heap_log().label(profile, band)
    }

    /// Returns the label of a band, or the name of a group.
    pub(super) fn display_name(
        &self,
        profile: &HeapProfile,
        chosen: &SelectedBands,
        band: BandId,
    ) -> String {
        match self.arguments.group {
            Grouping::Band => self.label(profile, band),
            _ => chosen.bands.name(band).to_owned(),
        }
    }

    /// Returns the info table of a band, if the log describes it.
    pub(super) fn info_table(&self, profile: &HeapProfile, band: BandId) -> Option<InfoTable<'_>> {
        let (Grouping::Band, Some(Label::Text(label))) =
            (self.arguments.group, profile.label(band))
        else {
            return None;
        };
        let address = u64::from_str_radix(label.strip_prefix("0x")?, 16).ok()?;
        self.session.recording().names.info_tables().get(address)
    }

    fn draw(&self, path: &Path) -> Result<(), Failure> {
        let look = Look {
            form: self.arguments.form,
            dark: self.arguments.dark,
            ..Look::default()
        };
        let query = ChartQuery {
            choice: self.choice(self.profiles[0]),
            range: self.range,
            view: { self.range.zip(self.session.overview().span) }
                .map(|(range, log)| range.clip(log)),
            width_px: chart_px(&look) as u32,
            ..ChartQuery::default()
        };
        let chart = self.session.heap_chart(&query).unwrap_or_default();
        let svg = heap_svg(&chart, &self.title(), &look);
        let symbols = self.arguments.symbols.as_deref();
        let inputs = [Some(self.arguments.log.path()), symbols];
        print_to_file(path, inputs.into_iter().flatten(), |out| {
            Ok(out.file(EscapeStyle::Xml)?.write_all(svg.as_bytes())?)
        })
    }

    /// Returns a title from the program and the profile.
    pub(super) fn title(&self) -> String {
        let program = self.session.overview().program;
        let of = program.map_or_else(String::new, |program| format!("{program}: "));
        let what = self.profiles().next().map(|(_, profile)| {
            let breakdown = profile.kind.breakdown;
            format!("heap by {} ({})", breakdown.what(), breakdown.flag())
        });
        of + &what.unwrap_or_default()
    }
}
