//! Flame graphs as files for other programs. What is written are the stacks
//! as the steps leave them; those programs lay them out themselves. Views in
//! which equal stacks are one ([`folded`], [`pprof`]) come from weighted
//! stacks, [`speedscope`] from the samples in the order of time. Everything
//! is written piece by piece: no file is ever held in memory here.

mod folded;
mod place;
mod pprof;
mod shown;
mod speedscope;
mod stretches;

use std::borrow::Cow;
use std::io::{self, Write};

pub use place::Place;
use shown::{Shown, weighed};

use super::query::{ExportFormat, FlameQuery, Measure};
use model::profile::frames::{Frame, FrameKind};
use model::profile::origin::Origin;
use model::profile::source::Unit;
use model::profile::weights::Weight;

/// What a file says of the log that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The program; empty if the log does not name it.
    pub program: String,
    /// Nanoseconds from 1970-01-01 UTC to time 0 of the log.
    pub clock_origin_ns: Option<i64>,
}

/// Writes the stacks that a query is about in that format.
///
/// # Errors
/// What `out` says.
pub fn write(
    origin: &dyn Origin,
    query: &FlameQuery,
    format: ExportFormat,
    about: &About,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        ExportFormat::Speedscope => speedscope::write(origin, query, about, out),
        ExportFormat::Folded => folded::write(origin, query, out),
        ExportFormat::Pprof => pprof::write(origin, query, about, out),
    }
}

/// How a frame is called in files: as on the page, where the runtime's own
/// frames need no module.
fn frame_name(frame: &Frame) -> Cow<'_, str> {
    match frame.kind {
        FrameKind::BuiltIn => Cow::Borrowed(&frame.label),
        _ => Cow::Owned(frame.name()),
    }
}

/// What is written of a weight.
#[derive(Clone, Copy, Debug)]
struct Scale {
    measure: Measure,
    /// How many heap samples an amount is the sum of; 1 for times.
    samples: u64,
}

impl Scale {
    /// Of heap samples the mean is shown, not the sum.
    fn new(query: &FlameQuery, heap_samples: u32) -> Self {
        let samples = match query.choice.source.unit() {
            Unit::Bytes => u64::from(heap_samples).max(1),
            Unit::Time => 1,
        };
        Self {
            measure: query.measure,
            samples,
        }
    }

    /// A weight as a whole number of nanoseconds, bytes or samples: the nearest.
    const fn whole(self, weight: Weight) -> u64 {
        match self.measure {
            Measure::Count => weight.count,
            Measure::Amount => {
                let (whole, rest) = (weight.amount / self.samples, weight.amount % self.samples);
                whole + (rest >= self.samples.div_ceil(2) && rest > 0) as u64
            }
        }
    }

    /// The same, exactly.
    fn exact(self, weight: Weight) -> f64 {
        match self.measure {
            Measure::Count => weight.count as f64,
            Measure::Amount => weight.amount as f64 / self.samples as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::profile::origin::Choice;
    use model::profile::source::Source;

    #[test]
    fn heap_samples_are_shown_by_their_mean() {
        let query = FlameQuery {
            choice: Choice {
                source: Source::Heap,
                ..Choice::default()
            },
            ..FlameQuery::default()
        };
        let whole = |amount, samples| {
            let weight = Weight { amount, count: 1 };
            Scale::new(&query, samples).whole(weight)
        };
        assert_eq!([0, 3, 4, 5, 7].map(|sum| whole(sum, 3)), [0, 1, 1, 2, 2]);
        assert_eq!([0, 1, 2, 3].map(|sum| whole(sum, 2)), [0, 1, 1, 2]);
        assert_eq!([0, 5].map(|sum| whole(sum, 0)), [0, 5]);
        let time = Scale::new(&FlameQuery::default(), 3);
        let weight = Weight {
            amount: 7,
            count: 2,
        };
        assert_eq!((time.whole(weight), time.exact(weight)), (7, 7.0));
    }
}
