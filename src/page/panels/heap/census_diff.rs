//! The census tab: a single census, or the difference between two.

use std::fmt::Write as _;

use web_sys::Element;
use yew::prelude::*;

use super::counted::{band_name, no_census};
use super::table::{all_bands, size};
use crate::dom::state_callback;
use crate::export_rows::{ExportButtons, RowSource, use_table_rows};
use crate::field::Field;
use crate::grid::{
    Column, Grid, GridRow, Item, LoadedItems, Rows, SortableColumns, sortable_columns, use_current,
    use_rows,
};
use crate::panel::{PanelProps, edited, use_answer};
use scene::format;
use session::heap::census_diff::{
    CensusDiff as Answer, CensusDiffChoice, CensusDiffColumn, CensusDiffQuery, CensusDiffRow,
};
use session::heap::census_range::CensusInfo;
use views::heap::settings::HeapView;
use views::heap::words;

const COLUMNS: SortableColumns<CensusDiffColumn> = sortable_columns! {
    Column::text("band", "Band", 140,
        "Label in the log, or name. Click or press Enter to highlight it in all views; again to stop").growing().narrow_px(110) => Some(CensusDiffColumn::Name),
    Column::number("before", "Before", 80, "Bytes in the earlier census") => Some(CensusDiffColumn::Before),
    Column::number("after", "After", 80, "Bytes in the later census") => Some(CensusDiffColumn::After),
    Column::number("difference", "Difference", 90,
        "Bytes gained from one census to the other; click this heading again to list the greatest losses first") => Some(CensusDiffColumn::Difference),
    Column::text("bar", "Grew or shrank", 110,
        "The difference as a bar: to the right it grew, to the left it shrank").growing().unsorted() => None,
    Column::number("share", "Share", 60, "Share of all bytes in the later census").unsorted() => None,
};

const ALONE_COLUMNS: SortableColumns<CensusDiffColumn> = sortable_columns! {
    COLUMNS.columns[0] => Some(CensusDiffColumn::Name),
    Column::number("bytes", "Bytes", 84, "Bytes in this census") => Some(CensusDiffColumn::After),
    Column::text("size", "Size", 110,
        "Its bytes as a bar; the longest is the largest band").growing().unsorted() => None,
    Column::number("share", "Share", 60, "Share of all bytes in this census").unsorted() => None,
};

/// Number of points in the overview of all censuses.
const POINTS: u32 = 600;

#[component]
pub(super) fn CensusDiff(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let choice = all_bands(&view.choice);
    let (window, current) = use_rows((props.range, choice.clone(), view.moments));
    let query = CensusDiffQuery {
        choice,
        range: props.range,
        moments: view.moments,
        points: POINTS,
        rows: (*window).clone(),
    };
    let answer = use_answer(&props.source, query.clone());
    let (alone, pinned) = (view.moments.alone, view.choice.pinned.clone());
    let rows = use_memo(
        (answer.clone(), pinned, alone),
        |(answer, pinned, alone)| {
            let found = answer.as_ref().and_then(|found| found.as_ref().as_ref());
            found.map_or_else(Rows::default, |found| {
                grid_rows(found, pinned.as_deref(), *alone)
            })
        },
    );
    let out = use_table_rows(&props.source.client, query);
    let loaded = answer.as_deref().and_then(Option::as_ref);
    let loaded = loaded.map_or_else(LoadedItems::none, |found| {
        let keys = found
            .rows
            .iter()
            .map(|row| Item::Band(row.band_label.key.clone()));
        LoadedItems::new(found.first, keys)
    });
    let current = use_current(&current, loaded);
    let Some(found) = answer.as_deref().and_then(Option::as_ref) else {
        return html! { <p class="empty">{ "Loading the censuses…" }</p> };
    };
    let moments = view.moments;
    let is_chosen = moments.after.is_some() && (alone || moments.before.is_some());
    if found.census_range.censuses == 0 && !is_chosen {
        return no_census(props, &found.census_range);
    }
    let on_moments = edited(&view, &on_view, |view, moments| view.moments = moments);
    let columns = if alone { ALONE_COLUMNS } else { COLUMNS };
    // For a single census, the size takes the place of the difference.
    let by = match moments.column {
        CensusDiffColumn::Name => CensusDiffColumn::Name,
        _ if alone => CensusDiffColumn::After,
        column => column,
    };
    let sort = columns
        .index_of(by)
        .map(|column| (column, moments.descending));
    let on_sort = on_moments.reform(move |column: usize| {
        let column = columns.key(column).unwrap_or_default();
        CensusDiffChoice {
            column: by,
            ..moments
        }
        .clicked(column)
    });
    let on_activate = {
        let on_pin = edited(&view, &on_view, |view, key: String| view.pin(&key));
        let answer = answer.clone();
        Callback::from(move |row: u64| {
            let found = answer.as_deref().and_then(Option::as_ref);
            if let Some(row) = found.and_then(|found| found.row(row)) {
                on_pin.emit(row.band_label.key.clone());
            }
        })
    };
    let name = if alone { "census-rows" } else { "moment-rows" };
    html! {
        <div class="heap-moments">
            { controls(moments, found, &on_moments, out) }
            { picture(moments, found, &on_moments) }
            if found.total == 0 {
                <p class="empty">{ "No matching band in this census. Clear the filter to see all." }</p>
            } else {
                <Grid key={name} {name} label="Bands" columns={columns.columns} total={found.total} {rows} sums={sums_row(found, alone)}
                    {sort} {on_sort} on_window={state_callback(&window)} current={current.row} on_current={current.on_current.clone()} {on_activate} />
            }
        </div>
    }
}

/// Renders the choice of censuses, their difference, and the export buttons.
fn controls(
    moments: CensusDiffChoice,
    found: &Answer,
    on_moments: &Callback<CensusDiffChoice>,
    rows: RowSource,
) -> Html {
    let on_alone = edited(&moments, on_moments, |it, _: Event| it.alone = !it.alone);
    let on_before = edited(&moments, on_moments, |it, census| it.before = Some(census));
    let on_after = edited(&moments, on_moments, |it, census| it.after = Some(census));
    let on_ends = edited(&moments, on_moments, |it, _: MouseEvent| {
        (it.before, it.after) = (None, None);
    });
    let (before, after) = found.all;
    let said = match moments.alone {
        true => format!(
            "{} in {}",
            format::bytes(after),
            format::pluralize(found.total, "band")
        ),
        false => format!(
            "{} → {}: {}",
            format::bytes(before),
            format::bytes(after),
            words::gained(after as i64 - before as i64)
        ),
    };
    let chosen = moments.before.is_some() || moments.after.is_some();
    html! {
        <div class="controls">
            <label class="check"><input type="checkbox" checked={moments.alone} onchange={on_alone} />{ " One census" }</label>
            if !moments.alone {
                { stepper("Before", found.before, found.census_range.of, &on_before) }
            }
            { stepper(if moments.alone { "Census" } else { "After" }, found.after, found.census_range.of, &on_after) }
            if chosen {
                <button class="small" onclick={on_ends} title="Reset to the first and last census of the selected range, or of the log">{ "Reset to the range" }</button>
            }
            <span class="for" role="status">{ said }</span>
            <ExportButtons name="moments" total={found.total} {rows} />
        </div>
    }
}

/// Renders the input for the number of one of the `of` censuses, with buttons for the previous and next one.
fn stepper(title: &str, moment: CensusInfo, of: u32, on_census: &Callback<u32>) -> Html {
    let (census, last) = (moment.census, of.saturating_sub(1));
    let step = |to: Option<u32>, sign: &'static str, what: &'static str| {
        let to = to.filter(|to| *to <= last);
        let onclick = on_census.reform(move |_: MouseEvent| to.unwrap_or(census));
        let label = format!("{title}: {what}");
        html! { <button class="small" {onclick} disabled={to.is_none()} aria-label={label} title={what}>{ sign }</button> }
    };
    let on_change = {
        let on_census = on_census.clone();
        Callback::from(move |typed: String| {
            if let Ok(number) = typed.parse::<u32>() {
                on_census.emit(number.saturating_sub(1).min(last));
            }
        })
    };
    let time = moment
        .time
        .map_or_else(String::new, |time| format!(" at {}", format::time(time)));
    html! {
        <span class="stepper">
            { step(census.checked_sub(1), "‹", "previous census") }
            <label>{ format!("{title} ") }
                <Field kind="number" numbers={(1, of)} value={(u64::from(census) + 1).to_string()} {on_change}
                    title="Number of the census; arrow keys move to the next and the previous one" />
            </label>
            { step(census.checked_add(1), "›", "next census") }
            <span class="faint">{ format!("of {}{time}", format::count(of.into())) }</span>
        </span>
    }
}

/// Renders the total bytes of all censuses; a click moves the nearer one of the two chosen.
fn picture(
    moments: CensusDiffChoice,
    found: &Answer,
    on_moments: &Callback<CensusDiffChoice>,
) -> Html {
    let (points, of) = (found.totals.len(), found.census_range.of.max(1));
    let most = found.totals.iter().copied().fold(1.0, f64::max);
    let mut path = String::from("M0 100");
    for (x, bytes) in found.totals.iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = write!(path, "V{:.1}H{}", 100.0 - bytes / most * 96.0, x + 1);
    }
    path.push_str("V100Z");
    let (before, after) = (found.before.census, found.after.census);
    let line = |census: u32, class: &'static str| {
        let x = (f64::from(census) + 0.5) / f64::from(of) * points as f64;
        html! { <line {class} x1={format!("{x:.2}")} x2={format!("{x:.2}")} y1="0" y2="100" /> }
    };
    let onclick = on_moments.reform(move |event: MouseEvent| {
        let element: Option<Element> = event
            .current_target()
            .and_then(|it| wasm_bindgen::JsCast::dyn_into(it).ok());
        let share = element.map_or(0.0, |element| {
            let place = element.get_bounding_client_rect();
            (f64::from(event.client_x()) - place.left()) / place.width().max(1.0)
        });
        let census = ((share * f64::from(of)) as u32).min(of - 1);
        match !moments.alone && census.abs_diff(before) < census.abs_diff(after) {
            true => CensusDiffChoice {
                before: Some(census),
                ..moments
            },
            false => CensusDiffChoice {
                after: Some(census),
                ..moments
            },
        }
    });
    let label = match moments.alone {
        true => format!(
            "The bytes of all censuses; marked: {}",
            words::census(&found.after)
        ),
        false => format!(
            "The bytes of all censuses; marked: {} and {}",
            words::census(&found.before),
            words::census(&found.after)
        ),
    };
    html! {
        <svg class="census-strip" viewBox={format!("0 0 {} 100", points.max(1))} preserveAspectRatio="none"
            role="img" aria-label={label} {onclick}>
            <title>{ "The bytes of all censuses. A click chooses the nearest one" }</title>
            <path d={path} />
            if !moments.alone {
                { line(before, "before") }
            }
            { line(after, "after") }
        </svg>
    }
}

fn grid_rows(found: &Answer, pinned: Option<&str>, alone: bool) -> Rows {
    let row = |row: &CensusDiffRow| {
        let is_pinned = pinned == Some(row.band_label.key.as_str());
        let name = band_name(&row.band_label, is_pinned);
        let share = format::percent(row.after, found.after.bytes).into();
        let bar = bar(row, found.longest, alone);
        let cells = match alone {
            true => vec![name, size(row.after), bar, share],
            false => {
                let difference = words::gained(row.difference()).into();
                vec![
                    name,
                    size(row.before),
                    size(row.after),
                    difference,
                    bar,
                    share,
                ]
            }
        };
        GridRow::from(cells).with_class(is_pinned.then_some("pinned"))
    };
    Rows {
        first: found.first,
        rows: found.rows.iter().map(row).collect(),
    }
}

fn sums_row(found: &Answer, alone: bool) -> GridRow {
    let (before, after) = found.all;
    let share = format::percent(after, found.after.bytes).into();
    let name = Html::from("Total");
    match alone {
        true => vec![name, size(after), "".into(), share],
        false => {
            let difference = words::gained(after as i64 - before as i64).into();
            vec![
                name,
                size(before),
                size(after),
                difference,
                "".into(),
                share,
            ]
        }
    }
    .into()
}

/// Renders the difference as a bar from the middle, growth to the right; for a single census, from the left.
fn bar(row: &CensusDiffRow, longest: u64, alone: bool) -> Html {
    let room = if alone { 100.0 } else { 50.0 };
    let length = row.after.abs_diff(row.before) as f64 / longest.max(1) as f64 * room;
    let (class, x) = match (alone, row.difference() < 0) {
        (true, _) => ("size", 0.0),
        (false, true) => ("shrank", 50.0 - length),
        (false, false) => ("grew", 50.0),
    };
    html! {
        <svg class="difference" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect {class} x={format!("{x:.2}")} y="0" width={format!("{length:.2}")} height="8" />
            if !alone {
                <line x1="50" x2="50" y1="0" y2="8" />
            }
        </svg>
    }
}
