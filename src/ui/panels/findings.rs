//! What costs the program time or memory, by rules: in the selected range, or in the
//! whole log.

mod brief;
mod finding;
mod passed;

use std::rc::Rc;

use web_sys::HtmlElement;
use yew::prelude::*;

use crate::ui::dom::{focus, scroll_panel_to};
use crate::ui::panel::{PanelProps, range_text, use_answer};
use crate::ui::viewer::Goto;
pub(super) use brief::Brief;
use finding::FindingRow;
pub(super) use finding::severity;
use insight::finding::{Axis, Evidence, Finding, Subject};
use passed::PassedRules;
use views::scene::format;
use views::session::questions::FindingsQuery;
use views::tracks::Row;
use views::tracks::capability::Capability;
use views::tracks::collections::Collections as CollectionsTrack;
use views::tracks::thread::Thread;
use views::view::Change;
use views::view::findings::FindingsView;
use views::view::text::cut;
use views::words::insight as words;

/// The panel.
#[component]
pub(super) fn FindingsPanel(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<FindingsView>();
    let answer = use_answer(&props.source, FindingsQuery(view.range(props.range)));
    let shows_minor = use_state_eq(|| false);
    let open = use_node_ref();
    let report = answer.as_deref().and_then(Option::as_ref);
    {
        let node = open.clone();
        use_effect_with(report.is_some(), move |_| {
            if let Some(head) = node.cast::<HtmlElement>() {
                show_open(&head);
            }
        });
    }
    let Some(report) = report else {
        return html! { <p class="empty">{ "What there is to find is said when the log is read to its end." }</p> };
    };
    let is_open = |finding: &Finding| cut(&finding.identity()) == view.open;
    let (grave, minor): (Vec<&Finding>, Vec<&Finding>) = report
        .findings
        .iter()
        .partition(|finding| finding.matters());
    let minor_open = *shows_minor || minor.iter().any(|finding| is_open(finding));
    let row = |finding: &&Finding| {
        let is_open = is_open(finding);
        let on_toggle = {
            let (view, identity) = (view.clone(), finding.identity());
            on_view.reform(move |()| view.toggled(cut(&identity)))
        };
        html! {
            <FindingRow key={finding.identity()} finding={Rc::new(Finding::clone(finding))} {is_open}
                head={if is_open { open.clone() } else { NodeRef::default() }}
                at={props.range.filter(|_| is_open)} {on_toggle} on_place={on_place(props, &view, finding)} />
        }
    };
    let axis = |axis: Axis| {
        let found = grave.iter().filter(|finding| finding.axis == axis);
        let mut found = found.peekable();
        let id = format!("findings-{axis:?}");
        let unexplained = axis == Axis::Time && report.unexplained_ns > 0;
        found.peek().is_some().then(|| {
            html! {
                <section aria-labelledby={id.clone()}>
                    <h3 {id}>{ axis.title() }</h3>
                    <ul>{ for found.map(row) }</ul>
                    if unexplained { <p class="faint">{ words::unexplained(report) }</p> }
                </section>
            }
        })
    };
    let on_minor = {
        let shows = shows_minor.setter();
        Callback::from(move |_: MouseEvent| shows.set(!minor_open))
    };
    html! {
        <div class="findings">
            { head(props, &view, &on_view) }
            if !view.open.is_empty() && !report.findings.iter().any(is_open) {
                <p role="status">{ format!("What was open ({}) is not found here.", view.open) }</p>
            }
            if grave.is_empty() {
                <p class="nothing">{ words::nothing_found(report) }{ " A rule sees only what it asks for, and below stands what was asked." }</p>
            }
            { for Axis::ALL.into_iter().filter_map(axis) }
            if !minor.is_empty() {
                <section aria-label="What hardly matters">
                    <button class="small" aria-expanded={minor_open.to_string()} onclick={on_minor}>
                        { format!("{} that hardly {}", format::count(minor.len() as u64), if minor.len() == 1 { "matters" } else { "matter" }) }
                    </button>
                    if minor_open { <ul>{ for minor.iter().map(row) }</ul> }
                </section>
            }
            <PassedRules report={Rc::new(report.clone())} is_open={grave.is_empty()} />
        </div>
    }
}

/// What the findings are about, and the ways to another range.
fn head(props: &PanelProps, view: &FindingsView, on_view: &Callback<FindingsView>) -> Html {
    let about = range_text(view.range(props.range), props.source.complete);
    let at_place = view.is_at_place(props.range);
    let on_alone = {
        let open = view.open.clone();
        on_view.reform(move |_: MouseEvent| FindingsView::opened(open.clone()))
    };
    html! {
        <header class="numbers-head">
            <h2>{ props.marked.about_all(about) }</h2>
            if at_place {
                <p class="faint">{ "A place of the open finding is selected" }</p>
                <button class="small" onclick={on_alone}>{ "Look at this place alone" }</button>
            } else if props.range.is_some() {
                <p class="faint">{ "The rules looked at the selected range alone; Esc goes back to the whole log" }</p>
            } else {
                <p class="faint">{ "Drag on the timeline to have the rules look at a part" }</p>
            }
        </header>
    }
}

/// Selects a place of a finding, and shows it with the track that it is about.
fn on_place(props: &PanelProps, view: &FindingsView, finding: &Finding) -> Callback<Evidence> {
    let within = view.range(props.range);
    let identity = cut(&finding.identity()).to_owned();
    let (on_change, on_goto) = (props.on_change.clone(), props.on_goto.clone());
    Callback::from(move |place: Evidence| {
        let range = place.range;
        if range.duration().0 > 0 {
            let view = FindingsView::gone_to(identity.clone(), range, within);
            on_change.emit(Change::new(move |mut all, _| {
                all.selection = Some(range);
                all.with_settings(view)
            }));
        }
        on_goto.emit(Goto {
            span: range,
            row: place.subjects.first().map(track),
            zoom: true,
        });
    })
}

/// The track of what a finding is about.
fn track(subject: &Subject) -> Row {
    match *subject {
        Subject::Thread(thread) => Thread(thread).into(),
        Subject::Capability(cap) => Capability(cap).into(),
        Subject::Collection(_) => CollectionsTrack.into(),
    }
}

/// Brings the finding that a link opened into view. The keyboard goes on there, unless it
/// is somewhere already.
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
