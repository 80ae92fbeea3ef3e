//! Queries of the timeline: what the rows in view show, as columns that can
//! be handed to another thread without copying piece by piece.

use serde::{Deserialize, Serialize};

use super::class::{CLASSES, Class, ClassTimes, StopCode};
use super::lane::{Lane, Mark, marks};
use super::messages::Messages;
use super::store::Store;
use crate::automata::Span;
use crate::ids::{CapId, ThreadId};

/// One row of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Row {
    /// How many capabilities run Haskell code, and how many collect.
    Activity,
    /// A capability.
    Cap(CapId),
    /// A thread.
    Thread(ThreadId),
    /// Messages and markers of the program.
    Messages,
}

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineQuery {
    /// The time in view.
    pub view: Span,
    /// How many pixels it has.
    pub width_px: u32,
    /// The rows in view.
    pub rows: Vec<Row>,
}

impl TimelineQuery {
    /// The width of a bucket: the smallest power of two nanoseconds that is
    /// not less than a pixel, so that panning does not change the buckets.
    #[must_use]
    pub fn bucket_ns(&self) -> u64 {
        let width = u64::from(self.width_px.max(1));
        self.view
            .duration()
            .0
            .div_ceil(width)
            .max(1)
            .next_power_of_two()
    }
}

/// What a mark on the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum MarkKind {
    /// One span.
    One = 0,
    /// Several spans, each narrower than a pixel.
    Many = 1,
    /// A point of the activity profile: shares of all capabilities.
    Profile = 2,
    /// Messages.
    Message = 3,
    /// Messages, with a marker among them.
    Marker = 4,
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
    /// [`StopCode`]: why a thread waits (thread rows) or stopped (capability rows).
    pub code: Vec<u8>,
    /// When it begins, in nanoseconds from the start of the view.
    pub start: Vec<f64>,
    /// When it ends.
    pub end: Vec<f64>,
    /// Thread (capability rows), capability or owner of the black hole
    /// (thread rows), number of the first message; or [`NONE`].
    pub detail: Vec<u32>,
    /// Waits in thread rows: how long the other part of the same wait is, in
    /// nanoseconds ([`ThreadLane::other_wait_ns`]); else 0.
    ///
    /// [`ThreadLane::other_wait_ns`]: super::threads::ThreadLane::other_wait_ns
    pub other_wait_ns: Vec<f64>,
    /// How many spans, runs (thread rows) or messages.
    pub count: Vec<u32>,
    /// For each mark [`CLASSES`] shares of its width, 0 to 1; of one span, its own class has 1.
    pub shares: Vec<f32>,
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
            2 => MarkKind::Profile,
            3 => MarkKind::Message,
            _ => MarkKind::Marker,
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

/// What the timeline is made of.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'a> {
    /// The spans.
    pub store: &'a Store,
    /// The messages.
    pub messages: &'a Messages,
    /// The capabilities.
    pub caps: &'a [CapId],
}

/// A mark on its way into the columns.
struct New {
    kind: MarkKind,
    class: Class,
    code: StopCode,
    start: u64,
    end: u64,
    detail: u32,
    other_wait_ns: u64,
    count: u32,
    shares: [f32; CLASSES],
}

/// What is to be said of a span besides its class and time.
struct Facts {
    code: StopCode,
    detail: u32,
    other_wait_ns: u64,
}

struct Writer<'q> {
    query: &'q TimelineQuery,
    row: u32,
    reply: TimelineReply,
}

impl Writer<'_> {
    fn relative(&self, time: u64) -> f64 {
        let start = self.query.view.start.0;
        if time >= start {
            (time - start) as f64
        } else {
            -((start - time) as f64)
        }
    }

    fn push(&mut self, mark: New) {
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

    /// The marks of a lane; `facts` says more of a span.
    fn lane(&mut self, lane: &impl Lane, facts: impl Fn(usize) -> Facts) {
        let bucket = self.query.bucket_ns();
        let view = self.query.view;
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

impl Timeline<'_> {
    /// Answers a query.
    #[must_use]
    pub fn answer(&self, query: &TimelineQuery) -> TimelineReply {
        let mut writer = Writer {
            query,
            row: 0,
            reply: TimelineReply::default(),
        };
        for (i, row) in query.rows.iter().enumerate() {
            writer.row = u32::try_from(i).unwrap_or(NONE);
            match row {
                Row::Activity => self.activity(&mut writer),
                Row::Cap(cap) => self.cap(*cap, &mut writer),
                Row::Thread(thread) => self.thread(*thread, &mut writer),
                Row::Messages => self.message_marks(&mut writer),
            }
        }
        writer.reply
    }

    fn cap(&self, id: CapId, writer: &mut Writer<'_>) {
        let Some(cap) = self.store.cap(id) else {
            return;
        };
        writer.lane(&cap.runs, |i| Facts {
            code: self.store.code_of(id, i).unwrap_or(StopCode::OPEN),
            detail: self.store.thread_of(id, i).map_or(NONE, |thread| thread.0),
            other_wait_ns: 0,
        });
        writer.lane(&cap.gc, |_| Facts {
            code: StopCode(0),
            detail: NONE,
            other_wait_ns: 0,
        });
    }

    fn thread(&self, id: ThreadId, writer: &mut Writer<'_>) {
        let Some(lane) = self.store.thread_lane(id) else {
            return;
        };
        writer.lane(&lane, |i| {
            let cap = lane.cap(i).map(|cap| u32::from(cap.0));
            let owner = || lane.owner(i).map(|thread| thread.0);
            Facts {
                code: lane.code(i).unwrap_or(StopCode(0)),
                detail: cap.or_else(owner).unwrap_or(NONE),
                other_wait_ns: lane.other_wait_ns(i),
            }
        });
    }

    /// For each bucket the mean number of capabilities that run and that collect.
    fn activity(&self, writer: &mut Writer<'_>) {
        let bucket = writer.query.bucket_ns();
        let view = writer.query.view;
        let mut start = view.start.0 / bucket * bucket;
        let mut before = self.total_before(start);
        while start < view.end.0 {
            let end = start.saturating_add(bucket);
            let after = self.total_before(end);
            let mut shares = [0.0; CLASSES];
            for class in 0..CLASSES {
                shares[class] = after[class].saturating_sub(before[class]) as f32 / bucket as f32;
            }
            if shares.iter().any(|&share| share > 0.0) {
                writer.push(New {
                    kind: MarkKind::Profile,
                    class: Class::Running,
                    code: StopCode(0),
                    start,
                    end,
                    detail: NONE,
                    other_wait_ns: 0,
                    count: 0,
                    shares,
                });
            }
            before = after;
            start = end;
        }
    }

    fn total_before(&self, time: u64) -> ClassTimes {
        let mut total = ClassTimes::default();
        for cap in self.caps.iter().filter_map(|cap| self.store.cap(*cap)) {
            for times in [cap.runs.time_before(time), cap.gc.time_before(time)] {
                for (sum, time) in total.iter_mut().zip(times) {
                    *sum += time;
                }
            }
        }
        total
    }

    fn message_marks(&self, writer: &mut Writer<'_>) {
        let bucket = writer.query.bucket_ns();
        // Several pixels for each mark, so that a mark can be seen and hit.
        let bucket = bucket.saturating_mul(4);
        let view = writer.query.view;
        self.messages.marks(view, bucket, |mark| {
            writer.push(New {
                kind: if mark.has_marker {
                    MarkKind::Marker
                } else {
                    MarkKind::Message
                },
                class: Class::Io,
                code: StopCode(0),
                start: mark.time,
                end: mark.time,
                detail: u32::try_from(mark.first).unwrap_or(NONE),
                other_wait_ns: 0,
                count: u32::try_from(mark.count).unwrap_or(NONE),
                shares: [0.0; CLASSES],
            });
        });
    }
}

/// How one capability spent a range, for the table below the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The capability.
    pub cap: CapId,
    /// Running threads, in nanoseconds.
    pub mutator_ns: u64,
    /// Collecting.
    pub gc_ns: u64,
    /// Neither.
    pub idle_ns: u64,
}

/// The usage of every capability in `range`.
#[must_use]
pub fn usage(
    store: &Store,
    lives: impl Iterator<Item = (CapId, Span)>,
    range: Span,
) -> Vec<UsageRow> {
    lives
        .map(|(cap, life)| {
            let usage = store.usage(cap, life, range);
            UsageRow {
                cap,
                mutator_ns: usage.mutator_ns,
                gc_ns: usage.gc_ns,
                idle_ns: usage.idle_ns,
            }
        })
        .collect()
}
