//! The panel of findings: rule-based causes of lost time or memory, in the selected range or the whole log.

mod brief;
mod card;
mod finding;
mod lost_time;
mod navigator;
mod progress;
mod quiet_rules;

use std::rc::Rc;

use web_sys::HtmlElement;
use yew::prelude::*;

use crate::copy::CopyButton;
use crate::dom::{focus, scroll_panel_to, state_callback};
use crate::panel::{PanelProps, use_answered};
pub(super) use brief::Brief;
pub(super) use card::FindingCard;
use finding::FindingRow;
pub(super) use finding::severity;
use insight::finding::{Axis, Finding};
pub(crate) use navigator::FindingNavigator;
use progress::IntermediateFindings;
use quiet_rules::QuietRules;
use scene::format;
use session::link_text::cut;
use session::queries::FindingsQuery;
use views::view::findings::FindingsView;
use views::words::insight as words;

#[component]
pub(super) fn FindingsPanel(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<FindingsView>();
    let range = view.range(props.range);
    let answered = use_answered(&props.source, Some(FindingsQuery(range)));
    let shows_minor = use_state_eq(|| false);
    let open = use_node_ref();
    let report = answered
        .as_ref()
        .and_then(|it| Some((it.extent, it.answer.as_ref().as_ref()?)));
    {
        let node = open.clone();
        use_effect_with(report.is_some(), move |_| {
            if let Some(head) = node.cast::<HtmlElement>() {
                show_open(&head);
            }
        });
    }
    let Some((extent, report)) = report else {
        let words = if props.source.complete {
            "Checking the log. Millions of thread runs take some seconds; you can use everything else meanwhile."
        } else {
            "Findings appear once the whole log is read."
        };
        return html! {
            <>
                <p class="empty" role="status">{ words }</p>
                if props.source.complete { <IntermediateFindings source={props.source.clone()} {range} /> }
            </>
        };
    };
    let shared = Rc::new(report.clone());
    let navigator = FindingNavigator::from_panel(props, range);
    let is_open = |finding: &Finding| cut(&finding.identity()) == view.open;
    let (grave, minor): (Vec<&Finding>, Vec<&Finding>) = report
        .findings
        .iter()
        .partition(|finding| finding.is_significant());
    let minor_open = *shows_minor || minor.iter().any(|finding| is_open(finding));
    let row = |finding: &&Finding| {
        let is_open = is_open(finding);
        let (key, finding) = (finding.identity(), Rc::new(Finding::clone(finding)));
        let on_toggle = on_toggle(&view, &on_view, &navigator, &finding);
        html! {
            <FindingRow {key} {finding} report={Rc::clone(&shared)} {is_open}
                head={if is_open { open.clone() } else { NodeRef::default() }}
                at={props.range.filter(|_| is_open)} {on_toggle} navigator={navigator.clone()} />
        }
    };
    let section = |is_log: bool| {
        let found = grave
            .iter()
            .filter(|finding| (finding.axis == Axis::Log) == is_log);
        let mut found = found.peekable();
        let (id, title) = if is_log {
            ("findings-log", Axis::Log.title())
        } else {
            ("findings-program", "Cost, highest first")
        };
        found.peek().is_some().then(|| {
            html! {
                <section aria-labelledby={id}>
                    <h3 {id}>{ title }</h3>
                    if !is_log {
                        if let Some(text) = words::program_time(props.overview.caps.len()) { <p class="faint">{ text }</p> }
                    }
                    <ul>{ for found.map(row) }</ul>
                </section>
            }
        })
    };
    let on_minor = state_callback(&shows_minor).reform(move |_: MouseEvent| !minor_open);
    html! {
        <div class="findings">
            { head(props, extent.title(), &view, &on_view) }
            if !view.open.is_empty() && !report.findings.iter().any(is_open) {
                <p role="status">{ format!("The finding that was open ({}) is not among these.", view.open) }</p>
            }
            { for words::sampled(report).map(|text| html! { <p class="hint">{ text }</p> }) }
            { for words::what_is_left_open(report).map(|text| html! { <p class="hint">{ text }</p> }) }
            if grave.is_empty() {
                <p class="nothing">{ words::nothing_found(report) }{ " Each rule detects one kind of problem; they are listed below." }</p>
            }
            if !report.findings.is_empty() { <p class="faint">{ words::HOW_SURE }</p> }
            { for [false, true].into_iter().filter_map(section) }
            { for report.try_command.as_deref().map(measure) }
            { lost_time::lost_time(report) }
            if !minor.is_empty() {
                <section aria-label="Minor findings">
                    <button class="small" aria-expanded={minor_open.to_string()} onclick={on_minor}>
                        { format::pluralize(minor.len() as u64, "minor finding") }
                    </button>
                    if minor_open { <ul>{ for minor.iter().map(row) }</ul> }
                </section>
            }
            <QuietRules report={shared.clone()} is_open={grave.is_empty()} />
        </div>
    }
}

/// Renders the range of the findings, and links to other ranges.
fn head(
    props: &PanelProps,
    about: String,
    view: &FindingsView,
    on_view: &Callback<FindingsView>,
) -> Html {
    let at_place = view.is_at_place(props.range);
    let on_alone = {
        let open = view.open.clone();
        on_view.reform(move |_: MouseEvent| FindingsView::opened(open.clone()))
    };
    html! {
        <header class="numbers-head">
            <h2>{ props.track_selection.about_all(about) }</h2>
            if at_place {
                <p class="faint">{ "Evidence of the open finding is selected" }</p>
                <button class="small" onclick={on_alone}>{ "Check only this range" }</button>
            } else if props.range.is_some() {
                <p class="faint">{ "Only the selected range was checked; Esc returns to the whole log" }</p>
            } else {
                <p class="faint">{ "Drag on the timeline to check only a part" }</p>
            }
        </header>
    }
}

/// Renders the command that measures the effect of the recommended flags.
fn measure(command: &str) -> Html {
    let text = command.to_owned();
    html! {
        <section aria-labelledby="findings-measure">
            <h3 id="findings-measure">{ words::MEASURE }</h3>
            <div class="flag">
                <code>{ command.to_owned() }</code>
                <CopyButton what="the command" text={Callback::from(move |()| Some(text.clone()))} />
            </div>
            <p class="faint">{ words::MEASURE_HOW }</p>
        </section>
    }
}

/// Returns a callback that opens a finding at its worst place, or closes it.
fn on_toggle(
    view: &FindingsView,
    on_view: &Callback<FindingsView>,
    navigator: &FindingNavigator,
    finding: &Rc<Finding>,
) -> Callback<()> {
    let toggled = view.toggled(cut(&finding.identity()));
    if toggled.open.is_empty() {
        return on_view.reform(move |()| toggled.clone());
    }
    let (navigator, finding) = (navigator.clone(), Rc::clone(finding));
    Callback::from(move |()| navigator.go(&finding, finding.evidence.first(), None))
}

/// Scrolls to the open finding, and focuses it unless another element has the focus.
fn show_open(head: &HtmlElement) {
    scroll_panel_to(head);
    let document = gloo_utils::document();
    let nowhere = document
        .active_element()
        .is_none_or(|at| at.tag_name() == "BODY");
    if nowhere {
        focus(head);
    }
}
