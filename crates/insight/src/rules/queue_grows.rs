//! Does a queue fill faster than it is emptied?
//!
//! One thread produces what another one consumes. If the producer is faster, the queue between them grows until it
//! has produced everything, and shrinks after that. The log does not show queues, only live data after major
//! collections and the runs of threads.

use std::cmp::Reverse;

use super::prelude::*;
use eventlog::hash::SeededMap;
use model::gauge::Samples;
use model::sorting::CompactSort;

/// Minimum of the maximum live data; less depends on when the collections happened.
const MIN_BYTES: u64 = 8_000_000;
/// Live data before and after must be below this share of the maximum.
const HALF: f64 = 0.50;
/// Minimum shares of running time until the producer's end: `PRODUCES` of the producer and `CONSUMES_TOO` of the
/// consumer; the thread that fills a queue is the faster one.
const PRODUCES: f64 = 0.05;
const CONSUMES_TOO: f64 = 0.20;
/// Maximum growth of live data for each nanosecond that the producer runs; threads that do nothing else made 1.1, 2.8 and
/// 4.8.
const MAX_BYTES_PER_NS: f64 = 6.0;
/// After the producer's end, the consumer must run for `CONSUMES` of the running time, and that must be `SINCE` of
/// the whole.
const CONSUMES: f64 = 0.50;
const SINCE: f64 = 0.20;

/// Maximum running time of a finished producer after that, relative to before.
const LATER: f64 = 0.10;

/// Maximum number of candidate producers.
const MAX_PRODUCERS: usize = 8;

pub(super) const RULE: Rule = Rule {
    name: "queue-grows",
    question: "Does a queue fill faster than it is emptied?",
    inputs: &[Input::GcStatistics, Input::Threads],
    evaluate: yielding!(evaluate),
};

/// Rise and fall of live data according to major collections.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LivePeak {
    most: u64,
    before: u64,
    /// Minimum after the maximum; `None` without a later collection.
    after: Option<u64>,
    /// First collection with at least half of the maximum.
    rises_ns: u64,
    /// Last collection with at least half of the maximum.
    high_ns: u64,
    /// Collection after that; `u64::MAX` if there is none.
    falls_ns: u64,
}

impl LivePeak {
    const fn growth(&self) -> u64 {
        self.most - self.before
    }
}

/// Finds rise and fall of live data in points of time and bytes.
fn live_peak(points: &[(u64, u64)]) -> Option<LivePeak> {
    let most = points.iter().map(|(_, bytes)| *bytes).max()?;
    let is_high = |point: &(u64, u64)| point.1 as f64 >= HALF * most as f64;
    let first = points.iter().position(is_high)?;
    let last = points.iter().rposition(is_high)?;
    let least = |points: &[(u64, u64)]| points.iter().map(|(_, bytes)| *bytes).min();
    Some(LivePeak {
        most,
        before: least(points.get(..first)?)?,
        after: least(&points[last + 1..]),
        rises_ns: points[first].0,
        high_ns: points[last].0,
        falls_ns: points.get(last + 1).map_or(u64::MAX, |point| point.0),
    })
}

/// Returns the threads that finished their work while live data was high, with the time of their last run; those
/// with most running time first. Without a later collection that shows the fall, it may be any later time.
async fn producers(context: &RuleContext<'_>, live_peak: &LivePeak) -> Vec<(ThreadId, u64)> {
    let store = &context.log.store;
    let end = context.range.end();
    let falls = Nanos(live_peak.falls_ns.min(end.0));
    let later = store
        .run_times_in(Interval::new(falls, end), context.yielder)
        .await;
    let later: SeededMap<ThreadId, u64> = later.into_iter().collect();
    let until = Interval::new(context.range.start(), falls);
    let mut threads = store.run_times_in(until, context.yielder).await;
    let is_of_program =
        |thread| !context.is_runtime_thread(thread) && !context.is_spark_evaluator(thread);
    // Main may produce everything, then wait for the result and print it.
    let is_done = |thread: &ThreadId, ran_ns: u64| {
        let later_ns = later.get(thread).copied().unwrap_or(0);
        later_ns as f64 <= LATER * ran_ns as f64
    };
    threads.retain(|(thread, ran_ns)| is_done(thread, *ran_ns) && is_of_program(*thread));
    threads.sort_small_by_key(|(_, ran_ns)| Reverse(*ran_ns));
    let ended = threads.into_iter().filter_map(|(thread, _)| {
        let life = store.thread_lane(thread)?;
        let runs = life
            .turns_overlapping(until)
            .map(|(_, turn)| turn.run_span());
        let (_, end_ns) = runs.take_while(|(from, _)| *from < falls.0).last()?;
        (end_ns >= live_peak.rises_ns).then_some((thread, end_ns))
    });
    ended.take(MAX_PRODUCERS).collect()
}

/// Returns the consumer that belongs to a producer with this end, if it can have produced what live data grew by.
async fn consumer(
    context: &RuleContext<'_>,
    (producer, end_ns): (ThreadId, u64),
    growth: u64,
) -> Option<ThreadId> {
    let (start, end) = (context.range.start(), context.range.end());
    let cut = Nanos(end_ns.min(end.0));
    let (until, since) = (Interval::new(start, cut), Interval::new(cut, end));
    let [until_ns, since_ns] =
        [until, since].map(|range| context.log.times(Some(range)).all_caps().running_ns);
    let share = |ns: u64, of: u64| ns as f64 / of.max(1) as f64;
    if share(since_ns, until_ns + since_ns) < SINCE {
        return None;
    }
    let ran = context.log.store.run_times_in(until, context.yielder).await;
    let produced_ns = { ran.iter() }.find(|(thread, _)| *thread == producer);
    let produced_ns = produced_ns.map_or(0, |(_, ns)| *ns);
    let least = |thread: ThreadId| {
        if thread == producer {
            PRODUCES
        } else {
            CONSUMES_TOO
        }
    };
    let enough = |(thread, ns): &(ThreadId, u64)| share(*ns, until_ns) >= least(*thread);
    let both: Vec<ThreadId> = ran
        .into_iter()
        .filter(enough)
        .map(|(thread, _)| thread)
        .collect();
    if !both.contains(&producer) {
        return None;
    }
    let ran = context.log.store.run_times_in(since, context.yielder).await;
    let mut most = ran
        .into_iter()
        .filter(|(_, ns)| share(*ns, since_ns) >= CONSUMES);
    let consumer = most.find(|(thread, _)| *thread != producer && both.contains(thread));
    let (consumer, _) = consumer?;
    (growth as f64 <= MAX_BYTES_PER_NS * produced_ns as f64).then_some(consumer)
}

async fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    if context.is_nonmoving() {
        return Outcome::CannotTell("the nonmoving collector counts garbage as live until it has marked again: record a run without it".into());
    }
    let live = context.log.numbers.live();
    let indices = live.first_at(context.range.start().0)..live.first_at(context.range.end().0);
    let points: Vec<(u64, u64)> = indices.map(|at| (live.time(at), live.value(at))).collect();
    let Some(live_peak) = live_peak(&points).filter(|live_peak| live_peak.most >= MIN_BYTES) else {
        return Outcome::Clear(
            "live data did not grow to 8 MB or more, from less than half of that".into(),
        );
    };
    for producer in producers(context, &live_peak).await {
        if let Some(consumer) = consumer(context, producer, live_peak.growth()).await {
            return Outcome::Found(vec![finding(context, &live_peak, producer, consumer)]);
        }
    }
    Outcome::Clear(format!(
        "live data grew to {}, but no thread that ran with another, longer-lived one ended before it fell",
        format::bytes(live_peak.most)
    ))
}

fn finding(
    context: &RuleContext<'_>,
    live_peak: &LivePeak,
    (producer, end_ns): (ThreadId, u64),
    consumer: ThreadId,
) -> Finding {
    let (producer_name, consumer_name) =
        (context.thread_name(producer), context.thread_name(consumer));
    // Data still alive at a collection after the producer's end did not die with it.
    let outlives = end_ns < live_peak.high_ns && live_peak.after.is_some();
    let growth = live_peak.growth();
    let falls = match outlives {
        true => ", and fell after its end: probably an unbounded queue",
        false => " and another thread fell behind: perhaps an unbounded queue",
    };
    let title = format!(
        "Live data grew to {} while {producer_name} ran{falls}",
        format::bytes(live_peak.most)
    );
    let mut finding = Finding::of_memory(
        RULE.name,
        title,
        (growth, growth as f64 / live_peak.most.max(1) as f64),
    );
    finding.subject = Some(producer_name);
    finding.confidence = match outlives {
        true => Confidence::Probable,
        false => Confidence::Hint,
    };
    finding.meaning = format!(
        "{consumer_name} ran at the same time, and continued after that thread had ended. If it consumes what the other produces, all unconsumed data was live, and each major collection copied it."
    ).into();
    finding.tries = Advice::code_changes([
        "Bound the queue (TBQueue, or a semaphore): the producer then waits for the consumer. This saves memory and collections, not the consumer's work.",
        "Consume faster: several consumers, or larger pieces.",
    ]);
    finding.distrust = "Data that one thread loads and another consumes looks the same.".into();
    finding.set_numbers([
        ("before", Value::Bytes(live_peak.before)),
        ("most", Value::Bytes(live_peak.most)),
    ]);
    let after = live_peak
        .after
        .map(|after| ("after".into(), Value::Bytes(after)));
    finding.numbers.extend(after);
    let range = Interval::new(context.range.start(), Nanos(end_ns.max(live_peak.rises_ns)));
    finding.with_evidence([Evidence {
        range,
        subjects: vec![Subject::Thread(producer), Subject::Thread(consumer)],
        amount: Value::Bytes(growth),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hill_has_a_side_before_and_one_after() {
        let points = [(1, 2), (2, 9), (3, 20), (4, 19), (5, 3), (6, 4)];
        let found = LivePeak {
            most: 20,
            before: 2,
            after: Some(3),
            rises_ns: 3,
            high_ns: 4,
            falls_ns: 5,
        };
        assert_eq!(live_peak(&points), Some(found));
        let later = LivePeak {
            after: None,
            falls_ns: u64::MAX,
            ..found
        };
        assert_eq!(live_peak(&points[..4]), Some(later));
        assert_eq!(live_peak(&points[2..]), None);
        assert_eq!(live_peak(&[]), None);
    }
}
