//! Costs of collections for the capabilities: by generation, and by capability.

use yew::prelude::*;

use super::generation;
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::goto_link::{GotoLink, collection_target};
use crate::panel::{Source, use_answer};
use crate::viewer::NavigationTarget;
use analysis::account::costs::{GcCosts, GcParts};
use eventlog::ids::CapId;
use model::time::Interval;
use scene::format;
use session::queries::GcCostsQuery;

/// Maximum number of capabilities listed; sums include all.
const MAX_CAPS: usize = 64;

#[derive(Properties, PartialEq)]
pub(super) struct CostsProps {
    pub(super) source: Source,
    pub(super) range: Option<Interval>,
    pub(super) on_goto: Callback<NavigationTarget>,
}

#[component]
pub(super) fn Costs(props: &CostsProps) -> Html {
    let answer = use_answer(&props.source, GcCostsQuery(props.range));
    match answer.as_deref() {
        Some(Some(costs)) if !costs.is_empty() => html! {
            <>
                { parts(costs, &props.on_goto) }
                { capabilities(costs) }
            </>
        },
        Some(None) => html! {
            <p class="faint">{ "The cost for capabilities appears once the log is read." }</p>
        },
        _ => Html::default(),
    }
}

/// Returns a time with its share of `of_ns` below; no share if that is 0.
fn cell(ns: u64, of_ns: u64) -> TableCell {
    let shown = match ns {
        0 => html! { <td class="number faint">{ "0" }</td> },
        _ => html! {
            <td class="number">
                { format::duration_ns(ns) }
                if of_ns > 0 { <small>{ format::percent_short(ns, of_ns) }</small> }
            </td>
        },
    };
    TableCell::new(ns, shown)
}

/// A component of the cost: name, explanation and getter.
type Part = (&'static str, &'static str, fn(&GcParts) -> u64);

const PARTS: [Part; 7] = [
    (
        "Stopping",
        "Stopped, until all capabilities had stopped.",
        |parts| parts.stopping_ns,
    ),
    (
        "Work",
        "Collecting: in a work phase (GC_WORK), or in collections without phases.",
        |parts| parts.work_ns,
    ),
    (
        "Idle",
        "Out of work and looking for more (GC_IDLE), while others had work.",
        |parts| parts.idle_ns,
    ),
    (
        "Done",
        "Done with their part (GC_DONE), while the leader finished the collection.",
        |parts| parts.done_ns,
    ),
    (
        "No phase",
        "Before their first work phase, while the leader prepares the collection; or not taking part in it.",
        |parts| parts.outside_ns,
    ),
    ("Heap census", "Stopped for a heap census.", |parts| {
        parts.census_ns
    }),
    (
        "Resuming after GC",
        "The collection was over, but their OS threads had not resumed.",
        |parts| parts.returning_ns,
    ),
];

/// Renders the cost components by generation, summed over all capabilities.
fn parts(costs: &[GcCosts], on_goto: &Callback<NavigationTarget>) -> Html {
    let all: Vec<GcParts> = costs.iter().map(GcCosts::all_caps).collect();
    let head = |row: &GcCosts| {
        let number = generation(row.generation);
        let shown = html! { <th scope="col">{ format!("Gen {number}") }</th> };
        TableColumn::new(format!("gen_{number}_ns"), shown)
    };
    let mut columns = vec![TableColumn::new("part", html! { <td /> })];
    columns.extend(costs.iter().map(head));
    let line = |&(name, help, part): &Part| {
        let cells = all.iter().map(|parts| cell(part(parts), parts.all_ns()));
        TableRow::new(TableCell::explained(name, help), cells)
    };
    let row = |name: &'static str, help: &'static str, number: fn(&GcCosts) -> u64| {
        let cells = costs.iter().map(|row| cell(number(row), 0));
        TableRow::new(TableCell::explained(name, help), cells)
    };
    let longest = |row: &GcCosts| {
        let text = format::duration_ns(row.max_standstill_ns);
        let what = format!(
            "the collection of generation {} with the longest stop",
            generation(row.generation)
        );
        let place = (row.count > 0).then(|| collection_target(row.max_standstill));
        let shown = html! { <td class="number"><GotoLink {text} {what} target={place} on_goto={on_goto.clone()} /></td> };
        TableCell::new(row.max_standstill_ns, shown)
    };
    let longest_stop = TableCell::explained(
        "Longest stop",
        "The same for the collection with the longest stop: mean over the capabilities.",
    );
    let some = |part: &&Part| all.iter().any(|parts| part.2(parts) > 0);
    let mut rows = vec![row(
        "Pauses",
        "Time for which the program was stopped, from start to end of each collection.",
        |row| row.pause_ns,
    )];
    rows.extend(PARTS.iter().filter(some).map(line));
    rows.push(row(
        "Sum",
        "Sum of the rows except for the pauses: capability time spent on collections.",
        |row| row.all_caps().all_ns(),
    ));
    rows.push(row(
        "Mean stop",
        "Mean time for which one collection stopped a capability, until it resumed: over all capabilities and collections.",
        |row| row.mean_standstill_ns,
    ));
    rows.push(TableRow::new(longest_stop, costs.iter().map(longest)));
    let caption = html! { <caption>{ "Cost for all capabilities" }</caption> };
    html! { <DataTable name="collection-costs" class="plain-table costs" {caption} {columns} {rows} /> }
}

/// Renders for each capability the shares of working, idle and finished time during collections.
fn capabilities(costs: &[GcCosts]) -> Html {
    let line = |generation: String, cap: &(CapId, GcParts)| {
        let (cap, parts) = cap;
        let gc_ns = parts.inside_ns();
        TableRow::new(
            TableCell::heading(cap),
            [
                TableCell::text(generation),
                cell(parts.work_ns, gc_ns),
                cell(parts.idle_ns, gc_ns),
                cell(parts.done_ns, gc_ns),
            ],
        )
    };
    let of_cap = |place: usize| {
        costs.iter().filter_map(move |row| {
            let cap = row.caps.get(place)?;
            Some(line(generation(row.generation), cap))
        })
    };
    let count = costs.first().map_or(0, |row| row.caps.len());
    let columns = TableColumn::all_explained(&[
        ["Cap", "cap", "The capability."],
        ["Gen", "generation", "Oldest collected generation."],
        [
            "Work",
            "work_ns",
            "Collecting; below, the share of its time within these collections.",
        ],
        [
            "Idle",
            "idle_ns",
            "Out of work and looking for more (GC_IDLE).",
        ],
        [
            "Done",
            "done_ns",
            "Done with its part (GC_DONE), before the end of the collection.",
        ],
    ]);
    let rows: Vec<TableRow> = (0..count.min(MAX_CAPS)).flat_map(of_cap).collect();
    let caption = html! { <caption>{ "Each capability in collections" }</caption> };
    html! {
        <DataTable name="collections-by-capability" class="plain-table costs" {caption}
            {columns} {rows} />
    }
}
