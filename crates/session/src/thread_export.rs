//! Export of the thread table. Files and the command line share one list of columns. Times are in nanoseconds.

use crate::cells::{Cell, Columns};
use analysis::timeline::thread_table::ThreadTimes;
use eventlog::ids::Nanos;
use model::class::WaitReason;
use model::time::Interval;

/// Columns of the table.
pub const COLUMNS: Columns<ThreadTimes, 28> = Columns([
    ("thread", |row| u64::from(row.id.0).into()),
    ("label", |row| row.label.as_deref().into()),
    ("created_ns", |row| row.created.map(|time| time.0).into()),
    ("finished_ns", |row| row.finished.map(|time| time.0).into()),
    ("end", |row| row.end.explanation().into()),
    ("running_ns", |row| row.sums.times.running_ns.into()),
    ("running_at_end_ns", |row| row.sums.times.open_ns.into()),
    ("ready_in_collection_ns", |row| {
        row.sums.times.ready_paused_ns.into()
    }),
    ("ready_ns", |row| row.sums.times.ready_ns().into()),
    ("ready_while_idle_ns", |row| {
        row.sums.times.ready_idle_ns.into()
    }),
    ("blocked_ns", |row| {
        row.sums.times.blocked_outside_calls_ns().into()
    }),
    ("blocked_mvar_ns", |row| blocked(row, WaitReason::Mvar)),
    ("blocked_black_hole_ns", |row| {
        blocked(row, WaitReason::BlackHole)
    }),
    ("blocked_stm_ns", |row| blocked(row, WaitReason::Stm)),
    ("blocked_throw_to_ns", |row| {
        blocked(row, WaitReason::ThrowTo)
    }),
    ("foreign_call_ns", |row| {
        blocked(row, WaitReason::ForeignCall)
    }),
    ("blocked_sleep_ns", |row| blocked(row, WaitReason::Delay)),
    ("blocked_io_ns", |row| blocked(row, WaitReason::Io)),
    ("blocked_other_ns", |row| blocked(row, WaitReason::Other)),
    ("runs", |row| row.sums.runs.into()),
    ("ready_waits", |row| row.sums.times.ready_waits.into()),
    ("longest_ready_ns", |row| row.sums.longest_ready_ns.into()),
    ("mean_ready_ns", |row| row.sums.mean_ready_ns().into()),
    ("wakeups", |row| row.sums.wakeups.into()),
    ("migrations", |row| row.sums.migrations.into()),
    ("unknown_ns", |row| row.sums.times.unknown_ns.into()),
    ("longest_ready_from_ns", |row| {
        longest(row, |range| range.start())
    }),
    ("longest_ready_to_ns", |row| {
        longest(row, |range| range.end())
    }),
]);

fn longest(row: &ThreadTimes, of: impl Fn(Interval) -> Nanos) -> Cell<'_> {
    row.sums.longest_ready.map(|range| of(range).0).into()
}

const fn blocked(row: &ThreadTimes, by: WaitReason) -> Cell<'_> {
    Cell::Number(row.sums.times.blocked_ns[by as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::RowFormat;
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
        let table = [row("plain"), row("=a, \"b\"\nc")];
        let zeros = ",0".repeat(17);
        let rest = format!("3,,still waiting for a capability{zeros},,0,0,0,,\r\n");
        let rows = format!("7,plain,{rest}7,\"'=a, \"\"b\"\"\nc\",{rest}");
        let text = |is_first| COLUMNS.text(&table, RowFormat::Csv, is_first);
        assert_eq!(text(false), rows);
        let whole = text(true);
        assert_eq!(whole, format!("{}\r\n{rows}", COLUMNS.names().join(",")));
    }
}
