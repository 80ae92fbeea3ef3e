//! Values of all metrics of a log for scripts: JSON on the command line, objects in the JavaScript package.

use std::collections::BTreeMap;

use serde::Serialize;

use model::time::{Interval, range_ns};

use crate::assertion::ranks;
use crate::metrics::{Labels, LocatedNumber, METRICS, Metric, MetricContext, NumberError, Numbers};
use model::sorting::CompactCollect;

/// Metric with its value in a log.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredMetric {
    /// Metric with its help and unit.
    #[serde(flatten)]
    pub metric: Metric,
    /// Range of the log that the value covers.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// Its value.
    #[serde(flatten)]
    pub found: MeasuredValue,
}

/// Value of a metric in a log.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub enum MeasuredValue {
    /// Single number.
    One {
        /// The number, in the unit of the metric.
        value: f64,
    },
    /// Many numbers, one for each occurrence.
    Many {
        /// All numbers, in order of time.
        values: Vec<f64>,
        /// Selected ranks such as `max`, each with its position in the log.
        ranks: BTreeMap<&'static str, LocatedNumber>,
    },
    /// No number.
    None {
        /// Reason, with the runtime flag that would help.
        no_data: String,
    },
}

impl MeasuredMetric {
    /// Evaluates every metric.
    pub fn evaluate_all(metrics: &MetricContext<'_>) -> Vec<Self> {
        let measured = |metric: &Metric| Self {
            metric: *metric,
            range: metric.range(metrics),
            found: MeasuredValue::from_result(metric.evaluate(metrics, &Labels::new())),
        };
        METRICS.iter().map(measured).collect()
    }
}

impl MeasuredValue {
    fn from_result(numbers: Result<Numbers, NumberError>) -> Self {
        match numbers {
            Ok(Numbers::One(value)) => Self::One { value },
            Ok(Numbers::Many(all)) => Self::Many {
                values: all.iter().map(|seen| seen.value).collect(),
                ranks: ranks(&all).into_iter().collect_small(),
            },
            Err(
                NumberError::NoData(no_data)
                | NumberError::Inconclusive(no_data)
                | NumberError::Usage(no_data),
            ) => Self::None { no_data },
        }
    }
}
