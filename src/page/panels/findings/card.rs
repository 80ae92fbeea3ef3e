//! The card above a panel that a finding led to: its text, its other places, and links back.

use yew::prelude::*;

use super::finding::severity;
use super::navigator::FindingNavigator;
use crate::panel::{PanelProps, Source, use_answer};
use insight::Report;
use insight::finding::Finding;
use scene::format;
use session::link_text::cut;
use session::queries::FindingsQuery;
use views::panels::FINDINGS;
use views::view::Change;
use views::view::findings::FindingsView;
use views::words::insight as words;

/// Renders the card while a place of a finding is selected and another panel than that of findings is open.
#[component]
pub(in crate::panels) fn FindingCard(props: &PanelProps) -> Html {
    let view = props.view.settings.get::<FindingsView>();
    if props.view.panel == FINDINGS || !view.is_at_place(props.range) {
        return Html::default();
    }
    let navigator = FindingNavigator::from_panel(props, view.within);
    html! { <OpenCard source={props.source.clone()} {view} {navigator} /> }
}

#[derive(Properties, PartialEq)]
struct OpenProps {
    source: Source,
    view: FindingsView,
    navigator: FindingNavigator,
}

#[component]
fn OpenCard(props: &OpenProps) -> Html {
    let (view, navigator) = (&props.view, &props.navigator);
    let answer = use_answer(&props.source, FindingsQuery(view.within));
    let found = answer
        .as_deref()
        .and_then(Option::as_ref)
        .and_then(|report| {
            let mut all = report.findings.iter();
            Some((
                report,
                all.find(|finding| cut(&finding.identity()) == view.open)?,
            ))
        });
    let Some((report, finding)) = found else {
        return Html::default();
    };
    let (sure, how_sure) = words::confidence(finding.confidence);
    let explain = {
        let view = view.clone();
        navigator.on_change.reform(move |_: MouseEvent| {
            let view = view.clone();
            Change::new(move |all, _| all.with_settings(view).with_panel(FINDINGS))
        })
    };
    let leave = navigator.on_change.reform(|_: MouseEvent| {
        Change::new(|mut all, _| {
            all.selection = None;
            all.with_settings(FindingsView::default())
        })
    });
    html! {
        <section class="finding-card" aria-label="Open finding">
            <header>
                { severity(finding.severity) }
                <h2>{ finding.title.clone() }</h2>
                <span class="number">{ words::cost(finding) }</span>
                <span class="sure" title={how_sure}>{ sure }</span>
                <button class="quiet" onclick={leave} aria-label="Leave the finding: show the whole log">{ "✕" }</button>
            </header>
            <p>{ finding.meaning.clone() }</p>
            <div class="finding-card-ways">
                { places(report, finding, view, navigator) }
                <button class="small" onclick={explain}>{ "Advice and caveats" }</button>
            </div>
        </section>
    }
}

/// Renders the index of the current place, and buttons to the previous and next one.
fn places(
    report: &Report,
    finding: &Finding,
    view: &FindingsView,
    navigator: &FindingNavigator,
) -> Html {
    let is_here = |place: &insight::finding::Evidence| Some(place.range) == view.place;
    let Some(at) = finding.evidence.iter().position(is_here) else {
        return Html::default();
    };
    let to = |place: Option<usize>, label: &'static str, sign: &'static str| {
        let place = place.and_then(|place| finding.evidence.get(place).cloned());
        let disabled = place.is_none();
        let (navigator, finding) = (navigator.clone(), finding.clone());
        let onclick =
            Callback::from(move |_: MouseEvent| navigator.prove(&finding, place.as_ref()));
        html! { <button class="small" {disabled} {onclick} aria-label={label}>{ sign }</button> }
    };
    let here = &finding.evidence[at];
    let subjects = here
        .subjects
        .iter()
        .map(|subject| report.subject_name(*subject));
    let subjects = subjects.collect::<Vec<_>>().join(", ");
    let many = finding.evidence.len();
    html! {
        <>
            if many > 1 { { to(at.checked_sub(1), "The place before", "‹") } }
            <span>
                if many > 1 { { format!("Place {} of {}", at + 1, format::count(many as u64)) }{ " · " } }
                <strong>{ subjects }</strong>{ " " }
                { format!("at {}, {}", format::time(here.range.start()), finding.amount_text(here)) }
            </span>
            if many > 1 { { to(Some(at + 1), "The next place", "›") } }
        </>
    }
}
