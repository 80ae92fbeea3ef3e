//! Assertions about several runs together.

use eventlog::hash::SeededMap;

use super::{Asked, Assertion, Values};
use crate::amount::Amount;
use crate::compare::shift::median;
use crate::metrics::{MetricContext, NoNumber};

/// Which number stands for those of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// The median.
    Median,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// The numbers of several runs.
#[derive(Clone, Debug)]
pub struct Runs {
    across: Across,
    /// What was asked, by its words.
    values: SeededMap<String, Result<Vec<Amount>, NoNumber>>,
}

impl Runs {
    /// None yet.
    #[must_use]
    pub fn new(across: Across) -> Self {
        Self {
            across,
            values: SeededMap::default(),
        }
    }

    /// Adds a run: what assertions ask of it.
    pub fn add(&mut self, assertions: &[Assertion], looked: &MetricContext<'_>) {
        let asked = assertions.iter().flat_map(Assertion::asked);
        let asked: SeededMap<&str, &Asked> = asked.map(|one| (one.text.as_str(), one)).collect();
        for (text, asked) in asked {
            let known = self.values.entry(text.to_owned()).or_insert(Ok(Vec::new()));
            if let Ok(values) = known {
                match asked.read(looked) {
                    Ok(amount) => values.push(amount),
                    Err(why) => *known = Err(why),
                }
            }
        }
    }
}

impl Values for Runs {
    fn value(&self, asked: &Asked) -> Result<Amount, NoNumber> {
        let none = || NoNumber::NoData("there is no run".to_owned());
        let values = self.values.get(&asked.text).ok_or_else(none)?;
        let amounts = values.as_ref().map_err(Clone::clone)?;
        let unit = amounts.first().ok_or_else(none)?.unit;
        let numbers: Vec<f64> = amounts.iter().map(|amount| amount.number).collect();
        let number = match self.across {
            Across::Median => median(&numbers).ok_or_else(none)?,
            Across::Min => numbers.into_iter().fold(f64::INFINITY, f64::min),
            Across::Max => numbers.into_iter().fold(f64::NEG_INFINITY, f64::max),
        };
        Ok(Amount { number, unit })
    }
}
