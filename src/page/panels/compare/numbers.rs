//! Table of numbers before and after.

use std::rc::Rc;

use yew::prelude::*;

use super::{SwitchLog, navigation};
use crate::export_rows::{ExportButtons, RowSource};
use crate::field::Field;
use crate::grid::{
    Column, Grid, GridRow, Rows, SortableColumns, current_callback, sortable_columns,
};
use crate::panel::edited;
use insight::compare::{Comparison, Difference, Trend};
use scene::format;
use session::alignment::Role;
use views::comparison::{after_value, amount, before_value, change, ratio, verdict, visible_rows};
use views::view::compare::{CompareColumn, CompareView};

const COLUMNS: SortableColumns<CompareColumn> = sortable_columns! {
    Column::text("number", "Number", 150,
        "Metric name in eventscope assert and eventscope metrics; threads, spans, cost centres and heap bands have their own names").growing().narrow_px(90) => Some(CompareColumn::Name),
    Column::text("about", "About", 110, "Subject of the number").wide_only().unsorted() => None,
    Column::number("before", "Before", 84,
        "Value in the log before; – if it has none").narrow_px(64) => Some(CompareColumn::Before),
    Column::number("after", "After", 84,
        "Value in the log after; – if it has none").narrow_px(64) => Some(CompareColumn::After),
    Column::number("change", "Change", 88,
        "Difference: more (+) or less (−)").wide_only() => Some(CompareColumn::Change),
    Column::number("relative", "Relative", 70,
        "Difference in percent, or as a factor").wide_only() => Some(CompareColumn::Ratio),
    Column::text("words", "In words", 132,
        "Better or worse. Not for times: one run on each side proves nothing about them").narrow_px(104).unsorted() => None,
};

#[derive(Properties, PartialEq)]
pub(super) struct NumbersProps {
    pub(super) comparison: Rc<Comparison>,
    pub(super) view: CompareView,
    pub(super) on_view: Callback<CompareView>,
    pub(super) on_switch_log: SwitchLog,
}

/// Renders the table with its controls, and links to the sources of the current row.
#[component]
pub(super) fn Numbers(props: &NumbersProps) -> Html {
    let NumbersProps {
        comparison,
        view,
        on_view,
        on_switch_log,
    } = props;
    let current = use_state_eq(|| None::<u64>);
    let places = use_memo(
        (Rc::clone(comparison), view.clone()),
        |(comparison, view)| visible_rows(comparison, view),
    );
    let rows = use_memo(
        (Rc::clone(comparison), Rc::clone(&places)),
        |(all, places)| {
            let rows = places.iter().filter_map(|&place| all.rows.get(place));
            Rows {
                first: 0,
                rows: rows.map(grid_row).collect(),
            }
        },
    );
    let row_at = {
        let (comparison, places) = (Rc::clone(comparison), Rc::clone(&places));
        move |row: u64| {
            let place = usize::try_from(row)
                .ok()
                .and_then(|row| places.get(row).copied());
            place.and_then(|place| comparison.rows.get(place).cloned())
        }
    };
    let sort = view
        .sort
        .and_then(|(column, descending)| Some((COLUMNS.index_of(column)?, descending)));
    let on_sort = {
        let (view, on_view) = (view.clone(), on_view.clone());
        Callback::from(move |place: usize| {
            if let Some(column) = COLUMNS.key(place) {
                on_view.emit(view.sorted_again(column));
            }
        })
    };
    let chosen = current.and_then(row_at);
    html! {
        <div class="compare-numbers">
            { tools(props, &places) }
            if places.is_empty() {
                <p class="empty">{ empty_reason(view, comparison.rows.len()) }</p>
            } else {
                <Grid name="compare-rows" label="Numbers before and after" columns={COLUMNS.columns} total={places.len() as u64}
                    rows={Rc::clone(&rows)} {sort} {on_sort} on_window={Callback::noop()} current={*current}
                    on_current={current_callback(&current)} />
            }
            if let Some(row) = chosen { { places_of(&row, on_switch_log) } }
        </div>
    }
}

/// Returns the reason for an empty table.
fn empty_reason(view: &CompareView, all: usize) -> String {
    if view.filter.is_empty() {
        format!(
            "No differences: all {} are equal in both logs.",
            format::pluralize(all as u64, "number")
        )
    } else {
        "No matching number differs. The filter searches names and subjects.".to_owned()
    }
}

/// Renders the filter, the choice of rows, and the export buttons.
fn tools(props: &NumbersProps, places: &Rc<Vec<usize>>) -> Html {
    let NumbersProps {
        comparison,
        view,
        on_view,
        ..
    } = props;
    let on_filter = edited(view, on_view, |view, text| view.filter = text);
    let on_whole = edited(view, on_view, |view, _: Event| {
        view.is_whole = !view.is_whole;
    });
    let rows = {
        let (comparison, places) = (Rc::clone(comparison), Rc::clone(places));
        use_rows(comparison, places)
    };
    let differ = comparison
        .rows
        .iter()
        .filter(|row| views::comparison::differs(row))
        .count();
    html! {
        <p class="tools">
            <Field kind="search" placeholder="Filter numbers" label="Filter the numbers by name" value={view.filter.clone()} on_input={on_filter} />
            <label><input type="checkbox" checked={view.is_whole} onchange={on_whole} />{ "unchanged numbers too" }</label>
            <span class="faint">{ format!("{} of {} differ", format::count(differ as u64), format::count(comparison.rows.len() as u64)) }
                { if view.sort.is_none() { ", the most important first" } else { "" } }</span>
            <ExportButtons name="comparison" total={places.len() as u64} {rows} />
        </p>
    }
}

/// Creates the export of the rows in their displayed order.
fn use_rows(comparison: Rc<Comparison>, places: Rc<Vec<usize>>) -> RowSource {
    RowSource::local(move |part, how| {
        let (from, to) = (part.start as usize, part.end as usize);
        let some = places.get(from..to.min(places.len())).unwrap_or_default();
        let rows = some.iter().filter_map(|&place| comparison.rows.get(place));
        views::comparison::COLUMNS.text(rows, how, from == 0)
    })
}

fn grid_row(row: &Difference) -> GridRow {
    let value =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |it| amount(row.unit, it));
    let class = match row.trend {
        Trend::Better => "better",
        Trend::Worse => "worse",
        Trend::Neutral => "",
    };
    let name = row.name();
    vec![
        html! { <span title={name.clone()}>{ name.clone() }</span> },
        row.key.group.title().into(),
        value(before_value(row)).into(),
        value(after_value(row)).into(),
        html! { <span class={class}>{ change(row) }</span> },
        html! { <span class={class}>{ ratio(row) }</span> },
        html! { <span class={class}>{ verdict(row) }</span> },
    ]
    .into()
}

/// Renders links to the source of a number in each log.
fn places_of(row: &Difference, on_switch_log: &SwitchLog) -> Html {
    let button = |role: Role, value: Option<f64>| {
        let (on_switch_log, key) = (on_switch_log.clone(), row.key.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            on_switch_log.emit((role, navigation::to_number(&key)));
        });
        value.map(|value| {
            html! { <button class="small" {onclick}>{ format!("See {} {}", amount(row.unit, value), role.name()) }</button> }
        })
    };
    html! {
        <p class="tools compare-places" role="status">
            <strong>{ row.name() }</strong>
            { button(Role::Before, before_value(row)) }
            { button(Role::After, after_value(row)) }
        </p>
    }
}
