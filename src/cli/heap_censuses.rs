//! Single censuses, and the difference between two.

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::{Value, json};

use super::heap::HeapRequest;
use super::out::{escape_line, in_columns_before_text, titled};
use super::{Failure, Out, Table};
use analysis::heap::HeapProfile;
use analysis::heap::ranking::BandOrder;
use model::census::BandId;
use scene::format;
use session::cells::Cell;
use session::heap::choice::{HeapChoice, SelectedBands};

/// Prints all censuses in order.
pub(super) fn print_all(request: &HeapRequest<'_>, out: &mut Out) -> Result<(), Failure> {
    const COLUMNS: [&str; 5] = ["profile", "census", "time_ns", "era", "bytes"];
    let mut rows: Vec<[Cell<'_>; 5]> = Vec::new();
    for (number, profile) in request.profiles() {
        let Some(chosen) = request.session.heap(&request.choice(number), request.range) else {
            continue;
        };
        if request.arguments.output.json {
            print_with_bands(request, number, profile, &chosen, out)?;
            continue;
        }
        for census in chosen.ranking.censuses().clone() {
            rows.push([
                number.into(),
                census.into(),
                profile.time(census).into(),
                profile.era(census).into(),
                profile.censuses.total(census).into(),
            ]);
        }
    }
    if request.arguments.output.json {
        return Ok(());
    }
    if request.for_reading() {
        let mut lines = titled(&COLUMNS);
        let line = |row: &[Cell<'_>; 5]| row.each_ref().map(|cell| cell.text().into_owned());
        lines.extend(rows.iter().map(line).map(Vec::from));
        return Ok(out.text(in_columns_before_text(&lines))?);
    }
    Ok(Table::print(
        out,
        request.arguments.output,
        &COLUMNS,
        &rows,
    )?)
}

/// Prints a line of JSON for each census of the range, with its bands.
fn print_with_bands(
    request: &HeapRequest<'_>,
    number: u32,
    profile: &HeapProfile,
    chosen: &SelectedBands,
    out: &mut Out,
) -> Result<(), Failure> {
    let labels: Vec<String> = chosen
        .shown
        .iter()
        .map(|&band| request.display_name(profile, chosen, band))
        .collect();
    for (census, bands) in chosen.by_census(profile) {
        let bands = bands.iter().map(|(place, bytes)| (&labels[*place], bytes));
        let bands: Vec<_> = bands.collect();
        out.json(&document(number, profile, census, bands))?;
    }
    Ok(())
}

/// JSON object for a census; `bands` maps labels to bytes.
#[derive(Serialize)]
struct Document<B> {
    profile: u32,
    census: u32,
    /// `null` if the time of the census is unknown.
    time_ns: Option<u64>,
    era: Option<u64>,
    bands: B,
}

fn document<B>(number: u32, profile: &HeapProfile, census: u32, bands: B) -> Document<B> {
    Document {
        profile: number,
        census,
        time_ns: profile.time(census).map(|time| time.0),
        era: profile.era(census),
        bands,
    }
}

/// A band's bytes in two censuses, which may be the same one.
struct Row {
    band: BandId,
    before: u64,
    after: u64,
}

impl Row {
    fn change(&self) -> i128 {
        i128::from(self.after) - i128::from(self.before)
    }
}

/// Returns the bands present in at least one of two censuses, in the requested order: by size, the largest or most
/// changed come first; by growth, those that grew the most.
fn rows(
    request: &HeapRequest<'_>,
    profile: &HeapProfile,
    chosen: &SelectedBands,
    of: [u32; 2],
) -> Vec<Row> {
    let censuses = chosen.bands.censuses(profile);
    let row = |&band| {
        let [before, after] = of.map(|census| censuses.bytes_at(band, census));
        Row {
            band,
            before,
            after,
        }
    };
    let all = chosen.shown.iter().map(row);
    let mut rows: Vec<Row> = all.filter(|row| row.before > 0 || row.after > 0).collect();
    match request.arguments.sort {
        // The bands are already in this order.
        BandOrder::Name => return rows,
        BandOrder::Growth => rows.sort_by_key(|row| Reverse(row.change())),
        BandOrder::Size | BandOrder::Deviation if of[0] == of[1] => {
            rows.sort_by_key(|row| Reverse(row.after));
        }
        BandOrder::Size | BandOrder::Deviation => {
            rows.sort_by_key(|row| Reverse(row.change().unsigned_abs()));
        }
    }
    if request.arguments.reverse {
        rows.reverse();
    }
    rows
}

/// Returns the first requested profile with all bands that pass the filter.
///
/// # Errors
/// If the profile has no such census in the range.
fn all_bands<'a>(
    request: &'a HeapRequest<'_>,
    censuses: &[u32],
) -> Result<(u32, &'a HeapProfile, SelectedBands), Failure> {
    let found = request.profiles().next();
    let chosen = found.and_then(|(number, profile)| {
        let choice = HeapChoice {
            bands: u32::MAX,
            ..request.choice(number)
        };
        let chosen = request.session.heap(&choice, request.range)?;
        Some((number, profile, chosen))
    });
    let (number, profile, chosen) =
        chosen.ok_or_else(|| Failure::Absent("the log has no heap profile".to_owned()))?;
    let there = chosen.ranking.censuses();
    match censuses.iter().find(|&census| !there.contains(census)) {
        Some(missing) => Err(Failure::Absent(format!(
            "the heap profile has no census {missing}: it has {}, counted from {}",
            format::pluralize(there.len() as u64, "census"),
            there.start
        ))),
        None => Ok((number, profile, chosen)),
    }
}

/// Describes a census for the heading of a table.
fn words(profile: &HeapProfile, census: u32) -> String {
    let bytes = format::bytes(profile.censuses.total(census));
    match profile.time(census) {
        Some(time) => format!("census {census} at {}: {bytes}", format::time(time)),
        None => format!("census {census}: {bytes}"),
    }
}

/// Prints the bands of one census.
pub(super) fn print_one(
    request: &HeapRequest<'_>,
    census: u32,
    out: &mut Out,
) -> Result<(), Failure> {
    const COLUMNS: [&str; 3] = ["label", "name", "bytes"];
    let (number, profile, chosen) = all_bands(request, &[census])?;
    let mut rows = rows(request, profile, &chosen, [census; 2]);
    let left_out = rows.split_off(rows.len().min(request.choice(number).bands as usize));
    let label = |row: &Row| request.display_name(profile, &chosen, row.band);
    if request.arguments.output.json {
        let bands: Vec<_> = rows.iter().map(|row| (label(row), row.after)).collect();
        return Ok(out.json(&document(number, profile, census, bands))?);
    }
    if !request.for_reading() {
        let mut table = Table::begin(out, request.arguments.output, &COLUMNS)?;
        for row in &rows {
            let name = chosen.bands.name(row.band);
            table.row(&[label(row).into(), name.into(), row.after.into()])?;
        }
        return Ok(table.end()?);
    }
    let whole = profile.censuses.total(census);
    let line = |bytes: u64, name: String| {
        let share = format::percent(bytes, whole);
        vec![share, format::bytes(bytes), name]
    };
    let mut lines = titled(&["share", "bytes", "band"]);
    for row in &rows {
        let name = escape_line(chosen.bands.name(row.band));
        lines.push(line(row.after, name));
    }
    if !left_out.is_empty() {
        let bytes = left_out.iter().map(|row| row.after).sum();
        lines.push(line(
            bytes,
            format::pluralize(left_out.len() as u64, "other"),
        ));
    }
    out.text(format_args!(
        "{}\n{}",
        words(profile, census),
        in_columns_before_text(&lines)
    ))?;
    Ok(())
}

/// Prints how the bands changed between two censuses.
pub(super) fn print_difference(
    request: &HeapRequest<'_>,
    between: [u32; 2],
    out: &mut Out,
) -> Result<(), Failure> {
    const COLUMNS: [&str; 5] = ["label", "name", "before", "after", "change"];
    let (number, profile, chosen) = all_bands(request, &between)?;
    let mut rows = rows(request, profile, &chosen, between);
    let left_out = rows.split_off(rows.len().min(request.choice(number).bands as usize));
    let label = |row: &Row| request.display_name(profile, &chosen, row.band);
    if request.arguments.output.json {
        let bands = rows.iter().map(|row| {
            json!({
                "label": label(row),
                "before": row.before,
                "after": row.after,
                "change": signed(row),
            })
        });
        let bands: Vec<Value> = bands.collect();
        let [before, after] = between.map(|census| {
            let time = profile.time(census).map(|time| time.0);
            json!({ "census": census, "time_ns": time, "era": profile.era(census) })
        });
        let document =
            json!({ "profile": number, "before": before, "after": after, "bands": bands });
        return Ok(out.json(&document)?);
    }
    if !request.for_reading() {
        let mut table = Table::begin(out, request.arguments.output, &COLUMNS)?;
        for row in &rows {
            table.row(&[
                label(row).into(),
                chosen.bands.name(row.band).into(),
                row.before.into(),
                row.after.into(),
                Cell::Ratio(signed(row) as f64),
            ])?;
        }
        return Ok(table.end()?);
    }
    let mut lines = titled(&["change", "before", "after", "band"]);
    let line = |change, before, after, name| {
        vec![
            words_of(change),
            format::bytes(before),
            format::bytes(after),
            name,
        ]
    };
    for row in &rows {
        let name = escape_line(chosen.bands.name(row.band));
        lines.push(line(row.change(), row.before, row.after, name));
    }
    if !left_out.is_empty() {
        let change = left_out.iter().map(Row::change).sum();
        let before = left_out.iter().map(|row| row.before).sum();
        let after = left_out.iter().map(|row| row.after).sum();
        let name = format::pluralize(left_out.len() as u64, "other");
        lines.push(line(change, before, after, name));
    }
    let [before, after] = between.map(|census| words(profile, census));
    out.text(format_args!(
        "from {before}\nto {after}\n{}",
        in_columns_before_text(&lines)
    ))?;
    Ok(())
}

/// Returns the change in bytes, which is always below 2⁴⁸.
fn signed(row: &Row) -> i64 {
    i64::try_from(row.change()).unwrap_or_default()
}

/// Formats a change in bytes with its sign.
fn words_of(change: i128) -> String {
    let sign = match change {
        0 => "",
        1.. => "+",
        _ => "−",
    };
    let bytes = u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", format::bytes(bytes))
}
