//! Table `events`: every event, by time.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};
use eventlog::Record;
use eventlog::sentence::write_sentence;
use session::events::EventList;
use session::events::filter::{EventFilter, Matcher};

/// Every event, by time.
pub(super) const TABLE: Table = Table {
    name: "events",
    help: "Every event by time, as `eventscope events` lists them.",
    columns: &[
        Column::number("time_ns", "When it happened"),
        Column::number(
            "cap",
            "The capability in whose block it stands; empty for none",
        ),
        Column::number(
            "thread",
            "The thread that it is about, or that ran on its capability",
        ),
        Column::text("type", "The name of its type, such as RunThread"),
        Column::number("type_number", "The number of its type in the log"),
        Column::text("text", "What it says"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let context = log.session.event_context();
    let filter = EventFilter {
        range: log.range,
        ..EventFilter::default()
    };
    let mut matcher = Matcher::new(&EventList {
        filter,
        ..EventList::default()
    });
    let mut text = String::new();
    let mut row = |record: &Record<'_>| {
        if !matcher.is_row(record, &context) {
            return Ok(());
        }
        text.clear();
        let event = record.event();
        write_sentence(&mut text, &event, record.header, context.names);
        let thread = matcher.thread_of(record, &context);
        rows.row(&[
            record.time.0.into(),
            record.cap.map(|cap| u64::from(cap.0)).into(),
            thread.map(|thread| u64::from(thread.0)).into(),
            event.name().into(),
            u64::from(record.id.0).into(),
            text.as_str().into(),
        ])
    };
    let mut written = Ok(());
    log.records_by_time(|record| {
        if written.is_ok() {
            written = row(record);
        }
    })?;
    written
}
