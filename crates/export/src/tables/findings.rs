//! Table `findings`: problems of the program.

use crate::format::Error;
use crate::log::Log;
use crate::rows::{Rows, json_name};
use crate::table::Table;
use insight::finding::Advice;
use session::cells::Column;
use session::queries::FindingsQuery;

/// Problems of the program, one row per finding.
pub(super) const TABLE: Table = Table {
    name: "findings",
    help: "One row per finding, as in `eventscope findings --all`: the most severe first, symptoms below their causes.",
    columns: &[
        Column::text("rule", "Name of the rule, which never changes"),
        Column::text(
            "subject",
            "What it is about, if the rule can find several things",
        ),
        Column::text(
            "axis",
            "What it affects: time, latency, memory, or only the log",
        ),
        Column::text("severity", "high, medium, low or minor"),
        Column::text("confidence", "certain, probable or hint"),
        Column::ratio("cost", "Cost, including what other findings claim"),
        Column::text(
            "cost_unit",
            "ns, bytes, count, share (1 is all), mean, times or per-second",
        ),
        Column::number(
            "claimed_ns",
            "Wall time that it claims and no finding above it; empty for other costs",
        ),
        Column::ratio(
            "share",
            "Cost as a share of the time, or of the peak of the heap",
        ),
        Column::text("title", "The problem in a sentence, with its number"),
        Column::text("meaning", "Explanation"),
        Column::text("tries", "Advice, one piece per line"),
        Column::number("places", "Number of places with evidence"),
        Column::number("worst_from_ns", "Start of the worst of them"),
        Column::number("worst_to_ns", "End of the worst of them"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let report = log.session.ask(&FindingsQuery(log.range));
    for finding in report.iter().flat_map(|report| &report.findings) {
        let tries: Vec<String> = finding.tries.iter().map(words).collect();
        let worst = finding.evidence.first().map(|place| place.range);
        rows.row(&[
            finding.rule.as_ref().into(),
            finding.subject.as_deref().into(),
            json_name(&finding.axis).into(),
            finding.severity.name().into(),
            finding.confidence.name().into(),
            finding.cost.size().into(),
            json_name(&finding.cost).into(),
            finding.claimed_ns.into(),
            finding.share.into(),
            finding.title.as_str().into(),
            finding.meaning.as_ref().into(),
            tries.join("\n").into(),
            finding.places.into(),
            worst.map(|range| range.start()).into(),
            worst.map(|range| range.end()).into(),
        ])?;
    }
    Ok(())
}

fn words(attempt: &Advice) -> String {
    match &attempt.flag {
        Some(flag) => format!("{flag}: {}", attempt.text),
        None => attempt.text.to_string(),
    }
}
