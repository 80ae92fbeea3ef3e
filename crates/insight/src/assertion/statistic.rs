//! One number out of those of a metric.

use crate::amount::Amount;
use crate::metrics::{Metric, NoNumber, Numbers, Seen, Unit};
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

    /// Which of all numbers it is: an extreme, or the one of that rank; of equal ones the first.
    pub(super) fn one_of(self, all: &[Seen]) -> Option<Seen> {
        let mut sorted = all.to_vec();
        // Stable: what comes first stays first.
        sorted.sort_small_by(|a, b| a.value.total_cmp(&b.value));
        let last = sorted.len().checked_sub(1)?;
        let place = match self {
            Self::Max => last,
            Self::Min => 0,
            // So many of a hundred are not greater.
            Self::Percentile(part) => {
                let place = (sorted.len() * usize::from(part)).div_ceil(100);
                place.saturating_sub(1)
            }
            _ => return None,
        };
        let value = sorted.get(place)?.value;
        sorted
            .into_iter()
            .find(|seen| seen.value.total_cmp(&value).is_eq())
    }
}

/// A statistic of the numbers of a metric in a time of so many nanoseconds.
pub(super) fn statistic_of(
    metric: &Metric,
    numbers: &Numbers,
    statistic: Option<Statistic>,
    length_ns: u64,
) -> Result<Amount, NoNumber> {
    let seconds = length_ns as f64 / 1e9;
    let amount = |number, unit| Ok(Amount { number, unit });
    let sum = |numbers: &Numbers| match numbers {
        Numbers::One(number) => *number,
        Numbers::Many(all) => all.iter().map(|seen| seen.value).sum(),
    };
    let none = || NoNumber::NoData(format!("there is nothing of {} there", metric.name));
    match (statistic, numbers) {
        (Some(Statistic::Share), _) if metric.unit == Unit::Ns => {
            amount(sum(numbers) / 1e9 / seconds, Unit::Share)
        }
        (Some(Statistic::Share), _) => Err(NoNumber::Usage(format!(
            "{} has no share: it is no time",
            metric.name
        ))),
        (Some(Statistic::Rate), _) => amount(sum(numbers) / seconds, Unit::PerSecond),
        (None | Some(Statistic::Sum), Numbers::One(number)) => amount(*number, metric.unit),
        (Some(_), Numbers::One(_)) => Err(NoNumber::Usage(format!(
            "{} is one number: it has no such statistic",
            metric.name
        ))),
        (None, Numbers::Many(_)) => Err(NoNumber::Usage(format!(
            "{} is many numbers: say which, such as {}.max or {}.p99",
            metric.name, metric.name, metric.name
        ))),
        (Some(Statistic::Count), Numbers::Many(all)) => amount(all.len() as f64, Unit::Count),
        (Some(Statistic::Sum), numbers) => amount(sum(numbers), metric.unit),
        (Some(Statistic::Mean), Numbers::Many(all)) => {
            let mean = (!all.is_empty()).then(|| sum(numbers) / all.len() as f64);
            amount(mean.ok_or_else(none)?, metric.unit)
        }
        (Some(statistic), Numbers::Many(all)) => {
            let seen = statistic.one_of(all).ok_or_else(none)?;
            amount(seen.value, metric.unit)
        }
    }
}
