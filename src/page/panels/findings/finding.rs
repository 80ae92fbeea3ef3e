//! A finding: its line, and the details that open below.

use std::rc::Rc;

use yew::prelude::*;

use super::navigator::FindingNavigator;
use crate::copy::CopyButton;
use crate::pagination::use_pagination;
use insight::Report;
use insight::finding::{Advice, Evidence, Finding, Severity, Value};
use model::time::Interval;
use scene::format;
use views::words::insight as words;

/// Number of places listed at first.
const PLACES_SHOWN: usize = 6;

#[derive(Properties, PartialEq)]
pub(super) struct FindingProps {
    pub(super) finding: Rc<Finding>,
    pub(super) is_open: bool,
    /// Reference to the button that opens the finding.
    pub(super) head: NodeRef,
    /// Selected range, if it may be a place of this finding.
    pub(super) at: Option<Interval>,
    pub(super) on_toggle: Callback<()>,
    /// The report, which names the subjects of the finding.
    pub(super) report: Rc<Report>,
    /// Navigates to the places of the finding.
    pub(super) navigator: FindingNavigator,
}

/// Renders a finding, with its details if open.
#[component]
pub(super) fn FindingRow(props: &FindingProps) -> Html {
    let finding = &*props.finding;
    let id = format!("finding-{}", finding.identity().replace(' ', "-"));
    let onclick = props.on_toggle.reform(|_: MouseEvent| ());
    let (sure, _) = words::confidence(finding.confidence);
    let cause = props.report.cause_title(finding);
    let cause = cause.map(|cause| format!("Explained by: {cause}"));
    html! {
        <li class="finding">
            <h4>
                <button ref={props.head.clone()} class="finding-head" aria-expanded={props.is_open.to_string()}
                    aria-controls={props.is_open.then(|| id.clone())} {onclick}>
                    { severity(finding.severity) }
                    <span class="title">
                        if let Some(cause) = cause { <span class="faint" title={cause}>{ "↳ " }</span> }
                        { finding.title.clone() }
                    </span>
                    <span class="cost number">{ words::cost(finding) }</span>
                    <span class="sure">{ sure }</span>
                </button>
            </h4>
            if props.is_open {
                <div class="finding-body" {id}>
                    <div>{ meaning(finding, props.report.cause_title(finding)) }{ tries(&finding.tries) }{ distrust(finding) }</div>
                    <div>
                        { numbers(&finding.numbers) }
                        <Places finding={Rc::clone(&props.finding)} report={Rc::clone(&props.report)} at={props.at} navigator={props.navigator.clone()} />
                    </div>
                </div>
            }
        </li>
    }
}

/// Renders the severity as bars and a word.
pub(in crate::panels) fn severity(of: Severity) -> Html {
    let bar = |grade| html! { <i class={classes!((of >= grade).then_some("on"))} /> };
    let grades = [Severity::Low, Severity::Medium, Severity::High];
    html! {
        <span class="severity">
            <span class="bars" aria-hidden="true">{ for grades.into_iter().map(bar) }</span>
            { words::severity(of) }
        </span>
    }
}

fn meaning(finding: &Finding, cause: Option<&str>) -> Html {
    let (_, sure) = words::confidence(finding.confidence);
    html! {
        <>
            <p>{ finding.meaning.clone() }{ words::cost_explained(finding).map(|text| format!(" {text}")) }</p>
            if let Some(cause) = cause {
                <p>{ words::explained_by(cause) }</p>
            }
            <p class="sure">{ sure }</p>
        </>
    }
}

fn tries(tries: &[Advice]) -> Html {
    let row = |attempt: &Advice| {
        let flag = attempt.flag.clone().map(|flag| {
            let text = flag.clone();
            html! {
                <div class="flag">
                    <code>{ flag.clone() }</code>
                    <CopyButton what={flag.into_owned()} text={Callback::from(move |()| Some(text.to_string()))} />
                </div>
            }
        });
        html! {
            <li>
                { flag }
                { attempt.text.clone() }
                if let Some(price) = &attempt.price { <span class="price">{ format!(" Price: {price}.") }</span> }
            </li>
        }
    };
    html! {
        if !tries.is_empty() {
            <h5>{ "Advice" }</h5>
            <ul class="tries">{ for tries.iter().map(row) }</ul>
        }
    }
}

fn distrust(finding: &Finding) -> Html {
    html! {
        <>
            <h5>{ words::CAVEAT }</h5>
            <p>{ finding.distrust.clone() }</p>
        </>
    }
}

fn numbers(numbers: &[(std::borrow::Cow<'static, str>, Value)]) -> Html {
    let row = |(name, value): &(std::borrow::Cow<'static, str>, Value)| {
        html! { <><dt>{ name.to_string() }</dt><dd class="number">{ value.to_string() }</dd></> }
    };
    html! {
        if !numbers.is_empty() {
            <h5>{ "Numbers" }</h5>
            <dl class="finding-numbers">{ for numbers.iter().map(row) }</dl>
        }
    }
}

#[derive(Properties, PartialEq)]
struct PlacesProps {
    finding: Rc<Finding>,
    report: Rc<Report>,
    at: Option<Interval>,
    navigator: FindingNavigator,
}

/// Renders the places of a finding as buttons that go there.
#[component]
fn Places(props: &PlacesProps) -> Html {
    let pagination = use_pagination(PLACES_SHOWN);
    let finding = &props.finding;
    let listed = finding.evidence.len();
    let row = |place: &Evidence| {
        let onclick = {
            let (navigator, finding, place) =
                (props.navigator.clone(), Rc::clone(finding), place.clone());
            Callback::from(move |_: MouseEvent| navigator.go(&finding, Some(&place), None))
        };
        let proof = props.navigator.proof(finding, place).map(|(_, title)| {
            let (navigator, finding, place) = (props.navigator.clone(), Rc::clone(finding), place.clone());
            let onclick = Callback::from(move |_: MouseEvent| navigator.prove(&finding, Some(&place)));
            html! {
                <button class="place proof" {onclick} title={format!("Select it and open the panel {title} for evidence")}>
                    { format!("{title} ›") }
                </button>
            }
        });
        let is_here = props.at == Some(place.range);
        let length = place.range.duration();
        let subjects = place
            .subjects
            .iter()
            .map(|subject| props.report.subject_name(*subject));
        // An amount equal to the length of the place adds nothing.
        let amount = match place.amount {
            Value::Ns(ns) if ns == length.0 => None,
            Value::Ns(_) => Some(format!("{} of it", place.amount)),
            _ => Some(finding.amount_text(place)),
        };
        html! {
            <li><button class="place" {onclick} aria-current={is_here.to_string()} title="Select it and show it on the timeline">
                <span class="number">{ format!("at {}", format::time(place.range.start())) }</span>
                <span class="number">{ format!("{} long", format::duration_ns(length.0)) }</span>
                <span>{ subjects.collect::<Vec<_>>().join(", ") }</span>
                <span class="number">{ amount }</span>
            </button>{ proof }</li>
        }
    };
    let title = match finding.places {
        places if places > listed as u64 => {
            format!("The {listed} worst of {} places", format::count(places))
        }
        1 => "Evidence".to_owned(),
        _ => "Evidence, worst first".to_owned(),
    };
    html! {
        if listed > 0 {
            <h5>{ title }</h5>
            <ol class="places">{ for finding.evidence.iter().take(pagination.shown).map(row) }</ol>
            { pagination.button(listed, "places") }
        }
    }
}
