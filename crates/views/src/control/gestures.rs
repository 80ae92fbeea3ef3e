//! Mouse, pen and touch gestures on the timeline.

use super::{Control, TimelineEvent};
use crate::timeline::{MINIMAP_PX, TOP_PX};
use eventlog::ids::{Duration, Nanos};
use model::time::Interval;
use scene::painter::Rect;
use scene::viewport::Viewport;
use session::tracks::Shape;
use session::tracks::bands::Bands;
use session::tracks::item::Item;

/// Maximum movement of a press that still counts as a click, in pixels.
const CLICK_PX: f64 = 4.0;
/// Grab distance of the edges of the selected range for mouse and pen, in pixels.
const EDGE_PX: f64 = 5.0;
/// Grab distance of the edges of the selected range for touch, in pixels.
const FINGER_EDGE_PX: f64 = 16.0;
/// Hit tolerance of marks, in pixels.
const HIT_PX: f64 = 2.5;
/// Hit tolerance of marks of instants, which are painted wider than their time, in pixels.
const MOMENT_HIT_PX: f64 = 5.0;
/// Distance within which a dragged edge snaps to the edge of a span, in pixels.
const SNAP_PX: f64 = 6.0;
/// Long-press delay, in milliseconds: a resting finger then selects instead of panning.
pub const LONG_PRESS_MS: u32 = 450;

/// Action of the drag in progress. `x` is a canvas position in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// Selects a range that starts at `from`.
    Select { from: Nanos, x: f64 },
    /// Moves the view.
    Pan { x: f64 },
    /// Moves one edge of the range; `fixed` is the other edge.
    Edge { fixed: Nanos },
    /// Measures from `from`.
    Measure { from: Nanos, x: f64 },
    /// Moves the view over the minimap; `grip` is the offset of the grabbed time from the middle of the view, in
    /// nanoseconds.
    Minimap { grip: f64 },
    /// Two-finger zoom: the horizontal distance and midpoint of the fingers.
    Pinch { apart: f64, middle: f64 },
}

/// Finger on the timeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    id: i32,
    at: (f64, f64),
}

/// Press of a button, pen or finger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Press {
    /// Pointer id, which distinguishes fingers.
    pub id: i32,
    /// Position on the canvas, in CSS pixels.
    pub at: (f64, f64),
    /// Whether the pointer is a finger.
    pub touch: bool,
    /// Whether to pan: pressed with Shift or the middle button.
    pub pan: bool,
    /// Whether to measure: pressed with Alt.
    pub measure: bool,
}

/// Turn of the wheel over the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wheel {
    /// Distance from the left edge of the canvas, in CSS pixels.
    pub x: f64,
    /// Horizontal scroll amount in CSS pixels; positive is right.
    pub dx: f64,
    /// Vertical scroll amount in CSS pixels; positive is down.
    pub dy: f64,
    /// Whether Shift is held: scrolls the tracks.
    pub shift: bool,
    /// Whether Ctrl is held; browsers also set it for touchpad pinches.
    pub ctrl: bool,
}

/// CSS `cursor` value.
pub type PointerShape = &'static str;

impl Control {
    /// Handles a turn of the wheel; returns `None` if the tracks should scroll instead.
    pub fn wheel(&mut self, wheel: Wheel) -> Option<Vec<TimelineEvent>> {
        let Wheel {
            x,
            dx,
            dy,
            shift,
            ctrl,
        } = wheel;
        let labels = self.labels_px();
        if x < labels || (shift && !ctrl && dx == 0.0) {
            return None;
        }
        Some(if dx.abs() > dy.abs() {
            self.gesture(|view| view.pan(dx))
        } else {
            let speed = if ctrl { 0.01 } else { 0.0022 };
            self.gesture(|view| view.zoom((-dy * speed).exp(), x - labels))
        })
    }

    /// Switches from panning to selecting when a finger has rested for [`LONG_PRESS_MS`].
    pub fn long_press(&mut self, press: Press) {
        if let (Some(Drag::Pan { .. }), false) = (self.drag, self.moved) {
            let from = self.snap_to_edge(press.at);
            let x = press.at.0;
            self.drag = Some(Drag::Select { from, x });
        }
    }

    /// Handles the pointer leaving the canvas.
    pub fn leave(&mut self) -> Vec<TimelineEvent> {
        self.focus.pointer = None;
        self.focus.pointer_at = None;
        self.focus.hovered = None;
        self.description_events()
    }

    /// Drops a finger whose movement the browser took over for scrolling.
    pub fn abort(&mut self, id: i32) {
        self.touches.retain(|touch| touch.id != id);
        self.drag = None;
    }

    /// Zooms to the double-clicked item, or shows the whole log if there is none.
    pub fn double_click(&mut self, x: f64, y: f64) -> Vec<TimelineEvent> {
        let item = self.item_at(x, y).filter(|item| !item.row.is_graph());
        self.gesture(|view| match item {
            Some(item) => view.show(item.span),
            None => view.fit(),
        })
    }

    /// Changes the visible time; the pointer keeps its canvas position, so its time is recomputed.
    pub(crate) fn gesture(&mut self, change: impl FnOnce(&mut Viewport)) -> Vec<TimelineEvent> {
        change(&mut self.view);
        if let Some((x, _)) = self.focus.pointer_at {
            let labels = self.labels_px();
            self.focus.pointer = (x >= labels).then(|| self.view.time_at(x - labels));
        }
        let mut events = self.hover();
        events.push(TimelineEvent::ViewChanged);
        events
    }

    /// Starts a measurement at the reference time (pointer or cursor), or ends the one in progress there.
    pub fn measure(&mut self) -> Vec<TimelineEvent> {
        let moment = self.moment();
        let focus = &mut self.focus;
        focus.measuring = !focus.measuring;
        focus.measure = Some(match focus.measure.filter(|_| !focus.measuring) {
            Some((from, _)) => (from, moment),
            None => (moment, moment),
        });
        Vec::new()
    }
}

impl Control {
    fn time_of(&self, x: f64) -> Nanos {
        self.view.time_at(x - self.labels_px())
    }

    /// Handles a button, pen or finger going down.
    pub fn press(&mut self, press: Press) -> Vec<TimelineEvent> {
        let (x, y) = press.at;
        if press.touch {
            self.touches.retain(|touch| touch.id != press.id);
            self.touches.push(Touch {
                id: press.id,
                at: press.at,
            });
            if let Some(pinch) = self.pinch() {
                self.drag = Some(pinch);
                self.moved = true;
                return Vec::new();
            }
        }
        self.moved = false;
        let edge_px = if press.touch { FINGER_EDGE_PX } else { EDGE_PX };
        self.drag = if x < self.labels_px() {
            None
        } else if y < MINIMAP_PX {
            return self.take_minimap(x);
        } else if press.measure {
            Some(Drag::Measure {
                from: self.snap_to_edge(press.at),
                x,
            })
        } else if let Some(fixed) = self.opposite_edge(x, edge_px) {
            Some(Drag::Edge { fixed })
        } else if press.pan || press.touch || y < TOP_PX {
            Some(Drag::Pan { x })
        } else {
            Some(Drag::Select {
                from: self.snap_to_edge(press.at),
                x,
            })
        };
        if press.touch {
            vec![TimelineEvent::Hold(press)]
        } else {
            Vec::new()
        }
    }

    fn pinch(&self) -> Option<Drag> {
        let [a, b] = self.touches[..] else {
            return None;
        };
        Some(Drag::Pinch {
            apart: (a.at.0 - b.at.0).abs().max(1.0),
            middle: f64::midpoint(a.at.0, b.at.0),
        })
    }

    /// Grabs the view on the minimap; a press outside of the view first centers the view there.
    fn take_minimap(&mut self, x: f64) -> Vec<TimelineEvent> {
        let (start, end) = self.view.edges_ns();
        let time = self.minimap_ns(x);
        let middle = f64::midpoint(start, end);
        let inside = (start..=end).contains(&time);
        let grip = if inside { time - middle } else { 0.0 };
        self.drag = Some(Drag::Minimap { grip });
        self.move_minimap(x, grip);
        vec![TimelineEvent::ViewChanged]
    }

    fn move_minimap(&mut self, x: f64, grip: f64) {
        self.view.center_ns(self.minimap_ns(x) - grip);
    }

    fn minimap_ns(&self, x: f64) -> f64 {
        let part = (x - self.labels_px()) / self.view.width_px();
        self.view.at_part_ns(part)
    }

    /// Handles a pointer or finger move.
    pub fn point(&mut self, id: i32, x: f64, y: f64) -> Vec<TimelineEvent> {
        if let Some(touch) = self.touches.iter_mut().find(|touch| touch.id == id) {
            touch.at = (x, y);
        }
        let time = self.time_of(x);
        self.focus.pointer = (x >= self.labels_px() && y >= MINIMAP_PX).then_some(time);
        self.focus.pointer_at = Some((x, y));
        if let Some((from, _)) = self.focus.measure.filter(|_| self.focus.measuring) {
            self.focus.measure = Some((from, self.snap_to_edge((x, y))));
        }
        let mut events = self.update_drag(x, y);
        events.extend(self.hover());
        events
    }

    fn update_drag(&mut self, x: f64, y: f64) -> Vec<TimelineEvent> {
        match self.drag {
            Some(Drag::Pan { x: from }) => {
                self.moved |= (x - from).abs() > CLICK_PX;
                if self.moved {
                    self.view.pan(from - x);
                    self.drag = Some(Drag::Pan { x });
                    return vec![TimelineEvent::ViewChanged];
                }
            }
            Some(Drag::Select { from, x: start }) => {
                self.moved |= (x - start).abs() > CLICK_PX;
                if self.moved {
                    return self.set_range(from, self.snap_to_edge((x, y)));
                }
            }
            Some(Drag::Edge { fixed }) => {
                self.moved = true;
                return self.set_range(fixed, self.snap_to_edge((x, y)));
            }
            Some(Drag::Measure { from, x: start }) => {
                self.moved |= (x - start).abs() > CLICK_PX;
                self.focus.measuring = false;
                self.focus.measure = self.moved.then(|| (from, self.snap_to_edge((x, y))));
            }
            Some(Drag::Minimap { grip }) => {
                self.move_minimap(x, grip);
                return vec![TimelineEvent::ViewChanged];
            }
            Some(Drag::Pinch { apart, middle }) => {
                self.update_pinch(apart, middle);
                return vec![TimelineEvent::ViewChanged];
            }
            None => {}
        }
        Vec::new()
    }

    fn update_pinch(&mut self, apart: f64, middle: f64) {
        let Some(Drag::Pinch {
            apart: now,
            middle: to,
        }) = self.pinch()
        else {
            return;
        };
        self.view.pan(middle - to);
        let labels = self.labels_px();
        self.view.zoom(now / apart, to - labels);
        self.drag = self.pinch();
    }

    /// Handles a button or finger going up.
    pub fn release(&mut self, id: i32, x: f64, y: f64) -> Vec<TimelineEvent> {
        let fingers = self.touches.len();
        self.touches.retain(|touch| touch.id != id);
        let drag = self.drag.take();
        let mut events = vec![TimelineEvent::ViewChanged];
        if fingers > 1 {
            // Lifting one finger of a pinch is not a click.
            return events;
        }
        if fingers == 1 {
            self.focus.pointer_at = None;
            self.focus.pointer = None;
            self.focus.hovered = None;
        }
        if self.focus.measuring {
            self.focus.measuring = false;
            return events;
        }
        let is_range = matches!(drag, Some(Drag::Select { .. } | Drag::Edge { .. }));
        if is_range && self.focus.range.is_some_and(|range| range.is_empty()) {
            events.extend(self.select_range(None));
        }
        let clicks = !matches!(
            drag,
            None | Some(Drag::Minimap { .. } | Drag::Measure { .. })
        );
        if clicks && !self.moved {
            events.extend(self.click(x, y));
        }
        events
    }

    fn click(&mut self, x: f64, y: f64) -> Vec<TimelineEvent> {
        let mut events = Vec::new();
        events.extend(self.set_cursor_at(x, y).map(TimelineEvent::Clicked));
        let item = self.item_at(x, y).filter(|item| !item.row.is_graph());
        let band = self.band_at(x, y);
        if item.is_none() && band.is_none() && self.focus.range.take().is_some() {
            events.push(TimelineEvent::Range(None));
        }
        events.extend(band.map(TimelineEvent::BandClicked));
        let track = self
            .track_at(y)
            .map(|index| self.layout.tracks()[index].name.clone());
        if let Some(track) = track {
            self.focus.track = Some(track.clone());
            events.push(TimelineEvent::TrackFocused(Some(track)));
        }
        self.focus.pinned = item.is_some();
        events.extend(self.select(item));
        events.extend([TimelineEvent::Pinned(
            self.description().filter(|_| self.focus.pinned),
        )]);
        events
    }

    /// Returns the index of the track at a canvas height.
    pub fn track_at(&self, y: f64) -> Option<usize> {
        (y >= TOP_PX).then(|| self.layout.track_at(y - TOP_PX, self.scroll_px))?
    }

    /// Returns the item at a canvas position; on a graph, the time of one pixel.
    pub(crate) fn item_at(&self, x: f64, y: f64) -> Option<Item> {
        if x < self.labels_px() {
            return None;
        }
        let row = self.layout.tracks().get(self.track_at(y)?)?.row()?;
        let time = self.time_of(x);
        if row.is_graph() {
            return Some(self.graph_item(row, time));
        }
        let px = match row.shape() {
            Shape::Moments => MOMENT_HIT_PX,
            _ => HIT_PX,
        };
        let slack = Duration((self.view.ns_per_px() * px) as u64);
        self.marks.hit(row, time, slack)
    }

    /// Returns the key of the band at a canvas position on the heap profile track.
    fn band_at(&self, x: f64, y: f64) -> Option<String> {
        let index = self.track_at(y)?;
        let track = self.layout.tracks().get(index)?;
        let left = self.labels_px();
        if track.row() != Some(Bands.into()) || x < left {
            return None;
        }
        let top = TOP_PX + self.layout.y(index, self.scroll_px);
        let area = Rect::new(left, top, self.view.width_px(), track.height());
        Bands.key_at(&self.marks, area, self.view, (x, y))
    }

    /// Returns the time at the pointer, snapped to a nearby edge of the span there.
    fn snap_to_edge(&self, (x, y): (f64, f64)) -> Nanos {
        let time = self.time_of(x);
        let row = self
            .track_at(y)
            .and_then(|index| self.layout.tracks().get(index)?.row());
        let Some(row) = row.filter(|row| !row.is_graph()) else {
            return time;
        };
        let slack = Duration((self.view.ns_per_px() * SNAP_PX) as u64);
        let Some(item) = self.marks.hit(row, time, slack) else {
            return time;
        };
        let edges = [item.span.start(), item.span.end()];
        let nearest = edges.into_iter().min_by_key(|edge| edge.0.abs_diff(time.0));
        nearest
            .filter(|edge| edge.0.abs_diff(time.0) <= slack.0)
            .unwrap_or(time)
    }

    /// Returns the opposite edge of the range if `x` is on one of its edges.
    fn opposite_edge(&self, x: f64, slack_px: f64) -> Option<Nanos> {
        let range = self.focus.range?;
        let labels = self.labels_px();
        let near = |time: Nanos| (labels + self.view.x_of(time) - x).abs() <= slack_px;
        if near(range.start()) {
            Some(range.end())
        } else if near(range.end()) {
            Some(range.start())
        } else {
            None
        }
    }

    /// Updates the hovered item; nothing is hovered during a drag.
    pub(super) fn hover(&mut self) -> Vec<TimelineEvent> {
        let at = self.focus.pointer_at.filter(|_| self.drag.is_none());
        self.focus.hovered = at.and_then(|(x, y)| self.item_at(x, y));
        self.description_events()
    }

    fn set_range(&mut self, a: Nanos, b: Nanos) -> Vec<TimelineEvent> {
        self.focus.range = Some(Interval::new(a.min(b), a.max(b)));
        vec![TimelineEvent::Range(self.focus.range)]
    }

    /// Returns the pointer shape for a canvas position, which indicates what a press there would do.
    pub fn pointer_shape(&self, x: f64, y: f64) -> PointerShape {
        let hovered = self.focus.hovered.as_ref();
        match self.drag {
            Some(Drag::Pan { .. } | Drag::Minimap { .. }) => "grabbing",
            Some(Drag::Edge { .. }) => "ew-resize",
            _ if x < self.labels_px() => "default",
            _ if y < MINIMAP_PX => "grab",
            _ if self.opposite_edge(x, EDGE_PX).is_some() => "ew-resize",
            _ if y < TOP_PX => "grab",
            _ if hovered.is_some_and(|item| !item.row.is_graph()) => "pointer",
            _ => "crosshair",
        }
    }
}
