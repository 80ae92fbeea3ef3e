//! What every format writes alike: of which log the file is, the names of
//! frames, and weights as numbers.

use std::borrow::Cow;

use super::super::query::FlameQuery;
use analysis::flamegraph::sources;
use model::profile::frames::{Frame, FrameKind};
use model::profile::source::Unit;
use model::profile::weights::Measure;
use model::profile::weights::Weight;

/// What a file says of the log that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The program; empty if the log does not name it.
    pub program: String,
    /// Nanoseconds from 1970-01-01 UTC to time 0 of the log.
    pub clock_origin_ns: Option<i64>,
}

/// How a frame is called in files: as on the page, where the runtime's own
/// frames need no module.
pub(super) fn frame_name(frame: &Frame) -> Cow<'_, str> {
    match frame.kind {
        FrameKind::BuiltIn => Cow::Borrowed(&frame.label),
        _ => Cow::Owned(frame.name()),
    }
}

/// What is written of a weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) measure: Measure,
    /// How many censuses an amount is the sum of; 1 for times.
    pub(super) censuses: u64,
}

impl Scale {
    /// Of censuses the mean is shown, not the sum.
    pub(super) fn new(query: &FlameQuery, censuses: u32) -> Self {
        let censuses = match sources::of(query.choice.source).unit() {
            Unit::Bytes => u64::from(censuses).max(1),
            Unit::Time => 1,
        };
        Self {
            measure: query.measure,
            censuses,
        }
    }

    /// A weight as a whole number of nanoseconds, bytes or samples: the nearest.
    pub(super) const fn whole(self, weight: Weight) -> u64 {
        match self.measure {
            Measure::Count => weight.count,
            Measure::Amount => {
                let (whole, rest) = (weight.amount / self.censuses, weight.amount % self.censuses);
                whole + (rest >= self.censuses.div_ceil(2) && rest > 0) as u64
            }
        }
    }

    /// A weight as an exact number of nanoseconds, bytes or samples.
    pub(super) fn exact(self, weight: Weight) -> f64 {
        match self.measure {
            Measure::Count => weight.count as f64,
            Measure::Amount => weight.amount as f64 / self.censuses as f64,
        }
    }
}
