//! `eventscope collections FILE`: every collection with its numbers.

use super::{Condition, Failure, LogFile, Out, Output, Range, Table, report};
use analysis::numbers::collections_query::CollectionsQuery;
use session::collection_export::{cells, names};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let query = CollectionsQuery {
        range: arguments.range.span()?,
        rows: 0..u64::MAX,
        ..CollectionsQuery::default()
    };
    let session = arguments.log.open()?.read_session()?;
    let found = session.ask(&query);
    let names = names();
    let mut table = Table::begin(out, arguments.output, &names)?;
    for gc in &found.rows {
        table.row(&cells(gc))?;
    }
    table.end()?;
    Ok(report(session.reader()))
}
