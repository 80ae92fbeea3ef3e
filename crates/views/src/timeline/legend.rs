//! What every mark of the timeline means: for each a name, a sentence, and a
//! sample. A sample is a small scene that is painted like any other, so that
//! the legend cannot disagree with the picture.

mod crop;
mod pointing;
mod sample;
pub(crate) mod waves;

use crate::scene::painter::{Painter, Rect};
use crate::scene::palette::Palette;
use crate::tracks::Row;
use crop::Crop;
pub(crate) use sample::{FROM, MIDDLE, Made, Sample, TO, buckets};

/// How wide a sample is, in pixels.
pub const SAMPLE_PX: f64 = 96.0;

/// The parts of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Rows of capabilities.
    Capabilities,
    /// Rows of threads.
    Threads,
    /// Samples of a profile, foreign calls.
    Profile,
    /// Collections of the program, and the concurrent collector.
    Collections,
    /// Lines and areas.
    Graphs,
    /// Messages, and events at points in time.
    Events,
    /// Spans of the program, tasks, blocks.
    Spans,
    /// What woke a thread, and where it moved.
    Arrows,
    /// Selection, cursor, notes, measure, minimap.
    Pointing,
}

impl Section {
    /// All of them, in their order.
    pub const ALL: [Self; 9] = [
        Self::Capabilities,
        Self::Threads,
        Self::Profile,
        Self::Collections,
        Self::Graphs,
        Self::Events,
        Self::Spans,
        Self::Arrows,
        Self::Pointing,
    ];

    /// Its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Capabilities => "Capabilities",
            Self::Threads => "Threads",
            Self::Profile => "Profile samples, foreign calls",
            Self::Collections => "Collections of the program",
            Self::Graphs => "Graphs",
            Self::Events => "Messages and events",
            Self::Spans => "Spans of the program, tasks, blocks",
            Self::Arrows => "Arrows",
            Self::Pointing => "Tracks, selection, cursor, notes, minimap",
        }
    }

    /// What holds for all of its marks.
    #[must_use]
    pub const fn note(self) -> &'static str {
        match self {
            Self::Capabilities => {
                "Where several spans share a pixel, a bar is as high as their share of its time."
            }
            Self::Threads => {
                "A running thread is a full bar; one that does not run is a thin line in the colour of its reason."
            }
            Self::Graphs => {
                "Where a value changes within a pixel, the line is as thick as the change, so that no peak is lost."
            }
            Self::Events => {
                "The shape says what an event is about. Where several share a place, the most notable one is drawn."
            }
            Self::Arrows => "They belong to the thread that is pointed at or selected.",
            Self::Profile | Self::Collections | Self::Spans | Self::Pointing => "",
        }
    }

    /// What is in it.
    #[must_use]
    pub fn entries(self) -> Vec<Entry> {
        match self {
            Self::Arrows => pointing::arrows(),
            Self::Pointing => pointing::entries(),
            section => Row::legend(section),
        }
    }
}

/// A mark, explained.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What it means for the program.
    pub meaning: &'static str,
    sample: Sample,
}

impl Entry {
    pub(crate) const fn new(name: &'static str, meaning: &'static str, sample: Sample) -> Self {
        Self {
            name,
            meaning,
            sample,
        }
    }

    /// How high its sample is, in pixels.
    #[must_use]
    pub fn height_px(&self) -> f64 {
        self.sample.crop().h
    }
}

/// Paints the sample of an entry into a rectangle, which should be
/// [`SAMPLE_PX`] wide and [`Entry::height_px`] high: more of it stays empty.
pub fn paint_sample(
    entry: &Entry,
    rect: Rect,
    palette: &Palette,
    patterns: bool,
    painter: &mut impl Painter,
) {
    let mut crop = Crop::new(painter, entry.sample.crop(), rect);
    entry.sample.paint(palette, patterns, &mut crop);
    crop.end();
}

#[cfg(test)]
mod tests;
