//! All bands with what they come to in the range.

use std::ops::Range;

use yew::prelude::*;

use super::counted::{Most, band_name, censuses_text, no_census, spark};
use crate::dom::setter_of;
use crate::grid::{Column, Grid, GridRow, RowActivated, Rows};
use crate::panel::{PanelProps, use_answer};
use crate::rows_out::{RowsOf, RowsOut};
use crate::viewer::Goto;
use scene::format;
use session::heap::choice::HeapChoice;
use session::heap::export::BandTextQuery;
use session::heap::table::{BandColumn, BandRow, BandTable, BandTableQuery};
use views::heap::settings::HeapView;
use views::heap::words;

const COLUMNS: &[Column] = &[
    Column::text("band", "Band", 150,
        "What the log calls it, or its name. Click or press Enter to follow it through all views; again to stop").growing().narrow_px(110),
    Column::number("share", "Share", 58,
        "Of the bytes of all bands, summed over all censuses of the range"),
    Column::text("over-time", "Over time", 96,
        "What it holds from the first to the last census of the range; each band by its own maximum").unsorted(),
    Column::number("average", "Average", 76,
        "The mean over all censuses of the range; it holds 0 where it is not in one"),
    Column::number("maximum", "Maximum", 76,
        "The most that it holds in one census; a click on the number shows when"),
    Column::number("first", "First", 76,
        "What it holds in the first census of the range"),
    Column::number("last", "Last", 76,
        "What it holds in the last census of the range"),
    Column::number("gained", "Gained", 84,
        "The last census less the first one"),
    Column::number("slope", "Slope", 96,
        "Bytes per second of the straight line that fits best through the censuses in which it holds anything; – for one census, or if it never changes"),
    Column::number("fit", "R²", 44,
        "How much of what it does the line explains, 0 to 1: near 1 it grows or shrinks steadily, near 0 it goes up and down"),
    Column::number("deviation", "Deviation", 76,
        "Standard deviation: how far it usually is from its average"),
    Column::number("integral", "Integral", 92,
        "Bytes times seconds, by the trapezoid rule: what it costs to hold it for as long as it was held"),
];

/// What a click on the head of each column sorts by.
const SORTS: [Option<BandColumn>; 12] = [
    Some(BandColumn::Name),
    Some(BandColumn::Mean),
    None,
    Some(BandColumn::Mean),
    Some(BandColumn::Max),
    Some(BandColumn::First),
    Some(BandColumn::Last),
    Some(BandColumn::Gained),
    Some(BandColumn::Slope),
    Some(BandColumn::R2),
    Some(BandColumn::Deviation),
    Some(BandColumn::Integral),
];

/// The columns of info tables, where the log or the executable says more.
const INFO_COLUMNS: &[Column] = &{
    let mut columns = [COLUMNS[0]; COLUMNS.len() + 4];
    let mut place = 0;
    while place < COLUMNS.len() {
        columns[place] = COLUMNS[place];
        place += 1;
    }
    columns[place] = Column::text(
        "description",
        "Description",
        170,
        "What its closures are: functions, thunks, constructors…",
    );
    columns[place + 1] = Column::text(
        "type",
        "Type",
        150,
        "The type of the values, as the compiler writes it",
    );
    columns[place + 2] = Column::text(
        "module",
        "Module",
        150,
        "The module of the code that makes them",
    );
    columns[place + 3] = Column::text("place", "Place", 220, "Where in the source they are made");
    columns
};

/// What a click on the heads of those sorts by.
const DESCRIBED: [BandColumn; 4] = [
    BandColumn::What,
    BandColumn::Type,
    BandColumn::Module,
    BandColumn::Place,
];

/// What a click on the head of a column sorts by.
fn sort_of(column: usize) -> Option<BandColumn> {
    let described = column.checked_sub(SORTS.len());
    match described {
        Some(place) => DESCRIBED.get(place).copied(),
        None => SORTS.get(column).copied().flatten(),
    }
}

/// Rows asked for at first, until the grid says which it shows.
pub(super) const FIRST_ROWS: Range<u64> = 0..100;

/// What tables list: all bands of a choice, in an order of their own.
pub(super) fn all_bands(choice: &HeapChoice) -> HeapChoice {
    let usual = HeapChoice::default();
    HeapChoice {
        bands: usual.bands,
        order: usual.order,
        reversed: usual.reversed,
        pinned: None,
        ..choice.clone()
    }
}

/// Follows a band, or no longer.
pub(super) fn pin(view: &HeapView, on_view: &Callback<HeapView>, key: &str) {
    let mut view = view.clone();
    view.pin(key);
    on_view.emit(view);
}

/// The table.
#[component]
pub(super) fn Table(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let window = use_state_eq(|| FIRST_ROWS);
    let current = use_state_eq(|| None::<u64>);
    let query = BandTableQuery {
        choice: all_bands(&view.choice),
        range: props.range,
        sort: view.sort,
        rows: (*window).clone(),
    };
    let answer = use_answer(&props.source, query.clone());
    {
        // The row of that number is another one now.
        let current = current.setter();
        let shown = (props.range, query.choice.clone(), query.sort);
        use_effect_with(shown, move |_| current.set(None));
    }
    let rows = use_memo(
        (
            answer.clone(),
            view.choice.pinned.clone(),
            props.on_goto.clone(),
        ),
        |(answer, pinned, on_goto)| {
            let table = answer.as_ref().and_then(|table| table.as_ref().as_ref());
            table.map_or_else(Rows::default, |table| {
                grid_rows(table, pinned.as_deref(), on_goto)
            })
        },
    );
    let out = {
        let query = query.clone();
        use_memo((props.source.client.clone(), query), |(client, query)| {
            let query = query.clone();
            RowsOf::asking(client.clone(), move |rows, separated| {
                let query = BandTableQuery {
                    rows,
                    ..query.clone()
                };
                BandTextQuery { query, separated }
            })
        })
    };
    let Some(table) = answer.as_deref().and_then(Option::as_ref) else {
        return html! { <p class="empty">{ "Loading the bands…" }</p> };
    };
    if table.counted.censuses == 0 {
        return no_census(props, &table.counted);
    }
    let on_activate = {
        let answer = answer.clone();
        Callback::from(move |row: u64| {
            let table = answer.as_deref().and_then(Option::as_ref);
            if let Some(row) = table.and_then(|table| table.row(row)) {
                pin(&view, &on_view, &row.called.key);
            }
        })
    };
    let (view, on_view) = props.settings::<HeapView>();
    let columns = if table.info_tables {
        INFO_COLUMNS
    } else {
        COLUMNS
    };
    let column = (0..columns.len()).find(|&column| sort_of(column) == Some(view.sort.column));
    let sort = column.map(|column| (column, view.sort.descending));
    let on_sort = on_view.reform(move |column: usize| {
        let column = sort_of(column).unwrap_or_default();
        HeapView {
            sort: view.sort.clicked(column),
            ..view.clone()
        }
    });
    let name = if table.info_tables {
        "info-rows"
    } else {
        "band-rows"
    };
    let on_current = setter_of(&current).reform(|went: RowActivated| Some(went.row));
    html! {
        <div class="heap-table">
            <p class="tools">
                <span class="for" role="status">{ format!("{}, {}", format::many(table.total, "band"), censuses_text(props, &table.counted)) }</span>
                if let Some(row) = current.and_then(|row| table.row(row)) {
                    <span>{ format!("{}: at most ", row.called.name) }
                        <Most name={row.called.name.clone()} bytes={row.numbers.max} at={row.peak} on_goto={props.on_goto.clone()} /></span>
                }
                <RowsOut name="bands" total={table.total} rows={(*out).clone()} />
            </p>
            if table.total == 0 {
                <p class="empty">{ "No band has this in its name. Clear the filter to see all." }</p>
            } else {
                <Grid key={name} {name} label="Bands" {columns} total={table.total} {rows} sums={sums_row(table)}
                    {sort} {on_sort} on_window={setter_of(&window)} current={*current} {on_current} {on_activate} />
            }
        </div>
    }
}

fn grid_rows(table: &BandTable, pinned: Option<&str>, on_goto: &Callback<Goto>) -> Rows {
    let row = |(place, row): (usize, &BandRow)| {
        let is_pinned = pinned == Some(row.called.key.as_str());
        grid_row(row, table, table.spark(place), is_pinned, on_goto)
    };
    Rows {
        first: table.first,
        rows: table.rows.iter().enumerate().map(row).collect(),
    }
}

fn grid_row(
    row: &BandRow,
    table: &BandTable,
    heights: &[u8],
    pinned: bool,
    on_goto: &Callback<Goto>,
) -> GridRow {
    let numbers = &row.numbers;
    let line = |value: Option<f64>, say: fn(f64) -> String| -> Html {
        value.map_or_else(|| format::NOTHING.into(), |value| say(value).into())
    };
    let growth = words::growth(numbers);
    let mut cells = vec![
        band_name(&row.called, pinned),
        format::fraction(numbers.share).into(),
        spark(heights),
        words::about(numbers.mean).into(),
        html! { <Most name={row.called.name.clone()} bytes={numbers.max} at={row.peak} on_goto={on_goto.clone()} in_grid=true /> },
        size(numbers.first),
        size(numbers.last),
        words::gained(numbers.gained()).into(),
        html! { <span title={growth}>{ line(numbers.bytes_per_second, words::slope) }</span> },
        line(numbers.r2, words::fit),
        words::about(numbers.stddev).into(),
        words::integral(numbers.integral_byte_seconds).into(),
    ];
    if let Some(described) = row.described.as_ref().filter(|_| table.info_tables) {
        let place = described.place.clone();
        cells.extend([
            described.what.clone().into(),
            known(described.type_.as_ref()),
            known(described.module.as_ref()),
            html! { <span title={place.clone()}>{ known(place.as_ref()) }</span> },
        ]);
    }
    GridRow {
        cells,
        class: classes!(pinned.then_some("pinned")),
        branch: None,
    }
}

/// A text, if it is known.
fn known(text: Option<&String>) -> Html {
    text.map_or_else(|| format::NOTHING.into(), |text| text.clone().into())
}

/// A size; nothing is faint.
pub(super) fn size(bytes: u64) -> Html {
    match bytes {
        0 => html! { <span class="faint">{ "0" }</span> },
        bytes => format::bytes(bytes).into(),
    }
}

fn sums_row(table: &BandTable) -> GridRow {
    let all = &table.all;
    let nothing = || Html::from("");
    vec![
        "Total".into(),
        format::fraction(all.share).into(),
        nothing(),
        words::about(all.mean).into(),
        nothing(),
        size(all.first),
        size(all.last),
        words::gained(all.last as i64 - all.first as i64).into(),
        nothing(),
        nothing(),
        nothing(),
        words::integral(all.integral_byte_seconds).into(),
    ]
    .into()
}
