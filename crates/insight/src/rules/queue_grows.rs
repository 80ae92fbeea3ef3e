//! Does a queue fill faster than it is emptied?
//!
//! A thread makes what another one takes. If it is the faster one, what waits between them grows
//! until it has made all, and falls from then on. The log does not tell of queues, but of live data
//! after major collections, and of when threads run.

use std::cmp::Reverse;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Subject, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::yielder::Yield;
use eventlog::hash::SeededMap;
use eventlog::ids::{Nanos, ThreadId};
use model::format;
use model::gauge::Samples;
use model::sorting::CompactSort;
use model::time::Interval;

/// Less is a matter of when the collections were.
const LEAST_BYTES: u64 = 8_000_000;
/// Of the most that was live, less was live before, and less again afterwards.
const HALF: f64 = 0.50;
/// Until the maker's end, it runs for so much of the time in which any thread runs, and the taker
/// for so much: who fills a queue is the quicker one.
const MAKES: f64 = 0.05;
const TAKES_TOO: f64 = 0.20;
/// Of the time since, the taker runs for so much, and all of it is so much of the whole.
const TAKES: f64 = 0.50;
const SINCE: f64 = 0.20;

/// A maker that has made all runs for so much of what it ran before, at the most.
const LATER: f64 = 0.10;

/// So many threads are looked at.
const MOST_MAKERS: usize = 8;

const NAME: &str = "queue-grows";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does a queue fill faster than it is emptied?",
    inputs: &[Input::GcStatistics, Input::Threads],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// How live data rose and fell, by major collections.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hill {
    most: u64,
    before: u64,
    /// `None`: no later collection tells.
    after: Option<u64>,
    /// The first collection with half of the most.
    rises_ns: u64,
    /// The last one.
    high_ns: u64,
    /// The one after it; the greatest number if there is none.
    falls_ns: u64,
}

/// Live data after major collections: when, and how many bytes.
fn hill(points: &[(u64, u64)]) -> Option<Hill> {
    let most = points.iter().map(|(_, bytes)| *bytes).max()?;
    let is_high = |point: &(u64, u64)| point.1 as f64 >= HALF * most as f64;
    let first = points.iter().position(is_high)?;
    let last = points.iter().rposition(is_high)?;
    let least = |points: &[(u64, u64)]| points.iter().map(|(_, bytes)| *bytes).min();
    Some(Hill {
        most,
        before: least(points.get(..first)?)?,
        after: least(&points[last + 1..]),
        rises_ns: points[first].0,
        high_ns: points[last].0,
        falls_ns: points.get(last + 1).map_or(u64::MAX, |point| point.0),
    })
}

/// Threads that had done their work while live data was high, those that ran most first: who, and
/// when it ended. If no later collection tells that it fell, that may be any time after.
async fn makers(
    context: &RuleContext<'_>,
    hill: &Hill,
    yielder: &dyn Yield,
) -> Vec<(ThreadId, u64)> {
    let store = &context.log.store;
    let end = context.range.end();
    let falls = Nanos(hill.falls_ns.min(end.0));
    let later = store.ran_in(Interval::new(falls, end), yielder).await;
    let later: SeededMap<ThreadId, u64> = later.into_iter().collect();
    let until = Interval::new(context.range.start(), falls);
    let mut threads = store.ran_in(until, yielder).await;
    let is_of_program =
        |thread| !context.is_of_runtime(thread) && !context.evaluates_sparks(thread);
    // Main may have made all, and then wait for the result and print it.
    let is_done = |thread: &ThreadId, ran_ns: u64| {
        let later_ns = later.get(thread).copied().unwrap_or(0);
        later_ns as f64 <= LATER * ran_ns as f64
    };
    threads.retain(|(thread, ran_ns)| is_done(thread, *ran_ns) && is_of_program(*thread));
    threads.sort_small_by_key(|(_, ran_ns)| Reverse(*ran_ns));
    let ended = threads.into_iter().filter_map(|(thread, _)| {
        let life = store.thread_lane(thread)?;
        let runs = life.turns_over(until).map(|(_, turn)| turn.part(2));
        let (_, end_ns) = runs.take_while(|(from, _)| *from < falls.0).last()?;
        (end_ns >= hill.rises_ns).then_some((thread, end_ns))
    });
    ended.take(MOST_MAKERS).collect()
}

/// The thread that takes what another one makes, which ended at a time.
async fn taker(
    context: &RuleContext<'_>,
    (maker, end_ns): (ThreadId, u64),
    yielder: &dyn Yield,
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
    let ran = context.log.store.ran_in(until, yielder).await;
    let least = |thread: ThreadId| if thread == maker { MAKES } else { TAKES_TOO };
    let enough = |(thread, ns): &(ThreadId, u64)| share(*ns, until_ns) >= least(*thread);
    let both: Vec<ThreadId> = ran
        .into_iter()
        .filter(enough)
        .map(|(thread, _)| thread)
        .collect();
    if !both.contains(&maker) {
        return None;
    }
    let ran = context.log.store.ran_in(since, yielder).await;
    let mut most = ran
        .into_iter()
        .filter(|(_, ns)| share(*ns, since_ns) >= TAKES);
    let taker = most.find(|(thread, _)| *thread != maker && both.contains(thread));
    taker.map(|(thread, _)| thread)
}

async fn look(context: &RuleContext<'_>, _: &mut LossBudget, yielder: &dyn Yield) -> Outcome {
    if context.is_nonmoving() {
        return Outcome::CannotTell("the nonmoving collector counts garbage as alive until it has marked again: a run without it would tell".into());
    }
    let live = context.log.numbers.live();
    let places = live.first_at(context.range.start().0)..live.first_at(context.range.end().0);
    let points: Vec<(u64, u64)> = places.map(|at| (live.time(at), live.value(at))).collect();
    let Some(hill) = hill(&points).filter(|hill| hill.most >= LEAST_BYTES) else {
        return Outcome::Clear(
            "live data did not grow to 8 MB or more, from less than half of that".into(),
        );
    };
    for maker in makers(context, &hill, yielder).await {
        if let Some(taker) = taker(context, maker, yielder).await {
            return Outcome::Found(vec![finding(context, &hill, maker, taker)]);
        }
    }
    Outcome::Clear(format!(
        "live data grew to {}, but no thread ended before it fell beside which another one ran, and went on",
        format::bytes(hill.most)
    ))
}

fn finding(
    context: &RuleContext<'_>,
    hill: &Hill,
    (maker, end_ns): (ThreadId, u64),
    taker: ThreadId,
) -> Finding {
    let (maker_name, taker_name) = (context.thread_name(maker), context.thread_name(taker));
    // What was still alive at a collection after its end did not die with it.
    let outlives = end_ns < hill.high_ns && hill.after.is_some();
    let growth = hill.most - hill.before;
    let falls = match outlives {
        true => ", and fell after its end: probably an unbounded queue",
        false => " and another thread fell behind: perhaps an unbounded queue",
    };
    let title = format!(
        "Live data grew to {} while {maker_name} ran{falls}",
        format::bytes(hill.most)
    );
    let mut finding = Finding::of_memory(
        NAME,
        title,
        (growth, growth as f64 / hill.most.max(1) as f64),
    );
    finding.subject = Some(maker_name);
    finding.confidence = match outlives {
        true => Confidence::Probable,
        false => Confidence::Hint,
    };
    finding.meaning = format!(
        "{taker_name} ran beside it, and still ran when the other one had ended. If it is the consumer of what the other one produces, all that it had not consumed yet was alive, and each major collection copied it."
    ).into();
    finding.tries = vec![
        Try::code(
            "Bound the queue (TBQueue, or a semaphore beside it): the producer then waits for the consumer. That saves memory and collections, not the work of the consumer.",
        ),
        Try::code("Consume faster: several consumers, or larger pieces."),
    ];
    finding.distrust = "Data that one thread loads and another one uses up looks the same.".into();
    finding.numbers = vec![
        ("before".into(), Value::Bytes(hill.before)),
        ("most".into(), Value::Bytes(hill.most)),
    ];
    let after = hill
        .after
        .map(|after| ("after".into(), Value::Bytes(after)));
    finding.numbers.extend(after);
    let range = Interval::new(context.range.start(), Nanos(end_ns.max(hill.rises_ns)));
    finding.seen_in([Evidence {
        range,
        subjects: vec![Subject::Thread(maker), Subject::Thread(taker)],
        amount: Value::Bytes(growth),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hill_has_a_side_before_and_one_after() {
        let points = [(1, 2), (2, 9), (3, 20), (4, 19), (5, 3), (6, 4)];
        let found = Hill {
            most: 20,
            before: 2,
            after: Some(3),
            rises_ns: 3,
            high_ns: 4,
            falls_ns: 5,
        };
        assert_eq!(hill(&points), Some(found));
        let later = Hill {
            after: None,
            falls_ns: u64::MAX,
            ..found
        };
        assert_eq!(hill(&points[..4]), Some(later));
        assert_eq!(hill(&points[2..]), None);
        assert_eq!(hill(&[]), None);
    }
}
