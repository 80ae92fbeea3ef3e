//! Lanes of consecutive spans with a payload: collections of the program, phases of the concurrent collector,
//! tasks, blocks, user spans, foreign calls.

use super::class::{Class, ClassTimes};
use super::lane::{Lane, LaneIndex};
use crate::time::Interval;

/// One span, in 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimelineSpan {
    /// Start time in nanoseconds.
    pub start: u64,
    /// End time in nanoseconds, exclusive.
    pub end: u64,
    /// Payload; its meaning depends on the row.
    pub detail: u32,
    /// State class, which selects the color.
    pub class: Class,
    /// Payload; its meaning depends on the row.
    pub code: u8,
}

/// The spans of one row, with the index for any zoom.
#[derive(Clone, Debug)]
pub struct SpanLane {
    spans: Vec<TimelineSpan>,
    index: LaneIndex<4>,
    sorted: bool,
}

impl Default for SpanLane {
    fn default() -> Self {
        Self {
            spans: Vec::new(),
            index: LaneIndex::new([Class::Gc, Class::GcSync, Class::Foreign, Class::Other]),
            sorted: true,
        }
    }
}

impl SpanLane {
    /// Appends a span. In damaged logs spans may overlap or be out of order until [`sort_and_clip`](Self::sort_and_clip) is
    /// called.
    pub fn push(&mut self, piece: TimelineSpan) {
        let end = piece.end.max(piece.start);
        self.sorted &= self.spans.last().is_none_or(|last| last.end <= piece.start);
        self.index.push(piece.class, end - piece.start);
        self.spans.push(TimelineSpan { end, ..piece });
    }

    /// Sorts the spans if necessary, and clips each one at the end of the spans before it.
    pub fn sort_and_clip(&mut self) {
        if self.sorted {
            return;
        }
        let mut spans = std::mem::take(self).spans;
        spans.sort_unstable();
        let mut covered = 0;
        for piece in spans {
            let start = piece.start.max(covered);
            let end = piece.end.max(start);
            covered = end;
            self.push(TimelineSpan {
                start,
                end,
                ..piece
            });
        }
    }

    /// Returns the span at `index`, or `None` beyond the last one.
    pub fn get(&self, index: usize) -> Option<TimelineSpan> {
        self.spans.get(index).copied()
    }

    /// Returns all spans, in the order in which they were pushed or [sorted](Self::sort_and_clip).
    pub fn spans(&self) -> &[TimelineSpan] {
        &self.spans
    }

    /// Returns the spans that begin within `span`; if there are none, the one that begins last before it.
    pub fn within(&self, span: Interval) -> impl Iterator<Item = &TimelineSpan> {
        let from = self.first_starting_at(span.start().0);
        let to = self.first_starting_at(span.end().0.max(span.start().0.saturating_add(1)));
        let around = from.checked_sub(1).filter(|_| from == to);
        let places = around.unwrap_or(from)..to.max(from);
        self.spans.get(places).unwrap_or_default().iter()
    }
}

impl Lane for SpanLane {
    fn len(&self) -> usize {
        self.spans.len()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        let piece = &self.spans[index];
        (piece.start, piece.end)
    }
    fn class(&self, index: usize) -> Class {
        self.spans[index].class
    }
    fn times_before_index(&self, index: usize) -> ClassTimes {
        self.index.times_before_index(index, |i| {
            let piece = &self.spans[i];
            (piece.class, piece.end - piece.start)
        })
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index
            .longest(from, to, |i| self.spans[i].end - self.spans[i].start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use eventlog::ids::Nanos;

    proptest! {
        #[test]
        fn overlaps_are_clipped_to_the_same_union(spans in prop::collection::vec((0u64..1000, 0u64..100), 0..60)) {
            let mut lane = SpanLane::default();
            let mut covered = vec![false; 1200];
            for &(start, length) in &spans {
                lane.push(TimelineSpan { start, end: start + length, detail: 0, class: Class::Other, code: 0 });
                covered[start as usize..(start + length) as usize].fill(true);
            }
            lane.sort_and_clip();
            let whole = Interval::new(Nanos(0), Nanos(5000));
            let union = covered.iter().filter(|covered| **covered).count() as u64;
            prop_assert_eq!(lane.time_in(whole)[Class::Other as usize], union);
            prop_assert_eq!(lane.len(), spans.len());
            prop_assert_eq!(lane.within(whole).count(), spans.len());
        }
    }
}
