//! Small scenes with made marks.

use super::{SAMPLE_PX, profile};
use crate::notes::{Note, Notes};
use crate::scene::item::{Item, Marks, Names};
use crate::scene::painter::{Painter, Rect};
use crate::scene::palette::Palette;
use crate::scene::timeline::{Focus, MINIMAP_PX, NARROW_LABELS_PX, Scene, TOP_PX};
use crate::scene::track::{Group, Kind, Layout, Track};
use crate::scene::track_name::TrackName;
use crate::scene::viewport::Viewport;
use analysis::timeline::contents::Contents;
use analysis::timeline::flow::Arrow;
use analysis::timeline::instants::InstantKind;
use analysis::timeline::row::Row;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{CLASSES, Class};
use model::marks::{MarkKind, NONE, TimelineReply};
use model::profile::frames::Frame;
use model::time::Span;

/// Nanoseconds in a pixel of a sample.
const NS_PER_PX: f64 = 1000.0;

/// The time at a pixel of a sample.
pub(super) fn at(px: f64) -> Nanos {
    Nanos((px * NS_PER_PX) as u64)
}

/// The time between two pixels.
pub(super) fn between(from_px: f64, to_px: f64) -> Span {
    Span::new(at(from_px), at(to_px))
}

/// A made mark; places are pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    kind: MarkKind,
    class: Class,
    code: u8,
    from: f64,
    to: f64,
    detail: u32,
    count: u32,
    shares: [f32; CLASSES],
}

impl Made {
    /// One span.
    pub(super) fn span(class: Class, from: f64, to: f64) -> Self {
        let mut shares = [0.0; CLASSES];
        shares[class as usize] = 1.0;
        Self {
            kind: MarkKind::One,
            class,
            code: 0,
            from,
            to,
            detail: NONE,
            count: 1,
            shares,
        }
    }

    /// Several spans that share a place.
    pub(super) fn many(from: f64, to: f64, of: &[(Class, f32)]) -> Self {
        let first = of.first().map_or(Class::Other, |(class, _)| *class);
        let mut many = Self {
            kind: MarkKind::Many,
            count: 7,
            shares: [0.0; CLASSES],
            ..Self::span(first, from, to)
        };
        for (class, share) in of {
            many.shares[*class as usize] = *share;
        }
        many
    }

    /// Something at a point in time.
    pub(super) fn point(kind: MarkKind, at: f64) -> Self {
        Self {
            kind,
            ..Self::span(Class::Other, at, at)
        }
    }

    /// An event at a point in time.
    pub(super) fn event(kind: InstantKind, at: f64) -> Self {
        Self::point(MarkKind::Instant, at).code(kind as u8)
    }

    pub(super) const fn code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    pub(super) const fn detail(self, detail: u32) -> Self {
        Self { detail, ..self }
    }

    pub(super) const fn count(self, count: u32) -> Self {
        Self { count, ..self }
    }

    fn push(&self, row: u32, reply: &mut TimelineReply) {
        reply.row.push(row);
        reply.kind.push(self.kind as u8);
        reply.class.push(self.class as u8);
        reply.code.push(self.code);
        reply.start.push(self.from * NS_PER_PX);
        reply.end.push(self.to * NS_PER_PX);
        reply.detail.push(self.detail);
        reply.other_wait_ns.push(0.0);
        reply.count.push(self.count);
        reply.shares.extend(self.shares);
    }
}

/// Marks two pixels wide all along a row; `of` says what share each class has
/// in the first, the second, and so on.
pub(super) fn buckets(of: impl Fn(f32) -> Vec<(Class, f32)>) -> Vec<Made> {
    let places = (2..46u8).map(f32::from);
    let one = |place: f32| {
        let from = f64::from(place) * 2.0;
        Made::many(from, from + 2.0, &of(place))
    };
    places.map(one).collect()
}

/// Which part of the scene a sample shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What is in the tracks.
    Tracks,
    /// The same with the time axis above it.
    Axis,
    /// The minimap.
    Minimap,
    /// The names of the tracks.
    Names,
}

/// A scene of its own.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) part: Part,
    pub(super) layout: Layout,
    pub(super) marks: Marks,
    pub(super) view: Span,
    pub(super) range: Option<Span>,
    pub(super) selected: Option<Item>,
    pub(super) hovered: Option<Item>,
    pub(super) pointer: Option<Nanos>,
    pub(super) cursor: Option<Nanos>,
    pub(super) measure: Option<(Nanos, Nanos)>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) notes: Notes,
    pub(super) caps: usize,
}

/// Nobody has a name but the functions of a profile.
struct Nameless {
    functions: Vec<Frame>,
    foreign_functions: Vec<Frame>,
}

impl Names for Nameless {
    fn label(&self, _: ThreadId) -> Option<&str> {
        None
    }
    fn message(&self, _: u32) -> Option<&str> {
        None
    }
    fn foreign_function(&self, number: u32) -> Option<&Frame> {
        self.foreign_functions.get(number as usize)
    }
    fn sampled_function(&self, number: u32) -> Option<&Frame> {
        self.functions.get(number as usize)
    }
}

/// A track for a sample.
pub(super) fn track(kind: Kind, name: &str) -> Track {
    let id = match kind {
        Kind::Row(row) => row.name(&Contents::default()),
        Kind::Group(group) => group.name().to_owned(),
        Kind::Label => "label".to_owned(),
    };
    Track {
        kind,
        id: TrackName::cut(&id),
        name: name.to_owned(),
        short: name.to_owned(),
        note: String::new(),
        folded: false,
        pinned: false,
        selected: false,
    }
}

impl Sample {
    /// Tracks without marks.
    pub(super) fn tracks(tracks: Vec<Track>) -> Self {
        let rows = tracks.iter().filter_map(Track::row).collect();
        Self {
            part: Part::Tracks,
            layout: Layout::new(tracks),
            marks: Marks {
                view: Some(between(0.0, SAMPLE_PX)),
                rows,
                reply: TimelineReply::default(),
            },
            view: between(0.0, SAMPLE_PX),
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

    /// Rows with marks.
    pub(super) fn rows(rows: &[(Row, Vec<Made>)]) -> Self {
        let tracks = rows.iter().map(|(row, _)| track(Kind::Row(*row), ""));
        let mut sample = Self::tracks(tracks.collect());
        for (number, (_, marks)) in (0u32..).zip(rows) {
            for mark in marks {
                mark.push(number, &mut sample.marks.reply);
            }
        }
        sample
    }

    /// A row with marks.
    pub(super) fn row(row: Row, marks: Vec<Made>) -> Self {
        Self::rows(&[(row, marks)])
    }

    /// A graph; each series is a list of values, evenly spread.
    pub(super) fn graph(row: Row, series: &[(u8, &[f64])]) -> Self {
        let mut sample = Self::row(row, Vec::new());
        let graph = &mut sample.marks.reply.graph;
        for (number, values) in series {
            let width = SAMPLE_PX / values.len().max(1) as f64;
            for (place, value) in values.iter().enumerate() {
                let from = place as f64 * width;
                graph.row.push(0);
                graph.series.push(*number);
                graph.start.push(from * NS_PER_PX);
                graph.end.push((from + width) * NS_PER_PX);
                graph.min.push(*value);
                graph.max.push(*value);
                graph.last.push(*value);
            }
        }
        sample
    }

    /// The heading of a group.
    pub(super) fn heading(group: Group, folded: bool) -> Self {
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
            notes: [Note::new(between(from_px, to_px), name)]
                .into_iter()
                .collect(),
            ..self
        }
    }

    /// The minimap while only a part of the log is in view.
    pub(super) fn minimap(self, view: Span) -> Self {
        Self {
            part: Part::Minimap,
            view,
            ..self
        }
    }

    /// The item of a row that is at a pixel.
    pub(super) fn item(&self, row: Row, px: f64) -> Option<Item> {
        self.marks.hit(row, at(px), Nanos(0))
    }

    /// Which part of the scene is shown.
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

    pub(super) fn paint(&self, palette: &Palette, patterns: bool, painter: &mut impl Painter) {
        let mut view = Viewport::new(between(0.0, SAMPLE_PX), SAMPLE_PX);
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
                functions: profile::functions(),
                foreign_functions: profile::foreign_functions(),
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
            },
        }
        .paint(painter);
    }
}
