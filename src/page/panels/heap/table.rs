//! The table tab: statistics of all bands in the range.

use std::rc::Rc;

use yew::prelude::*;

use super::counted::{band_name, censuses_text, maximum_link, no_census, spark};
use crate::dom::state_callback;
use crate::export_rows::{ExportButtons, use_table_rows};
use crate::grid::{
    Column, Grid, GridRow, Item, LoadedItems, Rows, SortableColumns, sortable_columns, use_current,
    use_rows,
};
use crate::panel::{PanelProps, edited, faint_zero, use_answered};
use crate::viewer::NavigationTarget;
use scene::format;
use session::heap::choice::HeapChoice;
use session::heap::table::{BandColumn, BandRow, BandTable, BandTableQuery};
use views::heap::settings::HeapView;
use views::heap::words;

/// Columns for profiles by info table, with the details that the log or the executable has.
const INFO_COLUMNS: SortableColumns<BandColumn> = sortable_columns! {
    Column::text("band", "Band", 150,
        "Label in the log, or name. Click or press Enter to highlight it in all views; again to stop").growing().narrow_px(110) => Some(BandColumn::Name),
    Column::number("share", "Share", 58,
        "Share of the bytes of all bands, summed over all censuses of the range") => Some(BandColumn::Mean),
    Column::text("over-time", "Over time", 96,
        "Bytes from the first to the last census of the range; each band scaled to its own maximum").unsorted() => None,
    Column::number("average", "Average", 76,
        "Mean over all censuses of the range; 0 in a census without it") => Some(BandColumn::Mean),
    Column::number("maximum", "Maximum", 76,
        "Maximum in one census; click the number to show the census") => Some(BandColumn::Max),
    Column::number("first", "First", 76, "Bytes in the first census of the range") => Some(BandColumn::First),
    Column::number("last", "Last", 76, "Bytes in the last census of the range") => Some(BandColumn::Last),
    Column::number("gained", "Gained", 84, "Last census minus first census") => Some(BandColumn::Gained),
    Column::number("slope", "Slope", 96,
        "Slope, in bytes per second, of the least-squares line through the censuses in which it has bytes; – for one census, or if it never changes") => Some(BandColumn::Slope),
    Column::number("fit", "R²", 44,
        "R²: part of the variation that the line explains, 0 to 1. Near 1: steady growth or shrinkage; near 0: ups and downs") => Some(BandColumn::R2),
    Column::number("deviation", "Deviation", 76,
        "Standard deviation: usual distance from the mean") => Some(BandColumn::Deviation),
    Column::number("integral", "Integral", 92,
        "Bytes times seconds, by the trapezoid rule: size and lifetime in one number") => Some(BandColumn::Integral),
    Column::text("description", "Description", 170,
        "Kind of its closures: functions, thunks, constructors…") => Some(BandColumn::What),
    Column::text("type", "Type", 150,
        "Type of the values, as the compiler prints it") => Some(BandColumn::Type),
    Column::text("module", "Module", 150,
        "Module of the code that allocates them") => Some(BandColumn::Module),
    Column::text("place", "Place", 220, "Source location that allocates them") => Some(BandColumn::Place),
};

/// Columns for all other profiles, which do not describe their bands.
const COLUMNS: SortableColumns<BandColumn> = INFO_COLUMNS.first(12);

/// Returns a choice for tables: the same bands, without the limit, order and pin of the chart.
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

#[component]
pub(super) fn Table(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let choice = all_bands(&view.choice);
    let (window, current) = use_rows((props.range, choice.clone(), view.sort));
    let query = BandTableQuery {
        choice,
        range: props.range,
        sort: view.sort,
        rows: (*window).clone(),
    };
    let answered = use_answered(&props.source, Some(query.clone()));
    let answer = answered.as_ref().map(|it| Rc::clone(&it.answer));
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
    let out = use_table_rows(&props.source.client, query);
    let loaded = answer.as_deref().and_then(Option::as_ref);
    let loaded = loaded.map_or_else(LoadedItems::none, |table| {
        let keys = table
            .rows
            .iter()
            .map(|row| Item::Band(row.band_label.key.clone()));
        LoadedItems::new(table.first, keys)
    });
    let current = use_current(&current, loaded);
    let Some((extent, table)) = answered
        .as_ref()
        .and_then(|it| Some((it.extent, it.answer.as_ref().as_ref()?)))
    else {
        return html! { <p class="empty">{ "Loading the bands…" }</p> };
    };
    if table.census_range.censuses == 0 {
        return no_census(props, &table.census_range);
    }
    let on_activate = {
        let on_pin = edited(&view, &on_view, |view, key: String| view.pin(&key));
        let answer = answer.clone();
        Callback::from(move |row: u64| {
            let table = answer.as_deref().and_then(Option::as_ref);
            if let Some(row) = table.and_then(|table| table.row(row)) {
                on_pin.emit(row.band_label.key.clone());
            }
        })
    };
    let columns = if table.info_tables {
        INFO_COLUMNS
    } else {
        COLUMNS
    };
    let column = columns.index_of(view.sort.column);
    let sort = column.map(|column| (column, view.sort.descending));
    let on_sort = edited(&view, &on_view, move |view, column: usize| {
        view.sort = view.sort.clicked(columns.key(column).unwrap_or_default());
    });
    let name = if table.info_tables {
        "info-rows"
    } else {
        "band-rows"
    };
    html! {
        <div class="heap-table">
            <p class="tools">
                <span class="for" role="status">{ format!("{}, {}", format::pluralize(table.total, "band"), censuses_text(extent, &table.census_range)) }</span>
                if let Some(row) = current.row.and_then(|row| table.row(row)) {
                    <span>{ format!("{}: at most ", row.band_label.name) }
                        { maximum_link(&row.band_label.name, (row.numbers.max, row.peak), &props.on_goto, false) }</span>
                }
                <ExportButtons name="bands" total={table.total} rows={out} />
            </p>
            if table.total == 0 {
                <p class="empty">{ "No matching band. Clear the filter to see all." }</p>
            } else {
                <Grid key={name} {name} label="Bands" columns={columns.columns} total={table.total} {rows} sums={sums_row(table)}
                    {sort} {on_sort} on_window={state_callback(&window)} current={current.row} on_current={current.on_current.clone()} {on_activate} />
            }
        </div>
    }
}

fn grid_rows(
    table: &BandTable,
    pinned: Option<&str>,
    on_goto: &Callback<NavigationTarget>,
) -> Rows {
    let row = |(place, row): (usize, &BandRow)| {
        let is_pinned = pinned == Some(row.band_label.key.as_str());
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
    on_goto: &Callback<NavigationTarget>,
) -> GridRow {
    let numbers = &row.numbers;
    let line = |value: Option<f64>, say: fn(f64) -> String| -> Html {
        value.map_or_else(|| format::NO_VALUE.into(), |value| say(value).into())
    };
    let growth = words::growth(numbers);
    let mut cells = vec![
        band_name(&row.band_label, pinned),
        format::fraction(numbers.share).into(),
        spark(heights),
        words::about(numbers.mean).into(),
        maximum_link(&row.band_label.name, (numbers.max, row.peak), on_goto, true),
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
            text_or_dash(described.type_.as_ref()),
            text_or_dash(described.module.as_ref()),
            html! { <span title={place.clone()}>{ text_or_dash(place.as_ref()) }</span> },
        ]);
    }
    GridRow::from(cells).with_class(pinned.then_some("pinned"))
}

/// Renders a text, or a dash if it is unknown.
fn text_or_dash(text: Option<&String>) -> Html {
    text.map_or_else(|| format::NO_VALUE.into(), |text| text.clone().into())
}

pub(super) fn size(bytes: u64) -> Html {
    faint_zero(bytes, format::bytes)
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
