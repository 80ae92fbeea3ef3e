//! Evaluation of assertions on two sides of runs.
//!
//! A plain number, such as `gc.pause.p99`, is the median of the runs after. `delta(m)` is its relative change.
//! `regress(m)` is the relative change for the worse at the near end of its confidence interval; 0 without a
//! difference or with an improvement. `same(m)` holds if there is no difference. With too few runs for a claim,
//! these three are inconclusive.

use super::{Claim, Comparison, Difference, Trend};
use crate::amount::Amount;
use crate::assertion::{Change, ValueRequest, ValueSource};
use crate::digest::NumberGroup;
use crate::metrics::{Direction, NumberError};

impl Comparison {
    fn requested_difference(&self, request: &ValueRequest) -> Result<&Difference, NumberError> {
        let is = |row: &&Difference| {
            row.key.group == NumberGroup::Asked && row.key.name == request.key()
        };
        let found = self.rows.iter().find(is);
        found.ok_or_else(|| self.no_data(request))
    }

    fn no_data(&self, request: &ValueRequest) -> NumberError {
        let mut why = self.no_data.iter();
        let why = why.find(|no_data| no_data.name == request.key());
        NumberError::NoData(why.map_or_else(
            || format!("no run has {}", request.text),
            |no_data| no_data.why.clone(),
        ))
    }

    /// Returns the difference if the runs support a conclusion.
    fn conclusive_difference(&self, request: &ValueRequest) -> Result<&Difference, NumberError> {
        let row = self.requested_difference(request)?;
        match row.claim {
            Claim::Changed | Claim::NoDifference => Ok(row),
            Claim::OnlyBefore | Claim::OnlyAfter => Err(self.no_data(request)),
            Claim::TooFewRuns => {
                let (before, after) = (row.before.values.len(), row.after.values.len());
                let needed = self.runs_needed();
                Err(NumberError::Inconclusive(match (before, after) {
                    (1, 1) => {
                        format!("one run each: no claim; {needed} per side are needed, better 10")
                    }
                    _ => format!(
                        "{before} and {after} runs are too few for a claim: {needed} per side are needed, better 10"
                    ),
                }))
            }
        }
    }
}

impl ValueSource for Comparison {
    fn value(&self, request: &ValueRequest) -> Result<Amount, NumberError> {
        let row = self.requested_difference(request)?;
        if row.after.values.is_empty() {
            return Err(self.no_data(request));
        }
        Ok(row.amount(row.after.median))
    }

    fn change(&self, change: Change, request: &ValueRequest) -> Result<f64, NumberError> {
        if change == Change::Regress && request.direction() == Direction::Neutral {
            return Err(NumberError::Usage(format!(
                "{} cannot get worse: neither more nor less of it is better",
                request.text
            )));
        }
        let row = self.conclusive_difference(request)?;
        Ok(match change {
            Change::Delta => row.share_more(row.ratio),
            Change::Regress => row.worse_at_least(),
        })
    }

    fn same(&self, request: &ValueRequest) -> Result<(bool, (Amount, Amount)), NumberError> {
        let row = self.conclusive_difference(request)?;
        let found = (row.amount(row.before.median), row.amount(row.after.median));
        Ok((row.claim != Claim::Changed, found))
    }
}

impl Difference {
    /// Attaches the unit to a number.
    pub const fn amount(&self, number: f64) -> Amount {
        Amount {
            number,
            unit: self.unit,
        }
    }

    /// Returns the relative change; infinite if the number was 0 before.
    fn share_more(&self, ratio: Option<f64>) -> f64 {
        match ratio {
            Some(ratio) => ratio - 1.0,
            None if self.change == 0.0 => 0.0,
            None if self.before.median > 0.0 => self.change / self.before.median,
            None => f64::INFINITY.copysign(self.change),
        }
    }

    fn worse_at_least(&self) -> f64 {
        if self.claim != Claim::Changed || self.trend != Trend::Worse {
            return 0.0;
        }
        let near = self.ratio_interval.map(|(low, high)| {
            if self.direction == Direction::Higher {
                high
            } else {
                low
            }
        });
        self.share_more(near.or(self.ratio)).abs()
    }
}
