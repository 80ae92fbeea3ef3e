//! Table `numbers`: every metric of a log.

use crate::format::Error;
use crate::log::Log;
use crate::rows::{Rows, json_name};
use crate::table::Table;
use insight::measured::MeasuredValue;
use insight::metrics::{MetricContext, Unit};
use insight::{MeasuredMetric, RuleContext};
use model::time::Interval;
use session::cells::Column;
use session::queries::FindingsQuery;

/// Every metric of a log, with one row per statistic.
pub(super) const TABLE: Table = Table {
    name: "numbers",
    help: "One row per metric, as in `eventscope metrics`. A metric with many values, such as the pauses of collections, has a row for each statistic.",
    columns: &[
        Column::text("name", "Name of the metric, such as gc.pause"),
        Column::text(
            "statistic",
            "Statistic of a metric with many values: count, or a rank such as p99; else empty",
        ),
        Column::ratio("value", "Value; empty if the log does not have it"),
        Column::text("unit", "ns, bytes, count, share (1 is all) or per-second"),
        Column::number(
            "from_ns",
            "For a rank: start of the interval with that value",
        ),
        Column::number("to_ns", "For a rank: end of that interval"),
        Column::text(
            "why_not",
            "Reason for which the log does not have the value",
        ),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let findings = log.session.ask(&FindingsQuery(log.range));
    let context = RuleContext::new(log.session.recording(), log.range);
    let looked = MetricContext::new(context).with_report(findings);
    for MeasuredMetric { metric, found, .. } in MeasuredMetric::evaluate_all(&looked) {
        let mut row = |statistic: Option<&'static str>,
                       value: Option<f64>,
                       unit: Unit,
                       range: Option<Interval>,
                       why_not: Option<&str>| {
            rows.row(&[
                metric.name.into(),
                statistic.into(),
                value.into(),
                json_name(&unit).into(),
                range.map(|range| range.start()).into(),
                range.map(|range| range.end()).into(),
                why_not.into(),
            ])
        };
        match &found {
            MeasuredValue::One { value } => row(None, Some(*value), metric.unit, None, None)?,
            MeasuredValue::Many { values, ranks } => {
                let count = values.len() as f64;
                row(Some("count"), Some(count), Unit::Count, None, None)?;
                for (rank, seen) in ranks {
                    let range = Some(seen.range);
                    row(Some(rank), Some(seen.value), metric.unit, range, None)?;
                }
            }
            MeasuredValue::None { no_data } => row(None, None, metric.unit, None, Some(no_data))?,
        }
    }
    Ok(())
}
