//! Report section about collections: pauses, costs, and the longest collections.

use super::html::{Column, Html, Table};
use super::{ReportSubject, Section};
use crate::words::collection::{TITLES, cells, generation};
use crate::words::heap_report;
use analysis::account::costs::{GcCosts, GcParts};
use analysis::numbers::collections_query::{
    CollectionColumn, CollectionsQuery, CollectionsReply, PauseBin, PauseDistribution,
};
use scene::format::{self, duration_ns};
use session::Overview;
use session::queries::GcCostsQuery;
use session::query::Answers;

/// Maximum number of collections listed.
const ROWS: u64 = 50;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Overview,
    subject: &ReportSubject,
) -> Option<Section> {
    let mut section = Section::new("collections", "Collections");
    let html = &mut section.body;
    let query = CollectionsQuery {
        range: subject.range,
        sort: CollectionColumn::Pause,
        descending: true,
        rows: 0..ROWS,
        pauses: true,
        ..CollectionsQuery::default()
    };
    let found = log.ask(query).await?;
    if found.total == 0 {
        html.paragraph(&match (subject.range, &overview.report) {
            (_, Some(_)) => heap_report::nothing_of("collections"),
            (Some(_), _) => "No collection starts in this range.".to_owned(),
            (None, _) => "No collections in this log. Either none happened, or GC events are off (+RTS -l logs them, -l-g does not).".to_owned(),
        });
        return Some(section);
    }
    pauses(html, &found);
    let costs = log.ask(GcCostsQuery(subject.range)).await?;
    costs_of(html, &costs.unwrap_or_default());
    longest(html, &found);
    Some(section)
}

/// Writes percentiles and the distribution of pauses.
fn pauses(html: &mut Html, found: &CollectionsReply) {
    let [all, generations @ ..] = &found.pauses[..] else {
        return;
    };
    let row = |name: String, pauses: &PauseDistribution| {
        let lengths = [pauses.median, pauses.p90, pauses.p99, pauses.longest];
        let mut cells = vec![
            name,
            format::count(pauses.count),
            duration_ns(pauses.total_ns),
        ];
        cells.extend(lengths.map(|pause| duration_ns(pause.ns)));
        cells.push(format::time(pauses.longest.start));
        cells
    };
    html.table(&Table {
        all: (generations.len() > 1).then(|| row("All".to_owned(), all)),
        ..Table::new(
            "Pauses of the program, by oldest collected generation",
            Column::parse(
                "Generation|#Collections|#Total|#Median|#90 %|#99 %|#Longest|#Start of longest",
            ),
            generations
                .iter()
                .map(|of| row(generation(of.generation), of)),
        )
    });
    let bin = |bin: &PauseBin| {
        let share = format::percent(bin.total_ns, all.total_ns);
        vec![
            format!("{} – {}", duration_ns(bin.from_ns), duration_ns(bin.to_ns)),
            format::count(bin.count),
            duration_ns(bin.total_ns),
            share,
        ]
    };
    html.table(&Table::new(
        "Pauses by length",
        Column::parse("Length|#Collections|#Total|#Share of all pauses"),
        all.bins.iter().filter(|bin| bin.count > 0).map(bin),
    ));
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
            parts.returning_ns,
            parts.all_ns(),
        ];
        all.map(duration_ns).to_vec()
    };
    let row = |of: &GcCosts| [vec![generation(of.generation)], parts(&of.all_caps())].concat();
    html.table(&Table::new(
        "Cost of collections for all capabilities",
        Column::parse(
            "Generation|#Stopping|#Working|#Looking for work|#Done, waiting|#No work logged|#Resuming after GC|#All",
        ),
        costs.iter().map(row),
    ));
}

fn longest(html: &mut Html, found: &CollectionsReply) {
    html.table(&Table::new(
        "The longest collections",
        TITLES.map(Column::Number).to_vec(),
        found.rows.iter().map(|gc| cells(gc).to_vec()),
    ));
    html.truncation_note(found.rows.len(), found.total, "collection");
}
