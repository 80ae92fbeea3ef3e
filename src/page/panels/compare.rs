//! The comparison panel: differing facts, all numbers before and after, findings, and the distributions of pauses and
//! spans.

mod curve;
mod findings;
mod navigation;
mod numbers;

use std::rc::Rc;

use yew::prelude::*;

use crate::panel::{Answered, ComparisonTarget, Extent, PanelProps, Source, use_answered};
use curve::Curves;
use findings::findings;
use insight::Digest;
use insight::compare::{Comparison, Options, RUNS_NEEDED, UnequalFact};
use model::time::Interval;
use numbers::Numbers;
use session::alignment::Role;
use session::queries::DigestQuery;
use views::actions::Action;
use views::view::Change;
use views::view::compare::CompareView;

/// Callback that makes the log with this role primary and changes the view.
type SwitchLog = Callback<(Role, Change)>;

#[component]
pub(super) fn Compare(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<CompareView>();
    let compared_to = props.compared_to.as_ref();
    let (own, its) = (
        use_digest(&props.source, compared_to.map(|_| props.range)),
        use_digest(
            compared_to.map_or(&props.source, |compared_to| &compared_to.source),
            compared_to.filter(|it| !it.is_outside).map(|it| it.range),
        ),
    );
    let is_before = compared_to.is_some_and(|compared_to| compared_to.role == Role::Before);
    let extents = own.as_ref().zip(its.as_ref());
    let extents = extents.map(|(own, its)| (own.extent, its.extent));
    let [own, its] = [own, its].map(|of| of.map(|answered| answered.answer));
    let [before, after] = if is_before { [its, own] } else { [own, its] };
    let both = before.clone().zip(after.clone());
    let comparison = use_memo(both, |both| {
        let (before, after) = both.as_ref()?;
        let options = Options::default();
        Some(Rc::new(Comparison::compare(
            as_slice(before)?,
            as_slice(after)?,
            &options,
        )))
    });
    let Some(compared_to) = compared_to else {
        return open_second_hint(&props.on_action);
    };
    if compared_to.is_outside {
        return html! {
            <p class="empty">{ format!("The log {} has no events in the selected range: it ends before or starts after it. Clear the range (Esc) to compare the whole logs.", compared_to.role.name()) }</p>
        };
    }
    let Some((comparison, extents)) = comparison.as_ref().as_ref().zip(extents) else {
        let words = if props.source.complete && compared_to.source.complete {
            "Comparing the logs…"
        } else {
            "The comparison appears once both logs are read."
        };
        return html! { <p class="empty" role="status">{ words }</p> };
    };
    let on_switch_log = compared_to.on_switch_log.clone();
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
            { head(props, compared_to, extents, comparison) }
            { unequal(&comparison.unequal) }
            <div class="compare-body">
                <Numbers comparison={Rc::clone(comparison)} view={view.clone()} on_view={on_view.clone()} on_switch_log={on_switch_log.clone()} />
                <div class="compare-side">
                    { findings(comparison, &on_switch_log) }
                    <Curves {curves} {view} {on_view} />
                </div>
            </div>
        </div>
    }
}

/// Returns a digest as a slice of one run.
fn as_slice(digest: &Option<Digest>) -> Option<&[Digest]> {
    digest.as_ref().map(std::slice::from_ref)
}

/// Queries the numbers of a log to compare; without a `range` nothing is queried. `Some(None)` is the whole log.
#[hook]
fn use_digest(source: &Source, range: Option<Option<Interval>>) -> Option<Answered<DigestQuery>> {
    use_answered(source, range.map(DigestQuery))
}

/// Renders the hint to open a second log.
fn open_second_hint(on_action: &Callback<Action>) -> Html {
    let onclick = on_action.reform(|_: MouseEvent| Action::Compare);
    html! {
        <div class="empty">
            <p>{ "Open a second log to measure the effect of a change: both timelines, and every number before and after." }</p>
            <p><button class="primary" {onclick}>{ "Compare with another log…" }</button></p>
            <p>{ "Or drop it here, or two at once: the older file becomes the log before." }</p>
        </div>
    }
}

fn head(
    props: &PanelProps,
    compared_to: &ComparisonTarget,
    (own, its): (Extent, Extent),
    comparison: &Comparison,
) -> Html {
    let about = match (own.range, its.range) {
        (None, None) => "Both whole logs".to_owned(),
        _ if compared_to.role == Role::Before => {
            format!("{} before, {} after", its.title(), own.title())
        }
        _ => format!("{} before, {} after", own.title(), its.title()),
    };
    html! {
        <header class="numbers-head">
            <h2>{ props.track_selection.about_all(about) }</h2>
            if let Some(lead) = comparison.main_reason() {
                <p>{ views::comparison::lead(&lead) }</p>
            }
            <p class="faint">
                { "One run on each side: times vary between runs, so differences in times prove nothing. " }
                { format!("eventscope compare A… --to B… compares several runs of each, at least {RUNS_NEEDED}, and can decide.") }
            </p>
        </header>
    }
}

/// Renders facts that should be equal for a fair comparison, but differ.
fn unequal(unequal: &[UnequalFact]) -> Html {
    if unequal.is_empty() {
        return html! { <p class="compare-facts faint">{ "Program, arguments, GHC, capabilities and event classes are equal." }</p> };
    }
    let value = |values: &[String]| match values.join(", ") {
        text if text.is_empty() => "none".to_owned(),
        text => text,
    };
    let row = |of: &UnequalFact| {
        html! { <div><dt>{ of.name.to_string() }</dt><dd>{ value(&of.before) }{ " → " }{ value(&of.after) }</dd></div> }
    };
    html! {
        <section class="compare-facts differ" aria-label="Differences between the runs">
            <p><strong>{ "Differences between the runs, which may explain those of the numbers:" }</strong></p>
            <dl>{ for unequal.iter().map(row) }</dl>
        </section>
    }
}
