//! The answer to a query of the timeline: columns of marks and of points of
//! graphs.

use serde::{Deserialize, Serialize};

use super::class::{CLASSES, Class, StopCode};
use super::gauge::{Buckets, Stretch};
use super::lane::{Lane, Mark, marks};
use crate::time::Span;
use eventlog::ids::Nanos;

/// What a mark on the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum MarkKind {
    /// One span.
    One = 0,
    /// Several spans, each narrower than a pixel.
    Many = 1,
    /// Messages.
    Message = 2,
    /// Messages, with a marker among them.
    Marker = 3,
    /// Events at points in time; the code is the kind of the most notable.
    Instant = 4,
}

/// No thread, capability or code.
pub const NONE: u32 = u32::MAX;

/// The marks of all rows, struct of arrays; marks of a row stand together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineReply {
    /// Which row of the query.
    pub row: Vec<u32>,
    /// [`MarkKind`].
    pub kind: Vec<u8>,
    /// [`Class`] of the span, or of the longest of several.
    pub class: Vec<u8>,
    /// [`StopCode`]: why a thread waits (thread rows) or stopped (capability
    /// rows). Other rows have codes of their own: [`CollectionCode`], [`Phase`],
    /// whether a span was not over when the log ended.
    ///
    /// [`CollectionCode`]: analysis::timeline::collections::CollectionCode
    /// [`Phase`]: analysis::timeline::nonmoving::Phase
    pub code: Vec<u8>,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// When it ends.
    pub end: Vec<f64>,
    /// Thread (capability rows), capability or owner of the black hole
    /// (thread rows), number of the first message, number of a collection,
    /// objects marked (nonmoving), capability (tasks), starts (spans of the
    /// program), bytes (blocks), number of a function (foreign calls, samples);
    /// or [`NONE`].
    pub detail: Vec<u32>,
    /// Waits in thread rows: how long the other part of the same wait is, in
    /// nanoseconds ([`ThreadLane::other_wait_ns`]); else 0.
    ///
    /// [`ThreadLane::other_wait_ns`]: analysis::timeline::threads::ThreadLane::other_wait_ns
    pub other_wait_ns: Vec<f64>,
    /// How many spans, runs (thread rows) or messages.
    pub count: Vec<u32>,
    /// For each mark [`CLASSES`] shares of its width, 0 to 1; of one span, its own class has 1.
    pub shares: Vec<f32>,
    /// The points of graphs.
    pub graph: GraphColumns,
}

/// The points of all graphs, struct of arrays; points of a row stand
/// together, in them those of a series, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphColumns {
    /// Which row of the query.
    pub row: Vec<u32>,
    /// Which series of the row's graph.
    pub series: Vec<u8>,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// When it ends.
    pub end: Vec<f64>,
    /// The least value meanwhile, in the unit of the graph.
    pub min: Vec<f64>,
    /// The greatest.
    pub max: Vec<f64>,
    /// The last.
    pub last: Vec<f64>,
}

/// One point of a graph, read back from a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphPoint {
    /// Which series of the row's graph.
    pub series: u8,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// The least value meanwhile.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The last.
    pub last: f64,
}

impl GraphColumns {
    /// The points of a row.
    pub fn row_points(&self, row: usize) -> impl Iterator<Item = GraphPoint> + '_ {
        let row = u32::try_from(row).unwrap_or(NONE);
        let from = self.row.partition_point(|&r| r < row);
        let to = self.row.partition_point(|&r| r <= row);
        (from..to).filter_map(|i| {
            Some(GraphPoint {
                series: *self.series.get(i)?,
                start: *self.start.get(i)?,
                end: *self.end.get(i)?,
                min: *self.min.get(i)?,
                max: *self.max.get(i)?,
                last: *self.last.get(i)?,
            })
        })
    }
}

/// One mark, read back from a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkView<'a> {
    /// What it is.
    pub kind: MarkKind,
    /// The class of the span, or of the longest of several.
    pub class: Class,
    /// Why a thread waits or stopped.
    pub code: StopCode,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// See [`TimelineReply::detail`].
    pub detail: Option<u32>,
    /// See [`TimelineReply::other_wait_ns`].
    pub other_wait_ns: f64,
    /// How many spans, runs (thread rows) or messages.
    pub count: u32,
    /// The share of each class.
    pub shares: &'a [f32],
}

impl TimelineReply {
    /// How many marks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// One mark; `None` beyond the last, or where the columns are not whole.
    #[must_use]
    pub fn mark(&self, index: usize) -> Option<MarkView<'_>> {
        let kind = match self.kind.get(index)? {
            0 => MarkKind::One,
            1 => MarkKind::Many,
            2 => MarkKind::Message,
            3 => MarkKind::Marker,
            _ => MarkKind::Instant,
        };
        let detail = *self.detail.get(index)?;
        Some(MarkView {
            kind,
            class: Class::from_number(*self.class.get(index)?)?,
            code: StopCode(*self.code.get(index)?),
            start: *self.start.get(index)?,
            end: *self.end.get(index)?,
            detail: (detail != NONE).then_some(detail),
            other_wait_ns: *self.other_wait_ns.get(index)?,
            count: *self.count.get(index)?,
            shares: self.shares.get(index * CLASSES..(index + 1) * CLASSES)?,
        })
    }

    /// The indexes of the marks of a row.
    #[must_use]
    pub fn row_marks(&self, row: usize) -> std::ops::Range<usize> {
        let row = u32::try_from(row).unwrap_or(NONE);
        self.row.partition_point(|&r| r < row)..self.row.partition_point(|&r| r <= row)
    }
}

/// A mark on its way into the columns.
#[derive(Clone, Copy, Debug)]
pub struct New {
    /// What it is.
    pub kind: MarkKind,
    /// The class of the span, or of the longest of several.
    pub class: Class,
    /// As in [`TimelineReply::code`].
    pub code: StopCode,
    /// When it begins, in nanoseconds since the start of the log's clock.
    pub start: u64,
    /// When it ends.
    pub end: u64,
    /// As in [`TimelineReply::detail`].
    pub detail: u32,
    /// As in [`TimelineReply::other_wait_ns`].
    pub other_wait_ns: u64,
    /// How many spans it stands for.
    pub count: u32,
    /// The share of each class.
    pub shares: [f32; CLASSES],
}

/// What is to be said of a span besides its class and time.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// As in [`TimelineReply::code`].
    pub code: StopCode,
    /// As in [`TimelineReply::detail`].
    pub detail: u32,
    /// As in [`TimelineReply::other_wait_ns`].
    pub other_wait_ns: u64,
}

/// The values of a graph in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
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
            last: value,
        }
    }
}

/// Puts marks and points into the columns.
#[derive(Debug)]
pub struct Writer {
    /// The time in view.
    pub view: Span,
    /// How long a bucket is: all that begins in it may be one mark.
    pub bucket_ns: u64,
    /// To which row of the query the next marks belong.
    pub row: u32,
    /// What was written so far.
    pub reply: TimelineReply,
}

impl Writer {
    fn relative(&self, time: u64) -> f64 {
        let start = self.view.start.0;
        if time >= start {
            (time - start) as f64
        } else {
            -((start - time) as f64)
        }
    }

    /// The buckets of the view, in a log that ends at `end`.
    pub fn buckets(&self, end: Nanos) -> Buckets {
        Buckets {
            view: self.view,
            bucket_ns: self.bucket_ns,
            end_ns: end.0,
        }
    }

    /// Appends a mark.
    pub fn push(&mut self, mark: New) {
        self.reply.row.push(self.row);
        self.reply.kind.push(mark.kind as u8);
        self.reply.class.push(mark.class as u8);
        self.reply.code.push(mark.code.0);
        self.reply.start.push(self.relative(mark.start));
        self.reply.end.push(self.relative(mark.end));
        self.reply.detail.push(mark.detail);
        self.reply.other_wait_ns.push(mark.other_wait_ns as f64);
        self.reply.count.push(mark.count);
        self.reply.shares.extend(mark.shares);
    }

    /// A point of a graph.
    pub fn point(&mut self, series: u8, span: (u64, u64), values: Values) {
        let (start, end) = (self.relative(span.0), self.relative(span.1));
        let graph = &mut self.reply.graph;
        graph.row.push(self.row);
        graph.series.push(series);
        graph.start.push(start);
        graph.end.push(end);
        graph.min.push(values.min);
        graph.max.push(values.max);
        graph.last.push(values.last);
    }

    /// The same, of a stretch.
    pub fn stretch(&mut self, series: u8, stretch: &Stretch) {
        self.point(series, (stretch.start, stretch.end), stretch.values);
    }

    /// The marks of a lane; `facts` says more of a span.
    pub fn lane(&mut self, lane: &impl Lane, facts: impl Fn(usize) -> Facts) {
        let bucket = self.bucket_ns;
        let view = self.view;
        marks(lane, view, bucket, |mark| {
            let new = match mark {
                Mark::One { index } => {
                    let (start, end) = lane.span(index);
                    let class = lane.class(index);
                    let mut shares = [0.0; CLASSES];
                    shares[class as usize] = 1.0;
                    let facts = facts(index);
                    New {
                        kind: MarkKind::One,
                        class,
                        code: facts.code,
                        start,
                        end,
                        detail: facts.detail,
                        other_wait_ns: facts.other_wait_ns,
                        count: 1,
                        shares,
                    }
                }
                Mark::Many {
                    start,
                    count,
                    longest,
                    times,
                } => {
                    let facts = facts(longest);
                    New {
                        kind: MarkKind::Many,
                        class: lane.class(longest),
                        code: facts.code,
                        start,
                        end: start.saturating_add(bucket),
                        detail: facts.detail,
                        other_wait_ns: facts.other_wait_ns,
                        count,
                        shares: times.map(|time| time as f32 / bucket as f32),
                    }
                }
            };
            self.push(new);
        });
    }
}
