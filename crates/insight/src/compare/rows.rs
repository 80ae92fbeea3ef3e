//! Numbers of two sides, matched by their keys, and what can be claimed of each.

use eventlog::hash::{SeededMap, SeededSet};
use model::sorting::SortSmall;

use super::rank_test::{RankTest, holm, least_p};
use super::shift::{median, median_interval, outliers, shift};
use super::{Claim, Difference, Options, Side, Trend};
use crate::digest::{Digest, Group, Key, Row};
use crate::metrics::{Class, Direction};

/// What the verdict is about if nothing is asked for: how long the program took, how long it
/// collected and stood still, what it allocated and held.
pub const HEADLINES: [(&str, &str); 7] = [
    ("time.wall", ""),
    ("thread.run", ""),
    ("gc.time", ""),
    ("gc.count", ""),
    ("gc.pause", "max"),
    ("alloc.bytes", ""),
    ("heap.live", "max"),
];

/// The differences of all numbers, and how many names of each group cannot be compared, as a
/// digest left them out.
pub(super) fn differences(
    before: &[Digest],
    after: &[Digest],
    options: &Options,
) -> (Vec<Difference>, Vec<(Group, u64)>) {
    let is_asked = |row: &Row| row.key.group == Group::Asked;
    let all = || before.iter().chain(after);
    let has_asked = all().flat_map(|digest| &digest.rows).any(is_asked);
    let sides = [Values::of(before, options), Values::of(after, options)];
    let mut known: SeededSet<&Key> = SeededSet::default();
    let mut left_out: SeededMap<Group, SeededSet<&str>> = SeededMap::default();
    let mut test = RankTest::default();
    let mut rows = Vec::new();
    let compute_alone = all().all(computes_alone);
    for row in all().flat_map(|digest| &digest.rows) {
        if !known.insert(&row.key) {
            continue;
        }
        let values = [sides[0].values(&row.key), sides[1].values(&row.key)];
        let may_be_left_out = |place: usize| {
            let side = if place == 0 { before } else { after };
            let group = row.key.group;
            values[place].is_empty() && side.iter().any(|digest| digest.has_left_out(group))
        };
        if may_be_left_out(0) || may_be_left_out(1) {
            let names = left_out.entry(row.key.group).or_default();
            names.insert(&row.key.name);
            continue;
        }
        if values.iter().all(Vec::is_empty) {
            continue;
        }
        let is_gated = is_gated(&row.key, has_asked);
        let mut row = difference(row, values, (options, &mut test), is_gated);
        let is_time = row.key.part.is_empty() && ADDED_TO.contains(&row.key.name.as_str());
        row.least_tells = compute_alone && is_time;
        rows.push(row);
    }
    rows.sort_small_by_key(|row| row.key.group);
    claim(&mut rows, options);
    let left_out = left_out.into_iter();
    let mut left_out: Vec<(Group, u64)> = left_out
        .map(|(group, names)| (group, names.len() as u64))
        .collect();
    left_out.sort_unstable();
    (rows, left_out)
}

fn is_gated(key: &Key, has_asked: bool) -> bool {
    match key.group {
        Group::Asked => true,
        Group::Program if !has_asked => HEADLINES.contains(&(key.name.as_str(), key.part.as_ref())),
        _ => false,
    }
}

/// Whether both sides have the very same numbers, in any order.
fn is_equal(before: &[f64], after: &[f64]) -> bool {
    let sorted = |side: &[f64]| {
        let mut side = side.to_vec();
        side.sort_small_by(f64::total_cmp);
        side
    };
    sorted(before) == sorted(after)
}

/// The numbers of the runs of a side, by key.
struct Values<'a>(SeededMap<&'a Key, Vec<f64>>);

impl<'a> Values<'a> {
    fn of(side: &'a [Digest], options: &Options) -> Self {
        let mut values: SeededMap<&Key, Vec<f64>> = SeededMap::default();
        for digest in side {
            let spans = options.per_span.as_deref();
            let divisor = spans.map(|name| digest.value(Group::Spans, name, "count"));
            let mut seen: SeededSet<&Key> = SeededSet::default();
            for row in &digest.rows {
                // Names that were cut may be equal.
                if !seen.insert(&row.key) {
                    continue;
                }
                let value = match divisor {
                    Some(divisor) if row.is_total => divisor
                        .filter(|spans| *spans > 0.0)
                        .map(|spans| row.value / spans),
                    _ => Some(row.value),
                };
                values.entry(&row.key).or_default().extend(value);
            }
        }
        Self(values)
    }

    fn values(&self, key: &Key) -> Vec<f64> {
        self.0.get(key).cloned().unwrap_or_default()
    }
}

pub(super) fn difference(
    row: &Row,
    [before, after]: [Vec<f64>; 2],
    (options, test): (&Options, &mut RankTest),
    is_gated: bool,
) -> Difference {
    let alpha = options.alpha;
    let change = shift(&before, &after, alpha);
    let logs = |side: &[f64]| -> Option<Vec<f64>> {
        let log = |value: &f64| (*value > 0.0).then(|| value.ln());
        side.iter().map(log).collect()
    };
    let ratio = logs(&before).zip(logs(&after));
    let ratio = ratio.and_then(|(before, after)| shift(&before, &after, alpha));
    let can_tell = least_p(before.len(), after.len()) <= alpha;
    let p = can_tell.then(|| test.p(&before, &after));
    let by = change.map_or(0.0, |change| change.middle);
    let exp = |(low, high): (f64, f64)| (low.exp(), high.exp());
    Difference {
        key: row.key.clone(),
        unit: row.unit,
        direction: row.direction,
        class: row.class,
        before: side(before, alpha),
        after: side(after, alpha),
        change: by,
        change_interval: change.and_then(|change| change.interval),
        ratio: ratio.map(|ratio| ratio.middle.exp()),
        ratio_interval: ratio.and_then(|ratio| ratio.interval).map(exp),
        p,
        corrected_p: None,
        is_gated,
        trend: trend(row.direction, by),
        claim: Claim::NoDifference,
        least_tells: false,
    }
}

/// Times that other work on the machine only adds to.
const ADDED_TO: [&str; 4] = ["gc.time", "thread.run", "time.mutator", "time.wall"];
/// A program computes if it runs and collects for so much of the time.
const COMPUTING: f64 = 0.90;

/// Whether a run computed all the time on one capability.
fn computes_alone(digest: &Digest) -> bool {
    let value = |name| digest.value(Group::Program, name, "").unwrap_or(0.0);
    let capabilities = digest.facts.iter().find(|fact| fact.name == "Capabilities");
    let program = value("time.wall") - value("time.init") - value("time.exit");
    capabilities.is_some_and(|fact| fact.value == "1")
        && value("thread.run") + value("gc.time") >= COMPUTING * program
}

fn side(values: Vec<f64>, alpha: f64) -> Side {
    let least = values.iter().copied().reduce(f64::min);
    Side {
        median: median(&values).unwrap_or(0.0),
        interval: median_interval(&values, alpha),
        least: least.unwrap_or(0.0),
        outliers: outliers(&values),
        values,
    }
}

fn trend(direction: Direction, change: f64) -> Trend {
    match direction {
        Direction::Lower if change < 0.0 => Trend::Better,
        Direction::Lower if change > 0.0 => Trend::Worse,
        Direction::Higher if change > 0.0 => Trend::Better,
        Direction::Higher if change < 0.0 => Trend::Worse,
        _ => Trend::Neutral,
    }
}

/// Decides what can be claimed of each row, once all tests of the verdict are known.
pub(super) fn claim(rows: &mut [Difference], options: &Options) {
    let is_tested = |row: &&mut Difference| row.is_gated && row.p.is_some();
    let gated: Vec<f64> = rows
        .iter()
        .filter(|row| row.is_gated)
        .filter_map(|row| row.p)
        .collect();
    for (row, corrected) in rows.iter_mut().filter(is_tested).zip(holm(&gated)) {
        row.corrected_p = Some(corrected);
    }
    for row in rows {
        let tests = if row.is_gated { gated.len().max(1) } else { 1 };
        row.claim = row.claimed(tests, options);
    }
}

impl Difference {
    /// What can be claimed, if it is one of so many tests.
    fn claimed(&self, tests: usize, options: &Options) -> Claim {
        let (before, after) = (&self.before.values, &self.after.values);
        if after.is_empty() {
            return Claim::OnlyBefore;
        }
        if before.is_empty() {
            return Claim::OnlyAfter;
        }
        if is_equal(before, after) {
            return Claim::NoDifference;
        }
        let least = least_p(before.len(), after.len()) * tests as f64;
        let p = self.corrected_p.or(self.p);
        match (self.class, p.filter(|_| least <= options.alpha)) {
            (Class::Timed, None) => Claim::TooFewRuns,
            (Class::Counted, None) => self.counted(options.tolerance),
            (class, Some(p)) => {
                let least = match class {
                    Class::Timed => options.noise,
                    Class::Counted => options.tolerance,
                };
                if p <= options.alpha && self.relative() > least {
                    Claim::Changed
                } else {
                    Claim::NoDifference
                }
            }
        }
    }

    /// By which share of the lesser number it differs; where there is no ratio, by which share
    /// of the greater one. It is the same if the sides are swapped.
    fn relative(&self) -> f64 {
        match self.ratio {
            Some(ratio) => ratio.ln().abs().exp() - 1.0,
            None => {
                let most = self.before.median.abs().max(self.after.median.abs());
                if most > 0.0 {
                    self.change.abs() / most
                } else {
                    0.0
                }
            }
        }
    }

    /// Of few runs of what is counted: whether those of both sides lie apart.
    fn counted(&self, tolerance: f64) -> Claim {
        let ends = |side: &Side| {
            let values = side.values.iter().copied();
            let least = values.clone().fold(f64::INFINITY, f64::min);
            (least, values.fold(f64::NEG_INFINITY, f64::max))
        };
        let (before, after) = (ends(&self.before), ends(&self.after));
        let gap = (after.0 - before.1).max(before.0 - after.1);
        let most = before.1.abs().max(after.1.abs());
        if gap > tolerance * most {
            Claim::Changed
        } else if self.relative() <= tolerance {
            Claim::NoDifference
        } else {
            Claim::TooFewRuns
        }
    }
}
