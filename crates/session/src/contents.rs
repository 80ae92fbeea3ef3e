//! What there is to be shown beside capabilities and threads.

use super::Session;
use crate::tracks::{Contents, Log};
use analysis::timeline::user_spans::SpanPrefixes;

impl Session {
    /// The log, as its tracks see it.
    pub(crate) fn log(&self) -> Log<'_> {
        Log {
            recording: &self.recording,
            blocks: self.reader.index(),
            unread: &self.unread,
            span: self.span(),
            heap: None,
        }
    }

    /// What there is to be shown beside capabilities and threads.
    #[must_use]
    pub fn contents(&self) -> Contents {
        Contents::of(&self.log())
    }

    /// Looks for spans of the program with other words; the contents are
    /// others then.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        self.prefixes = Some(prefixes.clone());
        self.recording.set_span_prefixes(prefixes);
    }
}
