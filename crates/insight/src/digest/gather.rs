//! Makes a digest of a log.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::facts::facts;
use super::numbers::Sorted;
use super::{
    Curve, Digest, Group, Key, Known, MOST_CURVES, MOST_FINDINGS, MOST_NAMES, NoData, Row,
};
use crate::assertion::Asked;
use crate::context::RuleContext;
use crate::kept_name::kept_name;
use crate::metrics::{
    Class, Direction, Labels, METRICS, Metric, MetricContext, NoNumber, Numbers, Unit,
};
use crate::threads::is_of_runtime;
use analysis::flamegraph::sources;
use analysis::recording::Recording;
use analysis::timeline::label_groups::LabelGroup;
use analysis::yielder::{NoYield, Yield, block_on};
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use model::profile::origin::Choice;
use model::sorting::CompactSort;
use model::time::Interval;

/// What is counted and yet the same in each run of a program, however many capabilities it has.
const SAME_IN_PARALLEL: [&str; 4] = ["alloc.bytes", "span.count", "spark.count", "thread.count"];

impl Digest {
    /// Of a part of a log that is read to its end, or of all of it.
    pub async fn of(log: &Recording, range: Option<Interval>, yielder: &dyn Yield) -> Self {
        let context = RuleContext::new(log, range);
        yielder.yield_if_due().await;
        let mut draft = Draft {
            caps: context.caps,
            digest: Self {
                range: context.range,
                facts: facts(&context),
                ..Self::default()
            },
        };
        draft.threads(&context, yielder).await;
        draft.spans(&context);
        yielder.yield_if_due().await;
        draft.cost_centres(&context);
        draft.bands(&context);
        yielder.yield_if_due().await;
        draft.program(&MetricContext::prepared(context, yielder).await);
        draft.finish()
    }

    /// [`of`](Self::of), for who has nobody else to hear.
    #[must_use]
    pub fn gather_blocking(log: &Recording, range: Option<Interval>) -> Self {
        block_on(Self::of(log, range, &NoYield))
    }
}

impl Digest {
    /// Adds what assertions ask for; where there is none, why.
    ///
    /// # Errors
    ///
    /// If it cannot be asked like this, whatever the log.
    pub fn ask<'a>(
        &mut self,
        asked: impl IntoIterator<Item = &'a Asked>,
        looked: &MetricContext<'_>,
    ) -> Result<(), String> {
        for asked in asked {
            let key = Key {
                group: Group::Asked,
                name: asked.key(),
                part: Cow::Borrowed(""),
            };
            if self.rows.iter().any(|row| row.key == key) {
                continue;
            }
            match asked.read(looked) {
                Ok(amount) => self.rows.push(Row {
                    key,
                    unit: amount.unit,
                    direction: asked.direction(),
                    class: class_of(asked.class(), looked.context.caps),
                    is_total: asked.is_total(),
                    value: amount.number,
                }),
                Err(NoNumber::Usage(why)) => return Err(why),
                Err(NoNumber::NoData(why) | NoNumber::Inconclusive(why)) => {
                    let name = key.name;
                    self.no_data.push(NoData { name, why });
                }
            }
        }
        Ok(())
    }
}

impl Digest {
    /// Adds what assertions ask for of a log that is there no more: as far as the digest has
    /// it, which is all metrics as they stand, and some statistics of them.
    pub fn ask_again<'a>(&mut self, asked: impl IntoIterator<Item = &'a Asked>) {
        for asked in asked {
            let name = asked.key();
            let is = |row: &&Row| {
                let Key { group, name, part } = &row.key;
                let is_it = match part.as_ref() {
                    "" => *name == asked.text,
                    part => {
                        asked
                            .text
                            .strip_prefix(name.as_str())
                            .and_then(|rest| rest.strip_prefix('.'))
                            == Some(part)
                    }
                };
                *group == Group::Program && is_it
            };
            match self.rows.iter().find(is).cloned() {
                Some(mut row) => {
                    row.key = Key {
                        group: Group::Asked,
                        name,
                        part: Cow::Borrowed(""),
                    };
                    self.rows.push(row);
                }
                None => self.no_data.push(NoData {
                    name,
                    why: "a digest does not tell it, only the log".to_owned(),
                }),
            }
        }
    }
}

/// What is counted depends on times if there are several capabilities, but for little.
fn class_of((metric, class): (Option<&'static Metric>, Class), caps: u64) -> Class {
    let is_same = metric.is_some_and(|metric| SAME_IN_PARALLEL.contains(&metric.name));
    if caps > 1 && !is_same {
        Class::Timed
    } else {
        class
    }
}

struct Draft {
    digest: Digest,
    caps: u64,
}

/// Numbers of one name, and by what it is chosen if there are too many.
struct Named {
    name: String,
    weight: f64,
    parts: Vec<Part>,
}

struct Part {
    name: &'static str,
    unit: Unit,
    direction: Direction,
    class: Class,
    is_total: bool,
    value: f64,
}

impl Part {
    fn total(name: &'static str, unit: Unit, direction: Direction, value: f64) -> Self {
        Self {
            name,
            unit,
            direction,
            class: Class::Timed,
            is_total: true,
            value,
        }
    }

    /// A time that does not grow with the work.
    fn time(name: &'static str, value: f64) -> Self {
        Self {
            is_total: false,
            ..Self::total(name, Unit::Ns, Direction::Lower, value)
        }
    }

    fn counted(self, class: Class) -> Self {
        Self { class, ..self }
    }
}

impl Draft {
    fn push(&mut self, group: Group, name: &str, part: Part) {
        if part.value.is_finite() {
            self.digest.rows.push(Row {
                key: Key {
                    group,
                    name: kept_name(name),
                    part: Cow::Borrowed(part.name),
                },
                unit: part.unit,
                direction: part.direction,
                class: part.class,
                is_total: part.is_total,
                value: part.value,
            });
        }
    }

    /// The names of a group: the heaviest are kept.
    fn group(&mut self, group: Group, mut all: Vec<Named>) {
        all.sort_small_by(|a, b| b.weight.total_cmp(&a.weight).then(a.name.cmp(&b.name)));
        let left_out = all.len().saturating_sub(MOST_NAMES);
        if left_out > 0 {
            self.digest.left_out.push((group, left_out as u64));
        }
        for named in all.into_iter().take(MOST_NAMES) {
            for part in named.parts {
                self.push(group, &named.name, part);
            }
        }
    }

    async fn threads(&mut self, context: &RuleContext<'_>, yielder: &dyn Yield) {
        let store = &context.log.store;
        let groups = store.label_groups(Some(context.range), yielder).await;
        let total = |name, direction, ns: u64| Part::total(name, Unit::Ns, direction, ns as f64);
        let named = |group: LabelGroup| {
            let times = &group.sums.times;
            let count = group.count as f64;
            Named {
                name: group.label.unwrap_or_else(|| "without a label".to_owned()),
                weight: times.running_ns as f64,
                parts: vec![
                    Part::total("count", Unit::Count, Direction::Neutral, count)
                        .counted(Class::Counted),
                    total("ran", Direction::Lower, times.running_ns),
                    total("ready", Direction::Lower, times.ready_ns()),
                    total(
                        "blocked",
                        Direction::Neutral,
                        times.blocked_outside_calls_ns(),
                    ),
                ],
            }
        };
        let is_of_program = |group: &LabelGroup| !group.label.as_deref().is_some_and(is_of_runtime);
        let groups = groups.unwrap_or_default().into_iter().filter(is_of_program);
        self.group(Group::Threads, groups.map(named).collect());
    }

    fn spans(&mut self, context: &RuleContext<'_>) {
        let mut all = Vec::new();
        let mut curves = Vec::new();
        for listed in context.log.tracks.spans.listed() {
            let inside = listed.spans.iter().filter(|span| {
                Nanos(span.start) >= context.range.start() && Nanos(span.end) <= context.range.end()
            });
            let lengths = Sorted::new(inside.map(|span| (span.end - span.start) as f64).collect());
            if lengths.len() == 0 {
                continue;
            }
            let (count, sum) = (lengths.len() as f64, lengths.sum());
            curves.push((sum, curve(Group::Spans, &listed.info.name, &lengths)));
            all.push(Named {
                name: listed.info.name.clone(),
                weight: sum,
                parts: vec![
                    Part::total("count", Unit::Count, Direction::Neutral, count)
                        .counted(Class::Counted),
                    Part::total("total", Unit::Ns, Direction::Lower, sum),
                    Part::time("median", lengths.percentile(50)),
                    Part::time("p99", lengths.percentile(99)),
                    Part::time("max", lengths.max()),
                ],
            });
        }
        self.group(Group::Spans, all);
        curves.sort_small_by(|a, b| b.0.total_cmp(&a.0));
        let curves = curves.into_iter().take(MOST_CURVES - 1);
        self.digest.curves.extend(curves.map(|(_, curve)| curve));
    }

    /// The time of the samples by the innermost cost centre.
    fn cost_centres(&mut self, context: &RuleContext<'_>) {
        let choice = Choice {
            source: sources::COST_CENTRES,
            range: Some(context.range),
            ..Choice::default()
        };
        let Some(origin) = context.log.origin(choice.source) else {
            return;
        };
        let weighed = origin.weighed(&choice);
        let mut by_frame = vec![0_u64; weighed.frames.len()];
        for (stack, weight) in weighed.stacks.ids().zip(&weighed.own) {
            let frame = weighed.stacks.frame(stack);
            if let Some(sum) = frame.and_then(|frame| by_frame.get_mut(frame.0 as usize)) {
                *sum = sum.saturating_add(weight.amount);
            }
        }
        let mut by_name: SeededMap<String, u64> = SeededMap::default();
        for ((_, frame), ns) in weighed.frames.iter().zip(by_frame) {
            if ns > 0 && !frame.is_idle() {
                *by_name.entry(frame.name()).or_default() += ns;
            }
        }
        let named = |(name, ns): (String, u64)| Named {
            name,
            weight: ns as f64,
            parts: vec![Part::total("time", Unit::Ns, Direction::Lower, ns as f64)],
        };
        self.group(Group::CostCentres, by_name.into_iter().map(named).collect());
    }

    /// What bands of heap profiles held on average over the time, and at most; bands of one
    /// name together.
    fn bands(&mut self, context: &RuleContext<'_>) {
        let mut by_name: SeededMap<String, (f64, f64)> = SeededMap::default();
        let names = context.log.band_names();
        for profile in context.log.heap().iter() {
            let places = profile.places(Some(context.range), context.log.end());
            for band in profile.bands() {
                let sums = profile.censuses.sums(band, places.clone());
                let Some(label) = profile.label(band).filter(|_| sums.held > 0) else {
                    continue;
                };
                let described = names.describe(profile.kind.breakdown, &label);
                let held = by_name.entry(described.long_name()).or_default();
                held.0 += sums.mean();
                held.1 += sums.max as f64;
            }
        }
        let bytes = |name, value| Part {
            is_total: false,
            ..Part::total(name, Unit::Bytes, Direction::Lower, value)
        };
        let named = |(name, (mean, max)): (String, (f64, f64))| Named {
            name,
            weight: mean,
            parts: vec![bytes("mean", mean), bytes("max", max)],
        };
        self.group(Group::Bands, by_name.into_iter().map(named).collect());
    }

    /// Every metric, and the findings.
    fn program(&mut self, looked: &MetricContext<'_>) {
        // Spans have a group of their own, in which they are told apart.
        let metrics = METRICS
            .iter()
            .filter(|metric| !metric.name.starts_with("span."));
        for metric in metrics {
            match metric.read(looked, &Labels::new()) {
                Ok(Numbers::One(value)) => {
                    let part = self.part_of(metric, ("", metric.unit), value);
                    self.push(Group::Program, metric.name, part);
                }
                Ok(Numbers::Many(all)) => {
                    let values = all.iter().map(|seen| seen.value).collect();
                    self.many(metric, Sorted::new(values));
                }
                Err(_) => {}
            }
        }
        let mut findings: Vec<&crate::Finding> = looked.report().gravest();
        findings.sort_small_by_key(|finding| Reverse(finding.severity));
        let findings = findings.into_iter().take(MOST_FINDINGS);
        self.digest.findings = findings.map(Known::from).collect();
    }

    fn many(&mut self, metric: &'static Metric, all: Sorted) {
        if all.len() == 0 {
            return;
        }
        let unit = metric.unit;
        let mut parts = vec![("p50", all.percentile(50)), ("max", all.max())];
        if unit == Unit::Ns {
            parts.splice(
                1..1,
                [("p90", all.percentile(90)), ("p99", all.percentile(99))],
            );
        }
        // The sum of the pauses is a metric by itself.
        if unit == Unit::Ns && metric.name != "gc.pause" {
            parts.push(("sum", all.sum()));
        }
        for (name, value) in parts {
            let part = self.part_of(metric, (name, unit), value);
            self.push(Group::Program, metric.name, part);
        }
        if metric.name == "gc.pause" {
            let curve = curve(Group::Program, metric.name, &all);
            self.digest.curves.insert(0, curve);
        }
    }

    fn part_of(
        &self,
        metric: &'static Metric,
        (name, unit): (&'static str, Unit),
        value: f64,
    ) -> Part {
        let sums_up = matches!(name, "" | "sum" | "count") && unit != Unit::Share;
        Part {
            name,
            unit,
            direction: metric.direction,
            class: class_of((Some(metric), metric.class), self.caps),
            is_total: sums_up && !matches!(metric.name, "finding.count" | "os.threads"),
            value,
        }
    }

    fn finish(mut self) -> Digest {
        self.digest.rows.sort_small_by_key(|row| row.key.group);
        self.digest
    }
}

fn curve(group: Group, name: &str, all: &Sorted) -> Curve {
    Curve {
        group,
        name: kept_name(name),
        unit: Unit::Ns,
        count: all.len() as u64,
        points: all.curve(),
    }
}
