//! A log that is still being written: what was found of it is gone on from, once its
//! file is longer.

use std::sync::Arc;

use super::Session;
use analysis::recording::Recording;

/// What was found before the last slice of a log.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    pub(super) reader: eventlog::Stand,
    pub(super) recording: Arc<Recording>,
}

impl Session {
    /// Keeps what is needed to go on when the log has grown ([`grown`](Self::grown)).
    /// It takes a copy of what is found, but for the packed columns, which are shared.
    #[must_use]
    pub fn following(self) -> Self {
        Self {
            follows: true,
            ..self
        }
    }

    /// A session of the same log, whose file has `len` bytes now. It is read as any
    /// other, which takes as long as what is new and the slice before it; this one can be
    /// asked until that is done. If blocks came late that reach back further, or if the
    /// file is compressed, all of it is read again. Symbols of executables are to be given again.
    #[must_use]
    pub fn grown(&self, len: u64) -> Self {
        Self {
            reader: self.reader.grown(len),
            stands: self.stands.clone(),
            ..self.anew(len)
        }
    }

    /// A session of what has taken the place of the file and has `len` bytes. It is read from
    /// its start, looks for the same words, and shares the memory of this one.
    #[must_use]
    pub fn anew(&self, len: u64) -> Self {
        let mut session = Self {
            memory: self.memory,
            cutting: self.cutting.clone(),
            follows: true,
            ..Self::new(len).with_shelf(self.shelf.clone())
        };
        if let Some(prefixes) = self.prefixes.clone() {
            session.set_span_prefixes(prefixes);
        }
        session
    }

    /// Plans the slices that are not known yet: those behind the latest stand from which
    /// it can be gone on, or all of them.
    pub(super) fn plan(&mut self) {
        while let Some(stand) = self.stands.pop() {
            let slices = self.reader.slices_from(&stand.reader, &self.cutting);
            if let Some(slices) = slices {
                self.recording = Recording::clone(&stand.recording);
                // They may be others since.
                if let Some(prefixes) = self.prefixes.clone() {
                    self.recording.set_span_prefixes(prefixes);
                }
                self.slices.plan_behind(slices);
                self.stands = vec![stand];
                return;
            }
        }
        self.slices.plan(self.reader.slices(&self.cutting));
    }

    /// Before the last slice is put behind the others: keeps what is known. The stand before
    /// it is kept too, as not all capabilities may have written what belongs to this one.
    pub(super) fn keep_stand(&mut self) {
        if !self.follows || !self.slices.is_at_last() {
            return;
        }
        let reader = self.slices.at().and_then(|slice| self.reader.stand(slice));
        if let Some(reader) = reader {
            let recording = Arc::new(self.recording.clone());
            self.stands.truncate(1);
            self.stands.push(Stand { reader, recording });
        }
    }
}
