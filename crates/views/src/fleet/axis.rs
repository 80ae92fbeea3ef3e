//! Axes of charts whose width is not known: horizontal positions are shares of the width.

use insight::fleet::{Fleet, Histogram, TimeOrder};
use insight::metrics::Unit;

/// Range of values on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Domain {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_logarithmic: bool,
}

impl Domain {
    /// Returns the range that a histogram covers.
    pub(super) fn of(histogram: &Histogram) -> Self {
        let ends = histogram.bounds.first().zip(histogram.bounds.last());
        let (low, high) = ends.map_or((0.0, 1.0), |(low, high)| (*low, *high));
        Self::new(low, high, histogram.is_logarithmic)
    }

    /// Creates a range; it begins at 0 if that is near.
    pub(super) fn new(low: f64, high: f64, is_logarithmic: bool) -> Self {
        let is_near_zero = !is_logarithmic && low > 0.0 && low < 0.4 * high;
        Self {
            low: if is_near_zero { 0.0 } else { low },
            high: if high > low { high } else { low + 1.0 },
            is_logarithmic,
        }
    }

    /// Returns the position of a value, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let map = |value: f64| {
            if self.is_logarithmic {
                value.max(f64::MIN_POSITIVE).ln()
            } else {
                value
            }
        };
        let (low, high) = (map(self.low), map(self.high));
        ((map(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Returns whether a value is on the axis.
    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns round values on the axis, about `count` of them.
    pub(super) fn ticks(&self, unit: Unit, count: usize) -> Vec<f64> {
        let base = match unit {
            Unit::Bytes if self.high >= 1024.0 => 1024_f64.powf((self.high.log2() / 10.0).floor()),
            _ => 1.0,
        };
        let (low, high) = (self.low / base, self.high / base);
        let ticks = if self.is_logarithmic {
            logarithmic_ticks(low, high, count)
        } else {
            linear_ticks(low, high, count)
        };
        ticks
            .into_iter()
            .map(|tick| tick * base)
            .filter(|tick| self.contains(*tick))
            .collect()
    }
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps
        .into_iter()
        .find(|step| *step >= rough * 0.99)
        .unwrap_or(rough);
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    // Adding small steps to a large number may stand still.
    let all = (last - first).clamp(-1.0, 4.0 * count as f64) as i64;
    (0..=all)
        .map(|index| (first + index as f64) * step)
        .collect()
}

fn logarithmic_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let decades = (high / low).log10();
    let factors: &[f64] = if decades * 3.0 <= count as f64 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let every = (decades / count.max(1) as f64).ceil().max(1.0) as usize;
    let powers = (low.log10().floor() as i32..=high.log10().ceil() as i32).step_by(every);
    powers
        .flat_map(|power| {
            factors
                .iter()
                .map(move |factor| factor * 10_f64.powi(power))
        })
        .collect()
}

/// Returns the position of a run in the order of time, from 0 to 1.
pub(super) fn run_share(fleet: &Fleet, run: usize) -> f64 {
    (run as f64 + 0.5) / fleet.runs.len().max(1) as f64
}

/// Returns positions and texts for the axis of runs: first runs of days, or numbers of runs.
pub(super) fn run_ticks(fleet: &Fleet, most: usize) -> Vec<(f64, String)> {
    let all = fleet.runs.len().max(1) as f64;
    let day = fleet
        .label("day")
        .filter(|_| fleet.order != TimeOrder::Name);
    let Some(day) = day else {
        let domain = Domain {
            low: 1.0,
            high: all.max(2.0),
            is_logarithmic: false,
        };
        let ticks = domain.ticks(Unit::Count, most).into_iter();
        return ticks
            .filter(|tick| tick.fract() == 0.0)
            .map(|tick| ((tick - 0.5) / all, format!("run {tick}")))
            .collect();
    };
    let mut last = None;
    let starts = (0..fleet.runs.len()).filter_map(|run| {
        let own = day.value(run)?;
        (last.replace(own) != Some(own)).then_some((run, own))
    });
    let starts: Vec<(usize, &str)> = starts.collect();
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for (run, text) in starts {
        let share = run as f64 / all;
        let is_far = ticks
            .last()
            .is_none_or(|(last, _)| share - last >= 1.0 / most as f64);
        if is_far && share <= 1.0 - 0.6 / most as f64 {
            ticks.push((share, text.to_owned()));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let linear = Domain::new(9.2, 14.9, false);
        assert_eq!(linear.ticks(Unit::Count, 4), [10.0, 12.0, 14.0]);
        assert_eq!(Domain::new(3.0, 14.9, false).low, 0.0);
        let wide = Domain::new(3e3, 4e6, true);
        assert_eq!(wide.ticks(Unit::Ns, 4), [1e4, 1e5, 1e6]);
        let mib = 1024.0 * 1024.0;
        assert_eq!(
            Domain::new(45.0 * mib, 58.0 * mib, false).ticks(Unit::Bytes, 3),
            [45.0 * mib, 50.0 * mib, 55.0 * mib]
        );
        assert_eq!(
            (wide.share(3e3), wide.share(4e6), wide.share(0.0)),
            (0.0, 1.0, 0.0)
        );
        assert!(
            Domain::new(1e18, 1e18 + 1.0, false)
                .ticks(Unit::Ns, 4)
                .len()
                < 20
        );
    }
}
