//! What has to be asked of the worker for this view, and its answers.

use super::{Control, Labels, NOTHING, Told};
use crate::notes::Notes;
use crate::timeline::{Focus, Scene, TOP_PX, labels_px};
use analysis::timeline::flow::{Arrow, FlowQuery};
use eventlog::ids::{Nanos, ThreadId};
use model::marks::{MarkKind, TimelineReply};
use model::time::Interval;
use scene::palette::Palette;
use session::heap::choice::HeapAsked;
use session::tracks::activity::Activity;
use session::tracks::bands::Bands;
use session::tracks::details::{DetailsQuery, Fact};
use session::tracks::item::{Item, Marks};
use session::tracks::{Row, TimelineQuery};

/// The widest picture that marks are asked for, in pixels.
const MAX_WIDTH_PX: f64 = 20_000.0;
/// A run at least so wide has room for the name of its thread, in pixels.
const NAMED_PX: f64 = 30.0;
/// After so many runs that are read again, rows wait: some tenths of a second.
const PATIENCE_RUNS: u32 = 1 << 18;
/// How many labels of threads are asked for at once.
const LABELS_AT_ONCE: usize = 500;

/// What is asked about an item.
pub(super) fn details_query(item: &Item) -> DetailsQuery {
    DetailsQuery {
        row: item.row,
        span: item.span,
        many: item.kind != MarkKind::One,
    }
}

/// The marks that answer a query.
fn marks(asked: TimelineQuery, reply: TimelineReply) -> Marks {
    Marks {
        view: Some(asked.view),
        rows: asked.rows,
        reply,
    }
}

impl Control {
    /// The marks that this view needs: of a little more than is in view, so
    /// that a drag does not uncover emptiness.
    #[must_use]
    pub fn marks_query(&self) -> TimelineQuery {
        let view = self.view.span();
        let margin = view.duration().0 / 4;
        let span = Interval::new(
            Nanos(view.start().0.saturating_sub(margin)),
            Nanos(view.end().0.saturating_add(margin)),
        );
        let scale = span.duration().0 as f64 / self.view.ns_per_px();
        let tracks = self.layout.tracks();
        let seen = self.layout.seen(self.scroll_px, self.size.1 - TOP_PX);
        let rows: Vec<Row> = seen.filter_map(|index| tracks.get(index)?.row()).collect();
        let heap = HeapAsked {
            choice: self.heap.clone(),
            range: self.focus.range,
        };
        // Of other tracks the answer does not depend on it.
        let heap = rows.contains(&Bands.into()).then_some(heap);
        TimelineQuery {
            view: span,
            width_px: scale.clamp(1.0, MAX_WIDTH_PX) as u32,
            rows,
            heap: heap.unwrap_or_default(),
            patience_runs: Some(PATIENCE_RUNS),
        }
    }

    /// Takes the marks over. Something else may be under the pointer now.
    pub fn marks_came(&mut self, asked: TimelineQuery, reply: TimelineReply) -> Vec<Told> {
        self.revision += 1;
        self.marks = marks(asked, reply);
        let mut told = self.select_awaited();
        told.extend(self.select_wanted());
        told.extend(self.hover());
        told.push(Told::Marks);
        told
    }

    /// The activity of the whole log, once a log is there.
    #[must_use]
    pub fn minimap_query(&self) -> Option<TimelineQuery> {
        let view = self.view.log();
        (view != NOTHING).then(|| TimelineQuery {
            view,
            width_px: self.view.width_px().clamp(1.0, MAX_WIDTH_PX) as u32,
            rows: vec![Activity.into()],
            ..TimelineQuery::default()
        })
    }

    /// Takes the activity of the whole log over.
    pub fn minimap_came(&mut self, asked: TimelineQuery, reply: TimelineReply) {
        self.revision += 1;
        self.minimap = marks(asked, reply);
    }

    /// Threads whose runs are wide enough to be named and whose labels are not
    /// known yet; they count as asked for.
    pub fn labels_query(&mut self) -> Vec<ThreadId> {
        let min_ns = self.view.ns_per_px() * NAMED_PX;
        // Threads that have a row are known by its title.
        let rows = self.marks.rows.iter();
        let rows = rows.filter(|row| row.thread().is_none());
        let wide = rows.flat_map(|&row| {
            let marks = self.marks.of(row);
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

    /// Takes labels of threads over.
    pub fn labels_came(&mut self, labels: impl IntoIterator<Item = (ThreadId, String)>) {
        self.revision += 1;
        self.labels.known.extend(labels);
    }

    /// What is asked about the item that is pointed at or selected.
    #[must_use]
    pub fn details_query(&self) -> Option<DetailsQuery> {
        let item = self.item().filter(|_| !self.is_dragging())?;
        Some(details_query(item))
    }

    /// Takes over what is known of an item. The first fact about messages is
    /// what the first of them says.
    pub fn details_came(&mut self, asked: DetailsQuery, facts: Vec<Fact>) -> Vec<Told> {
        let item = self.item().filter(|item| details_query(item) == asked);
        let number = item.and_then(Item::message);
        if let (Some(number), Some(first)) = (number, facts.first()) {
            self.revision += 1;
            self.labels.messages.insert(number, first.text.clone());
        }
        self.details = Some((asked, facts));
        self.described()
    }

    /// Whose arrows are wanted: those of the item or, if that was asked for, all of its thread
    /// in this view. Without one, those at hand go.
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

    /// Takes arrows over.
    pub fn flow_came(&mut self, arrows: Vec<Arrow>) {
        self.arrows = arrows;
    }

    /// What the events about the item say now.
    pub(super) fn described(&self) -> Vec<Told> {
        let mut told = vec![Told::Described(self.description())];
        // The pointer may still be on what was clicked.
        let focus = &self.focus;
        if focus.pinned && (focus.hovered.is_none() || focus.hovered == focus.selected) {
            told.push(Told::Pinned(self.description()));
        }
        told
    }

    /// The picture, ready to be painted.
    #[must_use]
    pub fn scene<'a>(
        &'a self,
        palette: &'a Palette,
        patterns: bool,
        notes: &'a Notes,
    ) -> Scene<'a, Labels> {
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
                lit: &self.lit,
            },
        }
    }

    /// Where the area right of the labels begins.
    pub(super) fn left_px(&self) -> f64 {
        labels_px(self.size.0)
    }
}
