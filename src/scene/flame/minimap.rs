//! All of a flame graph in small, with the part in view.

use super::super::painter::{Painter, Rect};
use super::super::palette::Palette;
use super::{Graph, Window, colour};

/// What is to be painted.
#[derive(Debug)]
pub struct Minimap<'a> {
    /// The boxes of the whole graph.
    pub graph: &'a Graph,
    /// The part in view.
    pub window: Window,
    /// Width and height of the picture.
    pub size: (f64, f64),
    /// The colours.
    pub palette: &'a Palette,
    /// Whether the theme is dark.
    pub dark: bool,
}

/// The least and the greatest height of a level.
const LEVEL_PX: (f64, f64) = (1.0, 4.0);

impl Minimap<'_> {
    /// Paints everything.
    pub fn paint(&self, painter: &mut impl Painter) {
        let (width, height) = self.size;
        painter.fill(
            Rect::new(0.0, 0.0, width, height),
            self.palette.panel.into(),
        );
        let levels = f64::from(self.graph.head.depth.max(1));
        let level_px = (height / levels).clamp(LEVEL_PX.0, LEVEL_PX.1);
        for depth in 0..self.graph.head.depth {
            let y = f64::from(depth) * level_px;
            if y >= height {
                break;
            }
            for index in self.graph.at_depth(depth) {
                self.paint_box(index, y, level_px, painter);
            }
        }
        self.paint_window(painter);
    }

    fn paint_box(&self, index: usize, y: f64, level_px: f64, painter: &mut impl Painter) {
        let boxes = &self.graph.boxes;
        let (x, w) = (
            boxes.left[index] * self.size.0,
            boxes.width[index] * self.size.0,
        );
        let Some(frame) = self.graph.frame(index).filter(|frame| !frame.is_idle()) else {
            return;
        };
        let colour = match self.graph.shares(index) {
            Some((before, now)) => colour::of_change(before, now, self.dark),
            None => colour::of_frame(frame, self.palette, self.dark),
        };
        painter.fill(Rect::new(x, y, w.max(0.5), level_px), colour.into());
    }

    fn paint_window(&self, painter: &mut impl Painter) {
        let (width, height) = self.size;
        if self.window == Window::ALL {
            return;
        }
        let left = self.window.left * width;
        let right = (left + (self.window.width * width).max(2.0)).min(width);
        let veil = self.palette.page.alpha(0.65);
        painter.fill(Rect::new(0.0, 0.0, left, height), veil);
        painter.fill(Rect::new(right, 0.0, width - right, height), veil);
        for x in [left, right] {
            painter.line((x, 0.0), (x, height), 1.5, self.palette.accent.into());
        }
    }
}
