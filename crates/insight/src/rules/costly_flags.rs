//! Do the run's options cost time?
//!
//! Some runtime options trade speed for memory, for short pauses or for checks. Where the log shows their cost,
//! dropping them is the first thing to try.

use super::area_estimate::default_area_advice;
use super::nonmoving_lag::phases;
use super::nursery_too_small::small_area_option;
use super::prelude::*;
use super::requested_collections::claim_collections;
use analysis::timeline::nonmoving::Phase;
use model::class::StopCode;
use model::gauge::Samples;

/// Minimum share of the time; the option may be worth less.
const MIN_SHARE: f64 = 0.05;
/// Minimum number of major collections; fewer are no pattern.
const MIN_COUNT: usize = 3;
/// Minimum number of minor collections; of fewer, one long one may dominate.
const MIN_MINOR: usize = 50;
/// Below this factor the old generation is collected at least twice as often as by default.
const SMALL_FACTOR: f64 = 1.5;
/// Share of the heap limit from which the heap is near it.
const NEAR: f64 = 0.80;
/// Share of the heap limit from which live data is compacted by default (`-c30`, `resize_generations` in rts/sm/GC.c).
const COMPACTED: f64 = 0.30;
/// Minimum mean number of capabilities that run threads, for a program whose collections are worth sharing.
const PARALLEL: f64 = 1.3;
/// Minimum number of bytes copied by a major collection for several threads to share it.
const MUCH_COPIED: u64 = 4_000_000;
/// Minimum share of the time spent marking; marking takes a core, so that much slows a program down.
const MIN_MARKING: f64 = 0.20;

/// Time slice below which threads are stopped much more often than by default, after 20 ms (`-C`).
const SHORT_SLICE_SECONDS: f64 = 0.010;
/// Minimum number of stops at the end of a slice, per second of running time; fewer threads want to run otherwise.
const MIN_STOPS: f64 = 100.0;
/// Number from which they take much of the time: with slices of 50 µs, a program took 2.6 times as long.
const MANY_STOPS: f64 = 2_000.0;

pub(super) const RULE: Rule = Rule {
    name: "costly-flags",
    question: "Do options of the run cost time?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Option that costs time in collections.
struct CostlyOption {
    flag: String,
    /// Whether major collections cost the time; otherwise minor ones.
    is_major: bool,
    /// Upper bound of the severity.
    most: Severity,
    meaning: &'static str,
    price: &'static str,
}

impl CostlyOption {
    /// Creates an option that major collections cost time for.
    fn new(flag: impl Into<String>, meaning: &'static str, price: &'static str) -> Self {
        Self {
            flag: flag.into(),
            is_major: true,
            most: Severity::High,
            meaning,
            price,
        }
    }
}

/// Returns whether the heap came near its limit, or live data is so much of it that it is compacted.
fn is_near_limit(context: &RuleContext<'_>, limit: u64) -> bool {
    let sizes = context.log.numbers.heap_sizes();
    let (from, to) = (context.range.start().0, context.range.end().0);
    let indices = sizes.first_at(from)..sizes.first_after(to);
    let most = indices.map(|index| sizes.value(index)).max();
    let live = context.log.numbers.live();
    let indices = live.first_at(from)..live.first_after(to);
    let most_live = indices.map(|index| live.value(index)).max();
    most.is_some_and(|most| most as f64 >= NEAR * limit as f64)
        || most_live.is_some_and(|live| live as f64 >= COMPACTED * limit as f64)
}

/// Returns whether major collections copy enough, on average, for several threads to share it.
fn do_majors_copy_much(context: &RuleContext<'_>) -> bool {
    let majors = context.measured_collections(true);
    let copied = majors.filter_map(|(_, gc)| gc.statistics.map(|one| one.copied_bytes));
    let (count, bytes) = copied.fold((0_u64, 0_u64), |(count, sum), bytes| {
        (count + 1, sum.saturating_add(bytes))
    });
    bytes >= MUCH_COPIED.saturating_mul(count.max(1))
}

/// Returns the options of the run that cost time in collections.
fn costly_options(context: &RuleContext<'_>) -> Vec<CostlyOption> {
    let mut all = Vec::new();
    let options = context.log.info.runtime_options();
    let checks = |word: &&String| word.starts_with("-D") && word.contains('S');
    if let Some(flag) = options.iter().find(checks) {
        all.push(CostlyOption::new(
            flag,
            "The debug runtime checks the whole heap around each collection.",
            "no sanity checks",
        ));
    }
    if context.has_argument("-c") {
        all.push(CostlyOption::new(
            "-c",
            "Major collections mark and compact all live data in place: that takes longer than copying, and needs less memory.",
            "memory: live data exists twice during a collection",
        ));
    }
    if context.has_argument("-G1") {
        all.push(CostlyOption {
            most: Severity::Medium,
            ..CostlyOption::new(
            "-G1",
            "With one generation, each collection copies all live data. That also keeps it together in memory, so that threads may run slower without the option.",
            "each major collection takes as long as before",
        )
        });
    }
    if let Some(value) = context.option_value("-F")
        && context.old_generation_factor() < SMALL_FACTOR
        && !context.is_nonmoving()
    {
        all.push(CostlyOption::new(
            format!("-F{value}"),
            "The old generation is collected after little growth; by default, when it has doubled.",
            "memory: the old generation may grow to twice live data",
        ));
    }
    if let Some(value) = context.option_value("-M")
        && context
            .heap_limit_bytes()
            .is_some_and(|limit| is_near_limit(context, limit))
    {
        all.push(CostlyOption::new(
            format!("-M{value}"),
            "With a heap limit, major collections compact live data in place once it is 30 % of the limit, which takes longer than copying. Near the limit they also come more often.",
            "memory: the heap may become larger",
        ));
    }
    // A program that runs on one capability gained nothing without it.
    let is_parallel = context.caps > 1 && context.wanted_parallelism() >= PARALLEL;
    if context.has_argument("-qg") && is_parallel && do_majors_copy_much(context) {
        all.push(CostlyOption::new(
            "-qg",
            "One thread collects, and the other capabilities wait for it. Collections that copy this much are faster if all of them take part. Two programs with large tables took 38 and 42 % longer with the option.",
            "small collections wait until all capabilities are awake",
        ));
    }
    if let Some(flag) = small_area_option(context) {
        all.push(CostlyOption {
            is_major: false,
            ..CostlyOption::new(
                flag,
                "A smaller allocation area causes more collections, each with a fixed cost.",
                "memory: 1 MiB for each capability before GHC 9.2, 4 MiB since",
            )
        });
    }
    all
}

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let costly_options = costly_options(context);
    let examined = costly_options
        .iter()
        .map(|one| one.flag.clone())
        .collect::<Vec<_>>();
    let found = costly_options
        .into_iter()
        .filter_map(|one| collections_finding(context, loss_budget, one));
    let mut found: Vec<Finding> = found.collect();
    found.extend(nonmoving_finding(context));
    found.extend(time_slice_finding(context));
    if !found.is_empty() {
        return Outcome::Found(found);
    }
    Outcome::Clear(match examined.is_empty() {
        true => "no option on the command line or in GHCRTS costs time in collections".to_owned(),
        false => format!(
            "{}: its collections took less than the limit of 5 % of the time, were too few, or are counted in another finding",
            examined.join(", ")
        ),
    })
}

/// Creates the finding on an option from the collections that it affects, unless they are few or claimed.
fn collections_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    costly: CostlyOption,
) -> Option<Finding> {
    let found = loss_budget.free_pauses(context.measured_collections(costly.is_major));
    let pause_ns: u64 = found.iter().map(|(_, gc)| gc.pause_ns()).sum();
    let share = context.share(pause_ns);
    let least = if costly.is_major {
        MIN_COUNT
    } else {
        MIN_MINOR
    };
    if share < MIN_SHARE || found.len() < least {
        return None;
    }
    let kind = if costly.is_major { "major" } else { "minor" };
    let title = format!(
        "With {}, {} took {} of the time",
        costly.flag,
        format::pluralize(found.len() as u64, &format!("{kind} collection")),
        format::fraction(share)
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    finding.confidence = Confidence::Probable;
    finding.severity = finding.severity.min(costly.most);
    finding.meaning = costly.meaning.into();
    finding.tries = vec![run_without(&costly.flag, costly.price)];
    if !costly.is_major {
        // From 256 KiB, the default before GHC 9.2 saved nothing in a judged program, and this area 12 %.
        finding.tries.extend(default_area_advice(context));
    }
    finding.distrust =
        "Without the option some of these collections remain; it may be set on purpose.".into();
    finding.set_numbers([
        ("collections", Value::Count(found.len() as u64)),
        ("their pauses", Value::Ns(pause_ns)),
    ]);
    finding.subject = Some(costly.flag);
    Some(finding)
}

/// Creates advice to run without an option.
fn run_without(flag: &str, price: &'static str) -> Advice {
    let mut advice = Advice::code(format!(
        "Drop {flag}, and compare runs with and without it."
    ));
    advice.price = Some(price.into());
    advice
}

/// Returns whether a finding is about the time slice of threads.
pub(crate) fn is_about_time_slice(finding: &Finding) -> bool {
    let option = finding.subject.as_deref();
    finding.rule == RULE.name && option.is_some_and(|option| option.starts_with("-C"))
}

/// Creates the finding on a short time slice. What a switch costs is not in the log: most of it is that caches hold
/// another thread's data, and that data of more threads is alive at a time.
fn time_slice_finding(context: &RuleContext<'_>) -> Option<Finding> {
    let value = context.option_value("-C")?;
    let slice_seconds: f64 = value.parse().ok()?;
    let store = &context.log.store;
    let stops = store.runs_ended_by(StopCode::YIELDING, context.range) as u64;
    let running_ns = context.times.all_caps().running_ns.max(1);
    let stops_per_second = stops as f64 * 1e9 / running_ns as f64;
    if slice_seconds >= SHORT_SLICE_SECONDS || stops_per_second < MIN_STOPS {
        return None;
    }
    let flag = format!("-C{value}");
    let title = format!(
        "With {flag}, threads were stopped {} at the end of a time slice, after {} on average",
        format::pluralize(stops, "time"),
        format::duration_ns(running_ns / stops.max(1))
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.severity = match stops_per_second >= MANY_STOPS {
        true => Severity::High,
        false => Severity::Medium,
    };
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Count(stops);
    finding.meaning = "By default a thread runs for 20 ms before the next one has its turn. After each switch the processor's caches hold the data of another thread, and collections copy what more unfinished threads hold.".into();
    finding.tries = vec![run_without(&flag, "threads wait longer for their turn")];
    if let Some(tick) = context.option_value("-V") {
        let text = format!("Drop -V{tick} with it: the timer ticks every 10 ms by default.");
        finding.tries.push(Advice::code(text));
    }
    finding.distrust = "Threads that call yield themselves are counted, too.".into();
    finding.set_numbers([
        ("stops", Value::Count(stops)),
        (
            "a second of running time",
            Value::PerSecond(stops_per_second),
        ),
    ]);
    finding.subject = Some(flag);
    finding.counted = "stop".into();
    let evidence = Evidence::new(context.range, Value::Count(stops));
    Some(finding.with_evidence([evidence]))
}

/// Creates the finding on the nonmoving collector, if an option enables it. It costs a core for marking, and
/// slower promotion; the log shows only the former.
fn nonmoving_finding(context: &RuleContext<'_>) -> Option<Finding> {
    let flag = ["--nonmoving-gc", "-xn"]
        .into_iter()
        .find(|flag| context.has_argument(flag))?;
    let spans = phases(context, Phase::Mark);
    let marking_ns: u64 = spans.iter().map(|span| span.duration().0).sum();
    let share = context.share(marking_ns);
    if share < MIN_MARKING {
        return None;
    }
    let title = format!(
        "With {flag}, marking took {}, {} of the time",
        format::duration_ns(marking_ns),
        format::fraction(share)
    );
    // It uses no capability time as long as a core is free, so there is nothing to claim.
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Hint;
    finding.cost = Value::Share(share);
    finding.share = share;
    finding.subject = Some(flag.to_owned());
    finding.meaning = "The nonmoving collector shortens pauses but slows programs down: it marks concurrently, and promotion costs more.".into();
    finding.tries = vec![run_without(flag, "long pauses, with much live data")];
    finding.distrust = "Where latency matters more than throughput, this is intended.".into();
    finding.set_numbers([("marking", Value::Ns(marking_ns))]);
    let evidence = spans
        .into_iter()
        .map(|range| Evidence::new(range, Value::Ns(range.duration().0)));
    Some(finding.with_evidence(evidence))
}
