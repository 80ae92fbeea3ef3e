//! Check of the order of events. It reads the whole log again, so it runs only on request.

use yew::prelude::*;

use super::diagnostics::rules;
use crate::dom::state_callback;
use crate::panel::{Source, use_answer};
use crate::viewer::NavigationTarget;
use analysis::diagnostics::Severity;
use scene::format;
use session::check::CheckQuery;
use views::words::diagnostics::{all_tolerated, out_of_order};

#[derive(Clone, Properties, PartialEq)]
pub(super) struct CheckProps {
    pub(super) source: Source,
    pub(super) on_goto: Callback<NavigationTarget>,
}

/// Renders a button, and the result once it was clicked.
#[component]
pub(super) fn Check(props: &CheckProps) -> Html {
    let asked = use_state_eq(|| false);
    let onclick = state_callback(&asked).reform(|_: MouseEvent| true);
    html! {
        <section aria-labelledby="process-check">
            <h2 id="process-check">{ "Order of events" }</h2>
            <p>{ "Checks that threads, capabilities, tasks and sparks change state only in possible ways. This rereads all events." }</p>
            if *asked {
                <CheckResults ..props.clone() />
            } else {
                <button class="small" {onclick} disabled={!props.source.complete}>{ "Check all events" }</button>
            }
        </section>
    }
}

#[component]
fn CheckResults(props: &CheckProps) -> Html {
    let Some(answer) = use_answer(&props.source, CheckQuery) else {
        return html! { <p role="status">{ "Reading all events." }</p> };
    };
    let checked = match &*answer {
        Ok(checked) => checked,
        Err(error) => return html! { <p role="alert">{ format!("Not checked: {error}.") }</p> },
    };
    let passed = all_tolerated(checked.tolerated.iter().copied());
    let count = checked.diagnostics.count(Severity::Note);
    html! {
        <>
            <p role="status">{ format!("Of {} events, {}.", format::count(checked.events), out_of_order(count)) }</p>
            if let Some(passed) = passed {
                <p>{ format!("Accepted, because the runtime is known to write it: {passed}.") }</p>
            }
            { rules(&checked.diagnostics, &props.on_goto) }
        </>
    }
}
