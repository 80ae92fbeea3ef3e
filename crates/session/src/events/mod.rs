//! The event list: every event of a log is a row, which is read from the file on demand. Memory holds only the
//! start of each chunk of rows ([`rows`](eventlog::rows)) and the number of rows in it that pass the filter. This
//! module does no I/O: it requests byte ranges from its driver.

pub mod chunk;
pub mod export;
pub mod filter;
pub mod scan;
pub mod visit;

use serde::{Deserialize, Serialize};

use analysis::timeline::store::Store;
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use eventlog::sentence::write_sentence;
use eventlog::{Names, Record};
use filter::EventFilter;

/// Filter and search text of an event list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventList {
    /// Filter that decides which events are rows.
    pub filter: EventFilter,
    /// Text searched for in event names and texts, ignoring case; empty for no search.
    pub search: String,
}

impl EventList {
    /// Returns whether rows must be counted before they can be numbered.
    pub fn needs_scan(&self) -> bool {
        !self.filter.is_all() || !self.search.is_empty()
    }
}

/// Row of the event list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Index among all events of the log, in display order.
    pub number: u64,
    /// Time of the event.
    pub time: Nanos,
    /// Time since the previous row; `None` for the first row.
    pub since: Option<Duration>,
    /// Capability of the event, if it has one.
    pub cap: Option<CapId>,
    /// Thread that the event is about, or that was running on its capability.
    pub thread: Option<ThreadId>,
    /// Label of the thread.
    pub label: Option<String>,
    /// Name of the event type.
    pub name: String,
    /// Event as a sentence.
    pub text: String,
    /// Whether the row matches the search text.
    pub found: bool,
}

/// Analysis results that event rows need.
#[derive(Clone, Copy, Debug)]
pub struct EventContext<'a> {
    /// Runs of threads on capabilities.
    pub store: &'a Store,
    /// Names of threads and cost centres.
    pub names: &'a Names,
}

impl EventContext<'_> {
    /// Appends an event as a sentence.
    pub fn write_text(&self, record: &Record<'_>, text: &mut String) {
        write_sentence(text, &record.event(), record.header, self.names);
    }
}
