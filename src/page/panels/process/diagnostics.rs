//! The list of diagnostics, grouped by rule, most severe first.

use std::cmp::Reverse;
use std::rc::Rc;

use yew::prelude::*;

use super::time_button;
use crate::pagination::use_pagination;
use crate::viewer::NavigationTarget;
use analysis::diagnostics::{Diagnostic, Diagnostics, Rule, Severity};
use model::sorting::CompactSort;
use scene::format;
use views::words::diagnostics::{RuleWords, for_rule, sentence};

/// Number of diagnostics per rule shown at first.
const SHOWN: usize = 10;

/// Renders a verdict and the diagnostics; `heading` is a scroll target.
pub(super) fn list(
    diagnostics: &Diagnostics,
    heading: &NodeRef,
    on_goto: &Callback<NavigationTarget>,
) -> Html {
    let verdict = if diagnostics.count(Severity::Note) == 0 {
        "No problems in this log."
    } else if diagnostics.count(Severity::Warning) == 0 {
        "No damage or contradictions in this log."
    } else {
        ""
    };
    html! {
        <section aria-labelledby="process-diagnostics">
            <h2 id="process-diagnostics" ref={heading.clone()} tabindex="-1">{ "Diagnostics" }</h2>
            if !verdict.is_empty() {
                <p>{ verdict }</p>
            }
            { rules(diagnostics, on_goto) }
        </section>
    }
}

/// Renders all rules with diagnostics, most severe first.
pub(super) fn rules(diagnostics: &Diagnostics, on_goto: &Callback<NavigationTarget>) -> Html {
    let mut rules: Vec<(Rule, u64)> = diagnostics.counts().collect();
    rules.sort_small_by_key(|(rule, _)| Reverse(rule.severity()));
    let of_rule = |rule| {
        let kept = diagnostics.kept().iter();
        let found: Vec<Diagnostic> = kept.filter(|one| one.rule() == rule).cloned().collect();
        Rc::from(found)
    };
    let rules = rules.into_iter().map(|(rule, count)| {
        html! { <RuleDiagnostics key={rule.name()} {rule} {count} found={of_rule(rule)} on_goto={on_goto.clone()} /> }
    });
    html! { <>{ for rules }</> }
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "Note",
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    }
}

#[derive(Properties, PartialEq)]
struct RuleDiagnosticsProps {
    rule: Rule,
    /// Total count, including diagnostics that were counted but not kept.
    count: u64,
    found: Rc<[Diagnostic]>,
    on_goto: Callback<NavigationTarget>,
}

/// Renders the diagnostics of one rule.
#[component]
fn RuleDiagnostics(props: &RuleDiagnosticsProps) -> Html {
    let pagination = use_pagination(SHOWN);
    let listed = props.found.len();
    let dropped = props.count.saturating_sub(listed as u64);
    let RuleWords {
        title,
        meaning,
        advice,
    } = for_rule(props.rule);
    let items = props.found.iter().take(pagination.shown);
    html! {
        <>
            <h3>
                { format!("{}: {title} ", severity(props.rule.severity())) }
                <span class="badge">{ format::count(props.count) }</span>
            </h3>
            <p>
                { meaning }
                if !advice.is_empty() {
                    { " " }{ advice }
                }
            </p>
            <ul class="diagnostics">{ for items.map(|one| item(one, &props.on_goto)) }</ul>
            { pagination.button(listed, "") }
            if dropped > 0 && pagination.shown >= listed {
                <p>{ format!("{} more are omitted.", format::count(dropped)) }</p>
            }
        </>
    }
}

fn item(one: &Diagnostic, on_goto: &Callback<NavigationTarget>) -> Html {
    let mut place = Vec::new();
    if let Some(cap) = one.cap {
        place.push(format!("capability {cap}"));
    }
    if let Some(offset) = one.offset {
        place.push(format!("byte {offset} (0x{:x})", offset.0));
    }
    html! {
        <li>
            <span class="when">
                if let Some(at) = one.start() {
                    { time_button(on_goto, at, one.cap) }
                }
            </span>
            <span>
                { sentence(one) }
                if !place.is_empty() {
                    <span class="explanation">{ place.join(" · ") }</span>
                }
            </span>
        </li>
    }
}
