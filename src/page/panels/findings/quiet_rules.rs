//! Rules without findings: their question, and the evidence that cleared it or is missing.

use std::rc::Rc;

use yew::prelude::*;

use crate::dom::state_callback;
use crate::guide::how_to_record;
use insight::Report;
use insight::report::RuleWithoutFinding;
use views::words::insight as words;

#[derive(Properties, PartialEq)]
pub(super) struct QuietRulesProps {
    pub(super) report: Rc<Report>,
    /// Whether the list is open until the user toggles it.
    pub(super) is_open: bool,
}

#[component]
pub(super) fn QuietRules(props: &QuietRulesProps) -> Html {
    // `None` until the user has toggled the list.
    let chosen = use_state_eq(|| None::<bool>);
    let is_open = chosen.unwrap_or(props.is_open);
    let onclick = state_callback(&chosen).reform(move |_: MouseEvent| Some(!is_open));
    let report = &props.report;
    html! {
        <section class="passed" aria-label="Checked rules">
            <button class="small" aria-expanded={is_open.to_string()} {onclick}>{ words::checked(report) }</button>
            if is_open {
                { list("Undecided", "The log lacks the events that these rules need, or has too few of them.", &report.cannot_tell) }
                if !report.cannot_tell.is_empty() {
                    { how_to_record("recording") }
                }
                { list("Clear", "These rules found no problem, for the reason given.", &report.clear) }
            }
        </section>
    }
}

fn list(title: &str, explained: &str, passed: &[RuleWithoutFinding]) -> Html {
    let row = |passed: &RuleWithoutFinding| html! { <><dt>{ passed.question.clone() }</dt><dd>{ words::sentence(&passed.why) }</dd></> };
    html! {
        if !passed.is_empty() {
            <h4>{ title }</h4>
            <p class="faint">{ explained }</p>
            <dl>{ for passed.iter().map(row) }</dl>
        }
    }
}
