//! Miniature timelines, as samples of the legend.

use crate::notes::{Note, Notes};
use crate::timeline::layout::{Kind, Layout, Track};
use crate::timeline::{Focus, MINIMAP_PX, NARROW_LABELS_PX, Scene, TOP_PX};
use analysis::timeline::flow::Arrow;
use eventlog::ids::{Duration, Nanos};
use model::marks::TimelineReply;
use model::profile::frames::{Frame, FrameKind};
use model::time::Interval;
use scene::painter::{Painter, Rect};
use scene::palette::Palette;
use scene::viewport::Viewport;
use session::tracks::group::TrackGroup;
use session::tracks::item::{Item, Marks, Names};
use session::tracks::legend::{LegendSample, SAMPLE_PX, interval_between, time_at};
use session::tracks::name::TrackName;
use session::tracks::{LogContents, TrackId};

/// Functions of the profile samples, indexed by number.
fn functions() -> Vec<Frame> {
    let function = |module: &str, label: &str| Frame::cost_centre(module, label, "here");
    vec![
        function("Main", "solve"),
        function("Data.Map", "insert"),
        Frame::built_in("GC", "GC"),
    ]
}

/// Functions of the foreign calls, indexed by number.
fn foreign_functions() -> Vec<Frame> {
    vec![Frame::with_kind(FrameKind::ForeignCall, "blur")]
}

/// Visible part of a miniature timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Contents of the tracks.
    Tracks,
    /// Contents of the tracks, with the time axis above.
    Axis,
    /// The minimap, without tracks.
    Minimap,
    /// Labels of the tracks.
    Names,
}

/// Miniature timeline, cropped to its visible part.
#[derive(Clone, Debug)]
pub(super) struct SmallScene {
    pub(super) part: Part,
    pub(super) layout: Layout,
    pub(super) marks: Marks,
    pub(super) view: Interval,
    /// Times of the log if they differ from the view; a second log on the same axis covers the whole sample.
    pub(super) log: Option<Interval>,
    pub(super) range: Option<Interval>,
    pub(super) selected: Option<Item>,
    pub(super) hovered: Option<Item>,
    pub(super) pointer: Option<Nanos>,
    pub(super) cursor: Option<Nanos>,
    pub(super) measure: Option<(Nanos, Nanos)>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) notes: Notes,
    pub(super) caps: usize,
}

/// Resolves only the functions of profiles and foreign calls.
#[derive(Debug)]
struct Nameless {
    functions: Vec<Frame>,
    foreign_functions: Vec<Frame>,
}

impl Names for Nameless {
    fn foreign_function(&self, number: u32) -> Option<&Frame> {
        self.foreign_functions.get(number as usize)
    }
    fn sampled_function(&self, number: u32) -> Option<&Frame> {
        self.functions.get(number as usize)
    }
}

/// Returns a track for a miniature timeline.
pub(super) fn track(kind: Kind, title: &str) -> Track {
    let name = match kind {
        Kind::Track(row) => row.link(&LogContents::default()),
        Kind::Group(group) => group.name().to_owned(),
        Kind::Process => "process0".to_owned(),
        Kind::Label => "label".to_owned(),
    };
    Track::new(kind, TrackName::cut(&name), title)
}

impl From<LegendSample> for SmallScene {
    fn from(LegendSample(marks): LegendSample) -> Self {
        let rows = marks.rows.iter();
        let tracks = rows.map(|row| track(Kind::Track(*row), "")).collect();
        Self {
            marks,
            ..Self::tracks(tracks)
        }
    }
}

impl SmallScene {
    /// Returns a scene with tracks but no marks.
    pub(super) fn tracks(tracks: Vec<Track>) -> Self {
        let rows = tracks.iter().filter_map(Track::row).collect();
        Self {
            part: Part::Tracks,
            layout: Layout::new(tracks),
            marks: Marks {
                view: Some(interval_between(0.0, SAMPLE_PX)),
                rows,
                reply: TimelineReply::default(),
            },
            view: interval_between(0.0, SAMPLE_PX),
            log: None,
            range: None,
            selected: None,
            hovered: None,
            pointer: None,
            cursor: None,
            measure: None,
            arrows: Vec::new(),
            notes: Notes::default(),
            caps: 2,
        }
    }

    /// Returns a scene with the heading of a group.
    pub(super) fn heading(group: TrackGroup, folded: bool) -> Self {
        let heading = Track {
            folded,
            ..track(Kind::Group(group), group.title())
        };
        Self {
            part: Part::Names,
            ..Self::tracks(vec![heading])
        }
    }

    pub(super) fn note(self, from_px: f64, to_px: f64, name: &str) -> Self {
        Self {
            part: Part::Axis,
            notes: [Note::new(interval_between(from_px, to_px), name)]
                .into_iter()
                .collect(),
            ..self
        }
    }

    /// Shows the minimap, with `view` as the visible part of the log.
    pub(super) fn minimap(self, view: Interval) -> Self {
        Self {
            part: Part::Minimap,
            view,
            ..self
        }
    }

    /// Returns the item of a row at a pixel.
    pub(super) fn item(&self, row: TrackId, px: f64) -> Option<Item> {
        self.marks.hit(row, time_at(px), Duration::ZERO)
    }

    /// Returns the visible part of the scene, in pixels.
    pub(super) fn crop(&self) -> Rect {
        let tracks = self.layout.height();
        let (x, y, h) = match self.part {
            Part::Tracks => (NARROW_LABELS_PX, TOP_PX, tracks),
            Part::Axis => (NARROW_LABELS_PX, MINIMAP_PX, TOP_PX - MINIMAP_PX + tracks),
            Part::Minimap => (NARROW_LABELS_PX, 0.0, MINIMAP_PX),
            Part::Names => (0.0, TOP_PX, tracks),
        };
        Rect::new(x, y, SAMPLE_PX, h)
    }

    pub(super) fn paint(&self, palette: &Palette, patterns: bool, painter: &mut dyn Painter) {
        let all = interval_between(0.0, SAMPLE_PX);
        let mut view = Viewport::new(self.log.unwrap_or(all), SAMPLE_PX);
        view.set_other_log(Some((all.start().0 as f64, all.end().0 as f64)));
        view.show_exactly(self.view);
        Scene {
            layout: &self.layout,
            scroll_px: 0.0,
            size: (NARROW_LABELS_PX + SAMPLE_PX, TOP_PX + self.layout.height()),
            view,
            palette,
            patterns,
            caps: self.caps,
            marks: &self.marks,
            overview: &self.marks,
            names: &Nameless {
                functions: functions(),
                foreign_functions: foreign_functions(),
            },
            notes: &self.notes,
            focus: Focus {
                range: self.range,
                selected: self.selected.as_ref(),
                hovered: self.hovered.as_ref(),
                pointer: self.pointer,
                cursor: self.cursor,
                measure: self.measure,
                arrows: &self.arrows,
                highlight: &[],
            },
        }
        .paint(painter);
    }
}
