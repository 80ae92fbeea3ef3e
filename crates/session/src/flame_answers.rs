//! Flame graphs of an open log.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::Session;
use super::query::{Host, NoYield, Yield};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::spans::totals::WindowTotals;
use analysis::yielder::block_on;
use model::profile::compared::ComparedStacks;
use model::profile::origin::{Choice, Origin};
use model::profile::revision::Revision;
use model::profile::source::Source;
use model::time::Interval;

/// Data source of a flame graph.
pub enum OriginRef<'a> {
    /// Stacks of one log.
    Own(&'a dyn Origin),
    /// Stacks of two logs for comparison.
    ComparedStacks(Arc<ComparedStacks>),
}

impl fmt::Debug for OriginRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own(_) => "Own",
            Self::ComparedStacks(_) => "Beside",
        })
    }
}

impl<'a> Deref for OriginRef<'a> {
    type Target = dyn Origin + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(origin) => *origin,
            Self::ComparedStacks(compared) => &**compared,
        }
    }
}

/// Selection, and the revisions of both logs.
type ComparedKey = (Choice, Revision, Revision);

/// Single-entry cache of the merged stacks of two logs, because zooming requests them again.
#[derive(Debug, Default)]
pub(super) struct ComparedCache(Mutex<Option<(ComparedKey, Arc<ComparedStacks>)>>);

impl ComparedCache {
    fn get(&self, key: ComparedKey, make: impl FnOnce() -> ComparedStacks) -> Arc<ComparedStacks> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compared)) = kept.as_ref().filter(|(of, _)| *of == key) {
            return Arc::clone(compared);
        }
        let compared = Arc::new(make());
        *kept = Some((key, Arc::clone(&compared)));
        compared
    }
}

impl Session {
    /// Returns the sources for which a flame graph can be drawn.
    #[must_use]
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        self.recording.flame_sources()
    }

    /// Returns the duration of the spans of each name without collections, as `ghc-events-analyze` computes it: in
    /// the whole log, or in each span called `window`. Empty until the log is fully read.
    #[must_use]
    pub fn span_totals(&self, window: Option<&str>) -> Vec<WindowTotals> {
        self.recording.span_totals(window)
    }

    /// Returns the time range of a source's samples. A sample covers the tick before it, which may start before
    /// the first event. `None` for a source without data.
    #[must_use]
    pub fn flame_span(&self, source: Source) -> Option<Interval> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile.span)
    }

    /// Computes the data that views need first after loading.
    pub async fn prepare(&self, yielder: &dyn Yield) {
        self.recording.prepare(yielder).await;
    }

    /// Prepares and returns the stacks for a flame graph; `None` if this log, or the one that it is compared with,
    /// has no data for the source.
    pub async fn origin_of(&self, choice: &Choice, host: &dyn Host) -> Option<OriginRef<'_>> {
        let origin = self.own_origin(choice, host).await?;
        let Some(to) = &choice.other else {
            return Some(OriginRef::Own(origin));
        };
        let other = host.other(to.log)?;
        let other_choice = Choice {
            range: to.range,
            ..choice.clone()
        };
        let its = other.own_origin(&other_choice, host).await?;
        let key = (choice.clone(), origin.revision(), its.revision());
        let compared = self.flame_compared.get(key, || {
            let (own, its) = (origin.weighed(choice), its.weighed(&other_choice));
            let (now, before) = if to.is_after { (its, own) } else { (own, its) };
            ComparedStacks::of(&now, &before, !to.shares)
        });
        Some(OriginRef::ComparedStacks(compared))
    }

    /// Prepares and returns the stacks of this log alone.
    pub(super) async fn own_origin(
        &self,
        choice: &Choice,
        yielder: &dyn Yield,
    ) -> Option<&dyn Origin> {
        self.recording.prepare_origin(choice, yielder).await;
        self.origin(choice.source)
    }

    /// Merges the stacks of this log with those of another, as shares of each log's total or as `absolute` values;
    /// `None` if either log has no data for the source.
    #[must_use]
    pub fn compared(
        &self,
        choice: &Choice,
        before: (&Self, &Choice),
        absolute: bool,
    ) -> Option<ComparedStacks> {
        let (other, other_choice) = before;
        let origin = block_on(self.own_origin(choice, &NoYield))?;
        let other = block_on(other.own_origin(other_choice, &NoYield))?;
        let weighed = (origin.weighed(choice), other.weighed(other_choice));
        Some(ComparedStacks::of(&weighed.0, &weighed.1, absolute))
    }

    /// Returns the stacks of a source; `None` if the log has no data for it.
    #[must_use]
    pub fn origin(&self, source: Source) -> Option<&dyn Origin> {
        self.recording.origin(source)
    }
}
