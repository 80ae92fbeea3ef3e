//! Marks of the timeline, and the items that they represent.

use crate::tracks::TrackId;
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::Class;
use model::marks::{
    GaugePoint, MarkKind, MarkView, NamedSeries, PackedPayload, Payload, TimelineReply,
};
use model::profile::frames::Frame;
use model::time::Interval;
use scene::strip::Strip;

/// Mark under the pointer or selected, in absolute time.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Track of the mark.
    pub row: TrackId,
    /// Kind of the mark: single, merged, instant or column.
    pub kind: MarkKind,
    /// Class, or that of the longest merged span.
    pub class: Class,
    /// Number of spans or events that the mark represents.
    pub count: u32,
    /// Start and end in absolute time.
    pub span: Interval,
    /// Share of the time by class.
    pub shares: Vec<f32>,
    /// Data of the track.
    pub payload: PackedPayload,
}

/// Marks of a timeline query with the queried view.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Time range of the query; `None` before the first reply.
    pub view: Option<Interval>,
    /// Tracks of the query, in the order of the reply's rows.
    pub rows: Vec<TrackId>,
    /// Marks and points in columns.
    pub reply: TimelineReply,
}

/// Lookup of names that marks refer to by number. Unknown names are `None`.
pub trait Names: std::fmt::Debug {
    /// Returns the label of a thread, if it has one.
    fn label(&self, _thread: ThreadId) -> Option<&str> {
        None
    }
    /// Returns the text of a message, by its number.
    fn message(&self, _number: u32) -> Option<&str> {
        None
    }
    /// Returns the title of a track.
    fn title(&self, _row: TrackId) -> Option<&str> {
        None
    }
    /// Returns the foreign function of a call, by its index in the marks.
    fn foreign_function(&self, _number: u32) -> Option<&Frame> {
        None
    }
    /// Returns the function of a profile sample, by its index in the marks.
    fn sampled_function(&self, _number: u32) -> Option<&Frame> {
        None
    }
}

/// Input of track painting.
#[derive(Clone, Copy, Debug)]
pub struct PaintInput<'a> {
    /// Where to paint.
    pub strip: Strip<'a>,
    /// Marks received so far.
    pub marks: &'a Marks,
    /// Names that the marks refer to.
    pub names: &'a dyn Names,
    /// Number of capabilities: the scale of the activity.
    pub caps: usize,
}

impl Marks {
    /// Returns the index of a track among the queried ones.
    fn row_index(&self, row: TrackId) -> Option<usize> {
        self.rows.iter().position(|&asked| asked == row)
    }

    /// Converts times relative to the start of the view into an absolute interval.
    fn span(&self, start: f64, end: f64) -> Interval {
        let origin = self.view.map_or(0, |view| view.start().0) as f64;
        let absolute = |relative: f64| Nanos((origin + relative).max(0.0) as u64);
        Interval::new(absolute(start), absolute(end))
    }

    /// Returns the marks of a track, with their times.
    pub fn row_marks(
        &self,
        row: impl Into<TrackId>,
    ) -> impl DoubleEndedIterator<Item = (MarkView<'_>, Interval)> {
        let marks = self
            .row_index(row.into())
            .map(|place| self.reply.row_marks(place));
        let marks = marks.into_iter().flatten();
        marks.map(|mark| (mark, self.span(mark.start, mark.end)))
    }

    /// Returns whether the data of a track is not available yet.
    pub fn is_deferred(&self, row: impl Into<TrackId>) -> bool {
        let place = self.row_index(row.into());
        place.is_some_and(|place| {
            self.reply
                .pending_rows
                .iter()
                .any(|&later| later as usize == place)
        })
    }

    /// Returns the items of a track, in painting order.
    pub fn items(&self, row: TrackId) -> impl Iterator<Item = Item> + '_ {
        self.row_marks(row)
            .map(move |(mark, span)| Item::new(row, &mark, span))
    }

    /// Returns the series of a track that the log names, in order.
    pub fn named_series(&self, row: impl Into<TrackId>) -> impl Iterator<Item = &NamedSeries> {
        let place = self.row_index(row.into());
        let named = self.reply.named_series.iter();
        named.filter(move |series| Some(series.row as usize) == place)
    }

    /// Returns the name of a series, in a log of `caps` capabilities.
    pub fn series_name(&self, row: TrackId, series: u8, caps: usize) -> String {
        let named = self.named_series(row).nth(series.into());
        named.map_or_else(|| row.series_name(series, caps), |named| named.name.clone())
    }

    /// Returns the points of a gauge, with their times.
    pub fn points(&self, row: impl Into<TrackId>) -> impl Iterator<Item = (GaugePoint, Interval)> {
        let place = self.row_index(row.into());
        let points = place.map(|place| self.reply.points.row_points(place));
        let points = points.into_iter().flatten();
        points.map(|point| (point, self.span(point.start, point.end)))
    }

    /// Returns the points of a gauge at a time, at most one per series, and the interval of the shortest one.
    pub fn graph_at(&self, row: TrackId, time: Nanos) -> Option<(Vec<GaugePoint>, Interval)> {
        let there = |(_, span): &(GaugePoint, Interval)| span.contains(time);
        let (points, spans): (Vec<_>, Vec<_>) = self.points(row).filter(there).unzip();
        let shortest = spans.into_iter().min_by_key(Interval::duration)?;
        Some((points, shortest))
    }

    /// Returns the mark of `row` at a time, or the nearest one within `slack`.
    pub fn hit(&self, row: TrackId, time: Nanos, slack: Duration) -> Option<Item> {
        if row.is_graph() {
            return None;
        }
        let distance = |span: &Interval| span.start().since(time).max(time.since(span.end()));
        // Collections are painted over runs, so the last mark has priority.
        let near = self
            .row_marks(row)
            .rev()
            .filter(|(_, span)| distance(span) <= slack);
        let (mark, span) = near.min_by_key(|(_, span)| distance(span))?;
        Some(Item::new(row, &mark, span))
    }
}

impl Item {
    /// Creates the item of a mark.
    pub fn new(row: TrackId, mark: &MarkView<'_>, span: Interval) -> Self {
        Self {
            row,
            kind: mark.kind,
            class: mark.class,
            count: mark.count,
            span,
            shares: mark.shares.to_vec(),
            payload: mark.payload,
        }
    }

    /// Unpacks the data of the track, whose payload type must be `P`.
    pub fn read<P: Payload>(&self) -> P {
        P::unpack(self.payload)
    }

    /// Returns the share of a class.
    pub fn share(&self, class: Class) -> f64 {
        self.shares
            .get(class as usize)
            .copied()
            .unwrap_or(0.0)
            .into()
    }
}
