//! Flame graphs of an open log.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Session;
use super::count_lru::CountLru;
use super::query::{Host, NoYield, Yield};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::sources;
use analysis::flamegraph::spans::totals::WindowTotals;
use analysis::timeline::thread_table::ThreadTableSettings;
use analysis::yielder::block_on;
use model::profile::compared::ComparedStacks;
use model::profile::revision::Revision;
use model::profile::source::Source;
use model::profile::stack_source::{FlameSelection, StackSource};
use model::time::Interval;

/// Data source of a flame graph.
pub enum StackSourceRef<'a> {
    /// Stacks of one log.
    Own(&'a dyn StackSource),
    /// Stacks of two logs for comparison.
    ComparedStacks(Arc<ComparedStacks>),
}

impl fmt::Debug for StackSourceRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own(_) => "Own",
            Self::ComparedStacks(_) => "ComparedStacks",
        })
    }
}

impl<'a> Deref for StackSourceRef<'a> {
    type Target = dyn StackSource + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(stack_source) => *stack_source,
            Self::ComparedStacks(compared) => &**compared,
        }
    }
}

/// Selection, and the revisions of both logs.
type ComparedKey = (FlameSelection, Revision, Revision);

/// Cache of the merged stacks of the last two logs, because zooming requests them again.
pub(super) type ComparedCache = CountLru<ComparedKey, ComparedStacks, 1>;

impl Session {
    /// Returns the sources for which a flame graph can be drawn.
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        self.recording.flame_sources()
    }

    /// Returns the duration of the spans of each name without collections, as `ghc-events-analyze` computes it: in
    /// the whole log, or in each span called `window`. Empty until the log is fully read.
    pub fn span_totals(&self, window: Option<&str>) -> Vec<WindowTotals> {
        self.recording.span_totals(window)
    }

    /// Returns the time range of a source's samples. A sample covers the tick before it, which may start before
    /// the first event. `None` for a source without data.
    pub fn flame_span(&self, source: Source) -> Option<Interval> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile.span)
    }

    /// Computes the data that views need first after loading.
    pub async fn prepare(&self, yielder: &dyn Yield) {
        self.recording.prepare(yielder).await;
    }

    /// Computes the data that is likely to be needed next, and takes long for a large log: the order of the thread
    /// table, and the waits of threads in time order. Queries for the same data, asked meanwhile, continue the work.
    pub async fn prepare_more(&self, yielder: &dyn Yield) {
        let threads = ThreadTableSettings::default().query(0..0);
        let threads = self.clip_to_cut(&threads);
        self.recording.store.thread_table(&threads, yielder).await;
        let waits = FlameSelection {
            source: sources::WAITING,
            range: self.span(),
            ..FlameSelection::default()
        };
        self.recording.prepare_time_order(&waits, yielder).await;
    }

    /// Prepares and returns the stacks for a flame graph; `None` if this log, or the one that it is compared with,
    /// has no data for the source.
    pub async fn stack_source_for(
        &self,
        choice: &FlameSelection,
        host: &dyn Host,
    ) -> Option<StackSourceRef<'_>> {
        let stack_source = self.own_stack_source(choice, host).await?;
        let Some(to) = &choice.other else {
            return Some(StackSourceRef::Own(stack_source));
        };
        let other = host.other_log(to.log)?;
        let other_choice = FlameSelection {
            range: to.range,
            ..choice.clone()
        };
        let its = other.own_stack_source(&other_choice, host).await?;
        let key = (choice.clone(), stack_source.revision(), its.revision());
        let compared = self.flame_compared.get(key, |_| {
            let (own, its) = (
                stack_source.weighted_stacks(choice),
                its.weighted_stacks(&other_choice),
            );
            let (now, before) = if to.is_after { (its, own) } else { (own, its) };
            ComparedStacks::new(&now, &before, !to.shares)
        });
        Some(StackSourceRef::ComparedStacks(compared))
    }

    /// Prepares and returns the stacks of this log in time order; `None` if it has no data for the source. A search
    /// needs the weights of the stacks too, for the share of what it found.
    pub async fn time_order_for(
        &self,
        choice: &FlameSelection,
        is_searched: bool,
        host: &dyn Host,
    ) -> Option<StackSourceRef<'_>> {
        if is_searched {
            self.recording.prepare_origin(choice, host).await;
        }
        self.recording.prepare_time_order(choice, host).await;
        self.stack_source(choice.source).map(StackSourceRef::Own)
    }

    /// Prepares and returns the stacks of this log alone.
    pub(super) async fn own_stack_source(
        &self,
        choice: &FlameSelection,
        yielder: &dyn Yield,
    ) -> Option<&dyn StackSource> {
        self.recording.prepare_origin(choice, yielder).await;
        self.stack_source(choice.source)
    }

    /// Merges the stacks of this log with those of another, as shares of each log's total or as `absolute` values;
    /// `None` if either log has no data for the source.
    pub fn compared(
        &self,
        choice: &FlameSelection,
        before: (&Self, &FlameSelection),
        absolute: bool,
    ) -> Option<ComparedStacks> {
        let (other, other_choice) = before;
        let stack_source = block_on(self.own_stack_source(choice, &NoYield))?;
        let other = block_on(other.own_stack_source(other_choice, &NoYield))?;
        let weighted = (
            stack_source.weighted_stacks(choice),
            other.weighted_stacks(other_choice),
        );
        Some(ComparedStacks::new(&weighted.0, &weighted.1, absolute))
    }

    /// Returns the stacks of a source; `None` if the log has no data for it.
    pub fn stack_source(&self, source: Source) -> Option<&dyn StackSource> {
        self.recording.stack_source(source)
    }
}
