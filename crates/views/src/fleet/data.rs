//! Data of the page for its script: runs, labels and numbers in columns.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

use super::FleetPage;
use super::text::{help, label_word, size, title};
use insight::digest::NumberGroup;
use insight::fleet::{NumberAnalysis, NumberColumn};
use insight::metrics::{Direction, Unit};

/// Data of the page. Columns of numbers are little-endian, in base64.
#[derive(Serialize)]
struct Data<'a> {
    /// Folders of the digests.
    folders: Vec<&'a str>,
    /// Folder of each run as `u32`.
    folder: String,
    /// File names of the digests.
    files: Vec<&'a str>,
    /// File names of the logs in the same folders; empty where a log is not known.
    logs: Vec<&'a str>,
    labels: Vec<Label<'a>>,
    numbers: Vec<Number<'a>>,
    /// Position and text of marks on the axis of runs.
    ticks: Vec<(f64, String)>,
    /// Pattern of addresses of logs.
    link: Option<&'a str>,
}

#[derive(Serialize)]
struct Label<'a> {
    key: &'a str,
    word: &'a str,
    values: &'a [String],
    /// Index into `values` as `u32`; greatest number for runs without the label.
    by_run: String,
    /// Whether the label divides the runs.
    divides: bool,
}

#[derive(Serialize)]
struct Number<'a> {
    name: &'a str,
    title: String,
    help: &'static str,
    unit: Unit,
    direction: Direction,
    group: NumberGroup,
    is_headline: bool,
    /// Values as `f32`, NaN where there is none.
    values: String,
    /// First run after a change, and its size.
    changes: Vec<(u32, String)>,
    /// Runs that are marked in the chart.
    outliers: Vec<u32>,
    /// Labels that differ: key, value, size.
    differences: Vec<(&'a str, &'a str, String)>,
}

fn base64_of<const N: usize>(words: impl Iterator<Item = [u8; N]>) -> String {
    BASE64_STANDARD.encode(words.flatten().collect::<Vec<u8>>())
}

/// Returns the data as JSON in which no `<` can end the script element.
pub(super) fn json(page: &FleetPage<'_>) -> String {
    let fleet = page.fleet;
    let mut folders: Vec<&str> = Vec::new();
    let split = |path: &'_ str| path.rfind(['/', '\\']).map_or(0, |at| at + 1);
    let mut known = std::collections::BTreeMap::new();
    let of_folder = fleet.runs.iter().map(|run| {
        let folder = &run.path[..split(&run.path)];
        let index = *known.entry(folder).or_insert_with(|| {
            folders.push(folder);
            folders.len() as u32 - 1
        });
        index.to_le_bytes()
    });
    let folder = base64_of(of_folder);
    let divides: Vec<usize> = fleet.dividing_labels().map(|(index, _)| index).collect();
    let labels = fleet.labels.iter().enumerate().map(|(index, label)| Label {
        key: &label.key,
        word: label_word(&label.key),
        values: &label.values,
        by_run: base64_of(
            label
                .by_run
                .iter()
                .map(|value| value.unwrap_or(u32::MAX).to_le_bytes()),
        ),
        divides: divides.contains(&index),
    });
    let columns = page.analysis.numbers.iter().map(|analysis| {
        let is_it =
            |column: &&NumberColumn| column.name == analysis.name && column.group == analysis.group;
        let column = fleet.numbers.iter().find(is_it);
        number(analysis, column.map_or(&[], |column| &column.values))
    });
    let log = |log: &'_ Option<String>, path: &str| {
        log.as_deref()
            .filter(|log| log.starts_with(&path[..split(path)]))
            .map(|log| log.len().min(split(path)))
    };
    let data = Data {
        folder,
        files: fleet
            .runs
            .iter()
            .map(|run| &run.path[split(&run.path)..])
            .collect(),
        logs: fleet
            .runs
            .iter()
            .map(|run| {
                log(&run.log, &run.path)
                    .map_or("", |at| run.log.as_deref().map_or("", |log| &log[at..]))
            })
            .collect(),
        labels: labels.collect(),
        numbers: columns.collect(),
        ticks: super::axis::run_ticks(fleet, 6),
        link: page.link.map(super::LinkPattern::as_str),
        folders,
    };
    let json = serde_json::to_string(&data).unwrap_or_default();
    json.replace('<', "\\u003c")
}

fn number<'a>(analysis: &'a NumberAnalysis, values: &[f64]) -> Number<'a> {
    Number {
        name: &analysis.name,
        title: title(analysis),
        help: help(&analysis.name),
        unit: analysis.unit,
        direction: analysis.direction,
        group: analysis.group,
        is_headline: analysis.is_headline,
        values: base64_of(values.iter().map(|value| (*value as f32).to_le_bytes())),
        changes: analysis
            .changes
            .iter()
            .map(|change| (change.after_run, size(analysis, &change.effect)))
            .collect(),
        outliers: analysis
            .outliers
            .iter()
            .map(|outlier| outlier.run)
            .collect(),
        differences: analysis
            .differences
            .iter()
            .map(|difference| {
                (
                    difference.key.as_str(),
                    difference.value.as_str(),
                    size(analysis, &difference.effect),
                )
            })
            .collect(),
    }
}
