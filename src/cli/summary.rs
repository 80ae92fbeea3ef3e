//! `eventscope summary FILE`: the runtime's own report, out of the log.

use serde::Serialize;

use super::{Condition, Failure, Out, Whole, report};
use analysis::account::costs::GcCosts;
use analysis::numbers::summary::Summary;
use views::session::questions::{GcCostsQuery, SummaryQuery};
use views::words::report::Report;

/// The JSON.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    summary: Summary,
    /// By generation.
    gc_costs: Vec<GcCosts>,
}

pub(super) fn run(arguments: &Whole, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.read()?;
    let summary = session.ask(&SummaryQuery(range));
    if arguments.json {
        let gc_costs = session.ask(&GcCostsQuery(range)).unwrap_or_default();
        out.json(&Document { summary, gc_costs })?;
    } else {
        out.text(Report(&summary))?;
    }
    Ok(report(session.reader()))
}
