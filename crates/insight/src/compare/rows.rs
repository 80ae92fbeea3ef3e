//! Numbers of two sides, matched by key, with a conclusion about each.

use eventlog::hash::{SeededMap, SeededSet};
use model::sorting::CompactSort;

use super::{Claim, Difference, Options, Side, Trend};
use crate::digest::{Digest, Key, NumberGroup, Row};
use crate::metrics::{Unit, Variability};
use statistics::rank_test::{RankTest, holm, min_p};
use statistics::shift::{median, median_interval, min_max, outliers, shift};
use statistics::splits::{NumberByRun, corrected_p_values, min_corrected_p};

/// Numbers that the verdict covers if a guard asks for none: elapsed time, time in collections, longest pause,
/// bytes allocated, most live data. Shown first, in this order. More numbers would need more runs: five runs per
/// side support claims on five numbers.
pub const HEADLINES: [(&str, &str); 5] = [
    ("time.wall", ""),
    ("gc.time", ""),
    ("gc.pause", "max"),
    ("alloc.bytes", ""),
    ("heap.live", "max"),
];
/// Share of [`Options::alpha`] for the numbers of the verdict; the rest is for all others.
pub(super) const VERDICT_SHARE_OF_ALPHA: f64 = 0.8;

/// Compares all numbers. Also returns how many names of each group could not be compared because a digest left
/// them out.
pub(super) fn differences(
    before: &[Digest],
    after: &[Digest],
    options: &Options,
) -> (Vec<Difference>, Vec<(NumberGroup, u64)>) {
    let is_asked = |row: &Row| row.key.group == NumberGroup::Asked;
    let all = || before.iter().chain(after);
    let has_asked = all().flat_map(|digest| &digest.rows).any(is_asked);
    let sides = [
        SideValues::new(before, options),
        SideValues::new(after, options),
    ];
    let mut known: SeededSet<&Key> = SeededSet::default();
    let mut left_out: SeededMap<NumberGroup, SeededSet<&str>> = SeededMap::default();
    let mut test = RankTest::default();
    let mut rows = Vec::new();
    let compute_alone = all().all(computes_alone);
    for row in all().flat_map(|digest| &digest.rows) {
        if !known.insert(&row.key) {
            continue;
        }
        let by_run = [0, 1].map(|side: usize| sides[side].by_run(&row.key));
        let values = by_run
            .each_ref()
            .map(|side| side.iter().flatten().copied().collect());
        let may_be_left_out = |index: usize, values: &Vec<f64>| {
            let side = if index == 0 { before } else { after };
            let group = row.key.group;
            values.is_empty() && side.iter().any(|digest| digest.has_left_out(group))
        };
        let [ref had, ref has] = values;
        if may_be_left_out(0, had) || may_be_left_out(1, has) {
            let names = left_out.entry(row.key.group).or_default();
            names.insert(&row.key.name);
            continue;
        }
        if had.is_empty() && has.is_empty() {
            continue;
        }
        let is_gated = is_gated(&row.key, has_asked);
        let mut row = difference(row, values, (options, &mut test), is_gated);
        let is_time =
            row.key.part.is_empty() && INFLATED_BY_OTHER_WORK.contains(&row.key.name.as_str());
        row.least_tells = compute_alone && is_time;
        rows.push((row, by_run.concat()));
    }
    rows.sort_small_by_key(|(row, _)| (row.key.group, headline(&row.key)));
    fold_equal(&mut rows);
    set_all_claims(&mut rows, (before.len(), after.len()), options);
    let left_out = left_out.into_iter();
    let mut left_out: Vec<(NumberGroup, u64)> = left_out
        .map(|(group, names)| (group, names.len() as u64))
        .collect();
    left_out.sort_unstable();
    (rows.into_iter().map(|(row, _)| row).collect(), left_out)
}

/// Difference with the value in each run, runs before first.
type DifferenceByRun = (Difference, Vec<Option<f64>>);

/// Returns the index in [`HEADLINES`]; their length for other numbers.
fn headline(key: &Key) -> usize {
    let is = |(name, part): &(&str, &str)| key.name == *name && key.part.as_ref() == *part;
    let index = HEADLINES.iter().position(is);
    let index = index.filter(|_| key.group == NumberGroup::Program);
    index.unwrap_or(HEADLINES.len())
}

/// Merges rows that show the same fact: numbers of one name with equal values in each run, such as 90th
/// percentile, 99th percentile and maximum of five pauses; also times of the program.
fn fold_equal(rows: &mut Vec<DifferenceByRun>) {
    let mut kept: Vec<DifferenceByRun> = Vec::with_capacity(rows.len());
    for (row, by_run) in rows.drain(..) {
        let is_same = |(other, its): &&mut DifferenceByRun| {
            let is_time = row.key.group == NumberGroup::Program
                && row.unit == Unit::Ns
                && by_run.iter().flatten().any(|value| *value > 0.0);
            let is_comparable = row.key.group == other.key.group
                && row.key.group != NumberGroup::Asked
                && (row.unit, row.direction) == (other.unit, other.direction)
                && (row.key.name == other.key.name || is_time);
            is_comparable && *its == by_run
        };
        match kept.iter_mut().rev().find(is_same) {
            Some((other, _)) => other.equal.push(row.key),
            None => kept.push((row, by_run)),
        }
    }
    *rows = kept;
}

fn is_gated(key: &Key, has_asked: bool) -> bool {
    match key.group {
        NumberGroup::Asked => true,
        NumberGroup::Program if !has_asked => headline(key) < HEADLINES.len(),
        _ => false,
    }
}

/// Returns whether both sides have the same values, in any order.
fn is_equal(before: &[f64], after: &[f64]) -> bool {
    let sorted = |side: &[f64]| {
        let mut side = side.to_vec();
        side.sort_small_by(f64::total_cmp);
        side
    };
    sorted(before) == sorted(after)
}

/// Values of a side by key: one entry per run.
struct SideValues<'a> {
    by_key: SeededMap<&'a Key, Vec<Option<f64>>>,
    runs: usize,
}

impl<'a> SideValues<'a> {
    fn new(side: &'a [Digest], options: &Options) -> Self {
        let mut by_key: SeededMap<&Key, Vec<Option<f64>>> = SeededMap::default();
        for (run, digest) in side.iter().enumerate() {
            let spans = options.per_span.as_deref();
            let divisor = spans.map(|name| digest.value(NumberGroup::Spans, name, "count"));
            let mut seen: SeededSet<&Key> = SeededSet::default();
            for row in &digest.rows {
                // Truncated names may collide.
                if !seen.insert(&row.key) {
                    continue;
                }
                let value = match divisor {
                    Some(divisor) if row.is_total => divisor
                        .filter(|spans| *spans > 0.0)
                        .map(|spans| row.value / spans),
                    _ => Some(row.value),
                };
                let by_run = by_key.entry(&row.key).or_default();
                by_run.resize(side.len(), None);
                by_run[run] = value;
            }
        }
        let runs = side.len();
        Self { by_key, runs }
    }

    fn by_run(&self, key: &Key) -> Vec<Option<f64>> {
        let known = self.by_key.get(key).cloned();
        known.unwrap_or_else(|| vec![None; self.runs])
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
    let can_tell = min_p(before.len(), after.len()) <= alpha;
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
        trend: Trend::new(row.direction, by),
        claim: Claim::NoDifference,
        least_tells: false,
        equal: Vec::new(),
    }
}

/// Times that other work on the machine can only increase.
const INFLATED_BY_OTHER_WORK: [&str; 4] = ["gc.time", "thread.run", "time.mutator", "time.wall"];
/// Minimum share of time running and collecting for a program to count as computing.
const COMPUTING: f64 = 0.90;

/// Returns whether a run computed on one capability, hardly waiting.
fn computes_alone(digest: &Digest) -> bool {
    let value = |name| digest.value(NumberGroup::Program, name, "").unwrap_or(0.0);
    let capabilities = digest.facts.iter().find(|fact| fact.name == "Capabilities");
    let program = value("time.wall") - value("time.init") - value("time.exit");
    capabilities.is_some_and(|fact| fact.value == "1")
        && value("thread.run") + value("gc.time") >= COMPUTING * program
}

fn side(values: Vec<f64>, alpha: f64) -> Side {
    let least = min_max(&values).map(|(least, _)| least);
    Side {
        median: median(&values).unwrap_or(0.0),
        interval: median_interval(&values, alpha),
        least: least.unwrap_or(0.0),
        outliers: outliers(&values),
        values,
    }
}

/// Sets the claims of all rows. Gated rows come first, because the others may use all of alpha once one of them
/// has changed.
fn set_all_claims(
    rows: &mut [DifferenceByRun],
    (before, after): (usize, usize),
    options: &Options,
) {
    let runs = (before, after);
    let is_gated = |(row, _): &&mut DifferenceByRun| row.is_gated;
    let gated = rows.iter_mut().filter(is_gated).map(|(row, _)| row);
    set_claims(
        &mut gated.collect::<Vec<_>>(),
        VERDICT_SHARE_OF_ALPHA,
        options,
    );
    let has_changed = rows
        .iter()
        .any(|(row, _)| row.is_gated && row.claim == Claim::Changed);
    let alpha = if has_changed {
        options.alpha
    } else {
        options.alpha * (1.0 - VERDICT_SHARE_OF_ALPHA)
    };
    let mut others: Vec<&mut DifferenceByRun> =
        rows.iter_mut().filter(|(row, _)| !row.is_gated).collect();
    let least = min_corrected_p(before, after);
    let mut probabilities = Vec::new();
    if least <= alpha {
        let numbers = others.iter();
        let numbers = numbers.map(|(row, by_run)| row.for_permutations(by_run, options));
        let numbers: Vec<NumberByRun> = numbers.collect();
        probabilities = corrected_p_values(&numbers, before, after);
    }
    for (index, (row, _)) in others.iter_mut().enumerate() {
        // The test has too little power for a number that a side or some runs lack.
        row.corrected_p = probabilities
            .get(index)
            .copied()
            .filter(|_| row.p.is_some());
        row.claim = row.conclude(row.corrected_p, alpha, runs, options);
    }
}

/// Sets the claims of rows that form one family of tests, with a share of [`Options::alpha`].
pub(super) fn set_claims(rows: &mut [&mut Difference], part: f64, options: &Options) {
    let alpha = options.alpha * part;
    let gated: Vec<f64> = rows.iter().filter_map(|row| row.p).collect();
    let tests = gated.len().max(1) as f64;
    let tested = rows.iter_mut().filter(|row| row.p.is_some());
    for (row, corrected) in tested.zip(holm(&gated)) {
        row.corrected_p = Some(corrected);
    }
    for row in rows {
        let (before, after) = (row.before.values.len(), row.after.values.len());
        let is_enough = min_p(before, after) * tests <= alpha;
        let p = row.corrected_p.filter(|_| is_enough);
        row.claim = row.conclude(p, alpha, (before, after), options);
    }
}

impl Difference {
    /// Returns the value in each run for the permutation test: as logarithms if all are positive, so that a change
    /// is a ratio.
    fn for_permutations(&self, by_run: &[Option<f64>], options: &Options) -> NumberByRun {
        let least = match self.class {
            Variability::Timed => options.noise,
            // Small but consistent differences of counted numbers are meaningful.
            Variability::Counted => options.tolerance / 100.0,
        };
        let values = || by_run.iter().flatten().copied();
        if values().all(|value| value > 0.0) {
            let logs = by_run.iter().map(|value| value.map(f64::ln));
            return NumberByRun {
                by_run: logs.collect(),
                noise: least,
            };
        }
        let most = values().map(f64::abs).fold(0.0, f64::max);
        NumberByRun {
            by_run: by_run.to_vec(),
            noise: least * most,
        }
    }

    /// Returns the conclusion. `p` is the corrected p-value, `None` with too few runs.
    fn conclude(
        &self,
        p: Option<f64>,
        alpha: f64,
        (runs_before, runs_after): (usize, usize),
        options: &Options,
    ) -> Claim {
        let (before, after) = (&self.before.values, &self.after.values);
        // A name in only some runs of one side is no evidence.
        if after.is_empty() || before.is_empty() {
            return match (before.len(), after.len()) {
                (runs, 0) if runs == runs_before => Claim::OnlyBefore,
                (0, runs) if runs == runs_after => Claim::OnlyAfter,
                _ => Claim::NoDifference,
            };
        }
        if is_equal(before, after) {
            return Claim::NoDifference;
        }
        match (self.class, p) {
            (Variability::Timed, None) => Claim::TooFewRuns,
            (Variability::Counted, None) => self.conclude_counted(options.tolerance),
            (class, Some(p)) => {
                let least = match class {
                    Variability::Timed => options.noise,
                    Variability::Counted => options.tolerance,
                };
                if p <= alpha && self.relative() > least {
                    Claim::Changed
                } else {
                    Claim::NoDifference
                }
            }
        }
    }

    /// Returns the change relative to the smaller value, or to the greater one if there is no ratio. Swapping the
    /// sides does not change it.
    pub(super) fn relative(&self) -> f64 {
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

    /// Returns the conclusion on counted numbers with too few runs: they changed if the sides are disjoint, with a
    /// gap much larger than the spread within a side.
    fn conclude_counted(&self, tolerance: f64) -> Claim {
        /// Minimum ratio of gap to spread; less may be chance.
        const CLEARLY: f64 = 10.0;
        let both = min_max(&self.before.values).zip(min_max(&self.after.values));
        let Some((before, after)) = both else {
            return Claim::NoDifference;
        };
        let gap = (after.0 - before.1).max(before.0 - after.1);
        let most = before.1.abs().max(after.1.abs());
        let spread = (before.1 - before.0).max(after.1 - after.0);
        if gap > tolerance * most && gap > CLEARLY * spread {
            Claim::Changed
        } else if self.relative() <= tolerance {
            Claim::NoDifference
        } else {
            Claim::TooFewRuns
        }
    }
}
