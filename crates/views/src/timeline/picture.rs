//! Timelines as a saved picture: a caption with the name of the log and the time shown, the timeline, and below
//! all of them the legend. The timelines of two logs are stacked.

use super::Scene;
use super::legend::picture_legend::PictureLegend;
use scene::crop::Crop;
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};

/// Height of a caption, in pixels.
const CAPTION_PX: f64 = 48.0;
/// Vertical center of each line of a caption, in pixels.
const LINES_PX: [f64; 2] = [16.0, 35.0];
/// Left margin of the texts, in pixels.
const LEFT_PX: f64 = 12.0;

/// Caption above a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// Name of the log.
    pub title: String,
    /// Facts about the log, shown after the time range.
    pub facts: String,
}

/// Saved picture of one or two timelines, with a legend.
#[derive(Debug)]
pub struct Picture<'a> {
    timelines: Vec<(Caption, Scene<'a>)>,
    legend: PictureLegend,
}

impl<'a> Picture<'a> {
    /// Creates a picture of timelines with their captions.
    pub fn new(timelines: Vec<(Caption, Scene<'a>)>) -> Self {
        let legend = PictureLegend::from_marks(timelines.iter().map(|(_, scene)| scene.marks));
        Self { timelines, legend }
    }

    fn width_px(&self) -> f64 {
        let widths = self.timelines.iter().map(|(_, scene)| scene.size.0);
        widths.fold(0.0, f64::max)
    }

    /// Returns the width and height in CSS pixels.
    pub fn size(&self) -> (f64, f64) {
        let width = self.width_px();
        let heights = self
            .timelines
            .iter()
            .map(|(_, scene)| scene.size.1 + CAPTION_PX);
        (width, heights.sum::<f64>() + self.legend.height_px(width))
    }

    /// Paints the captions, the timelines and the legend.
    pub fn paint(&self, painter: &mut dyn Painter) {
        let mut top = 0.0;
        for (caption, scene) in &self.timelines {
            scene.paint_caption(top, caption, painter);
            let (width, height) = scene.size;
            let to = Rect::new(0.0, top + CAPTION_PX, width, height);
            let mut below = Crop::new(painter, Rect::new(0.0, 0.0, width, height), to);
            scene.paint(&mut below);
            below.end();
            top += CAPTION_PX + height;
        }
        if let Some((_, scene)) = self.timelines.first() {
            let look = (scene.palette, scene.patterns);
            self.legend.paint(top, self.width_px(), look, painter);
        }
    }
}

impl Scene<'_> {
    /// Paints the caption: the name of the log and the time shown.
    fn paint_caption(&self, top_px: f64, caption: &Caption, painter: &mut dyn Painter) {
        let (width, _) = self.size;
        let place = Rect::new(0.0, top_px, width, CAPTION_PX);
        painter.clip(place);
        painter.fill(place, self.palette.panel.into());
        let shown = match self.view.visible() {
            Some(range) => format!("Shown: {}", format::range(range)),
            None => format!("The whole log: {}", format::range(self.view.log())),
        };
        let selected = self.focus.range.map(format::range);
        let selected = selected.map(|range| format!(" · selected: {range}"));
        let facts = format!(
            "{shown}{} · {}",
            selected.unwrap_or_default(),
            caption.facts
        );
        let room = width - 2.0 * LEFT_PX;
        let mut line = |text: &str, y: f64, face: Face, ink| {
            let text = format::truncate_middle(text, room, |text| painter.measure(text, face));
            let at = (LEFT_PX, top_px + y);
            painter.text(&text, at, face, Align::Left, ink);
        };
        let (ink, faint) = (self.palette.ink.into(), self.palette.ink2.into());
        line(&caption.title, LINES_PX[0], Face::Strong, ink);
        line(&facts, LINES_PX[1], Face::Label, faint);
        painter.unclip();
    }
}
