//! Does the program allocate in bursts?
//!
//! The runtime logs allocation at collections. If a short part of the run has much of all allocation, that part is
//! where to look when memory or collections are a concern. The rate is per running time, so idling elsewhere does
//! not make a burst.

use super::prelude::*;

/// Number of equal parts into which the range is divided.
const PARTS: u64 = 40;
/// Minimum rate of a burst, as a factor of the mean rate while threads run.
const MIN_TIMES: f64 = 3.0;
/// Minimum share of all allocation in bursts.
const MIN_SHARE: f64 = 0.30;
/// Minimum bytes in bursts; less is normal for a tenth of a second.
const MIN_BYTES: u64 = 100_000_000;
/// Share of the time from which collections are worth reducing.
const MUCH_COLLECTING: f64 = 0.05;
/// Minimum collections in a burst; with fewer the time of the allocation is too uncertain.
const MIN_COLLECTIONS: usize = 10;

pub(super) const RULE: Rule = Rule {
    name: "alloc-burst",
    question: "Does the program allocate in bursts?",
    inputs: &[Input::Threads, Input::GcStatistics],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

/// One of the parts of the range, or several adjacent ones.
#[derive(Clone, Copy)]
struct RangePart {
    range: Interval,
    bytes: u64,
    running_ns: u64,
}

impl RangePart {
    fn new(context: &RuleContext<'_>, number: u64) -> Self {
        let (start, length) = (context.range.start().0, context.range.duration().0);
        let bound = |number: u64| {
            Nanos(start + (u128::from(length) * u128::from(number) / u128::from(PARTS)) as u64)
        };
        let range = Interval::new(bound(number), bound(number + 1));
        let numbers = &context.log.numbers;
        Self {
            range,
            bytes: numbers
                .bytes_allocated(context.log.end(), Some(range))
                .unwrap_or(0),
            running_ns: context.log.times(Some(range)).all_caps().running_ns,
        }
    }

    /// Returns bytes per nanosecond of running time.
    fn rate(&self) -> f64 {
        self.bytes as f64 / self.running_ns.max(1) as f64
    }

    fn merge(self, next: Self) -> Self {
        Self {
            range: self.range.hull(next.range),
            bytes: self.bytes.saturating_add(next.bytes),
            running_ns: self.running_ns.saturating_add(next.running_ns),
        }
    }
}

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    let mut parts = Vec::new();
    for number in 0..PARTS {
        context.yielder.yield_if_due().await;
        parts.push(RangePart::new(context, number));
    }
    let Some(all) = parts.iter().copied().reduce(RangePart::merge) else {
        return Outcome::Clear("nothing was allocated".to_owned());
    };
    let is_high = |part: &RangePart| part.rate() >= MIN_TIMES * all.rate();
    let mut bursts: Vec<RangePart> = Vec::new();
    for part in parts.into_iter().filter(is_high) {
        match bursts
            .last_mut()
            .filter(|last| last.range.end() == part.range.start())
        {
            Some(last) => *last = last.merge(part),
            None => bursts.push(part),
        }
    }
    let collections = |part: &RangePart| {
        context
            .collections
            .iter()
            .filter(|gc| part.range.contains(gc.pause.start))
            .count()
    };
    bursts.retain(|burst| collections(burst) >= MIN_COLLECTIONS);
    let Some(sum) = bursts.iter().copied().reduce(RangePart::merge) else {
        return Outcome::Clear(
            "the allocation rate never reached three times the mean while threads ran".to_owned(),
        );
    };
    let share = sum.bytes as f64 / all.bytes.max(1) as f64;
    let time: u64 = bursts.iter().map(|burst| burst.range.duration().0).sum();
    let said = format!(
        "{} of all allocation, {}, was in {} of {}",
        format::fraction(share),
        format::bytes(sum.bytes),
        format::duration_ns(time),
        format::duration_ns(context.length_ns())
    );
    // Not a burst if threads merely ran less elsewhere.
    let is_short = share >= MIN_TIMES * context.share(time);
    if share < MIN_SHARE || sum.bytes < MIN_BYTES || !is_short {
        return Outcome::Clear(format!(
            "{said}; the limits are 30 %, 100 MB and a third of that share of the time"
        ));
    }
    let mut finding = Finding::new(RULE.name, Axis::Memory, said);
    // Allocation is not a loss by itself; rules about collections report its cost.
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Certain;
    finding.cost = Value::Bytes(sum.bytes);
    let collecting = context.share_of_caps(context.times.all_caps().in_collections_ns());
    finding.meaning = format!(
        "For each second that a thread ran, these bursts allocated {:.1} times as much as the whole. All collections together take {} of the time{}.",
        sum.rate() / all.rate(),
        format::fraction(collecting),
        match collecting < MUCH_COLLECTING {
            true => ", so that allocating less gains little",
            false => ": reduce allocation there first",
        }
    )
    .into();
    finding.tries = vec![
        Advice::measure(
            "-p -l",
            "Cost-centre samples of that time name the code that runs then, in a build with -prof.",
        ),
        Advice::measure(
            "-lT",
            "Ticky counters name the closures that allocate (ghc -ticky -ticky-allocd, and for the log GHC 9.4 and later).",
        ),
        Advice::code(
            "Mark the phases of the program with messages: traceMarkerIO, or START and STOP.",
        ),
    ];
    finding.distrust = "Data that is loaded or built once must be allocated once.".into();
    finding.set_numbers([
        ("allocated in it", Value::Bytes(sum.bytes)),
        ("times the mean rate", Value::Times(sum.rate() / all.rate())),
        ("of all time", Value::Share(context.share(time))),
    ]);
    let evidence = bursts
        .iter()
        .map(|burst| Evidence::new(burst.range, Value::Bytes(burst.bytes)));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
