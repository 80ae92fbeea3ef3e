//! Collections of the whole program, each with the time until all capabilities had stopped for it.

use crate::numbers::Collection;
use crate::numbers::Numbers;
use model::class::Class;
use model::span_lane::{SpanLane, TimelineSpan};

/// Timeline row of collections.
#[derive(Clone, Debug, Default)]
pub struct CollectionLane {
    lane: SpanLane,
    /// Number of finished collections added so far.
    taken: usize,
}

impl CollectionLane {
    /// Adds the collections that have ended by now.
    pub(super) fn extend(&mut self, numbers: &Numbers) {
        let new = numbers.collections_with_statistics().get(self.taken..);
        for collection in new.unwrap_or_default() {
            self.taken += 1;
            self.push(collection);
        }
    }

    fn push(&mut self, collection: &Collection) {
        let start = collection.start.0;
        let mut piece = |start, end, class| {
            self.lane.push(TimelineSpan {
                start,
                end,
                detail: collection.number,
                class,
                code: 0,
            });
        };
        if let Some(wait) = collection.sync_ns.filter(|wait| *wait > 0) {
            piece(start.saturating_sub(wait), start, Class::GcSync);
        }
        piece(start, collection.end.0, Class::Gc);
    }

    /// Completes the row once the log has been read to its end.
    pub(super) fn finish(&mut self, numbers: &Numbers) {
        self.extend(numbers);
        for collection in numbers.collections_without_statistics() {
            self.push(collection);
        }
        self.lane.sort_and_clip();
    }

    /// Returns the time spans of the collections in order; they do not overlap.
    pub fn times(&self) -> Vec<(u64, u64)> {
        let pieces = self.lane.spans().iter();
        let collecting = pieces.filter(|piece| piece.class == Class::Gc);
        collecting.map(|piece| (piece.start, piece.end)).collect()
    }

    /// Returns whether there are no collections.
    pub fn is_empty(&self) -> bool {
        self.lane.spans().is_empty()
    }

    /// Returns the lane of waits and collections. The detail of each is the number of its collection.
    pub const fn lane(&self) -> &SpanLane {
        &self.lane
    }
}
