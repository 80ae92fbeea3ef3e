//! Export of flame graphs to the file formats of other programs.
//!
//! Files have the stacks after the steps; the other programs lay them out themselves. Formats that merge equal
//! stacks (`folded`, `pprof`) are written from weighted stacks, `speedscope` from samples in time order.
//!
//! A file is written incrementally, in slices of any size, and can be abandoned at any point. Stacks are truncated
//! at a depth that readers of the formats can display; [`IncompleteStacks`] reports the truncation.

mod export_stacks;
mod folded;
mod incomplete;
mod output;
mod pprof;
mod source_location;
mod speedscope;
mod stack_timeline;
#[cfg(test)]
mod tests;
mod tree;

use self::folded::Folded;
use self::pprof::Pprof;
use self::speedscope::Speedscope;
use super::cache::StepCache;
use analysis::flamegraph::sources;
use std::io::{self, Write};
use std::task::Poll;

use export_stacks::ExportStacks;
pub use incomplete::IncompleteStacks;
pub use output::LogInfo;
use output::Scale;
pub use source_location::SourceLocation;

use super::query::{ExportFormat, FlameQuery};
use model::profile::source::Unit;
use model::profile::stack_source::StackSource;

/// Export in progress, written in slices.
#[derive(Debug)]
pub struct Export(Writing);

#[derive(Debug)]
enum Writing {
    Folded(Box<Folded>),
    Pprof(Box<Pprof>),
    Speedscope(Box<Speedscope>),
}

impl Export {
    /// Prepares an export of the stacks that a query selects. Transformed stacks come from `cache`, or are
    /// computed now.
    pub fn new(
        cache: &StepCache,
        stack_source: &dyn StackSource,
        query: &FlameQuery,
        format: ExportFormat,
        log_info: &LogInfo,
    ) -> Self {
        if format == ExportFormat::Speedscope
            && sources::description(query.choice.source).unit == Unit::Time
        {
            let tracks = Speedscope::of_tracks(cache, stack_source, query, log_info);
            return Self(Writing::Speedscope(Box::new(tracks)));
        }
        let export_stacks = ExportStacks::new(cache, stack_source, query);
        let scale = Scale::new(query, export_stacks.censuses());
        Self(match format {
            ExportFormat::Folded => Writing::Folded(Box::new(Folded::new(&export_stacks, scale))),
            ExportFormat::Pprof => {
                let pprof = Pprof::new(&export_stacks, stack_source, query, log_info);
                Writing::Pprof(Box::new(pprof))
            }
            ExportFormat::Speedscope => {
                let sums = Speedscope::of_sums(&export_stacks, scale, log_info);
                Writing::Speedscope(Box::new(sums))
            }
        })
    }

    /// Writes at most `stacks` further stacks or samples; ready when the file is complete. `stack_source` must be the
    /// one passed to [`new`](Self::new).
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn advance(
        &mut self,
        stack_source: &dyn StackSource,
        out: &mut impl Write,
        stacks: usize,
    ) -> io::Result<Poll<()>> {
        let done = match &mut self.0 {
            Writing::Folded(folded) => folded.advance(out, stacks)?,
            Writing::Pprof(pprof) => pprof.advance(out, stacks)?,
            Writing::Speedscope(speedscope) => speedscope.advance(stack_source, out, stacks)?,
        };
        Ok(if done { Poll::Ready(()) } else { Poll::Pending })
    }

    /// Returns whether the query selects no stacks, once the file is complete.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Writing::Folded(folded) => folded.tree.is_empty(),
            Writing::Pprof(pprof) => pprof.tree.is_empty(),
            Writing::Speedscope(speedscope) => speedscope.is_empty(),
        }
    }

    /// Returns which stacks the file has only in part.
    pub const fn incomplete(&self) -> IncompleteStacks {
        match &self.0 {
            Writing::Folded(folded) => folded.tree.incomplete,
            Writing::Pprof(pprof) => pprof.tree.incomplete,
            Writing::Speedscope(speedscope) => speedscope.incomplete(),
        }
    }
}
