//! What is wrong or odd about the log: rule by rule, the gravest first.

use std::cmp::Reverse;
use std::rc::Rc;

use yew::prelude::*;

use super::time_button;
use crate::more::use_more;
use crate::viewer::Goto;
use analysis::diagnostics::{Diagnostic, Diagnostics, Rule, Severity};
use analysis::process::Process;
use model::sorting::CompactSort;
use scene::format;
use views::words::diagnostics::{RuleWords, of, sentence};

/// How many of each rule are shown at first.
const SHOWN: usize = 10;

#[derive(Properties, PartialEq)]
pub(super) struct DiagnosticsListProps {
    pub(super) process: Rc<Process>,
    /// The heading, to scroll to.
    pub(super) heading: NodeRef,
    pub(super) on_goto: Callback<Goto>,
}

/// The section.
#[component]
pub(super) fn DiagnosticsList(props: &DiagnosticsListProps) -> Html {
    let diagnostics = &props.process.diagnostics;
    let verdict = if diagnostics.count(Severity::Note) == 0 {
        "Nothing is wrong with this log."
    } else if diagnostics.count(Severity::Warning) == 0 {
        "Nothing in this log is damaged or contradictory."
    } else {
        ""
    };
    html! {
        <section aria-labelledby="process-diagnostics">
            <h2 id="process-diagnostics" ref={props.heading.clone()} tabindex="-1">{ "Diagnostics" }</h2>
            if !verdict.is_empty() {
                <p>{ verdict }</p>
            }
            { rules(diagnostics, &props.on_goto) }
        </section>
    }
}

/// The rules under which something was found, the gravest first.
pub(super) fn rules(diagnostics: &Diagnostics, on_goto: &Callback<Goto>) -> Html {
    let mut rules: Vec<(Rule, u64)> = diagnostics.counts().collect();
    rules.sort_small_by_key(|(rule, _)| Reverse(rule.severity()));
    let of_rule = |rule| {
        let kept = diagnostics.kept().iter();
        let found: Vec<Diagnostic> = kept.filter(|one| one.rule() == rule).cloned().collect();
        Rc::from(found)
    };
    let rules = rules.into_iter().map(|(rule, count)| {
        html! { <OfRule key={rule.name()} {rule} {count} found={of_rule(rule)} on_goto={on_goto.clone()} /> }
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
struct OfRuleProps {
    rule: Rule,
    /// How many there are, those that are not kept included.
    count: u64,
    found: Rc<[Diagnostic]>,
    on_goto: Callback<Goto>,
}

/// What was found under one rule.
#[component]
fn OfRule(props: &OfRuleProps) -> Html {
    let more = use_more(SHOWN);
    let kept = props.found.len();
    let not_kept = props.count.saturating_sub(kept as u64);
    let RuleWords {
        title,
        meaning,
        advice,
    } = of(props.rule);
    let items = props.found.iter().take(more.shown);
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
            { more.button(kept, "") }
            if not_kept > 0 && more.shown >= kept {
                <p>{ format!("{} more are counted, but not kept.", format::count(not_kept)) }</p>
            }
        </>
    }
}

fn item(one: &Diagnostic, on_goto: &Callback<Goto>) -> Html {
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
