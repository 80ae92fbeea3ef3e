//! View changes that lead to the source of a number.

use analysis::flamegraph::sources;
use analysis::timeline::thread_table::ThreadTableSettings;
use insight::digest::{Key, NumberGroup};
use session::link_text::cut;
use views::heap::settings::HeapView;
use views::view::Change;
use views::view::findings::FindingsView;
use views::view::flame::FlameView;
use views::view::panel::PanelName;

use views::panels::{FINDINGS, FLAME_GRAPH, HEAP, PANELS};

/// Panels that show metrics, by prefix of the metric name.
const PANELS_OF: [(&str, &str); 5] = [
    ("gc.", "gc"),
    ("thread.", "threads"),
    ("spark.", "sparks"),
    ("finding.", "findings"),
    ("task.", "process"),
];

fn panel_of(metric: &str) -> PanelName {
    let found = PANELS_OF
        .iter()
        .find(|(begin, _)| metric.starts_with(begin));
    let panels = PANELS.iter();
    let panel = found.and_then(|(_, name)| panels.map(|it| it.name).find(|it| it.0 == *name));
    panel.unwrap_or_default()
}

/// Returns the change to the panel that lists the number, filtered by its name.
pub(super) fn to_number(key: &Key) -> Change {
    let (group, name) = (key.group, key.name.clone());
    Change::new(move |view, _| match group {
        NumberGroup::Asked | NumberGroup::Program => view.with_panel(panel_of(&name)),
        NumberGroup::Threads => {
            // Labels of numbered threads are compared without the number, replaced by `#`.
            let filter = cut(name.trim_end_matches('#')).to_owned();
            let threads = ThreadTableSettings {
                filter,
                ..view.settings.get()
            };
            let panel = panel_of("thread.");
            view.with_settings(threads).with_panel(panel)
        }
        // The track filter applies to both logs.
        NumberGroup::Spans => {
            let mut view = view;
            cut(&name).clone_into(&mut view.tracks.filter);
            view
        }
        NumberGroup::CostCentres => {
            let flame = FlameView {
                source: Some(sources::COST_CENTRES),
                search: cut(&name).to_owned(),
                ..view.settings.get()
            };
            view.with_settings(flame).with_panel(FLAME_GRAPH)
        }
        NumberGroup::Bands => {
            let mut heap = view.settings.get::<HeapView>();
            cut(&name).clone_into(&mut heap.choice.filter);
            view.with_settings(heap).with_panel(HEAP)
        }
    })
}

/// Returns the change that opens a finding.
pub(super) fn to_finding(identity: &str) -> Change {
    let open = FindingsView::opened(cut(identity).to_owned());
    Change::new(move |view, _| view.with_settings(open).with_panel(FINDINGS))
}
