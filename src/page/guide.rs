//! Links to the guide, a separate page that explains terms, colors and numbers, and how to record a log. It opens
//! in a new tab, so that the log stays open.

use yew::prelude::*;

/// Address of the guide, relative to the page.
pub(super) const GUIDE: &str = "www/guide.html";

/// Renders a link to a section of the guide.
pub(super) fn guide(at: &str, text: &str) -> Html {
    html! {
        <a class="guide" href={format!("{GUIDE}#{at}")} target="_blank" rel="noopener">{ text }</a>
    }
}

/// Renders a link to the guide's section on recording the data that a panel lacks.
pub(super) fn how_to_record(at: &str) -> Html {
    html! { <p>{ guide(at, "How to record it, by GHC version") }</p> }
}
