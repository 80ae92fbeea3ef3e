//! Export of event rows. Times are in nanoseconds.

use super::EventRow;
use crate::cells::{Cell, RowFormat, rows_text};

const NAMES: [&str; 6] = ["time_ns", "cap", "thread", "label", "event", "text"];

fn cells(row: &EventRow) -> [Cell<'_>; NAMES.len()] {
    [
        row.time.into(),
        row.cap.into(),
        row.thread.into(),
        row.label.as_deref().into(),
        row.name.as_str().into(),
        row.text.as_str().into(),
    ]
}

/// Formats rows with [`rows_text`]; a long list can be formatted in parts.
pub fn events_text(rows: &[EventRow], how: RowFormat, is_first: bool) -> String {
    rows_text(how, &NAMES, rows.iter().map(cells), is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
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
            events_text(&[row], RowFormat::Csv, true),
            "time_ns,cap,thread,label,event,text\r\n1500,2,9,,UserMsg,\"'=a, b\"\r\n"
        );
    }
}
