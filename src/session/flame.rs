//! Flame graphs of an open log.

use super::Session;
use crate::automata::Span;
use crate::flamegraph::query::{
    FlameBoxes, FlameHead, FlamePlaceQuery, FlameQuery, FlameRow, FlameTableQuery, answer_with,
    place, table,
};
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
        let origin = self.origin(query.choice.source)?;
        Some(answer_with(&self.flame_steps, origin, query))
    }

    /// How much each function of a flame graph has; empty if the log has
    /// nothing of that source.
    #[must_use]
    pub fn flame_table(&self, query: &FlameTableQuery) -> Vec<FlameRow> {
        let origin = self.origin(query.choice.source);
        origin.map_or_else(Vec::new, |origin| table(&self.flame_steps, origin, query))
    }

    /// Where the next occurrence of a flame graph's box is on the timeline.
    #[must_use]
    pub fn flame_place(&self, query: &FlamePlaceQuery) -> Option<Span> {
        place(&self.flame_steps, self.origin(query.choice.source)?, query)
    }

    /// Forgets what was kept of the profiles. To be called when they change:
    /// when symbols have named addresses, or spans are found by other words.
    pub fn flame_profiles_changed(&self) {
        self.flame_steps.clear();
    }

    fn origin(&self, source: Source) -> Option<&dyn Origin> {
        let profile = self.recording.profiles.get(source)?;
        Some(profile)
    }
}
