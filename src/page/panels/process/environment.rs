//! The environment of the process. It may hold secrets: it is queried only when the user opens it, and leaves the
//! page when hidden.

use yew::prelude::*;

use crate::dom::state_callback;
use crate::field::Field;
use crate::panel::{Source, use_answer};
use scene::format::pluralize;
use session::queries::EnvironmentQuery;

/// Minimum number of variables for which a filter is offered.
const MANY: u64 = 12;

#[derive(Clone, Properties, PartialEq)]
pub(super) struct EnvironmentProps {
    pub(super) source: Source,
    /// Number of environment variables in the log.
    pub(super) count: u64,
}

/// Renders a button that shows the variables.
#[component]
pub(super) fn Environment(props: &EnvironmentProps) -> Html {
    let shown = use_state_eq(|| false);
    let is_shown = *shown;
    let toggle = state_callback(&shown).reform(move |_: MouseEvent| !is_shown);
    let variables = pluralize(props.count, "environment variable");
    html! {
        <section aria-labelledby="process-environment">
            <h2 id="process-environment">{ "Environment" }</h2>
            if props.count == 0 {
                <p>{ "The log contains no environment variables." }</p>
            } else {
                <button onclick={toggle} aria-expanded={shown.to_string()}>
                    { if *shown { format!("Hide {variables}") } else { format!("Show {variables} – they may contain secrets") } }
                </button>
                if *shown {
                    <Variables ..props.clone() />
                }
            }
        </section>
    }
}

#[component]
fn Variables(props: &EnvironmentProps) -> Html {
    let answer = use_answer(&props.source, EnvironmentQuery);
    let filter = use_state(String::new);
    let Some(variables) = answer.as_deref() else {
        return html! { <p>{ "Loading them…" }</p> };
    };
    let wanted = filter.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    let listed: Vec<Html> = variables
        .iter()
        .filter(|(name, value)| has(name) || has(value))
        .map(|(name, value)| html! { <><dt>{ name }</dt><dd>{ value }</dd></> })
        .collect();
    html! {
        <>
            if props.count >= MANY {
                <div class="small-controls">
                    <Field kind="search" placeholder="Filter names and values" label="Filter environment variables"
                        value={(*filter).clone()} on_input={state_callback(&filter)} />
                    <span role="status">
                        if !wanted.is_empty() {
                            { format!("{} of {}", listed.len(), variables.len()) }
                        }
                    </span>
                </div>
            }
            <dl class="variables">{ for listed }</dl>
        </>
    }
}
