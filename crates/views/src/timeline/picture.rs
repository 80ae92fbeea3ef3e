//! Timelines as a picture to be saved: those of two logs stand below each other, each under
//! a line that says which log it is of.

use super::Scene;
use crate::scene::crop::Crop;
use crate::scene::painter::{Align, Face, Painter, Rect};
use crate::tracks::item::Names;

/// How high the line is that says which log it is.
const CAPTION_PX: f64 = 28.0;
/// Where its text begins.
const LEFT_PX: f64 = 12.0;

impl<N: Names> Scene<'_, N> {
    /// How high it is in a picture, with a caption unless that is empty.
    #[must_use]
    pub fn height_with(&self, caption: &str) -> f64 {
        self.size.1 + caption_px(caption)
    }

    /// Paints it so far down in a picture, below a caption unless that is empty.
    pub fn paint_below(&self, top_px: f64, caption: &str, painter: &mut impl Painter) {
        let (width, height) = self.size;
        let line = Rect::new(0.0, top_px, width, caption_px(caption));
        if line.h > 0.0 {
            painter.clip(line);
            painter.fill(line, self.palette.panel.into());
            let at = (LEFT_PX, top_px + line.h / 2.0);
            let ink = self.palette.ink.into();
            painter.text(caption, at, Face::Strong, Align::Left, ink);
            painter.unclip();
        }
        let part = Rect::new(0.0, 0.0, width, height);
        let to = Rect::new(0.0, top_px + line.h, width, height);
        let mut below = Crop::new(painter, part, to);
        self.paint(&mut below);
        below.end();
    }
}

const fn caption_px(caption: &str) -> f64 {
    if caption.is_empty() { 0.0 } else { CAPTION_PX }
}
