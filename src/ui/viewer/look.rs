//! What is in view: zooming, moving, going to things, and back.

use super::{Goto, Place, Viewer, ViewerEvent, ViewerRef};
use crate::automata::Span;
use crate::ids::{CapId, Nanos};
use crate::scene::timeline::{TOP_PX, labels_px};
use crate::timeline::row::Row;

impl ViewerRef {
    /// Restores what a link says.
    pub(in crate::ui) fn restore(
        &self,
        visible: Option<Span>,
        range: Option<Span>,
        selected: Option<(Row, Nanos)>,
    ) {
        self.update(|viewer| {
            match visible {
                Some(span) => viewer.view.show_exactly(span),
                None => viewer.view.fit(),
            }
            viewer.focus.range = range;
            ((), vec![ViewerEvent::Range(range), ViewerEvent::Changed])
        });
        if let Some((row, time)) = selected {
            self.select_when_known(row, time, 40);
        }
    }

    /// Selects an item as soon as the marks of this view have come.
    fn select_when_known(&self, row: Row, time: Nanos, tries: u32) {
        let found = {
            let viewer = self.0.borrow();
            let fresh = !viewer.timeline.in_flight
                && viewer.timeline.about.as_ref() == Some(&viewer.query());
            fresh
                .then(|| viewer.marks.hit(row, time, Nanos(0)))
                .flatten()
        };
        if let Some(item) = found {
            self.update(|viewer| ((), viewer.select(Some(item))));
        } else if tries > 0 {
            let this = self.clone();
            gloo_timers::callback::Timeout::new(50, move || {
                this.select_when_known(row, time, tries - 1);
            })
            .forget();
        }
    }

    /// Shows what was clicked in a panel.
    pub(in crate::ui) fn goto(&self, goto: Goto) {
        let Goto { span, row, zoom } = goto;
        self.update(|viewer| {
            viewer.show(span, zoom);
            viewer.focus.cursor = Some(span.start);
            viewer.focus.hovered = None;
            viewer.focus.pointer_at = None;
            let mut events = vec![ViewerEvent::Changed];
            let index = row.and_then(|row| viewer.layout.find(row));
            let track = index.and_then(|index| viewer.layout.tracks().get(index));
            if let Some(name) = track.map(|track| track.id.clone()) {
                viewer.show_apart(span);
                viewer.focus.track = Some(name.clone());
                events.push(ViewerEvent::Current(Some(name)));
            }
            ((), events)
        });
        if let Some(row) = row {
            self.scroll_to(row);
            let view = self.0.borrow().view.span();
            let time = span.start.max(view.start).min(span.end);
            self.select_when_known(row, time, 40);
        }
    }

    /// Scrolls a track into view.
    pub(in crate::ui) fn scroll_to(&self, row: Row) {
        let index = self.0.borrow().layout.find(row);
        if let Some(index) = index {
            self.scroll_to_track(index);
        }
    }

    pub(super) fn scroll_to_track(&self, index: usize) {
        let viewer = self.0.borrow();
        let (Some(track), Some(elements)) = (viewer.layout.tracks().get(index), &viewer.elements)
        else {
            return;
        };
        let (top, height) = (viewer.layout.y(index, 0.0), track.height());
        let (from, room) = (
            viewer.scroll_px + viewer.layout.pinned_px(),
            viewer.size.1 - TOP_PX - viewer.layout.pinned_px(),
        );
        let to = if track.pinned {
            None
        } else if top < from {
            Some(top - viewer.layout.pinned_px())
        } else if top + height > from + room {
            Some(top + height - room - viewer.layout.pinned_px())
        } else {
            None
        };
        let scroller = elements.canvas.closest(".timeline").ok().flatten();
        drop(viewer);
        if let (Some(scroller), Some(to)) = (scroller, to) {
            scroller.set_scroll_top(to.max(0.0).ceil() as i32);
        }
    }

    /// Shows all of the log.
    pub(in crate::ui) fn fit(&self) {
        self.gesture(crate::scene::viewport::Viewport::fit);
    }

    /// Shows the selected range or item.
    pub(in crate::ui) fn show_selection(&self) {
        let viewer = self.0.borrow();
        let item = viewer.focus.selected.as_ref();
        let span = viewer.focus.range.or(item.map(|item| item.span));
        drop(viewer);
        if let Some(span) = span {
            self.gesture(|view| view.show(span));
        }
    }

    /// Zooms around the pointer, the selected item, or the middle.
    pub(in crate::ui) fn zoom(&self, factor: f64) {
        let viewer = self.0.borrow();
        let width = viewer.view.width_px();
        let inside = |time: Nanos| {
            let x = viewer.view.x_of(time);
            (0.0..=width).contains(&x).then_some(x)
        };
        let pointer = viewer.focus.pointer.and_then(inside);
        let cursor = viewer.focus.cursor.and_then(inside);
        let x = pointer.or(cursor).unwrap_or(width / 2.0);
        drop(viewer);
        self.gesture(|view| view.zoom(factor, x));
    }

    /// Moves the view by a part of its width.
    pub(in crate::ui) fn pan(&self, part: f64) {
        self.gesture(|view| view.pan(part * view.width_px()));
    }

    /// Moves the view so that it begins with the log, or ends with it.
    pub(in crate::ui) fn jump(&self, to_end: bool) {
        self.gesture(|view| {
            let log = view.log();
            let (time, x) = if to_end {
                (log.end, view.width_px() * 0.98)
            } else {
                (log.start, view.width_px() * 0.02)
            };
            view.pan(view.x_of(time) - x);
        });
    }

    /// Brings the cursor into the middle.
    pub(in crate::ui) fn centre(&self) {
        let moment = self.moment();
        self.gesture(|view| view.pan(view.x_of(moment) - view.width_px() / 2.0));
    }

    /// What the user looks at has settled: it can be gone back to.
    pub(in crate::ui) fn settled(&self) {
        let mut viewer = self.0.borrow_mut();
        let view = viewer.view.span();
        viewer.history.settled(view);
    }

    /// Goes back to what was in view before, or forward again.
    pub(in crate::ui) fn travel(&self, back: bool) {
        let view = {
            let history = &mut self.0.borrow_mut().history;
            if back {
                history.back()
            } else {
                history.forward()
            }
        };
        if let Some(view) = view {
            self.gesture(|viewport| viewport.show_exactly(view));
        }
    }

    /// Undoes one thing: a drag, a measure, the selected item, the range.
    /// False if there was nothing.
    pub(in crate::ui) fn escape(&self) -> bool {
        self.update(|viewer| {
            if viewer.drag.take().is_some() {
                return (true, Vec::new());
            }
            if viewer.focus.measure.take().is_some() {
                viewer.focus.measuring = false;
                return (true, Vec::new());
            }
            if viewer.focus.selected.is_some() {
                viewer.focus.pinned = false;
                let mut events = viewer.select(None);
                events.push(ViewerEvent::Pinned(None));
                return (true, events);
            }
            if viewer.focus.range.take().is_some() {
                return (true, vec![ViewerEvent::Range(None), ViewerEvent::Changed]);
            }
            (viewer.focus.cursor.take().is_some(), Vec::new())
        })
    }

    /// Drops the range.
    pub(in crate::ui) fn clear_range(&self) {
        self.update(|viewer| {
            viewer.focus.range = None;
            ((), vec![ViewerEvent::Range(None), ViewerEvent::Changed])
        });
    }

    /// Selects a range.
    pub(in crate::ui) fn select_range(&self, range: Span) {
        self.update(|viewer| {
            viewer.focus.range = Some(range);
            (
                (),
                vec![ViewerEvent::Range(Some(range)), ViewerEvent::Changed],
            )
        });
    }

    /// Selects the range of the selected item.
    pub(in crate::ui) fn select_item_range(&self) {
        let item = self
            .0
            .borrow()
            .focus
            .selected
            .as_ref()
            .map(|item| item.span);
        if let Some(span) = item {
            self.select_range(span);
        }
    }
}

impl Viewer {
    /// Brings a span into view.
    fn show(&mut self, span: Span, zoom: bool) {
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

    /// Zooms in if a span is so narrow that it is merged with others.
    fn show_apart(&mut self, span: Span) {
        const LEAST_PX: f64 = 3.0;
        const WIDTH_PX: f64 = 24.0;
        let duration = span.duration().0 as f64;
        let px = duration / self.view.ns_per_px();
        if duration > 0.0 && px < LEAST_PX {
            self.view.zoom(WIDTH_PX / px, self.view.x_of(span.start));
            let x = self.view.x_of(span.start);
            self.view.pan(x - self.view.width_px() / 2.0);
        }
    }

    /// The moment that a click means, which becomes the cursor: the begin of
    /// the item, or the time itself.
    pub(super) fn place_at(&mut self, x: f64, y: f64) -> Option<Place> {
        let labels = labels_px(self.size.0);
        if x < labels {
            return None;
        }
        let item = self.item_at(x, y).filter(|item| !item.row.is_graph());
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
        self.focus.cursor = Some(time);
        Some(Place { time, cap })
    }

    /// Which tracks are seen, if they are others than before. Some more are
    /// counted, so that not every pixel of scrolling changes them.
    pub(super) fn seen_changed(&mut self) -> Option<ViewerEvent> {
        const MORE: usize = 12;
        let pinned = self.layout.pinned();
        let scrolled = self.layout.seen(self.scroll_px, self.size.1 - TOP_PX);
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
        Some(ViewerEvent::Seen(self.seen.clone()))
    }
}
