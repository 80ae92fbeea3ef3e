//! Reading a whole log into a session on one thread, from any source.

use super::Session;
use eventlog::source::{PullReader, Source, drive};
use eventlog::{LogError, Stage, Step};

impl PullReader for Session {
    fn advance(&mut self) -> Result<Step, LogError> {
        self.advance(usize::MAX)
    }
    fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.supply(at, bytes);
    }
    fn truncate(&mut self, at: u64) -> bool {
        let keeps = self.progress().stage == Stage::Analyzing;
        if keeps {
            self.truncate(at);
        }
        keeps
    }
}

/// Reads a whole log from `source` into a session.
///
/// # Errors
/// See [`eventlog::source::read_log`].
pub fn read_session(source: &mut impl Source) -> Result<Session, LogError> {
    let mut session = Session::new(source.byte_len());
    drive(source, &mut session)?;
    Ok(session)
}
