//! Queries of the timeline: what the rows in view show, as columns that can
//! be handed to another thread without copying piece by piece.

use serde::{Deserialize, Serialize};

use super::activity;
use super::messages::Messages;
use super::profile_rows::ProfileRows;
use super::row::Row;
use super::store::Store;
use super::tracks::Tracks;
use crate::flamegraph::profiles::Profiles;
use crate::numbers::Numbers;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{CLASSES, Class, StopCode};
use model::marks::{Facts, MarkKind, NONE, New, TimelineReply, Writer};
use model::time::Span;

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

/// The widest picture that is answered to the pixel, wider than any screen:
/// an answer costs time and memory for each pixel.
const MAX_WIDTH_PX: u32 = 1 << 16;

impl TimelineQuery {
    /// The width of a bucket: the smallest power of two nanoseconds that is
    /// not less than a pixel, so that panning does not change the buckets.
    #[must_use]
    pub fn bucket_ns(&self) -> u64 {
        let width = u64::from(self.width_px.clamp(1, MAX_WIDTH_PX));
        self.view
            .duration()
            .0
            .div_ceil(width)
            .max(1)
            .checked_next_power_of_two()
            .unwrap_or(1 << 63)
    }
}

/// How many pixels a mark has that stands for points in time, so that it can
/// be seen and hit.
const MARK_PX: u64 = 4;

/// What the timeline is made of.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'a> {
    /// The spans.
    pub store: &'a Store,
    /// The messages.
    pub messages: &'a Messages,
    /// The capabilities.
    pub caps: &'a [CapId],
    /// What there is beside capabilities, threads and messages.
    pub tracks: &'a Tracks,
    /// What of it is kept as numbers.
    pub numbers: &'a Numbers,
    /// The profiles, once the log is read to its end.
    pub profiles: &'a Profiles,
    /// Their rows.
    pub profile_rows: &'a ProfileRows,
    /// When the last event was, as far as the log is read.
    pub end: Nanos,
}

impl Timeline<'_> {
    /// Answers a query.
    #[must_use]
    pub fn answer(&self, query: &TimelineQuery) -> TimelineReply {
        let mut writer = Writer {
            view: query.view,
            bucket_ns: query.bucket_ns(),
            row: 0,
            reply: TimelineReply::default(),
        };
        for (i, row) in query.rows.iter().enumerate() {
            writer.row = u32::try_from(i).unwrap_or(NONE);
            match row {
                Row::Activity => {
                    let buckets = writer.buckets(self.end);
                    activity::points(self.store, self.caps, buckets, &mut writer);
                }
                Row::Cap(cap) => self.cap(*cap, &mut writer),
                Row::Thread(thread) => self.thread(*thread, &mut writer),
                Row::Messages => self.message_marks(&mut writer),
                Row::Instants(cap) => self.instants(*cap, &mut writer),
                Row::ForeignCalls(of) => self.profile_rows.call_marks(*of, &mut writer),
                Row::Samples(cap) => {
                    let rows = self.profile_rows;
                    rows.sample_marks(self.profiles, *cap, &mut writer);
                }
                Row::Collections
                | Row::Nonmoving
                | Row::Graph(_)
                | Row::UserSpan(_)
                | Row::Sparks(..)
                | Row::Task(_)
                | Row::Perf(_)
                | Row::Blocks(_) => self.tracks.row(self.numbers, *row, self.end, &mut writer),
            }
        }
        writer.reply
    }

    fn cap(&self, id: CapId, writer: &mut Writer) {
        let Some(cap) = self.store.cap(id) else {
            return;
        };
        writer.lane(&cap.runs, |i| Facts {
            code: self.store.code_of(id, i).unwrap_or(StopCode::OPEN),
            detail: self.store.thread_of(id, i).map_or(NONE, |thread| thread.0),
            other_wait_ns: 0,
        });
        writer.lane(&cap.phases, |_| Facts {
            code: StopCode(0),
            detail: NONE,
            other_wait_ns: 0,
        });
    }

    fn thread(&self, id: ThreadId, writer: &mut Writer) {
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

    fn instants(&self, cap: CapId, writer: &mut Writer) {
        let bucket = writer.bucket_ns.saturating_mul(MARK_PX);
        let view = writer.view;
        self.store.instants.marks(cap, view, bucket, |mark| {
            let thread = mark.thread.and_then(|index| self.store.thread_id(index));
            writer.push(New {
                kind: MarkKind::Instant,
                class: Class::Other,
                code: StopCode(mark.kind as u8),
                start: mark.first_ns,
                end: mark.last_ns,
                detail: thread.map_or(NONE, |thread| thread.0),
                other_wait_ns: 0,
                count: u32::try_from(mark.count).unwrap_or(NONE),
                shares: [0.0; CLASSES],
            });
        });
    }

    fn message_marks(&self, writer: &mut Writer) {
        let bucket = writer.bucket_ns.saturating_mul(MARK_PX);
        let view = writer.view;
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
                end: mark.last_time,
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
