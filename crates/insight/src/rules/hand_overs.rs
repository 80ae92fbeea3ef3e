//! Do threads wake each other across capabilities?
//!
//! A thread that wakes one of another capability sends a message to it, whose OS thread sleeps in
//! the kernel if it had nothing to do: until the woken thread runs, some tens of microseconds
//! go by. Where threads work in turns, nothing runs meanwhile, and each turn costs that much.
//! On one capability the same takes less than a microsecond.

use std::collections::BTreeSet;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::{LONG_WAIT_NS, union};
use crate::threads::{Wait, Wakeup, of_pairs};
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Yield, sort};
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::WaitReason;
use model::format;

/// Fewer hand-overs are how work is given out and results are collected.
const LEAST: usize = 100;
/// Less of the capabilities' time is lost in any program with threads, and is not told.
const LEAST_SHARE: f64 = 0.002;
/// Up to so many capabilities run at a time, on average while any does: then the threads work in
/// turns, and one capability could do the same work.
pub(super) const IN_TURNS: f64 = 1.2;

/// A thread that is woken less often than this share of its own wakeups of others waits for none of
/// them: it goes on meanwhile, and they may well be early enough.
const WAITS_TOO: f64 = 0.10;
/// So much of the time of all hand-overs may be such before the finding is a hint.
const ONE_WAY: f64 = 0.75;

const MEANING: &str = "The woken thread, the first of each row, belongs to another capability, whose OS thread has to be woken first. Within one capability that takes less than a microsecond.";

const MEANING_IF_BOUND: &str = "A bound thread (main, one made by forkOS, or one that foreign code called) runs on an OS thread of its own, which has to be woken for it. Two threads that are not bound, on one capability, wake each other within a microsecond. The first thread of each row is the woken one.";

const MORE_IF_ONE_WAY: &str = " Mostly who wakes does not wait for the woken thread, but goes on: the program is slower for it only where that one is late in the end.";

pub(super) const NAME: &str = "hand-overs";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads wake each other across capabilities?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// Bound threads are the cause if they have a part in so much of the time of all hand-overs.
const MOSTLY_BOUND: f64 = 0.50;

/// A thread that was woken by one on another capability, up to when it ran.
struct HandOver {
    wait: Wait,
    giver: ThreadId,
    /// Whether the giver waits for nobody.
    is_one_way: bool,
}

impl HandOver {
    /// Whether one of those threads wakes or is woken.
    fn is_of(&self, threads: &SeededSet<ThreadId>) -> bool {
        threads.contains(&self.wait.thread) || threads.contains(&self.giver)
    }
}

/// Wakeups after which the thread ran on another capability than the one that woke it.
async fn hand_overs(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<HandOver> {
    let mut wakeups: Vec<Wakeup> = Vec::new();
    context
        .each_wakeup(yielder, |wakeup| wakeups.push(wakeup))
        .await;
    // By thread and time.
    sort(&mut wakeups, yielder).await;
    let goes_on = goers_on(&wakeups);
    let mut all = Vec::new();
    // Turns come by thread, and those of a thread in the order of time.
    let mut of_thread = OfThread::default();
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        let (ready, start) = turn.1.part(1);
        // A thread that waits for a sleep, a file or a call is not woken by a thread.
        let is_woken = turn.1.wait_reason().is_some_and(WaitReason::is_for_thread);
        if !is_woken || turn.1.code.is_none() || ready == start {
            return;
        }
        let wakeup = of_thread.at(&wakeups, life.id(), Nanos(ready));
        if let Some((wakeup, wait)) = wakeup.zip(context.wait(life, turn, 1))
            && wait.cap.is_some_and(|cap| cap != wakeup.cap)
        {
            all.push(HandOver {
                wait,
                giver: wakeup.giver,
                is_one_way: goes_on.contains(&wakeup.giver),
            });
        }
    };
    context
        .each_turn_blocked((WaitReason::is_for_thread, 0), yielder, look)
        .await;
    all
}

/// Threads that wake others, and are hardly woken themselves.
fn goers_on(wakeups: &[Wakeup]) -> SeededSet<ThreadId> {
    let mut of: SeededMap<ThreadId, (u64, u64)> = SeededMap::default();
    for wakeup in wakeups {
        of.entry(wakeup.giver).or_default().0 += 1;
        of.entry(wakeup.thread).or_default().1 += 1;
    }
    let goes_on = of
        .into_iter()
        .filter(|(_, (gives, woken))| (*woken as f64) < WAITS_TOO * *gives as f64);
    goes_on.map(|(thread, _)| thread).collect()
}

/// The wakeups of one thread that are still to come, of a list by thread and time.
#[derive(Default)]
struct OfThread<'a> {
    thread: Option<ThreadId>,
    rest: &'a [Wakeup],
}

impl<'a> OfThread<'a> {
    /// The first wakeup of a thread at a time; times of a thread are asked for in order.
    fn at(&mut self, all: &'a [Wakeup], thread: ThreadId, at: Nanos) -> Option<&'a Wakeup> {
        if self.thread != Some(thread) {
            let from = all.partition_point(|wakeup| wakeup.thread < thread);
            let rest = all.get(from..).unwrap_or_default();
            let count = rest.partition_point(|wakeup| wakeup.thread == thread);
            self.rest = rest.get(..count).unwrap_or_default();
            self.thread = Some(thread);
        }
        let over = self.rest.iter().take_while(|wakeup| wakeup.at < at).count();
        self.rest = self.rest.get(over..).unwrap_or_default();
        self.rest.first().filter(|wakeup| wakeup.at == at)
    }
}

/// The time from the wakeup to the run in the middle of all, in nanoseconds.
fn median_ns(all: &[HandOver]) -> u64 {
    let mut each: Vec<u64> = all.iter().map(|one| one.wait.ns).collect();
    let middle = each.len() / 2;
    match each.is_empty() {
        true => 0,
        false => *each.select_nth_unstable(middle).1,
    }
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let short_ns = loss_budget.all_ns(Pool::HandOver);
    let share = |cap_ns| format::fraction(context.share_of_caps(cap_ns));
    if context.caps < 2 || context.share_of_caps(short_ns) < LEAST_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle beside threads that were ready for up to 1 ms for {} of their time; the limit is 0.2 %",
            share(short_ns)
        ));
    }
    let all = hand_overs(context, yielder).await;
    let mut short: Vec<(u64, u64)> = all
        .iter()
        .filter(|one| one.wait.ns <= LONG_WAIT_NS)
        .map(|one| one.wait.span())
        .collect();
    sort(&mut short, yielder).await;
    let stretches = union(&short);
    let cap_ns = context.idle_in(&stretches, yielder).await.ready_ns;
    let cap_ns = cap_ns.min(short_ns);
    if all.len() < LEAST || context.share_of_caps(cap_ns) < LEAST_SHARE {
        return Outcome::Clear(format!(
            "{} by a thread on another capability, in which capabilities were idle for {} of their time; the limits are 100 and 0.2 %",
            format::many(all.len() as u64, "wakeup"),
            share(cap_ns)
        ));
    }
    loss_budget.claim_idle(&stretches);
    let bound = context.bound_threads(yielder).await;
    let bound_ns = all.iter().filter(|one| one.is_of(&bound));
    let bound_ns: u64 = bound_ns.map(|one| one.wait.ns).sum();
    let is_bound = bound_ns as f64 >= MOSTLY_BOUND * sum_ns(&all) as f64;
    Outcome::Found(vec![finding(
        context,
        loss_budget,
        (&all, cap_ns),
        is_bound,
    )])
}

fn sum_ns(all: &[HandOver]) -> u64 {
    all.iter().map(|one| one.wait.ns).sum()
}

/// `Thread 5 (ping) and thread 6 (pong)` of two, else how many there are.
fn subjects(context: &RuleContext<'_>, all: &[HandOver]) -> String {
    let both = all.iter().flat_map(|one| [one.wait.thread, one.giver]);
    let threads: Vec<ThreadId> = both.collect::<BTreeSet<_>>().into_iter().collect();
    match threads[..] {
        [one, other] => {
            let other = context.thread_name(other).replacen("Thread", "thread", 1);
            format!("{} and {other}", context.thread_name(one))
        }
        _ => format::many(threads.len() as u64, "thread"),
    }
}

fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (all, cap_ns): (&[HandOver], u64),
    is_bound: bool,
) -> Finding {
    let count = all.len() as u64;
    let median_ns = median_ns(all);
    let title = format!(
        "{} wake each other across capabilities {} times{}; the median hand-over takes {}",
        subjects(context, all),
        format::count(count),
        if is_bound {
            ", bound ones among them"
        } else {
            ""
        },
        format::duration(Duration(median_ns))
    );
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::HandOver, cap_ns));
    let parallelism = context.times.mean_parallelism().unwrap_or(0.0);
    finding.confidence = Confidence::Probable;
    let sum_ns = sum_ns(all);
    let one_way = all.iter().filter(|one| one.is_one_way);
    let one_way_ns: u64 = one_way.map(|one| one.wait.ns).sum();
    let is_one_way = one_way_ns as f64 > ONE_WAY * sum_ns as f64;
    if is_one_way {
        finding.confidence = Confidence::Hint;
        finding.severity = finding.severity.min(Severity::Low);
    }
    let meaning = if is_bound { MEANING_IF_BOUND } else { MEANING };
    let more = if is_one_way { MORE_IF_ONE_WAY } else { "" };
    finding.meaning = format!("{meaning}{more}").into();
    finding.tries = tries(parallelism, is_one_way, is_bound);
    // Threads that run at a time lose more with one capability than such few wakeups cost.
    if parallelism > IN_TURNS && finding.severity <= Severity::Low {
        finding.tries.retain(|one| one.flag.is_none());
    }
    finding.distrust = "With other work on the machine, or in a virtual one, OS threads wake more slowly. In a server that mostly waits, hand-overs make requests slower, and cost little of the time.".into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("hand-overs".into(), Value::Count(count)),
        (
            "a second".into(),
            Value::PerSecond(count as f64 * 1e9 / context.length_ns() as f64),
        ),
        ("median".into(), Value::Ns(median_ns)),
        ("all hand-overs".into(), Value::Ns(sum_ns)),
        (
            "capabilities that run, mean".into(),
            Value::Times(parallelism),
        ),
    ];
    let pairs = all.iter().map(|one| (one.giver, &one.wait));
    let places = of_pairs(pairs);
    finding.seen_in(places)
}

fn tries(parallelism: f64, is_one_way: bool, is_bound: bool) -> Vec<Try> {
    let batches = Try::code("Hand over batches: a list or chunk of items for each wakeup.");
    if is_bound {
        // One capability does not save the wakeup of an OS thread.
        let unbound = Try::code(
            "Use forkIO in place of forkOS where no foreign library needs an OS thread of its own, let a forked thread do the work of main (runInUnboundThread), and keep threads that wake each other on one capability (forkOn).",
        );
        return vec![unbound, batches];
    }
    if is_one_way {
        return vec![batches];
    }
    let together = Try::code(
        "Keep threads that wake each other on one capability: make both with forkOn and the same number, or let one thread do both steps.",
    );
    if parallelism <= IN_TURNS {
        return vec![one_capability(parallelism), together, batches];
    }
    let one = Try::flag(
        "-N1",
        format!(
            "Measure it: while any capability runs, {parallelism:.2} do on average, and part of that is the time of the wakeups, which one capability does not need."
        ),
        "parallel parts of the program take longer",
    );
    vec![batches, together, one]
}

/// Advises one capability where threads work in turns.
pub(super) fn one_capability(parallelism: f64) -> Try {
    Try::flag(
        "-N1",
        format!(
            "While any capability runs, {parallelism:.2} do on average: one can do this work. Compare wall-clock times without a log."
        ),
        "no parallelism in any part of the program",
    )
}
