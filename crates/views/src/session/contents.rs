//! What there is to be shown beside capabilities and threads.

use super::Session;
use analysis::timeline::contents::Contents;
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
        let end = self.complete.then(|| self.recording.end());
        let recording = &mut self.recording;
        recording
            .tracks
            .set_prefixes(prefixes, &recording.messages, end);
        if self.complete {
            recording.settle_spans();
            self.flame_steps.clear();
        }
    }
}
