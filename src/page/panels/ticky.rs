//! Ticky counters: how often code was entered and what it allocated, in the
//! selected range or in the whole log.

mod controls;
mod details;

use std::ops::Range;

use yew::prelude::*;

use crate::copy::CopyButton;
use crate::dom::setter_of;
use crate::grid::{Column, Grid, GridRow, RowActivated, Rows};
use crate::guide::how_to_record;
use crate::panel::{PanelProps, use_answer};
use crate::shares::share_bar;
use analysis::ticky::{Definition, TickyColumn, TickyQuery, TickyRow, TickyTable};
use controls::Controls;
use details::Details;
use scene::format;
use views::view::ticky::TickyView;
use views::words::ticky::{
    HOW_TO_RECORD, RECORDING_EXPLAINED, count_errs, of_flaw, of_kind, of_letters, size_errs,
    size_sign,
};

/// A column, and what a click on its head sorts by.
const COLUMNS: [(Column, TickyColumn); 12] = [
    (
        Column::text("counter", "Counter", 170,
            "What the program, or else the compiler, calls it. sat_ is an expression without a name; a $w before a name is the worker that GHC made of it").growing().narrow_px(120),
        TickyColumn::Name,
    ),
    (
        Column::text("kind", "Kind", 90,
            "Function; thunk, which is a value that is computed when it is first needed; constructor; let-no-escape, which is a local function on the stack"),
        TickyColumn::Kind,
    ),
    (
        Column::text("module", "Module", 84,
            "Where it is defined; with the place in the source, if the program was compiled with -finfo-table-map").growing(),
        TickyColumn::Module,
    ),
    (
        Column::text("arguments", "Args", 48,
            "The kind of each argument, a letter for each: L list, I Int, i unboxed Int, M a type with several constructors, > function, + dictionary… Point at a row's letters to read them. Sorted by how many"),
        TickyColumn::Arguments,
    ),
    (
        Column::text("free", "Free", 48,
            "The kind of each free variable, which its closures hold, a letter for each; – if the log does not tell (before GHC 9.4). Sorted by how many"),
        TickyColumn::FreeVariables,
    ),
    (
        Column::number("entries", "Entries", 112,
            "How often its code was entered: calls of a function, evaluations of a thunk"),
        TickyColumn::Entries,
    ),
    (
        Column::number("allocs", "Allocated by it", 118,
            "Bytes that its code allocated, whatever they were for (Allocs)"),
        TickyColumn::Allocs,
    ),
    (
        Column::text("share", "Share", 112,
            "Which part of all bytes that the program allocated in this time its code allocated. Code without a counter, such as that of libraries, has the rest"),
        TickyColumn::Allocs,
    ),
    (
        Column::number("per-entry", "Per entry", 82,
            "Bytes that its code allocated in each entry; – if it was not entered"),
        TickyColumn::AllocsPerEntry,
    ),
    (
        Column::number("allocd", "Closures of it", 118,
            "Bytes of its own closures, whoever allocated them (Allocd, -ticky-allocd); – if the log has no such counts"),
        TickyColumn::Allocd,
    ),
    (
        Column::number("closures", "How many", 112,
            "How many closures that is: their bytes by the size of one, a header and its free variables (Allocd #). ≤ for constructors, as the log does not tell their fields; – if the size is not known"),
        TickyColumn::AllocdCount,
    ),
    (
        Column::number("entries-each", "Entries each", 100,
            "How often each of its closures was entered. 0 of a thunk: it was allocated in vain; 1: it was needed; many of a function: worth its closure"),
        TickyColumn::EntriesPerAllocd,
    ),
];

static GRID_COLUMNS: [Column; COLUMNS.len()] = {
    let mut columns = [COLUMNS[0].0; COLUMNS.len()];
    let mut i = 0;
    while i < COLUMNS.len() {
        columns[i] = COLUMNS[i].0;
        i += 1;
    }
    columns
};

/// Rows asked for at first, until the grid says which it shows.
const FIRST_ROWS: Range<u64> = 0..100;

/// The panel.
#[component]
pub(super) fn Ticky(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<TickyView>();
    let window = use_state(|| FIRST_ROWS);
    let current = use_state(|| None::<u64>);
    let chosen = use_state_eq(|| None::<u64>);
    let query = TickyQuery {
        range: props.range,
        only: None,
        filter: view.filter.trim().to_owned(),
        sort: view.sort,
        descending: view.descending,
        rows: (*window).clone(),
    };
    let answer = use_answer(&props.source, query.clone());
    {
        // The row of that number is another one now.
        let current = current.setter();
        use_effect_with((props.range, view.clone()), move |_| current.set(None));
    }
    let rows = use_memo(answer.clone(), |answer| {
        answer.as_deref().map_or_else(Rows::default, grid_rows)
    });
    let Some(table) = answer.as_deref() else {
        return html! { <p class="empty">{ "Loading the ticky counters…" }</p> };
    };
    if table.counters == 0 {
        return nothing(props.source.complete);
    }
    let on_window = setter_of(&window);
    let on_current = {
        let (current, chosen, answer) = (current.setter(), chosen.setter(), answer.clone());
        Callback::from(move |went: RowActivated| {
            current.set(Some(went.row));
            let row = answer.as_ref().and_then(|table| table.row(went.row));
            if let Some(row) = row {
                chosen.set(Some(row.id));
            }
        })
    };
    let on_sort = {
        let view = view.clone();
        on_view.reform(move |column: usize| {
            let sort = COLUMNS.get(column).map(|(_, sort)| *sort);
            view.sorted_again(sort.unwrap_or_default())
        })
    };
    let sort = COLUMNS.iter().position(|(_, sort)| *sort == view.sort);
    html! {
        <div class="ticky">
            <Controls view={view.clone()} on_view={on_view.clone()} range={props.range} {query}
                table={answer.clone()} complete={props.source.complete} client={props.source.client.clone()} />
            if let Some(flaw) = table.flaw() {
                <p class="strip note" role="note">{ of_flaw(flaw) }</p>
            }
            <div class="ticky-body">
                if table.total == 0 {
                    <p class="empty">{ why_empty(table, props.range.is_some(), &view) }</p>
                } else {
                    <Grid name="ticky-rows" label="Ticky counters" columns={&GRID_COLUMNS[..]} total={table.total} {rows}
                        sums={sums_row(table)} sort={sort.map(|column| (column, view.descending))} {on_sort}
                        {on_window} current={*current} {on_current} />
                }
                if let Some(id) = *chosen {
                    <Details {id} source={props.source.clone()} range={props.range} on_choose={setter_of(&chosen)}
                        {view} {on_view} />
                }
            </div>
        </div>
    }
}

/// How a log with counters is made.
fn nothing(complete: bool) -> Html {
    if !complete {
        return html! { <p class="empty">{ "This log has no ticky counters so far. Their names come at the end of a log." }</p> };
    }
    let line = |command: &'static str| {
        let text = Callback::from(move |()| Some(command.to_owned()));
        html! { <p class="command"><code>{ command }</code>{ " " }<CopyButton {text} what="the command" /></p> }
    };
    html! {
        <div class="empty ticky-how">
            <p>{ "This log has no ticky counters. They tell of each function, thunk and constructor how often it was entered and what it allocated. To count, compile and run the program like this:" }</p>
            { for HOW_TO_RECORD.into_iter().map(line) }
            <p>{ RECORDING_EXPLAINED }</p>
            { how_to_record("record-ticky") }
        </div>
    }
}

fn why_empty(table: &TickyTable, in_range: bool, view: &TickyView) -> &'static str {
    match (view.filter.trim().is_empty(), in_range) {
        (false, _) => "No counter is like this. Clear the filter to see all.",
        (true, true) if table.samples_in_log == 0 || table.samples > 0 => {
            "Nothing was counted in the selected range: drop it (Esc) to see the whole log."
        }
        (true, true) => {
            "The counters were not written in the selected range. The runtime does that at a collection, every 0.1 s at most (-i): select a longer range, or drop it (Esc) to see the whole log."
        }
        (true, false) => "Nothing was counted.",
    }
}

fn grid_rows(table: &TickyTable) -> Rows {
    let row = |row: &TickyRow| grid_row(table, row);
    Rows {
        first: table.first,
        rows: table.rows.iter().map(row).collect(),
    }
}

fn grid_row(table: &TickyTable, row: &TickyRow) -> GridRow {
    let definition = row.definition.as_ref();
    let whole = definition.map_or_else(|| row.short_name(), |it| it.name.clone());
    let name = html! {
        <span title={whole}>
            { row.short_name() }
            if let Some(outer) = row.stands_in() {
                <span class="faint">{ format!(" in {outer}") }</span>
            }
        </span>
    };
    let kind = definition.and_then(Definition::kind);
    let letters = |letters: Option<&str>| match letters {
        None => or_dash(None),
        Some("") => html! { <span class="faint">{ "none" }</span> },
        Some(letters) => {
            html! { <code title={of_letters(letters)}>{ letters.to_owned() }</code> }
        }
    };
    let head = [
        name,
        or_dash(kind.map(|kind| of_kind(kind).to_owned())),
        module(row),
        letters(definition.map(|it| it.arguments.as_str())),
        letters(definition.and_then(Definition::free_variables)),
    ];
    [&head[..], &numbers(table, row)].concat().into()
}

/// The module and, if it is known, the place in the source.
fn module(row: &TickyRow) -> Html {
    let Some(module) = row.module() else {
        return or_dash(None);
    };
    let place = row.info.as_ref().map(|info| info.place.clone());
    let place = place.filter(|place| !place.is_empty());
    html! {
        <span title={place.clone()}>
            { module.to_owned() }
            if let Some(place) = place {
                <span class="faint">{ format!(" {place}") }</span>
            }
        </span>
    }
}

fn sums_row(table: &TickyTable) -> GridRow {
    let all = TickyRow {
        counts: table.all,
        ..TickyRow::default()
    };
    let head = ["Total", "", "", "", ""].map(Html::from);
    [&head[..], &numbers(table, &all)].concat().into()
}

/// The cells of the numbers.
fn numbers(table: &TickyTable, row: &TickyRow) -> [Html; 7] {
    let counts = row.counts;
    let errs = count_errs(row);
    let how_many = |count: u64| {
        let text = format!("{}{}", size_sign(errs), format::count(count));
        html! { <span title={errs.map(size_errs)}>{ text }</span> }
    };
    let allocd = Some(counts.allocd_bytes).filter(|_| table.has_allocd);
    let closures = row.allocd_count().filter(|_| table.has_allocd);
    [
        cell(Some(counts.entries), |entries| {
            format::count(entries).into()
        }),
        cell(Some(counts.allocs_bytes), size),
        share(table, counts.allocs_bytes),
        cell(row.allocs_per_entry(), |bytes| ratio(bytes, " B").into()),
        cell(allocd, size),
        cell(closures, how_many),
        cell(row.entries_per_allocd(), |each| ratio(each, "").into()),
    ]
}

/// A number: faint if it says little, a dash if there is none.
fn cell<T: PartialEq + Default>(number: Option<T>, show: impl Fn(T) -> Html) -> Html {
    match number {
        None => or_dash(None),
        Some(zero) if zero == T::default() => html! { <span class="faint">{ "0" }</span> },
        Some(number) => show(number),
    }
}

fn or_dash(text: Option<String>) -> Html {
    match text {
        Some(text) => text.into(),
        None => html! { <span class="faint">{ format::NOTHING }</span> },
    }
}

fn size(bytes: u64) -> Html {
    let exact = format!("{} bytes", format::count(bytes));
    html! { <span title={exact}>{ format::bytes(bytes) }</span> }
}

/// `127.81 B`: with decimals while they say something.
fn ratio(ratio: f64, unit: &str) -> String {
    if ratio < 1000.0 && ratio.fract() != 0.0 {
        format!("{ratio:.2}{unit}")
    } else {
        format!("{}{unit}", format::count(ratio.round() as u64))
    }
}

/// The part of all that was allocated, as a bar and a number.
fn share(table: &TickyTable, bytes: u64) -> Html {
    let Some(whole) = table.whole_bytes() else {
        return or_dash(None);
    };
    let percent = |bytes| format::percent(bytes, whole).into();
    html! {
        <span class="bar-cell">
            { share_bar(whole, [("running", bytes.min(whole))]) }
            <span>{ cell(Some(bytes), percent) }</span>
        </span>
    }
}
