//! Does the program wait for one thing after the other?
//!
//! A program that asks a database, a service or a disk, waits for the answer and asks again takes
//! as long as all answers together. Nothing runs while it waits, and the same thread goes on each
//! time.

use std::collections::{BTreeMap, BTreeSet};

use super::polling::{LOOK_NS, polls};
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::{AnyRun, Ended, each_run, ended_by};
use crate::threads::Wakeup;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Yield, sort};
use eventlog::ids::{Nanos, ThreadId};
use model::class::WaitReason;
use model::format;
use model::time::Interval;

/// Whoever answers is quicker: longer waits are for a user, or for a time of the day.
const LONGEST_NS: u64 = 2_000_000_000;
/// Nobody outside answers sooner.
const SHORTEST_NS: u64 = 50_000;
/// Fewer waits may be how a program starts.
const LEAST: u64 = 20;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.20;
/// If all other threads sleep and wake more often than this share of its waits, several things are
/// waited for at a time.
const OTHERS: f64 = 0.50;
/// A thread that runs for less of the time in which any of the program's runs, and wakes others
/// after fewer of its waits, looks whether something has happened.
const WORK: f64 = 0.50;

/// Several threads that sleep look for something if so many of their runs are no more than a look.
const LOOKS: f64 = 0.25;

const NAME: &str = "one-at-a-time";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does the program wait for one thing after the other?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// How a thread waited while nothing ran.
#[derive(Debug, Default)]
struct Alone {
    /// A wait has several, if the runtime's own threads ran in it.
    gaps: Vec<Gap>,
    waits: u64,
    ns: u64,
    /// How much of it a timer ended.
    timer_ns: u64,
    ran_ns: u64,
}

impl Alone {
    const fn is_by_timer(&self) -> bool {
        self.timer_ns * 2 > self.ns
    }
}

/// A stretch in which nothing ran.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u64,
    to: u64,
    ns: u64,
    ended: Ended,
    /// Whether the run that followed did nothing but look.
    is_look: bool,
}

/// By thread: what it did next once nothing had run for a while; and how long nothing ran in all.
async fn by_thread(
    context: &RuleContext<'_>,
    yielder: &dyn Yield,
) -> (BTreeMap<ThreadId, Alone>, u64) {
    let store = &context.log.store;
    let mut all: BTreeMap<ThreadId, Alone> = BTreeMap::new();
    let mut all_ns = 0;
    // The runtime's own threads run first, and wake who waits.
    let mut before: Vec<Gap> = Vec::new();
    let mut tell = |one: AnyRun| {
        if let Some((from, to, ns)) = one.nobody {
            all_ns += ns;
            let label = store.label_of(one.run.thread);
            let turn = store.turn_of_run(one.cap, one.place);
            let ended = ended_by(label, turn.as_ref());
            before.push(Gap {
                from,
                to,
                ns,
                ended,
                is_look: false,
            });
        }
        if context.is_of_runtime(one.run.thread) {
            return;
        }
        let thread = all.entry(one.run.thread).or_default();
        thread.ran_ns += one.run.end_ns - one.run.start_ns;
        let ns = thread.ns;
        for gap in before.drain(..) {
            if gap.ended != Ended::Threads && gap.ns <= LONGEST_NS {
                thread.ns += gap.ns;
                thread.timer_ns += if gap.ended == Ended::Timer { gap.ns } else { 0 };
                let is_look = one.run.end_ns - one.run.start_ns < LOOK_NS;
                thread.gaps.push(Gap { is_look, ..gap });
            }
        }
        thread.waits += u64::from(thread.ns - ns >= SHORTEST_NS);
    };
    each_run(context, context.range, yielder, &mut tell).await;
    (all, all_ns)
}

/// Whether a thread does what the program is for, or hands on what it waited for. Who is woken by
/// the timer again and again and only looks, polls.
async fn works(
    context: &RuleContext<'_>,
    (thread, alone): (ThreadId, &Alone),
    ran_ns: u64,
    yielder: &dyn Yield,
) -> bool {
    let polls = || alone.is_by_timer() && polls(context, thread, alone.waits);
    if alone.ran_ns as f64 >= WORK * ran_ns as f64 && !polls() {
        return true;
    }
    let mut given = 0_u64;
    let look = |wakeup: Wakeup| given += u64::from(wakeup.giver == thread);
    context.each_wakeup(yielder, look).await;
    given as f64 >= WORK * alone.waits as f64
}

/// How often all other threads went on after a sleep, I/O or a foreign call.
async fn sleeps_of_others(context: &RuleContext<'_>, thread: ThreadId, yielder: &dyn Yield) -> u64 {
    let mut sleeps = 0;
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &WaitRunCycle)| {
        let slept = turn.wait_reason().is_some_and(WaitReason::is_asleep);
        sleeps += u64::from(slept && turn.code.is_some() && life.id() != thread);
    };
    context
        .each_turn_blocked((WaitReason::is_asleep, 0), yielder, look)
        .await;
    sleeps
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let idle = context.share_of_caps(loss_budget.left_ns(Pool::Idle));
    if idle < LEAST_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time without another finding; the limit is 20 %",
            format::fraction(idle)
        ));
    }
    let (all, all_ns) = by_thread(context, yielder).await;
    let ran_ns = all.values().map(|alone| alone.ran_ns).sum();
    let most = all.iter().max_by_key(|(_, alone)| alone.ns);
    let Some((&thread, alone)) = most else {
        return Outcome::Clear("something ran, or was ready to run, all the time".into());
    };
    let share = alone.ns as f64 / context.length_ns() as f64;
    let waits = alone.waits;
    let name = context.thread_name(thread);
    if waits < LEAST || share < LEAST_SHARE {
        return Outcome::Clear(format!(
            "nothing ran for {} of the time, {} of the time until {name} went on, after {} of up to 2 s; the limits are 20 % and 20",
            format::fraction(all_ns as f64 / context.length_ns() as f64),
            format::fraction(share),
            format::many(waits, "wait")
        ));
    }
    let others = sleeps_of_others(context, thread, yielder).await;
    if others as f64 > OTHERS * waits as f64 {
        let sleeps = sleeps(&all);
        let looks = sleeps.iter().filter(|(_, gap)| gap.is_look).count();
        let slept_ns = sleeps.iter().map(|(_, gap)| gap.ns);
        let slept_ns = slept_ns.fold(0, u64::saturating_add);
        let is_much = context.share(slept_ns) >= LEAST_SHARE;
        if is_much && looks as f64 >= LOOKS * sleeps.len() as f64 {
            let found = of_sleepers(context, loss_budget, (&sleeps, slept_ns), yielder).await;
            return Outcome::Found(vec![found]);
        }
        return Outcome::Clear(format!(
            "{name} waited {} while nothing ran, but other threads slept {} meanwhile",
            format::many(waits, "time"),
            format::many(others, "time")
        ));
    }
    if !works(context, (thread, alone), ran_ns, yielder).await {
        return Outcome::Clear(format!(
            "nothing ran while {name} waited, but it does little of the program's work"
        ));
    }
    Outcome::Found(vec![
        finding(context, loss_budget, (thread, alone), yielder).await,
    ])
}

async fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (thread, alone): (ThreadId, &Alone),
    yielder: &dyn Yield,
) -> Finding {
    let waits = alone.waits;
    let by_timer = alone.is_by_timer();
    let name = context.thread_name(thread);
    let title = format!(
        "{name} waited {} for {}, one after the other, and nothing ran meanwhile",
        format::many(waits, "time"),
        if by_timer {
            "a timer"
        } else {
            "I/O or a foreign call"
        }
    );
    let mut stretches: Vec<(u64, u64)> = alone.gaps.iter().map(|gap| (gap.from, gap.to)).collect();
    sort(&mut stretches, yielder).await;
    let cap_ns = context.idle_in(&stretches, yielder).await.nobody_ns;
    let mut finding = context
        .of_idle((NAME, title), loss_budget, (stretches, cap_ns), yielder)
        .await;
    finding.subject = Some(name);
    finding.confidence = Confidence::Hint;
    // Who waits for its users, or sleeps in between, loses nothing.
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = "If each wait is for an answer (of a database, a service, a disk), the program takes as long as all answers together: it asks for the next one only when it has the last.".into();
    finding.tries = vec![
        Try::code(
            "Ask for several at once: mapConcurrently of the package async, or some threads that share the work.",
        ),
        Try::code("Ask for more with each request."),
    ];
    if by_timer {
        finding.tries.push(Try::code(
            "If they are pauses (threadDelay): wait for what is to happen instead, with an MVar or STM.",
        ));
    }
    finding.distrust =
        "If the program waits for its users, or for a time on the clock, nothing is lost.".into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("waits".into(), Value::Count(waits)),
        (
            "a wait, on average".into(),
            Value::Ns(alone.ns / waits.max(1)),
        ),
    ];
    finding.seen_in(alone.gaps.iter().map(|gap| Evidence {
        range: Interval::new(Nanos(gap.from), Nanos(gap.to)),
        subjects: vec![Subject::Thread(thread)],
        amount: Value::Ns(gap.ns),
    }))
}

/// The stretches in which nothing ran until a timer woke a thread.
fn sleeps(all: &BTreeMap<ThreadId, Alone>) -> Vec<(ThreadId, Gap)> {
    let sleeps = all.iter().flat_map(|(thread, alone)| {
        let sleeps = alone.gaps.iter().filter(|gap| gap.ended == Ended::Timer);
        sleeps.map(|gap| (*thread, *gap))
    });
    sleeps.collect()
}

/// Of several threads that sleep while nothing runs, for so long in all, and then look.
async fn of_sleepers(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (sleeps, slept_ns): (&[(ThreadId, Gap)], u64),
    yielder: &dyn Yield,
) -> Finding {
    let threads: BTreeSet<ThreadId> = sleeps.iter().map(|(thread, _)| *thread).collect();
    let title = format!(
        "{} sleep and look again, {}, and nothing ran meanwhile for {} of the time",
        format::many(threads.len() as u64, "thread"),
        format::many(sleeps.len() as u64, "time"),
        format::fraction(context.share(slept_ns))
    );
    let mut stretches: Vec<(u64, u64)> = sleeps.iter().map(|(_, gap)| (gap.from, gap.to)).collect();
    sort(&mut stretches, yielder).await;
    let cap_ns = context.idle_in(&stretches, yielder).await.nobody_ns;
    let mut finding = context
        .of_idle((NAME, title), loss_budget, (stretches, cap_ns), yielder)
        .await;
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = "After many of these pauses a thread ran for a moment only. Who looks now and then whether something has come finds it half a pause late on average, and so does everyone who waits for that thread.".into();
    finding.tries = vec![
        Try::code("Wait for what is to come instead, with takeMVar, readTQueue or retry in STM."),
        Try::code("If it has to be looked for: look more often."),
    ];
    finding.distrust = "Where pauses are meant, as of a clock, nothing is lost.".into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("pauses".into(), Value::Count(sleeps.len() as u64)),
        (
            "a pause, on average".into(),
            Value::Ns(slept_ns / (sleeps.len() as u64).max(1)),
        ),
    ];
    finding.seen_in(sleeps.iter().map(|(thread, gap)| Evidence {
        range: Interval::new(Nanos(gap.from), Nanos(gap.to)),
        subjects: vec![Subject::Thread(*thread)],
        amount: Value::Ns(gap.ns),
    }))
}
