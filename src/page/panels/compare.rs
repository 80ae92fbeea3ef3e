//! Two logs compared: what should be equal and is not, every number before and after, the
//! findings, and how pauses are distributed.

mod curve;
mod findings;
mod lead;
mod numbers;

use std::rc::Rc;

use yew::prelude::*;

use crate::panel::{Beside, PanelProps, Source, range_text, use_answer_if};
use curve::Curves;
use findings::Findings;
use insight::Digest;
use insight::compare::{Comparison, Options, RUNS_NEEDED, Unequal};
use model::time::Interval;
use numbers::Numbers;
use session::alignment::Role;
use session::questions::DigestQuery;
use views::actions::Action;
use views::view::Change;
use views::view::compare::CompareView;

/// Leads to something in the log with that role.
type Lead = Callback<(Role, Change)>;

/// The panel.
#[component]
pub(super) fn Compare(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<CompareView>();
    let beside = props.beside.as_ref();
    let (own, its) = (
        use_digest(&props.source, beside.map(|_| props.range)),
        use_digest(
            beside.map_or(&props.source, |beside| &beside.source),
            beside.filter(|it| !it.is_elsewhere).map(|it| it.range),
        ),
    );
    let is_before = beside.is_some_and(|beside| beside.role == Role::Before);
    let [before, after] = if is_before { [its, own] } else { [own, its] };
    let both = before.clone().zip(after.clone());
    let comparison = use_memo(both, |both| {
        let (before, after) = both.as_ref()?;
        let options = Options::default();
        Some(Rc::new(Comparison::of(
            side(before)?,
            side(after)?,
            &options,
        )))
    });
    let Some(beside) = beside else {
        return alone(&props.on_action);
    };
    if beside.is_elsewhere {
        return html! {
            <p class="empty">{ format!("The log {} has nothing in the selected range: it ends before, or begins later. Drop the range (Esc) to compare all of both.", beside.role.word()) }</p>
        };
    }
    let Some(comparison) = &*comparison else {
        let words = if props.source.complete && beside.source.complete {
            "Comparing the logs…"
        } else {
            "The comparison appears once both logs are read."
        };
        return html! { <p class="empty" role="status">{ words }</p> };
    };
    let lead = beside.on_lead.clone();
    let curves = [before, after].map(|digest| {
        let digest = digest.as_deref().and_then(Option::as_ref);
        Rc::new(
            digest
                .map(|digest| digest.curves.clone())
                .unwrap_or_default(),
        )
    });
    html! {
        <div class="compare">
            { head(props, beside, comparison) }
            { unequal(&comparison.unequal) }
            <div class="compare-body">
                <Numbers comparison={Rc::clone(comparison)} view={view.clone()} on_view={on_view.clone()} on_lead={lead.clone()} />
                <div class="compare-side">
                    <Findings comparison={Rc::clone(comparison)} on_lead={lead} />
                    <Curves {curves} {view} {on_view} />
                </div>
            </div>
        </div>
    }
}

/// The one run of a side.
fn side(digest: &Option<Digest>) -> Option<&[Digest]> {
    digest.as_ref().map(std::slice::from_ref)
}

/// What is compared of a log; nothing is asked without a range.
#[hook]
fn use_digest(source: &Source, range: Option<Option<Interval>>) -> Option<Rc<Option<Digest>>> {
    use_answer_if(source, range.map(DigestQuery))
}

/// With one log there is nothing to compare yet.
fn alone(on_action: &Callback<Action>) -> Html {
    let onclick = on_action.reform(|_: MouseEvent| Action::Compare);
    html! {
        <div class="empty">
            <p>{ "Open a second log to see what a change did: both timelines above each other, and every number before and after." }</p>
            <p><button class="primary" {onclick}>{ "Compare with another log…" }</button></p>
            <p>{ "Or drop it here, or two at once: the one whose file was changed earlier is the one before." }</p>
        </div>
    }
}

fn head(props: &PanelProps, beside: &Beside, comparison: &Comparison) -> Html {
    let (own, its) = (
        range_text(props.range, props.source.complete),
        beside.range.map(|range| range_text(Some(range), true)),
    );
    let about = match its {
        None => "The whole of both logs".to_owned(),
        Some(its) if beside.role == Role::Before => format!("{its} before, {own} after"),
        Some(its) => format!("{own} before, {its} after"),
    };
    html! {
        <header class="numbers-head">
            <h2>{ props.marked.about_all(about) }</h2>
            if let Some(lead) = comparison.lead() {
                <p>{ views::comparison::lead(&lead) }</p>
            }
            <p class="faint">
                { "One run each: times differ from run to run, so these prove nothing about them. " }
                { format!("eventscope compare A… --to B… takes many runs of each, {RUNS_NEEDED} at least, and can tell.") }
            </p>
        </header>
    }
}

/// What should be equal and is not.
fn unequal(unequal: &[Unequal]) -> Html {
    if unequal.is_empty() {
        return html! { <p class="compare-facts faint">{ "Both logs have the same program, arguments, GHC, capabilities and event classes." }</p> };
    }
    let value = |values: &[String]| match values.join(", ") {
        text if text.is_empty() => "none".to_owned(),
        text => text,
    };
    let row = |of: &Unequal| {
        html! { <div><dt>{ of.name.to_string() }</dt><dd>{ value(&of.before) }{ " → " }{ value(&of.after) }</dd></div> }
    };
    html! {
        <section class="compare-facts differ" aria-label="What differs between the two">
            <p><strong>{ "Different in the two logs, and perhaps why the numbers differ:" }</strong></p>
            <dl>{ for unequal.iter().map(row) }</dl>
        </section>
    }
}
