//! The collections of the whole program, with the wait before each until all
//! capabilities had stopped.

use crate::numbers::Collection;
use crate::numbers::Numbers;
use model::class::{Class, StopCode};
use model::marks::{Facts, NONE, Writer};
use model::span_lane::{Piece, SpanLane};

/// What the code of a collection's mark says, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionCode {
    /// Which generation was collected; 30 stands for all from there on.
    pub generation: u8,
    /// Whether it is the oldest one.
    pub oldest: bool,
    /// Whether several threads collected.
    pub parallel: bool,
    /// Whether the log says so: it has no statistics of collections before GHC 7.6.
    pub known: bool,
}

impl CollectionCode {
    const UNKNOWN: u8 = u8::MAX;
    const LAST_GENERATION: u8 = 30;

    fn of(collection: &Collection, oldest: bool) -> u8 {
        let generation = u8::try_from(collection.generation).unwrap_or(u8::MAX);
        let generation = generation.min(Self::LAST_GENERATION);
        generation << 2 | u8::from(oldest) << 1 | u8::from(collection.is_parallel())
    }

    /// Reads a code back.
    #[must_use]
    pub const fn read(code: StopCode) -> Self {
        Self {
            generation: code.0 >> 2,
            oldest: code.0 & 2 != 0,
            parallel: code.0 & 1 != 0,
            known: code.0 != Self::UNKNOWN,
        }
    }
}

/// The row of collections.
#[derive(Debug, Default)]
pub struct CollectionLane {
    lane: SpanLane,
    /// How many of the collections are in it.
    taken: usize,
}

impl CollectionLane {
    /// Takes the collections that have ended by now.
    pub(super) fn extend(&mut self, numbers: &Numbers) {
        let new = numbers.all_collections().get(self.taken..);
        for collection in new.unwrap_or_default() {
            self.taken += 1;
            self.push(collection);
        }
    }

    fn push(&mut self, collection: &Collection) {
        let start = collection.start.0;
        let mut piece = |start, end, class| {
            self.lane.push(Piece {
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

    /// The log is read to its end.
    pub(super) fn settle(&mut self, numbers: &Numbers) {
        self.extend(numbers);
        if self.taken == 0 {
            for &(start, end) in numbers.stops() {
                self.lane.push(Piece {
                    start,
                    end,
                    detail: NONE,
                    class: Class::Gc,
                    code: 0,
                });
            }
        }
        self.lane.settle();
    }

    /// When the whole program collected, by time; no two overlap.
    pub fn times(&self) -> Vec<(u64, u64)> {
        let pieces = self.lane.pieces().iter();
        let collecting = pieces.filter(|piece| piece.class == Class::Gc);
        collecting.map(|piece| (piece.start, piece.end)).collect()
    }

    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.lane.pieces().is_empty()
    }

    /// The marks of the row.
    pub(super) fn marks(&self, numbers: &Numbers, writer: &mut Writer) {
        let all = numbers.all_collections();
        writer.lane(&self.lane, |i| {
            let detail = self.lane.get(i).map_or(NONE, |piece| piece.detail);
            let found = (detail as usize).checked_sub(1).and_then(|i| all.get(i));
            let code = found.map_or(CollectionCode::UNKNOWN, |collection| {
                CollectionCode::of(collection, numbers.is_oldest(collection.generation))
            });
            Facts {
                code: StopCode(code),
                detail,
                other_wait_ns: 0,
            }
        });
    }

    /// The spans of the row.
    pub const fn lane(&self) -> &SpanLane {
        &self.lane
    }
}
