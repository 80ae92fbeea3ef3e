//! Bands of a heap profile with their statistics.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::heap::HeapRequest;
use super::out::{escape_line, in_columns_before_text, titled};
use super::{Failure, Out, Table};
use analysis::heap::HeapProfile;
use eventlog::info_tables::InfoTable;
use model::census::{BandId, BandSums, Growth};
use scene::format;
use session::cells::Cell;
use session::heap::choice::SelectedBands;

/// Columns for other programs: bytes, byte-seconds, and the regression line of the bytes with both axes scaled to
/// 1. `sum`, divided by 10⁶, is the integrated size of eventlog2html.
const COLUMNS: [&str; 19] = [
    "label",
    "name",
    "n",
    "first",
    "last",
    "mean",
    "max",
    "integral_byte_seconds",
    "stddev",
    "slope",
    "intercept",
    "r2",
    "bytes_per_second",
    "sum",
    "closure_type",
    "type",
    "function",
    "module",
    "place",
];

pub(super) fn print(request: &HeapRequest<'_>, out: &mut Out) -> Result<(), Failure> {
    if request.arguments.output.json {
        let profiles = request.profiles();
        let profiles = profiles.map(|(number, profile)| document(request, number, profile));
        let profiles = profiles.collect();
        return Ok(out.json(&Document { profiles })?);
    }
    for (number, profile) in request.profiles() {
        let Some(chosen) = request.session.heap(&request.choice(number), request.range) else {
            continue;
        };
        if request.for_reading() {
            out.text(head(request, &chosen, profile))?;
            out.text(in_columns_before_text(&lines(&chosen, profile)))?;
            continue;
        }
        let bands = chosen.shown.iter();
        let rows = bands.map(|&band| cells(request, profile, &chosen, band));
        Table::print(out, request.arguments.output, &COLUMNS, rows)?;
    }
    Ok(())
}

/// JSON document with all profiles.
#[derive(Serialize)]
struct Document {
    profiles: Vec<ProfileDocument>,
}

/// JSON object for a profile.
#[derive(Serialize)]
struct ProfileDocument {
    breakdown: &'static str,
    period_ns: u64,
    filters: Map<String, Value>,
    censuses: usize,
    bands: Vec<BandDocument>,
}

/// JSON object for a band: the first columns, then its info table.
struct BandDocument(Vec<(&'static str, Value)>);

impl Serialize for BandDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

fn document(request: &HeapRequest<'_>, number: u32, profile: &HeapProfile) -> ProfileDocument {
    let kind = &profile.kind;
    let filters = kind.filters.iter();
    let chosen = request.session.heap(&request.choice(number), request.range);
    let chosen = chosen.as_ref();
    let bands = chosen.into_iter().flat_map(|chosen| {
        let bands = chosen.shown.iter();
        bands.map(|&band| band_document(request, profile, chosen, band))
    });
    ProfileDocument {
        breakdown: kind.breakdown.flag(),
        period_ns: kind.period_ns,
        filters: filters
            .map(|(name, text)| (name.replace([' ', '-'], "_"), json!(text)))
            .collect(),
        censuses: chosen.map_or(0, |chosen| chosen.ranking.censuses().len()),
        bands: bands.collect(),
    }
}

fn band_document(
    request: &HeapRequest<'_>,
    profile: &HeapProfile,
    chosen: &SelectedBands,
    band: BandId,
) -> BandDocument {
    let cells = cells(request, profile, chosen, band);
    let columns = COLUMNS.into_iter().zip(&cells);
    let columns = columns.filter(|(name, _)| *name != "name");
    let columns = columns.take_while(|(name, _)| *name != "bytes_per_second");
    let mut fields: Vec<_> = columns.map(|(name, cell)| (name, cell.to_json())).collect();
    let table = request.info_table(profile, band).map(|table| {
        json!({
            "name": table.name,
            "closure_type": table.closure_type.map(|kind| kind.name()),
            "type": table.type_,
            "label": table.label,
            "module": table.module,
            "place": table.location.to_string(),
        })
    });
    fields.push(("ipe", json!(table)));
    BandDocument(fields)
}

/// Returns the growth of a band over time; `None` if the times of the censuses are unknown.
fn growth(profile: &HeapProfile, sums: &BandSums) -> Option<Growth> {
    sums.growth().filter(|_| profile.is_timed())
}

fn cells<'a>(
    request: &'a HeapRequest<'_>,
    profile: &HeapProfile,
    chosen: &'a SelectedBands,
    band: BandId,
) -> [Cell<'a>; COLUMNS.len()] {
    let sums = chosen.ranking.sums(band);
    let growth = growth(profile, &sums);
    // Unknown if the times of the censuses are.
    let integral = profile.is_timed().then(|| sums.integral_byte_seconds());
    let table = request.info_table(profile, band);
    let of_table = |text: fn(&InfoTable<'a>) -> &'a str| Cell::from(table.as_ref().map(text));
    let kind = table.as_ref().and_then(|table| table.closure_type);
    let place = table.as_ref().map(|table| table.location.to_string());
    [
        request.display_name(profile, chosen, band).into(),
        chosen.bands.name(band).into(),
        sums.censuses.into(),
        sums.first.into(),
        sums.last.into(),
        sums.mean().into(),
        sums.max.into(),
        integral.into(),
        sums.stddev().into(),
        growth.map(|growth| growth.slope).into(),
        growth.map(|growth| growth.intercept).into(),
        growth.map(|growth| growth.r2).into(),
        growth.map(|growth| growth.bytes_per_second).into(),
        u64::try_from(sums.bytes).unwrap_or(u64::MAX).into(),
        kind.map(|kind| kind.name()).into(),
        of_table(|table| table.type_),
        of_table(|table| table.label),
        of_table(|table| table.module),
        place.into(),
    ]
}

/// Returns the heading of the table for human readers.
fn head(request: &HeapRequest<'_>, chosen: &SelectedBands, profile: &HeapProfile) -> String {
    let censuses = chosen.ranking.censuses();
    let all = profile.censuses.len() as u64;
    let count = match censuses.len() as u64 {
        some if some < all => format!(
            "{} of {}",
            format::count(some),
            format::pluralize(all, "census")
        ),
        _ => format::pluralize(all, "census"),
    };
    let filters = profile.kind.filters.iter();
    let only: String = filters
        .map(|(name, text)| format!(", only {name} {text}"))
        .collect();
    let bands = format::pluralize(chosen.ranking.bands().len() as u64, "band");
    escape_line(&format!("{}{only}: {count}, {bands}", request.title())) + "\n"
}

/// Column titles for human readers.
const HEADS: [&str; 9] = [
    "share",
    "average",
    "maximum",
    "first",
    "last",
    "deviation",
    "growth",
    "R²",
    "band",
];

/// Formats the table for human readers, followed by the sums of the bands not shown and of all bands.
fn lines(chosen: &SelectedBands, profile: &HeapProfile) -> Vec<Vec<String>> {
    let all = chosen.ranking.bytes();
    let mut lines = titled(&HEADS);
    for &band in &chosen.shown {
        let name = escape_line(chosen.bands.name(band));
        let sums = chosen.ranking.sums(band);
        lines.push(line(&sums, growth(profile, &sums), all, name));
    }
    if !chosen.others.is_empty() {
        let sums = chosen.others.iter().map(|&band| chosen.ranking.sums(band));
        let bytes: u128 = sums.map(|sums| sums.bytes).sum();
        let count = format::pluralize(chosen.others.len() as u64, "other");
        lines.push(of_many(chosen, bytes, count));
    }
    lines.push(of_many(chosen, all, "all bands".to_owned()));
    lines
}

fn line(sums: &BandSums, growth: Option<Growth>, all: u128, name: String) -> Vec<String> {
    let none = || format::NO_VALUE.to_owned();
    vec![
        share(sums.bytes, all),
        format::bytes(sums.mean().round() as u64),
        format::bytes(sums.max),
        format::bytes(sums.first),
        format::bytes(sums.last),
        format::bytes(sums.stddev().round() as u64),
        growth.map_or_else(none, |growth| per_second(growth.bytes_per_second)),
        growth.map_or_else(none, |growth| format!("{:.2}", growth.r2)),
        name,
    ]
}

/// Formats the sum of several bands; columns that need their sums of squares stay empty.
fn of_many(chosen: &SelectedBands, bytes: u128, name: String) -> Vec<String> {
    let mean = bytes as f64 / chosen.ranking.censuses().len().max(1) as f64;
    let mut line = vec![String::new(); HEADS.len()];
    line[0] = share(bytes, chosen.ranking.bytes());
    line[1] = format::bytes(mean.round() as u64);
    line[HEADS.len() - 1] = name;
    line
}

fn share(part: u128, whole: u128) -> String {
    match whole {
        0 => format::NO_VALUE.to_owned(),
        _ => format::fraction(part as f64 / whole as f64),
    }
}

/// Formats a rate in bytes per second with its sign.
fn per_second(bytes: f64) -> String {
    let sign = if bytes < 0.0 { "−" } else { "+" };
    format!("{sign}{}/s", format::bytes(bytes.abs().round() as u64))
}
