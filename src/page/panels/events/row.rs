//! A row of the event list: in the table, and as copied text.

use crate::grid::{Column, GridRow};
use eventlog::ids::{Nanos, ThreadId};
use scene::format;
use session::events::EventRow;

/// Columns of the event list.
pub(super) const COLUMNS: &[Column] = &[
    Column::number("time", "Time", 128, "Seconds since the start of the log").unsorted(),
    Column::number("after", "After", 78, "Time since the row above").unsorted(),
    Column::number("cap", "Cap", 40, "Capability; – for events without one").unsorted(),
    Column::text(
        "thread",
        "Thread",
        150,
        "Thread of the event, or the thread that ran on the capability",
    )
    .narrow_px(90)
    .unsorted(),
    Column::text("event", "Event", 170, "Event type, as named by ghc-events")
        .narrow_px(110)
        .unsorted(),
    Column::text("text", "Text", 240, "What happened")
        .growing()
        .unsorted(),
];

/// Formats a time in seconds with all nine decimals.
fn seconds(time: Nanos) -> String {
    format!("{}.{:09}", time.0 / 1_000_000_000, time.0 % 1_000_000_000)
}

fn thread_text(thread: ThreadId, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{thread} {label}"),
        None => thread.to_string(),
    }
}

pub(super) fn grid_row(row: &EventRow) -> GridRow {
    let cap = row
        .cap
        .map_or_else(|| format::NO_VALUE.to_owned(), |cap| cap.to_string());
    let since = row.since.map(format::duration).unwrap_or_default();
    let thread = row
        .thread
        .map(|thread| thread_text(thread, row.label.as_deref()));
    let cells = [
        seconds(row.time),
        since,
        cap,
        thread.unwrap_or_default(),
        row.name.clone(),
        row.text.clone(),
    ];
    GridRow::from(cells).with_class(row.found.then_some("found"))
}

/// Formats a row as tab-separated text: time in nanoseconds, capability, thread, name, text.
pub(super) fn as_text(row: &EventRow) -> String {
    let cap = row
        .cap
        .map_or_else(|| "-".to_owned(), |cap| cap.to_string());
    let thread = row
        .thread
        .map(|thread| thread_text(thread, row.label.as_deref()));
    let text = row.text.replace(['\t', '\n', '\r'], " ");
    format!(
        "{}\t{cap}\t{}\t{}\t{text}\n",
        row.time.0,
        thread.unwrap_or_default(),
        row.name
    )
}
