//! `eventscope threads FILE`.

use super::{Condition, Failure, LogFile, Out, Output, Range, Table, report};
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableQuery};
use session::thread_export::{cells, names};

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
    let query = ThreadTableQuery {
        range: arguments.range.span()?,
        sort: ThreadColumn::Thread,
        rows: 0..u64::MAX,
        ..ThreadTableQuery::default()
    };
    let session = arguments.log.open()?.read_session()?;
    let threads = session.ask(&query).unwrap_or_default();
    let names = names();
    let mut table = Table::begin(out, arguments.output, &names)?;
    for thread in &threads.rows {
        table.row(&cells(thread))?;
    }
    table.end()?;
    Ok(report(session.reader()))
}
