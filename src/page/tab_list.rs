//! Lists of tabs, of which one is open.

use yew::prelude::*;

use super::dom::{consume, focus_id};

/// Tab with its identifier in the document, title and explanation.
pub(super) struct Tab {
    pub(super) id: String,
    pub(super) title: &'static str,
    pub(super) help: &'static str,
}

/// Renders tabs for the element with the identifier `controls`; navigation keys move between them.
pub(super) fn tab_list(
    (class, label, controls): (&'static str, &'static str, &'static str),
    tabs: &[Tab],
    open: Option<usize>,
    on_tab: &Callback<usize>,
) -> Html {
    let tab = |(index, tab): (usize, &Tab)| {
        let selected = open == Some(index);
        let onclick = on_tab.reform(move |_: MouseEvent| index);
        html! {
            <button role="tab" id={tab.id.clone()} aria-selected={selected.to_string()} aria-controls={controls} title={tab.help}
                tabindex={if selected { "0" } else { "-1" }} {onclick}>{ tab.title }</button>
        }
    };
    let ids: Vec<String> = tabs.iter().map(|tab| tab.id.clone()).collect();
    let on_tab = on_tab.clone();
    let onkeydown = move |event: KeyboardEvent| {
        let other = open.and_then(|open| neighbor(open, ids.len(), &event.key()));
        if let Some(other) = other {
            consume(&event);
            // The focus follows the selected tab.
            focus_id(&ids[other]);
            on_tab.emit(other);
        }
    };
    html! {
        <div {class} role="tablist" aria-label={label} {onkeydown}>{ for tabs.iter().enumerate().map(tab) }</div>
    }
}

/// Returns the tab that a navigation key leads to; arrow keys wrap around.
fn neighbor(at: usize, count: usize, key: &str) -> Option<usize> {
    match key {
        "ArrowLeft" => Some((at + count - 1) % count),
        "ArrowRight" => Some((at + 1) % count),
        "Home" => Some(0),
        "End" => Some(count - 1),
        _ => None,
    }
}
