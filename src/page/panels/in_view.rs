//! The panel of items in view: the visible part of the timeline as a table, an accessible alternative to the picture.

use std::rc::Rc;

use yew::prelude::*;

use crate::dom::{state_callback, value_of};
use crate::export_rows::{ExportButtons, RowSource};
use crate::grid::{Column, Grid, GridRow, Item, LoadedItems, Rows, use_current};
use crate::panel::PanelProps;
use crate::viewer::{NavigationTarget, VisibleItem};
use scene::format;
use session::cells::{self, Columns};

const COLUMNS: &[Column] = &[
    Column::text("track", "Track", 180, "Track of the mark.")
        .narrow_px(92)
        .unsorted(),
    Column::number(
        "begins",
        "Begins",
        110,
        "Time since the start of the runtime's clock.",
    )
    .narrow_px(92)
    .unsorted(),
    Column::number("lasts", "Lasts", 100, "Duration; empty for an instant.")
        .narrow_px(78)
        .unsorted(),
    Column::text("what", "What", 280, "Text of the mark.")
        .growing()
        .narrow_px(200)
        .unsorted(),
];

/// Columns of the exported file; times are in nanoseconds.
const EXPORTED: Columns<VisibleItem, 4> = Columns([
    cells::Column::text("track", "Track of the mark")
        .value(|item| item.track_title.as_str().into()),
    cells::Column::number("start_ns", "Start").value(|item| item.span.start().into()),
    cells::Column::number("duration_ns", "Length").value(|item| item.span.duration().into()),
    cells::Column::text("text", "Its text").value(|item| item.text.as_str().into()),
]);

#[component]
pub(super) fn InView(props: &PanelProps) -> Html {
    let track = use_state_eq(String::new);
    let current = use_state_eq(|| None);
    let tracks = use_memo((props.items.clone(), (*track).clone()), |(items, track)| {
        track_names(items, track)
    });
    let shown = use_memo((props.items.clone(), (*track).clone()), |(items, track)| {
        of_track(items, track)
    });
    let rows = use_memo(
        (props.items.clone(), Rc::clone(&shown)),
        |(items, shown)| Rows {
            first: 0,
            rows: shown
                .iter()
                .filter_map(|&i| items.get(i))
                .map(grid_row)
                .collect(),
        },
    );
    let marks = shown.iter().filter_map(|&i| props.items.get(i));
    let loaded = LoadedItems::new(0, marks.map(|item| Item::Mark(item.track, item.span)));
    let current = use_current(&current, loaded);
    // The mark may be out of view.
    let at = current.row.filter(|row| *row < shown.len() as u64);
    let out = use_memo(
        (props.items.clone(), Rc::clone(&shown)),
        |(items, shown)| {
            let (items, shown) = (items.clone(), Rc::clone(shown));
            RowSource::local(move |part, how| {
                let (from, to) = (part.start as usize, part.end as usize);
                let some = shown.get(from..to.min(shown.len())).unwrap_or_default();
                let some = some.iter().filter_map(|&place| items.get(place));
                EXPORTED.text(some, how, from == 0)
            })
        },
    );
    let on_track = state_callback(&track).reform(value_of::<Event>);
    let on_all_tracks = state_callback(&track).reform(|_: MouseEvent| String::new());
    let on_activate = {
        let (items, shown, on_goto) = (
            props.items.clone(),
            Rc::clone(&shown),
            props.on_goto.clone(),
        );
        Callback::from(move |row: u64| {
            let place = usize::try_from(row).ok().and_then(|row| shown.get(row));
            if let Some(item) = place.and_then(|&place| items.get(place)) {
                on_goto.emit(NavigationTarget {
                    zoom: false,
                    ..NavigationTarget::zoomed(item.track, item.span)
                });
            }
        })
    };
    let option = |name: &String| {
        html! { <option key={format!("track {name}")} value={name.clone()} selected={*track == *name}>{ name }</option> }
    };
    html! {
        <div class="in-view">
            <p class="tools">
                <label>{ "Track " }
                    <select onchange={on_track}>
                        <option key="all" value="" selected={track.is_empty()}>{ "all that are in view" }</option>
                        { for tracks.iter().map(option) }
                    </select>
                </label>
                <span class="faint">{ format!("{} marks. The table follows the timeline; click a row to select its mark.", format::count(shown.len() as u64)) }</span>
                <ExportButtons name="in-view" total={shown.len() as u64} rows={(*out).clone()} />
            </p>
            if shown.is_empty() && !track.is_empty() {
                <p class="empty">
                    { format!("No marks of {} in view. ", *track) }
                    <button class="small" onclick={on_all_tracks}>{ "All tracks" }</button>
                </p>
            } else if shown.is_empty() {
                <p class="empty">{ "No marks in view: zoom out (0), or scroll to tracks with spans." }</p>
            } else {
                <Grid name="in-view-rows" label="Marks in view" columns={COLUMNS} total={shown.len() as u64}
                    rows={Rc::clone(&rows)} on_window={Callback::noop()} current={at}
                    on_current={current.on_current} {on_activate} />
            }
        </div>
    }
}

/// Returns the names of the tracks with items, and that of the chosen one, which stays chosen without any.
fn track_names(items: &[VisibleItem], chosen: &str) -> Vec<String> {
    let titles = items.iter().map(|item| item.track_title.as_str());
    let mut names: Vec<String> = Vec::new();
    for title in titles.chain((!chosen.is_empty()).then_some(chosen)) {
        if !names.iter().rev().any(|name| name == title) {
            names.push(title.to_owned());
        }
    }
    names
}

fn of_track(items: &[VisibleItem], track: &str) -> Vec<usize> {
    let wanted = |item: &VisibleItem| track.is_empty() || item.track_title == track;
    let places = items.iter().enumerate();
    places
        .filter(|(_, item)| wanted(item))
        .map(|(place, _)| place)
        .collect()
}

fn grid_row(item: &VisibleItem) -> GridRow {
    [
        item.track_title.clone(),
        format::time(item.span.start()),
        format::duration(item.span.duration()),
        item.text.clone(),
    ]
    .into()
}
