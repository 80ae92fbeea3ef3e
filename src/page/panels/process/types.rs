//! The table of event types, with counts and sizes.

use std::cmp::Ordering;
use std::rc::Rc;

use yew::prelude::*;

use crate::dom::state_callback;
use crate::exportable_table::ExportableTable;
use crate::pagination::use_pagination;
use crate::share_bar::share_bar;
use analysis::info::TypeCount;
use analysis::process::Process;
use model::sorting::CompactSort;
use scene::format;
use session::events::EventList;
use session::events::filter::EventFilter;
use views::columns::sorted_again;

/// Number of types shown at first: more than any known runtime writes.
const SHOWN: usize = 150;

model::named_enum! {
    enum Column {
        Number: "Number", "right";
        Name: "Name", "";
        Description: "Name in the log", "";
        Count: "Events", "right";
        Bytes: "Bytes", "right";
    }
    fn title;
    fn class;
}

impl Column {
    /// Returns whether the first click on the column sorts in descending order.
    const fn largest_first(self) -> bool {
        matches!(self, Self::Count | Self::Bytes)
    }

    fn compare(self, a: &TypeCount, b: &TypeCount) -> Ordering {
        match self {
            Self::Number => a.id.cmp(&b.id),
            Self::Name => a.name.to_lowercase().cmp(&b.name.to_lowercase()),
            Self::Description => {
                let lower = |kind: &TypeCount| kind.description.to_lowercase();
                lower(a).cmp(&lower(b))
            }
            Self::Count => a.count.cmp(&b.count),
            Self::Bytes => a.bytes.cmp(&b.bytes),
        }
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct TypesProps {
    pub(super) process: Rc<Process>,
    /// Opens the event list with a filter for one type.
    pub(super) on_list: Callback<EventList>,
}

#[component]
pub(super) fn Types(props: &TypesProps) -> Html {
    let sort = use_state_eq(|| (Column::Count, true));
    let pagination = use_pagination(SHOWN);
    let (by, largest_first) = *sort;
    let types = &props.process.types;
    let mut rows: Vec<&TypeCount> = types.iter().collect();
    rows.sort_small_by(|a, b| {
        let order = by.compare(a, b);
        let order = if largest_first {
            order.reverse()
        } else {
            order
        };
        order.then(a.id.cmp(&b.id))
    });
    let sum = |get: fn(&TypeCount) -> u64| types.iter().map(get).fold(0, u64::saturating_add);
    let (count, bytes) = (sum(|kind| kind.count), sum(|kind| kind.bytes));
    let head = |column: Column| {
        let sorted = column == by;
        let direction = match (sorted, largest_first) {
            (false, _) => "none",
            (true, true) => "descending",
            (true, false) => "ascending",
        };
        let next = sorted_again(*sort, column, column.largest_first());
        let onclick = state_callback(&sort).reform(move |_: MouseEvent| next);
        let arrow = match direction {
            "descending" => " ▾",
            "ascending" => " ▴",
            _ => "",
        };
        html! {
            <th scope="col" class={column.class()} aria-sort={direction}>
                <button class="quiet" {onclick}>{ column.title() }<span aria-hidden="true">{ arrow }</span></button>
            </th>
        }
    };
    html! {
        <section class="process-types" aria-labelledby="process-types">
            <h2 id="process-types">{ "Event types" }</h2>
            <p>{ "Click a name to list its events, a heading to sort." }</p>
            <ExportableTable name="event-types">
                <div class="sideways" tabindex="0" role="group" aria-labelledby="process-types">
                    <table>
                        <thead><tr>{ for Column::ALL.into_iter().map(head) }<th scope="col" colspan="2">{ "Share of bytes" }</th></tr></thead>
                        <tbody>{ for rows.iter().take(pagination.shown).map(|kind| row(kind, bytes, &props.on_list)) }</tbody>
                        <tfoot>
                            <tr>
                                <th scope="row" colspan="3">{ format!("All {} types", types.len()) }</th>
                                <td class="right number" data-value={count.to_string()}>{ format::count(count) }</td>
                                <td class="right number" data-value={bytes.to_string()}>{ format::count(bytes) }</td>
                                <td colspan="2">{ format::bytes(bytes) }</td>
                            </tr>
                        </tfoot>
                    </table>
                </div>
            </ExportableTable>
            { pagination.button(rows.len(), "types") }
        </section>
    }
}

fn row(kind: &TypeCount, total_bytes: u64, on_list: &Callback<EventList>) -> Html {
    let id = kind.id;
    let onclick = on_list.reform(move |_: MouseEvent| EventList {
        filter: EventFilter {
            types: vec![id],
            ..EventFilter::default()
        },
        search: String::new(),
    });
    let rest = total_bytes.saturating_sub(kind.bytes);
    html! {
        <tr key={id}>
            <td class="right number">{ id }</td>
            <th scope="row"><button class="name" {onclick} title="List its events">{ &kind.name }</button></th>
            <td class="words">{ &kind.description }</td>
            <td class="right number">{ format::count(kind.count) }</td>
            <td class="right number">{ format::count(kind.bytes) }</td>
            <td class="right number">{ format::percent(kind.bytes, total_bytes) }</td>
            <td class="bar-cell">{ share_bar(total_bytes, [("accent", kind.bytes), ("idle", rest)]) }</td>
        </tr>
    }
}
