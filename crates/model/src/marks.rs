//! The reply to a timeline query: four shapes of marks, as structs of arrays.
//!
//! - A **lane** shows single spans, or several that share a pixel with the share of each class: [`SpanMarks`].
//! - **Samples** are spans too, from one timer tick to the next; only their painting differs.
//! - **Moments** have no length: [`MomentMarks`]. Where they are dense, a mark is a stretch of time with a count.
//! - A **gauge** is a line or an area over time: [`GaugePoints`].
//!
//! Further data of a mark (a thread, the number of a collection, bytes) depends on the track: its [`Payload`]
//! type travels as four words.

use serde::{Deserialize, Serialize};

use super::class::{CLASSES, Class};
use super::gauge::{Buckets, GaugeSegment};
use super::lane::{Lane, Mark, marks};
use crate::time::Interval;
use eventlog::ids::Nanos;

/// Number of 32-bit words of a payload.
pub(crate) const PAYLOAD_WORDS: usize = 4;

/// Sentinel for a missing thread, capability or number in a payload.
pub const NONE: u32 = u32::MAX;

/// A payload in its encoded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPayload(pub [u32; PAYLOAD_WORDS]);

/// All words are [`NONE`].
impl Default for PackedPayload {
    fn default() -> Self {
        Self([NONE; PAYLOAD_WORDS])
    }
}

/// Data of a mark beyond its class and time; each track has its own type.
pub trait Payload: Copy {
    /// Encodes the payload as four words.
    fn pack(self) -> PackedPayload;
    /// Decodes what [`pack`](Self::pack) wrote. Must accept any words without panicking.
    fn unpack(payload_at: PackedPayload) -> Self;
}

/// No payload.
impl Payload for () {
    fn pack(self) -> PackedPayload {
        PackedPayload::default()
    }
    fn unpack(_: PackedPayload) -> Self {}
}

/// An encoded payload is passed through unchanged.
impl Payload for PackedPayload {
    fn pack(self) -> PackedPayload {
        self
    }
    fn unpack(payload_at: PackedPayload) -> Self {
        payload_at
    }
}

impl PackedPayload {
    /// Returns the word at `index`, unless it is [`NONE`].
    pub fn optional_word(self, index: usize) -> Option<u32> {
        let word = self.word(index);
        (word != NONE).then_some(word)
    }

    /// Returns the word at `index`; 0 if out of range.
    pub fn word(self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// Returns the 64-bit number in the two words from `index` on, as split by [`split_u64`].
    pub fn u64_at(self, index: usize) -> u64 {
        u64::from(self.word(index)) << 32 | u64::from(self.word(index + 1))
    }
}

/// Splits 64 bits into two words.
pub const fn split_u64(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// A single span.
    One,
    /// Several spans, each narrower than a pixel.
    Many,
    /// One point event, or several at one place.
    Moment,
    /// All point events of a stretch of time, where they are too dense for single signs.
    Column,
}

/// Spans of lanes, in columns. The marks of a row are contiguous and in time order; a row of several lanes has
/// one lane after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpanMarks {
    /// Row of each mark, as an index into the rows of the query; ascending.
    pub row: Vec<u32>,
    /// 1 if the mark merges several spans, else 0.
    pub many: Vec<u8>,
    /// [`Class`] of the span, or of the longest of several; if a merged mark has no representative span, the
    /// class with most of the time.
    pub class: Vec<u8>,
    /// Start in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// End in nanoseconds from the start of the view.
    pub end: Vec<f64>,
    /// Number of spans, as counted by the lane.
    pub count: Vec<u32>,
    /// [`CLASSES`] shares per mark: the part of its width that each class fills, 0 to 1, with a sum of at most 1.
    /// For a single span, the share of its class is 1.
    pub shares: Vec<f32>,
    /// Four payload words per mark.
    pub payload: Vec<u32>,
}

/// Point events, in columns. The marks of a row are contiguous and in time order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MomentMarks {
    /// Row of each mark, as an index into the rows of the query; ascending.
    pub row: Vec<u32>,
    /// 1 for a column of a dense stretch, 0 for a sign.
    pub column: Vec<u8>,
    /// Time of the first event, in nanoseconds from the start of the view; for a column, its first nanosecond.
    pub start: Vec<f64>,
    /// Time of the last event, in nanoseconds from the start of the view; for a column, its last nanosecond.
    pub end: Vec<f64>,
    /// Number of events.
    pub count: Vec<u32>,
    /// Four payload words per mark.
    pub payload: Vec<u32>,
}

/// Points of all gauges, in columns. The points of a row are contiguous, grouped by series, then in time order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GaugePoints {
    /// Row of each point, as an index into the rows of the query; ascending.
    pub row: Vec<u32>,
    /// Number of the series within the gauge of the row.
    pub series: Vec<u8>,
    /// Start in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// End in nanoseconds from the start of the view.
    pub end: Vec<f64>,
    /// Minimum between start and end, in the unit of the gauge.
    pub min: Vec<f64>,
    /// Maximum between start and end.
    pub max: Vec<f64>,
    /// Time-weighted mean.
    pub mean: Vec<f64>,
    /// Value at the end.
    pub last: Vec<f64>,
}

/// The marks and points of all rows of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineReply {
    /// Marks of lanes and samples.
    pub spans: SpanMarks,
    /// Marks of point events.
    pub moments: MomentMarks,
    /// Points of gauges.
    pub points: GaugePoints,
    /// Names of the series of gauges whose series come from the log, in series order.
    pub named_series: Vec<NamedSeries>,
    /// Rows, as indices into those of the query, that are not computed yet and must be queried again.
    pub pending_rows: Vec<u32>,
}

/// A gauge series whose name comes from the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSeries {
    /// The row, as an index into the rows of the query.
    pub row: u32,
    /// Key of the series in links; empty for the sum of many.
    pub key: String,
    /// Display name.
    pub name: String,
    /// Number of the color.
    pub color: u8,
    /// Whether the user pinned the series, which dims the others.
    pub pinned: bool,
}

/// Statistics of a gauge over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// Minimum, in the unit of the gauge.
    pub min: f64,
    /// Maximum, in the unit of the gauge.
    pub max: f64,
    /// Time-weighted mean.
    pub mean: f64,
    /// Value at the end.
    pub last: f64,
}

impl Values {
    /// Returns the statistics of a constant value.
    pub const fn constant(value: f64) -> Self {
        Self {
            min: value,
            max: value,
            mean: value,
            last: value,
        }
    }

    /// Multiplies all values by `factor`, to convert to a smaller unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            min: self.min * factor,
            max: self.max * factor,
            mean: self.mean * factor,
            last: self.last * factor,
        }
    }
}

/// One point of a gauge, decoded from a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugePoint {
    /// Number of the series within the gauge of the row.
    pub series: u8,
    /// Start in nanoseconds from the start of the view.
    pub start: f64,
    /// End in nanoseconds from the start of the view.
    pub end: f64,
    /// Statistics between start and end.
    pub values: Values,
}

/// One mark, decoded from a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkView<'a> {
    /// Whether it is a span or point events, single or merged.
    pub kind: MarkKind,
    /// Class of the span, or of the longest of several; [`Class::Other`] for point events.
    pub class: Class,
    /// Start in nanoseconds from the start of the view.
    pub start: f64,
    /// End in nanoseconds from the start of the view.
    pub end: f64,
    /// Number of spans or events.
    pub count: u32,
    /// Share of each class, by class number; empty for point events.
    pub shares: &'a [f32],
    /// Encoded payload; see [`read`](Self::read).
    pub payload: PackedPayload,
}

impl MarkView<'_> {
    /// Decodes the payload. The caller must choose the type of the track.
    pub fn read<P: Payload>(&self) -> P {
        P::unpack(self.payload)
    }

    /// Returns the share of a class, 0 to 1.
    pub fn share(&self, class: Class) -> f64 {
        self.shares
            .get(class as usize)
            .copied()
            .unwrap_or(0.0)
            .into()
    }

    /// Returns the sum of the shares of all classes.
    pub fn share_of_all(&self) -> f64 {
        self.shares.iter().map(|&share| f64::from(share)).sum()
    }
}

/// Returns the range of entries that belong to `row`, by binary search of the ascending row column.
fn row_range(rows: &[u32], row: usize) -> std::ops::Range<usize> {
    let row = u32::try_from(row).unwrap_or(NONE);
    rows.partition_point(|&r| r < row)..rows.partition_point(|&r| r <= row)
}

fn payload_at(words: &[u32], index: usize) -> Option<PackedPayload> {
    let from = index.checked_mul(PAYLOAD_WORDS)?;
    let words = words.get(from..from + PAYLOAD_WORDS)?;
    words.try_into().ok().map(PackedPayload)
}

impl SpanMarks {
    /// Returns the mark at `index`; `None` beyond the last one, or if the columns are inconsistent.
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
            payload: payload_at(&self.payload, index)?,
        })
    }
}

impl MomentMarks {
    /// Returns the mark at `index`; `None` beyond the last one, or if the columns are inconsistent.
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
            payload: payload_at(&self.payload, index)?,
        })
    }
}

impl GaugePoints {
    /// Iterates over the points of a row.
    pub fn row_points(&self, row: usize) -> impl Iterator<Item = GaugePoint> + '_ {
        row_range(&self.row, row).filter_map(|i| {
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
    /// Returns the number of marks, without gauge points.
    pub fn len(&self) -> usize {
        self.spans.row.len() + self.moments.row.len()
    }

    /// Returns whether there are no marks; gauge points do not count.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the marks of a row in painting order, bottom first: point events, then spans.
    pub fn row_marks(&self, row: usize) -> impl DoubleEndedIterator<Item = MarkView<'_>> {
        let moments = row_range(&self.moments.row, row).filter_map(|i| self.moments.get(i));
        let spans = row_range(&self.spans.row, row).filter_map(|i| self.spans.get(i));
        moments.chain(spans)
    }
}

/// A span mark to be appended to the columns, with absolute times.
#[derive(Clone, Copy, Debug)]
pub struct NewSpan<P> {
    /// Whether it merges several spans.
    pub many: bool,
    /// Class of the span, or of the longest of several.
    pub class: Class,
    /// Start in nanoseconds on the clock of the log.
    pub start: u64,
    /// End in nanoseconds on the clock of the log.
    pub end: u64,
    /// Number of spans.
    pub count: u32,
    /// Share of each class, 0 to 1.
    pub shares: [f32; CLASSES],
    /// Data of the track for this mark.
    pub payload: P,
}

/// A point event mark to be appended to the columns, with absolute times.
#[derive(Clone, Copy, Debug)]
pub struct NewMoment<P> {
    /// Time of the first event, in nanoseconds on the clock of the log.
    pub start: u64,
    /// Time of the last event, in nanoseconds on the clock of the log.
    pub end: u64,
    /// Number of events.
    pub count: usize,
    /// Data of the track for this mark.
    pub payload: P,
}

/// Appends marks and points to the columns of a reply.
#[derive(Debug)]
pub struct MarkWriter {
    /// The visible interval.
    pub view: Interval,
    /// Bucket length in nanoseconds: short spans that begin in one bucket are merged.
    pub bucket_ns: u64,
    /// End of the part of the log that is read so far.
    pub end: Nanos,
    /// Row of the query that the next marks belong to.
    pub row: u32,
    /// The columns written so far.
    pub reply: TimelineReply,
}

impl MarkWriter {
    fn relative(&self, time: u64) -> f64 {
        let start = self.view.start().0;
        if time >= start {
            (time - start) as f64
        } else {
            -((start - time) as f64)
        }
    }

    /// Returns the buckets of the view, for gauges.
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

    /// Appends a sign for one event, or several at one place.
    pub fn moment(&mut self, mark: NewMoment<impl Payload>) {
        self.push_moment(mark, false);
    }

    /// Appends a column: a stretch of time with the number of events in it.
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
    pub fn gauge_segment(&mut self, series: u8, gauge_segment: &GaugeSegment) {
        let (start, end) = (
            self.relative(gauge_segment.start),
            self.relative(gauge_segment.end),
        );
        let Values {
            min,
            max,
            mean,
            last,
        } = gauge_segment.values;
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

    /// Names the next series of the current row; its `row` field is overwritten.
    pub fn name_series(&mut self, series: NamedSeries) {
        let row = self.row;
        self.reply.named_series.push(NamedSeries { row, ..series });
    }

    /// Appends the marks of a lane in the current view. `payload` is called with the index of a single or
    /// representative span; merged marks without a representative get an empty payload.
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
                    representative,
                    times,
                } => NewSpan {
                    many: true,
                    class: representative
                        .map_or_else(|| Class::dominant(&times), |one| lane.class(one)),
                    start,
                    end: start.saturating_add(bucket),
                    count,
                    shares: times.map(|time| time as f32 / bucket as f32),
                    payload: representative
                        .map_or_else(|| P::unpack(PackedPayload::default()), &payload),
                },
            };
            self.span(new);
        });
    }
}
