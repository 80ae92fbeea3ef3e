//! The answer to a query of the timeline: marks of four shapes, struct of
//! arrays.
//!
//! - A **lane** shows spans, or several that share a pixel with the share that
//!   each class has of it: [`SpanMarks`].
//! - **Samples** are spans too, from one tick of a timer to the next; only how
//!   they are painted differs.
//! - **Moments** have no length: [`MomentMarks`]. Where they are many, a mark is a
//!   stretch of time with how many there are in it.
//! - A **gauge** is a line or an area over time: [`GaugePoints`].
//!
//! What a track knows of a mark beyond that (a thread, the number of a
//! collection, bytes) is a type of its own, its [`Payload`], which travels as
//! four words.

use serde::{Deserialize, Serialize};

use super::class::{CLASSES, Class};
use super::gauge::{Buckets, Stretch};
use super::lane::{Lane, Mark, marks};
use crate::time::Interval;
use eventlog::ids::Nanos;

/// How many words a payload has.
pub(crate) const PAYLOAD_WORDS: usize = 4;

/// No thread, capability or number, where a payload may have none.
pub const NONE: u32 = u32::MAX;

/// A payload on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed(pub [u32; PAYLOAD_WORDS]);

/// Nothing is known.
impl Default for Packed {
    fn default() -> Self {
        Self([NONE; PAYLOAD_WORDS])
    }
}

/// What a track knows of a mark beyond its class and time.
pub trait Payload: Copy {
    /// As four words.
    fn pack(self) -> Packed;
    /// Reads what [`pack`](Self::pack) wrote. Whatever the words are, something comes.
    fn unpack(packed: Packed) -> Self;
}

/// Nothing more is known.
impl Payload for () {
    fn pack(self) -> Packed {
        Packed::default()
    }
    fn unpack(_: Packed) -> Self {}
}

/// What was packed before stays as it is.
impl Payload for Packed {
    fn pack(self) -> Packed {
        self
    }
    fn unpack(packed: Packed) -> Self {
        packed
    }
}

impl Packed {
    /// The word at a place, unless it is [`NONE`].
    #[must_use]
    pub fn some(self, place: usize) -> Option<u32> {
        let word = self.word(place);
        (word != NONE).then_some(word)
    }

    /// The word at a place; 0 if there is none.
    #[must_use]
    pub fn word(self, place: usize) -> u32 {
        self.0.get(place).copied().unwrap_or_default()
    }

    /// The 64 bits from a place on, as [`wide`] splits them.
    #[must_use]
    pub fn wide(self, place: usize) -> u64 {
        u64::from(self.word(place)) << 32 | u64::from(self.word(place + 1))
    }
}

/// 64 bits as two words.
#[must_use]
pub const fn wide(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

/// How many a mark of spans stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// One span.
    One,
    /// Several spans, each narrower than a pixel.
    Many,
    /// One event without a length, or several in one place.
    Moment,
    /// All events in a stretch of time, where there are too many for a sign each.
    Column,
}

/// Spans of lanes. Marks of a row stand together, in the order of time; a row
/// of several lanes has those of one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpanMarks {
    /// The row that each mark is on, as an index into the rows of the query.
    pub row: Vec<u32>,
    /// Whether it is several spans: 1, else 0.
    pub many: Vec<u8>,
    /// [`Class`] of the span, or of the longest of several; where a mark of several does
    /// not tell of one of them, the class that has most of the time.
    pub class: Vec<u8>,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// When it ends.
    pub end: Vec<f64>,
    /// How many spans, as the lane counts them.
    pub count: Vec<u32>,
    /// For each mark [`CLASSES`] shares of its width, 0 to 1, together not
    /// more than 1; of one span, its own class has 1.
    pub shares: Vec<f32>,
    /// For each mark the four words of its payload.
    pub payload: Vec<u32>,
}

/// Events at points in time. Marks of a row stand together, in the order of
/// time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentMarks {
    /// The row that each mark is on, as an index into the rows of the query.
    pub row: Vec<u32>,
    /// Whether it is a column of a density: 1, else 0.
    pub column: Vec<u8>,
    /// When the first is, in nanoseconds from the start of the view; of a column the first
    /// nanosecond that it stands for.
    pub start: Vec<f64>,
    /// When the last is; of a column the last nanosecond.
    pub end: Vec<f64>,
    /// How many.
    pub count: Vec<u32>,
    /// For each mark the four words of its payload.
    pub payload: Vec<u32>,
}

/// The points of all gauges; points of a row stand together, in them those of
/// a series, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GaugePoints {
    /// The row that each mark is on, as an index into the rows of the query.
    pub row: Vec<u32>,
    /// The series of the row's gauge, by its number.
    pub series: Vec<u8>,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// When it ends.
    pub end: Vec<f64>,
    /// The least value meanwhile, in the unit of the gauge.
    pub min: Vec<f64>,
    /// The greatest.
    pub max: Vec<f64>,
    /// The mean over time.
    pub mean: Vec<f64>,
    /// The last.
    pub last: Vec<f64>,
}

/// The marks and points of all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineReply {
    /// Lanes and samples.
    pub spans: SpanMarks,
    /// Events at points in time.
    pub moments: MomentMarks,
    /// Gauges.
    pub points: GaugePoints,
    /// The series of gauges whose series the log names, in their order.
    pub named: Vec<NamedSeries>,
    /// The rows, as indexes into those of the query, that are to be asked for once more:
    /// what they show is not known yet.
    pub later: Vec<u32>,
}

/// A series of a gauge that the log names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSeries {
    /// The row, as an index into the rows of the query.
    pub row: u32,
    /// What it is known by in links; empty if it is the sum of many.
    pub key: String,
    /// What it is called.
    pub name: String,
    /// The number of its colour.
    pub colour: u8,
    /// Whether it is followed, so that others stand back.
    pub pinned: bool,
}

/// The values of a gauge in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The mean over time.
    pub mean: f64,
    /// The last.
    pub last: f64,
}

impl Values {
    /// The values of a stretch in which nothing changes.
    #[must_use]
    pub const fn one(value: f64) -> Self {
        Self {
            min: value,
            max: value,
            mean: value,
            last: value,
        }
    }

    /// In a unit so many times smaller.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            min: self.min * factor,
            max: self.max * factor,
            mean: self.mean * factor,
            last: self.last * factor,
        }
    }
}

/// One point of a gauge, read back from a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugePoint {
    /// The series of the row's gauge, by its number.
    pub series: u8,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Its values meanwhile.
    pub values: Values,
}

/// One mark, read back from a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkView<'a> {
    /// What it is.
    pub kind: MarkKind,
    /// The class of the span, or of the longest of several; of a moment
    /// [`Class::Other`].
    pub class: Class,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// How many it stands for.
    pub count: u32,
    /// The share of each class; a moment has none.
    pub shares: &'a [f32],
    /// What its track knows of it.
    pub payload: Packed,
}

impl MarkView<'_> {
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

    /// The share of all classes together.
    #[must_use]
    pub fn share_of_all(&self) -> f64 {
        self.shares.iter().map(|&share| f64::from(share)).sum()
    }
}

/// Which entries of a column of rows are of a row.
fn of_row(rows: &[u32], row: usize) -> std::ops::Range<usize> {
    let row = u32::try_from(row).unwrap_or(NONE);
    rows.partition_point(|&r| r < row)..rows.partition_point(|&r| r <= row)
}

fn packed(words: &[u32], index: usize) -> Option<Packed> {
    let from = index.checked_mul(PAYLOAD_WORDS)?;
    let words = words.get(from..from + PAYLOAD_WORDS)?;
    words.try_into().ok().map(Packed)
}

impl SpanMarks {
    /// One mark; `None` beyond the last, or where the columns are not whole.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<MarkView<'_>> {
        let kind = match self.many.get(index)? {
            0 => MarkKind::One,
            _ => MarkKind::Many,
        };
        Some(MarkView {
            kind,
            class: Class::from_number(*self.class.get(index)?)?,
            start: *self.start.get(index)?,
            end: *self.end.get(index)?,
            count: *self.count.get(index)?,
            shares: self.shares.get(index * CLASSES..(index + 1) * CLASSES)?,
            payload: packed(&self.payload, index)?,
        })
    }
}

impl MomentMarks {
    /// One mark; `None` beyond the last, or where the columns are not whole.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<MarkView<'static>> {
        let kind = match self.column.get(index)? {
            0 => MarkKind::Moment,
            _ => MarkKind::Column,
        };
        Some(MarkView {
            kind,
            class: Class::Other,
            start: *self.start.get(index)?,
            end: *self.end.get(index)?,
            count: *self.count.get(index)?,
            shares: &[],
            payload: packed(&self.payload, index)?,
        })
    }
}

impl GaugePoints {
    /// The points of a row.
    pub fn of_row(&self, row: usize) -> impl Iterator<Item = GaugePoint> + '_ {
        of_row(&self.row, row).filter_map(|i| {
            Some(GaugePoint {
                series: *self.series.get(i)?,
                start: *self.start.get(i)?,
                end: *self.end.get(i)?,
                values: Values {
                    min: *self.min.get(i)?,
                    max: *self.max.get(i)?,
                    mean: *self.mean.get(i)?,
                    last: *self.last.get(i)?,
                },
            })
        })
    }
}

impl TimelineReply {
    /// How many marks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.row.len() + self.moments.row.len()
    }

    /// Whether there are no marks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The marks of a row, as they are painted one over the other.
    pub fn of_row(&self, row: usize) -> impl DoubleEndedIterator<Item = MarkView<'_>> {
        let moments = of_row(&self.moments.row, row).filter_map(|i| self.moments.get(i));
        let spans = of_row(&self.spans.row, row).filter_map(|i| self.spans.get(i));
        moments.chain(spans)
    }
}

/// A span, or several that share a place, on its way into the columns.
#[derive(Clone, Copy, Debug)]
pub struct NewSpan<P> {
    /// Whether it is several.
    pub many: bool,
    /// The class of the span, or of the longest of several.
    pub class: Class,
    /// When it begins, in nanoseconds since the start of the log's clock.
    pub start: u64,
    /// When it ends.
    pub end: u64,
    /// How many spans it stands for.
    pub count: u32,
    /// The share of each class.
    pub shares: [f32; CLASSES],
    /// What its track knows of it.
    pub payload: P,
}

/// Events in one place, on their way into the columns.
#[derive(Clone, Copy, Debug)]
pub struct NewMoment<P> {
    /// When the first is, in nanoseconds since the start of the log's clock.
    pub start: u64,
    /// When the last is.
    pub end: u64,
    /// How many.
    pub count: usize,
    /// What their track knows of them.
    pub payload: P,
}

/// Puts marks and points into the columns.
#[derive(Debug)]
pub struct Writer {
    /// The time in view.
    pub view: Interval,
    /// How long a bucket is: all that begins in it may be one mark.
    pub bucket_ns: u64,
    /// When the log ends, as far as it is read.
    pub end: Nanos,
    /// To which row of the query the next marks belong.
    pub row: u32,
    /// What was written so far.
    pub reply: TimelineReply,
}

impl Writer {
    fn relative(&self, time: u64) -> f64 {
        let start = self.view.start().0;
        if time >= start {
            (time - start) as f64
        } else {
            -((start - time) as f64)
        }
    }

    /// The buckets of the view, for gauges.
    #[must_use]
    pub const fn buckets(&self) -> Buckets {
        Buckets {
            view: self.view,
            bucket_ns: self.bucket_ns,
            end_ns: self.end.0,
        }
    }

    /// Appends a mark of a lane.
    pub fn span(&mut self, mark: NewSpan<impl Payload>) {
        let (start, end) = (self.relative(mark.start), self.relative(mark.end));
        let spans = &mut self.reply.spans;
        spans.row.push(self.row);
        spans.many.push(mark.many.into());
        spans.class.push(mark.class as u8);
        spans.start.push(start);
        spans.end.push(end);
        spans.count.push(mark.count);
        spans.shares.extend(mark.shares);
        spans.payload.extend(mark.payload.pack().0);
    }

    /// Appends a sign for moments in one place.
    pub fn moment(&mut self, mark: NewMoment<impl Payload>) {
        self.push_moment(mark, false);
    }

    /// Appends a column: a stretch of time and how many moments there are in it.
    pub fn column(&mut self, mark: NewMoment<impl Payload>) {
        self.push_moment(mark, true);
    }

    fn push_moment(&mut self, mark: NewMoment<impl Payload>, column: bool) {
        let (start, end) = (self.relative(mark.start), self.relative(mark.end));
        let moments = &mut self.reply.moments;
        moments.row.push(self.row);
        moments.column.push(column.into());
        moments.start.push(start);
        moments.end.push(end);
        moments
            .count
            .push(u32::try_from(mark.count).unwrap_or(NONE));
        moments.payload.extend(mark.payload.pack().0);
    }

    /// Appends a point of a gauge.
    pub fn stretch(&mut self, series: u8, stretch: &Stretch) {
        let (start, end) = (self.relative(stretch.start), self.relative(stretch.end));
        let Values {
            min,
            max,
            mean,
            last,
        } = stretch.values;
        let points = &mut self.reply.points;
        points.row.push(self.row);
        points.series.push(series);
        points.start.push(start);
        points.end.push(end);
        points.min.push(min);
        points.max.push(max);
        points.mean.push(mean);
        points.last.push(last);
    }

    /// Names the next series of this row.
    pub fn name_series(&mut self, series: NamedSeries) {
        let row = self.row;
        self.reply.named.push(NamedSeries { row, ..series });
    }

    /// The marks of a lane; `payload` says more of a span, and nothing of several of which
    /// none is looked at.
    pub fn lane<P: Payload>(&mut self, lane: &impl Lane, payload: impl Fn(usize) -> P) {
        let bucket = self.bucket_ns;
        let view = self.view;
        marks(lane, view, bucket, |mark| {
            let new = match mark {
                Mark::One { index } => {
                    let (start, end) = lane.span(index);
                    let class = lane.class(index);
                    let mut shares = [0.0; CLASSES];
                    shares[class as usize] = 1.0;
                    NewSpan {
                        many: false,
                        class,
                        start,
                        end,
                        count: 1,
                        shares,
                        payload: payload(index),
                    }
                }
                Mark::Many {
                    start,
                    count,
                    speaks_for,
                    times,
                } => NewSpan {
                    many: true,
                    class: speaks_for.map_or_else(|| Class::of_most(&times), |one| lane.class(one)),
                    start,
                    end: start.saturating_add(bucket),
                    count,
                    shares: times.map(|time| time as f32 / bucket as f32),
                    payload: speaks_for.map_or_else(|| P::unpack(Packed::default()), &payload),
                },
            };
            self.span(new);
        });
    }
}
