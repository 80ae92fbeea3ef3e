//! Findings of both logs: new, gone, worse, better, same.

use yew::prelude::*;

use super::super::findings::severity;
use super::{SwitchLog, navigation};
use insight::compare::{Comparison, FindingChange, FindingState};
use insight::digest::FindingSummary;
use session::alignment::Role;

pub(super) fn findings(comparison: &Comparison, on_switch_log: &SwitchLog) -> Html {
    let findings = &comparison.findings;
    let row = |change: &FindingChange| {
        let title = change.after.as_ref().or(change.before.as_ref());
        let title = title.map(|known| known.title.clone()).unwrap_or_default();
        let place = |role: Role, known: &Option<FindingSummary>| {
            let Some(known) = known else {
                return html! { <span class="faint">{ format!("not {}", role.name()) }</span> };
            };
            let identity = known.identity.clone();
            let onclick = on_switch_log
                .reform(move |_: MouseEvent| (role, navigation::to_finding(&identity)));
            html! {
                <button class="link" {onclick} title={format!("Open it in the log {}", role.name())}>
                    { format!("{} {}", role.name(), known.cost) }
                </button>
            }
        };
        html! {
            <li>
                <span class="state">{ state(change.state) }</span>
                <span class="title">
                    { title }
                    if let Some(known) = change.after.as_ref().or(change.before.as_ref()) { { " " }{ severity(known.severity) } }
                </span>
                <span class="places">{ place(Role::Before, &change.before) }{ place(Role::After, &change.after) }</span>
            </li>
        }
    };
    html! {
        <section aria-labelledby="compare-findings">
            <h3 id="compare-findings">{ "Findings" }</h3>
            if findings.is_empty() {
                <p class="faint">{ "No significant findings in either log." }</p>
            }
            <ul class="compare-findings">{ for findings.iter().map(row) }</ul>
        </section>
    }
}

/// Returns the label of a state, with a sign.
const fn state(state: FindingState) -> &'static str {
    match state {
        FindingState::New => "+ new",
        FindingState::Gone => "− gone",
        FindingState::Worse => "↑ worse",
        FindingState::Better => "↓ better",
        FindingState::Same => "= same",
    }
}
