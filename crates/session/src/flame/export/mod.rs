//! Export of flame graphs to the file formats of other programs.
//!
//! Files have the stacks after the steps; the other programs lay them out themselves. Formats that merge equal
//! stacks (`folded`, `pprof`) are written from weighted stacks, `speedscope` from samples in time order.
//!
//! A file is written incrementally, in slices of any size, and can be abandoned at any point. Stacks are truncated
//! at a depth that readers of the formats can display; [`LeftOut`] reports the truncation.

mod folded;
mod left_out;
mod place;
mod pprof;
mod shown;
mod speedscope;
mod stretches;
#[cfg(test)]
mod tests;
mod tree;
mod written;

use self::folded::Folded;
use self::pprof::Pprof;
use self::speedscope::Speedscope;
use super::cache::StepCache;
use analysis::flamegraph::sources;
use std::io::{self, Write};
use std::task::Poll;

pub use left_out::LeftOut;
pub use place::Place;
use shown::Shown;
pub use written::About;
use written::Scale;

use super::query::{ExportFormat, FlameQuery};
use model::profile::origin::Origin;
use model::profile::source::Unit;

/// Export in progress, written in slices.
#[derive(Debug)]
pub struct Export {
    writing: Writing,
    left_out: LeftOut,
}

#[derive(Debug)]
enum Writing {
    Folded(Box<Folded>),
    Pprof(Box<Pprof>),
    Speedscope(Box<Speedscope>),
}

impl Export {
    /// Prepares an export of the stacks that a query selects. Transformed stacks come from `cache`, or are
    /// computed now.
    #[must_use]
    pub fn new(
        cache: &StepCache,
        origin: &dyn Origin,
        query: &FlameQuery,
        format: ExportFormat,
        about: &About,
    ) -> Self {
        if format == ExportFormat::Speedscope
            && sources::of(query.choice.source).unit() == Unit::Time
        {
            let writing = Speedscope::of_tracks(cache, origin, query, about);
            return Self {
                left_out: writing.left_out(),
                writing: Writing::Speedscope(Box::new(writing)),
            };
        }
        let shown = Shown::new(cache, origin, query);
        let scale = Scale::new(query, shown.censuses());
        let (writing, left_out) = match format {
            ExportFormat::Folded => {
                let folded = Folded::new(&shown, scale);
                let left_out = folded.left_out();
                (Writing::Folded(Box::new(folded)), left_out)
            }
            ExportFormat::Pprof => {
                let pprof = Pprof::new(&shown, origin, query, about);
                let left_out = pprof.left_out();
                (Writing::Pprof(Box::new(pprof)), left_out)
            }
            ExportFormat::Speedscope => {
                let sums = Speedscope::of_sums(&shown, scale, about);
                let left_out = sums.left_out();
                (Writing::Speedscope(Box::new(sums)), left_out)
            }
        };
        let shortened = shown.shortened();
        Self {
            writing,
            left_out: LeftOut {
                shortened,
                ..left_out
            },
        }
    }

    /// Writes at most `stacks` further stacks or samples; ready when the file is complete. `origin` must be the
    /// one passed to [`new`](Self::new).
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn advance(
        &mut self,
        origin: &dyn Origin,
        out: &mut impl Write,
        stacks: usize,
    ) -> io::Result<Poll<()>> {
        let done = match &mut self.writing {
            Writing::Folded(folded) => folded.advance(out, stacks)?,
            Writing::Pprof(pprof) => pprof.advance(out, stacks)?,
            Writing::Speedscope(speedscope) => speedscope.advance(origin, out, stacks)?,
        };
        Ok(if done { Poll::Ready(()) } else { Poll::Pending })
    }

    /// Returns which stacks the file has only in part.
    #[must_use]
    pub const fn left_out(&self) -> LeftOut {
        self.left_out
    }
}
