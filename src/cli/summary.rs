//! `eventscope summary FILE`: prints the runtime's own report (`+RTS -s`), computed from the log.

use serde::Serialize;

use super::{Condition, Failure, LogRangeArguments, Out, report};
use analysis::account::costs::GcCosts;
use analysis::numbers::summary::Summary;
use model::time::Interval;
use session::queries::{GcCostsQuery, SummaryQuery};
use views::words::report::Report;

/// JSON document that the command prints.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    summary: Summary,
    /// Costs by generation.
    gc_costs: Vec<GcCosts>,
}

pub(super) fn run(arguments: &LogRangeArguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.read()?;
    let summary = session.ask(&SummaryQuery(range));
    if arguments.json {
        let gc_costs = session.ask(&GcCostsQuery(range)).unwrap_or_default();
        out.json(&Document { summary, gc_costs })?;
    } else {
        out.text(Report(&summary))?;
        for (what, at) in extremes(&summary) {
            let (from, to) = (at.start().0, at.end().0);
            out.text(format_args!("  {what}: --from {from} --to {to}\n"))?;
        }
    }
    Ok(report(session.reader()))
}

/// Returns the locations of the report's extremes: the collection after which they occurred, or the pause.
fn extremes(summary: &Summary) -> Vec<(String, Interval)> {
    let places = &summary.places;
    let named = [
        ("Maximum residency", places.max_residency),
        ("Maximum slop", places.max_slop),
        ("Most memory in use", places.max_heap_size),
    ];
    let named = named.into_iter().map(|(what, at)| (what.to_owned(), at));
    let pauses = summary.generations.iter();
    let pauses = pauses.map(|row| (format!("Max pause of gen {}", row.generation), row.longest));
    let all = named.chain(pauses);
    all.filter_map(|(what, at)| Some((what, at?))).collect()
}
