//! Long tables and lists show their first rows, and more of them when asked.

use yew::prelude::*;

use scene::format;

/// How many more rows a click shows: no more than a browser lays out at once.
const STEP: usize = 500;

/// How many rows of a list are shown, and the button that shows more.
pub(super) struct More {
    /// So many rows are shown.
    pub(super) shown: usize,
    more: Callback<MouseEvent>,
}

/// At first `first` rows are shown.
#[hook]
pub(super) fn use_more(first: usize) -> More {
    let shown = use_state_eq(|| first);
    let more = {
        let shown = shown.clone();
        Callback::from(move |_: MouseEvent| shown.set(shown.saturating_add(STEP)))
    };
    More {
        shown: *shown,
        more,
    }
}

impl More {
    /// The button, if not all of `total` rows are shown; `what` they are.
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
        html! { <button class="small" onclick={self.more.clone()}>{ text }</button> }
    }
}
