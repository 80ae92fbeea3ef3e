//! Several threads that wait for time, I/O or foreign calls while nothing runs: those that answer another thread, one
//! after the other, and those that poll. Helper of the rule `one-at-a-time`.

use std::collections::{BTreeMap, BTreeSet};

use super::group_waits::group_finding;
use super::one_at_a_time::{Gap, IdleWaits, MIN_COUNT, MIN_SHARE, gaps_finding};
use super::polling::retain_mainly_timer;
use super::prelude::*;
use crate::lost_time::GapEnd;
use crate::threads::ThreadTurn;
use model::sorting::CompactCollect;

/// Minimum share of runs that are mere checks, for several threads that sleep and poll.
const CHECKS: f64 = 0.25;
/// Minimum share of the time in which threads work that sleep and poll less often than one thread alone would have to.
pub(super) const WORKING: f64 = 0.10;
/// From this mean number of sleeps that begin together on, several are asked at once, and the slowest of them counts.
const BATCH: f64 = 2.0;
/// Minimum number of wakeups that they give for each of their runs, for threads that look for the results of others. A
/// clock, which gives work each time that it wakes, has no runs that merely check.
const ASKS: f64 = 0.10;
/// Minimum share of the program's running time of threads that sleep and answer others, and minimum number of wakeups
/// that they give for each sleep.
const WORK: f64 = 0.50;
const ANSWERS: f64 = 0.50;
/// Minimum number of threads that answer another one, one after the other; a single one may be a device.
const MIN_ANSWERERS: usize = 2;
/// Minimum number of answers if the program waits for them for this share of the time.
const MIN_COUNT_OF_MOST: u64 = 8;
const MOST: f64 = 0.50;
/// Maximum sum of their sleeps, in relation to the time that the other one waits: if they sleep at the same time, they
/// were asked at the same time.
const AT_ONCE: f64 = 1.5;

/// Idle gaps after which another thread ran, and woke this one.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) gaps: Vec<Gap>,
    /// The threads that woke it.
    pub(super) by: BTreeSet<ThreadId>,
}

impl Answers {
    fn ns(&self) -> u64 {
        let lengths = self.gaps.iter().map(|gap| gap.ns);
        lengths.fold(0, u64::saturating_add)
    }

    fn count(&self) -> u64 {
        self.gaps.iter().filter(|gap| gap.is_last).count() as u64
    }
}

/// Finds one thread that waits for the answers of several, or several that sleep and poll. These work for at least
/// the share `least_work` of the time: a clock does not.
pub(super) async fn several_threads(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (all, least_work): (&BTreeMap<ThreadId, IdleWaits>, f64),
) -> Option<Finding> {
    let asker = all.iter().max_by_key(|(_, waits)| waits.answers.ns())?;
    if is_sequential(context, &asker.1.answers).await {
        let at_once = mean_sleepers(context, &asker.1.answers).await;
        if at_once >= BATCH
            && let Some(found) = group_finding(context, loss_budget, (*asker.0, all)).await
        {
            return Some(found);
        }
        let asker = (asker.0, asker.1, at_once);
        return Some(answers_finding(context, loss_budget, asker).await);
    }
    let sleeps = poll_gaps(context, all).await;
    let checks = sleeps.iter().filter(|(_, gap)| gap.is_check).count();
    let slept_ns = sleeps.iter().map(|(_, gap)| gap.ns);
    let slept_ns = slept_ns.fold(0, u64::saturating_add);
    let is_much = context.share(slept_ns) >= MIN_SHARE;
    let pollers: BTreeSet<ThreadId> = sleeps.iter().map(|(thread, _)| *thread).collect();
    let worked_ns = pollers.iter().filter_map(|thread| all.get(thread));
    let worked_ns = worked_ns
        .map(|waits| waits.ran_ns)
        .fold(0, u64::saturating_add);
    if context.share(worked_ns) < least_work || pollers.len() < 2 || !is_much {
        return None;
    }
    let is_polling = checks as f64 >= CHECKS * sleeps.len() as f64;
    let does_work = worked_ns as f64 >= WORK * context.program_ran_ns() as f64;
    if !is_polling && !does_work {
        return None;
    }
    let is_poller = |waker| pollers.contains(&waker);
    let woken = context.woken_by(&is_poller).await;
    let given: u64 = woken.values().sum();
    if !is_polling {
        // Those that wait for them wait for their timers. A sleep itself wakes the timer manager.
        let is_served = |(thread, count): &(&ThreadId, &u64)| {
            **count >= MIN_COUNT
                && !pollers.contains(thread)
                && !context.is_runtime_thread(**thread)
        };
        let others: Vec<u64> = { woken.iter() }
            .filter(is_served)
            .map(|(_, count)| *count)
            .collect();
        let served = others.len();
        let given: u64 = others.iter().sum();
        if served < MIN_ANSWERERS || (given as f64) < ANSWERS * sleeps.len() as f64 {
            return None;
        }
        let others = format::pluralize(served as u64, "other thread");
        let meanwhile = format!(", while {others} waited for them");
        let slept = (&sleeps[..], slept_ns, &*meanwhile);
        let mut finding = sleepers_finding(context, loss_budget, slept).await;
        explain_answerers(&mut finding, &others);
        return Some(finding);
    }
    let lives = pollers
        .iter()
        .filter_map(|one| context.log.store.thread_lane(*one));
    let runs: usize = lives.map(|life| life.runs()).sum();
    let do_ask = given as f64 >= ASKS * runs as f64;
    let slept = (
        &sleeps[..],
        slept_ns,
        ": perhaps they poll, or pause before another attempt",
    );
    let mut finding = sleepers_finding(context, loss_budget, slept).await;
    if do_ask {
        explain_askers(&mut finding);
    }
    Some(finding)
}

/// Changes a finding about threads that sleep and do most of the work: others wait for their answers meanwhile.
fn explain_answerers(finding: &mut Finding, others: &str) {
    finding.severity = Severity::of_share(finding.share).min(Severity::Medium);
    finding.confidence = Confidence::Probable;
    finding.meaning = format!("They do most of the work, and wake one of {others} after each sleep or two. While they sleep, nothing runs, although these wait: for an answer, it seems, as when requests lie in a queue that is looked at from time to time.").into();
    finding.tries = Advice::code_changes([
        "Let the thread that has work for them wake them: an MVar, a queue that blocks (Chan, TQueue), or retry in STM, in place of threadDelay in a loop.",
        "If a time is needed as a limit: timeout, or registerDelay.",
    ]);
    finding.distrust = "Work that is done at fixed times on purpose loses nothing.".into();
}

/// Changes a finding about threads that sleep and check: they also give work to others, and nothing runs once that is
/// done, so it is the result that they look for.
fn explain_askers(finding: &mut Finding) {
    finding.severity = Severity::of_share(finding.share).min(Severity::Medium);
    finding.confidence = Confidence::Probable;
    finding.meaning = "They give work to other threads, sleep, and often run only for a moment in between, as to look whether the result is there. When the others are done, nothing runs until a timer wakes them: a result is noticed half a pause late on average.".into();
    finding.tries[0] = Advice::code(
        "Wait for the result: let the thread that makes it put it into an MVar or TMVar, and take it from there, with a timeout if needed.",
    );
}

/// Returns whether the threads that answer another one sleep one after the other, and for long.
async fn is_sequential(context: &RuleContext<'_>, answers: &Answers) -> bool {
    let waited_ns = answers.ns();
    let least = match context.share(waited_ns) >= MOST {
        true => MIN_COUNT_OF_MOST,
        false => MIN_COUNT,
    };
    if answers.count() < least
        || answers.by.len() < MIN_ANSWERERS
        || context.share(waited_ns) < MIN_SHARE
    {
        return false;
    }
    let mut asleep_ns = 0_u64;
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.wait_reason().is_some_and(WaitReason::is_asleep) {
            let wait = context.wait(turn, 0);
            asleep_ns += wait.map_or(0, |wait| wait.ns);
        }
    };
    context.each_turn_of(&answers.by, &mut visit).await;
    asleep_ns as f64 <= AT_ONCE * waited_ns as f64
}

/// Returns the mean number of sleeps of all threads that begin at about the same time as a sleep of an answering
/// thread, with that one: within half of its length. A clock, which sleeps all the time, begins at any time.
async fn mean_sleepers(context: &RuleContext<'_>, answers: &Answers) -> f64 {
    let (mut of_answering, mut begins) = (Vec::new(), Vec::new());
    let mut visit = |turn: ThreadTurn<'_>| {
        if let Some(wait) = context.wait(turn, 0) {
            let (from, to) = wait.span();
            begins.push(from);
            if answers.by.contains(&turn.thread()) {
                of_answering.push((from, to));
            }
        }
    };
    context.each_sleep(&mut visit).await;
    context.sort(&mut begins).await;
    let together = of_answering.iter().map(|(from, to)| {
        let half = (to - from) / 2;
        let before = begins.partition_point(|begin| *begin < from.saturating_sub(half));
        begins.partition_point(|begin| *begin <= from + half) - before
    });
    together.sum::<usize>() as f64 / of_answering.len().max(1) as f64
}

/// Creates the finding on a thread that several threads answer, one after the other, each after a sleep.
async fn answers_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (asker, waits, at_once): (&ThreadId, &IdleWaits, f64),
) -> Finding {
    let answers = &waits.answers;
    let (count, waited_ns) = (answers.count(), answers.ns());
    let name = context.thread_name(*asker);
    let title = format!(
        "{name} waited {} for {}, {}, and nothing ran meanwhile for {} of the time",
        format::pluralize(count, "time"),
        format::pluralize(answers.by.len() as u64, "other thread"),
        match at_once >= BATCH {
            true => "a few at a time",
            false => "one after the other",
        },
        format::fraction(context.share(waited_ns))
    );
    let gaps = answers.gaps.iter();
    let (mut finding, cap_ns) = gaps_finding(context, loss_budget, (title, gaps)).await;
    finding.subject = Some(name);
    finding.severity = Severity::of_share(finding.share).min(Severity::Medium);
    finding.confidence = Confidence::Probable;
    finding.meaning = match at_once >= BATCH {
        true => format!("Each time, {at_once:.1} threads on average waited for a timer, I/O or a foreign call, equally long, then woke this one. Two of them may wait for the same, such as the output and the end of a command. The program takes as long as all these waits together."),
        false => "Each time, one of these threads waited for a timer, I/O or a foreign call, then woke this one. They hardly wait at the same time, so the program takes as long as all their waits together.".to_owned(),
    }
    .into();
    finding.tries = Advice::code_changes([
        "Ask all of them first, and wait for the answers after that: for commands (readProcess), mapConcurrently from the package async runs several at once.",
        "If nothing depends on the answers, do not wait for them.",
    ]);
    finding.distrust = "If each question depends on the answer before, the order is needed.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("waits", Value::Count(count)),
        ("a wait, on average", Value::Ns(waited_ns / count.max(1))),
    ]);
    finding.with_evidence(answers.gaps.iter().map(|gap| gap.evidence(*asker)))
}

/// Returns the gaps that a timer ended, of threads that hardly wait for anything else.
async fn poll_gaps(
    context: &RuleContext<'_>,
    all: &BTreeMap<ThreadId, IdleWaits>,
) -> Vec<(ThreadId, Gap)> {
    let mut pollers: BTreeMap<ThreadId, &IdleWaits> = all
        .iter()
        .map(|(thread, waits)| (*thread, waits))
        .collect_small();
    pollers.retain(|_, waits| !waits.gaps.is_empty());
    retain_mainly_timer(context, &mut pollers).await;
    let sleeps = pollers.iter().flat_map(|(thread, idle_waits)| {
        let sleeps = idle_waits
            .gaps
            .iter()
            .filter(|gap| gap.end == GapEnd::Timer);
        sleeps.map(|gap| (*thread, *gap))
    });
    sleeps.collect()
}

/// Creates the finding on several threads that sleep while nothing runs, then check something.
async fn sleepers_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (sleeps, slept_ns, why): (&[(ThreadId, Gap)], u64, &str),
) -> Finding {
    let threads: BTreeSet<ThreadId> = sleeps.iter().map(|(thread, _)| *thread).collect();
    let count = sleeps.iter().filter(|(_, gap)| gap.is_last).count() as u64;
    let title = format!(
        "{} slept {} until a timer, and nothing ran meanwhile for {} of the time{why}",
        format::pluralize(threads.len() as u64, "thread"),
        format::pluralize(count, "time"),
        format::fraction(context.share(slept_ns))
    );
    let gaps = sleeps.iter().map(|(_, gap)| gap);
    let (mut finding, cap_ns) = gaps_finding(context, loss_budget, (title, gaps)).await;
    finding.meaning = "They sleep again and again, and often run only for a moment in between, as to look whether something has happened, or before another attempt. They notice it half a pause late on average, and delay every thread that waits for them.".into();
    finding.tries = Advice::code_changes([
        "Wait for the event instead, with takeMVar, readTQueue or retry in STM.",
        "If polling is unavoidable: choose the pause by how late the program may notice.",
        "If they pause before another attempt: begin with short pauses, and leave the thread to other work meanwhile.",
    ]);
    finding.distrust = "Intended pauses, as in a clock, lose nothing.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("pauses", Value::Count(count)),
        ("a pause, on average", Value::Ns(slept_ns / count.max(1))),
    ]);
    finding.with_evidence(sleeps.iter().map(|(thread, gap)| gap.evidence(*thread)))
}
