//! Short list of findings at the top of the summary panel.

use yew::prelude::*;

use super::finding::severity;
use super::navigator::FindingNavigator;
use crate::panel::{PanelProps, use_answer};
use insight::finding::Finding;
use scene::format;
use session::queries::FindingsQuery;
use views::panels::FINDINGS;
use views::view::Change;
use views::view::findings::FindingsView;
use views::words::insight as words;

/// Number of findings named.
const NAMED: usize = 3;

/// Renders links to the most severe findings, and to the panel with all of them.
#[component]
pub(in crate::panels) fn Brief(props: &PanelProps) -> Html {
    let view = props.view.settings.get::<FindingsView>();
    let within = view.range(props.range);
    let navigator = FindingNavigator::from_panel(props, within);
    let answer = use_answer(&props.source, FindingsQuery(within));
    let Some(report) = answer.as_deref().and_then(Option::as_ref) else {
        return Html::default();
    };
    let link = |onclick: Callback<MouseEvent>, label: Html| html! { <li><button class="brief-link" {onclick}>{ label }</button></li> };
    let named = |finding: &&Finding| {
        let label = html! {
            <>
                { severity(finding.severity) }
                <span class="title">{ finding.title.clone() }</span>
                <span class="cost number">{ words::cost(finding) }</span>
            </>
        };
        let (navigator, finding) = (navigator.clone(), Finding::clone(finding));
        let prove = move |_: MouseEvent| navigator.prove(&finding, finding.evidence.first());
        link(Callback::from(prove), label)
    };
    let found = report.significant_findings();
    let rest = match found.len() {
        0 => words::nothing_found(report),
        all if all > NAMED => format!("{} more", format::count((all - NAMED) as u64)),
        _ => String::new(),
    };
    let all = props.on_change.reform(move |_: MouseEvent| {
        let view = FindingsView {
            open: String::new(),
            ..view.clone()
        };
        Change::new(move |all, _| all.with_settings(view).with_panel(FINDINGS))
    });
    html! {
        <ul class="brief" aria-label="Findings">
            { for found.iter().take(NAMED).map(named) }
            if !rest.is_empty() { { link(all, html! { <span class="title">{ rest }</span> }) } }
        </ul>
    }
}
