//! Numbers of two sides, matched by their keys, and what can be claimed of each.

use eventlog::hash::{SeededMap, SeededSet};
use model::sorting::CompactSort;

use super::rank_test::{RankTest, holm, least_p};
use super::shift::{ends, median, median_interval, outliers, shift};
use super::splits::{Numbers, corrected, least_corrected};
use super::{Claim, Difference, Options, Side, Trend};
use crate::digest::{Digest, Group, Key, Row};
use crate::metrics::{Class, Direction, Unit};

/// What the verdict is about if nothing is asked for: how long the program took, how long it
/// collected and stood still, what it allocated and held. These are told first, in this order.
/// More of them would need more runs: of five runs a side, five can be told.
pub const HEADLINES: [(&str, &str); 5] = [
    ("time.wall", ""),
    ("gc.time", ""),
    ("gc.pause", "max"),
    ("alloc.bytes", ""),
    ("heap.live", "max"),
];
/// The part of [`Options::alpha`] that is for the numbers of the verdict; the rest is for all
/// others.
pub(super) const OF_THE_VERDICT: f64 = 0.8;

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
        let by_run = [0, 1].map(|side: usize| sides[side].by_run(&row.key));
        let values = by_run
            .each_ref()
            .map(|side| side.iter().flatten().copied().collect());
        let may_be_left_out = |place: usize, values: &Vec<f64>| {
            let side = if place == 0 { before } else { after };
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
        let is_time = row.key.part.is_empty() && ADDED_TO.contains(&row.key.name.as_str());
        row.least_tells = compute_alone && is_time;
        rows.push((row, by_run.concat()));
    }
    rows.sort_small_by_key(|(row, _)| (row.key.group, headline(&row.key)));
    fold_equal(&mut rows);
    claim_all(&mut rows, (before.len(), after.len()), options);
    let left_out = left_out.into_iter();
    let mut left_out: Vec<(Group, u64)> = left_out
        .map(|(group, names)| (group, names.len() as u64))
        .collect();
    left_out.sort_unstable();
    (rows.into_iter().map(|(row, _)| row).collect(), left_out)
}

/// A difference, and its number of each run, those before first.
type Tested = (Difference, Vec<Option<f64>>);

/// Which of the [`HEADLINES`] it is; others come after them.
fn headline(key: &Key) -> usize {
    let is = |(name, part): &(&str, &str)| key.name == *name && key.part.as_ref() == *part;
    let place = HEADLINES.iter().position(is);
    let place = place.filter(|_| key.group == Group::Program);
    place.unwrap_or(HEADLINES.len())
}

/// Numbers of one name that are the same in each run are one fact, such as the 90th and 99th
/// percentile and the greatest of five pauses; so are times of the program.
fn fold_equal(rows: &mut Vec<Tested>) {
    let mut kept: Vec<Tested> = Vec::with_capacity(rows.len());
    for (row, by_run) in rows.drain(..) {
        let is_same = |(other, its): &&mut Tested| {
            let is_time = row.key.group == Group::Program
                && row.unit == Unit::Ns
                && by_run.iter().flatten().any(|value| *value > 0.0);
            let is_comparable = row.key.group == other.key.group
                && row.key.group != Group::Asked
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
        Group::Asked => true,
        Group::Program if !has_asked => headline(key) < HEADLINES.len(),
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

/// The numbers of a side, by key: of each run, if it has it.
struct Values<'a> {
    by_key: SeededMap<&'a Key, Vec<Option<f64>>>,
    runs: usize,
}

impl<'a> Values<'a> {
    fn of(side: &'a [Digest], options: &Options) -> Self {
        let mut by_key: SeededMap<&Key, Vec<Option<f64>>> = SeededMap::default();
        for (run, digest) in side.iter().enumerate() {
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
        equal: Vec::new(),
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
    let least = ends(&values).map(|(least, _)| least);
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

/// Decides what can be claimed of each row: of those that the verdict is about first, as the
/// others may show less where it is that something changed.
fn claim_all(rows: &mut [Tested], (before, after): (usize, usize), options: &Options) {
    let runs = (before, after);
    let is_gated = |(row, _): &&mut Tested| row.is_gated;
    let gated = rows.iter_mut().filter(is_gated).map(|(row, _)| row);
    claim(&mut gated.collect::<Vec<_>>(), OF_THE_VERDICT, options);
    let has_changed = rows
        .iter()
        .any(|(row, _)| row.is_gated && row.claim == Claim::Changed);
    let alpha = if has_changed {
        options.alpha
    } else {
        options.alpha * (1.0 - OF_THE_VERDICT)
    };
    let mut others: Vec<&mut Tested> = rows.iter_mut().filter(|(row, _)| !row.is_gated).collect();
    let least = least_corrected(before, after);
    let probabilities = if least <= alpha {
        let numbers: Vec<Numbers> = others
            .iter()
            .map(|row| row.0.numbers(&row.1, options))
            .collect();
        corrected(&numbers, before, after)
            .into_iter()
            .map(Some)
            .collect()
    } else {
        vec![None; others.len()]
    };
    for ((row, _), p) in others.iter_mut().zip(probabilities) {
        // Of a number that a side or some runs do not have, the test would say too little.
        row.corrected_p = p.filter(|_| row.p.is_some());
        row.claim = row.claimed(row.corrected_p, alpha, runs, options);
    }
}

/// Decides what can be claimed of rows that are one family of tests, with a part of
/// [`Options::alpha`].
pub(super) fn claim(rows: &mut [&mut Difference], part: f64, options: &Options) {
    let alpha = options.alpha * part;
    let gated: Vec<f64> = rows.iter().filter_map(|row| row.p).collect();
    let tests = gated.len().max(1) as f64;
    let tested = rows.iter_mut().filter(|row| row.p.is_some());
    for (row, corrected) in tested.zip(holm(&gated)) {
        row.corrected_p = Some(corrected);
    }
    for row in rows {
        let (before, after) = (row.before.values.len(), row.after.values.len());
        let is_enough = least_p(before, after) * tests <= alpha;
        let p = row.corrected_p.filter(|_| is_enough);
        row.claim = row.claimed(p, alpha, (before, after), options);
    }
}

impl Difference {
    /// The number of each run for the test of all: as logarithms where all are above 0, so
    /// that a change is a ratio.
    fn numbers(&self, by_run: &[Option<f64>], options: &Options) -> Numbers {
        let least = match self.class {
            Class::Timed => options.noise,
            // Sides that are each as good as equal show much.
            Class::Counted => options.tolerance / 100.0,
        };
        let values = || by_run.iter().flatten().copied();
        if values().all(|value| value > 0.0) {
            let logs = by_run.iter().map(|value| value.map(f64::ln));
            return Numbers {
                by_run: logs.collect(),
                noise: least,
            };
        }
        let most = values().map(f64::abs).fold(0.0, f64::max);
        Numbers {
            by_run: by_run.to_vec(),
            noise: least * most,
        }
    }

    /// What can be claimed: `p` is the corrected probability, `None` if there are too few runs.
    fn claimed(
        &self,
        p: Option<f64>,
        alpha: f64,
        (runs_before, runs_after): (usize, usize),
        options: &Options,
    ) -> Claim {
        let (before, after) = (&self.before.values, &self.after.values);
        // A name that only some runs of one side have says little.
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
            (Class::Timed, None) => Claim::TooFewRuns,
            (Class::Counted, None) => self.counted(options.tolerance),
            (class, Some(p)) => {
                let least = match class {
                    Class::Timed => options.noise,
                    Class::Counted => options.tolerance,
                };
                if p <= alpha && self.relative() > least {
                    Claim::Changed
                } else {
                    Claim::NoDifference
                }
            }
        }
    }

    /// By which share of the lesser number it differs; where there is no ratio, by which share
    /// of the greater one. It is the same if the sides are swapped.
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

    /// Of few runs of what is counted: whether those of both sides lie apart, by much more
    /// than those of one side.
    fn counted(&self, tolerance: f64) -> Claim {
        /// By so many times as much; less may be chance.
        const CLEARLY: f64 = 10.0;
        let both = ends(&self.before.values).zip(ends(&self.after.values));
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
