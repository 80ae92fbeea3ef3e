//! `eventscope fleet DIGEST...`: statistics over the digests of many runs, as a page, JSON or text.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::fleet_files::{FleetInput, read_fleet};
use super::output_file::create_output;
use super::{Condition, Failure, Out, print_message};
use insight::fleet::{Analysis, Fleet, FleetRun, NamePattern, TimeOrder};
use views::fleet::{FleetPage, LinkPattern, SkippedFile, document, summary};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Digests (made by `eventscope digest`), folders with digests in them (`*.digest`, `*.json`), or data sets (made by `eventscope export --dataset`)
    #[arg(required = true, value_name = "DIGEST")]
    inputs: Vec<PathBuf>,
    /// Write the page to this file: one self-contained HTML file. Without this option, a summary is printed
    #[arg(short, long, value_name = "PAGE.html", conflicts_with = "json")]
    out: Option<PathBuf>,
    /// Print all facts as JSON: times in nanoseconds, sizes in bytes, shares from 0 to 1
    #[arg(long)]
    json: bool,
    /// Labels in file names, such as '{app}-{version}-{host}-{day}.digest'; '*' is any text, and '/' begins a folder
    #[arg(long, value_name = "PATTERN", value_parser = NamePattern::parse)]
    name_pattern: Option<NamePattern>,
    /// Label of all runs; overrides labels from names, folders (key=value) and digests
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Pair>,
    /// Only runs with this value of a label; several values of one label are alternatives
    #[arg(long = "where", value_name = "KEY=VALUE")]
    only: Vec<Pair>,
    /// Show this number first, such as gc.pause.p90 or 'request · p99'; '*' is any text
    #[arg(long = "number", value_name = "NAME")]
    numbers: Vec<String>,
    /// Address of each log: {run}, {path}, {digest}, {file} or a label, as in '/logs/{host}/{run}.eventlog'
    #[arg(long, value_name = "PATTERN", value_parser = LinkPattern::parse)]
    link: Option<LinkPattern>,
    /// Title of the page
    #[arg(long)]
    title: Option<String>,
}

/// `KEY=VALUE` on the command line.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    key: String,
    value: String,
}

impl FromStr for Pair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
        let (key, value) = pair.ok_or("write KEY=VALUE")?;
        Ok(Self {
            key: key.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// JSON document that the command prints.
#[derive(Serialize)]
struct Document<'a> {
    /// Version of the document format; incremented if the meaning of a field changes.
    version: u32,
    runs: Vec<RunDocument<'a>>,
    order: TimeOrder,
    skipped: &'a [SkippedFile],
    notes: &'a [String],
    #[serde(flatten)]
    analysis: &'a Analysis,
}

#[derive(Serialize)]
struct RunDocument<'a> {
    #[serde(flatten)]
    run: &'a FleetRun,
    labels: BTreeMap<&'a str, &'a str>,
}

/// Maximum number of files that are listed on standard error.
const MAX_LISTED: usize = 20;

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let pairs = |pairs: &[Pair]| {
        pairs
            .iter()
            .map(|pair| (pair.key.clone(), pair.value.clone()))
            .collect::<Vec<_>>()
    };
    let input = read_fleet(&FleetInput {
        paths: &arguments.inputs,
        name_pattern: arguments.name_pattern.as_ref(),
        labels: pairs(&arguments.set).into_iter().collect(),
        only: pairs(&arguments.only),
        numbers: &arguments.numbers,
    })?;
    let output = arguments.out.as_deref();
    let output = output.map(|path| create_output(path, &input.files));
    let output = output.transpose()?;
    for file in input.skipped.iter().take(MAX_LISTED) {
        print_message(format_args!("{}: {}; skipped", file.path, file.why));
    }
    if input.skipped.len() > MAX_LISTED {
        print_message(format_args!(
            "{} more files skipped",
            input.skipped.len() - MAX_LISTED
        ));
    }
    input.notes.iter().for_each(print_message);
    if input.fleet.runs.is_empty() {
        let why = match input.digests {
            0 => "no digest: make them with `eventscope digest LOG > NAME.digest`",
            _ => "no run has the labels that --where selects",
        };
        return Err(Failure::Absent(why.to_owned()));
    }
    let analysis = Analysis::of(&input.fleet);
    let page = FleetPage {
        fleet: &input.fleet,
        analysis: &analysis,
        title: arguments.title.as_deref(),
        link: arguments.link.as_ref(),
        skipped: &input.skipped,
        notes: &input.notes,
    };
    match (output, &arguments.out) {
        (Some(mut file), Some(path)) => {
            let text = document(&page);
            let written = file.write_all(text.as_bytes()).and_then(|()| file.finish());
            written.map_err(|error| Failure::File(path.clone(), error))?;
        }
        _ if arguments.json => out.json(&Document {
            version: 1,
            runs: runs(&input.fleet),
            order: input.fleet.order,
            skipped: &input.skipped,
            notes: &input.notes,
            analysis: &analysis,
        })?,
        _ => out.text(summary(&page))?,
    }
    // Other files in a folder may be anything.
    let is_named = |file: &SkippedFile| {
        arguments
            .inputs
            .iter()
            .any(|path| *path == Path::new(&file.path))
    };
    Ok(Condition::new(input.skipped.iter().any(is_named)))
}

fn runs(fleet: &Fleet) -> Vec<RunDocument<'_>> {
    let document = |(index, run)| RunDocument {
        run,
        labels: fleet
            .labels
            .iter()
            .filter_map(|label| Some((label.key.as_str(), label.value(index)?)))
            .collect(),
    };
    fleet.runs.iter().enumerate().map(document).collect()
}
