//! Sizes of differences, and medians of crossed labels.

use serde::Serialize;

use super::{LabelColumn, NumberColumn};
use crate::compare::Trend;
use crate::metrics::{Direction, Unit};
use statistics::robust::{median, sorted};

/// Difference between two values of a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Value before a change, or of comparable runs.
    pub from: f64,
    /// Value after a change, or of the runs in question.
    pub to: f64,
    /// Factor between them, adjusted for other effects; `None` for numbers that are compared by difference.
    pub ratio: Option<f64>,
    /// Difference, adjusted for other effects; `None` for numbers that are compared by ratio.
    pub difference: Option<f64>,
    /// Whether the second value is better.
    pub trend: Trend,
}

/// How values of a number are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    is_ratio: bool,
    /// Minimum difference that is worth a claim, on the scale.
    pub(super) min_size: f64,
    /// Minimum standard deviation to assume, on the scale: equal counts may differ by chance.
    pub(super) min_deviation: f64,
    direction: Direction,
}

impl Scale {
    /// Relative difference that is not worth a claim.
    const MIN_RATIO: f64 = 1.05;
    /// Difference of shares that is not worth a claim.
    const MIN_SHARE: f64 = 0.01;

    /// Chooses the scale of a number.
    pub(super) fn of(number: &NumberColumn, values: &[f64]) -> Self {
        let direction = number.direction;
        let typical = median(values.iter().map(|value| value.abs()));
        let is_positive = values.iter().all(|value| *value > 0.0);
        // Few things vary at least as in a Poisson process.
        let count_deviation = match number.unit {
            Unit::Count => typical.max(1.0).sqrt(),
            _ => 0.0,
        };
        if is_positive && number.unit != Unit::Share {
            let min_size = Self::MIN_RATIO.ln();
            return Self {
                is_ratio: true,
                min_size,
                min_deviation: (min_size / 5.0).max(count_deviation / typical),
                direction,
            };
        }
        let min_size = match number.unit {
            Unit::Share => Self::MIN_SHARE,
            Unit::Count => (typical * (Self::MIN_RATIO - 1.0)).max(0.5),
            _ => typical * (Self::MIN_RATIO - 1.0),
        };
        let max = values
            .iter()
            .fold(0.0_f64, |max, value| max.max(value.abs()));
        let min_size = min_size.max(max * 1e-6);
        Self {
            is_ratio: false,
            min_size,
            min_deviation: (min_size / 5.0).max(count_deviation),
            direction,
        }
    }

    /// Converts a value to the scale.
    pub(super) fn forth(&self, value: f64) -> f64 {
        if self.is_ratio { value.ln() } else { value }
    }

    /// Converts a value of the scale to the unit of the number.
    pub(super) fn back(&self, value: f64) -> f64 {
        if self.is_ratio { value.exp() } else { value }
    }

    /// Describes a difference `size` on the scale between two values.
    pub(super) fn effect(&self, from: f64, to: f64, size: f64) -> Effect {
        Effect {
            from,
            to,
            ratio: self.is_ratio.then(|| size.exp()),
            difference: (!self.is_ratio).then_some(size),
            trend: Trend::new(self.direction, size),
        }
    }
}

/// Minimum number of runs for a median of a label's value.
pub(super) const MIN_RUNS: usize = 5;
/// Number of rounds of the median polish.
const ROUNDS: usize = 3;

/// Crossed label of the runs of a stratum.
#[derive(Clone, Debug)]
pub(super) struct CrossedLabel {
    /// Index in [`Fleet::labels`](super::Fleet::labels).
    pub(super) label: usize,
    /// Value of each run of the stratum that has at least [`MIN_RUNS`].
    pub(super) by_run: Vec<Option<u32>>,
    /// Median effect by value.
    effects: Vec<f64>,
}

impl CrossedLabel {
    /// Returns the label of the runs; `None` if fewer than two values have enough runs.
    pub(super) fn new(label: usize, column: &LabelColumn, runs: &[u32]) -> Option<Self> {
        let mut counts = vec![0_usize; column.values.len()];
        let value = |run: &u32| column.by_run.get(*run as usize).copied().flatten();
        for value in runs.iter().filter_map(value) {
            counts[value as usize] += 1;
        }
        let is_enough = |value: &u32| counts[*value as usize] >= MIN_RUNS;
        (counts.iter().filter(|count| **count >= MIN_RUNS).count() >= 2).then(|| Self {
            label,
            by_run: runs
                .iter()
                .map(|run| value(run).filter(is_enough))
                .collect(),
            effects: vec![0.0; column.values.len()],
        })
    }

    /// Returns whether each value has its own time: the runs between its 5th and its 95th percentile are hardly
    /// more than its own.
    pub(super) fn is_temporal(&self) -> bool {
        let all_places = (0..self.by_run.len()).map(|place| place as f64);
        let places = by_value(all_places, &self.by_run, self.effects.len());
        let (mut sum, mut all) = (0.0, 0.0);
        for own in &places {
            let at = |share| statistics::robust::quantile(own, share);
            if !own.is_empty() {
                sum += own.len() as f64 * (at(0.95) - at(0.05)) / 0.9;
                all += own.len() as f64;
            }
        }
        sum < 0.75 * all * self.by_run.len() as f64
    }

    /// Returns whether a label has one value only for each value of this one.
    pub(super) fn determines(&self, other: &Self) -> bool {
        let mut known: Vec<Option<u32>> = vec![None; self.effects.len()];
        self.by_run
            .iter()
            .zip(&other.by_run)
            .all(|pair| match pair {
                (Some(own), Some(value)) => *known[*own as usize].get_or_insert(*value) == *value,
                _ => true,
            })
    }

    /// Returns the effect of the value of a run.
    pub(super) fn effect(&self, place: usize) -> f64 {
        self.by_run[place].map_or(0.0, |value| self.effects[value as usize])
    }

    fn fit(&mut self, rest: &[f64]) {
        let by_value = by_value(rest.iter().copied(), &self.by_run, self.effects.len());
        let medians = by_value.into_iter().map(sorted);
        let medians: Vec<Option<f64>> = medians
            .map(|own| (!own.is_empty()).then(|| statistics::robust::quantile(&own, 0.5)))
            .collect();
        let middle = median(medians.iter().copied().flatten());
        self.effects = medians
            .into_iter()
            .map(|own| own.map_or(0.0, |own| own - middle))
            .collect();
    }
}

/// Groups the numbers of runs by the value of a label in the run, of which there are `values`.
pub(super) fn by_value(
    numbers: impl Iterator<Item = f64>,
    by_run: &[Option<u32>],
    values: usize,
) -> Vec<Vec<f64>> {
    let mut by_value = vec![Vec::new(); values];
    for (number, value) in numbers.zip(by_run) {
        if let Some(value) = value {
            by_value[*value as usize].push(number);
        }
    }
    by_value
}

/// Returns what remains of values without the effects of labels, except for that of the label at `kept`.
pub(super) fn without_effects(
    values: &[f64],
    labels: &[CrossedLabel],
    kept: Option<usize>,
) -> Vec<f64> {
    let others = labels
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != kept);
    let others: Vec<&CrossedLabel> = others.map(|(_, label)| label).collect();
    let rest = |(place, value): (usize, &f64)| {
        value - others.iter().map(|label| label.effect(place)).sum::<f64>()
    };
    values.iter().enumerate().map(rest).collect()
}

/// Fits the effects of labels by median polish.
pub(super) fn fit_effects(values: &[f64], labels: &mut [CrossedLabel]) {
    let rounds = if labels.len() > 1 { ROUNDS } else { 1 };
    for _ in 0..rounds {
        for index in 0..labels.len() {
            let rest = without_effects(values, labels, Some(index));
            labels[index].fit(&rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(by_run: &[u32]) -> LabelColumn {
        let count = by_run.iter().max().map_or(0, |most| most + 1);
        LabelColumn {
            key: "x".to_owned(),
            values: (0..count).map(|value| value.to_string()).collect(),
            by_run: by_run.iter().copied().map(Some).collect(),
        }
    }

    fn label(by_run: &[u32]) -> CrossedLabel {
        let runs: Vec<u32> = (0..by_run.len() as u32).collect();
        CrossedLabel::new(0, &column(by_run), &runs).expect("two values")
    }

    #[test]
    fn versions_have_their_time_and_hosts_do_not() {
        let hosts: Vec<u32> = (0..60).map(|run| run * 7 % 4).collect();
        let versions: Vec<u32> = (0..60).map(|run| run / 30).collect();
        assert!(!label(&hosts).is_temporal());
        assert!(label(&versions).is_temporal());
        let racks: Vec<u32> = hosts.iter().map(|host| host / 2).collect();
        assert!(label(&hosts).determines(&label(&racks)));
        assert!(!label(&racks).determines(&label(&hosts)));
    }

    #[test]
    fn effects_of_two_labels_are_separated() {
        let hosts: Vec<u32> = (0..90).map(|run| run % 3).collect();
        let kinds: Vec<u32> = (0..90).map(|run| run / 3 % 2).collect();
        let values: Vec<f64> = (0..90)
            .map(|run| 5.0 + [0.0, 0.0, 2.0][run % 3] + [0.0, 1.0][run / 3 % 2])
            .collect();
        let mut labels = [label(&hosts), label(&kinds)];
        fit_effects(&values, &mut labels);
        assert!(
            (labels[0].effects[2] - labels[0].effects[0] - 2.0).abs() < 1e-9,
            "{labels:?}"
        );
        assert!((labels[1].effects[1] - labels[1].effects[0] - 1.0).abs() < 1e-9);
        let rest = without_effects(&values, &labels, None);
        assert!(rest.iter().all(|own| (own - rest[0]).abs() < 1e-9));
    }
}
