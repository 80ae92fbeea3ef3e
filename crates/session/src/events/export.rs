//! Export of event rows. Times are in nanoseconds.

use super::EventRow;
use crate::cells::{Column, Columns};

/// Columns of the table.
pub(crate) const COLUMNS: Columns<EventRow, 6> = Columns([
    Column::number("time_ns", "Time of the event").value(|row| row.time.into()),
    Column::number("cap", "Its capability").value(|row| row.cap.into()),
    Column::number("thread", "Its thread, or the one that ran").value(|row| row.thread.into()),
    Column::text("label", "Label of the thread").value(|row| row.label.as_deref().into()),
    Column::text("event", "Name of its type").value(|row| row.name.as_str().into()),
    Column::text("text", "What happened").value(|row| row.text.as_str().into()),
]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::RowFormat;
    use eventlog::ids::{CapId, Nanos, ThreadId};

    #[test]
    fn a_row_has_what_the_list_shows() {
        let row = EventRow {
            number: 7,
            time: Nanos(1_500),
            since: None,
            cap: Some(CapId(2)),
            thread: Some(ThreadId(9)),
            label: None,
            name: "UserMsg".to_owned(),
            text: "=a, b".to_owned(),
            found: false,
        };
        assert_eq!(
            COLUMNS.text(&[row], RowFormat::Csv, true),
            "time_ns,cap,thread,label,event,text\r\n1500,2,9,,UserMsg,\"'=a, b\"\r\n"
        );
    }
}
