//! Export of the thread table. Files and the command line share one list of columns. Times are in nanoseconds.

use crate::cells::{Cell, Column, Columns};
use analysis::timeline::thread_table::ThreadTableRow;
use model::class::WaitReason;

/// Columns of the table.
pub const COLUMNS: Columns<ThreadTableRow, 28> = Columns([
    Column::number("thread", "Number of the thread").value(|row| row.id.into()),
    Column::text("label", "Its label (labelThread), if it has one")
        .value(|row| row.label.as_deref().into()),
    Column::number("created_ns", "When it was created").value(|row| row.created.into()),
    Column::number("finished_ns", "When it finished").value(|row| row.finished.into()),
    Column::text("end", "How it ended, or its state at the end of the log")
        .value(|row| row.end.explanation().into()),
    Column::number("running_ns", "Time running on a capability")
        .value(|row| row.sums.times.running_ns.into()),
    Column::number(
        "running_at_end_ns",
        "Time of a run that was unfinished at the end of the log; not in running_ns",
    )
    .value(|row| row.sums.times.open_ns.into()),
    Column::number(
        "ready_in_collection_ns",
        "Time ready to run during collections",
    )
    .value(|row| row.sums.times.runnable_during_gc_ns.into()),
    Column::number(
        "ready_ns",
        "Time ready to run outside of collections, without a capability",
    )
    .value(|row| row.sums.times.ready_ns().into()),
    Column::number(
        "ready_while_idle_ns",
        "The part of ready_ns in which some capability was idle",
    )
    .value(|row| row.sums.times.runnable_cap_idle_ns.into()),
    Column::number("blocked_ns", "Time blocked, without foreign calls")
        .value(|row| row.sums.times.blocked_outside_calls_ns().into()),
    Column::number("blocked_mvar_ns", "The part of blocked_ns on MVars")
        .value(|row| blocked(row, WaitReason::Mvar)),
    Column::number(
        "blocked_black_hole_ns",
        "The part of blocked_ns on black holes: values that another thread was computing",
    )
    .value(|row| blocked(row, WaitReason::BlackHole)),
    Column::number("blocked_stm_ns", "The part of blocked_ns in STM retry")
        .value(|row| blocked(row, WaitReason::Stm)),
    Column::number("blocked_throw_to_ns", "The part of blocked_ns in throwTo")
        .value(|row| blocked(row, WaitReason::ThrowTo)),
    Column::number("foreign_call_ns", "Time in safe foreign calls")
        .value(|row| blocked(row, WaitReason::ForeignCall)),
    Column::number(
        "blocked_sleep_ns",
        "The part of blocked_ns that the timer of the runtime ended: sleeping",
    )
    .value(|row| blocked(row, WaitReason::Delay)),
    Column::number(
        "blocked_io_ns",
        "The part of blocked_ns that the I/O manager of the runtime ended: waiting for a file \
         or socket",
    )
    .value(|row| blocked(row, WaitReason::Io)),
    Column::number(
        "blocked_other_ns",
        "The part of blocked_ns for other reasons",
    )
    .value(|row| blocked(row, WaitReason::Other)),
    Column::number("runs", "Number of runs on a capability").value(|row| row.sums.runs.into()),
    Column::number("ready_waits", "Number of waits for a capability")
        .value(|row| row.sums.times.ready_waits.into()),
    Column::number("longest_ready_ns", "The longest wait for a capability")
        .value(|row| row.sums.longest_ready_ns.into()),
    Column::number("mean_ready_ns", "The mean wait for a capability")
        .value(|row| row.sums.mean_ready_ns().into()),
    Column::number("wakeups", "Number of wakeup events").value(|row| row.sums.wakeups.into()),
    Column::number("migrations", "Number of moves to another capability")
        .value(|row| row.sums.migrations.into()),
    Column::number("unknown_ns", "Time of its life that is missing in the log")
        .value(|row| row.sums.times.unknown_ns.into()),
    Column::number(
        "longest_ready_from_ns",
        "Start of the longest wait for a capability",
    )
    .value(|row| row.sums.longest_ready.map(|range| range.start()).into()),
    Column::number("longest_ready_to_ns", "End of that wait")
        .value(|row| row.sums.longest_ready.map(|range| range.end()).into()),
]);

const fn blocked(row: &ThreadTableRow, by: WaitReason) -> Cell<'_> {
    Cell::Number(row.sums.times.blocked_ns[by as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::RowFormat;
    use analysis::timeline::thread_table::{ThreadEnd, ThreadSums};
    use eventlog::ids::{Nanos, ThreadId};

    #[test]
    fn each_column_has_a_name_of_its_own_and_a_description() {
        let heads = COLUMNS.heads();
        assert!(
            COLUMNS
                .names()
                .iter()
                .eq(heads.iter().map(|head| &head.name))
        );
        let names: std::collections::BTreeSet<&str> = COLUMNS.names().into();
        assert_eq!(names.len(), heads.len());
        assert!(heads.iter().all(|head| !head.help.is_empty()));
    }

    #[test]
    fn a_row_is_a_line_of_cells() {
        let row = |label: &str| ThreadTableRow {
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
