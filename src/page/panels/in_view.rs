//! What the timeline shows now, as a table: for who reads instead of looks.

use std::rc::Rc;

use yew::prelude::*;

use crate::dom::{setter_of, value_of};
use crate::grid::{Column, Grid, GridRow, RowActivated, Rows};
use crate::panel::PanelProps;
use crate::rows_out::{RowsOf, RowsOut};
use crate::viewer::{Goto, VisibleItem};
use scene::format;
use session::cells::{Cell, rows_text};

const COLUMNS: &[Column] = &[
    Column::text("track", "Track", 180, "The track that it is on.")
        .narrow_px(92)
        .unsorted(),
    Column::number(
        "begins",
        "Begins",
        110,
        "From the start of the runtime's clock.",
    )
    .narrow_px(92)
    .unsorted(),
    Column::number(
        "lasts",
        "Lasts",
        100,
        "How long it lasts; empty for a moment.",
    )
    .narrow_px(78)
    .unsorted(),
    Column::text("what", "What", 280, "What the mark says.")
        .growing()
        .narrow_px(200)
        .unsorted(),
];

/// The columns of the file: times in nanoseconds.
const NAMES: [&str; 4] = ["track", "start_ns", "duration_ns", "text"];

/// The panel.
#[component]
pub(super) fn InView(props: &PanelProps) -> Html {
    let track = use_state_eq(String::new);
    let current = use_state_eq(|| None::<u64>);
    let tracks = use_memo(props.items.clone(), |items| track_names(items));
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
    let out = use_memo(
        (props.items.clone(), Rc::clone(&shown)),
        |(items, shown)| {
            let (items, shown) = (items.clone(), Rc::clone(shown));
            RowsOf::at_hand(move |part, how| {
                let (from, to) = (part.start as usize, part.end as usize);
                let some = shown.get(from..to.min(shown.len())).unwrap_or_default();
                let some = some.iter().filter_map(|&place| items.get(place));
                rows_text(how, &NAMES, some.map(cells), from == 0)
            })
        },
    );
    let on_track = setter_of(&track).reform(value_of::<Event>);
    let on_current = {
        let current = current.clone();
        Callback::from(move |went: RowActivated| current.set(Some(went.row)))
    };
    let on_activate = {
        let (items, shown, on_goto) = (
            props.items.clone(),
            Rc::clone(&shown),
            props.on_goto.clone(),
        );
        Callback::from(move |row: u64| {
            let place = usize::try_from(row).ok().and_then(|row| shown.get(row));
            if let Some(item) = place.and_then(|&place| items.get(place)) {
                on_goto.emit(Goto {
                    span: item.span,
                    row: item.row,
                    zoom: false,
                    details: false,
                });
            }
        })
    };
    let option = |name: &String| {
        html! { <option value={name.clone()} selected={*track == *name}>{ name }</option> }
    };
    html! {
        <div class="in-view">
            <p class="tools">
                <label>{ "Track " }
                    <select onchange={on_track}>
                        <option value="" selected={track.is_empty()}>{ "all that are in view" }</option>
                        { for tracks.iter().map(option) }
                    </select>
                </label>
                <span class="faint">{ format!("{} marks. The table follows the timeline; a row leads to its mark.", format::count(shown.len() as u64)) }</span>
                <RowsOut name="in-view" total={shown.len() as u64} rows={(*out).clone()} />
            </p>
            if shown.is_empty() {
                <p class="empty">{ "Nothing is in view that could be listed: zoom out (0), or scroll to tracks with spans." }</p>
            } else {
                <Grid name="in-view-rows" label="What is in view" columns={COLUMNS} total={shown.len() as u64}
                    rows={Rc::clone(&rows)} on_window={Callback::noop()} current={*current} {on_current} {on_activate} />
            }
        </div>
    }
}

fn track_names(items: &[VisibleItem]) -> Vec<String> {
    let mut names: Vec<String> = items.iter().map(|item| item.track.clone()).collect();
    names.dedup();
    names
}

fn of_track(items: &[VisibleItem], track: &str) -> Vec<usize> {
    let wanted = |item: &VisibleItem| track.is_empty() || item.track == track;
    let places = items.iter().enumerate();
    places
        .filter(|(_, item)| wanted(item))
        .map(|(place, _)| place)
        .collect()
}

fn cells(item: &VisibleItem) -> [Cell<'_>; NAMES.len()] {
    [
        item.track.as_str().into(),
        item.span.start().0.into(),
        item.span.duration().0.into(),
        item.text.as_str().into(),
    ]
}

fn grid_row(item: &VisibleItem) -> GridRow {
    [
        item.track.clone(),
        format::time(item.span.start()),
        format::duration(item.span.duration()),
        item.text.clone(),
    ]
    .into()
}
