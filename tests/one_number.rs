//! Equal names have equal values in the summary, metrics, digests, lists and the account of time. The default
//! range of all of them is the whole log.

use crate::common;

use std::collections::BTreeMap;

use analysis::numbers::Collection;
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::numbers::summary::Summary;
use analysis::timeline::thread_table::ThreadTableQuery;
use common::{Case, expected_coverage, for_all_spans, session_of};
use eventlog::ids::Nanos;
use insight::digest::NumberGroup;
use insight::measured::{MeasuredMetric, MeasuredValue};
use insight::metrics::MetricContext;
use insight::{Digest, RuleContext};
use model::time::Interval;
use session::Session;
use session::queries::{FindingsQuery, SparksQuery, SummaryQuery, ThreadTimeQuery, TimeQuery};

/// Values of each name, with their sources.
#[derive(Default)]
struct Numbers(BTreeMap<String, Vec<(&'static str, f64)>>);

impl Numbers {
    fn put(&mut self, name: &str, from: &'static str, number: Option<f64>) {
        let all = self.0.entry(name.to_owned()).or_default();
        all.extend(number.map(|number| (from, number)));
    }

    fn count(&mut self, name: &str, from: &'static str, number: Option<u64>) {
        self.put(name, from, number.map(|number| number as f64));
    }

    /// Returns the number of names with several values, or an error if they differ.
    fn are_one(&self) -> Result<usize, String> {
        for (name, all) in &self.0 {
            if all.windows(2).any(|two| two[0].1 != two[1].1) {
                return Err(format!("{name}: {all:?}"));
            }
        }
        Ok(self.0.values().filter(|all| all.len() > 1).count())
    }
}

fn of_summary(numbers: &mut Numbers, summary: &Summary) {
    let mut count = |name: &str, number| numbers.count(name, "summary", number);
    count("alloc.bytes", summary.bytes_allocated);
    count("gc.copied", summary.bytes_copied);
    count("gc.count", summary.collections);
    count("gc.time", summary.in_collections_ns());
    count("time.gc", summary.gc_ns);
    count("time.prof", summary.prof_ns);
    count("heap.live.max", summary.max_residency);
    count("heap.size.max", summary.max_heap_size);
    count("os.threads", summary.os_threads);
    count("time.exit", summary.exit_ns);
    count("time.init", summary.init_ns);
    count("time.mutator", summary.mutator_ns);
    count("time.wall", Some(summary.total_ns));
    if let Some(sparks) = summary.sparks {
        count("spark.collected", Some(sparks.gcd));
        count("spark.converted", Some(sparks.converted));
        count("spark.count", Some(sparks.count));
        count("spark.dud", Some(sparks.dud));
        count("spark.fizzled", Some(sparks.fizzled));
        count("spark.overflowed", Some(sparks.overflowed));
    }
    let pauses = summary.generations.iter();
    let pauses = pauses.filter(|row| row.collections > 0);
    count(
        "gc.pause.max of all with statistics",
        pauses.map(|row| row.max_pause_ns).max(),
    );
    let mut put = |name: &str, number| numbers.put(name, "summary", number);
    put("cap.busy", summary.cap_busy);
    put("gc.balance", summary.work_balance);
    put("time.productivity", summary.productivity);
}

fn of_metrics(numbers: &mut Numbers, measured: &[MeasuredMetric]) {
    for one in measured {
        match &one.found {
            MeasuredValue::One { value } => numbers.put(one.metric.name, "metrics", Some(*value)),
            MeasuredValue::Many { values, ranks } => {
                let name = |part: &str| format!("{}.{part}", one.metric.name);
                let max = ranks.get("max").map(|seen| seen.value);
                numbers.put(&name("max"), "metrics", max);
                if one.metric.name == "gc.pause" {
                    numbers.count("gc.count", "pauses", Some(values.len() as u64));
                }
            }
            MeasuredValue::None { .. } => {}
        }
    }
}

fn of_digest(numbers: &mut Numbers, digest: &Digest) {
    for row in &digest.rows {
        if row.key.group == NumberGroup::Program {
            let name = match row.key.part.as_ref() {
                "" => row.key.name.clone(),
                part => format!("{}.{part}", row.key.name),
            };
            numbers.put(&name, "digest", Some(row.value));
        }
    }
}

/// A metric has a value exactly if the summary has one.
fn same_are_known(measured: &[MeasuredMetric], summary: &Summary) -> Result<(), String> {
    let known = [
        ("gc.count", summary.collections.is_some()),
        ("gc.copied", summary.bytes_copied.is_some()),
        ("gc.time", summary.gc_ns.is_some()),
        ("time.mutator", summary.mutator_ns.is_some()),
        ("time.productivity", summary.productivity.is_some()),
    ];
    for (name, is_known) in known {
        let mut of_name = measured.iter().filter(|one| one.metric.name == name);
        let has = of_name.any(|one| !matches!(one.found, MeasuredValue::None { .. }));
        if has != is_known {
            return Err(format!("{name} is known to one: {has}, summary {is_known}"));
        }
    }
    Ok(())
}

/// Collects all numbers of a range of a log.
fn numbers(
    session: &Session,
    range: Option<Interval>,
    summary: &Summary,
) -> Result<Numbers, String> {
    let mut numbers = Numbers::default();
    of_summary(&mut numbers, summary);
    let looked = MetricContext::new(RuleContext::new(session.recording(), range));
    let measured = MeasuredMetric::evaluate_all(&looked);
    let findings = session.ask(&FindingsQuery(range)).ok_or("no findings")?;
    for one in &measured {
        let of_rules = ["finding.count", "time.unexplained"].contains(&one.metric.name);
        let range = if of_rules {
            findings.range
        } else {
            summary.range
        };
        if one.range != range {
            return Err(format!("the window of {} is another", one.metric.name));
        }
    }
    numbers.count(
        "time.unexplained",
        "findings",
        Some(findings.unexplained_ns),
    );
    of_metrics(&mut numbers, &measured);
    same_are_known(&measured, summary)?;
    let digest = Digest::gather_blocking(session.recording(), range);
    if digest.range != summary.range || range.is_some_and(|range| findings.range != range) {
        return Err(format!(
            "other windows: {} {}",
            digest.range.end().0,
            findings.range.end().0
        ));
    }
    of_digest(&mut numbers, &digest);

    let times = session.ask(&TimeQuery(range));
    let threads = session.ask(&ThreadTimeQuery(range)).ok_or("no threads")?;
    let table = ThreadTableQuery {
        range,
        ..ThreadTableQuery::default()
    };
    let table = session.ask(&table).ok_or("no table")?;
    let has_threads = times.all_caps().running_ns > 0;
    let mut count = |name: &str, from, number: u64| {
        numbers.count(name, from, has_threads.then_some(number));
    };
    count("thread.run", "capabilities", times.all_caps().running_ns);
    count(
        "thread.run",
        "threads",
        threads.iter().map(|thread| thread.running_ns).sum(),
    );
    // The table lists the last run of a truncated log separately.
    let table_ns = table.all.times.running_ns + table.all.times.open_ns;
    count("thread.run", "table", table_ns);
    let parallel = times.parallelism_ns.iter().enumerate();
    let parallel = parallel.map(|(count, ns)| count as u64 * ns);
    count("thread.run", "parallelism", parallel.sum());
    count("thread.count", "table", table.total);
    let blocked = threads.iter().flat_map(|thread| thread.blocked_ns.values());
    count("thread.blocked", "threads", blocked.sum());
    let blocked_ns = table.all.times.blocked_outside_calls_ns();
    count("thread.blocked", "table", blocked_ns);

    let query = CollectionsQuery {
        range,
        rows: 0..u64::MAX,
        ..CollectionsQuery::default()
    };
    let rows = session.ask(&query).rows;
    let sum = |of: fn(&Collection) -> u64| Some(rows.iter().map(of).sum());
    if summary.collections.is_some() {
        numbers.count("gc.count", "rows", Some(rows.len() as u64));
        numbers.count("gc.count", "time", Some(times.collections.count));
        if range.is_none() {
            numbers.count("gc.time", "rows", sum(Collection::pause_ns));
            numbers.count("gc.time", "time", Some(times.collections.pause_ns));
        }
    }
    if summary.bytes_copied.is_some() {
        numbers.count("gc.copied", "rows", sum(|row| row.copied_bytes));
    }
    if let Some(all) = session.ask(&SparksQuery(range)).rows.first() {
        numbers.count("spark.count", "sparks", Some(all.totals.count));
        numbers.count("spark.converted", "sparks", Some(all.totals.converted));
    }
    let caps = summary.capabilities.iter();
    let allocated = caps.filter_map(|cap| cap.bytes_allocated);
    if summary.bytes_allocated.is_some() {
        numbers.count("alloc.bytes", "capabilities", Some(allocated.sum()));
    }
    if let (Some(mutator), Some(gc)) = (summary.mutator_ns, summary.in_collections_ns()) {
        let runtime = summary.init_ns.unwrap_or(0) + summary.exit_ns.unwrap_or(0);
        numbers.count("time.wall", "phases", Some(mutator + gc + runtime));
    }
    Ok(numbers)
}

#[test]
fn equal_names_have_equal_values() {
    for_all_spans(expected_coverage([0, 0], [0, 0]), |session, log| {
        let (length, end) = (log.duration().0, log.end().0);
        let part = Interval::new(Nanos(log.start().0 + length / 3), Nanos(end - length / 4));
        let mut compared = 0;
        for range in [None, Some(part)] {
            let summary = session.ask(&SummaryQuery(range));
            let whole = Interval::new(Nanos(0), Nanos(end));
            if summary.range != range.unwrap_or(whole) {
                return Err(format!("of {}", summary.range.end().0));
            }
            compared += numbers(session, range, &summary)?.are_one()?;
        }
        Ok(compared)
    });
}

/// The JSON of commands states its range, and `assert` finds the same numbers.
#[test]
fn commands_state_the_part_and_agree() {
    let case: Case = common::fixture("ghc-9.6.6/gc-heavy-N1-l");
    let file = case.log.to_str().expect("UTF-8");
    let end = session_of(&case.bytes())
        .expect("a log")
        .recording()
        .end()
        .0;
    let whole = serde_json::json!({"from_ns": 0, "to_ns": end});
    let part = serde_json::json!({"from_ns": 1_000_000, "to_ns": 9_000_000});
    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_str(&common::stdout(words)).expect("JSON")
    };
    // Rules look only at the program: from its first run to the collection with which the runtime exits.
    let of_rules = json(&["findings", "--json", file])["range"].clone();
    assert!(of_rules["from_ns"].as_u64() > Some(0) && of_rules["to_ns"].as_u64() < Some(end));
    for command in ["summary", "time", "findings"] {
        if command != "findings" {
            assert_eq!(
                json(&[command, "--json", file])["range"],
                whole,
                "{command}"
            );
        }
        let words = [
            command, "--json", "--from", "1000000", "--to", "9000000", file,
        ];
        assert_eq!(json(&words)["range"], part, "{command}");
    }
    assert_eq!(json(&["digest", file])["range"], whole);
    let measured = json(&["metrics", "--json", file]);
    let measured = measured.as_array().expect("metrics");
    let mut words = vec!["assert".to_owned(), file.to_owned()];
    for one in measured {
        let is_of_rules =
            ["finding.count", "time.unexplained"].contains(&one["name"].as_str().expect("a name"));
        assert_eq!(&one["range"], if is_of_rules { &of_rules } else { &whole });
        if let (Some(value), "count") =
            (one["value"].as_f64(), one["unit"].as_str().expect("a unit"))
        {
            words.push(format!(
                "{} == {value}",
                one["name"].as_str().expect("a name")
            ));
        }
    }
    assert!(words.len() > 6, "{words:?}");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(common::eventscope(&words).status.code(), Some(0));
}
