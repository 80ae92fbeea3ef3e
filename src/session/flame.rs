//! Flame graphs of an open log.

use super::Session;
use crate::flamegraph::query::{FlameBoxes, FlameHead, FlameQuery, answer};
use crate::flamegraph::{Origin, Source, SourceInfo};

impl Session {
    /// What flame graphs can be about.
    #[must_use]
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        self.recording.profiles.infos()
    }

    /// What a flame graph shows; `None` if the log has nothing of that source.
    #[must_use]
    pub fn flame(&self, query: &FlameQuery) -> Option<(FlameHead, FlameBoxes)> {
        Some(answer(self.origin(query.choice.source)?, query))
    }

    fn origin(&self, source: Source) -> Option<&dyn Origin> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile)
    }
}
