//! The marks of the timeline, and the items that they stand for.

use crate::tracks::Row;
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::Class;
use model::marks::{GaugePoint, MarkKind, MarkView, NamedSeries, Packed, Payload, TimelineReply};
use model::profile::frames::Frame;
use model::time::Interval;

/// A mark that the pointer is on or that is selected, in absolute time.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// In which row.
    pub row: Row,
    /// What it is.
    pub kind: MarkKind,
    /// Its class, or that of the longest of several.
    pub class: Class,
    /// How many spans or events it stands for.
    pub count: u32,
    /// When it begins and ends.
    pub span: Interval,
    /// The share of each class.
    pub shares: Vec<f32>,
    /// What its track knows of it.
    pub payload: Packed,
}

/// Marks, with the view they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The time that was asked for.
    pub view: Option<Interval>,
    /// The rows that were asked for.
    pub rows: Vec<Row>,
    /// The marks.
    pub reply: TimelineReply,
}

/// Names for what marks refer to by number, as far as they are known here.
pub trait Names {
    /// The label of a thread, if it has one.
    fn label(&self, thread: ThreadId) -> Option<&str> {
        let _ = thread;
        None
    }
    /// The text of a message, by its number.
    fn message(&self, number: u32) -> Option<&str> {
        let _ = number;
        None
    }
    /// The title of a track.
    fn title(&self, row: Row) -> Option<&str> {
        let _ = row;
        None
    }
    /// The foreign function of a call, by its number in the marks.
    fn foreign_function(&self, number: u32) -> Option<&Frame> {
        let _ = number;
        None
    }
    /// The function of a profile sample, by its number in the marks.
    fn sampled_function(&self, number: u32) -> Option<&Frame> {
        let _ = number;
        None
    }
}

/// What tracks are painted from.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a, N> {
    /// The marks at hand.
    pub marks: &'a Marks,
    /// What they refer to by number.
    pub names: &'a N,
    /// How many capabilities there are: the scale of the activity.
    pub caps: usize,
}

impl Marks {
    /// The place of a row among those that were asked for.
    fn place(&self, row: Row) -> Option<usize> {
        self.rows.iter().position(|&asked| asked == row)
    }

    /// The absolute time of a mark that begins and ends so long after the start
    /// of the view.
    fn span(&self, start: f64, end: f64) -> Interval {
        let origin = self.view.map_or(0, |view| view.start().0) as f64;
        let absolute = |relative: f64| Nanos((origin + relative).max(0.0) as u64);
        Interval::new(absolute(start), absolute(end))
    }

    /// The marks of a row, with their times.
    pub fn of(
        &self,
        row: impl Into<Row>,
    ) -> impl DoubleEndedIterator<Item = (MarkView<'_>, Interval)> {
        let marks = self.place(row.into()).map(|place| self.reply.of_row(place));
        let marks = marks.into_iter().flatten();
        marks.map(|mark| (mark, self.span(mark.start, mark.end)))
    }

    /// Whether it is not known yet what a row shows.
    #[must_use]
    pub fn is_later(&self, row: impl Into<Row>) -> bool {
        let place = self.place(row.into());
        place.is_some_and(|place| {
            self.reply
                .later
                .iter()
                .any(|&later| later as usize == place)
        })
    }

    /// The items of a row, as they are painted one over the other.
    pub fn items(&self, row: Row) -> impl Iterator<Item = Item> + '_ {
        self.of(row)
            .map(move |(mark, span)| Item::new(row, &mark, span))
    }

    /// The series of a row that the log names, in their order.
    pub fn named(&self, row: impl Into<Row>) -> impl Iterator<Item = &NamedSeries> {
        let place = self.place(row.into());
        let named = self.reply.named.iter();
        named.filter(move |series| Some(series.row as usize) == place)
    }

    /// What a series of a gauge is called, in a log of so many capabilities.
    #[must_use]
    pub fn series_name(&self, row: Row, series: u8, caps: usize) -> String {
        let named = self.named(row).nth(series.into());
        named.map_or_else(|| row.series_name(series, caps), |named| named.name.clone())
    }

    /// The points of a row's graph, with their times.
    pub fn points(&self, row: impl Into<Row>) -> impl Iterator<Item = (GaugePoint, Interval)> {
        let place = self.place(row.into());
        let points = place.map(|place| self.reply.points.of_row(place));
        let points = points.into_iter().flatten();
        points.map(|point| (point, self.span(point.start, point.end)))
    }

    /// What a row's graph shows at a time: a point of each series that has
    /// one, and the stretch of time that the shortest of them stands for.
    #[must_use]
    pub fn graph_at(&self, row: Row, time: Nanos) -> Option<(Vec<GaugePoint>, Interval)> {
        let there = |(_, span): &(GaugePoint, Interval)| span.contains(time);
        let (points, spans): (Vec<_>, Vec<_>) = self.points(row).filter(there).unzip();
        let shortest = spans.into_iter().min_by_key(Interval::duration)?;
        Some((points, shortest))
    }

    /// The mark of `row` at a time; nearby marks count if they are narrow.
    #[must_use]
    pub fn hit(&self, row: Row, time: Nanos, slack: Duration) -> Option<Item> {
        if row.is_graph() {
            return None;
        }
        let distance = |span: &Interval| span.start().since(time).max(time.since(span.end()));
        // Collections are painted over runs, so that the last one counts.
        let near = self
            .of(row)
            .rev()
            .filter(|(_, span)| distance(span) <= slack);
        let (mark, span) = near.min_by_key(|(_, span)| distance(span))?;
        Some(Item::new(row, &mark, span))
    }
}

impl Item {
    /// An item that a mark stands for.
    pub fn new(row: Row, mark: &MarkView<'_>, span: Interval) -> Self {
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

    /// What its track knows of it. The type is the track's.
    #[must_use]
    pub fn read<P: Payload>(&self) -> P {
        P::unpack(self.payload)
    }

    /// The share of a class.
    #[must_use]
    pub fn share(&self, class: Class) -> f64 {
        self.shares
            .get(class as usize)
            .copied()
            .unwrap_or(0.0)
            .into()
    }
}
