//! The input of an export: a loaded log that can be read again.

use std::fmt;
use std::path::PathBuf;

use eventlog::display::DisplayOrder;
use eventlog::{LogError, LogReader, Record};
use model::time::Interval;
use session::Session;
use session::cells::Formulas;
use views::fingerprint::Fingerprint;

/// Callback that receives records.
pub type RecordCallback<'a> = dyn FnMut(&Record<'_>) + 'a;

/// Reads a log from start to end and passes every record to the callback. May be called concurrently, as several
/// tables are written at a time.
pub type RereadLog<'a> = dyn Fn(&mut RecordCallback<'_>) -> Result<(), LogError> + Sync + 'a;

/// A log to be exported; the same for every format.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    /// File name without the folder.
    pub name: &'a str,
    /// Input files, which no output may overwrite.
    pub inputs: &'a [PathBuf],
    /// Identifies the log.
    pub fingerprint: Fingerprint,
    /// Analysis results of the whole log.
    pub session: &'a Session,
    /// Reader of the log itself, if `session` is of a copy with its texts replaced.
    pub original: Option<&'a LogReader>,
    /// Part to export; `None` for all.
    pub range: Option<Interval>,
    /// Unix time in nanoseconds at which the clock of the log was 0; `None` if neither the log nor the user
    /// provides it.
    pub clock_origin_ns: Option<u64>,
    /// Treatment of CSV texts that a spreadsheet would evaluate as formulas.
    pub formulas: Formulas,
    /// Reads the log once more.
    pub reread: &'a RereadLog<'a>,
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
    /// Identifies this log independent of its file name: its fingerprint as in links, with a dash for the dot, so
    /// that no program parses it as a number.
    pub fn run_id(&self) -> String {
        self.fingerprint.to_string().replace('.', "-")
    }

    /// Returns whether a span overlaps the part to export.
    pub fn is_selected(&self, span: Interval) -> bool {
        self.range
            .is_none_or(|range| range.contains(span.start()) || span.contains(range.start()))
    }

    /// Reads all records in the order used by analyses: per capability in log order, in which a few records are
    /// dated before their predecessors.
    ///
    /// # Errors
    /// If the log cannot be read again.
    pub fn records(&self, mut take: impl FnMut(&Record<'_>)) -> Result<(), LogError> {
        (self.reread)(&mut take)
    }

    /// Reads all records ordered by time, as in event lists.
    ///
    /// # Errors
    /// If the log cannot be read again.
    pub fn records_by_time(&self, take: impl FnMut(&Record<'_>)) -> Result<(), LogError> {
        use eventlog::Sink;
        let window = self.session.recording().info.back_dating.max();
        let mut order = DisplayOrder::new(take, window);
        (self.reread)(&mut |record| order.event(record))?;
        let _take = order.finish();
        Ok(())
    }
}
