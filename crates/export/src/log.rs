//! What is exported: a log that was read, and may be read again.

use std::fmt;
use std::path::PathBuf;

use eventlog::display::DisplayOrder;
use eventlog::{LogError, Record};
use model::time::Interval;
use session::Session;
use session::cells::Formulas;
use views::fingerprint::Fingerprint;

/// Takes records.
pub type Taker<'a> = dyn FnMut(&Record<'_>) + 'a;

/// Reads a log from its begin to its end and hands on every record, as the reader has them. Several
/// tables may be written at a time.
pub type ReadAgain<'a> = dyn Fn(&mut Taker<'_>) -> Result<(), LogError> + Sync + 'a;

/// A log for other programs. Every format gets the same.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    /// The name of its file, without the folder.
    pub name: &'a str,
    /// The files that are read, which no output may replace.
    pub inputs: &'a [PathBuf],
    /// Tells it from other logs.
    pub fingerprint: Fingerprint,
    /// All that is known of it, once it was read to its end.
    pub session: &'a Session,
    /// Only this part of it.
    pub range: Option<Interval>,
    /// When its clock was 0, in nanoseconds since 1970; `None` if neither the log nor the user says.
    pub clock_origin_ns: Option<u64>,
    /// What becomes of texts in CSV that a spreadsheet would run as formulas.
    pub formulas: Formulas,
    /// How it is read once more.
    pub read_again: &'a ReadAgain<'a>,
}

impl fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("name", &self.name)
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}

impl Log<'_> {
    /// Tells this log from others, also after its file was renamed: its fingerprint as links have
    /// it, with a dash for the dot, so that no program takes it for a number.
    #[must_use]
    pub fn run(&self) -> String {
        self.fingerprint.to_string().replace('.', "-")
    }

    /// Whether a span is asked for: it reaches into the range.
    #[must_use]
    pub fn asks_for(&self, span: Interval) -> bool {
        self.range
            .is_none_or(|range| range.contains(span.start()) || span.contains(range.start()))
    }

    /// Reads all records in the order of the analyses: within a capability as they stand in the
    /// log, where few are dated before those that precede them.
    ///
    /// # Errors
    /// If it cannot be read again.
    pub fn records(&self, mut take: impl FnMut(&Record<'_>)) -> Result<(), LogError> {
        (self.read_again)(&mut take)
    }

    /// Reads all records by time, as lists show them.
    ///
    /// # Errors
    /// If it cannot be read again.
    pub fn records_by_time(&self, take: impl FnMut(&Record<'_>)) -> Result<(), LogError> {
        use eventlog::Sink;
        let window = self.session.recording().info.back_dating.most();
        let mut order = DisplayOrder::new(take, window);
        (self.read_again)(&mut |record| order.event(record))?;
        let _take = order.finish();
        Ok(())
    }
}
