//! `eventscope summary FILE`: the runtime's own report, out of the log.

use std::path::PathBuf;

use super::{Condition, Failure, Input, Out, Range, report};
use views::session::questions::SummaryQuery;
use views::words::report::Report;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The log
    file: PathBuf,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds, sizes in bytes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let range = arguments.range.span()?;
    let session = Input::open(&arguments.file)?.read_session()?;
    let summary = session.ask(&SummaryQuery(range));
    if arguments.json {
        out.json(&summary)?;
    } else {
        out.text(Report(&summary))?;
    }
    Ok(report(session.reader()))
}
