//! Queries of the timeline: what the rows in view show, as columns that can
//! be handed to another thread without copying piece by piece.

use serde::{Deserialize, Serialize};

use super::{Log, Row};
use crate::heap::choice::HeapAsked;
use analysis::listen::Listen;
use model::marks::{NONE, TimelineReply, Writer};
use model::time::Interval;

/// What is to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineQuery {
    /// The time in view.
    pub view: Interval,
    /// How many pixels it has.
    pub width_px: u32,
    /// The rows in view.
    pub rows: Vec<Row>,
    /// Which bands of a heap profile are shown.
    pub heap: HeapAsked,
    /// After so many runs that had to be read again, other rows that need that
    /// [wait](TimelineReply::later) until this is asked once more. `None`: none waits.
    pub patience_runs: Option<u32>,
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

    /// What the rows show of a log.
    pub async fn marks(&self, log: &Log<'_>, listen: &dyn Listen) -> TimelineReply {
        let mut writer = Writer {
            bucket_ns: self.bucket_ns(),
            ..Self::writer(log, self.view)
        };
        let mut runs = 0;
        for (number, row) in self.rows.iter().enumerate() {
            writer.row = u32::try_from(number).unwrap_or(NONE);
            let store = &log.recording.store;
            if let Some(thread) = row.thread() {
                let patience = self.patience_runs.map(|patience| patience as usize);
                if patience.is_some_and(|most| runs >= most) && !store.is_prepared(thread) {
                    writer.reply.later.push(writer.row);
                    continue;
                }
                runs += store.prepare_life(thread, listen).await;
            }
            row.answer(log, &mut writer);
            listen.listen().await;
        }
        writer.reply
    }

    /// What a row of a log writes to; a bucket is a nanosecond.
    pub(super) fn writer(log: &Log<'_>, view: Interval) -> Writer {
        Writer {
            view,
            bucket_ns: 1,
            end: log.recording.end(),
            row: 0,
            reply: TimelineReply::default(),
        }
    }
}
