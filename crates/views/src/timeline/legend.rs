//! Legend of the timeline: a name, an explanation and a sample picture for every mark.
//!
//! Samples are painted by the same code as the timeline, so that the legend cannot diverge from it.

pub(super) mod picture_legend;
mod pointing;
mod small_scene;

use scene::crop::Crop;
use scene::painter::{Painter, Rect};
use scene::palette::Palette;
use session::tracks::TrackId;
use session::tracks::legend::{LegendEntry, Section};
use small_scene::SmallScene;

/// Returns the entries of a section of the legend.
pub fn entries(section: Section) -> Vec<Entry> {
    match section {
        Section::Arrows => pointing::arrows(),
        Section::Pointing => pointing::entries(),
        section => TrackId::legend(section)
            .into_iter()
            .map(Entry::from)
            .collect(),
    }
}

/// Entry of the legend.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the explained mark.
    pub name: &'static str,
    /// Meaning of the mark for the program.
    pub meaning: &'static str,
    scene: SmallScene,
}

impl From<LegendEntry> for Entry {
    fn from(mark: LegendEntry) -> Self {
        Self::new(mark.name, mark.meaning, mark.sample.into())
    }
}

impl Entry {
    const fn new(name: &'static str, meaning: &'static str, scene: SmallScene) -> Self {
        Self {
            name,
            meaning,
            scene,
        }
    }

    /// Returns the height of the sample picture, in pixels.
    pub fn height_px(&self) -> f64 {
        self.scene.crop().h
    }
}

/// Paints the sample of an entry into a rectangle, which should be
/// [`SAMPLE_PX`](session::tracks::legend::SAMPLE_PX) wide and [`Entry::height_px`] high; additional space stays
/// empty.
pub fn paint_sample(
    entry: &Entry,
    rect: Rect,
    palette: &Palette,
    patterns: bool,
    painter: &mut dyn Painter,
) {
    let mut crop = Crop::new(painter, entry.scene.crop(), rect);
    entry.scene.paint(palette, patterns, &mut crop);
    crop.end();
}

#[cfg(test)]
mod tests;
