//! Single boxes: pointing, selecting, keyboard navigation, and showing requested ones.

use web_sys::HtmlElement;

use super::{BoxIdentity, CanvasProps, FlameCanvas};
use crate::panels::flame::pick::{Pick, SearchMatch};
use views::flame::LEVEL_PX;

impl FlameCanvas {
    pub(super) fn hit(&self, props: &CanvasProps, x: f64, y: f64) -> Option<usize> {
        let graph = self.graph.as_ref()?;
        self.scene(graph, props).hit(x, y)
    }

    pub(super) fn pick(&self, props: &CanvasProps, index: usize) -> Option<Pick> {
        let graph = self.graph.as_ref()?;
        let boxes = &graph.boxes;
        let (title, text) = graph.describe(index)?;
        Some(Pick {
            name: graph.frame(index)?.name(),
            title,
            text,
            stack: *boxes.stack.get(index)?,
            view: props.query.view.clone(),
            track: graph.track_of(index),
            left: *boxes.left.get(index)?,
            width: *boxes.width.get(index)?,
            merged: graph.is_merged(index),
            selected: self.selected == Some(index),
        })
    }

    pub(super) fn select(&mut self, index: Option<usize>) {
        self.selected = index;
        self.selected_box = index.and_then(|index| {
            let boxes = &self.graph.as_ref()?.boxes;
            Some(BoxIdentity {
                stack: *boxes.stack.get(index)?,
                at: boxes.left.get(index)? + boxes.width.get(index)? / 2.0,
            })
        });
    }

    pub(super) fn emit_pick(&self, props: &CanvasProps) {
        let index = self.hovered.or(self.selected);
        props
            .on_pick
            .emit(index.and_then(|index| self.pick(props, index)));
    }

    pub(super) fn show_box(&mut self, props: &CanvasProps, index: usize) {
        if let Some(graph) = &self.graph
            && let (Some(&left), Some(&width)) =
                (graph.boxes.left.get(index), graph.boxes.width.get(index))
        {
            self.show_part(props, left, width);
        }
    }

    /// Moves the selection by an arrow key.
    pub(super) fn walk(&mut self, props: &CanvasProps, key: &str) {
        let Some(graph) = &self.graph else { return };
        let boxes = &graph.boxes;
        if boxes.is_empty() {
            return;
        }
        let Some(at) = self.selected else {
            let first = graph.box_at(0, self.window.left).or(Some(0));
            return self.select(first);
        };
        let (depth, left, width) = (boxes.depth[at], boxes.left[at], boxes.width[at]);
        let level = graph.at_depth(depth);
        let inwards = if props.upwards {
            "ArrowUp"
        } else {
            "ArrowDown"
        };
        let next = match key {
            "ArrowLeft" => at.checked_sub(1).filter(|next| level.contains(next)),
            "ArrowRight" => Some(at + 1).filter(|next| level.contains(next)),
            key if key == inwards => {
                let mut inside = graph.at_depth(depth.saturating_add(1));
                inside.find(|&i| boxes.left[i] >= left - 1e-12 && boxes.left[i] < left + width)
            }
            _ => {
                let outer = depth.checked_sub(1);
                outer.and_then(|outer| graph.box_at(outer, left + width / 2.0))
            }
        };
        if let Some(next) = next {
            self.select(Some(next));
            self.scroll_to_selected(props);
        }
    }

    /// Scrolls and pans to the selected box.
    pub(super) fn scroll_to_selected(&mut self, props: &CanvasProps) {
        let index = self.selected;
        let edges = index.zip(self.graph.as_ref()).map(|(index, graph)| {
            let boxes = &graph.boxes;
            (boxes.left[index], boxes.width[index])
        });
        let Some((left, width)) = edges else { return };
        if !self.window.touches(left, width) {
            let by = (left + width / 2.0 - self.window.left) / self.window.width - 0.5;
            self.move_by(props, by);
        }
        let (Some(graph), Some(index)) = (&self.graph, index) else {
            return;
        };
        let (Some(rect), Some(scroller)) = (
            self.scene(graph, props).box_rect(index),
            self.scroller.cast::<HtmlElement>(),
        ) else {
            return;
        };
        let height = self.size().1;
        let by = (rect.y - LEVEL_PX).min(0.0) + (rect.y + 2.0 * LEVEL_PX - height).max(0.0);
        if by != 0.0 {
            scroller.set_scroll_top(scroller.scroll_top() + by as i32);
        }
    }

    /// Returns the search match that is yet to be shown.
    pub(super) fn unshown_match<'a>(&self, props: &'a CanvasProps) -> Option<&'a SearchMatch> {
        let found = props.found.as_ref();
        found.filter(|found| self.found.as_ref() != Some(&found.key))
    }

    /// Selects the search match once its boxes have arrived. The visible part changes only if the frame is outside of
    /// it or too narrow to be visible.
    pub(super) fn show_match(&mut self, props: &CanvasProps) {
        /// Minimum visible width, and the share of the window that a narrower frame is zoomed to.
        const MIN_PX: f64 = 2.0;
        const SHARE: f64 = 0.125;
        if props.found.is_none() {
            self.found = None;
        }
        let Some(found) = self.unshown_match(props) else {
            return;
        };
        let (place, (first, last)) = (found.place, self.across(props));
        let px = place.width / self.window.width * (last - first);
        if !self.window.touches(place.left, place.width) || px < MIN_PX {
            let width = (place.width / SHARE).min(1.0);
            self.show_part(props, place.left + (place.width - width) / 2.0, width);
            // At maximum zoom it is shown even if narrower.
            let px = place.width / self.window.width * (last - first);
            if px >= MIN_PX {
                return;
            }
        }
        let query = self.query(props, self.window);
        let is_answered = self.asked.as_ref().is_some_and(|asked| {
            (&asked.choice, asked.window) == (&query.choice, query.window)
                && asked.search == query.search
                && asked.levels.is_none()
                && !self.in_flight
        });
        let Some(graph) = self.graph.as_ref().filter(|_| is_answered) else {
            return;
        };
        // For a frame wider than the window, a point within the visible part.
        let (left, right) = (self.window.left, self.window.left + self.window.width);
        let middle = place.left.max(left) / 2.0 + (place.left + place.width).min(right) / 2.0;
        let index = graph.match_at(place.track, place.level, middle);
        self.found = Some(found.key.clone());
        if index.is_some() {
            self.select(index);
            self.scroll_to_selected(props);
        }
    }

    /// Selects the box of a `Reveal` request once its boxes have arrived.
    pub(super) fn reveal(&mut self, props: &CanvasProps) {
        let (Some(reveal), Some(graph)) = (&props.reveal, &self.graph) else {
            return;
        };
        if reveal.serial == self.revealed
            || self.asked.as_ref().map(|asked| &asked.choice) != Some(&props.query.choice)
        {
            return;
        }
        // Boxes outside of the window are not loaded: moves there first.
        if !self.window.touches(reveal.at, 0.0) {
            let width = self.window.width.min(1.0);
            return self.show_part(props, reveal.at - width / 2.0, width);
        }
        let bands = graph.head.bands.iter();
        let band = bands.clone().find(|(track, _)| *track == reveal.track);
        let first = band.map_or(0, |(_, depth)| *depth);
        self.revealed = reveal.serial;
        if let Some(index) = graph.deepest_at(first, reveal.at) {
            let width = (graph.boxes.width[index] * 8.0).clamp(1e-9, 1.0);
            self.select(Some(index));
            self.show_part(props, reveal.at - width / 2.0, width);
            self.scroll_to_selected(props);
        }
    }
}
