//! The table of threads for other programs: one list of columns for CSV and
//! for the command line. Times are in nanoseconds.

use super::thread_table::{ThreadTable, ThreadTimes};
use model::class::WaitReason;

/// The content of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A number, or a time in nanoseconds.
    Number(u64),
    /// A text.
    Text(String),
    /// The log does not say it.
    Absent,
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<Option<u64>> for Cell {
    fn from(number: Option<u64>) -> Self {
        number.map_or(Self::Absent, Self::Number)
    }
}

/// The names of the columns.
pub const COLUMNS: [&str; 23] = [
    "thread",
    "label",
    "created_ns",
    "finished_ns",
    "end",
    "running_ns",
    "running_at_end_ns",
    "ready_ns",
    "blocked_ns",
    "blocked_mvar_ns",
    "blocked_black_hole_ns",
    "blocked_stm_ns",
    "blocked_throw_to_ns",
    "foreign_call_ns",
    "blocked_delay_ns",
    "blocked_io_ns",
    "blocked_other_ns",
    "runs",
    "ready_waits",
    "longest_ready_ns",
    "mean_ready_ns",
    "wakeups",
    "migrations",
];

/// The cells of a row, one for each of [`COLUMNS`].
#[must_use]
pub fn cells(row: &ThreadTimes) -> [Cell; COLUMNS.len()] {
    let (sums, times) = (&row.sums, &row.sums.times);
    let blocked = |reason: WaitReason| Cell::Number(times.blocked_ns[reason as usize]);
    [
        u64::from(row.id.0).into(),
        row.label.clone().map_or(Cell::Absent, Cell::Text),
        row.created.map(|time| time.0).into(),
        row.finished.map(|time| time.0).into(),
        Cell::Text(row.end.explanation()),
        times.running_ns.into(),
        times.open_ns.into(),
        times.ready_ns.into(),
        times.all_blocked_ns().into(),
        blocked(WaitReason::Mvar),
        blocked(WaitReason::BlackHole),
        blocked(WaitReason::Stm),
        blocked(WaitReason::ThrowTo),
        blocked(WaitReason::ForeignCall),
        blocked(WaitReason::Delay),
        blocked(WaitReason::Io),
        blocked(WaitReason::Other),
        sums.runs.into(),
        times.ready_waits.into(),
        sums.longest_ready_ns.into(),
        sums.mean_ready_ns().into(),
        sums.wakeups.into(),
        sums.migrations.into(),
    ]
}

/// The rows of a table as CSV (RFC 4180), with a row of names first if
/// `header` says so: a long table may be asked for in parts.
#[must_use]
pub fn thread_csv(table: &ThreadTable, header: bool) -> String {
    let mut csv = String::new();
    if header {
        csv.push_str(&COLUMNS.join(","));
        csv.push_str("\r\n");
    }
    for row in &table.rows {
        for (i, cell) in cells(row).iter().enumerate() {
            if i > 0 {
                csv.push(',');
            }
            match cell {
                Cell::Number(number) => csv.push_str(&number.to_string()),
                Cell::Text(text) => push_quoted(&mut csv, text),
                Cell::Absent => {}
            }
        }
        csv.push_str("\r\n");
    }
    csv
}

/// Quotes a text if it has to be.
fn push_quoted(csv: &mut String, text: &str) {
    if !text.contains([',', '"', '\r', '\n']) {
        csv.push_str(text);
        return;
    }
    csv.push('"');
    csv.push_str(&text.replace('"', "\"\""));
    csv.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::thread_table::{ThreadEnd, ThreadSums};
    use eventlog::ids::{Nanos, ThreadId};

    #[test]
    fn quotes_what_has_to_be_quoted() {
        let row = |label: &str| ThreadTimes {
            id: ThreadId(7),
            label: Some(label.to_owned()),
            created: Some(Nanos(3)),
            finished: None,
            life: None,
            end: ThreadEnd::Ready,
            sums: ThreadSums::default(),
        };
        let table = ThreadTable {
            rows: vec![row("plain"), row("a, \"b\"\nc")],
            ..ThreadTable::default()
        };
        let zeros = ",0".repeat(15);
        let rest = format!("3,,still waiting for a capability{zeros},,0,0\r\n");
        let rows = format!("7,plain,{rest}7,\"a, \"\"b\"\"\nc\",{rest}");
        assert_eq!(thread_csv(&table, false), rows);
        let whole = thread_csv(&table, true);
        assert_eq!(whole, format!("{}\r\n{rows}", COLUMNS.join(",")));
    }
}
