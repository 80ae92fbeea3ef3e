//! Report section with the timeline in its default state, and its legend.

use std::rc::Rc;

use super::{ReportSubject, Section};
use crate::control::Control;
use crate::notes::Notes;
use crate::timeline::TOP_PX;
use crate::timeline::arrange::{TrackView, arrange};
use crate::timeline::layout::Layout;
use crate::timeline::picture::{Caption, Picture};
use analysis::timeline::thread_lane::{ThreadListQuery, ThreadListRow};
use eventlog::ids::CapId;
use scene::format;
use scene::palette::Palette;
use scene::svg::SvgPainter;
use session::Overview;
use session::queries::LabelsQuery;
use session::query::Answers;
use session::tracks::group::TrackGroup;
use session::tracks::name::TrackName;
use session::tracks::{TimelineQuery, TrackListInput};

/// Width of the picture, in CSS pixels.
const WIDTH_PX: f64 = 1100.0;
/// Maximum number of tracks and headings.
const LINES: usize = 60;
/// Maximum number of threads; those that ran longest are shown.
const THREADS: usize = 20;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Rc<Overview>,
    subject: &ReportSubject,
) -> Option<Section> {
    let mut section = Section::new("timeline", "Timeline");
    let html = &mut section.body;
    let Some(span) = overview.span else {
        html.paragraph("The log has no events.");
        return Some(section);
    };
    let longest = ThreadListQuery {
        limit: THREADS,
        ..ThreadListQuery::default()
    };
    let (threads, in_all) = log.ask(longest).await?;
    let (layout, left_out) = layout(overview, &threads, in_all as u64);
    let labels = threads.into_iter();
    let labels = labels.filter_map(|row| Some((row.id, row.label?)));
    let mut control = Control::default();
    control.resize((WIDTH_PX, TOP_PX + layout.height()));
    control.set_log(span, Rc::clone(overview), labels);
    control.set_layout(Rc::new(layout));
    let visible = subject.range.map(|range| range.clip(span));
    control.show_view(visible.filter(|range| !range.is_empty()), None, None);
    fill(log, &mut control).await?;

    let (none, caption) = (Notes::default(), caption(overview, subject));
    let picture = |palette| {
        let scene = control.scene(palette, false, &none);
        Picture::new(vec![(caption.clone(), scene)])
    };
    let size = picture(&Palette::LIGHT).size();
    let about = format!("The timeline of {}, with a legend below", subject.name);
    let svg = SvgPainter::themed(size, ("t", &about), |palette, painter: &mut SvgPainter| {
        picture(palette).paint(painter);
    });
    html.picture(&about, &svg);
    if in_all > THREADS {
        let all = format::pluralize(in_all as u64, "thread");
        html.note(&format!(
            "Only the {THREADS} of {all} that ran longest are shown."
        ));
    }
    if left_out > 0 {
        let all = format::pluralize(left_out as u64, "more line");
        html.note(&format!("{all} of the timeline are left out."));
    }
    Some(section)
}

/// Returns the layout, and the number of lines left out.
fn layout(overview: &Overview, threads: &[ThreadListRow], in_all: u64) -> (Layout, usize) {
    let caps = overview.caps.iter().map(|life| (life.cap, String::new()));
    let caps: Vec<(CapId, String)> = caps.collect();
    let known = TrackListInput {
        caps: &caps,
        contents: &overview.contents,
        threads,
        pinned_threads: &[],
        threads_in_all: in_all,
    };
    // The heap group is part of a report, although it starts folded on the page.
    let view = TrackView {
        opened: TrackName::new(TrackGroup::Heap.name())
            .into_iter()
            .collect(),
        ..TrackView::default()
    };
    let mut tracks = arrange(&known, &view);
    // Folded groups cannot be unfolded in a report.
    tracks.retain(|track| !track.folded);
    let left_out = tracks.len().saturating_sub(LINES);
    tracks.truncate(LINES);
    (Layout::new(tracks), left_out)
}

/// Queries the marks, the minimap and the labels of the view.
async fn fill(log: &impl Answers, control: &mut Control) -> Option<()> {
    let view = control.viewport();
    let marks = TimelineQuery {
        view: view.span(),
        width_px: view.width_px() as u32,
        run_budget: None,
        ..control.marks_query()
    };
    let reply = log.ask(marks.clone()).await?;
    control.receive_marks(marks, reply);
    if let Some(minimap) = control.minimap_query() {
        let reply = log.ask(minimap.clone()).await?;
        control.receive_minimap(minimap, reply);
    }
    let unknown = control.labels_query();
    let labels = log.ask(LabelsQuery(unknown)).await?;
    control.receive_labels(labels);
    Some(())
}

fn caption(overview: &Overview, subject: &ReportSubject) -> Caption {
    Caption {
        title: subject.name.clone(),
        facts: overview.facts(),
    }
}
