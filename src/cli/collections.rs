//! `eventscope collections FILE`: lists every garbage collection with its numbers.

use super::empty::no_collections;
use super::out::print_table;
use super::{Condition, Failure, ListArguments, Out, Table, print_message, report};
use analysis::numbers::Collection;
use analysis::numbers::collections_query::{CollectionColumn, CollectionsQuery};
use model::format::{NO_VALUE, bytes};
use session::collection_export::COLUMNS;
use views::words::collection::cells;

/// Column titles on a terminal.
const HEADS: [&str; 8] = [
    "pause",
    "start",
    "sync",
    "gen",
    "copied",
    "live",
    "heap size",
    "collection",
];

pub(super) fn run(arguments: &ListArguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.log.read(arguments.range)?;
    let is_for_terminal = arguments.output.is_for_terminal();
    let query = match is_for_terminal {
        true => CollectionsQuery {
            range,
            sort: CollectionColumn::Pause,
            descending: true,
            rows: 0..arguments.limit.rows(),
            ..CollectionsQuery::default()
        },
        false => CollectionsQuery {
            range,
            rows: 0..u64::MAX,
            ..CollectionsQuery::default()
        },
    };
    let found = session.ask(&query);
    if !is_for_terminal {
        let rows = found.rows.iter().map(|gc| COLUMNS.cells(gc));
        Table::print(out, arguments.output, &COLUMNS.names(), rows)?;
    } else if found.total > 0 {
        let rows = found.rows.iter().map(|gc| line(gc).to_vec()).collect();
        print_table(out, &HEADS, rows, found.total)?;
    }
    if found.total == 0 {
        print_message(no_collections(&session.recording().info, range));
    }
    Ok(report(session.reader()))
}

/// Formats a row for a terminal.
fn line(gc: &Collection) -> [String; 8] {
    let [_, start, generation, _, _, pause, sync, copied, _, live, _] = cells(gc);
    let size = gc.heap_size_bytes;
    let size = size.map_or_else(|| NO_VALUE.to_owned(), bytes);
    let which = format!("#{} on capability {}", gc.number, gc.cap);
    [pause, start, sync, generation, copied, live, size, which]
}
