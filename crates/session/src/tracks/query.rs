//! Timeline queries: the marks of the visible tracks, as columns that can be transferred to another thread without
//! copying them piece by piece.

use serde::{Deserialize, Serialize};

use super::{Log, TrackId};
use crate::heap::choice::HeapFilter;
use analysis::yielder::Yield;
use model::marks::{MarkWriter, NONE, TimelineReply};
use model::time::Interval;

/// Query for the marks of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineQuery {
    /// Visible time range of the timeline.
    pub view: Interval,
    /// Width of the view in pixels.
    pub width_px: u32,
    /// Tracks to answer, in display order.
    pub rows: Vec<TrackId>,
    /// Selected bands of a heap profile.
    pub heap: HeapFilter,
    /// Number of runs to read for thread lanes before the remaining ones are deferred
    /// ([`pending_rows`](TimelineReply::pending_rows)) to a repetition of the query. `None` defers none.
    pub run_budget: Option<u32>,
}

/// Maximum width answered at full resolution. It exceeds any screen; an answer costs time and memory for each
/// pixel.
const MAX_WIDTH_PX: u32 = 1 << 16;

impl TimelineQuery {
    /// Returns the bucket length: the smallest power of two nanoseconds that is at least a pixel, so that panning
    /// does not change the buckets.
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

    /// Returns the marks of the tracks.
    pub async fn marks(&self, log: &Log<'_>, yielder: &dyn Yield) -> TimelineReply {
        let mut writer = MarkWriter {
            bucket_ns: self.bucket_ns(),
            ..Self::writer(log, self.view)
        };
        let mut runs = 0;
        for (number, row) in self.rows.iter().enumerate() {
            writer.row = u32::try_from(number).unwrap_or(NONE);
            let store = &log.recording.store;
            if let Some(thread) = row.thread() {
                let patience = self.run_budget.map(|patience| patience as usize);
                if patience.is_some_and(|most| runs >= most) && !store.is_prepared(thread) {
                    writer.reply.pending_rows.push(writer.row);
                    continue;
                }
                runs += store.prepare_life(thread, yielder).await;
            }
            row.answer(log, &mut writer);
            yielder.yield_if_due().await;
        }
        writer.reply
    }

    /// Returns a writer for one row, with buckets of a nanosecond.
    pub(super) fn writer(log: &Log<'_>, view: Interval) -> MarkWriter {
        MarkWriter {
            view,
            bucket_ns: 1,
            end: log.recording.end(),
            row: 0,
            reply: TimelineReply::default(),
        }
    }
}
