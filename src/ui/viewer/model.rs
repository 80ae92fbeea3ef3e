//! What the controller's gestures and answers do to it.

use super::{
    CLICK_PX, Description, Drag, EDGE_PX, HIT_PX, MESSAGE_HIT_PX, Place, Viewer, ViewerEvent,
};
use crate::automata::Span;
use crate::ids::{CapId, Nanos, ThreadId};
use crate::scene::item::{Item, Marks, Names};
use crate::scene::timeline::{Focus, Scene, TOP_PX, labels_px};
use crate::scene::words::describe;
use crate::timeline::query::TimelineQuery;
use crate::timeline::reply::MarkKind;
use crate::timeline::row::Row;
use crate::ui::theme;

impl Viewer {
    pub(super) fn events_for_selection(&self) -> Vec<ViewerEvent> {
        vec![
            ViewerEvent::Described(self.description()),
            ViewerEvent::Changed,
        ]
    }

    pub(super) fn select(&mut self, item: Option<Item>) -> Vec<ViewerEvent> {
        self.selected = item;
        self.events_for_selection()
    }

    pub(super) fn description(&self) -> Option<Description> {
        let item = self.hovered.as_ref().or(self.selected.as_ref())?;
        let (name, text) = describe(item, &self.labels);
        let coloured = matches!(item.row, Row::Cap(_) | Row::Thread(_));
        Some(Description {
            class: coloured.then_some(item.class),
            name,
            text,
        })
    }

    pub(super) fn item_at(&self, x: f64, y: f64) -> Option<Item> {
        let labels = labels_px(self.size.0);
        if x < labels || y < TOP_PX {
            return None;
        }
        let index = self.layout.at(y - TOP_PX, self.scroll_px)?;
        let row = self.layout.tracks().get(index)?.row()?;
        let px = if row == Row::Messages {
            MESSAGE_HIT_PX
        } else {
            HIT_PX
        };
        let slack = Nanos((self.view.ns_per_px() * px) as u64);
        self.marks.hit(row, self.view.time_at(x - labels), slack)
    }

    /// The moment that a click means, which becomes the cursor: the begin of
    /// the item, or the time itself.
    pub(super) fn place_at(&mut self, x: f64, y: f64) -> Option<Place> {
        let labels = labels_px(self.size.0);
        if x < labels {
            return None;
        }
        let item = self.item_at(x, y);
        let time = item
            .as_ref()
            .map_or_else(|| self.view.time_at(x - labels), |item| item.span.start);
        let cap = item.and_then(|item| match item.row {
            Row::Thread(_) => item
                .detail
                .and_then(|cap| u16::try_from(cap).ok())
                .map(CapId),
            row => row.cap(),
        });
        self.cursor = Some(time);
        Some(Place { time, cap })
    }

    /// Brings a span into view.
    pub(super) fn show(&mut self, span: Span, zoom: bool) {
        /// How much of the log is shown on each side of a span, by its length.
        const CONTEXT: u64 = 4;
        let view = self.view.span();
        if zoom {
            let around = span.duration().0.saturating_mul(CONTEXT).max(1000);
            self.view.show_exactly(Span::new(
                Nanos(span.start.0.saturating_sub(around)),
                Nanos(span.end.0.saturating_add(around)),
            ));
        } else if span.end < view.start || view.end < span.start {
            let x = self.view.x_of(span.start);
            self.view.pan(x - self.view.width_px() / 2.0);
        }
    }

    /// If `x` is on an edge of the range: the other edge.
    pub(super) fn opposite_edge(&self, x: f64) -> Option<Nanos> {
        let range = self.range?;
        let labels = labels_px(self.size.0);
        let near = |time: Nanos| (labels + self.view.x_of(time) - x).abs() <= EDGE_PX;
        if near(range.start) {
            Some(range.end)
        } else if near(range.end) {
            Some(range.start)
        } else {
            None
        }
    }

    pub(super) fn moved_to(&mut self, x: f64, y: f64) -> Vec<ViewerEvent> {
        let labels = labels_px(self.size.0);
        let time = self.view.time_at(x - labels);
        self.pointer = (x >= labels).then_some(time);
        self.pointer_at = Some((x, y));
        let mut events = Vec::new();
        match self.drag {
            Some(Drag::Pan { x: from }) => {
                self.moved |= (x - from).abs() > CLICK_PX;
                if self.moved {
                    self.view.pan(from - x);
                    self.drag = Some(Drag::Pan { x });
                }
            }
            Some(Drag::Select { from, x: start }) => {
                self.moved |= (x - start).abs() > CLICK_PX;
                if self.moved {
                    self.set_range(from, time, &mut events);
                }
            }
            Some(Drag::Edge { fixed }) => {
                self.moved = true;
                self.set_range(fixed, time, &mut events);
            }
            None => {}
        }
        events.extend(self.hover());
        self.point_cursor(x, y);
        events
    }

    /// Looks what is under the pointer.
    pub(super) fn hover(&mut self) -> Vec<ViewerEvent> {
        let at = self.pointer_at.filter(|_| self.drag.is_none());
        self.hovered = at.and_then(|(x, y)| self.item_at(x, y));
        vec![ViewerEvent::Described(self.description())]
    }

    pub(super) fn set_range(&mut self, a: Nanos, b: Nanos, events: &mut Vec<ViewerEvent>) {
        self.range = Some(Span::new(a.min(b), a.max(b)));
        events.push(ViewerEvent::Range(self.range));
    }

    pub(super) fn point_cursor(&self, x: f64, y: f64) {
        let Some((canvas, _)) = &self.canvas else {
            return;
        };
        let cursor = match self.drag {
            Some(Drag::Pan { .. }) => "grabbing",
            Some(Drag::Edge { .. }) => "ew-resize",
            _ if x < labels_px(self.size.0) => "default",
            _ if y < TOP_PX => "grab",
            _ if self.opposite_edge(x).is_some() => "ew-resize",
            _ if self.hovered.is_some() => "pointer",
            _ => "crosshair",
        };
        // A known property with a known value.
        let _ = canvas.style().set_property("cursor", cursor);
    }

    /// The items of a row that can be stepped through.
    pub(super) fn row_items(&self, row: Row) -> Vec<Item> {
        let spans: Vec<Span> = self.marks.of(row).map(|(_, span)| span).collect();
        let mut items: Vec<Item> = spans
            .iter()
            .filter_map(|span| self.marks.hit(row, span.start, Nanos(0)))
            .collect();
        items.sort_by_key(|item| item.span);
        items.dedup();
        items
    }

    pub(super) fn step(&mut self, forward: bool) -> Vec<ViewerEvent> {
        let first_row = || {
            self.layout
                .tracks()
                .iter()
                .filter_map(|track| track.row())
                .find(|row| !row.is_graph())
        };
        let Some(row) = self
            .selected
            .as_ref()
            .map(|item| item.row)
            .or_else(first_row)
        else {
            return Vec::new();
        };
        let items = self.row_items(row);
        let current = self.selected.as_ref().map(|item| item.span);
        let next = match current {
            None => items.first(),
            Some(current) if forward => items.iter().find(|item| item.span > current),
            Some(current) => items.iter().rev().find(|item| item.span < current),
        };
        let Some(item) = next.cloned() else {
            return Vec::new();
        };
        let x = self.view.x_of(item.span.start);
        if !(0.0..self.view.width_px()).contains(&x) {
            self.view.pan(x - self.view.width_px() / 3.0);
        }
        self.pointer_at = None;
        self.hovered = None;
        self.select(Some(item))
    }

    pub(super) fn step_track(&mut self, down: bool) -> Vec<ViewerEvent> {
        let tracks = self.layout.tracks().iter();
        let rows: Vec<Row> = tracks.filter_map(|track| track.row()).collect();
        let current = self
            .selected
            .as_ref()
            .map(|item| (item.row, item.span.start));
        let at = current.and_then(|(row, _)| rows.iter().position(|&other| other == row));
        let candidates: Vec<Row> = match (at, down) {
            (None, _) => rows,
            (Some(at), true) => rows[at + 1..].to_vec(),
            (Some(at), false) => rows[..at].iter().rev().copied().collect(),
        };
        let time = current.map_or(self.view.span().start, |(_, time)| time);
        for row in candidates {
            let items = self.row_items(row);
            let nearest = items
                .into_iter()
                .min_by_key(|item| item.span.start.0.abs_diff(time.0));
            if nearest.is_some() {
                self.pointer_at = None;
                self.hovered = None;
                return self.select(nearest);
            }
        }
        Vec::new()
    }

    /// What has to be asked for to paint this view: a little more than is in
    /// view, so that a drag does not uncover emptiness.
    pub(super) fn query(&self) -> TimelineQuery {
        let view = self.view.span();
        let margin = view.duration().0 / 4;
        let span = Span::new(
            Nanos(view.start.0.saturating_sub(margin)),
            Nanos(view.end.0.saturating_add(margin)),
        );
        let scale = span.duration().0 as f64 / self.view.ns_per_px();
        TimelineQuery {
            view: span,
            width_px: scale.clamp(1.0, 20_000.0) as u32,
            rows: self.rows_in_view(),
        }
    }

    pub(super) fn rows_in_view(&self) -> Vec<Row> {
        let tracks = self.layout.tracks();
        let seen = self.layout.seen(self.scroll_px, self.size.1 - TOP_PX);
        seen.filter_map(|index| tracks.get(index)?.row()).collect()
    }

    pub(super) fn unknown_message(&self) -> Option<u32> {
        let item = self.hovered.as_ref().or(self.selected.as_ref())?;
        let number = item.detail.filter(|_| item.row == Row::Messages)?;
        let unknown =
            self.labels.asked_message != Some(number) && self.labels.message(number).is_none();
        unknown.then_some(number)
    }

    pub(super) fn unknown_threads(&self) -> Vec<ThreadId> {
        let min_ns = self.view.ns_per_px() * 30.0;
        let reply = &self.marks.reply;
        let rows = &self.marks.rows;
        let mut unknown: Vec<ThreadId> = (0..reply.len())
            .filter(|&i| matches!(rows.get(reply.row[i] as usize), Some(Row::Cap(_))))
            .filter_map(|i| reply.mark(i))
            .filter(|mark| mark.kind == MarkKind::One && mark.end - mark.start >= min_ns)
            .filter_map(|mark| mark.detail.map(ThreadId))
            .filter(|thread| {
                !self.labels.asked.contains(thread) && !self.labels.known.contains_key(thread)
            })
            .take(500)
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    pub(super) fn paint(&mut self) {
        let Some((canvas, painter)) = &mut self.canvas else {
            return;
        };
        painter.begin(canvas, self.size);
        let theme = theme::current();
        Scene {
            layout: &self.layout,
            scroll_px: self.scroll_px,
            size: self.size,
            view: self.view,
            palette: theme.palette,
            patterns: theme.patterns,
            caps: self.caps,
            marks: &self.marks,
            overview: &Marks::default(),
            names: &self.labels,
            focus: Focus {
                range: self.range,
                selected: self.selected.as_ref(),
                hovered: self.hovered.as_ref(),
                pointer: self.pointer,
                cursor: self.cursor,
                measure: None,
                arrows: &[],
            },
        }
        .paint(painter);
    }
}
