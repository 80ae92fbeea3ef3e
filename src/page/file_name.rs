//! The name of a file where there is little room for it.

use yew::prelude::*;

/// So many characters at the end stay when a name is shortened: they tell logs apart.
const TAIL: usize = 14;

/// A name that is shortened in its middle. Who shows it gives the whole name as a title.
pub(super) fn file_name(name: &str) -> Html {
    let count = name.chars().count();
    let at = name.char_indices().nth(count.saturating_sub(TAIL));
    let (head, tail) = name.split_at(at.map_or(0, |(at, _)| at));
    html! {
        <span class="shortened">
            // An empty part would have no base line, and the name would stand too high.
            if !head.is_empty() { <span class="head-part">{ head.to_owned() }</span> }
            <span>{ tail.to_owned() }</span>
        </span>
    }
}
