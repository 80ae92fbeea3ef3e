//! A number that leads to where it was measured: the one way from an extreme in a panel
//! to its item on the timeline.

use yew::prelude::*;

use super::viewer::Goto;
use model::time::Interval;
use session::tracks::collections::Collections;
use session::tracks::memory::Memory;

/// The props of a [`PlaceLink`].
#[derive(Properties, PartialEq)]
pub(super) struct PlaceLinkProps {
    /// The number.
    pub(super) text: AttrValue,
    /// What it is, within a sentence: `the longest pause of generation 1`.
    pub(super) what: AttrValue,
    /// Where that is; without it there is only the number.
    pub(super) place: Option<Goto>,
    pub(super) on_goto: Callback<Goto>,
    /// Whether it stands in a grid, whose rows the keyboard walks: then something else
    /// leads there with the keyboard.
    #[prop_or_default]
    pub(super) in_grid: bool,
}

/// The number, as a button if it is known where it was measured: the track comes into
/// view, the item is selected, its details open.
#[component]
pub(super) fn PlaceLink(props: &PlaceLinkProps) -> Html {
    let Some(place) = props.place else {
        return html! { { props.text.clone() } };
    };
    let on_goto = props.on_goto.clone();
    let onclick = Callback::from(move |event: MouseEvent| {
        // A click on the row of a grid leads elsewhere.
        event.stop_propagation();
        on_goto.emit(place);
    });
    let says = format!("{}: show {} on the timeline", props.text, props.what);
    html! {
        <button class="place-link" {onclick} title={format!("Show {} on the timeline", props.what)} aria-label={says}
            tabindex={props.in_grid.then_some("-1")}>{ props.text.clone() }</button>
    }
}

/// Where a number of collections is seen: at the collection, or as a moment of the heap.
pub(super) fn seen_at(place: Interval) -> Goto {
    let row = if place.is_empty() {
        Memory::Heap.into()
    } else {
        Collections.into()
    };
    Goto::details(row, place)
}
