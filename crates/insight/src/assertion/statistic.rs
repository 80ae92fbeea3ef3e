//! One number out of those of a metric.

use crate::amount::Amount;
use crate::metrics::{Metric, NoNumber, Numbers, Unit};

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
        Numbers::Many(all) => all.iter().sum(),
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
        (Some(Statistic::Sum), Numbers::Many(all)) => amount(all.iter().sum(), metric.unit),
        (Some(statistic), Numbers::Many(all)) => {
            let mut all = all.clone();
            all.sort_by(f64::total_cmp);
            let number = match statistic {
                Statistic::Max => all.last().copied(),
                Statistic::Min => all.first().copied(),
                Statistic::Percentile(part) => {
                    // So many of a hundred are not greater.
                    let place = (all.len() * usize::from(part)).div_ceil(100);
                    all.get(place.saturating_sub(1)).copied()
                }
                _ => (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64),
            };
            amount(number.ok_or_else(none)?, metric.unit)
        }
    }
}
