//! Analysis of one number in the runs of one program.

use super::changes::{Change, ChangePointSearch, LabelChange};
use super::effects::{CrossedLabel, Scale, fit_effects, without_effects};
use super::groups::{GroupDifference, different_values};
use super::outliers::{Outlier, outliers};
use super::{Fleet, LabelColumn, NumberColumn, RunIndex, TimeOrder};
use statistics::robust::median;

/// Runs of one program that have a number.
pub(super) struct Stratum<'a> {
    fleet: &'a Fleet,
    /// Value of the label `app`, if the fleet has several.
    app: Option<&'a str>,
    runs: Vec<RunIndex>,
    values: Vec<f64>,
    scale: Scale,
    /// Values on the scale.
    scaled: Vec<f64>,
    crossed: Vec<CrossedLabel>,
    /// Labels that may explain a change in time.
    temporal: Vec<&'a LabelColumn>,
}

/// Claims about a number.
#[derive(Debug, Default)]
pub(super) struct Claims {
    pub(super) changes: Vec<Change>,
    pub(super) differences: Vec<GroupDifference>,
    pub(super) outliers: Vec<Outlier>,
}

/// Minimum number of runs for claims.
const MIN_RUNS: usize = 8;
/// Number of runs next to a change whose labels are compared.
const NEAR: usize = 20;
/// Share of the runs near a change that have the label's value.
const NEARLY_ALL: f64 = 0.8;

impl<'a> Stratum<'a> {
    /// Selects the runs of a program, or all, that have the number; `None` with too few.
    pub(super) fn new(
        fleet: &'a Fleet,
        number: &NumberColumn,
        app: Option<(&'a LabelColumn, u32)>,
    ) -> Option<Self> {
        let is_of_app =
            |run: usize| app.is_none_or(|(label, value)| label.by_run[run] == Some(value));
        let has = |(run, value): &(usize, &f64)| value.is_finite() && is_of_app(*run);
        let chosen = number.values.iter().enumerate().filter(has);
        let (runs, values): (Vec<RunIndex>, Vec<f64>) =
            chosen.map(|(run, value)| (run as RunIndex, *value)).unzip();
        if runs.len() < MIN_RUNS {
            return None;
        }
        let has_time = fleet.order != TimeOrder::Name;
        let mut crossed: Vec<CrossedLabel> = Vec::new();
        let mut temporal = Vec::new();
        for (index, column) in fleet.labels.iter().enumerate() {
            if column.key == "app" {
                continue;
            }
            if has_time && column.key == "day" {
                temporal.push(column);
                continue;
            }
            let Some(label) = CrossedLabel::new(index, column, &runs) else {
                continue;
            };
            if has_time && label.is_temporal() {
                temporal.push(column);
            } else if !crossed
                .iter()
                .any(|known| known.determines(&label) || label.determines(known))
            {
                crossed.push(label);
            }
        }
        let scale = Scale::of(number, &values);
        Some(Self {
            fleet,
            app: app
                .and_then(|(label, value)| label.values.get(value as usize).map(String::as_str)),
            scaled: values.iter().map(|value| scale.forth(*value)).collect(),
            runs,
            values,
            scale,
            crossed,
            temporal,
        })
    }

    /// Makes all claims; each kind is wrong with a probability of at most `alpha`.
    pub(super) fn claims(mut self, alpha: f64) -> Claims {
        let (mut starts, mut drift) = (vec![(0, 1.0)], vec![0.0; self.runs.len()]);
        let without = |drift: &[f64], scaled: &[f64]| -> Vec<f64> {
            let values = scaled.iter().zip(drift);
            values.map(|(value, drift)| value - drift).collect()
        };
        // Effects of labels and changes in time are found without knowing each other first.
        for _ in 0..2 {
            fit_effects(&without(&drift, &self.scaled), &mut self.crossed);
            let level = without_effects(&self.scaled, &self.crossed, None);
            starts.truncate(1);
            if self.fleet.order != TimeOrder::Name {
                starts.extend(self.steps(&level, alpha));
            }
            drift = segment_medians(&level, &starts);
        }
        let rest = without(&drift, &self.scaled);
        Claims {
            changes: self.changes(&starts, &drift),
            differences: self.differences(&rest, alpha),
            outliers: self.outliers(&rest, alpha),
        }
    }

    fn steps(&self, level: &[f64], alpha: f64) -> Vec<(usize, f64)> {
        let value = |label: &LabelColumn, place: usize| label.by_run[self.runs[place] as usize];
        let is_boundary = |place: usize| {
            place > 0
                && self
                    .temporal
                    .iter()
                    .any(|label| value(label, place) != value(label, place - 1))
        };
        let boundaries: Vec<bool> = (0..self.runs.len()).map(is_boundary).collect();
        let day = self.temporal.iter().find(|label| label.key == "day");
        let block = |place: usize| match day {
            Some(day) => value(day, place).unwrap_or(0),
            None => place as u32,
        };
        let search = ChangePointSearch {
            values: level,
            is_boundary: &boundaries,
            blocks: &(0..self.runs.len()).map(block).collect::<Vec<u32>>(),
            alpha,
            min_size: self.scale.min_size,
        };
        let steps = search.steps().into_iter();
        steps.map(|step| (step.at, step.p)).collect()
    }

    fn changes(&self, starts: &[(usize, f64)], drift: &[f64]) -> Vec<Change> {
        let end = |index: usize| {
            starts
                .get(index)
                .map_or(self.runs.len(), |(start, _)| *start)
        };
        let change = |index: usize| {
            let ((from, _), (at, p), to) = (starts[index - 1], starts[index], end(index + 1));
            let size = drift[at] - drift[at - 1];
            let of = |range: std::ops::Range<usize>| median(self.values[range].iter().copied());
            Change {
                app: self.app.map(str::to_owned),
                before_run: self.runs[at - 1],
                after_run: self.runs[at],
                counts: (at - from, to - at),
                effect: self.scale.effect(of(from..at), of(at..to), size),
                p,
                labels: self.label_changes(from..at, at..to),
            }
        };
        (1..starts.len()).map(change).collect()
    }

    /// Returns the labels that nearly all runs shortly before and shortly after a change have with other values.
    fn label_changes(
        &self,
        before: std::ops::Range<usize>,
        after: std::ops::Range<usize>,
    ) -> Vec<LabelChange> {
        let before = before.end.saturating_sub(NEAR).max(before.start)..before.end;
        let after = after.start..after.end.min(after.start + NEAR);
        let common = |label: &LabelColumn, range: std::ops::Range<usize>| {
            let runs = &self.runs[range];
            let middle = runs.get(runs.len() / 2)?;
            let value = label.by_run[*middle as usize]?;
            let same = runs
                .iter()
                .filter(|run| label.by_run[**run as usize] == Some(value))
                .count();
            (same as f64 >= NEARLY_ALL * runs.len() as f64).then_some(value)
        };
        let changed = self.temporal.iter().filter_map(|label| {
            if label.key == "day" {
                // The days of both sides differ in any case: those next to the change are named.
                let day = |place: usize| label.value(self.runs[place] as usize);
                let (before, after) = (day(before.end - 1)?, day(after.start)?);
                return (before != after).then(|| label_change(label, before, after));
            }
            let (before, after) = (
                common(label, before.clone())?,
                common(label, after.clone())?,
            );
            let value = |value: u32| label.values[value as usize].as_str();
            (before != after).then(|| label_change(label, value(before), value(after)))
        });
        changed.collect()
    }

    fn differences(&self, rest: &[f64], alpha: f64) -> Vec<GroupDifference> {
        let mut all = Vec::new();
        for (index, label) in self.crossed.iter().enumerate() {
            let residuals = without_effects(rest, &self.crossed, Some(index));
            let alpha = alpha / self.crossed.len() as f64;
            let column = &self.fleet.labels[label.label];
            let different = different_values(&residuals, &label.by_run, alpha, self.scale.min_size);
            let set_aside: Vec<u32> = different.iter().map(|different| different.value).collect();
            for different in &different {
                let values = |is_own: bool| {
                    let values = self.values.iter().zip(&label.by_run);
                    let chosen = values.filter(|(_, value)| {
                        let is_it = **value == Some(different.value);
                        let is_other = value.is_some_and(|value| !set_aside.contains(&value));
                        if is_own { is_it } else { is_other }
                    });
                    chosen.map(|(number, _)| *number).collect::<Vec<f64>>()
                };
                let (own, others) = (values(true), values(false));
                all.push(GroupDifference {
                    app: self.app.map(str::to_owned),
                    key: column.key.clone(),
                    value: column.values[different.value as usize].clone(),
                    count: own.len(),
                    effect: self
                        .scale
                        .effect(median(others), median(own), different.size),
                    p: different.p,
                });
            }
        }
        all
    }

    fn outliers(&self, rest: &[f64], alpha: f64) -> Vec<Outlier> {
        let residuals = without_effects(rest, &self.crossed, None);
        let limits = (self.scale.min_size, self.scale.min_deviation);
        let far = outliers(&residuals, alpha, limits).into_iter();
        let outlier = far.map(|(place, distance, score)| Outlier {
            run: self.runs[place],
            effect: self.scale.effect(
                self.scale.back(self.scaled[place] - distance),
                self.values[place],
                distance,
            ),
            score,
        });
        outlier.collect()
    }
}

fn label_change(label: &LabelColumn, before: &str, after: &str) -> LabelChange {
    LabelChange {
        key: label.key.clone(),
        before: before.to_owned(),
        after: after.to_owned(),
    }
}

/// Returns the median of its segment for each value.
fn segment_medians(values: &[f64], starts: &[(usize, f64)]) -> Vec<f64> {
    let mut medians = Vec::with_capacity(values.len());
    for (index, (start, _)) in starts.iter().enumerate() {
        let end = starts
            .get(index + 1)
            .map_or(values.len(), |(next, _)| *next);
        let own = median(values[*start..end].iter().copied());
        medians.resize(end, own);
    }
    medians
}
