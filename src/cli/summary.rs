//! `eventscope summary FILE`: the runtime's own report, out of the log.

use serde::Serialize;

use super::{Condition, Failure, LogFile, Out, Range, report};
use analysis::account::costs::GcCosts;
use analysis::numbers::summary::Summary;
use views::session::questions::{GcCostsQuery, SummaryQuery};
use views::words::report::Report;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds, sizes in bytes
    #[arg(long)]
    json: bool,
}

/// The JSON.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    summary: Summary,
    /// By generation.
    gc_costs: Vec<GcCosts>,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let range = arguments.range.span()?;
    let session = arguments.log.open()?.read_session()?;
    let summary = session.ask(&SummaryQuery(range));
    if arguments.json {
        let gc_costs = session.ask(&GcCostsQuery(range)).unwrap_or_default();
        out.json(&Document { summary, gc_costs })?;
    } else {
        out.text(Report(&summary))?;
    }
    Ok(report(session.reader()))
}
