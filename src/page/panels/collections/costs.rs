//! What collections cost the capabilities: by generation, and of each of them.

use yew::prelude::*;

use super::generation;
use crate::panel::{Source, use_answer};
use crate::place::{PlaceLink, seen_at};
use crate::table_out::TableOut;
use crate::term::{Term, heading, heading_saved};
use crate::viewer::Goto;
use analysis::account::costs::{GcCosts, GcParts};
use eventlog::ids::{CapId, Duration};
use model::time::Interval;
use scene::format;
use session::questions::GcCostsQuery;

/// Of how many capabilities the parts are listed; the sums are of all.
const MOST_CAPS: usize = 64;

#[derive(Properties, PartialEq)]
pub(super) struct CostsProps {
    pub(super) source: Source,
    pub(super) range: Option<Interval>,
    pub(super) on_goto: Callback<Goto>,
}

/// The tables.
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
            <p class="faint">{ "What they cost the capabilities is known once the log is read." }</p>
        },
        _ => Html::default(),
    }
}

/// A time, and below it its share of something.
fn cell(ns: u64, of_ns: u64) -> Html {
    if ns == 0 {
        return html! { <td class="number faint">{ "0" }</td> };
    }
    html! {
        <td class="number" data-value={ns.to_string()}>
            { format::duration(Duration(ns)) }
            if of_ns > 0 { <small>{ format::percent_short(ns, of_ns) }</small> }
        </td>
    }
}

/// A part of what collections cost: its name, what it means, and how much it is.
type Part = (&'static str, &'static str, fn(&GcParts) -> u64);

const PARTS: [Part; 7] = [
    (
        "Stopping",
        "They stood still until the last capability had stopped too.",
        |parts| parts.stopping_ns,
    ),
    (
        "Work",
        "They collected: in a phase of work (GC_WORK), or in collections without phases.",
        |parts| parts.work_ns,
    ),
    (
        "Idle",
        "They had run out of work and looked for more (GC_IDLE), while others still had some.",
        |parts| parts.idle_ns,
    ),
    (
        "Done",
        "Their part was done (GC_DONE), the collection was not: the one that leads finished it meanwhile, the others waited.",
        |parts| parts.done_ns,
    ),
    (
        "No phase",
        "Before their first phase of work, in which the one that leads prepares the collection and the others wait; or they took no part in it.",
        |parts| parts.outside_ns,
    ),
    (
        "Heap census",
        "They stood still while the heap was counted for a profile.",
        |parts| parts.census_ns,
    ),
    (
        "Resuming after GC",
        "The collection was over, but their OS threads had not come back from it.",
        |parts| parts.coming_back_ns,
    ),
];

/// The parts of what they cost, of all capabilities together.
fn parts(costs: &[GcCosts], on_goto: &Callback<Goto>) -> Html {
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
        let text = format::duration(Duration(row.max_standstill_ns));
        let what = format!(
            "the collection of generation {} with the longest stop",
            generation(row.generation)
        );
        let place = (row.count > 0).then(|| seen_at(row.max_standstill));
        let exact = row.max_standstill_ns.to_string();
        html! { <td class="number" data-value={exact}><PlaceLink {text} {what} {place} on_goto={on_goto.clone()} /></td> }
    };
    let some = |part: &&Part| all.iter().any(|parts| part.2(parts) > 0);
    html! {
        <TableOut name="collection-costs">
            <table class="plain-table costs">
                <caption>{ "What they cost the capabilities, together" }</caption>
                <thead><tr><td />{ for costs.iter().map(head) }</tr></thead>
                <tbody>
                    { row("Pauses", "How long the program stood still, from the starts of collections to their ends.", |row| row.pause_ns) }
                    { for PARTS.iter().filter(some).map(line) }
                    { row("Sum", "All of these but the pauses: the time of capabilities that went to collections.", |row| row.all_caps().all_ns()) }
                    { row("Mean stop", "For how long a capability stood still for one collection, from stopping to coming back: the mean over all capabilities and collections.", |row| row.mean_standstill_ns) }
                    <tr>
                        <th scope="row"><Term name="Longest stop" help="The same of the collection with the longest: the mean over the capabilities." /></th>
                        { for costs.iter().map(longest) }
                    </tr>
                </tbody>
            </table>
        </TableOut>
    }
}

/// How much of the collections each capability worked, was idle, and done.
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
        <TableOut name="collections-by-capability">
            <table class="plain-table costs">
                <caption>{ "Each capability in collections" }</caption>
                <thead>
                    <tr>
                        { heading("Cap", "The capability.") }
                        { heading("Gen", "The generation that was collected.") }
                        { heading_saved("Work", "It collected; below, the share of the time that it spent within these collections.", "work_ns") }
                        { heading_saved("Idle", "It had run out of work and looked for more (GC_IDLE).", "idle_ns") }
                        { heading_saved("Done", "Its part was done (GC_DONE), the collection was not.", "done_ns") }
                    </tr>
                </thead>
                <tbody>{ for (0..count.min(MOST_CAPS)).flat_map(of_cap) }</tbody>
            </table>
        </TableOut>
    }
}
