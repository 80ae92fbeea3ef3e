//! File names that are shortened where space is limited.

use yew::prelude::*;

/// Number of trailing characters to keep: the end distinguishes logs from each other.
const TAIL: usize = 14;

/// Renders a file name that is shortened in its middle if necessary. The caller provides the whole name as a
/// title.
pub(super) fn file_name(name: &str) -> Html {
    let count = name.chars().count();
    let at = name.char_indices().nth(count.saturating_sub(TAIL));
    let (head, tail) = name.split_at(at.map_or(0, |(at, _)| at));
    html! {
        <span class="shortened">
            // An empty part would have no baseline and would shift the name upward.
            if !head.is_empty() { <span class="head-part">{ head.to_owned() }</span> }
            <span>{ tail.to_owned() }</span>
        </span>
    }
}
