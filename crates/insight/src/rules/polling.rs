//! Does a thread poll?
//!
//! A thread that looks again and again whether something has happened is woken by the
//! timer each time, runs for a moment, and wakes nobody.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{Nanos, ThreadId};
use model::class::WaitReason;
use model::format;
use model::time::Interval;

/// Clocks and animations wake up less often.
const LEAST_RATE: f64 = 100.0;
/// Fewer wakeups are no habit.
const LEAST: u64 = 100;
/// Who works after a wakeup runs for longer.
const SHORT_NS: u64 = 50_000;
/// Who wakes others after more of the wakeups has found something.
const MOST_GIVEN: f64 = 0.10;
/// A thread that runs for more of the time in which any of the program's runs does its work, if it
/// does more than to look.
const MOST_WORK: f64 = 0.50;
/// To look at a variable and to set the timer again took 7 to 12 µs where it was measured (GHC 9.0
/// to 9.10, also on a busy machine), what little work a request makes 15 µs and more.
pub(super) const LOOK_NS: u64 = 13_000;
/// From so many wakeups a second on, the machine does not rest.
const HIGH_RATE: f64 = 10_000.0;

const NAME: &str = "polling";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does a thread poll?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// How often a thread was woken by the timer, from when to when, and woke others.
#[derive(Clone, Copy)]
struct Woken {
    range: Interval,
    by_timer: u64,
    given: u64,
}

impl Woken {
    const fn none(at: Nanos) -> Self {
        Self {
            range: Interval::new(at, at),
            by_timer: 0,
            given: 0,
        }
    }

    /// By the timer.
    fn at(&mut self, at: Nanos) {
        self.range.extend(at);
        self.by_timer += 1;
    }

    fn rate(&self) -> f64 {
        self.by_timer as f64 * 1e9 / self.range.duration().0.max(1) as f64
    }
}

async fn woken(context: &RuleContext<'_>, yielder: &dyn Yield) -> BTreeMap<ThreadId, Woken> {
    let store = &context.log.store;
    let mut woken: BTreeMap<ThreadId, Woken> = BTreeMap::new();
    if context.threads(yielder).await.times.blocked_ns[WaitReason::Delay as usize] == 0 {
        return woken;
    }
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &WaitRunCycle)| {
        let at = Nanos(turn.part(1).0);
        if turn.wait_reason() == Some(WaitReason::Delay) && context.range.contains(at) {
            woken.entry(life.id()).or_insert(Woken::none(at)).at(at);
        }
    };
    let is_wanted = |reason| reason == WaitReason::Delay;
    context
        .each_turn_blocked((is_wanted, LEAST), yielder, look)
        .await;
    woken.retain(|_, woken| woken.by_timer >= LEAST);
    if woken.is_empty() {
        return woken;
    }
    let mut steps = Steps::new(yielder);
    for cap in context.cap_ids() {
        let mut runs = store.run_cursor(cap);
        for (at, _) in store.wakeups_on(cap, context.range) {
            steps.step().await;
            let giver = runs.thread_at(at);
            if let Some(of) = giver.and_then(|giver| woken.get_mut(&giver)) {
                of.given += 1;
            }
        }
    }
    woken
}

/// Whether a thread that waited so often while nothing ran polls.
pub(super) fn polls(context: &RuleContext<'_>, thread: ThreadId, waits: u64) -> bool {
    let rate = waits as f64 * 1e9 / context.length_ns() as f64;
    let is_often = waits >= LEAST && rate >= LEAST_RATE;
    is_often && context.runs_of(thread, context.range).median_ns < LOOK_NS
}

async fn look(context: &RuleContext<'_>, _: &mut LossBudget, yielder: &dyn Yield) -> Outcome {
    let woken = woken(context, yielder).await;
    let most = woken.values().map(|woken| woken.by_timer).max();
    let often = woken.into_iter().filter(|(_, woken)| {
        let given = woken.given as f64;
        woken.rate() >= LEAST_RATE && given <= MOST_GIVEN * woken.by_timer as f64
    });
    let found: Vec<Finding> = often
        .filter_map(|(thread, woken)| finding(context, thread, &woken))
        .collect();
    if found.is_empty() {
        return Outcome::Clear(match most {
            None => "the timer woke no thread 100 times".to_owned(),
            Some(most) => format!(
                "the timer woke a thread {}, but less often than 100 times a second, or the thread had work",
                format::many(most, "time")
            ),
        });
    }
    Outcome::Found(found)
}

fn finding(context: &RuleContext<'_>, thread: ThreadId, woken: &Woken) -> Option<Finding> {
    let runs = context.runs_of(thread, woken.range);
    let is_worker = runs.all_ns as f64 > MOST_WORK * context.program_ran_ns() as f64;
    if runs.median_ns >= SHORT_NS || is_worker && runs.median_ns >= LOOK_NS {
        return None;
    }
    let name = context.thread_name(thread);
    let rate = woken.rate();
    let title = format!(
        "{name} polls: {}, {} a second",
        format::many(woken.by_timer, "wake-up"),
        format::count(rate as u64)
    );
    let mut finding = Finding::new(NAME, Axis::Latency, title);
    finding.subject = Some(name);
    finding.severity = if rate >= HIGH_RATE {
        Severity::Medium
    } else {
        Severity::Low
    };
    finding.confidence = Confidence::Probable;
    finding.cost = Value::PerSecond(rate);
    finding.meaning = "It is woken by the timer, runs for a moment and wakes nobody: it looks for something instead of being told.".into();
    finding.tries = vec![
        Try::code("Let whoever changes it tell the thread: with an MVar, or retry in STM."),
        Try::code("To wait for either a change or a time: registerDelay, or timeout."),
        Try::code("If it has to poll: poll less often."),
    ];
    finding.distrust = "A clock or an animation has to wake up this often.".into();
    finding.numbers = vec![
        ("wakeups by the timer".into(), Value::Count(woken.by_timer)),
        ("a second".into(), Value::PerSecond(rate)),
        (
            "half of the runs take at most".into(),
            Value::Ns(runs.median_ns),
        ),
    ];
    Some(finding.seen_in([Evidence {
        range: woken.range,
        subjects: vec![Subject::Thread(thread)],
        amount: Value::Count(woken.by_timer),
    }]))
}
