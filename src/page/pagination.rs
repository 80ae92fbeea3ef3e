//! Incremental display of long tables and lists: the first rows, and more on demand.

use yew::prelude::*;

use super::dom::state_callback;
use scene::format;

/// Number of rows that a click adds, limited to what a browser lays out quickly.
const STEP: usize = 500;

/// Number of shown rows, with a button for more.
pub(super) struct Pagination {
    /// Number of rows to show.
    pub(super) shown: usize,
    on_more: Callback<MouseEvent>,
}

/// Creates the state of a list that initially shows `first` rows.
#[hook]
pub(super) fn use_pagination(first: usize) -> Pagination {
    let shown = use_state_eq(|| first);
    let more = shown.saturating_add(STEP);
    let on_more = state_callback(&shown).reform(move |_: MouseEvent| more);
    Pagination {
        shown: *shown,
        on_more,
    }
}

impl Pagination {
    /// Renders the button unless all of `total` rows are shown; `what` names the rows.
    pub(super) fn button(&self, total: usize, what: &str) -> Html {
        let left = total.saturating_sub(self.shown);
        if left == 0 {
            return Html::default();
        }
        let text = if left <= STEP {
            format!("Show all {} {what}", format::count(total as u64))
        } else {
            format!("Show {STEP} more of {} {what}", format::count(total as u64))
        };
        html! { <button class="small" onclick={self.on_more.clone()}>{ text }</button> }
    }
}
