//! The event list: every event of a log as a row, found again in the file
//! when it is wanted. What is kept is where chunks of rows begin
//! ([`rows`](eventlog::rows)) and how many rows of each chunk pass the
//! filter. Everything here is told which bytes it needs and does no I/O.

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

/// Which rows are listed, and what is searched for in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventList {
    /// Which events are rows.
    pub filter: EventFilter,
    /// What is searched for in their names and texts; nothing if empty.
    pub search: String,
}

impl EventList {
    /// Whether rows have to be counted before they can be numbered.
    #[must_use]
    pub fn needs_scan(&self) -> bool {
        !self.filter.is_all() || !self.search.is_empty()
    }
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Its number among all events of the log, in display order.
    pub number: u64,
    /// When it happened.
    pub time: Nanos,
    /// How long after the row before.
    pub since: Option<Duration>,
    /// On which capability.
    pub cap: Option<CapId>,
    /// The thread that it is about, or that ran on its capability.
    pub thread: Option<ThreadId>,
    /// The thread's label.
    pub label: Option<String>,
    /// The name of its type.
    pub name: String,
    /// What it says.
    pub text: String,
    /// Whether it has what is searched for.
    pub found: bool,
}

/// What is known of the log beside its events.
#[derive(Clone, Copy, Debug)]
pub struct EventContext<'a> {
    /// What ran where.
    pub store: &'a Store,
    /// What its threads and cost centres are called.
    pub names: &'a Names,
}

impl EventContext<'_> {
    /// Writes what an event says.
    pub fn write_text(&self, record: &Record<'_>, text: &mut String) {
        write_sentence(text, &record.event(), record.header, self.names);
    }
}
