//! Costs of collections for the capabilities: by generation, and by capability.

use yew::prelude::*;

use super::generation;
use crate::exportable_table::ExportableTable;
use crate::goto_link::{GotoLink, collection_target};
use crate::panel::{Source, use_answer};
use crate::term::{Term, heading, heading_saved};
use crate::viewer::NavigationTarget;
use analysis::account::costs::{GcCosts, GcParts};
use eventlog::ids::CapId;
use model::time::Interval;
use scene::format;
use session::questions::GcCostsQuery;

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

/// Renders a time with its share of `of_ns` below; no share if that is 0.
fn cell(ns: u64, of_ns: u64) -> Html {
    if ns == 0 {
        return html! { <td class="number faint">{ "0" }</td> };
    }
    html! {
        <td class="number" data-value={ns.to_string()}>
            { format::duration_ns(ns) }
            if of_ns > 0 { <small>{ format::percent_short(ns, of_ns) }</small> }
        </td>
    }
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
        |parts| parts.coming_back_ns,
    ),
];

/// Renders the cost components by generation, summed over all capabilities.
fn parts(costs: &[GcCosts], on_goto: &Callback<NavigationTarget>) -> Html {
    let all: Vec<GcParts> = costs.iter().map(GcCosts::all_caps).collect();
    let head = |row: &GcCosts| html! { <th scope="col" data-value={format!("gen_{}_ns", generation(row.generation))}>{ format!("Gen {}", generation(row.generation)) }</th> };
    let line = |&(name, help, part): &Part| {
        let cells = all.iter().map(|parts| cell(part(parts), parts.all_ns()));
        html! { <tr><th scope="row"><Term {name} {help} /></th>{ for cells }</tr> }
    };
    let row = |name: &'static str, help: &'static str, number: fn(&GcCosts) -> u64| {
        let cells = costs.iter().map(|row| cell(number(row), 0));
        html! { <tr><th scope="row"><Term {name} {help} /></th>{ for cells }</tr> }
    };
    let longest = |row: &GcCosts| {
        let text = format::duration_ns(row.max_standstill_ns);
        let what = format!(
            "the collection of generation {} with the longest stop",
            generation(row.generation)
        );
        let place = (row.count > 0).then(|| collection_target(row.max_standstill));
        let exact = row.max_standstill_ns.to_string();
        html! { <td class="number" data-value={exact}><GotoLink {text} {what} target={place} on_goto={on_goto.clone()} /></td> }
    };
    let some = |part: &&Part| all.iter().any(|parts| part.2(parts) > 0);
    html! {
        <ExportableTable name="collection-costs">
            <table class="plain-table costs">
                <caption>{ "Cost for all capabilities" }</caption>
                <thead><tr><td />{ for costs.iter().map(head) }</tr></thead>
                <tbody>
                    { row("Pauses", "Time for which the program was stopped, from start to end of each collection.", |row| row.pause_ns) }
                    { for PARTS.iter().filter(some).map(line) }
                    { row("Sum", "Sum of the rows except for the pauses: capability time spent on collections.", |row| row.all_caps().all_ns()) }
                    { row("Mean stop", "Mean time for which one collection stopped a capability, until it resumed: over all capabilities and collections.", |row| row.mean_standstill_ns) }
                    <tr>
                        <th scope="row"><Term name="Longest stop" help="The same for the collection with the longest stop: mean over the capabilities." /></th>
                        { for costs.iter().map(longest) }
                    </tr>
                </tbody>
            </table>
        </ExportableTable>
    }
}

/// Renders for each capability the shares of working, idle and finished time during collections.
fn capabilities(costs: &[GcCosts]) -> Html {
    let line = |generation: String, cap: &(CapId, GcParts)| {
        let (cap, parts) = cap;
        let gc_ns = parts.inside_ns();
        html! {
            <tr>
                <th scope="row">{ cap.to_string() }</th>
                <td>{ generation }</td>
                { cell(parts.work_ns, gc_ns) }
                { cell(parts.idle_ns, gc_ns) }
                { cell(parts.done_ns, gc_ns) }
            </tr>
        }
    };
    let of_cap = |place: usize| {
        costs.iter().filter_map(move |row| {
            let cap = row.caps.get(place)?;
            Some(line(generation(row.generation), cap))
        })
    };
    let count = costs.first().map_or(0, |row| row.caps.len());
    html! {
        <ExportableTable name="collections-by-capability">
            <table class="plain-table costs">
                <caption>{ "Each capability in collections" }</caption>
                <thead>
                    <tr>
                        { heading("Cap", "The capability.") }
                        { heading("Gen", "Oldest collected generation.") }
                        { heading_saved("Work", "Collecting; below, the share of its time within these collections.", "work_ns") }
                        { heading_saved("Idle", "Out of work and looking for more (GC_IDLE).", "idle_ns") }
                        { heading_saved("Done", "Done with its part (GC_DONE), before the end of the collection.", "done_ns") }
                    </tr>
                </thead>
                <tbody>{ for (0..count.min(MAX_CAPS)).flat_map(of_cap) }</tbody>
            </table>
        </ExportableTable>
    }
}
