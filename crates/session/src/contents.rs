//! Optional contents of a log: everything shown apart from capabilities and threads.

use super::Session;
use crate::tracks::{Log, LogContents};
use analysis::timeline::user_spans::SpanPrefixes;

impl Session {
    /// Returns the view of the log that tracks read.
    pub(crate) fn log(&self) -> Log<'_> {
        Log {
            recording: &self.recording,
            blocks: self.reader.index(),
            unread: &self.unread,
            span: self.span(),
            heap: None,
        }
    }

    /// Returns which optional tracks and panels the log has data for.
    pub fn contents(&self) -> LogContents {
        LogContents::from_log(&self.log())
    }

    /// Sets the prefixes that mark user spans in messages, which changes the contents.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        self.prefixes = Some(prefixes.clone());
        self.recording.set_span_prefixes(prefixes);
    }
}
