//! Minimap of a flame graph.

use super::Graph;
use scene::painter::{Painter, Rect};
use scene::palette::Palette;
use session::frame_color;

/// Input of the minimap painter.
#[derive(Debug)]
pub struct Minimap<'a> {
    /// Whole graph.
    pub graph: &'a Graph,
    /// Width and height of the picture, in CSS pixels.
    pub size: (f64, f64),
    /// Color theme.
    pub palette: &'a Palette,
    /// Whether the theme is dark.
    pub dark: bool,
}

/// Maximum height of a level, in pixels.
const LEVEL_PX: f64 = 4.0;

impl Minimap<'_> {
    /// Paints the minimap; if there are more levels than pixels, only some are painted.
    pub fn paint(&self, painter: &mut dyn Painter) {
        let (width, height) = self.size;
        let all = Rect::new(0.0, 0.0, width, height);
        painter.fill(all, self.palette.panel.into());
        let levels = f64::from(self.graph.head.depth.max(1));
        let shown = levels.min(height.floor()).max(1.0);
        let level_px = (height / shown).min(LEVEL_PX);
        for place in 0..shown as u16 {
            let y = f64::from(place) * level_px;
            let depth = (f64::from(place) * levels / shown) as u16;
            for index in self.graph.at_depth(depth) {
                self.paint_box(index, y, level_px, painter);
            }
        }
    }

    fn paint_box(&self, index: usize, y: f64, level_px: f64, painter: &mut dyn Painter) {
        let boxes = &self.graph.boxes;
        let (x, w) = (
            boxes.left[index] * self.size.0,
            boxes.width[index] * self.size.0,
        );
        let Some(frame) = self.graph.frame(index).filter(|frame| !frame.is_idle()) else {
            return;
        };
        let color = match self.graph.compared(index) {
            Some((before, now)) => frame_color::change_color(before, now, self.dark),
            None => frame_color::color_for_frame(frame, self.palette, self.dark),
        };
        painter.fill(Rect::new(x, y, w.max(0.5), level_px), color.into());
    }
}
