//! Findings on the timeline: marks on the minimap for the worst occurrences, and the highlight of the open
//! finding.

use std::collections::BTreeSet;

use yew::prelude::*;

use super::dom::consume;
use super::panel::{Source, use_answer, use_answer_if};
use super::panels::FindingNavigator;
use super::viewer::ViewerRef;
use insight::Report;
use insight::finding::{Evidence, Finding, Severity};
use model::sorting::CompactSort;
use model::time::Interval;
use session::link_text::cut;
use session::queries::FindingsQuery;
use views::timeline::highlight::Highlight;
use views::view::findings::FindingsView;
use views::words::insight as words;

/// Maximum number of marks, in total and per finding.
const MAX_MARKS: usize = 36;
const MAX_MARKS_PER_FINDING: usize = 4;

#[derive(Clone, Properties, PartialEq)]
pub(super) struct MarksProps {
    pub(super) source: Source,
    pub(super) viewer: ViewerRef,
    /// Time range of the minimap, in nanoseconds.
    pub(super) minimap_ns: (f64, f64),
    /// State of the findings panel, including the open finding.
    pub(super) view: FindingsView,
    /// Selected time range.
    pub(super) selection: Option<Interval>,
    /// Navigation to evidence in the whole log.
    pub(super) navigator: FindingNavigator,
}

/// Marks on the minimap.
#[component]
pub(super) fn FindingMarks(props: &MarksProps) -> Html {
    let complete = props.source.complete;
    let whole = use_answer_if(&props.source, complete.then_some(FindingsQuery(None)));
    let view = &props.view;
    let is_here = view.is_at_place(props.selection);
    let part = use_answer(
        &props.source,
        FindingsQuery(view.within.filter(|_| is_here)),
    );
    {
        let viewer = props.viewer.clone();
        let open = is_here.then(|| view.open.clone());
        use_effect_with((part, open), move |(part, open)| {
            let report = part.as_deref().and_then(Option::as_ref);
            let highlight = open
                .as_ref()
                .zip(report)
                .map(|(open, report)| highlight(report, open));
            set_highlight(&viewer, highlight.unwrap_or_default());
            move || set_highlight(&viewer, Vec::new())
        });
    }
    let Some(report) = whole.as_deref().and_then(Option::as_ref) else {
        return Html::default();
    };
    let mut marks = marks(report);
    marks.sort_small_by_key(|(_, place)| place.range.middle());
    let mark = |(finding, place): &(&Finding, &Evidence)| mark(props, finding, place);
    html! {
        if !marks.is_empty() {
            <svg class="finding-marks" role="list" aria-label="Findings in time order">
                { for marks.iter().map(mark) }
            </svg>
        }
    }
}

/// Makes the timeline dim everything but the highlight.
fn set_highlight(viewer: &ViewerRef, highlight: Vec<Highlight>) {
    viewer.edit(|control| control.set_highlights(highlight));
}

/// Returns the highlights for the evidence of the open finding.
fn highlight(report: &Report, open: &str) -> Vec<Highlight> {
    let mut all = report.findings.iter();
    let finding = all.find(|finding| cut(&finding.identity()) == open);
    let places = finding.map_or(&[][..], |finding| &finding.evidence);
    places.iter().flat_map(Highlight::from_evidence).collect()
}

/// Returns the worst places of the most severe findings. Evidence that covers more than half of the log gets no
/// mark.
fn marks(report: &Report) -> Vec<(&Finding, &Evidence)> {
    let all_ns = report.range.duration().0;
    let mut marked = BTreeSet::new();
    let mut marks = Vec::new();
    for finding in report.significant_findings() {
        let small = |place: &&Evidence| place.range.duration().0 <= all_ns / 2;
        // Of several findings at one place, only the most severe is marked.
        let new = |place: &&Evidence| marked.insert(place.range.middle());
        let places = finding.evidence.iter().filter(small).filter(new);
        marks.extend(
            places
                .take(MAX_MARKS_PER_FINDING)
                .map(|place| (finding, place)),
        );
    }
    marks.truncate(MAX_MARKS);
    marks
}

/// Renders a mark that hangs from the upper edge, higher for higher severity.
fn mark(props: &MarksProps, finding: &Finding, place: &Evidence) -> Html {
    let (class, path) = match finding.severity {
        Severity::High => ("high", "M-6 0H6L0 15Z"),
        Severity::Medium => ("medium", "M-5 0H5L0 11Z"),
        Severity::Low | Severity::Minor => ("low", "M-3.5 0H3.5V6H-3.5Z"),
    };
    let (start, end) = props.minimap_ns;
    let part = (place.range.middle().0 as f64 - start) / (end - start).max(1.0);
    let label = format!(
        "{}: {} {}",
        words::severity(finding.severity),
        finding.title,
        words::cost(finding)
    );
    let onclick = {
        let (navigator, finding, place) = (props.navigator.clone(), finding.clone(), place.clone());
        Callback::from(move |()| navigator.prove(&finding, Some(&place)))
    };
    let onkeydown = {
        let onclick = onclick.clone();
        Callback::from(move |event: KeyboardEvent| {
            if matches!(event.key().as_str(), "Enter" | " ") {
                consume(&event);
                onclick.emit(());
            }
        })
    };
    let onclick = onclick.reform(|_: MouseEvent| ());
    html! {
        <svg x={format!("{:.3}%", part * 100.0)} overflow="visible" role="listitem">
            <g class={classes!("finding-mark", class)} role="button" tabindex="-1" aria-label={label.clone()} {onclick} {onkeydown}>
                <title>{ label }</title>
                <path d={path} />
            </g>
        </svg>
    }
}
