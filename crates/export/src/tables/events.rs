//! Table `events`: every event, by time.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use eventlog::Record;
use eventlog::sentence::write_sentence;
use session::cells::Column;
use session::events::EventList;
use session::events::filter::{EventFilter, Matcher};

/// Every event, by time.
pub(super) const TABLE: Table = Table {
    name: "events",
    help: "One row per event, by time, as in `eventscope events`.",
    columns: &[
        Column::number("time_ns", "Time of the event"),
        Column::number(
            "cap",
            "Capability whose block has the event; empty for events of no capability",
        ),
        Column::number(
            "thread",
            "Thread that it is about, or else the one that ran on its capability",
        ),
        Column::text("type", "Name of its type, such as RunThread"),
        Column::number("type_number", "Number of its type in the log"),
        Column::text("text", "Description of the event with its values"),
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
            record.time.into(),
            record.cap.into(),
            thread.into(),
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
