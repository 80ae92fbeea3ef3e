//! What there is to be shown beside capabilities and threads.

use super::Session;
use crate::tracks::Contents;
use analysis::timeline::user_spans::SpanPrefixes;

impl Session {
    /// What there is to be shown beside capabilities and threads.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let recording = &self.recording;
        let mut contents = Contents {
            instants: recording.store.caps_with_instants().collect(),
            ..recording.tracks.contents(&recording.numbers)
        };
        let profiles = &recording.profiles;
        recording.profile_rows.tell(profiles, &mut contents);
        contents
    }

    /// Looks for spans of the program with other words; the contents are
    /// others then.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        self.recording.set_span_prefixes(prefixes);
        self.flame_steps.clear();
    }
}
