//! Collection of digests into columns.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::headlines::headline;
use super::{FindingColumn, Fleet, FleetRun, LabelColumn, NumberColumn, RunIndex, TimeOrder};
use crate::digest::{ComparableFact, FindingSummary, Key, NumberGroup, Row};
use crate::metrics::{Direction, Unit, Variability, matches_pattern};
use eventlog::hash::SeededMap;
use eventlog::quantity::Utc;
use model::time::{Interval, range_ns};

/// Maximum number of numbers per run; further ones are counted, but not kept.
pub const MAX_NUMBERS: usize = 400;

/// Labels that are built in, in display order, with the facts of a digest that they come from.
const BUILT_IN: [(&str, Option<&str>); 7] = [
    ("app", Some("Program")),
    ("version", None),
    ("host", None),
    ("day", None),
    ("ghc", Some("GHC")),
    ("capabilities", Some("Capabilities")),
    ("arguments", Some("Arguments")),
];

/// What a fleet uses of a [`Digest`](crate::Digest), read from the same JSON without the rest.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct RunDigest {
    /// Range of the log that the digest covers.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// Facts, such as program and GHC version.
    pub facts: Vec<ComparableFact>,
    /// Wall-clock time of the log's time 0, in nanoseconds since 1970.
    #[serde(default)]
    pub started_unix_ns: Option<u64>,
    /// Numbers by name.
    pub rows: Vec<Row>,
    /// Significant findings.
    #[serde(default)]
    pub findings: Vec<FindingSummary>,
}

impl RunDigest {
    /// Returns the wall-clock time at which the range begins, in nanoseconds since 1970.
    fn begin_unix_ns(&self) -> Option<u64> {
        self.started_unix_ns?.checked_add(self.range.start().0)
    }

    /// Keeps the numbers of the program and those whose full names match a pattern, and adds the rates and shares
    /// that assertions compute.
    #[must_use]
    pub fn reduced(mut self, patterns: &[String]) -> Self {
        self.rows.retain(|row| {
            row.key.group == NumberGroup::Program
                || place_in(patterns, &row.key.full_name()).is_some()
        });
        let seconds = self.range.duration().0 as f64 / 1e9;
        if seconds > 0.0 {
            let share = self.derived("gc.time", ("share", Unit::Share, 1e9 * seconds));
            let rate = self.derived("alloc.bytes", ("rate", Unit::PerSecond, seconds));
            self.rows.extend([share, rate].into_iter().flatten());
        }
        self
    }

    fn derived(&self, name: &str, (part, unit, divisor): (&'static str, Unit, f64)) -> Option<Row> {
        let is_it = |row: &&Row| {
            row.key.group == NumberGroup::Program && row.key.name == name && row.key.part.is_empty()
        };
        let row = self.rows.iter().find(is_it)?;
        let direction = match unit {
            Unit::Share => row.direction,
            _ => Direction::Neutral,
        };
        Some(Row {
            key: Key {
                part: part.into(),
                ..row.key.clone()
            },
            unit,
            direction,
            class: Variability::Timed,
            is_total: false,
            value: row.value / divisor,
        })
    }
}

/// Returns the index of the first pattern that the name of a number matches.
fn place_in(patterns: &[String], name: &str) -> Option<usize> {
    let mut patterns = patterns.iter();
    patterns.position(|pattern| matches_pattern(pattern, name))
}

/// Collects the runs of a fleet.
#[derive(Debug, Default)]
pub struct FleetBuilder {
    /// Patterns of the numbers that come first.
    wanted: Vec<String>,
    /// Labels of the runs that are kept: for each key, one of its values.
    only: Vec<(String, String)>,
    runs: Vec<(FleetRun, BTreeMap<String, String>)>,
    numbers: Vec<NumberColumn>,
    number_by_key: SeededMap<Key, usize>,
    findings: BTreeMap<String, Vec<(RunIndex, FindingSummary)>>,
    left_out: u64,
}

impl FleetBuilder {
    /// Creates an empty fleet. Numbers whose names match one of `wanted` come first; only runs are kept that have one
    /// of the values for each key in `only`.
    pub fn new(wanted: Vec<String>, only: Vec<(String, String)>) -> Self {
        Self {
            wanted,
            only,
            ..Self::default()
        }
    }

    /// Adds a run. The `labels` take precedence over what the digest contains; those with an empty value count as
    /// missing. Returns whether the run is kept.
    pub fn add(&mut self, path: &str, labels: BTreeMap<String, String>, digest: RunDigest) -> bool {
        let labels = with_facts(labels, &digest);
        if !self.is_kept(&labels) {
            return false;
        }
        let run = self.runs.len();
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let name = [".json", ".digest", ".eventlog"]
            .iter()
            .fold(file, |name, end| name.strip_suffix(end).unwrap_or(name));
        let info = FleetRun {
            name: name.to_owned(),
            path: path.to_owned(),
            log: None,
            begin_unix_ns: digest.begin_unix_ns(),
        };
        self.runs.push((info, labels));
        for row in digest.rows {
            self.add_number(run, row);
        }
        for finding in digest.findings {
            let of_rule = self.findings.entry(finding.rule.to_string()).or_default();
            match of_rule.last_mut() {
                Some((last, worst)) if *last as usize == run => {
                    if is_worse(&finding, worst) {
                        *worst = finding;
                    }
                }
                _ => of_rule.push((run as RunIndex, finding)),
            }
        }
        true
    }

    fn is_kept(&self, labels: &BTreeMap<String, String>) -> bool {
        self.only.iter().all(|(key, _)| {
            let own = labels.get(key);
            let mut values = self.only.iter().filter(|(other, _)| other == key);
            values.any(|(_, value)| own == Some(value))
        })
    }

    fn add_number(&mut self, run: usize, row: Row) {
        if !row.value.is_finite() {
            return;
        }
        let number = match self.number_by_key.get(&row.key) {
            Some(&number) => number,
            None if self.numbers.len() >= MAX_NUMBERS => {
                self.left_out += 1;
                return;
            }
            None => {
                let name = row.key.full_name();
                self.numbers.push(NumberColumn {
                    is_headline: place_in(&self.wanted, &name).is_some()
                        || (row.key.group == NumberGroup::Program && headline(&name).is_some()),
                    name,
                    group: row.key.group,
                    unit: row.unit,
                    direction: row.direction,
                    values: Vec::new(),
                });
                self.number_by_key.insert(row.key, self.numbers.len() - 1);
                self.numbers.len() - 1
            }
        };
        let values = &mut self.numbers[number].values;
        values.resize(run, f64::NAN);
        values.push(row.value);
    }

    /// Sets the path of the log of the run that was added last.
    pub fn set_log(&mut self, log: String) {
        if let Some((run, _)) = self.runs.last_mut() {
            run.log = Some(log);
        }
    }

    /// Returns the number of runs so far.
    pub const fn count(&self) -> usize {
        self.runs.len()
    }

    /// Sorts the runs by time.
    pub fn finish(mut self) -> Fleet {
        let order = time_order(&self.runs);
        let mut places: Vec<usize> = (0..self.runs.len()).collect();
        places.sort_by(|&a, &b| {
            let ((a, a_labels), (b, b_labels)) = (&self.runs[a], &self.runs[b]);
            let by_time = match order {
                TimeOrder::Start => a.begin_unix_ns.cmp(&b.begin_unix_ns),
                TimeOrder::Day => a_labels.get("day").cmp(&b_labels.get("day")),
                TimeOrder::Name => std::cmp::Ordering::Equal,
            };
            by_time
                .then_with(|| alphanumeric_sort::compare_str(&a.name, &b.name))
                .then_with(|| a.path.cmp(&b.path))
        });
        let mut position = vec![0; places.len()];
        for (to, &from) in places.iter().enumerate() {
            position[from] = to as RunIndex;
        }
        let labels = label_columns(&self.runs, &places);
        for number in &mut self.numbers {
            number.values.resize(places.len(), f64::NAN);
            number.values = places.iter().map(|&run| number.values[run]).collect();
        }
        let rank = |number: &NumberColumn| {
            let wanted = place_in(&self.wanted, &number.name);
            let known = headline(&number.name).map(|(position, _)| position);
            let known = known.filter(|_| number.group == NumberGroup::Program);
            (
                wanted.unwrap_or(usize::MAX),
                known.unwrap_or(usize::MAX),
                number.group,
            )
        };
        self.numbers
            .sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)));
        let findings = self.findings.into_iter().map(|(rule, mut runs)| {
            for (run, _) in &mut runs {
                *run = position[*run as usize];
            }
            runs.sort_unstable_by_key(|(run, _)| *run);
            FindingColumn { rule, runs }
        });
        let findings = findings.collect();
        let mut infos: Vec<Option<FleetRun>> =
            self.runs.into_iter().map(|(run, _)| Some(run)).collect();
        Fleet {
            runs: places.iter().filter_map(|&run| infos[run].take()).collect(),
            order,
            labels,
            numbers: self.numbers,
            findings,
            left_out: self.left_out,
        }
    }
}

fn is_worse(one: &FindingSummary, other: &FindingSummary) -> bool {
    (one.severity, one.share, one.cost.size()) > (other.severity, other.share, other.cost.size())
}

/// Completes labels by what the digest contains.
fn with_facts(
    mut labels: BTreeMap<String, String>,
    digest: &RunDigest,
) -> BTreeMap<String, String> {
    for (key, fact) in BUILT_IN {
        let fact = fact.and_then(|name| digest.facts.iter().find(|fact| fact.name == name));
        let value = match key {
            "app" => fact.map(|fact| {
                fact.value
                    .rsplit(['/', '\\'])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            }),
            "day" => digest.begin_unix_ns().and_then(day),
            _ => fact.map(|fact| fact.value.clone()),
        };
        if let Some(value) = value {
            labels.entry(key.to_owned()).or_insert(value);
        }
    }
    labels.retain(|_, value| !value.is_empty());
    labels
}

/// Returns the date in UTC.
fn day(unix_ns: u64) -> Option<String> {
    let text = Utc::from_nanoseconds(unix_ns.into())?.clock_text(0);
    text.split_once(' ').map(|(day, _)| day.to_owned())
}

/// Share of the runs whose time must be known for an order by time; the others come first.
const NEARLY_ALL: f64 = 0.9;

fn time_order(runs: &[(FleetRun, BTreeMap<String, String>)]) -> TimeOrder {
    let is_most = |count: usize| count as f64 >= NEARLY_ALL * runs.len() as f64;
    let started = runs.iter().filter(|(run, _)| run.begin_unix_ns.is_some());
    let with_day = runs.iter().filter(|(_, labels)| labels.contains_key("day"));
    if is_most(started.count()) {
        TimeOrder::Start
    } else if is_most(with_day.count()) {
        TimeOrder::Day
    } else {
        TimeOrder::Name
    }
}

fn label_columns(
    runs: &[(FleetRun, BTreeMap<String, String>)],
    places: &[usize],
) -> Vec<LabelColumn> {
    let mut by_key: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for (key, value) in runs.iter().flat_map(|(_, labels)| labels) {
        by_key.entry(key).or_default().insert(value, 0);
    }
    let mut columns: Vec<LabelColumn> = Vec::with_capacity(by_key.len());
    for (key, mut values) in by_key {
        let mut names: Vec<&str> = values.keys().copied().collect();
        names.sort_by(|a, b| alphanumeric_sort::compare_str(a, b).then_with(|| a.cmp(b)));
        for (index, name) in (0..).zip(&names) {
            values.insert(name, index);
        }
        let value = |run: &usize| {
            runs[*run]
                .1
                .get(key)
                .and_then(|value| values.get(value.as_str()))
                .copied()
        };
        columns.push(LabelColumn {
            key: key.to_owned(),
            values: names.into_iter().map(str::to_owned).collect(),
            by_run: places.iter().map(value).collect(),
        });
    }
    let built_in = |column: &LabelColumn| BUILT_IN.iter().position(|(key, _)| *key == column.key);
    // What somebody has named himself is shown before GHC.
    columns.sort_by_key(|column| {
        built_in(column).map_or(
            4,
            |position| if position < 4 { position } else { position + 1 },
        )
    });
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;

    fn digest(started_unix_ns: Option<u64>, values: &[(&str, f64)]) -> RunDigest {
        let row = |(name, value): &(&str, f64)| Row {
            key: Key::new(NumberGroup::Program, *name, ""),
            unit: Unit::Ns,
            direction: Direction::Lower,
            class: Variability::Timed,
            is_total: true,
            value: *value,
        };
        RunDigest {
            started_unix_ns,
            facts: vec![ComparableFact {
                name: "Program".into(),
                value: "./bin/shop".to_owned(),
            }],
            rows: values.iter().map(row).collect(),
            ..RunDigest::default()
        }
    }

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn runs_are_in_the_order_of_time() {
        let mut builder = FleetBuilder::default();
        let day = 86_400_000_000_000;
        builder.add(
            "x/run-2.digest",
            labels(&[("version", "1.10")]),
            digest(Some(2 * day), &[("time.wall", 2.0)]),
        );
        builder.add(
            "x/run-10.digest",
            labels(&[("version", "1.9")]),
            RunDigest {
                // A later log of the process that started first.
                range: Interval::new(Nanos(day), Nanos(day + 1)),
                ..digest(Some(0), &[("z", 5.0), ("time.wall", 1.0)])
            },
        );
        builder.add(
            "run-3.json",
            labels(&[("app", "other")]),
            digest(Some(3 * day), &[("z", f64::NAN)]),
        );
        let fleet = builder.finish();
        assert_eq!(fleet.order, TimeOrder::Start);
        let names: Vec<&str> = fleet.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["run-10", "run-2", "run-3"]);
        let wall = &fleet.numbers[0];
        assert_eq!(
            (wall.name.as_str(), &wall.values[..2]),
            ("time.wall", &[1.0, 2.0][..])
        );
        assert!(wall.values[2].is_nan() && wall.is_headline && !fleet.numbers[1].is_headline);
        let keys: Vec<&str> = fleet
            .labels
            .iter()
            .map(|label| label.key.as_str())
            .collect();
        assert_eq!(keys, ["app", "version", "day"]);
        assert_eq!(fleet.labels[1].values, ["1.9", "1.10"]);
        assert_eq!(fleet.labels[0].value(2), Some("other"));
        assert_eq!(fleet.labels[2].value(0), Some("1970-01-02"));
        assert_eq!(fleet.labels[1].value(2), None);
    }

    #[test]
    fn without_times_days_and_names_count() {
        let mut builder = FleetBuilder::default();
        builder.add("a", labels(&[("day", "2026-01-02")]), digest(Some(1), &[]));
        builder.add("b", labels(&[("day", "2026-01-01")]), digest(None, &[]));
        assert_eq!(builder.finish().order, TimeOrder::Day);
        let mut builder = FleetBuilder::default();
        for name in ["r10", "r9"] {
            builder.add(name, BTreeMap::new(), digest(None, &[]));
        }
        let fleet = builder.finish();
        assert_eq!(
            (fleet.order, fleet.runs[0].name.as_str()),
            (TimeOrder::Name, "r9")
        );
    }

    #[test]
    fn shares_and_rates_are_those_of_assertions() {
        let mut run = digest(
            None,
            &[("gc.time", 5e8), ("alloc.bytes", 1e9), ("other", 1.0)],
        );
        run.range = Interval::new(eventlog::ids::Nanos(0), eventlog::ids::Nanos(2_000_000_000));
        let run = run.reduced(&[]);
        let value = |name: &str| {
            run.rows
                .iter()
                .find(|row| row.key.full_name() == name)
                .map(|row| row.value)
        };
        assert_eq!(value("gc.time.share"), Some(0.25));
        assert_eq!(value("alloc.bytes.rate"), Some(5e8));
    }
}
