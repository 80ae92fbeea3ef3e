//! Does one capability do the work of a parallel program?
//!
//! A program that creates sparks is meant to run in parallel, and so may be one with short-lived threads. If one
//! capability does nearly all the work, they have no effect: sparks are evaluated too late, too little or not at
//! all, and a thread that returns an unevaluated value leaves the work to the thread that needs it.

use super::prelude::*;
use super::sparks::{COLLECTED, DUD, FIZZLED, INSTEAD_OF_DUDS, OVERFLOWED};
use crate::threads::FinishedThread;
use analysis::numbers::summary::SparkTotals;
use eventlog::hash::SeededSet;
use eventlog::ids::CapId;

/// Minimum share of all running time on one capability.
const MIN_SHARE: f64 = 0.95;
/// The same for threads that began together with uneven shares.
const MIN_UNEVEN: f64 = 0.90;
/// Minimum share of the time in which that capability runs; otherwise the program waits for something.
const BUSY: f64 = 0.50;
/// Minimum number of sparks in a program that is meant to be parallel.
const MIN_SPARKS: u64 = 100;
/// Minimum number of short-lived threads other than the one that works, without the one at the start of the runtime
/// and the one that flushes output at the end.
const MIN_THREADS: usize = 4;
/// The same for threads that all end in the first tenth of the time.
const MIN_EARLY: usize = 2;
/// A thread that begins this late flushes output.
const AT_END_NS: u64 = 2_000_000;
/// Maximum share of the work done by each of these threads, and by all of them.
const LITTLE: f64 = 0.05;

/// Minimum number of threads that are waited for one after the other, minimum share of the work that they do, and maximum
/// number of them that live at a time, on average.
const MIN_SEQUENCE: usize = 20;
const MOST_WORK: f64 = 0.50;
const AT_ONCE: f64 = 1.2;
/// Maximum share of these threads that overlap with the one before.
const OVERLAPPING: f64 = 0.2;

/// Minimum work of a thread that has a share of it.
const MIN_WORK_NS: u64 = 500_000;
/// Minimum number of threads that hand over lazy results, and of runs of each: a single one may log, or count.
const MIN_PRODUCERS: usize = 2;
const MIN_HANDED: u64 = 200;
/// Maximum mean run of a thread that only hands over.
const SHORT_NS: u64 = 10_000;

pub(super) const RULE: Rule = Rule {
    name: "one-worker",
    question: "Does one capability do the work of a parallel program?",
    inputs: &[Input::Threads],
    evaluate: yielding!(evaluate),
};

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let times = &context.times.caps;
    let ran_ns: u64 = times.iter().map(|(_, times)| times.running_ns).sum();
    let most = times.iter().max_by_key(|(_, times)| times.running_ns);
    let (cap, most_ns) = most.map_or((CapId(0), 0), |(cap, times)| (*cap, times.running_ns));
    let share = most_ns as f64 / ran_ns.max(1) as f64;
    let busy = context.share(most_ns);
    let sparks = context.sparks();
    let is_most = share >= MIN_SHARE;
    if context.caps >= 2 && !is_most && sparks.count == 0 {
        // A thread that collections move from one capability to the other is one worker all the same.
        let threads = context.finished_threads().await;
        if let Some(each) = waited_for_each(context, (&threads, ran_ns)).await {
            let finding = each_finding(context, loss_budget, each);
            return finish(context, finding, (cap, share, most_ns));
        }
        let longest_ns = threads.iter().map(|one| one.ran_ns).max().unwrap_or(0);
        if context.share(longest_ns) >= BUSY
            && let Some(finding) = uneven_shares(context, loss_budget, (&threads, ran_ns))
        {
            return finish(context, finding, (cap, share, most_ns));
        }
    }
    if context.caps < 2 || !is_most || busy < BUSY {
        return Outcome::Clear(format!(
            "the busiest of {} did {} of the work, and ran for {} of the time; the limits are 95 % and 50 %",
            format::pluralize(context.caps, "capability"),
            format::fraction(share),
            format::fraction(busy)
        ));
    }
    let worked = format!(
        "1 of {} did {} of the work",
        format::pluralize(context.caps, "capability"),
        format::fraction(share)
    );
    let finding = if sparks.count >= MIN_SPARKS {
        sparks_finding(context, loss_budget, &worked)
    } else {
        let threads = context.finished_threads().await;
        let is_little = |ns: u64| (ns as f64) < LITTLE * ran_ns as f64;
        let end = context.range.end().0.saturating_sub(AT_END_NS);
        let program = threads.iter().filter(|one| one.life.start().0 < end);
        let (helpers, workers): (Vec<&FinishedThread>, Vec<&FinishedThread>) =
            program.partition(|one| is_little(one.ran_ns));
        // A few threads exist in many programs. Those that are meant to work, and leave the work to another one, end soon.
        let early = context.range.start().0 + context.length_ns() / 10;
        let are_early = helpers.iter().all(|one| one.life.end().0 < early);
        let is_some = helpers.len() >= MIN_THREADS || helpers.len() >= MIN_EARLY && are_early;
        let helped_ns = helpers
            .iter()
            .map(|one| one.ran_ns)
            .fold(0, u64::saturating_add);
        // First, as threads that hand over unevaluated work end early, too.
        let producers = producers(context, ran_ns).await;
        let unclaimed_ns = loss_budget.unclaimed_ns(Pool::Serial);
        let is_explained = unclaimed_ns * 2 <= loss_budget.all_ns(Pool::Serial);
        if producers.len() >= MIN_PRODUCERS && is_explained {
            return Outcome::Clear(format!(
                "{worked}, but another finding explains most of the time in which only one worked"
            ));
        }
        if let Some(finding) = lazy_results(context, loss_budget, (&producers, &worked)).await {
            return finish(context, finding, (cap, share, most_ns));
        }
        if let Some(each) = waited_for_each(context, (&threads, ran_ns)).await {
            let finding = each_finding(context, loss_budget, each);
            return finish(context, finding, (cap, share, most_ns));
        }
        if let Some(finding) = uneven_shares(context, loss_budget, (&threads, ran_ns)) {
            return finish(context, finding, (cap, share, most_ns));
        }
        if !is_some || workers.len() > 1 || !is_little(helped_ns) {
            return Outcome::Clear(format!(
                "the program created {}, and {} ended after little work; the limits are 100, and 4 that did less than 5 % of the work while one did the rest",
                format::pluralize(sparks.count, "spark"),
                format::pluralize(helpers.len() as u64, "thread")
            ));
        }
        threads_finding(
            context,
            loss_budget,
            &worked,
            (helpers.len() as u64, helped_ns),
        )
    };
    finish(context, finding, (cap, share, most_ns))
}

/// Adds what the findings of this rule have in common.
fn finish(
    context: &RuleContext<'_>,
    mut finding: Finding,
    (cap, share, most_ns): (CapId, f64, u64),
) -> Outcome {
    finding.distrust =
        "In other parts of the run, or with other input, the work may be balanced.".into();
    let busiest = ("work of the busiest".into(), Value::Share(share));
    finding.numbers.insert(0, busiest);
    let evidence = Evidence {
        range: context.range,
        subjects: vec![Subject::Capability(cap)],
        amount: Value::Ns(most_ns),
    };
    Outcome::Found(vec![finding.with_evidence([evidence])])
}

/// Threads that one thread makes one after the other, and waits for each.
struct Sequence {
    maker: ThreadId,
    count: u64,
    ran_ns: u64,
}

/// Returns whether a thread began while the one before it was not nearly done: it may have given its answer already.
fn overlap((start, end): (u64, u64), next: (u64, u64)) -> bool {
    end.saturating_sub(next.0) > (end - start) / 5
}

/// Finds threads that did most of the work, one at a time, and each woke the same thread.
async fn waited_for_each(
    context: &RuleContext<'_>,
    (threads, ran_ns): (&[FinishedThread], u64),
) -> Option<Sequence> {
    let length_ns = context.length_ns();
    let is_short = |one: &&FinishedThread| one.life.duration().0 < length_ns / MIN_SEQUENCE as u64;
    let short = || threads.iter().filter(is_short);
    let did_ns: u64 = short().map(|one| one.ran_ns).sum();
    let alive_ns: u64 = short().map(|one| one.life.duration().0).sum();
    let is_most = did_ns as f64 >= MOST_WORK * ran_ns as f64;
    if short().count() < MIN_SEQUENCE || !is_most || alive_ns as f64 > AT_ONCE * length_ns as f64 {
        return None;
    }
    let mut lives: Vec<(u64, u64)> = short()
        .map(|one| (one.life.start().0, one.life.end().0))
        .collect();
    context.sort(&mut lives).await;
    let pairs = lives.windows(2);
    let overlapping = pairs.filter(|pair| overlap(pair[0], pair[1])).count();
    if overlapping as f64 > OVERLAPPING * lives.len() as f64 {
        return None;
    }
    let short: SeededSet<ThreadId> = short().map(|one| one.thread).collect();
    let is_one = |waker| short.contains(&waker);
    let woken = context.woken_by(&is_one).await;
    let (maker, count) = woken.into_iter().max_by_key(|(_, count)| *count)?;
    (count as f64 >= MOST_WORK * short.len() as f64).then_some(Sequence {
        maker,
        count,
        ran_ns: did_ns,
    })
}

fn each_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    each: Sequence,
) -> Finding {
    let name = context.thread_name(each.maker);
    let title = format!(
        "{name} waited for {}, one after the other: hardly two of them ran at a time",
        format::pluralize(each.count, "thread")
    );
    let mut finding = serial_finding(context, loss_budget, title);
    finding.severity = finding.severity.min(Severity::Medium);
    finding.confidence = Confidence::Probable;
    finding.meaning = "These threads did most of the work, and each was over before the next began: a thread that is waited for at once does not run beside the one that made it.".into();
    finding.tries = Advice::code_changes([
        "Start several before waiting for the first: mapConcurrently or forConcurrently from the package async, or make all (mapM async) and then wait for all (mapM wait).",
        "If each is started because the one before has failed: find out why it ends, and keep what is expensive to build outside of it.",
    ]);
    finding.set_numbers([
        ("threads", Value::Count(each.count)),
        ("ran for, in all", Value::Ns(each.ran_ns)),
    ]);
    finding.subject = Some(name);
    finding
}

/// Finds threads that began together, of which one has nearly all of the work and the others end early.
fn uneven_shares(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (threads, ran_ns): (&[FinishedThread], u64),
) -> Option<Finding> {
    let most = threads.iter().max_by_key(|one| one.ran_ns)?;
    if (most.ran_ns as f64) < MIN_UNEVEN * ran_ns as f64 {
        return None;
    }
    let mut others = shares_of_work(context, threads, most);
    others.retain(|one| !context.have_different_roles(one.thread, most.thread));
    let longest = others.iter().max_by_key(|one| one.ran_ns)?;
    let title = format!(
        "{} began together, but {} had {} of the work; the next ran for {} of its {}",
        format::pluralize(others.len() as u64 + 1, "thread"),
        context.thread_name(most.thread),
        format::fraction(most.ran_ns as f64 / ran_ns.max(1) as f64),
        format::duration_ns(longest.ran_ns),
        format::duration_ns(most.ran_ns),
    );
    let mut finding = serial_finding(context, loss_budget, title);
    finding.subject = Some(context.thread_name(most.thread));
    finding.severity = finding.severity.min(Severity::Medium);
    finding.confidence = Confidence::Probable;
    finding.meaning = "Their shares are uneven: when the others finish, one capability works and the rest are idle.".into();
    finding.tries = uneven_advice();
    finding.set_numbers([
        ("ran for", Value::Ns(most.ran_ns)),
        ("the next", Value::Ns(longest.ran_ns)),
    ]);
    Some(finding)
}

/// Returns the threads that began together with the one that works longest, and ended in the first half of its life.
pub(super) fn shares_of_work<'t>(
    context: &RuleContext<'_>,
    threads: &'t [FinishedThread],
    most: &FinishedThread,
) -> Vec<&'t FinishedThread> {
    let length_ns = context.length_ns();
    let is_with_it = |one: &&FinishedThread| {
        let apart_ns = one.life.start().0.abs_diff(most.life.start().0);
        let ends_early = one.life.end().0 < most.life.start().0 + most.life.duration().0 / 2;
        let works = one.ran_ns >= MIN_WORK_NS;
        one.thread != most.thread && works && ends_early && apart_ns < length_ns / 20
    };
    threads.iter().filter(is_with_it).collect()
}

/// Returns the advice for uneven shares of work.
pub(super) fn uneven_advice() -> Vec<Advice> {
    Advice::code_changes([
        "Split the work into many more parts than threads, and let each thread take the next part when it finishes one (a queue, or an index in an IORef with atomicModifyIORef').",
        "If the parts are in a queue already: start the largest first.",
        "If the sizes are known in advance: give each thread equal work, not equal numbers of items.",
    ])
}

/// Thread that runs very often for a moment each.
#[derive(Default)]
struct Producer {
    thread: ThreadId,
    runs: u64,
    ran_ns: u64,
}

/// Returns the threads created in the range that run very often for a moment each, and mostly wait for other threads.
async fn producers(context: &RuleContext<'_>, ran_ns: u64) -> Vec<Producer> {
    let (mut all, mut steps) = (Vec::new(), context.steps());
    let least = u32::try_from(MIN_HANDED).unwrap_or(u32::MAX);
    for life in context.log.store.lives_with_min_runs(least) {
        steps.step().await;
        let created = life.created().is_some_and(|at| context.range.start() <= at);
        if !created || context.is_runtime_thread(life.id()) {
            continue;
        }
        let mut for_threads = 0;
        let mut one = Producer {
            thread: life.id(),
            ..Producer::default()
        };
        for (_, turn) in life.turns_overlapping(context.range) {
            one.runs += 1;
            one.ran_ns = one.ran_ns.saturating_add(turn.run_ns());
            for_threads += u64::from(turn.wait_reason().is_some_and(WaitReason::is_for_thread));
        }
        let hands_over = (one.ran_ns as f64) < LITTLE * ran_ns as f64
            && one.runs >= MIN_HANDED
            && one.ran_ns / one.runs < SHORT_NS
            && for_threads * 2 > one.runs;
        all.extend(hands_over.then_some(one));
    }
    all
}

/// Finds threads that run very often for a moment each, while another thread does the work: what they hand over is
/// not evaluated.
async fn lazy_results(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (helpers, worked): (&[Producer], &str),
) -> Option<Finding> {
    if helpers.len() < MIN_PRODUCERS {
        return None;
    }
    let count: u64 = helpers.iter().map(|one| one.runs).sum();
    let helped_ns: u64 = helpers.iter().map(|one| one.ran_ns).sum();
    let title = format!(
        "{} ran {}, for {} on average, but {worked}",
        context.names_or_count(helpers.iter().map(|one| one.thread)),
        format::pluralize(count, "time"),
        format::duration_ns(helped_ns / count.max(1)),
    );
    let mut finding = serial_finding(context, loss_budget, title);
    finding.confidence = Confidence::Probable;
    finding.severity = finding.severity.min(Severity::Medium);
    let ran = context.run_times().await.iter();
    let busiest = ran
        .max_by_key(|(_, ran_ns)| *ran_ns)
        .map(|(thread, ran_ns)| {
            format!(
                " {} ran for {}.",
                context.thread_name(*thread),
                format::duration_ns(*ran_ns)
            )
        });
    finding.meaning = format!("{LAZY}{}", busiest.unwrap_or_default()).into();
    finding.tries = lazy_advice();
    finding.set_numbers([
        ("runs", Value::Count(count)),
        ("ran for, in all", Value::Ns(helped_ns)),
    ]);
    Some(finding)
}

const LAZY: &str = "If these threads were meant to share the work, they did not. Perhaps they were given little of it, or they store unevaluated values: these leave the work to the thread that uses them.";

fn lazy_advice() -> Vec<Advice> {
    Advice::code_changes([
        "Evaluate in the worker thread: evaluate, force (Control.DeepSeq) or ($!) before putMVar, writeIORef and modifyMVar.",
        "If the work should not be shared: use one capability, -N1.",
    ])
}

/// Says what became of the sparks that were not converted.
fn fates(sparks: &SparkTotals) -> String {
    let fates = [
        (sparks.overflowed, OVERFLOWED),
        (sparks.dud, DUD),
        (sparks.fizzled, FIZZLED),
        (sparks.gcd, COLLECTED),
    ];
    let fates = fates.into_iter().filter(|(count, _)| *count > 0);
    let fates = fates.map(|(count, fate)| format!(" {} {}.", format::count(count), fate.what));
    fates.collect()
}

/// Creates the finding for a program with sparks.
fn sparks_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    worked: &str,
) -> Finding {
    let sparks = context.sparks();
    let made = format::pluralize(sparks.count, "spark");
    let title = format!("The program made {made}, but {worked}");
    let mut finding = serial_finding(context, loss_budget, title);
    finding.confidence = Confidence::Probable;
    let is_late = sparks.converted < sparks.count / 2;
    finding.meaning = match is_late {
        true => format!(
            "Only {} sparks were converted: evaluated by a spark thread.{}",
            format::count(sparks.converted),
            fates(&sparks)
        )
        .into(),
        false => "The sparks ran, but they are a small part of the work. Either each ends at the first constructor and leaves the rest to the thread that needs the value, or most of the work is outside of them, such as reading what they work on.".into(),
    };
    let before = Advice::code(
        "Spark before the values are needed, a whole chunk or several ahead, and use the result of rpar, parList or using.",
    );
    let whole = Advice::code("Let each spark evaluate all of its result: rdeepseq or force.");
    let is_dud = sparks.dud > sparks.count / 2;
    let is_overflowed = sparks.overflowed > sparks.count / 2;
    finding.tries = match is_late {
        true if is_overflowed => vec![Advice::code(OVERFLOWED.code), whole],
        true if is_dud => vec![Advice::code(INSTEAD_OF_DUDS), whole],
        true => vec![before, whole],
        false => vec![
            whole,
            Advice::code(
                "If one thread makes what the sparks work on: let each spark make its own part of it.",
            ),
        ],
    };
    finding.set_numbers([
        ("sparks", Value::Count(sparks.count)),
        ("sparks converted", Value::Count(sparks.converted)),
    ]);
    finding
}

/// Creates the finding for a program in which `count` short-lived threads ran for `ran_ns` in total.
fn threads_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    worked: &str,
    (count, ran_ns): (u64, u64),
) -> Finding {
    let went = format::pluralize(count, "thread");
    let title = format!("{went} came and went, but {worked}");
    let mut finding = serial_finding(context, loss_budget, title);
    // The threads may exist for another purpose.
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = LAZY.into();
    finding.tries = lazy_advice();
    finding.set_numbers([
        ("such threads", Value::Count(count)),
        ("ran for, in all", Value::Ns(ran_ns)),
    ]);
    finding
}

/// Creates a finding that claims all time in which only one capability worked.
fn serial_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    title: String,
) -> Finding {
    let all_ns = loss_budget.all_ns(Pool::Serial);
    context.time_finding(RULE.name, title, loss_budget, (Pool::Serial, all_ns))
}
