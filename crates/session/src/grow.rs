//! Following a log that is still being written: analysis resumes from a checkpoint when the file has grown.

use std::sync::Arc;

use super::Session;
use analysis::recording::Recording;

/// Checkpoint: the state before the last slice of a log.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    pub(super) reader: eventlog::Checkpoint,
    pub(super) recording: Arc<Recording>,
}

impl Session {
    /// Keeps checkpoints from which a [`reopen_grown`](Self::reopen_grown) log can be resumed. A checkpoint copies the results,
    /// except for the packed columns, which are shared.
    #[must_use]
    pub fn with_following(self) -> Self {
        Self {
            follows: true,
            ..self
        }
    }

    /// Returns a session of the same log whose file now has `len` bytes.
    ///
    /// Reading it takes as long as the new data and the slice before it; meanwhile this session can still be
    /// queried. The whole log is read again if late blocks reach back further, or if the file is compressed.
    /// Symbols of executables have to be set again.
    pub fn reopen_grown(&self, len: u64) -> Self {
        Self {
            reader: self.reader.reopen_grown(len),
            checkpoints: self.checkpoints.clone(),
            ..self.replacement(len)
        }
    }

    /// Returns a session for a replacement of the file, with `len` bytes. It reads from the start, and shares the
    /// span prefixes and the memory budget of this one.
    pub fn replacement(&self, len: u64) -> Self {
        let mut session = Self {
            memory: self.memory,
            slicing_rule: self.slicing_rule.clone(),
            follows: true,
            ..Self::new(len).with_spill_store(self.spill_store.clone())
        };
        if let Some(prefixes) = self.prefixes.clone() {
            session.set_span_prefixes(prefixes);
        }
        session
    }

    /// Plans the slices after the latest usable checkpoint, or all slices if there is none.
    pub(super) fn plan(&mut self) {
        while let Some(checkpoint) = self.checkpoints.pop() {
            let slices = self
                .reader
                .slices_from(&checkpoint.reader, &self.slicing_rule);
            if let Some(slices) = slices {
                self.recording = Recording::clone(&checkpoint.recording);
                // The prefixes may have changed since the checkpoint.
                if let Some(prefixes) = self.prefixes.clone() {
                    self.recording.set_span_prefixes(prefixes);
                }
                self.slices.plan_after(slices);
                self.checkpoints = vec![checkpoint];
                return;
            }
        }
        self.slices.plan(self.reader.slices(&self.slicing_rule));
    }

    /// Keeps a checkpoint before the last slice is appended. The previous checkpoint is kept too, because some
    /// capabilities may not have flushed the events that precede this one.
    pub(super) fn keep_checkpoint(&mut self) {
        if !self.follows || !self.slices.is_appending_last() {
            return;
        }
        let current = self.slices.current.as_ref();
        let reader = current.and_then(|slice| self.reader.checkpoint(slice));
        if let Some(reader) = reader {
            let recording = Arc::new(self.recording.clone());
            self.checkpoints.truncate(1);
            self.checkpoints.push(Checkpoint { reader, recording });
        }
    }
}
