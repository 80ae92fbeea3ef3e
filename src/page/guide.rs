//! The guide: a page beside this one, which explains words, colours and numbers, and how to
//! record a log. It is opened in a tab of its own, as the log is not to be lost.

use yew::prelude::*;

/// Where the guide is.
pub(super) const GUIDE: &str = "www/guide.html";

/// A link to a place in the guide.
pub(super) fn guide(at: &str, text: &str) -> Html {
    html! {
        <a class="guide" href={format!("{GUIDE}#{at}")} target="_blank" rel="noopener">{ text }</a>
    }
}

/// In a panel without data: where the guide says how to record what is missing.
pub(super) fn how_to_record(at: &str) -> Html {
    html! { <p>{ guide(at, "How to record it, by GHC version") }</p> }
}
