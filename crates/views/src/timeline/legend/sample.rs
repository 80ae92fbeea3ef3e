//! Small scenes with made marks.

use super::SAMPLE_PX;
use crate::notes::{Note, Notes};
use crate::scene::painter::{Painter, Rect};
use crate::scene::palette::Palette;
use crate::scene::viewport::Viewport;
use crate::timeline::layout::{Kind, Layout, Track};
use crate::timeline::{Focus, MINIMAP_PX, NARROW_LABELS_PX, Scene, TOP_PX};
use crate::tracks::group::Group;
use crate::tracks::item::{Item, Marks, Names};
use crate::tracks::name::TrackName;
use crate::tracks::{Contents, Row};
use analysis::timeline::flow::Arrow;
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::{CLASSES, Class};
use model::gauge::Stretch;
use model::marks::{MarkKind, NewMoment, NewSpan, Packed, Payload, TimelineReply, Values, Writer};
use model::profile::frames::{Frame, FrameKind};
use model::time::Interval;

/// Nanoseconds in a pixel of a sample.
const NS_PER_PX: f64 = 1000.0;

/// The time at a pixel of a sample.
pub(super) fn at(px: f64) -> Nanos {
    Nanos((px * NS_PER_PX) as u64)
}

/// The time between two pixels.
pub(super) fn between(from_px: f64, to_px: f64) -> Interval {
    Interval::new(at(from_px), at(to_px))
}

/// Where a sample's span begins and ends, in pixels.
pub(crate) const FROM: f64 = 8.0;
pub(crate) const TO: f64 = 88.0;
/// In the middle of a sample, in pixels.
pub(crate) const MIDDLE: f64 = 48.0;

/// A made mark; places are pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    kind: MarkKind,
    class: Class,
    from: f64,
    to: f64,
    count: u32,
    shares: [f32; CLASSES],
    payload: Packed,
}

impl Made {
    /// One span.
    pub(crate) fn span(class: Class, from: f64, to: f64) -> Self {
        let mut shares = [0.0; CLASSES];
        shares[class as usize] = 1.0;
        Self {
            kind: MarkKind::One,
            class,
            from,
            to,
            count: 1,
            shares,
            payload: Packed::default(),
        }
    }

    /// Several spans that share a place.
    fn many(from: f64, to: f64, of: &[(Class, f32)]) -> Self {
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
    pub(crate) fn moment(at: f64) -> Self {
        Self {
            kind: MarkKind::Moment,
            ..Self::span(Class::Other, at, at)
        }
    }

    /// What its track knows of it.
    pub(crate) fn with(self, payload: impl Payload) -> Self {
        let payload = payload.pack();
        Self { payload, ..self }
    }

    /// How many it stands for.
    pub(crate) const fn count(self, count: u32) -> Self {
        Self { count, ..self }
    }

    fn write(&self, writer: &mut Writer) {
        let (start, end) = (at(self.from).0, at(self.to).0);
        match self.kind {
            MarkKind::Moment => writer.moment(NewMoment {
                start,
                end,
                count: self.count as usize,
                payload: self.payload,
            }),
            kind => writer.span(NewSpan {
                many: kind == MarkKind::Many,
                class: self.class,
                start,
                end,
                count: self.count,
                shares: self.shares,
                payload: self.payload,
            }),
        }
    }
}

/// The functions of the samples of a profile here, by their numbers.
fn functions() -> Vec<Frame> {
    let function = |module: &str, label: &str| Frame::cost_centre(module, label, "here");
    vec![
        function("Main", "solve"),
        function("Data.Map", "insert"),
        Frame::built_in("GC", "GC"),
    ]
}

/// The foreign functions of the calls here, by their numbers.
fn foreign_functions() -> Vec<Frame> {
    vec![Frame::of_kind(FrameKind::ForeignCall, "blur")]
}

/// Marks two pixels wide all along a row; `of` says what share each class has
/// in the first, the second, and so on.
pub(crate) fn buckets(of: impl Fn(f32) -> Vec<(Class, f32)>) -> Vec<Made> {
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
pub(crate) struct Sample {
    pub(super) part: Part,
    pub(super) layout: Layout,
    pub(super) marks: Marks,
    pub(super) view: Interval,
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

/// What marks of a sample are written to.
fn writer() -> Writer {
    Writer {
        view: between(0.0, SAMPLE_PX),
        bucket_ns: 1,
        end: at(SAMPLE_PX),
        row: 0,
        reply: TimelineReply::default(),
    }
}

/// Writes a series of values, evenly spread.
fn stretches(writer: &mut Writer, series: u8, values: &[f64], of: impl Fn(f64) -> Values) {
    let width = SAMPLE_PX / values.len().max(1) as f64;
    for (place, value) in values.iter().enumerate() {
        let from = place as f64 * width;
        let stretch = Stretch {
            start: at(from).0,
            end: at(from + width).0,
            values: of(*value),
        };
        writer.stretch(series, &stretch);
    }
}

/// A track for a sample.
pub(super) fn track(kind: Kind, name: &str) -> Track {
    let id = match kind {
        Kind::Row(row) => row.link(&Contents::default()),
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
        let mut writer = writer();
        for (number, (_, marks)) in (0u32..).zip(rows) {
            writer.row = number;
            for mark in marks {
                mark.write(&mut writer);
            }
        }
        Self::tracks(tracks.collect()).with(writer)
    }

    fn with(mut self, writer: Writer) -> Self {
        self.marks.reply = writer.reply;
        self
    }

    /// A row with marks.
    pub(crate) fn row(row: impl Into<Row>, marks: Vec<Made>) -> Self {
        Self::rows(&[(row.into(), marks)])
    }

    /// A graph; each series is a list of values, evenly spread.
    pub(crate) fn graph(row: impl Into<Row>, series: &[(u8, &[f64])]) -> Self {
        let mut writer = writer();
        for (number, values) in series {
            stretches(&mut writer, *number, values, Values::one);
        }
        Self::row(row, Vec::new()).with(writer)
    }

    /// A graph of one series, each value the mean of others.
    pub(crate) fn spread(row: impl Into<Row>, means: [f64; 8]) -> Self {
        let mut writer = writer();
        stretches(&mut writer, 0, &means, |mean| Values {
            min: mean * 0.5,
            max: mean + 0.4,
            mean,
            last: mean,
        });
        Self::row(row, Vec::new()).with(writer)
    }

    /// A graph of three series, whose values are so many times these.
    pub(crate) fn three(row: impl Into<Row>, unit: f64, values: [[f64; 8]; 3]) -> Self {
        let [a, b, c] = values.map(|values| values.map(|value| value * unit));
        Self::graph(row, &[(0, &a), (1, &b), (2, &c)])
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
    pub(super) fn minimap(self, view: Interval) -> Self {
        Self {
            part: Part::Minimap,
            view,
            ..self
        }
    }

    /// The item of a row that is at a pixel.
    pub(super) fn item(&self, row: Row, px: f64) -> Option<Item> {
        self.marks.hit(row, at(px), Duration::ZERO)
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
            },
        }
        .paint(painter);
    }
}
