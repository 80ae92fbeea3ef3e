//! Does the program allocate in bursts?
//!
//! What was allocated the runtime tells in collections. A short part of the time in which
//! threads ran that has much of all allocation is where to look, if memory or collections
//! are a concern; that nobody ran elsewhere is no burst.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Evidence, Finding, Outcome, Severity, Try, Value};
use analysis::yielder::Yield;
use eventlog::ids::{Duration, Nanos};
use model::format;
use model::time::Interval;

/// The time is looked at in so many parts.
const PARTS: u64 = 40;
/// Where so many times as much is allocated as on average while threads run.
const LEAST_TIMES: f64 = 3.0;
/// A burst has so much of all that was allocated.
const LEAST_SHARE: f64 = 0.30;
/// Less is allocated in a tenth of a second.
const LEAST_BYTES: u64 = 100_000_000;
/// Fewer collections do not tell when it was.
const LEAST_COLLECTIONS: usize = 10;

const NAME: &str = "alloc-burst";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does the program allocate in bursts?",
    inputs: &[Input::Threads, Input::GcStatistics],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

/// A part of the time.
#[derive(Clone, Copy)]
struct Part {
    range: Interval,
    bytes: u64,
    running_ns: u64,
}

impl Part {
    fn at(context: &RuleContext<'_>, number: u64) -> Self {
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

    /// Bytes for each nanosecond in which a thread ran.
    fn rate(&self) -> f64 {
        self.bytes as f64 / self.running_ns.max(1) as f64
    }

    fn and(self, next: Self) -> Self {
        Self {
            range: self.range.hull(next.range),
            bytes: self.bytes.saturating_add(next.bytes),
            running_ns: self.running_ns.saturating_add(next.running_ns),
        }
    }
}

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    let mut parts = Vec::new();
    for number in 0..PARTS {
        yielder.yield_if_due().await;
        parts.push(Part::at(context, number));
    }
    let Some(all) = parts.iter().copied().reduce(Part::and) else {
        return Outcome::Clear("nothing was allocated".to_owned());
    };
    let is_high = |part: &Part| part.rate() >= LEAST_TIMES * all.rate();
    let mut bursts: Vec<Part> = Vec::new();
    for part in parts.into_iter().filter(is_high) {
        match bursts
            .last_mut()
            .filter(|last| last.range.end() == part.range.start())
        {
            Some(last) => *last = last.and(part),
            None => bursts.push(part),
        }
    }
    let collections = |part: &Part| {
        context
            .stops
            .iter()
            .filter(|stop| part.range.contains(stop.pause.start))
            .count()
    };
    bursts.retain(|burst| collections(burst) >= LEAST_COLLECTIONS);
    let Some(sum) = bursts.iter().copied().reduce(Part::and) else {
        return Outcome::Clear(
            "at no time three times as much was allocated as on average while threads run"
                .to_owned(),
        );
    };
    let share = sum.bytes as f64 / all.bytes.max(1) as f64;
    let time: u64 = bursts.iter().map(|burst| burst.range.duration().0).sum();
    let said = format!(
        "{} of all allocation, {}, was in {} of {}",
        format::fraction(share),
        format::bytes(sum.bytes),
        format::duration(Duration(time)),
        format::duration(Duration(context.length_ns()))
    );
    // Nor is it one if others only stood still meanwhile.
    let is_short = share >= LEAST_TIMES * context.share(time);
    if share < LEAST_SHARE || sum.bytes < LEAST_BYTES || !is_short {
        return Outcome::Clear(format!(
            "{said}; the limits are 30 %, 100 MB and a third of that share of the time"
        ));
    }
    let mut finding = Finding::new(NAME, Axis::Memory, said);
    // To allocate is no loss by itself: what it costs, rules about collections say.
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Certain;
    finding.cost = Value::Bytes(sum.bytes);
    finding.meaning = format!(
        "While threads ran there, they allocated {:.1} times as much a second as on average: what is made there is where allocation can be saved.",
        sum.rate() / all.rate()
    )
    .into();
    finding.tries = vec![
        Try::measure(
            "-p -l",
            "Samples of cost centres in that time say who runs then, in a build with -prof.",
        ),
        Try::measure(
            "-lT",
            "Ticky counters say who allocates (ghc -ticky -ticky-allocd, and for the log GHC 9.4 and later).",
        ),
        Try::code("Say in messages what the program begins: traceMarkerIO, or START and STOP."),
    ];
    finding.distrust = "Data that is loaded or built once has to be allocated once.".into();
    finding.numbers = vec![
        ("allocated in it".into(), Value::Bytes(sum.bytes)),
        (
            "times the mean rate".into(),
            Value::Times(sum.rate() / all.rate()),
        ),
        ("of all time".into(), Value::Share(context.share(time))),
    ];
    let evidence = bursts.iter().map(|burst| Evidence {
        range: burst.range,
        subjects: Vec::new(),
        amount: Value::Bytes(burst.bytes),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
