//! Output shared by all formats: metadata of the log, frame names, and weights as numbers.

use std::borrow::Cow;

use super::super::query::FlameQuery;
use analysis::flamegraph::sources;
use model::profile::frames::{Frame, FrameKind};
use model::profile::source::Unit;
use model::profile::weights::Measure;
use model::profile::weights::Weight;

/// Metadata of the log in an exported file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogInfo {
    /// Program name; empty if the log does not have it.
    pub program: String,
    /// Nanoseconds from 1970-01-01 UTC to time 0 of the log.
    pub clock_origin_ns: Option<i64>,
}

/// Returns the name of a frame in files: as on the page, but without the module of built-in frames.
pub(super) fn frame_name(frame: &Frame) -> Cow<'_, str> {
    match frame.kind {
        FrameKind::BuiltIn => Cow::Borrowed(&frame.label),
        _ => Cow::Owned(frame.name()),
    }
}

/// Conversion of weights to numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) measure: Measure,
    /// Number of censuses summed in an amount; 1 for times.
    pub(super) censuses: u64,
}

impl Scale {
    /// Creates the conversion, which divides heap amounts by the number of censuses.
    pub(super) fn new(query: &FlameQuery, censuses: u32) -> Self {
        let censuses = match sources::description(query.choice.source).unit {
            Unit::Bytes => u64::from(censuses).max(1),
            Unit::Time => 1,
        };
        Self {
            measure: query.measure,
            censuses,
        }
    }

    /// Rounds a weight to the nearest whole number of nanoseconds, bytes or samples.
    pub(super) const fn whole(self, weight: Weight) -> u64 {
        match self.measure {
            Measure::Count => weight.count,
            Measure::Amount => {
                let (whole, rest) = (weight.amount / self.censuses, weight.amount % self.censuses);
                whole + (rest >= self.censuses.div_ceil(2) && rest > 0) as u64
            }
        }
    }

    /// Returns a weight as an exact number of nanoseconds, bytes or samples.
    pub(super) fn exact(self, weight: Weight) -> f64 {
        match self.measure {
            Measure::Count => weight.count as f64,
            Measure::Amount => weight.amount as f64 / self.censuses as f64,
        }
    }
}
