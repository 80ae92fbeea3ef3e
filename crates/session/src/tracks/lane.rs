//! Shared code of tracks with lanes.

use crate::tracks::details::{DetailField, DetailsQuery};
use crate::tracks::item::Item;
use crate::tracks::words;
use analysis::timeline::user_spans::OPEN;
use eventlog::ids::Nanos;
use model::marks::{MarkView, PackedPayload, Payload};
use model::span_lane::{SpanLane, TimelineSpan};
use model::time::Interval;
use scene::format;
use scene::strip::Bar;

/// Returns a bar labeled with its duration.
pub(super) fn by_duration(mark: &MarkView<'_>) -> Bar {
    let duration = (mark.end - mark.start).max(0.0) as u64;
    Bar::text(format::duration_ns(duration))
}

/// Payload of spans that the log may cut off: what their lane says of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanPayload {
    /// Detail of the span, whose meaning depends on the track.
    pub detail: u32,
    /// Whether the span had not ended when the log ended.
    pub open: bool,
}

impl SpanPayload {
    /// Returns the payload of a span by its index in the lane.
    pub(super) fn new(lane: &SpanLane, index: usize) -> Self {
        let piece = lane.get(index);
        Self {
            detail: piece.map_or(0, |piece| piece.detail),
            open: piece.is_some_and(|piece| piece.code == OPEN),
        }
    }
}

impl Payload for SpanPayload {
    fn pack(self) -> PackedPayload {
        PackedPayload([self.detail, self.open.into(), 0, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self {
            detail: packed.word(0),
            open: packed.word(1) != 0,
        }
    }
}

/// Returns the words for a span that the end of the log cut off, else none.
pub(super) const fn unfinished(open: bool) -> &'static str {
    if open {
        ", unfinished at the end of the log"
    } else {
        ""
    }
}

/// Describes several spans that share a pixel, with their share of it.
pub(super) fn several(item: &Item, what: &str) -> String {
    let share: f64 = words::normalized_shares(&item.shares).sum();
    format!(
        "{} {what} in {}: {} of it · {}",
        format::count(item.count.into()),
        words::duration(item),
        format::fraction(share),
        words::when(item)
    )
}

/// Returns the time range of a span.
pub(super) fn span_of(piece: &TimelineSpan) -> Interval {
    Interval::new(Nanos(piece.start), Nanos(piece.end))
}

/// Returns the span with exactly this time range.
pub(super) fn find_exact(lane: &SpanLane, span: Interval) -> Option<&TimelineSpan> {
    lane.within(span).find(|piece| span_of(piece) == span)
}

/// Returns number and total duration of the spans that begin in a time range, and the longest one.
pub(super) fn sums(lane: &SpanLane, query: &DetailsQuery, what: &str) -> Vec<DetailField> {
    let found = || lane.within(query.span);
    let Some(longest) = found().max_by_key(|piece| piece.end - piece.start) else {
        return Vec::new();
    };
    let total = found().map(|piece| piece.end - piece.start);
    let span = span_of(longest);
    vec![
        DetailField::new(what, format::count(found().count() as u64)),
        DetailField::new("total time", format::duration_ns(total.sum())),
        DetailField::new("longest", format::duration(span.duration())).linked_to(query.row, span),
    ]
}
