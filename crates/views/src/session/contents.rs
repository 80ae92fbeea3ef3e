//! What there is to be shown beside capabilities and threads.

use super::Session;
use crate::tracks::{Contents, Row};
use analysis::timeline::user_spans::SpanPrefixes;

impl Session {
    /// What there is to be shown beside capabilities and threads.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let recording = &self.recording;
        let (rows, profiles) = (&recording.profile_rows, &recording.profiles);
        Contents {
            tracks: Row::of_log(self),
            foreign_functions: rows.foreign_functions(profiles),
            sampled_functions: rows.sampled_functions(profiles),
        }
    }

    /// Looks for spans of the program with other words; the contents are
    /// others then.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        self.recording.set_span_prefixes(prefixes);
    }
}
