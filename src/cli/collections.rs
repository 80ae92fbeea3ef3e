//! `eventscope collections FILE`: lists every garbage collection with its numbers.

use super::empty::no_collections;
use super::out::print_table;
use super::{Condition, Failure, ListArguments, Out, Table, print_message, report};
use analysis::numbers::Collection;
use analysis::numbers::collections_query::{CollectionColumn, CollectionsQuery};
use model::format::{NO_VALUE, bytes, duration_ns, time};
use session::collection_export::COLUMNS;

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
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| NO_VALUE.to_owned());
    [
        duration_ns(gc.pause_ns()),
        time(gc.start),
        or_dash(gc.sync_ns.map(duration_ns)),
        or_dash(gc.generation.map(|generation| generation.to_string())),
        or_dash(gc.generation.map(|_| bytes(gc.copied_bytes))),
        or_dash(gc.live_bytes.map(bytes)),
        or_dash(gc.heap_size_bytes.map(bytes)),
        format!("#{} on capability {}", gc.number, gc.cap),
    ]
}
