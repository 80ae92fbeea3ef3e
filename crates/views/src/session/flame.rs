//! Flame graphs of an open log.

use super::Session;
use super::query::{Alone, Listen};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::spans::totals::WindowTotals;
use analysis::listen::at_once;
use model::profile::beside::Beside;
use model::profile::origin::{Choice, Origin};
use model::profile::source::Source;
use model::time::Interval;

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
    /// log has nothing of its source.
    pub async fn origin_of(&self, choice: &Choice, listen: &dyn Listen) -> Option<&dyn Origin> {
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
        let origin = at_once(self.origin_of(choice, &Alone))?;
        let other = at_once(other.origin_of(other_choice, &Alone))?;
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
