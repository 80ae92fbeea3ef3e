//! Assertions about several runs together.

use eventlog::hash::SeededMap;

use super::{Assertion, ValueRequest, ValueSource};
use crate::amount::Amount;
use crate::metrics::{MetricContext, NumberError};
use statistics::shift::median;

/// Statistic over the values of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunAggregate {
    /// Median of the runs.
    Median,
    /// Minimum of the runs.
    Min,
    /// Maximum of the runs.
    Max,
}

/// Values of several runs.
#[derive(Clone, Debug)]
pub struct RunValues {
    across: RunAggregate,
    /// Values or first error, by source text of the request.
    values: SeededMap<String, Result<Vec<Amount>, NumberError>>,
}

impl RunValues {
    /// Creates a collection without runs.
    pub fn new(across: RunAggregate) -> Self {
        Self {
            across,
            values: SeededMap::default(),
        }
    }

    /// Adds the values of a run that the assertions use.
    pub fn add(&mut self, assertions: &[Assertion], metrics: &MetricContext<'_>) {
        let requests = assertions.iter().flat_map(Assertion::requests);
        let requests: SeededMap<&str, &ValueRequest> =
            requests.map(|one| (one.text.as_str(), one)).collect();
        for (text, request) in requests {
            let known = self.values.entry(text.to_owned()).or_insert(Ok(Vec::new()));
            if let Ok(values) = known {
                match request.evaluate(metrics) {
                    Ok(amount) => values.push(amount),
                    Err(why) => *known = Err(why),
                }
            }
        }
    }
}

impl ValueSource for RunValues {
    fn value(&self, request: &ValueRequest) -> Result<Amount, NumberError> {
        let none = || NumberError::NoData("there is no run".to_owned());
        let values = self.values.get(&request.text).ok_or_else(none)?;
        let amounts = values.as_ref().map_err(Clone::clone)?;
        let unit = amounts.first().ok_or_else(none)?.unit;
        let numbers: Vec<f64> = amounts.iter().map(|amount| amount.number).collect();
        let number = match self.across {
            RunAggregate::Median => median(&numbers).ok_or_else(none)?,
            RunAggregate::Min => numbers.into_iter().fold(f64::INFINITY, f64::min),
            RunAggregate::Max => numbers.into_iter().fold(f64::NEG_INFINITY, f64::max),
        };
        Ok(Amount { number, unit })
    }
}
