//! Navigation to a place of a finding: selects and highlights it on the timeline, and opens the panel that proves it.

use yew::prelude::*;

use crate::panel::PanelProps;
use crate::viewer::NavigationTarget;
use insight::finding::{Axis, Evidence, Finding, Subject};
use model::time::Interval;
use session::link_text::cut;
use views::panels::{COLLECTIONS, FINDINGS, HEAP, SUMMARY, THREADS};
use views::timeline::highlight::track_of;
use views::view::Change;
use views::view::findings::FindingsView;
use views::view::panel::PanelName;

/// Navigates to places of findings.
#[derive(Clone, PartialEq)]
pub(crate) struct FindingNavigator {
    /// Range that was analyzed; `None` means the whole log.
    pub(crate) within: Option<Interval>,
    /// Whether the log has a heap profile, so that the heap panel can serve as proof.
    pub(crate) heap_profile: bool,
    pub(crate) on_change: Callback<Change>,
    pub(crate) on_goto: Callback<NavigationTarget>,
}

impl FindingNavigator {
    /// Creates a navigator for a panel with the findings of a range.
    pub(super) fn from_panel(props: &PanelProps, within: Option<Interval>) -> Self {
        Self {
            within,
            heap_profile: props.overview.contents.heap_profile,
            on_change: props.on_change.clone(),
            on_goto: props.on_goto.clone(),
        }
    }

    /// Returns the panel that proves a place, with its title; `None` if that is the panel of findings itself.
    pub(super) fn proof(
        &self,
        finding: &Finding,
        place: &Evidence,
    ) -> Option<(PanelName, &'static str)> {
        match (place.subjects.first(), finding.axis) {
            (Some(Subject::Thread(_)), _) => Some((THREADS, "Threads")),
            (Some(Subject::Collection(_)), _) => Some((COLLECTIONS, "Collections")),
            (Some(Subject::Capability(_)), Axis::Log) | (None, Axis::Log) => None,
            (Some(Subject::Capability(_)), _) => Some((SUMMARY, "Summary")),
            (None, Axis::Memory) if self.heap_profile => Some((HEAP, "Heap")),
            (None, _) => Some((COLLECTIONS, "Collections")),
        }
    }

    /// Goes to a place and opens the panel that proves it.
    pub(crate) fn prove(&self, finding: &Finding, place: Option<&Evidence>) {
        let panel = place.and_then(|place| self.proof(finding, place));
        let panel = panel.map_or(FINDINGS, |(panel, _)| panel);
        self.go(finding, place, Some(panel));
    }

    /// Goes to a place of a finding, or opens the finding if it has none; optionally switches to another panel.
    pub(super) fn go(&self, finding: &Finding, place: Option<&Evidence>, panel: Option<PanelName>) {
        let identity = cut(&finding.identity()).to_owned();
        let place = place.filter(|place| !place.range.is_empty());
        let view = match place {
            Some(place) => FindingsView::visited(identity, place, self.within),
            None => FindingsView::opened(identity),
        };
        let selection = place.map(|place| place.range);
        self.on_change.emit(Change::new(move |mut all, _| {
            if selection.is_some() {
                all.selection = selection;
            }
            let panel = panel.unwrap_or(all.panel);
            all.with_settings(view).with_panel(panel)
        }));
        if let Some(place) = place {
            let track = place.subjects.first().map(|subject| track_of(*subject));
            let target = NavigationTarget::zoomed(track, place.range);
            self.on_goto.emit(target);
        }
    }
}
