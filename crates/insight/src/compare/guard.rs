//! Assertions about two sides of runs.
//!
//! A plain number, such as `gc.pause.p99`, is the median of the runs after. `delta(m)` is by
//! which share it is more than before. `regress(m)` is by which share it is worse at least:
//! the near end of its interval, 0 if no difference is seen or if it is better. `same(m)`
//! holds if no difference is seen. Where there are too few runs for a claim, these three tell
//! nothing.

use super::{Claim, Comparison, Difference, Trend};
use crate::amount::Amount;
use crate::assertion::{Asked, Change, Values};
use crate::digest::Group;
use crate::metrics::{Direction, NoNumber};

impl Comparison {
    fn asked(&self, asked: &Asked) -> Result<&Difference, NoNumber> {
        let is = |row: &&Difference| row.key.group == Group::Asked && row.key.name == asked.key();
        let found = self.rows.iter().find(is);
        found.ok_or_else(|| self.no_data(asked))
    }

    fn no_data(&self, asked: &Asked) -> NoNumber {
        let mut why = self.no_data.iter();
        let why = why.find(|no_data| no_data.name == asked.key());
        NoNumber::NoData(why.map_or_else(
            || format!("no run has {}", asked.text),
            |no_data| no_data.why.clone(),
        ))
    }

    /// The difference, if something can be claimed of it.
    fn claimed(&self, asked: &Asked) -> Result<&Difference, NoNumber> {
        let row = self.asked(asked)?;
        match row.claim {
            Claim::Changed | Claim::NoDifference => Ok(row),
            Claim::OnlyBefore | Claim::OnlyAfter => Err(self.no_data(asked)),
            Claim::TooFewRuns => {
                let (before, after) = (row.before.values.len(), row.after.values.len());
                let needed = self.runs_needed();
                Err(NoNumber::Inconclusive(match (before, after) {
                    (1, 1) => {
                        format!("one run each: no claim; {needed} a side are needed, better 10")
                    }
                    _ => format!(
                        "{before} and {after} runs are too few for a claim: {needed} a side are needed, better 10"
                    ),
                }))
            }
        }
    }
}

impl Values for Comparison {
    fn value(&self, asked: &Asked) -> Result<Amount, NoNumber> {
        let row = self.asked(asked)?;
        if row.after.values.is_empty() {
            return Err(self.no_data(asked));
        }
        Ok(row.amount(row.after.median))
    }

    fn change(&self, change: Change, asked: &Asked) -> Result<f64, NoNumber> {
        if change == Change::Regress && asked.direction() == Direction::Neutral {
            return Err(NoNumber::Usage(format!(
                "{} can be no worse: neither more nor less of it is better",
                asked.text
            )));
        }
        let row = self.claimed(asked)?;
        Ok(match change {
            Change::Delta => row.share_more(row.ratio),
            Change::Regress => row.worse_at_least(),
        })
    }

    fn same(&self, asked: &Asked) -> Result<(bool, (Amount, Amount)), NoNumber> {
        let row = self.claimed(asked)?;
        let found = (row.amount(row.before.median), row.amount(row.after.median));
        Ok((row.claim != Claim::Changed, found))
    }
}

impl Difference {
    /// A number in its unit.
    #[must_use]
    pub const fn amount(&self, number: f64) -> Amount {
        Amount {
            number,
            unit: self.unit,
        }
    }

    /// By which share it is more than before; of nothing before anything is without end more.
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
