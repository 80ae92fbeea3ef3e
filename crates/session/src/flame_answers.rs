//! Flame graphs of an open log.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::Session;
use super::query::{Alone, Host, Listen};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::spans::totals::WindowTotals;
use analysis::listen::at_once;
use model::profile::beside::Beside;
use model::profile::origin::{Choice, Origin};
use model::profile::revision::Revision;
use model::profile::source::Source;
use model::time::Interval;

/// What flame graphs are made from.
pub enum Made<'a> {
    /// A log's own stacks.
    Own(&'a dyn Origin),
    /// With those of another log beside them.
    Beside(Arc<Beside>),
}

impl fmt::Debug for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own(_) => "Own",
            Self::Beside(_) => "Beside",
        })
    }
}

impl<'a> Deref for Made<'a> {
    type Target = dyn Origin + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(origin) => *origin,
            Self::Beside(beside) => &**beside,
        }
    }
}

/// What was chosen, and the states of both logs.
type BesideKey = (Choice, Revision, Revision);

/// The stacks of two logs that were put together last: zooming asks for them again.
#[derive(Debug, Default)]
pub(super) struct BesideCache(Mutex<Option<(BesideKey, Arc<Beside>)>>);

impl BesideCache {
    fn get(&self, key: BesideKey, make: impl FnOnce() -> Beside) -> Arc<Beside> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, beside)) = kept.as_ref().filter(|(of, _)| *of == key) {
            return Arc::clone(beside);
        }
        let beside = Arc::new(make());
        *kept = Some((key, Arc::clone(&beside)));
        beside
    }
}

impl Session {
    /// What flame graphs can be about.
    #[must_use]
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        self.recording.flame_sources()
    }

    /// How long the spans of each name lasted without collections, as
    /// `ghc-events-analyze` has it: of the whole log, or of each span of the
    /// name `window`. Nothing before the log is read to its end.
    #[must_use]
    pub fn span_totals(&self, window: Option<&str>) -> Vec<WindowTotals> {
        self.recording.span_totals(window)
    }

    /// The time of a source's samples: one lasts for the tick before it, which
    /// may begin before the first event. `None` for what has no samples.
    #[must_use]
    pub fn flame_span(&self, source: Source) -> Option<Interval> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile.span)
    }

    /// Makes what is wanted first of a log that is read.
    pub async fn prepare(&self, listen: &dyn Listen) {
        self.recording.prepare(listen).await;
    }

    /// What flame graphs of a choice are made from, once that is prepared; `None` if the
    /// log, or the other one that it is compared with, has nothing of its source.
    pub async fn origin_of(&self, choice: &Choice, host: &dyn Host) -> Option<Made<'_>> {
        let origin = self.own_origin(choice, host).await?;
        let Some(to) = &choice.other else {
            return Some(Made::Own(origin));
        };
        let other = host.other(to.log)?;
        let other_choice = Choice {
            range: to.range,
            ..choice.clone()
        };
        let its = other.own_origin(&other_choice, host).await?;
        let key = (choice.clone(), origin.revision(), its.revision());
        let beside = self.flame_beside.get(key, || {
            let (own, its) = (origin.weighed(choice), its.weighed(&other_choice));
            let (now, before) = if to.is_after { (its, own) } else { (own, its) };
            Beside::of(&now, &before, !to.shares)
        });
        Some(Made::Beside(beside))
    }

    /// What flame graphs of this log alone are made from, once that is prepared.
    pub(super) async fn own_origin(
        &self,
        choice: &Choice,
        listen: &dyn Listen,
    ) -> Option<&dyn Origin> {
        self.recording.prepare_origin(choice, listen).await;
        self.origin(choice.source)
    }

    /// The stacks of this log with those of another beside them, as shares of what each has in
    /// all, or if `absolute` as they are; `None` if a log has nothing of the source.
    #[must_use]
    pub fn beside(
        &self,
        choice: &Choice,
        before: (&Self, &Choice),
        absolute: bool,
    ) -> Option<Beside> {
        let (other, other_choice) = before;
        let origin = at_once(self.own_origin(choice, &Alone))?;
        let other = at_once(other.own_origin(other_choice, &Alone))?;
        let weighed = (origin.weighed(choice), other.weighed(other_choice));
        Some(Beside::of(&weighed.0, &weighed.1, absolute))
    }

    /// What flame graphs of a source are made from; `None` if the log has
    /// nothing of it.
    #[must_use]
    pub fn origin(&self, source: Source) -> Option<&dyn Origin> {
        self.recording.origin(source)
    }
}
