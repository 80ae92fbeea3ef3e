//! A flame graph as a picture: boxes under each other, outermost on top.

use rustc_hash::FxHashMap;

use super::format;
use super::painter::{Align, Face, Painter, Rect};
use super::palette::{Palette, frame_colour};
use crate::flamegraph::query::{FlameBoxes, FlameHead, NamedFrame};
use crate::flamegraph::{Frame, FrameKind};
use crate::ids::Nanos;

/// Height of a level, in pixels.
pub const LEVEL_PX: f64 = 19.0;

/// An answer, ready to be painted.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// What is no columns.
    pub head: FlameHead,
    /// The boxes.
    pub boxes: FlameBoxes,
    /// The names of the tracks that stand below each other; none if there is one.
    names: Vec<String>,
    frames: FxHashMap<u32, usize>,
}

/// How a frame is called on its box: the runtime's own frames need no module.
fn box_name(frame: &Frame) -> String {
    match frame.kind {
        FrameKind::BuiltIn => frame.label.clone(),
        _ => frame.name(),
    }
}

impl Graph {
    /// Makes an answer ready; `names` are those of the tracks asked for.
    #[must_use]
    pub fn new(head: FlameHead, boxes: FlameBoxes, names: Vec<String>) -> Self {
        let frames = head
            .frames
            .iter()
            .enumerate()
            .map(|(i, named)| (named.id, i))
            .collect();
        let several = head.bands.len() > 1;
        Self {
            head,
            boxes,
            names: if several { names } else { Vec::new() },
            frames,
        }
    }

    /// The row of a level: the one of everything is above all, and each of
    /// several tracks has a row for its name.
    fn row(&self, depth: u16) -> f64 {
        let bands = self.head.bands.iter().take(self.names.len());
        let headings = bands.filter(|(_, band)| *band <= depth).count();
        f64::from(depth) + 1.0 + headings as f64
    }

    /// The level that stands in a row.
    fn depth_of_row(&self, row: f64) -> Option<u16> {
        (0..self.head.depth).find(|&depth| self.row(depth) == row)
    }

    fn named(&self, index: usize) -> Option<&NamedFrame> {
        let id = self.boxes.frame.get(index)?;
        self.head.frames.get(*self.frames.get(id)?)
    }

    /// The frame of a box.
    #[must_use]
    pub fn frame(&self, index: usize) -> Option<&Frame> {
        self.named(index).map(|named| &named.frame)
    }

    /// The height of all levels, with the one of everything.
    #[must_use]
    pub fn height(&self) -> f64 {
        (self.row(self.head.depth) + self.names.len() as f64) * LEVEL_PX + 8.0
    }

    /// What a box is, in words: a name to stand out, and the rest.
    #[must_use]
    pub fn describe(&self, index: usize) -> Option<(String, String)> {
        let boxes = &self.boxes;
        let frame = self.frame(index)?;
        let total_ns = *boxes.total.get(index)?;
        let self_ns = *boxes.own.get(index)?;
        let time = |ns: f64| format::duration(Nanos(ns.max(0.0) as u64));
        let share = total_ns / (self.head.total as f64).max(1.0);
        let merged = boxes.merged.get(index).copied().unwrap_or(1);
        if merged > 1 {
            let text = format!(
                "{}, {} of the graph",
                time(total_ns),
                format::fraction(share)
            );
            return Some((format!("{merged} narrow boxes"), text));
        }
        let samples = match (frame.kind, boxes.count.get(index)) {
            (FrameKind::ForeignCall, _) | (_, None) => String::new(),
            (_, Some(count)) if *count < 1.0 => String::new(),
            (_, Some(count)) => format!(", {} samples", format::count(*count as u64)),
        };
        let place = frame
            .location
            .as_deref()
            .map(|place| format!(" · {place}"))
            .unwrap_or_default();
        let text = format!(
            "{} in all ({}), {} itself{samples}{place}",
            time(total_ns),
            format::fraction(share),
            time(self_ns)
        );
        Some((box_name(frame), text))
    }
}

/// The part of the graph in view, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its left edge.
    pub left: f64,
    /// Its width.
    pub width: f64,
}

impl Window {
    /// All of the graph.
    pub const ALL: Self = Self {
        left: 0.0,
        width: 1.0,
    };
    /// The deepest zoom.
    const MIN_WIDTH: f64 = 1e-7;

    /// Makes everything `factor` times as wide; what is at `at` (0 to 1 of
    /// the window) stays there.
    #[must_use]
    pub fn zoomed(self, factor: f64, at: f64) -> Self {
        let fixed = self.left + at * self.width;
        let width = (self.width / factor).clamp(Self::MIN_WIDTH, 1.0);
        Self {
            left: fixed - at * width,
            width,
        }
        .clamped()
    }

    /// Moved by a part of its own width.
    #[must_use]
    pub fn moved(self, by: f64) -> Self {
        Self {
            left: self.left + by * self.width,
            ..self
        }
        .clamped()
    }

    fn clamped(self) -> Self {
        Self {
            left: self.left.clamp(0.0, 1.0 - self.width),
            ..self
        }
    }
}

/// What is to be painted.
#[derive(Debug)]
pub struct FlameScene<'a> {
    /// The boxes.
    pub graph: &'a Graph,
    /// The part in view.
    pub window: Window,
    /// How far down it is scrolled, in pixels.
    pub scroll_px: f64,
    /// Width and height of the picture.
    pub size: (f64, f64),
    /// The colours.
    pub palette: &'a Palette,
    /// Whether the theme is dark.
    pub dark: bool,
    /// The box under the pointer.
    pub hovered: Option<usize>,
    /// The selected box.
    pub selected: Option<usize>,
    /// Whether something is looked for.
    pub searching: bool,
}

impl FlameScene<'_> {
    fn rect(&self, row: f64, left: f64, width: f64) -> Rect {
        let scale = self.size.0 / self.window.width;
        let x = (left - self.window.left) * scale;
        let right = (x + width * scale).min(self.size.0 + 4.0);
        let x = x.max(-4.0);
        let y = row * LEVEL_PX - self.scroll_px;
        Rect::new(x, y, (right - x - 0.75).max(0.75), LEVEL_PX - 1.0)
    }

    fn box_rect(&self, index: usize) -> Option<Rect> {
        let boxes = &self.graph.boxes;
        let row = self.graph.row(*boxes.depth.get(index)?);
        Some(self.rect(row, *boxes.left.get(index)?, *boxes.width.get(index)?))
    }

    /// The box at a point of the picture.
    #[must_use]
    pub fn hit(&self, x: f64, y: f64) -> Option<usize> {
        let boxes = &self.graph.boxes;
        let row = ((y + self.scroll_px) / LEVEL_PX).floor();
        let level = self.graph.depth_of_row(row)?;
        let at = self.window.left + x / self.size.0.max(1.0) * self.window.width;
        let from = boxes.depth.partition_point(|&depth| depth < level);
        let to = boxes.depth.partition_point(|&depth| depth <= level);
        let index = from + boxes.left[from..to].partition_point(|&left| left <= at);
        let index = index.checked_sub(1).filter(|&index| index >= from)?;
        (at < boxes.left[index] + boxes.width[index]).then_some(index)
    }

    /// Paints everything.
    pub fn paint(&self, painter: &mut impl Painter) {
        let (width, height) = self.size;
        painter.fill(Rect::new(0.0, 0.0, width, height), self.palette.page.into());
        self.paint_all(painter);
        self.paint_headings(painter);
        for index in 0..self.graph.boxes.len() {
            if let Some(rect) = self.box_rect(index)
                && rect.y + rect.h > 0.0
                && rect.y < height
                && rect.x < width
            {
                self.paint_box(index, rect, painter);
            }
        }
        for (index, line) in [(self.selected, 2.0), (self.hovered, 1.0)] {
            if let Some(rect) = index.and_then(|index| self.box_rect(index)) {
                self.outline(rect, line, painter);
            }
        }
    }

    fn paint_all(&self, painter: &mut impl Painter) {
        let rect = self.rect(0.0, 0.0, 1.0);
        painter.fill(rect, self.palette.line.into());
        let text = format!("all · {}", format::duration(Nanos(self.graph.head.total)));
        let at = (rect.x.max(0.0) + 6.0, rect.y + rect.h / 2.0);
        painter.text(
            &text,
            at,
            Face::Label,
            Align::Left,
            self.palette.ink2.into(),
        );
    }

    fn paint_headings(&self, painter: &mut impl Painter) {
        for (name, &(_, band)) in self.graph.names.iter().zip(&self.graph.head.bands) {
            let y = (self.graph.row(band) - 0.5) * LEVEL_PX - self.scroll_px;
            painter.text(
                name,
                (6.0, y),
                Face::Heading,
                Align::Left,
                self.palette.ink2.into(),
            );
        }
    }

    fn paint_box(&self, index: usize, rect: Rect, painter: &mut impl Painter) {
        let Some(named) = self.graph.named(index) else {
            return;
        };
        let colour = match named.frame.kind {
            FrameKind::ForeignCall => self.palette.foreign,
            _ => frame_colour(&named.frame.label, &named.frame.module, self.dark),
        };
        let dimmed = self.searching && !named.found;
        painter.fill(rect, colour.alpha(if dimmed { 0.35 } else { 1.0 }));
        if self.searching && named.found {
            let underline = Rect::new(rect.x, rect.y + rect.h - 2.0, rect.w, 2.0);
            painter.fill(underline, self.palette.accent.into());
        }
        let left = rect.x.max(0.0);
        let room = (rect.x + rect.w).min(self.size.0) - left - 7.0;
        let merged = self
            .graph
            .boxes
            .merged
            .get(index)
            .is_some_and(|&merged| merged > 1);
        if room < 18.0 || merged {
            return;
        }
        // Where the whole name does not fit, the function says more than its module.
        let mut name = box_name(&named.frame);
        if painter.measure(&name, Face::Label) > room {
            name.clone_from(&named.frame.label);
        }
        let name = format::truncate_middle(&name, room, |text| painter.measure(text, Face::Label));
        let ink = if dimmed {
            self.palette.ink3
        } else {
            colour.text_on()
        };
        painter.text(
            &name,
            (left + 4.0, rect.y + rect.h / 2.0),
            Face::Label,
            Align::Left,
            ink.into(),
        );
    }

    fn outline(&self, rect: Rect, width: f64, painter: &mut impl Painter) {
        let (x0, x1) = (rect.x, rect.x + rect.w);
        let (y0, y1) = (rect.y, rect.y + rect.h);
        for (from, to) in [
            ((x0, y0), (x1, y0)),
            ((x1, y0), (x1, y1)),
            ((x1, y1), (x0, y1)),
            ((x0, y1), (x0, y0)),
        ] {
            painter.line(from, to, width, self.palette.ink.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_stay_inside_the_graph() {
        let zoomed = Window::ALL.zoomed(4.0, 0.5);
        assert_eq!(
            zoomed,
            Window {
                left: 0.375,
                width: 0.25
            }
        );
        assert_eq!(zoomed.zoomed(0.01, 0.9), Window::ALL);
        assert_eq!(zoomed.moved(-99.0).left, 0.0);
        assert!((zoomed.moved(99.0).left - 0.75).abs() < 1e-12);
    }
}
