//! What every metric says of a log, as scripts get it: the command line as JSON, the package for
//! JavaScript as objects.

use std::collections::BTreeMap;

use serde::Serialize;

use model::time::{Interval, range_ns};

use crate::assertion::ranks;
use crate::metrics::{Labels, METRICS, Metric, MetricContext, NoNumber, Numbers, Seen};

/// A metric, and what it is in a log.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Which.
    #[serde(flatten)]
    pub metric: Metric,
    /// Of which part of the log.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// What it is.
    #[serde(flatten)]
    pub found: Found,
}

/// What a metric is in a log.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub enum Found {
    /// One number.
    One {
        /// The number.
        value: f64,
    },
    /// As many as there were.
    Many {
        /// Each of them, by time.
        values: Vec<f64>,
        /// Some of them by their rank, such as `max`, with where they are to be seen.
        ranks: BTreeMap<&'static str, Seen>,
    },
    /// None.
    None {
        /// Why, and which flag of the runtime helps.
        no_data: String,
    },
}

impl Measured {
    /// Every metric of a part of a log.
    #[must_use]
    pub fn all(looked: &MetricContext<'_>) -> Vec<Self> {
        let measured = |metric: &Metric| Self {
            metric: *metric,
            range: metric.range(looked),
            found: Found::of(metric.read(looked, &Labels::new())),
        };
        METRICS.iter().map(measured).collect()
    }
}

impl Found {
    fn of(numbers: Result<Numbers, NoNumber>) -> Self {
        match numbers {
            Ok(Numbers::One(value)) => Self::One { value },
            Ok(Numbers::Many(all)) => Self::Many {
                values: all.iter().map(|seen| seen.value).collect(),
                ranks: ranks(&all).into_iter().collect(),
            },
            Err(
                NoNumber::NoData(no_data)
                | NoNumber::Inconclusive(no_data)
                | NoNumber::Usage(no_data),
            ) => Self::None { no_data },
        }
    }
}
