//! The table of threads for other programs: one list of columns for CSV and
//! for the command line. Times are in nanoseconds.

use crate::cells::{Cell, Formulas, push_csv};
use analysis::timeline::thread_table::{ThreadTable, ThreadTimes};
use model::class::WaitReason;

/// The names of the columns.
pub const COLUMNS: [&str; 26] = [
    "thread",
    "label",
    "created_ns",
    "finished_ns",
    "end",
    "running_ns",
    "running_at_end_ns",
    "ready_in_collection_ns",
    "ready_ns",
    "ready_while_idle_ns",
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
    "unknown_ns",
];

/// The cells of a row, one for each of [`COLUMNS`].
#[must_use]
pub fn cells(row: &ThreadTimes) -> [Cell<'_>; COLUMNS.len()] {
    let (sums, times) = (&row.sums, &row.sums.times);
    let blocked = |reason: WaitReason| Cell::Number(times.blocked_ns[reason as usize]);
    [
        u64::from(row.id.0).into(),
        row.label.as_deref().into(),
        row.created.map(|time| time.0).into(),
        row.finished.map(|time| time.0).into(),
        row.end.explanation().into(),
        times.running_ns.into(),
        times.open_ns.into(),
        times.ready_paused_ns.into(),
        times.ready_ns().into(),
        times.ready_idle_ns.into(),
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
        times.unknown_ns.into(),
    ]
}

/// The rows of a table as CSV (RFC 4180), with a row of names first if
/// `header` says so: a long table may be asked for in parts. A spreadsheet
/// takes no label for a formula.
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
            push_csv(&mut csv, cell, Formulas::Neutralised);
        }
        csv.push_str("\r\n");
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::timeline::thread_table::{ThreadEnd, ThreadSums};
    use eventlog::ids::{Nanos, ThreadId};

    #[test]
    fn a_row_is_a_line_of_cells() {
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
            rows: vec![row("plain"), row("=a, \"b\"\nc")],
            ..ThreadTable::default()
        };
        let zeros = ",0".repeat(17);
        let rest = format!("3,,still waiting for a capability{zeros},,0,0,0\r\n");
        let rows = format!("7,plain,{rest}7,\"'=a, \"\"b\"\"\nc\",{rest}");
        assert_eq!(thread_csv(&table, false), rows);
        let whole = thread_csv(&table, true);
        assert_eq!(whole, format!("{}\r\n{rows}", COLUMNS.join(",")));
    }
}
