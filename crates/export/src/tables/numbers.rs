//! Table `numbers`: every metric of a log.

use crate::format::Error;
use crate::log::Log;
use crate::rows::{Rows, json_name};
use crate::table::{Column, Table};
use insight::measured::MeasuredValue;
use insight::metrics::{MetricContext, Unit};
use insight::{MeasuredMetric, RuleContext};
use model::time::Interval;

/// Every metric of a log, with one row per statistic.
pub(super) const TABLE: Table = Table {
    name: "numbers",
    help: "Every number of a log that has a name, as `eventscope metrics` has them. Of a number of which there are many, such as the pauses of collections, there is a row for each statistic.",
    columns: &[
        Column::text("name", "What it is called, such as gc.pause"),
        Column::text(
            "statistic",
            "Of many: count, or which of them, such as p99; else empty",
        ),
        Column::ratio("value", "The number; empty if the log does not tell"),
        Column::text("unit", "ns, bytes, count, share (1 is all) or per-second"),
        Column::number("from_ns", "Of one of many: when it begins"),
        Column::number("to_ns", "And when it ends"),
        Column::text("why_not", "Why the log does not tell"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let looked = MetricContext::new(RuleContext::new(log.session.recording(), log.range));
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
                range.map(|range| range.start().0).into(),
                range.map(|range| range.end().0).into(),
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
