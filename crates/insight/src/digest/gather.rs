//! Creation of digests.

use std::cmp::Reverse;

use super::facts::facts;
use super::numbers::SortedNumbers;
use super::{
    Curve, Digest, FindingSummary, Key, MAX_CURVES, MAX_FINDINGS, MAX_NAMES, MissingNumber,
    NumberGroup, Row,
};
use crate::assertion::ValueRequest;
use crate::context::RuleContext;
use crate::metrics::{
    Direction, Labels, METRICS, Metric, MetricContext, NumberError, Numbers, Unit, Variability,
};
use crate::report::Report;
use crate::threads::is_runtime_label;
use crate::truncated_name::truncated_name;
use analysis::flamegraph::sources;
use analysis::recording::Recording;
use analysis::timeline::label_groups::LabelGroup;
use analysis::yielder::{NoYield, Yield, block_on};
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use model::profile::stack_source::FlameSelection;
use model::sorting::CompactSort;
use model::time::Interval;

/// Counted metrics that are the same in each run, however many capabilities the program has.
const SAME_IN_PARALLEL: [&str; 4] = ["alloc.bytes", "span.count", "spark.count", "thread.count"];

impl Digest {
    /// Creates the digest of a completely read log, or of a range of it. `report` has the answers of the rules for the
    /// same range; `None` computes them.
    pub async fn gather(
        log: &Recording,
        range: Option<Interval>,
        report: Option<Report>,
        yielder: &dyn Yield,
    ) -> Self {
        let report = match report {
            Some(report) => report,
            None => {
                let context = RuleContext::for_rules(log, range).yielding(yielder);
                Report::evaluate(&context).await
            }
        };
        let context = RuleContext::new(log, range).yielding(yielder);
        yielder.yield_if_due().await;
        let mut builder = DigestBuilder {
            caps: context.caps,
            digest: Self {
                range: context.range,
                facts: facts(&context),
                started_unix_ns: log.info.clock_origin_ns.and_then(|ns| ns.try_into().ok()),
                ..Self::default()
            },
        };
        builder.add_threads(&context).await;
        builder.add_spans(&context);
        yielder.yield_if_due().await;
        builder.add_cost_centres(&context);
        builder.add_bands(&context);
        yielder.yield_if_due().await;
        context.threads().await;
        builder.add_program(&MetricContext::new(context).with_report(Some(report)));
        builder.finish()
    }

    /// [`gather`](Self::gather) without yielding, for callers with nothing else to run.
    pub fn gather_blocking(log: &Recording, range: Option<Interval>) -> Self {
        block_on(Self::gather(log, range, None, &NoYield))
    }

    /// Adds the numbers that assertions use. Those that the log does not have go to `no_data` with the reason.
    ///
    /// # Errors
    ///
    /// If a request is invalid for any log.
    pub fn add_requested<'a>(
        &mut self,
        requests: impl IntoIterator<Item = &'a ValueRequest>,
        metrics: &MetricContext<'_>,
    ) -> Result<(), String> {
        for request in requests {
            let key = Key::new(NumberGroup::Asked, request.key(), "");
            if self.rows.iter().any(|row| row.key == key) {
                continue;
            }
            match request.evaluate(metrics) {
                Ok(amount) => self.rows.push(Row {
                    key,
                    unit: amount.unit,
                    direction: request.direction(),
                    class: class_of(request.class(), metrics.context.caps),
                    is_total: request.is_total(),
                    value: amount.number,
                }),
                Err(NumberError::Usage(why)) => return Err(why),
                Err(NumberError::NoData(why) | NumberError::Inconclusive(why)) => {
                    let name = key.name;
                    self.no_data.push(MissingNumber { name, why });
                }
            }
        }
        Ok(())
    }

    /// Adds the numbers that assertions use when the log is no longer available. A digest has all metrics
    /// themselves and some of their statistics; anything else goes to `no_data`.
    pub fn add_requested_from_digest<'a>(
        &mut self,
        requests: impl IntoIterator<Item = &'a ValueRequest>,
    ) {
        for request in requests {
            let name = request.key();
            let is = |row: &&Row| {
                let Key { group, name, part } = &row.key;
                let is_it = match part.as_ref() {
                    "" => *name == request.text,
                    part => {
                        request
                            .text
                            .strip_prefix(name.as_str())
                            .and_then(|rest| rest.strip_prefix('.'))
                            == Some(part)
                    }
                };
                *group == NumberGroup::Program && is_it
            };
            match self.rows.iter().find(is).cloned() {
                Some(mut row) => {
                    row.key = Key::new(NumberGroup::Asked, name, "");
                    self.rows.push(row);
                }
                None => self.no_data.push(MissingNumber {
                    name,
                    why: "a digest does not tell it, only the log".to_owned(),
                }),
            }
        }
    }
}

/// With several capabilities, counted metrics depend on timing, except for [`SAME_IN_PARALLEL`].
fn class_of((metric, class): (Option<&'static Metric>, Variability), caps: u64) -> Variability {
    let is_same = metric.is_some_and(|metric| SAME_IN_PARALLEL.contains(&metric.name));
    if caps > 1 && !is_same {
        Variability::Timed
    } else {
        class
    }
}

struct DigestBuilder {
    digest: Digest,
    caps: u64,
}

/// Numbers of one name, with the weight that decides which names are kept.
struct NamedValues {
    name: String,
    weight: f64,
    parts: Vec<StatisticValue>,
}

struct StatisticValue {
    name: &'static str,
    unit: Unit,
    direction: Direction,
    class: Variability,
    is_total: bool,
    value: f64,
}

impl StatisticValue {
    fn total(name: &'static str, unit: Unit, direction: Direction, value: f64) -> Self {
        Self {
            name,
            unit,
            direction,
            class: Variability::Timed,
            is_total: true,
            value,
        }
    }

    /// Creates a time that does not grow with the work.
    fn time(name: &'static str, value: f64) -> Self {
        Self {
            is_total: false,
            ..Self::total(name, Unit::Ns, Direction::Lower, value)
        }
    }

    fn with_class(self, class: Variability) -> Self {
        Self { class, ..self }
    }
}

impl DigestBuilder {
    fn push(&mut self, group: NumberGroup, name: &str, part: StatisticValue) {
        if part.value.is_finite() {
            self.digest.rows.push(Row {
                key: Key::new(group, truncated_name(name), part.name),
                unit: part.unit,
                direction: part.direction,
                class: part.class,
                is_total: part.is_total,
                value: part.value,
            });
        }
    }

    /// Adds the names of a group; those with the greatest weights are kept.
    fn add_group(&mut self, group: NumberGroup, mut all: Vec<NamedValues>) {
        all.sort_small_by(|a, b| b.weight.total_cmp(&a.weight).then(a.name.cmp(&b.name)));
        let left_out = all.len().saturating_sub(MAX_NAMES);
        if left_out > 0 {
            self.digest.left_out.push((group, left_out as u64));
        }
        for named in all.into_iter().take(MAX_NAMES) {
            for part in named.parts {
                self.push(group, &named.name, part);
            }
        }
    }

    async fn add_threads(&mut self, context: &RuleContext<'_>) {
        let store = &context.log.store;
        let groups = store
            .label_groups(Some(context.range), context.yielder)
            .await;
        let total =
            |name, direction, ns: u64| StatisticValue::total(name, Unit::Ns, direction, ns as f64);
        let named = |group: LabelGroup| {
            let times = &group.sums.times;
            let count = group.count as f64;
            NamedValues {
                name: group.label.unwrap_or_else(|| "without a label".to_owned()),
                weight: times.running_ns as f64,
                parts: vec![
                    StatisticValue::total("count", Unit::Count, Direction::Neutral, count)
                        .with_class(Variability::Counted),
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
        let is_of_program =
            |group: &LabelGroup| !group.label.as_deref().is_some_and(is_runtime_label);
        let groups = groups.unwrap_or_default().into_iter().filter(is_of_program);
        self.add_group(NumberGroup::Threads, groups.map(named).collect());
    }

    fn add_spans(&mut self, context: &RuleContext<'_>) {
        let mut all = Vec::new();
        let mut curves = Vec::new();
        for listed in context.log.tracks.spans.listed() {
            let inside = listed.calls().iter().filter(|span| {
                Nanos(span.start) >= context.range.start() && Nanos(span.end) <= context.range.end()
            });
            let lengths =
                SortedNumbers::new(inside.map(|span| (span.end - span.start) as f64).collect());
            if lengths.len() == 0 {
                continue;
            }
            let (count, sum) = (lengths.len() as f64, lengths.sum());
            curves.push((sum, curve(NumberGroup::Spans, &listed.info.name, &lengths)));
            all.push(NamedValues {
                name: listed.info.name.clone(),
                weight: sum,
                parts: vec![
                    StatisticValue::total("count", Unit::Count, Direction::Neutral, count)
                        .with_class(Variability::Counted),
                    StatisticValue::total("total", Unit::Ns, Direction::Lower, sum),
                    StatisticValue::time("median", lengths.percentile(50)),
                    StatisticValue::time("p99", lengths.percentile(99)),
                    StatisticValue::time("max", lengths.max()),
                ],
            });
        }
        self.add_group(NumberGroup::Spans, all);
        curves.sort_small_by(|a, b| b.0.total_cmp(&a.0));
        let curves = curves.into_iter().take(MAX_CURVES - 1);
        self.digest.curves.extend(curves.map(|(_, curve)| curve));
    }

    /// Adds the time of the samples by innermost cost centre.
    fn add_cost_centres(&mut self, context: &RuleContext<'_>) {
        let choice = FlameSelection {
            source: sources::COST_CENTRES,
            range: Some(context.range),
            ..FlameSelection::default()
        };
        let Some(origin) = context.log.stack_source(choice.source) else {
            return;
        };
        let weighed = origin.weighted_stacks(&choice);
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
        let named = |(name, ns): (String, u64)| NamedValues {
            name,
            weight: ns as f64,
            parts: vec![StatisticValue::total(
                "time",
                Unit::Ns,
                Direction::Lower,
                ns as f64,
            )],
        };
        self.add_group(
            NumberGroup::CostCentres,
            by_name.into_iter().map(named).collect(),
        );
    }

    /// Adds the mean over time and the maximum of heap profile bands; bands of the same name are summed.
    fn add_bands(&mut self, context: &RuleContext<'_>) {
        let mut by_name: SeededMap<String, (f64, f64)> = SeededMap::default();
        let names = context.log.band_names();
        for profile in context.log.heap().iter() {
            let places = profile.censuses_in(Some(context.range), context.log.end());
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
        let bytes = |name, value| StatisticValue {
            is_total: false,
            ..StatisticValue::total(name, Unit::Bytes, Direction::Lower, value)
        };
        let named = |(name, (mean, max)): (String, (f64, f64))| NamedValues {
            name,
            weight: mean,
            parts: vec![bytes("mean", mean), bytes("max", max)],
        };
        self.add_group(NumberGroup::Bands, by_name.into_iter().map(named).collect());
    }

    /// Adds every metric, and the findings.
    fn add_program(&mut self, metrics: &MetricContext<'_>) {
        // Spans have their own group, in which they are separated by name.
        let program_metrics = METRICS
            .iter()
            .filter(|metric| !metric.name.starts_with("span."));
        for metric in program_metrics {
            match metric.evaluate(metrics, &Labels::new()) {
                Ok(Numbers::One(value)) => {
                    let part = self.statistic_value(metric, ("", metric.unit), value);
                    self.push(NumberGroup::Program, metric.name, part);
                }
                Ok(Numbers::Many(all)) => {
                    let values = all.iter().map(|seen| seen.value).collect();
                    self.add_many(metric, SortedNumbers::new(values));
                }
                Err(_) => {}
            }
        }
        let mut findings: Vec<&crate::Finding> = metrics.report().significant_findings();
        findings.sort_small_by_key(|finding| Reverse(finding.severity));
        let findings = findings.into_iter().take(MAX_FINDINGS);
        self.digest.findings = findings.map(FindingSummary::from).collect();
    }

    fn add_many(&mut self, metric: &'static Metric, all: SortedNumbers) {
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
        // The sum of the pauses is a metric of its own (`gc.time`).
        if unit == Unit::Ns && metric.name != "gc.pause" {
            parts.push(("sum", all.sum()));
        }
        for (name, value) in parts {
            let part = self.statistic_value(metric, (name, unit), value);
            self.push(NumberGroup::Program, metric.name, part);
        }
        if metric.name == "gc.pause" {
            let curve = curve(NumberGroup::Program, metric.name, &all);
            self.digest.curves.insert(0, curve);
        }
    }

    fn statistic_value(
        &self,
        metric: &'static Metric,
        (name, unit): (&'static str, Unit),
        value: f64,
    ) -> StatisticValue {
        let sums_up = matches!(name, "" | "sum" | "count") && unit != Unit::Share;
        StatisticValue {
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

fn curve(group: NumberGroup, name: &str, all: &SortedNumbers) -> Curve {
    Curve {
        group,
        name: truncated_name(name),
        unit: Unit::Ns,
        count: all.len() as u64,
        points: all.curve(),
    }
}
