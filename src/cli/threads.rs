//! `eventscope threads FILE`: lists threads with the time that they spent in each state.

use super::empty::no_threads;
use super::out::{escape_line, print_table};
use super::{Condition, Failure, ListArguments, Out, Table, print_message, report};
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableQuery, ThreadTableRow};
use analysis::yielder::{NoYield, block_on};
use model::format::{count, duration_ns};
use session::thread_export::COLUMNS;

/// Column titles on a terminal.
const HEADS: [&str; 7] = [
    "running",
    "ready",
    "blocked",
    "foreign call",
    "runs",
    "longest ready",
    "thread",
];

pub(super) fn run(arguments: &ListArguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.log.read(arguments.range)?;
    let mut printed = 0;
    if arguments.output.is_for_terminal() {
        let query = ThreadTableQuery {
            range,
            sort: ThreadColumn::Running,
            descending: true,
            rows: 0..arguments.limit.rows(),
            ..ThreadTableQuery::default()
        };
        let threads = session.ask(&query).unwrap_or_default();
        printed = threads.total;
        if printed > 0 {
            let rows = threads.rows.iter().map(|row| line(row).to_vec()).collect();
            print_table(out, &HEADS, rows, threads.total)?;
        }
    } else {
        let names = COLUMNS.names();
        let mut table = Table::begin(out, arguments.output, &names)?;
        let mut written = Ok(());
        let store = &session.recording().store;
        block_on(store.for_each_thread(range, &NoYield, |row| {
            printed += 1;
            if written.is_ok() {
                written = table.row(&COLUMNS.cells(row));
            }
        }));
        written?;
        table.end()?;
    }
    if printed == 0 {
        print_message(no_threads(&session.recording().info, range));
    }
    Ok(report(session.reader()))
}

/// Formats a row for a terminal.
fn line(row: &ThreadTableRow) -> [String; 7] {
    let times = &row.sums.times;
    let lasted = duration_ns;
    let label = row.label.as_deref().unwrap_or_default();
    [
        lasted(times.running_ns.saturating_add(times.open_ns)),
        lasted(times.ready_ns().saturating_add(times.runnable_during_gc_ns)),
        lasted(times.blocked_outside_calls_ns()),
        lasted(times.foreign_ns()),
        count(row.sums.runs),
        lasted(row.sums.longest_ready_ns),
        escape_line(&format!("{} {label}", row.id)),
    ]
}
