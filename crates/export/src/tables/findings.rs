//! Table `findings`: problems of the program.

use crate::format::Error;
use crate::log::Log;
use crate::rows::{Rows, json_name};
use crate::table::{Column, Table};
use insight::finding::Advice;
use session::cells::Cell;
use session::questions::FindingsQuery;

/// Problems of the program, one row per finding.
pub(super) const TABLE: Table = Table {
    name: "findings",
    help: "What is wrong with the program as far as the log tells, as `eventscope findings` has it with `--all`: a row for each finding, the gravest first, symptoms below their causes.",
    columns: &[
        Column::text("rule", "The name of the rule, which never changes"),
        Column::text(
            "subject",
            "Whom it is about, where one rule may find several things",
        ),
        Column::text(
            "axis",
            "What it costs: time, latency, memory, or nothing (log)",
        ),
        Column::text("severity", "high, medium, low or minor"),
        Column::text("confidence", "certain, probable or hint"),
        Column::ratio("cost", "What it costs by itself"),
        Column::text(
            "cost_unit",
            "ns, bytes, count, share (1 is all), times or per-second",
        ),
        Column::number(
            "claimed_ns",
            "Of time: what no finding before it claims, in nanoseconds of the program",
        ),
        Column::ratio("share", "The share of the time, or of the peak of the heap"),
        Column::text("title", "What is wrong, with the number"),
        Column::text("meaning", "What that means"),
        Column::text("tries", "What to try, a line for each"),
        Column::number("places", "In how many places it is seen"),
        Column::number("worst_from_ns", "Where the worst of them begins"),
        Column::number("worst_to_ns", "And where it ends"),
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
            worst.map(|range| range.start().0).into(),
            Cell::from(worst.map(|range| range.end().0)),
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
