//! The table of event types, with counts and sizes.

use std::cmp::Ordering;
use std::rc::Rc;

use yew::prelude::*;

use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::dom::state_callback;
use crate::pagination::use_pagination;
use crate::share_bar::share_bar;
use analysis::info::TypeCount;
use analysis::process::Process;
use model::sorting::CompactSort;
use scene::format;
use session::cells::Cell;
use session::events::EventList;
use session::events::filter::EventFilter;
use views::columns::sorted_again;

/// Number of types shown at first: more than any known runtime writes.
const SHOWN: usize = 150;

model::named_enum! {
    enum Column {
        Number: "Number", "right", "number";
        Name: "Name", "", "name";
        Description: "Name in the log", "", "name_in_log";
        Count: "Events", "right", "events";
        Bytes: "Bytes", "right", "bytes";
    }
    fn title;
    fn class;
    fn exported;
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
        let head = html! {
            <th scope="col" class={column.class()} aria-sort={direction}>
                <button class="quiet" {onclick}>{ column.title() }<span aria-hidden="true">{ arrow }</span></button>
            </th>
        };
        TableColumn::new(column.exported(), head)
    };
    let share = html! { <th scope="col" colspan="2">{ "Share of bytes" }</th> };
    let columns = Column::ALL.into_iter().map(head);
    let columns: Vec<TableColumn> = columns
        .chain([
            TableColumn::new("share_of_bytes", share),
            TableColumn::drawn(Html::default()),
        ])
        .collect();
    let shown = rows.iter().take(pagination.shown);
    let shown: Vec<TableRow> = shown.map(|kind| row(kind, bytes, &props.on_list)).collect();
    html! {
        <section class="process-types" aria-labelledby="process-types">
            <h2 id="process-types">{ "Event types" }</h2>
            <p>{ "Click a name to list its events, a heading to sort." }</p>
            <DataTable name="event-types" class="" box_label="Event types" {columns} rows={shown}
                foot={vec![sums(types.len(), count, bytes)]} />
            { pagination.button(rows.len(), "types") }
        </section>
    }
}

/// Returns a number in a column that is aligned to the right.
fn number(value: impl Into<Cell<'static>>, text: String) -> TableCell {
    TableCell::new(value, html! { <td class="right number">{ text }</td> })
}

fn count_cell(count: u64) -> TableCell {
    number(count, format::count(count))
}

fn row(kind: &TypeCount, total_bytes: u64, on_list: &Callback<EventList>) -> TableRow {
    let id = kind.id;
    let onclick = on_list.reform(move |_: MouseEvent| EventList {
        filter: EventFilter {
            types: vec![id],
            ..EventFilter::default()
        },
        search: String::new(),
    });
    let rest = total_bytes.saturating_sub(kind.bytes);
    let bar = share_bar(total_bytes, [("accent", kind.bytes), ("idle", rest)]);
    let name = html! { <th scope="row"><button class="name" {onclick} title="List its events">{ &kind.name }</button></th> };
    let description = html! { <td class="words">{ &kind.description }</td> };
    let share = kind.bytes as f64 / total_bytes.max(1) as f64;
    TableRow::new(
        number(u32::from(id), id.to_string()),
        [
            TableCell::new(kind.name.clone(), name),
            TableCell::new(kind.description.clone(), description),
            count_cell(kind.count),
            count_cell(kind.bytes),
            number(share, format::percent(kind.bytes, total_bytes)),
            TableCell::drawn(html! { <td class="bar-cell">{ bar }</td> }),
        ],
    )
}

/// Returns the row of all types.
fn sums(types: usize, count: u64, bytes: u64) -> TableRow {
    let title = format!("All {types} types");
    TableRow::new(
        TableCell::drawn(html! { <th scope="row" colspan="3">{ title.clone() }</th> }),
        [
            TableCell::new(title, Html::default()),
            TableCell::drawn(Html::default()),
            count_cell(count),
            count_cell(bytes),
            TableCell::drawn(html! { <td colspan="2">{ format::bytes(bytes) }</td> }),
            TableCell::drawn(Html::default()),
        ],
    )
}
