//! Statistics that reduce a metric to one number.

use crate::amount::Amount;
use crate::metrics::{LocatedNumber, Metric, NumberError, Numbers, Unit};
use model::sorting::CompactSort;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Sum,
    Count,
    Max,
    Min,
    Mean,
    Percentile(u8),
    Share,
    Rate,
}

impl Statistic {
    pub(super) const ALL: [(&'static str, Self); 10] = [
        ("sum", Self::Sum),
        ("count", Self::Count),
        ("max", Self::Max),
        ("min", Self::Min),
        ("mean", Self::Mean),
        ("p50", Self::Percentile(50)),
        ("p90", Self::Percentile(90)),
        ("p99", Self::Percentile(99)),
        ("share", Self::Share),
        ("rate", Self::Rate),
    ];

    /// Returns the number that the statistic selects: an extreme or a percentile; the first one among equals.
    pub(super) fn select(self, all: &[LocatedNumber]) -> Option<LocatedNumber> {
        let mut sorted = all.to_vec();
        // The sort is stable, so the first one among equals stays first.
        sorted.sort_small_by(|a, b| a.value.total_cmp(&b.value));
        let last = sorted.len().checked_sub(1)?;
        let index = match self {
            Self::Max => last,
            Self::Min => 0,
            // Nearest rank: `part` percent of the numbers are at most this one.
            Self::Percentile(part) => {
                let index = (sorted.len() * usize::from(part)).div_ceil(100);
                index.saturating_sub(1)
            }
            _ => return None,
        };
        let value = sorted.get(index)?.value;
        sorted
            .into_iter()
            .find(|seen| seen.value.total_cmp(&value).is_eq())
    }
}

/// Returns a statistic of a metric over a time of `length_ns` nanoseconds.
pub(super) fn statistic_of(
    metric: &Metric,
    numbers: &Numbers,
    statistic: Option<Statistic>,
    length_ns: u64,
) -> Result<Amount, NumberError> {
    let seconds = length_ns as f64 / 1e9;
    let amount = |number, unit| Ok(Amount { number, unit });
    let sum = |numbers: &Numbers| match numbers {
        Numbers::One(number) => *number,
        Numbers::Many(all) => all.iter().map(|seen| seen.value).sum(),
    };
    let none = || NumberError::NoData(format!("no data for {} in this range", metric.name));
    match (statistic, numbers) {
        (Some(Statistic::Share), _) if metric.unit == Unit::Ns => {
            amount(sum(numbers) / 1e9 / seconds, Unit::Share)
        }
        (Some(Statistic::Share), _) => Err(NumberError::Usage(format!(
            "{} has no share: it is not a time",
            metric.name
        ))),
        (Some(Statistic::Rate), _) => amount(sum(numbers) / seconds, Unit::PerSecond),
        (None | Some(Statistic::Sum), Numbers::One(number)) => amount(*number, metric.unit),
        (Some(_), Numbers::One(_)) => Err(NumberError::Usage(format!(
            "{} is a single value: it has no such statistic",
            metric.name
        ))),
        (None, Numbers::Many(_)) => Err(NumberError::Usage(format!(
            "{} has many values: choose a statistic, such as {}.max or {}.p99",
            metric.name, metric.name, metric.name
        ))),
        (Some(Statistic::Count), Numbers::Many(all)) => amount(all.len() as f64, Unit::Count),
        (Some(Statistic::Sum), numbers) => amount(sum(numbers), metric.unit),
        (Some(Statistic::Mean), Numbers::Many(all)) => {
            let mean = (!all.is_empty()).then(|| sum(numbers) / all.len() as f64);
            amount(mean.ok_or_else(none)?, metric.unit)
        }
        (Some(statistic), Numbers::Many(all)) => {
            let seen = statistic.select(all).ok_or_else(none)?;
            amount(seen.value, metric.unit)
        }
    }
}
