//! Table `threads`: one row per thread.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};
use analysis::yielder::{NoYield, block_on};
use session::thread_export::COLUMNS;

/// One row per thread.
pub(super) const TABLE: Table = Table {
    name: "threads",
    help: "A row for each thread, as `eventscope threads` has them: how it spent its time.",
    columns: &[
        Column::number("thread", "The number of the thread"),
        Column::text("label", "What it is called, if it is"),
        Column::number("created_ns", "When it was created"),
        Column::number("finished_ns", "When it finished"),
        Column::text("end", "What became of it"),
        Column::number("running_ns", "How long it ran"),
        Column::number(
            "running_at_end_ns",
            "Of that, in a run that the end of the log cut off",
        ),
        Column::number(
            "ready_in_collection_ns",
            "How long it could have run, but for a collection",
        ),
        Column::number(
            "ready_ns",
            "How long it could have run, but had no capability",
        ),
        Column::number(
            "ready_while_idle_ns",
            "Of that, while some capability was idle",
        ),
        Column::number("blocked_ns", "How long it was blocked, foreign calls apart"),
        Column::number("blocked_mvar_ns", "Of that, on an MVar"),
        Column::number(
            "blocked_black_hole_ns",
            "Of that, on a black hole: a value that another thread computes",
        ),
        Column::number("blocked_stm_ns", "Of that, in an STM retry"),
        Column::number("blocked_throw_to_ns", "Of that, in throwTo"),
        Column::number("foreign_call_ns", "How long it was in foreign calls"),
        Column::number(
            "blocked_sleep_ns",
            "Of blocked_ns, asleep: the runtime's timer ended the wait",
        ),
        Column::number(
            "blocked_io_ns",
            "Of blocked_ns, waiting for a file or socket: the runtime's I/O manager ended the wait",
        ),
        Column::number("blocked_other_ns", "Of blocked_ns, for other reasons"),
        Column::number("runs", "How often it ran"),
        Column::number("ready_waits", "How often it waited for a capability"),
        Column::number("longest_ready_ns", "The longest such wait"),
        Column::number("mean_ready_ns", "The mean of them"),
        Column::number("wakeups", "How often it was woken"),
        Column::number("migrations", "Number of moves to another capability"),
        Column::number(
            "unknown_ns",
            "Time of its life of which the log does not tell",
        ),
        Column::number(
            "longest_ready_from_ns",
            "When the longest wait for a capability begins",
        ),
        Column::number("longest_ready_to_ns", "When that ends"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let store = &log.session.recording().store;
    let mut written = Ok(());
    block_on(store.for_each_thread(log.range, &NoYield, |thread| {
        if written.is_ok() {
            written = rows.row(&COLUMNS.cells(thread));
        }
    }));
    written
}
