//! Report section about collections: pauses, costs, and the longest collections.

use super::html::{Column, Html, Table, cut};
use super::{Section, Wanted};
use crate::words::collection::{TITLES, cells, generation};
use crate::words::heap_report;
use analysis::account::costs::{GcCosts, GcParts};
use analysis::numbers::collections_query::{
    CollectionColumn, CollectionsQuery, CollectionsReply, PauseBin, Pauses,
};
use eventlog::ids::Duration;
use scene::format;
use session::Overview;
use session::query::Answers;
use session::questions::GcCostsQuery;

/// Maximum number of collections listed.
const ROWS: u64 = 50;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Overview,
    wanted: &Wanted,
) -> Option<Section> {
    let mut section = Section::new("collections", "Collections");
    let html = &mut section.body;
    let query = CollectionsQuery {
        range: wanted.range,
        sort: CollectionColumn::Pause,
        descending: true,
        rows: 0..ROWS,
        pauses: true,
        ..CollectionsQuery::default()
    };
    let found = log.ask(query).await?;
    if found.total == 0 {
        html.say(&match (wanted.range, &overview.report) {
            (_, Some(_)) => heap_report::nothing_of("collections"),
            (Some(_), _) => "No collection begins in this time.".to_owned(),
            (None, _) => "No collection is in this log. It was made without GC events (+RTS -l has them, -l-g leaves them out), or the program made none.".to_owned(),
        });
        return Some(section);
    }
    pauses(html, &found);
    let costs = log.ask(GcCostsQuery(wanted.range)).await?;
    costs_of(html, &costs.unwrap_or_default());
    longest(html, &found);
    Some(section)
}

fn time(ns: u64) -> String {
    format::duration(Duration(ns))
}

/// Writes percentiles and the distribution of pauses.
fn pauses(html: &mut Html, found: &CollectionsReply) {
    let [all, generations @ ..] = &found.pauses[..] else {
        return;
    };
    let row = |name: String, pauses: &Pauses| {
        let lengths = [pauses.median, pauses.p90, pauses.p99, pauses.longest];
        let mut cells = vec![name, format::count(pauses.count), time(pauses.total_ns)];
        cells.extend(lengths.map(|pause| time(pause.ns)));
        cells.push(format::time(pauses.longest.start));
        cells
    };
    html.table(&Table {
        caption: "Pauses: how long the program stood still, by the generation that was collected"
            .to_owned(),
        columns: vec![
            Column::Text("Generation"),
            Column::Number("Collections"),
            Column::Number("Together"),
            Column::Number("Median"),
            Column::Number("90 %"),
            Column::Number("99 %"),
            Column::Number("Longest"),
            Column::Number("which began at"),
        ],
        rows: generations
            .iter()
            .map(|of| row(generation(of.generation), of))
            .collect(),
        all: (generations.len() > 1).then(|| row("All".to_owned(), all)),
    });
    let bin = |bin: &PauseBin| {
        let share = format::percent(bin.total_ns, all.total_ns);
        vec![
            format!("{} – {}", time(bin.from_ns), time(bin.to_ns)),
            format::count(bin.count),
            time(bin.total_ns),
            share,
        ]
    };
    html.table(&Table {
        caption: "Pauses by length".to_owned(),
        columns: vec![
            Column::Text("Length"),
            Column::Number("Collections"),
            Column::Number("Together"),
            Column::Number("of all pauses"),
        ],
        rows: all
            .bins
            .iter()
            .filter(|bin| bin.count > 0)
            .map(bin)
            .collect(),
        all: None,
    });
}

/// Writes the costs of collections for the capabilities.
fn costs_of(html: &mut Html, costs: &[GcCosts]) {
    let parts = |parts: &GcParts| {
        let all = [
            parts.stopping_ns,
            parts.work_ns,
            parts.idle_ns,
            parts.done_ns,
            parts.outside_ns,
            parts.coming_back_ns,
            parts.all_ns(),
        ];
        all.map(time).to_vec()
    };
    let row = |of: &GcCosts| [vec![generation(of.generation)], parts(&of.all_caps())].concat();
    html.table(&Table {
        caption: "What collections cost all capabilities together".to_owned(),
        columns: vec![
            Column::Text("Generation"),
            Column::Number("Stopping"),
            Column::Number("Working"),
            Column::Number("Looking for work"),
            Column::Number("Done, waiting"),
            Column::Number("No work logged"),
            Column::Number("Resuming after GC"),
            Column::Number("All"),
        ],
        rows: costs.iter().map(row).collect(),
        all: None,
    });
}

fn longest(html: &mut Html, found: &CollectionsReply) {
    html.table(&Table {
        caption: "The longest collections".to_owned(),
        columns: TITLES.iter().map(|title| Column::Number(title)).collect(),
        rows: found.rows.iter().map(|gc| cells(gc).to_vec()).collect(),
        all: None,
    });
    if let Some(cut) = cut(found.rows.len(), found.total, "collection") {
        html.note(&cut);
    }
}
