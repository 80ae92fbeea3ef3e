//! Queries of the timeline: what the rows in view show, as columns that can
//! be handed to another thread without copying piece by piece.

use serde::{Deserialize, Serialize};

use super::{Log, Row};
use crate::heap::choice::HeapAsked;
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
    #[must_use]
    pub fn marks(&self, log: &Log<'_>) -> TimelineReply {
        let mut writer = Writer {
            bucket_ns: self.bucket_ns(),
            ..Self::writer(log, self.view)
        };
        for (number, row) in self.rows.iter().enumerate() {
            writer.row = u32::try_from(number).unwrap_or(NONE);
            row.answer(log, &mut writer);
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
