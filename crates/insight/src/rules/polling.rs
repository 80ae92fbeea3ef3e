//! Does a thread poll?
//!
//! A thread that checks again and again whether something has happened is woken by the timer each time, runs for a
//! moment, and wakes no other thread.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::threads::{ThreadTurn, median};
use crate::wakeups::ThreadEvent;

/// Minimum wakeups per second; clocks and animations need fewer.
const MIN_RATE: f64 = 100.0;
/// Minimum number of wakeups; fewer are no pattern.
const MIN_COUNT: u64 = 100;
/// Maximum median run; a thread that does work after a wakeup runs longer.
const SHORT_NS: u64 = 50_000;
/// Running time for each wakeup, as a multiple of the median run, from which a few long runs do most of a thread's work.
const MIXED: u64 = 3;
/// Maximum share of wakeups after which it wakes others, because it has found something.
const MAX_GIVEN: f64 = 0.10;
/// A thread with a greater share of the program's running time does the program's work, unless it merely checks.
const MAX_WORK: f64 = 0.50;
/// Maximum duration of a mere check. Checking a variable and setting the timer again took 7 to 12 µs when measured
/// (GHC 9.0 to 9.10, also on a busy machine); the little work of a request takes at least 15 µs.
pub(super) const CHECK_NS: u64 = 13_000;
/// Minimum share of a thread's waits that a timer ends. With less, it sleeps for a while in each round of its work.
const MAINLY_TIMER: f64 = 0.75;
/// Wakeups per second from which the machine never rests.
const HIGH_RATE: f64 = 10_000.0;
/// Wakeups per second from which polling takes much of a core: at 170,000, a program that was idle otherwise took 0.6 of
/// a core.
const MANY_PER_SECOND: f64 = 50_000.0;
/// Number of polling threads that are named one by one; more are one finding.
const MANY: usize = 3;

pub(super) const RULE: Rule = Rule {
    name: "polling",
    question: "Does a thread poll?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Wakeups of a thread by the timer with their time range, and wakeups that it gave.
#[derive(Clone, Copy)]
struct TimerWakeups {
    range: Interval,
    by_timer: u64,
    given: u64,
}

impl TimerWakeups {
    const fn new(at: Nanos) -> Self {
        Self {
            range: Interval::empty_at(at),
            by_timer: 0,
            given: 0,
        }
    }

    /// Adds a wakeup by the timer.
    fn add(&mut self, at: Nanos) {
        self.range.extend(at);
        self.by_timer += 1;
    }

    fn rate(&self) -> f64 {
        self.by_timer as f64 * 1e9 / self.range.duration().0.max(1) as f64
    }
}

async fn timer_wakeups(context: &RuleContext<'_>) -> BTreeMap<ThreadId, TimerWakeups> {
    let mut woken: BTreeMap<ThreadId, TimerWakeups> = BTreeMap::new();
    if context.threads().await.times.blocked_ns[WaitReason::Delay as usize] == 0 {
        return woken;
    }
    let mut visit = |turn: ThreadTurn<'_>| {
        let at = Nanos(turn.runnable_span().0);
        if context.range.contains(at) {
            woken
                .entry(turn.thread())
                .or_insert(TimerWakeups::new(at))
                .add(at);
        }
    };
    context
        .each_wait(WaitReason::Delay, MIN_COUNT, &mut visit)
        .await;
    woken.retain(|_, woken| woken.by_timer >= MIN_COUNT);
    if woken.is_empty() {
        return woken;
    }
    let mut visit = |event: ThreadEvent| {
        if let Some(wakeups) = event.by.and_then(|waker| woken.get_mut(&waker)) {
            wakeups.given += 1;
        }
    };
    context.each_wakeup_by_any(&mut visit).await;
    woken
}

/// Returns whether a thread that waited this often while nothing ran is polling.
pub(super) fn is_polling(context: &RuleContext<'_>, thread: ThreadId, waits: u64) -> bool {
    let rate = context.per_second(waits);
    let is_often = waits >= MIN_COUNT && rate >= MIN_RATE;
    is_often && context.run_statistics(thread, context.range).median_ns < CHECK_NS
}

/// Keeps threads whose waits a timer ends, nearly all of them. The others sleep for a while in each round of their
/// work, as after each message that they receive.
pub(super) async fn retain_mainly_timer<T>(
    context: &RuleContext<'_>,
    threads: &mut BTreeMap<ThreadId, T>,
) {
    let mut waits: BTreeMap<ThreadId, (u64, u64)> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        if let Some(reason) = turn.wait_reason() {
            let (by_timer, all) = waits.entry(turn.thread()).or_default();
            *by_timer += u64::from(reason == WaitReason::Delay);
            *all += 1;
        }
    };
    context.each_turn_of(threads.keys(), &mut visit).await;
    threads.retain(|thread, _| {
        let (by_timer, all) = waits.get(thread).copied().unwrap_or_default();
        by_timer as f64 >= MAINLY_TIMER * all as f64
    });
}

async fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let mut woken = timer_wakeups(context).await;
    let most = woken.values().map(|woken| woken.by_timer).max();
    woken.retain(|_, woken| {
        let given = woken.given as f64;
        woken.rate() >= MIN_RATE && given <= MAX_GIVEN * woken.by_timer as f64
    });
    retain_mainly_timer(context, &mut woken).await;
    let checking = woken
        .into_iter()
        .filter_map(|(thread, woken)| Polling::find(context, thread, woken));
    let checking: Vec<Polling> = checking.collect();
    let found: Vec<Finding> = match checking.len() > MANY {
        true => vec![finding_of_all(&checking)],
        false => checking.iter().map(|one| finding(context, one)).collect(),
    };
    if found.is_empty() {
        return Outcome::Clear(match most {
            None => "the timer woke no thread 100 times".to_owned(),
            Some(most) => format!(
                "the timer woke a thread {}, but less often than 100 times a second, or the thread had work",
                format::pluralize(most, "time")
            ),
        });
    }
    Outcome::Found(found)
}

/// Thread that polls.
struct Polling {
    thread: ThreadId,
    woken: TimerWakeups,
    /// Median length of its runs.
    median_ns: u64,
}

impl Polling {
    fn find(context: &RuleContext<'_>, thread: ThreadId, woken: TimerWakeups) -> Option<Self> {
        let runs = context.run_statistics(thread, woken.range);
        let is_worker = runs.all_ns as f64 > MAX_WORK * context.program_ran_ns() as f64;
        let mean_ns = runs.all_ns / woken.by_timer.max(1);
        let has_work = is_worker || mean_ns > MIXED.saturating_mul(runs.median_ns);
        let is_short = runs.median_ns < SHORT_NS && (!has_work || runs.median_ns < CHECK_NS);
        is_short.then_some(Self {
            thread,
            woken,
            median_ns: runs.median_ns,
        })
    }

    /// Returns whether it does nothing but check: a longer run may do a little work, such as a transaction.
    const fn only_checks(&self) -> bool {
        self.median_ns < CHECK_NS
    }

    fn evidence(&self) -> Evidence {
        Evidence::for_thread(
            self.thread,
            self.woken.range,
            Value::Count(self.woken.by_timer),
        )
    }
}

/// Creates the finding about one thread.
fn finding(context: &RuleContext<'_>, one: &Polling) -> Finding {
    let name = context.thread_name(one.thread);
    let title = format!(
        "The timer woke {name} {}{}",
        wakeups(one.woken.by_timer, one.woken.rate(), one.median_ns),
        if one.only_checks() {
            ": it seems to poll"
        } else {
            ""
        }
    );
    let meaning = if one.only_checks() {
        "It runs briefly and wakes no thread, like a thread that checks for an event that is not signaled to it."
    } else {
        "It wakes no thread. If it checks for a change, the thread that makes the change should wake it; if it does a little work each time, it could do more at a time."
    };
    let all = std::slice::from_ref(one);
    Finding {
        subject: Some(name),
        ..explained(title, meaning, all, (one.woken.rate(), one.median_ns))
    }
}

/// Creates one finding about many threads.
fn finding_of_all(all: &[Polling]) -> Finding {
    let by_timer = all.iter().map(|one| one.woken.by_timer).sum();
    let rate = all.iter().map(|one| one.woken.rate()).sum();
    let mut medians: Vec<u64> = all.iter().map(|one| one.median_ns).collect();
    let median_ns = median(&mut medians);
    let title = format!(
        "The timer woke {} {}{}",
        format::pluralize(all.len() as u64, "thread"),
        wakeups(by_timer, rate, median_ns),
        if median_ns < CHECK_NS {
            ": they seem to poll"
        } else {
            ""
        }
    );
    let meaning = match median_ns < CHECK_NS {
        true => {
            "They run briefly and wake no thread, like threads that check for an event that is not signaled to them. Each wakeup also costs the timer manager time, and a new timer."
        }
        false => {
            "They wake no thread. If they check for a change, the thread that makes the change should wake them; if each does a little work each time, it could do more at a time. Each wakeup also costs the timer manager time, and a new timer."
        }
    };
    explained(title, meaning, all, (rate, median_ns))
}

fn wakeups(count: u64, rate: f64, median_ns: u64) -> String {
    format!(
        "{}, {} a second, and each time for {} (median)",
        format::pluralize(count, "time"),
        format::count(rate as u64),
        format::duration_ns(median_ns),
    )
}

fn explained(
    title: String,
    meaning: &'static str,
    all: &[Polling],
    (rate, median_ns): (f64, u64),
) -> Finding {
    let mut finding = Finding::new(RULE.name, Axis::Latency, title);
    finding.severity = match rate {
        _ if rate >= MANY_PER_SECOND => Severity::High,
        _ if rate >= HIGH_RATE => Severity::Medium,
        _ => Severity::Low,
    };
    finding.confidence = match all.iter().all(Polling::only_checks) {
        true => Confidence::Probable,
        false => Confidence::Hint,
    };
    finding.cost = Value::PerSecond(rate);
    finding.meaning = meaning.into();
    finding.tries = Advice::code_changes([
        "Signal the change to the thread, with an MVar or with retry in STM.",
        "To wait for a change or a deadline: registerDelay, or timeout.",
        "If polling is unavoidable: choose the longest pause that is not too late.",
    ]);
    finding.distrust = "A clock or an animation must wake up this often.".into();
    let by_timer = all.iter().map(|one| one.woken.by_timer).sum();
    finding.set_numbers([
        ("wakeups by the timer", Value::Count(by_timer)),
        ("a second", Value::PerSecond(rate)),
        ("half of the runs take at most", Value::Ns(median_ns)),
    ]);
    finding.counted = "wakeup".into();
    finding.with_evidence(all.iter().map(Polling::evidence))
}
