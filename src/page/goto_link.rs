//! Numbers that link to the place where they were measured, such as from an extreme in a panel to its item on the
//! timeline.

use yew::prelude::*;

use super::viewer::NavigationTarget;
use model::time::Interval;
use session::tracks::collections::Collections;
use session::tracks::memory::Memory;

/// The props of a [`GotoLink`].
#[derive(Properties, PartialEq)]
pub(super) struct GotoLinkProps {
    /// The number as text.
    pub(super) text: AttrValue,
    /// Description within a sentence: `the longest pause of generation 1`.
    pub(super) what: AttrValue,
    /// Link target; without one, the number is plain text.
    pub(super) target: Option<NavigationTarget>,
    pub(super) on_goto: Callback<NavigationTarget>,
    /// Whether the link is in a grid with its own keyboard navigation: Tab then skips it.
    #[prop_or_default]
    pub(super) in_grid: bool,
}

/// Number, as a button if its place is known. A click scrolls the track into view, selects the item and opens its
/// details.
#[component]
pub(super) fn GotoLink(props: &GotoLinkProps) -> Html {
    let Some(target) = props.target else {
        return html! { { props.text.clone() } };
    };
    let on_goto = props.on_goto.clone();
    let onclick = Callback::from(move |event: MouseEvent| {
        // A click on the grid row itself has another effect.
        event.stop_propagation();
        on_goto.emit(target);
    });
    let says = format!("{}: show {} on the timeline", props.text, props.what);
    html! {
        <button class="place-link" {onclick} title={format!("Show {} on the timeline", props.what)} aria-label={says}
            tabindex={props.in_grid.then_some("-1")}>{ props.text.clone() }</button>
    }
}

/// Returns the link target for a number about collections: a collection, or a moment of the heap if `place` is
/// empty.
pub(super) fn collection_target(place: Interval) -> NavigationTarget {
    let row = if place.is_empty() {
        Memory::Heap.into()
    } else {
        Collections.into()
    };
    NavigationTarget::details(row, place)
}
