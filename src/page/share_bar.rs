//! Horizontal bar that shows the parts of a whole.

use yew::prelude::*;

/// Renders the parts of `whole`, each with its CSS class, from left to right. Hidden from screen readers: the
/// numbers next to the bar give the same information.
pub(super) fn share_bar(whole: u64, parts: impl IntoIterator<Item = (&'static str, u64)>) -> Html {
    let mut left = 0.0;
    let parts = parts.into_iter().filter(|(_, part)| *part > 0).map(|(class, part)| {
        let (x, width) = (left, part as f64 / whole.max(1) as f64 * 100.0);
        left += width;
        html! { <rect {class} x={format!("{x:.3}")} y="0" width={format!("{width:.3}")} height="8" /> }
    });
    html! {
        <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{ for parts }</svg>
    }
}
