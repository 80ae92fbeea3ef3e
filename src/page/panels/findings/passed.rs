//! The rules that found nothing: what they asked, and what cleared it or is missing.

use std::rc::Rc;

use yew::prelude::*;

use crate::guide::how_to_record;
use insight::Report;
use insight::report::Passed;
use views::words::insight as words;

#[derive(Properties, PartialEq)]
pub(super) struct PassedProps {
    pub(super) report: Rc<Report>,
    /// Whether the list is open at first.
    pub(super) is_open: bool,
}

/// The list, which opens on demand.
#[component]
pub(super) fn PassedRules(props: &PassedProps) -> Html {
    // What the reader chose; else it is as the panel says.
    let chosen = use_state_eq(|| None::<bool>);
    let is_open = chosen.unwrap_or(props.is_open);
    let onclick = {
        let chosen = chosen.setter();
        Callback::from(move |_: MouseEvent| chosen.set(Some(!is_open)))
    };
    let report = &props.report;
    html! {
        <section class="passed" aria-label="What was checked">
            <button class="small" aria-expanded={is_open.to_string()} {onclick}>{ words::checked(report) }</button>
            if is_open {
                { list("Cannot tell", "The log lacks what these ask, or has not enough of it.", &report.cannot_tell) }
                if !report.cannot_tell.is_empty() {
                    { how_to_record("recording") }
                }
                { list("Clear", "These found nothing worth mentioning; beside each is why.", &report.clear) }
            }
        </section>
    }
}

fn list(title: &str, explained: &str, passed: &[Passed]) -> Html {
    let row = |passed: &Passed| html! { <><dt>{ passed.question.clone() }</dt><dd>{ words::sentence(&passed.why) }</dd></> };
    html! {
        if !passed.is_empty() {
            <h4>{ title }</h4>
            <p class="faint">{ explained }</p>
            <dl>{ for passed.iter().map(row) }</dl>
        }
    }
}
