//! Queries that the current view needs from the worker, and handling of the replies.

use super::{Control, NO_LOG_SPAN, TimelineEvent};
use crate::notes::Notes;
use crate::timeline::{Focus, Scene, TOP_PX};
use analysis::timeline::flow::{Arrow, FlowQuery};
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::marks::{MarkKind, TimelineReply};
use model::time::Interval;
use scene::palette::Palette;
use session::heap::choice::HeapFilter;
use session::tracks::activity::Activity;
use session::tracks::bands::Bands;
use session::tracks::details::{DetailField, DetailsQuery};
use session::tracks::item::{Item, Marks};
use session::tracks::{TimelineQuery, TrackId};

/// Maximum width of a marks query, in pixels.
const MAX_WIDTH_PX: f64 = 20_000.0;
/// Minimum width of a run that has room for a thread label, in pixels.
const NAMED_PX: f64 = 30.0;
/// Number of runs read again after which further rows that need this are deferred to the next query: some tenths
/// of a second of work.
const RUN_BUDGET: u32 = 1 << 18;
/// Maximum number of thread labels per query.
const LABELS_AT_ONCE: usize = 500;

/// Returns the details query for an item.
pub(super) fn details_query(item: &Item) -> DetailsQuery {
    DetailsQuery {
        row: item.row,
        span: item.span,
        many: item.kind != MarkKind::One,
    }
}

/// Combines a query and its reply.
fn marks(asked: TimelineQuery, reply: TimelineReply) -> Marks {
    Marks {
        view: Some(asked.view),
        rows: asked.rows,
        reply,
    }
}

impl Control {
    /// Returns the query for the marks of this view, with a margin of a quarter of the view on both sides, so that
    /// a drag does not uncover empty tracks.
    pub fn marks_query(&self) -> TimelineQuery {
        let view = self.view.span();
        let margin = view.duration().0 / 4;
        let span = Interval::new(
            Nanos(view.start().0.saturating_sub(margin)),
            Nanos(view.end().0.saturating_add(margin)),
        );
        let scale = span.duration().0 as f64 / self.view.ns_per_px();
        let tracks = self.layout.tracks();
        let seen = self
            .layout
            .visible_tracks(self.scroll_px, self.size.1 - TOP_PX);
        let rows: Vec<TrackId> = seen.filter_map(|index| tracks.get(index)?.row()).collect();
        let heap = HeapFilter {
            choice: self.heap.clone(),
            range: self.focus.range,
        };
        // Replies without the heap profile track do not depend on the choice: keep such queries equal.
        let heap = rows.contains(&Bands.into()).then_some(heap);
        TimelineQuery {
            view: span,
            width_px: scale.clamp(1.0, MAX_WIDTH_PX) as u32,
            rows,
            heap: heap.unwrap_or_default(),
            run_budget: Some(RUN_BUDGET),
        }
    }

    /// Stores new marks and updates the hovered item, which may differ now.
    pub fn receive_marks(
        &mut self,
        asked: TimelineQuery,
        reply: TimelineReply,
    ) -> Vec<TimelineEvent> {
        self.revision += 1;
        self.marks = marks(asked, reply);
        self.renew_selected();
        let mut events = self.select_on_track();
        events.extend(self.select_pending_item());
        events.extend(self.hover());
        events.push(TimelineEvent::MarksReplaced);
        events
    }

    /// Replaces the selected item if the log has grown, and the item with it.
    fn renew_selected(&mut self) {
        let Some(old) = self
            .focus
            .selected
            .as_mut()
            .filter(|old| old.kind == MarkKind::One)
        else {
            return;
        };
        let start = old.span.start();
        let new = self.marks.hit(old.row, start, Duration::ZERO);
        if let Some(new) = new.filter(|new| new.kind == MarkKind::One && new.span.start() == start)
        {
            *old = new;
        }
    }

    /// Returns the query for the activity of the whole log, once a log is loaded.
    pub fn minimap_query(&self) -> Option<TimelineQuery> {
        let view = self.view.log();
        (view != NO_LOG_SPAN).then(|| TimelineQuery {
            view,
            width_px: self.view.width_px().clamp(1.0, MAX_WIDTH_PX) as u32,
            rows: vec![Activity.into()],
            ..TimelineQuery::default()
        })
    }

    /// Stores the activity of the whole log.
    pub fn receive_minimap(&mut self, asked: TimelineQuery, reply: TimelineReply) {
        self.revision += 1;
        self.minimap = marks(asked, reply);
    }

    /// Returns threads whose runs are wide enough for a label that is not known yet, and marks them as requested.
    pub fn labels_query(&mut self) -> Vec<ThreadId> {
        let min_ns = self.view.ns_per_px() * NAMED_PX;
        // The runs of a thread's own row need no label: the row's title names it.
        let rows = self.marks.rows.iter();
        let rows = rows.filter(|row| row.thread().is_none());
        let wide = rows.flat_map(|&row| {
            let marks = self.marks.row_marks(row);
            let wide = marks
                .filter(|(mark, _)| mark.kind == MarkKind::One && mark.end - mark.start >= min_ns);
            wide.filter_map(move |(mark, span)| Item::new(row, &mark, span).thread())
        });
        let mut unknown: Vec<ThreadId> = wide
            .filter(|thread| {
                !self.labels.asked.contains(thread) && !self.labels.known.contains_key(thread)
            })
            .take(LABELS_AT_ONCE)
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        self.labels.asked.extend(&unknown);
        unknown
    }

    /// Stores thread labels.
    pub fn receive_labels(&mut self, labels: impl IntoIterator<Item = (ThreadId, String)>) {
        self.revision += 1;
        self.labels.known.extend(labels);
    }

    /// Returns the query for the details of the hovered or selected item; `None` during a drag.
    pub fn details_query(&self) -> Option<DetailsQuery> {
        let item = self.item().filter(|_| !self.is_dragging())?;
        Some(details_query(item))
    }

    /// Stores the facts about an item. For messages, the first fact is the text of the first one.
    pub fn receive_details(
        &mut self,
        asked: DetailsQuery,
        facts: Vec<DetailField>,
    ) -> Vec<TimelineEvent> {
        let item = self.item().filter(|item| details_query(item) == asked);
        let number = item.and_then(Item::message);
        if let (Some(number), Some(first)) = (number, facts.first()) {
            self.revision += 1;
            self.labels.messages.insert(number, first.text.clone());
        }
        self.details = Some((asked, facts));
        self.description_events()
    }

    /// Returns the query for arrows (wakeups and migrations): those of the item, or all of its thread in this view
    /// if requested. Clears the arrows if there is no such item.
    pub fn flow_query(&mut self) -> Option<FlowQuery> {
        let item = self.item();
        let Some((thread, span)) = item.and_then(|item| Some((item.thread()?, item.span))) else {
            self.arrows.clear();
            return None;
        };
        let view = match self.focus.all_wakeups {
            true => self.view.span(),
            false => span,
        };
        (!self.is_dragging()).then_some(FlowQuery { thread, view })
    }

    /// Stores the arrows of wakeups and migrations.
    pub fn receive_flow(&mut self, arrows: Vec<Arrow>) {
        self.arrows = arrows;
    }

    /// Returns the events that report the current description.
    pub(super) fn description_events(&self) -> Vec<TimelineEvent> {
        let mut events = vec![TimelineEvent::Described(self.description())];
        // The pointer may still be on the clicked item.
        let focus = &self.focus;
        if focus.pinned && (focus.hovered.is_none() || focus.hovered == focus.selected) {
            events.push(TimelineEvent::Pinned(self.description()));
        }
        events
    }

    /// Returns the scene to paint.
    pub fn scene<'a>(
        &'a self,
        palette: &'a Palette,
        patterns: bool,
        notes: &'a Notes,
    ) -> Scene<'a> {
        let focus = &self.focus;
        Scene {
            layout: &self.layout,
            scroll_px: self.scroll_px,
            size: (self.size.0, self.size.1.max(TOP_PX)),
            view: self.view,
            palette,
            patterns,
            caps: self.caps,
            marks: &self.marks,
            overview: &self.minimap,
            names: &self.labels,
            notes,
            focus: Focus {
                range: focus.range,
                selected: focus.selected.as_ref(),
                hovered: focus.hovered.as_ref(),
                pointer: focus.pointer,
                cursor: focus.cursor,
                measure: focus.measure,
                arrows: &self.arrows,
                highlight: &self.highlight,
            },
        }
    }
}
