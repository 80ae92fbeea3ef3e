//! Report section about memory: allocation, residency, and heap profiles.

use super::html::{Column, Html, Table};
use super::{ReportSubject, Section};
use crate::heap::chart::picture::{Look, chart_px, heap_svg_themed};
use crate::heap::words;
use analysis::numbers::summary::Summary;
use scene::format;
use session::Overview;
use session::heap::chart::ChartQuery;
use session::heap::choice::HeapChoice;
use session::heap::profiles::{ProfileInfo, ProfilesQuery, is_too_old, profiling_hints};
use session::heap::table::{BandRow, BandTableQuery};
use session::queries::SummaryQuery;
use session::query::Answers;

/// Maximum number of bands listed.
const ROWS: u64 = 50;
/// Maximum number of profiles of a log with charts.
const PROFILES: usize = 4;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Overview,
    subject: &ReportSubject,
) -> Option<Section> {
    let mut section = Section::new("heap", "Heap");
    let html = &mut section.body;
    let summary = log.ask(SummaryQuery(subject.range)).await?;
    match overview.report {
        // A textual heap profile (`.hp`) has no data about collections.
        Some(_) => {}
        None => memory(html, &summary),
    }
    let profiles = log.ask(ProfilesQuery).await?;
    if profiles.is_empty() {
        no_profile(html, overview);
    }
    for (number, info) in (0..).zip(profiles.iter().take(PROFILES)) {
        profile(log, html, (number, info), subject).await?;
    }
    let count = profiles.len();
    html.truncation_note(PROFILES.min(count), count as u64, "heap profile");
    Some(section)
}

/// Writes allocation and residency.
fn memory(html: &mut Html, summary: &Summary) {
    if summary.bytes_allocated.is_none() && summary.max_heap_size.is_none() {
        html.note("The log has no heap events: GHC 7.6 and later write them with +RTS -l, but not with -l-g or -l-a.");
        return;
    }
    let or_nothing = |number: Option<u64>| {
        let size = |bytes: u64| format!("{} · {} B", format::bytes(bytes), format::count(bytes));
        number.map_or_else(|| format::NO_VALUE.to_owned(), size)
    };
    let rate = summary
        .allocation_rate
        .map(|rate| format!("{}/s", format::bytes(rate)));
    html.facts(&[
        ("Allocated", or_nothing(summary.bytes_allocated)),
        (
            "Allocation rate, of mutator time",
            rate.unwrap_or_else(|| format::NO_VALUE.to_owned()),
        ),
        (
            "Maximum residency: live after a major collection",
            or_nothing(summary.max_residency),
        ),
        ("Average residency", or_nothing(summary.average_residency)),
        ("Maximum heap size", or_nothing(summary.max_heap_size)),
        ("Maximum slop", or_nothing(summary.max_slop)),
        (
            "Maximum fragmentation",
            or_nothing(summary.max_fragmentation),
        ),
        ("Copied in collections", or_nothing(summary.bytes_copied)),
    ]);
}

/// Explains how to record a heap profile.
fn no_profile(html: &mut Html, overview: &Overview) {
    let ghc = overview.ghc.as_deref();
    if is_too_old(ghc) {
        html.paragraph(
            "The log has no heap profile: GHC 8.2 and later write heap profiles to logs.",
        );
        return;
    }
    html.paragraph("The log has no heap profile. Run the program with one of these flags of +RTS:");
    let row = |(flags, shows, needs): (&str, &str, &str)| {
        [flags, shows, needs].map(str::to_owned).to_vec()
    };
    html.table(&Table::new(
        "Heap profiles",
        Column::parse("+RTS|Breakdown|Compile with"),
        profiling_hints(ghc).into_iter().map(row),
    ));
}

/// Writes the chart and the bands of a heap profile.
async fn profile(
    log: &impl Answers,
    html: &mut Html,
    (number, info): (u32, &ProfileInfo),
    subject: &ReportSubject,
) -> Option<()> {
    let title = format!("Heap profile {}", info.title());
    html.heading(&title);
    html.note(&format!("{}.", info.facts()));
    html.list(info.remarks());
    let look = Look::default();
    let choice = HeapChoice {
        profile: number,
        ..HeapChoice::default()
    };
    let chart = ChartQuery {
        choice: choice.clone(),
        range: subject.range,
        view: subject.range,
        width_px: chart_px(&look) as u32,
        ..ChartQuery::default()
    };
    if let Some(chart) = log.ask(chart).await? {
        let svg = heap_svg_themed(&chart, &title, &look, &format!("p{number}"));
        html.picture(&title, &svg);
    }
    let bands = BandTableQuery {
        choice,
        range: subject.range,
        rows: 0..ROWS,
        ..BandTableQuery::default()
    };
    let Some(table) = log.ask(bands).await? else {
        return Some(());
    };
    if table.rows.is_empty() {
        html.paragraph("No bytes in the censuses of this range.");
    }
    html.table(&Table::new(
        format!("{}, largest first", format::pluralize(table.total, "band")),
        Column::parse("Band|Description|#Mean|#Share|#Maximum|#First|#Last|Growth"),
        table.rows.iter().map(cells),
    ));
    html.truncation_note(table.rows.len(), table.total, "band");
    Some(())
}

fn cells(row: &BandRow) -> Vec<String> {
    let numbers = &row.numbers;
    vec![
        row.band_label.name.clone(),
        row.band_label.subtitle.clone(),
        words::about(numbers.mean),
        format::fraction(numbers.share),
        format::bytes(numbers.max),
        format::bytes(numbers.first),
        format::bytes(numbers.last),
        words::growth(numbers),
    ]
}
