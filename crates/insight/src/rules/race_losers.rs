//! Do threads work on after another one has won?
//!
//! A thread that asks several others for the same, such as a hedged request, goes on with the first answer. Unless it
//! ends the losers, they work on for nobody. The log does not show what a thread computes, but who made it and whom
//! it wakes: of the threads made together, exactly one wakes their creator, and a loser runs on after that and wakes
//! nobody.

use super::prelude::*;
use crate::wakeups::{ThreadEvent, Wakeup};
use analysis::timeline::LifeReader;
use analysis::timeline::turns::Turn;
use eventlog::hash::{SeededMap, SeededSet};

/// Minimum number of losers; fewer may be threads that work in the background. If they take most of the running time,
/// `FEW` are enough.
const MIN_COUNT: usize = 20;
const FEW: usize = 8;
const MOST: f64 = 0.50;
/// Maximum number of runs of a thread whose turns are read from the cache, which has no index.
const MAX_CACHED_RUNS: usize = 64;
/// Minimum share of all running time that they take after another thread has won. Those that are ended in time took
/// up to 13 %.
const MIN_SHARE: f64 = 0.20;

pub(super) const RULE: Rule = Rule {
    name: "race-losers",
    question: "Do threads work on after another one has won?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// What a thread does to its creator: it is made by it, or wakes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    creator: ThreadId,
    at: Nanos,
    wakes: bool,
    thread: ThreadId,
}

/// Threads that one made after the last answer.
#[derive(Default)]
struct Batch {
    threads: Vec<ThreadId>,
    /// First wakeup of the creator by one of them.
    won: Option<(ThreadId, Nanos)>,
    is_race: bool,
    /// The first `listed` of the threads, if there are many.
    set: SeededSet<ThreadId>,
    listed: usize,
}

impl Batch {
    /// Returns whether a thread is one of them.
    fn has(&mut self, thread: ThreadId) -> bool {
        /// As many are found faster without a set.
        const SEARCHED: usize = 64;
        if self.threads.len() <= SEARCHED {
            return self.threads.contains(&thread);
        }
        let more = self.threads.get(self.listed..).unwrap_or_default();
        self.set.extend(more);
        self.listed = self.threads.len();
        self.set.contains(&thread)
    }

    /// Returns the threads that did not win, with the time at which another one did; none if the creator waited for
    /// more than one.
    fn losers(self) -> impl Iterator<Item = (ThreadId, Nanos)> {
        let won = self.won.filter(|_| self.is_race);
        let threads = self.threads.into_iter();
        won.into_iter().flat_map(move |(winner, at)| {
            let others = threads.clone().filter(move |thread| *thread != winner);
            others.map(move |thread| (thread, at))
        })
    }
}

/// Returns the steps of all threads by their creators, in order of time, and the threads that wake any other one.
async fn steps(context: &RuleContext<'_>) -> (Vec<Step>, SeededSet<ThreadId>) {
    let (mut all, mut creators) = (Vec::new(), SeededMap::default());
    let mut visit = |ThreadEvent { thread, at, by, .. }: ThreadEvent| {
        if let Some(creator) = by {
            creators.insert(thread, creator);
            all.push(Step {
                creator,
                at,
                wakes: false,
                thread,
            });
        }
    };
    context.each_creation(context.range, &mut visit).await;
    let mut wakers: SeededSet<ThreadId> = SeededSet::default();
    if all.len() <= FEW {
        return (all, wakers);
    }
    // The last waker and its creator: many wakeups are by the same thread as the one before.
    let mut last: Option<(ThreadId, Option<ThreadId>)> = None;
    let mut visit = |wakeup: Wakeup| {
        let known = last.filter(|(waker, _)| *waker == wakeup.waker);
        let (_, creator) = known.unwrap_or_else(|| {
            wakers.insert(wakeup.waker);
            (wakeup.waker, creators.get(&wakeup.waker).copied())
        });
        last = Some((wakeup.waker, creator));
        if creator == Some(wakeup.thread) {
            all.push(Step {
                creator: wakeup.thread,
                at: wakeup.at,
                wakes: true,
                thread: wakeup.waker,
            });
        }
    };
    context.each_wakeup(&mut visit).await;
    context.sort_by_thread(&mut all, |step| step.creator).await;
    (all, wakers)
}

/// Returns the losers, with the time at which another thread had won.
fn losers(steps: &[Step]) -> Vec<(ThreadId, Nanos)> {
    let (mut all, mut batch) = (Vec::new(), Batch::default());
    let mut creator = None;
    for step in steps {
        let is_next = batch.won.is_some() && !step.wakes;
        if creator.replace(step.creator) != Some(step.creator) || is_next {
            all.extend(std::mem::take(&mut batch).losers());
        }
        if !step.wakes {
            batch.threads.push(step.thread);
        } else if batch.has(step.thread) {
            batch.is_race = batch.won.is_none();
            batch.won = batch.won.or(Some((step.thread, step.at)));
        }
    }
    all.extend(batch.losers());
    all
}

/// Returns how long a thread runs in a part of the range.
fn running_ns(
    context: &RuleContext<'_>,
    lives: &mut LifeReader<'_>,
    (thread, part): (ThreadId, Interval),
) -> u64 {
    let ran_ns = |turn: &Turn| {
        let (from, to) = turn.run_span();
        let run = Interval::new(Nanos(from), Nanos(to)).intersection(part);
        run.map_or(0, |run| run.duration().0)
    };
    let sum = |sum_ns: u64, (_, turn): (usize, Turn)| sum_ns.saturating_add(ran_ns(&turn));
    let Some(life) = lives.life(thread) else {
        return 0;
    };
    // Most have ended, which is known without reading their runs.
    let known = life.complete_life();
    if known.is_some_and(|(known, _)| known.end() <= part.start()) {
        return 0;
    }
    // A damaged log can create one thread thousands of times.
    if life.runs() <= MAX_CACHED_RUNS
        && let Some(turns) = context.cached_turns(thread)
    {
        return turns.fold(0, sum);
    }
    life.turns_overlapping(part).fold(0, sum)
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let (steps, wakers) = steps(context).await;
    let mut losers = losers(&steps);
    losers.retain(|(thread, _)| !wakers.contains(thread));
    let mut ran: Vec<(u64, ThreadId, Nanos)> = Vec::new();
    let (mut pace, mut lives) = (context.steps(), context.log.store.life_reader());
    for (thread, from) in losers {
        pace.step().await;
        let rest = Interval::new(from, context.range.end());
        let ns = running_ns(context, &mut lives, (thread, rest));
        ran.extend((ns > 0).then_some((ns, thread, from)));
    }
    let ns = ran.iter().map(|(ns, ..)| *ns);
    let ns = ns.fold(0, u64::saturating_add);
    let all_ns = context.times.all_caps().running_ns;
    let share = ns as f64 / all_ns.max(1) as f64;
    let count = format::pluralize(ran.len() as u64, "thread");
    let least = if share >= MOST { FEW } else { MIN_COUNT };
    if ran.len() < least || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "{count} ran on after another one had woken their creator, and woke nobody, for {} of all running time; the limits are {MIN_COUNT} and 20 %, or {FEW} and half",
            format::fraction(share)
        ));
    }
    Outcome::Found(vec![finding(context, loss_budget, (ran, ns, share))])
}

fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (ran, ns, share): (Vec<(u64, ThreadId, Nanos)>, u64, f64),
) -> Finding {
    let title = format!(
        "{} ran for another {} after the thread that made them had continued, {} of all running time",
        format::pluralize(ran.len() as u64, "thread"),
        format::duration_ns(ns),
        format::fraction(share)
    );
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Running, ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "Each was made together with others, by a thread that went on as soon as one of them woke it. The others ran on and woke nobody: their results come too late, as after a timeout, or when the first answer counts (hedged requests).".into();
    finding.tries = Advice::code_changes([
        "End the losers: race of the package async does; or kill them in a thread of its own (forkIO), as killThread waits.",
        "Start the second attempt only when the first one takes longer than usual: most are never needed.",
        "Pure code that does not allocate cannot be ended: compile it with -fno-omit-yields.",
    ]);
    finding.distrust = "Threads that leave a result where others find it later, or that work in the background, may be needed all the same.".into();
    finding.set_numbers([
        ("threads", Value::Count(ran.len() as u64)),
        ("ran on for", Value::Ns(ns)),
        ("of all running time", Value::Share(share)),
    ]);
    let evidence = ran.iter().map(|(ns, thread, from)| {
        let end = context.log.store.thread_lane(*thread);
        let end = end.map_or(*from, |life| life.life().end());
        Evidence::for_thread(
            *thread,
            Interval::new(*from, end.max(*from).min(context.range.end())),
            Value::Ns(*ns),
        )
    });
    finding.with_evidence(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of thread 1: a number makes that thread, a negative one is woken by it.
    fn losers_of(steps: &[i32]) -> Vec<u32> {
        let steps = steps.iter().enumerate().map(|(at, thread)| Step {
            creator: ThreadId(1),
            at: Nanos(at as u64),
            wakes: *thread < 0,
            thread: ThreadId(thread.unsigned_abs()),
        });
        let losers = losers(&steps.collect::<Vec<_>>());
        losers.into_iter().map(|(thread, _)| thread.0).collect()
    }

    #[test]
    fn a_race_has_one_answer() {
        assert_eq!(losers_of(&[10, 11, -11, 12, 13, 14, -12]), [10, 13, 14]);
        // All are waited for, or each is asked alone.
        let nobody: [u32; 0] = [];
        assert_eq!(losers_of(&[10, 11, -11, -10, 12, 13, -12, -13]), nobody);
        assert_eq!(losers_of(&[10, -10, 11, -11]), nobody);
        // A late answer of an earlier race is none of this one.
        assert_eq!(losers_of(&[10, 11, -11, 12, 13, -10, -12]), [10, 13]);
        assert_eq!(losers_of(&[10, 11]), nobody);
    }

    #[test]
    fn a_race_may_have_many_threads() {
        let mut steps: Vec<i32> = (1000..1200).chain([-1100, 1]).collect();
        let losers = losers_of(&steps);
        assert_eq!(losers.len(), 199);
        assert!(!losers.contains(&1100));
        // Two answers, and a thread of an earlier race.
        steps.extend((2000..2100).chain([-1000, -2001, -2002]));
        assert_eq!(losers_of(&steps), losers);
    }
}
