//! Visible time: zooming, panning, and navigation to items.

use super::{ClickPosition, Control, NavigationTarget, TimelineEvent};
use crate::timeline::TOP_PX;
use eventlog::ids::{Duration, Nanos};
use model::time::Interval;
use scene::viewport;
use session::tracks::TrackId;
use session::tracks::item::Item;

/// Position of the log's end in a view that ends with it, as a fraction of its width; leaves a small margin.
const AT_END: f64 = 0.98;

/// Returns whether two spans differ by rounding at most.
fn is_rounded(span: Interval, shown: Interval) -> bool {
    const PARTS: u64 = 1_000_000;
    let slack = 2 + span.duration().0 / PARTS;
    let is_near = |a: Nanos, b: Nanos| a.0.abs_diff(b.0) <= slack;
    is_near(span.start(), shown.start()) && is_near(span.end(), shown.end())
}

impl Control {
    /// Applies the visible time (`None`: the whole log), the selected range, and the selected item, which is
    /// selected once its marks arrive.
    pub fn show_view(
        &mut self,
        visible: Option<Interval>,
        range: Option<Interval>,
        selected: Option<(TrackId, Nanos)>,
    ) -> Vec<TimelineEvent> {
        let mut events = Vec::new();
        if visible != self.visible() {
            events.extend(self.gesture(|view| match visible {
                Some(span) => view.show_exactly(span),
                None => view.fit(),
            }));
            self.restored = visible
                .zip(self.view.visible())
                .and_then(|(span, shown)| is_rounded(span, shown).then_some((span, self.view)));
        }
        if range != self.focus.range {
            events.extend(self.select_range(range));
        }
        if self.selected_or_pending() != selected {
            events.extend(self.select(None));
            self.pending_item = selected;
            events.extend(self.select_pending_item());
        }
        events
    }

    /// Selects the pending item if the marks of this view are loaded.
    pub(super) fn select_pending_item(&mut self) -> Vec<TimelineEvent> {
        let query = self.marks_query();
        let Some((row, time)) = self
            .pending_item
            .filter(|(row, _)| query.rows.contains(row))
        else {
            return Vec::new();
        };
        if self.marks.view != Some(query.view) || self.marks.rows != query.rows {
            return Vec::new();
        }
        self.pending_item = None;
        let item = if row.is_graph() {
            Some(self.graph_item(row, time))
        } else {
            self.marks.hit(row, time, Duration::ZERO)
        };
        let Some(item) = item else {
            return Vec::new();
        };
        // Same cursor position as if the item had been reached by keyboard.
        self.focus.cursor = Some(time);
        self.select(Some(item))
    }

    /// Returns whether an item will be selected once the marks of this view arrive.
    pub fn awaits_item(&self) -> bool {
        let is_shown = |(row, _): &(TrackId, Nanos)| self.marks_query().rows.contains(row);
        self.pending_item.as_ref().is_some_and(is_shown)
    }

    /// Shows the times of another part of the page that shares this axis.
    pub fn show_position(&mut self, place: viewport::ViewPosition) -> Vec<TimelineEvent> {
        self.gesture(|view| view.show_position(place))
    }

    /// Navigates to the target of a click in a panel.
    pub fn navigate(&mut self, target: NavigationTarget) -> Vec<TimelineEvent> {
        let NavigationTarget {
            span,
            track,
            zoom,
            details,
        } = target;
        self.show(span, zoom);
        self.focus.cursor = Some(span.start());
        self.focus.hovered = None;
        self.focus.pointer_at = None;
        let mut events = vec![TimelineEvent::ViewChanged];
        let index = track.and_then(|track| self.layout.find(track));
        let in_layout = index.and_then(|index| self.layout.tracks().get(index));
        if let Some(name) = in_layout.map(|track| track.name.clone()) {
            self.zoom_until_separate(span);
            self.focus.track = Some(name.clone());
            events.push(TimelineEvent::TrackFocused(Some(name)));
        }
        if let Some(track) = track {
            events.extend(self.scroll_to(track));
            let view = self.view.span();
            self.pending_item = Some((track, span.nearest(view.start())));
            self.focus.pinned |= details;
            events.extend(self.select_pending_item());
        }
        events
    }

    /// Returns the total height of all tracks, in pixels.
    pub fn tracks_px(&self) -> f64 {
        self.layout.height()
    }

    /// Returns the scroll request that brings a track into view; `None` if it is in view already.
    pub fn scroll_to(&self, row: TrackId) -> Option<TimelineEvent> {
        self.scroll_to_track(self.layout.find(row)?)
    }

    pub(super) fn scroll_to_track(&self, index: usize) -> Option<TimelineEvent> {
        let track = self.layout.tracks().get(index)?;
        let pinned = self.layout.pinned_px();
        let (top, height) = (self.layout.y(index, 0.0), track.height());
        let (from, room) = (self.scroll_px + pinned, self.size.1 - TOP_PX - pinned);
        let to = if track.pinned {
            return None;
        } else if top < from {
            top - pinned
        } else if top + height > from + room {
            top + height - room - pinned
        } else {
            return None;
        };
        Some(TimelineEvent::Scroll(to.max(0.0).ceil()))
    }

    /// Shows the whole log.
    pub fn fit(&mut self) -> Vec<TimelineEvent> {
        self.gesture(viewport::Viewport::fit)
    }

    /// Zooms to the selected range, or else the selected item.
    pub(crate) fn show_selection(&mut self) -> Vec<TimelineEvent> {
        let item = self.focus.selected.as_ref();
        match self.focus.range.or(item.map(|item| item.span)) {
            Some(span) => self.gesture(|view| view.show(span)),
            None => Vec::new(),
        }
    }

    /// Zooms around the pointer, else the cursor, else the middle of the view.
    pub fn zoom(&mut self, factor: f64) -> Vec<TimelineEvent> {
        let width = self.view.width_px();
        let inside = |time: Nanos| {
            let x = self.view.x_of(time);
            (0.0..=width).contains(&x).then_some(x)
        };
        let pointer = self.focus.pointer.and_then(inside);
        let cursor = self.focus.cursor.and_then(inside);
        let x = pointer.or(cursor).unwrap_or(width / 2.0);
        self.gesture(|view| view.zoom(factor, x))
    }

    /// Pans by a fraction of the view's width.
    pub fn pan(&mut self, part: f64) -> Vec<TimelineEvent> {
        self.gesture(|view| view.pan(part * view.width_px()))
    }

    /// Pans to the start of the log, or to its end.
    pub fn jump(&mut self, to_end: bool) -> Vec<TimelineEvent> {
        self.gesture(|view| {
            let log = view.log();
            let (time, x) = if to_end {
                (log.end(), view.width_px() * AT_END)
            } else {
                (log.start(), view.width_px() * 0.02)
            };
            view.pan(view.x_of(time) - x);
        })
    }

    /// Returns whether the end of the log is in view.
    pub fn sees_end(&self) -> bool {
        let end_px = self.view.x_of(self.view.log().end());
        (0.0..=self.view.width_px()).contains(&end_px)
    }

    /// Pans to the end of a growing log, unless a drag is in progress. Emits no events because the reader did not
    /// move the view.
    pub fn follow_end(&mut self) {
        if !self.is_dragging() {
            let end_px = self.view.x_of(self.view.log().end());
            self.view.pan(end_px - self.view.width_px() * AT_END);
        }
    }

    /// Centers the view on the reference time: pointer or cursor.
    pub fn centre(&mut self) -> Vec<TimelineEvent> {
        let moment = self.moment();
        self.gesture(|view| view.pan(view.x_of(moment) - view.width_px() / 2.0))
    }

    /// Undoes one thing: a drag, a measurement, the selected item, the range, or the cursor. Returns `None` if
    /// there was nothing to undo.
    pub fn escape(&mut self) -> Option<Vec<TimelineEvent>> {
        if self.drag.take().is_some() {
            return Some(Vec::new());
        }
        if self.focus.measure.take().is_some() {
            self.focus.measuring = false;
            return Some(Vec::new());
        }
        if self.focus.selected.is_some() {
            self.focus.pinned = false;
            let mut events = self.select(None);
            events.push(TimelineEvent::Pinned(None));
            return Some(events);
        }
        if self.focus.range.is_some() {
            return Some(self.select_range(None));
        }
        self.focus.cursor.take().map(|_| Vec::new())
    }

    /// Selects a range, or clears the selection.
    pub(crate) fn select_range(&mut self, range: Option<Interval>) -> Vec<TimelineEvent> {
        self.focus.range = range;
        vec![TimelineEvent::Range(range), TimelineEvent::ViewChanged]
    }
}

impl Control {
    /// Brings a span into view.
    fn show(&mut self, span: Interval, zoom: bool) {
        /// Time shown on each side of a span, as a multiple of its duration.
        const CONTEXT: u64 = 4;
        let view = self.view.span();
        if zoom {
            let around = span.duration().0.saturating_mul(CONTEXT).max(1000);
            self.view.show_exactly(Interval::new(
                Nanos(span.start().0.saturating_sub(around)),
                Nanos(span.end().0.saturating_add(around)),
            ));
        } else if span.end() < view.start() || view.end() < span.start() {
            let x = self.view.x_of(span.start());
            self.view.pan(x - self.view.width_px() / 2.0);
        }
    }

    /// Zooms in if a span is so narrow that it is merged with others.
    fn zoom_until_separate(&mut self, span: Interval) {
        const MIN_PX: f64 = 3.0;
        const WIDTH_PX: f64 = 24.0;
        let duration = span.duration().0 as f64;
        let px = duration / self.view.ns_per_px();
        if duration > 0.0 && px < MIN_PX {
            self.view.zoom(WIDTH_PX / px, self.view.x_of(span.start()));
            let x = self.view.x_of(span.start());
            self.view.pan(x - self.view.width_px() / 2.0);
        }
    }

    /// Returns the position of a click, which becomes the cursor: the start of the clicked item, or the time
    /// itself.
    pub(super) fn set_cursor_at(&mut self, x: f64, y: f64) -> Option<ClickPosition> {
        let labels = self.labels_px();
        if x < labels {
            return None;
        }
        let item = self.item_at(x, y).filter(|item| !item.row.is_graph());
        let time = item
            .as_ref()
            .map_or_else(|| self.view.time_at(x - labels), |item| item.span.start());
        let cap = item.as_ref().and_then(Item::cap);
        self.focus.cursor = Some(time);
        Some(ClickPosition { time, cap })
    }

    /// Updates the index range of the tracks in view; returns `None` if it is unchanged. The range includes some
    /// more tracks, so that not every pixel of scrolling changes it.
    pub fn seen_changed(&mut self) -> Option<TimelineEvent> {
        const MORE: usize = 12;
        let pinned = self.layout.pinned();
        let scrolled = self
            .layout
            .visible_tracks(self.scroll_px, self.size.1 - TOP_PX);
        let (first, last) = scrolled
            .filter(|&index| index >= pinned)
            .fold((usize::MAX, 0), |(first, last), index| {
                (first.min(index), last.max(index + 1))
            });
        let total = self.layout.tracks().len();
        let first = first.min(last);
        let known = self.seen.start <= first && last <= self.seen.end && self.seen.end <= total;
        let slim = self.seen.len() <= last - first + 4 * MORE;
        if known && slim && (self.seen.start >= pinned) {
            return None;
        }
        self.seen = first.saturating_sub(MORE).max(pinned)..(last + MORE).min(total);
        Some(TimelineEvent::TracksInView(self.seen.clone()))
    }
}
