//! Do threads wake threads of other capabilities?
//!
//! To wake a thread of another capability, a thread sends it a message. If the capability was idle, its OS thread
//! sleeps in the kernel, and the woken thread runs only tens of microseconds later. If threads work in turns,
//! nothing runs meanwhile, and each turn costs that much. On one capability the same takes less than a
//! microsecond.

use super::par_gc_unbalanced::is_major_work_shared;
use super::prelude::*;
use crate::lost_time::LONG_WAIT_NS;
use crate::threads::{ClippedWait, ThreadTurn, evidence_by_threads, median};
use crate::wakeups::Wakeup;
use eventlog::hash::{SeededMap, SeededSet};

/// Minimum number of hand-overs; fewer are how programs distribute work and collect results.
const MIN_COUNT: usize = 100;
/// Minimum share of capability time; every program with threads loses less than that.
const MIN_SHARE: f64 = 0.002;
/// Mean number of running capabilities, over the time in which any runs, up to which threads work in turns: one
/// capability could do the same work.
pub(super) const IN_TURNS: f64 = 1.2;
/// Mean number of running capabilities up to which one capability may do: beyond it, one took up to 61 % longer.
const PARTLY: f64 = 1.35;

/// A thread woken less often than this share of its own wakeups of others does not wait for them: it runs on
/// meanwhile, so the wakeups may well be early enough.
const WAITS_TOO: f64 = 0.10;
/// Share of the hand-over time by such threads above which the finding is only a hint.
const ONE_WAY: f64 = 0.75;

const MEANING: &str = "The woken thread belongs to another capability, whose OS thread must be woken first. Each row names the woken thread, then the one that woke it. Within one capability a wakeup takes less than a microsecond.";

const MEANING_IF_BOUND: &str = "A bound thread (main, one made by forkOS, or one that foreign code called) runs on its own OS thread, which must be woken for it. On one capability, an unbound thread wakes another within a microsecond. Each row names the woken thread first.";

const MORE_IF_ONE_WAY: &str = " Usually the waking thread goes on meanwhile: only what waits for the result of the woken thread becomes slower.";

pub(super) const RULE: Rule = Rule {
    name: "hand-overs",
    question: "Do threads wake threads of other capabilities?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Minimum share of the hand-over time with bound threads to name these as the cause.
const MOSTLY_BOUND: f64 = 0.50;

/// Wakeup by a thread on another capability, with the wait until the woken thread runs.
struct HandOver {
    wait: ClippedWait,
    waker: ThreadId,
    /// Whether the waker itself hardly waits for others.
    is_one_way: bool,
}

/// Which threads of most hand-overs are bound, by their time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Neither,
    /// Such as main and one made by `forkIO`.
    One,
    Both,
}

impl Bound {
    async fn of_most(context: &RuleContext<'_>, all: &[HandOver]) -> Self {
        let bound = context.bound_threads().await;
        let (mut any_ns, mut both_ns) = (0_u64, 0_u64);
        for one in all {
            let is_bound = [one.wait.thread, one.waker].map(|thread| bound.contains(&thread));
            if is_bound.contains(&true) {
                any_ns = any_ns.saturating_add(one.wait.ns);
            }
            if !is_bound.contains(&false) {
                both_ns = both_ns.saturating_add(one.wait.ns);
            }
        }
        let least_ns = MOSTLY_BOUND * sum_ns(all) as f64;
        match (any_ns as f64 >= least_ns, both_ns as f64 >= least_ns) {
            (false, _) => Self::Neither,
            (true, false) => Self::One,
            (true, true) => Self::Both,
        }
    }
}

/// Finds the wakeups after which the thread ran on another capability than the waker.
async fn hand_overs(context: &RuleContext<'_>) -> Vec<HandOver> {
    let wakeups = context.wakeups_by_thread().await;
    let non_waiting = non_waiting_wakers(&wakeups);
    let mut all = Vec::new();
    let mut visit = |turn: ThreadTurn<'_>, wakeup: &Wakeup| {
        let (ready, start) = turn.runnable_span();
        if turn.code.is_none() || ready == start {
            return;
        }
        if let Some(wait) = context.wait(turn, 1)
            && wait.cap.is_some_and(|cap| cap != wakeup.cap)
        {
            all.push(HandOver {
                wait,
                waker: wakeup.waker,
                is_one_way: non_waiting.contains(&wakeup.waker),
            });
        }
    };
    context.each_woken_turn(&wakeups, &mut visit).await;
    all
}

/// Returns the threads that wake others but are hardly woken themselves.
fn non_waiting_wakers(wakeups: &[Wakeup]) -> SeededSet<ThreadId> {
    let mut counts: SeededMap<ThreadId, (u64, u64)> = SeededMap::default();
    // They are in the order of the woken threads, most of which one thread wakes several times.
    for of_thread in wakeups.chunk_by(|one, next| one.thread == next.thread) {
        for of_both in of_thread.chunk_by(|one, next| one.waker == next.waker) {
            if let [Wakeup { waker, .. }, ..] = of_both {
                counts.entry(*waker).or_default().0 += of_both.len() as u64;
            }
        }
        if let [Wakeup { thread, .. }, ..] = of_thread {
            counts.entry(*thread).or_default().1 += of_thread.len() as u64;
        }
    }
    let non_waiting = counts
        .into_iter()
        .filter(|(_, (gives, woken))| (*woken as f64) < WAITS_TOO * *gives as f64);
    non_waiting.map(|(thread, _)| thread).collect()
}

/// Returns the median time from wakeup to run, in nanoseconds.
fn median_ns(all: &[HandOver]) -> u64 {
    let mut each: Vec<u64> = all.iter().map(|one| one.wait.ns).collect();
    median(&mut each)
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let short_ns = loss_budget.all_ns(Pool::HandOver);
    let share = |cap_ns| format::fraction(context.share_of_caps(cap_ns));
    if context.caps < 2 || context.share_of_caps(short_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle while threads were ready for up to 1 ms, for {} of their time; the limit is 0.2 %",
            share(short_ns)
        ));
    }
    let all = hand_overs(context).await;
    let short = all.iter().filter(|one| one.wait.ns <= LONG_WAIT_NS);
    let short = short.map(|one| one.wait.span()).collect();
    let stretches = context.stretches(short).await;
    let cap_ns = context.idle_in(&stretches).await.ready_ns;
    let cap_ns = cap_ns.min(short_ns);
    if all.len() < MIN_COUNT || context.share_of_caps(cap_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "{} by a thread on another capability, in which capabilities were idle for {} of their time; the limits are 100 and 0.2 %",
            format::pluralize(all.len() as u64, "wakeup"),
            share(cap_ns)
        ));
    }
    loss_budget.claim_idle(&stretches);
    let bound = Bound::of_most(context, &all).await;
    Outcome::Found(vec![finding(context, loss_budget, (&all, cap_ns), bound)])
}

fn sum_ns(all: &[HandOver]) -> u64 {
    all.iter().map(|one| one.wait.ns).sum()
}

fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (all, cap_ns): (&[HandOver], u64),
    bound: Bound,
) -> Finding {
    let count = all.len() as u64;
    let median_ns = median_ns(all);
    let threads = all.iter().flat_map(|one| [one.wait.thread, one.waker]);
    let title = format!(
        "{} hand over across capabilities {} times{}; the median hand-over takes {}",
        context.names_or_count(threads),
        format::count(count),
        match bound {
            Bound::Neither => "",
            Bound::One | Bound::Both => ", bound ones among them",
        },
        format::duration_ns(median_ns)
    );
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::HandOver, cap_ns));
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
    let meaning = match bound {
        Bound::Neither => MEANING,
        Bound::One | Bound::Both => MEANING_IF_BOUND,
    };
    let more = if is_one_way { MORE_IF_ONE_WAY } else { "" };
    finding.meaning = format!("{meaning}{more}").into();
    finding.tries = tries(context, is_one_way, bound);
    // Threads that run in parallel lose more on one capability than these few wakeups cost.
    if parallelism > IN_TURNS && finding.severity <= Severity::Low {
        finding.tries.retain(|one| one.flag.is_none());
    }
    finding.distrust = "On busy or virtual machines, OS threads wake more slowly. In a server that mostly waits, hand-overs slow requests, but cost little of the time.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("hand-overs", Value::Count(count)),
        ("a second", Value::PerSecond(context.per_second(count))),
        ("median", Value::Ns(median_ns)),
        ("all hand-overs, summed over threads", Value::Ns(sum_ns)),
        ("capabilities that ran, mean", Value::Mean(parallelism)),
    ]);
    let pairs = all
        .iter()
        .map(|one| ([one.wait.thread, one.waker], &one.wait));
    finding.with_evidence(evidence_by_threads(pairs))
}

fn tries(context: &RuleContext<'_>, is_one_way: bool, bound: Bound) -> Vec<Advice> {
    let parallelism = context.times.mean_parallelism().unwrap_or(0.0);
    let batches = Advice::code(
        "Hand over batches: a list or chunk of items per wakeup. A bounded queue that holds only a few items hands over each.",
    );
    if bound != Bound::Neither {
        let unbound = Advice::code(
            "Use forkIO in place of forkOS where no foreign library needs an OS thread of its own, let a forked thread do the work of main (runInUnboundThread), and keep threads that wake each other on one capability (forkOn).",
        );
        // Two bound threads change their OS threads on one capability as well: measured, it gains nothing. One bound
        // thread and an unbound one took half the time with -N1, or a third.
        let one = one_capability_advice(context).filter(|_| bound == Bound::One && !is_one_way);
        return one.into_iter().chain([unbound, batches]).collect();
    }
    if is_one_way {
        return vec![batches];
    }
    let together = Advice::code(
        "Keep threads that wake each other on one capability: make both with forkOn and the same number, or let one thread do both steps.",
    );
    if parallelism <= IN_TURNS {
        let one = one_capability_advice(context);
        return one.into_iter().chain([together, batches]).collect();
    }
    if parallelism > PARTLY || is_major_work_shared(context) {
        return vec![batches, together];
    }
    let one = Advice::flag(
        "-N1",
        format!(
            "Measure it: while any capability runs, {parallelism:.2} run on average, and part of that is wakeup time, which one capability does not need."
        ),
        "parallel parts of the program take longer",
    );
    vec![batches, together, one]
}

/// Advises one capability if threads work in turns and their work alone takes less than the program does now, unless its
/// one thread would also do what several do in major collections now.
pub(super) fn one_capability_advice(context: &RuleContext<'_>) -> Option<Advice> {
    let parallelism = context.times.mean_parallelism().unwrap_or(0.0);
    let fits = context.times.all_caps().running_ns < context.length_ns();
    let is_enough = parallelism <= IN_TURNS && fits && !is_major_work_shared(context);
    is_enough.then(|| {
        Advice::flag(
            "-N1",
            format!(
                "Two capabilities hardly ever run at once ({parallelism:.2} on average while any runs): one can do this work. Compare wall-clock times without a log."
            ),
            "no parallelism in any part of the program",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{MEANING, MEANING_IF_BOUND, MORE_IF_ONE_WAY, RULE};

    /// Wakeups may go in one direction only.
    #[test]
    fn no_text_claims_both_directions() {
        for text in [RULE.question, MEANING, MEANING_IF_BOUND, MORE_IF_ONE_WAY] {
            assert!(!text.contains("each other"), "{text}");
        }
    }
}
