//! Where does one thread work alone?
//!
//! If a program runs on several capabilities except for a stretch in which one thread works and none is ready, it
//! cannot become faster than that stretch (Amdahl's law).

use std::collections::BTreeMap;

use super::one_worker::{shares_of_work, uneven_advice};
use super::prelude::*;
use crate::lost_time::overlap_ns;
use crate::threads::{FinishedThread, ThreadTurn};
use model::lane::Lane;
use model::sorting::CompactSort;

/// Minimum length of a stretch; shorter ones are the start and end of parallel work.
const LONG_NS: u64 = 10_000_000;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.10;
/// Maximum number of equal steps into which the range is divided; each is at least `MIN_STEP_NS` long.
const MAX_STEPS: u64 = 2048;
const MIN_STEP_NS: u64 = 1_000_000;
/// In a step with one thread at work, one capability runs for at least the share `ALONE`, and several for at most
/// `TOGETHER`.
const ALONE: f64 = 0.70;
const TOGETHER: f64 = 0.10;
/// Minimum share of the other capabilities' free time in a step that is idle for lack of work.
const NOBODY_READY: f64 = 0.50;
/// A step with a greater share in collections is inconclusive.
const COLLECTING: f64 = 0.80;
/// Minimum share of the running time outside the stretches in which several capabilities run; otherwise it is a
/// single-threaded program.
const PARALLEL: f64 = 0.50;
/// Minimum share of the time outside collections for the same.
const MIN_PARALLEL: f64 = 0.05;
/// Alternatively, several threads each do at least this share of the work outside: they were meant to run in
/// parallel, but take turns, perhaps for a lock.
const WORKER: f64 = 0.15;
/// Minimum share of the running time in the stretches of a thread that works there alone.
const LONE: f64 = 0.90;
/// Minimum share of one stretch in all of them, for shares of the work that are uneven.
const MAIN_STRETCH: f64 = 0.50;
/// Maximum length of an interruption of that stretch, in relation to what comes before it.
const INTERRUPTED: f64 = 0.20;
/// Share of the time before in which a thread waits that puts the results of others together.
const MOSTLY_WAITED: f64 = 0.50;
/// Minimum share of the idle time in which others with work sleep: then the timer is the cause, not the order of the
/// work.
const ASLEEP: f64 = 0.50;
/// Minimum share of the program's running time of a sleeper: it has work to do.
const SLEEPER: f64 = 0.05;
/// Minimum number of its sleeps in the stretches, or of foreign calls.
const MIN_SLEEPS: u64 = 5;
/// Share of the time in which others are in foreign calls, from which the thread does not work alone.
const IN_CALLS: f64 = 0.50;
/// Minimum number of sparks that may have left their work to the thread that works alone, and maximum running time of
/// these, in relation to the time that it works alone.
const MIN_SPARKS: u64 = 20;
const LITTLE_IN_SPARKS: f64 = 0.5;
/// Maximum number of intervals between stretches to examine, longest first.
const MAX_PARTS: usize = 4;

pub(super) const RULE: Rule = Rule {
    name: "serial-section",
    question: "Does one thread run alone for long?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Classification of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepKind {
    OneAtWork,
    /// Mostly a collection.
    Inconclusive,
    Other,
}

/// Stretch in which one thread works.
#[derive(Clone, Copy)]
struct Stretch {
    range: Interval,
    /// Idle time of capabilities in it with no thread ready, in nanoseconds.
    idle_ns: u64,
}

impl Stretch {
    fn length_ns(&self) -> u64 {
        self.range.duration().0
    }
}

/// Stretches, with the time outside them in which one capability ran, and several.
#[derive(Default)]
struct SerialStretches {
    stretches: Vec<Stretch>,
    one_ns: u64,
    several_ns: u64,
}

impl SerialStretches {
    /// Returns start and end of the stretches, in order.
    fn spans(&self) -> Vec<(u64, u64)> {
        let span = |one: &Stretch| (one.range.start().0, one.range.end().0);
        self.stretches.iter().map(span).collect()
    }
}

fn steps(range: Interval) -> impl Iterator<Item = Interval> {
    let (start, end) = (range.start().0, range.end().0);
    let width = (range.duration().0 / MAX_STEPS).max(MIN_STEP_NS);
    let starts = (0..).map_while(move |step| {
        let from = start.saturating_add(width.saturating_mul(step));
        (from < end).then_some(from)
    });
    starts.map(move |from| Interval::new(Nanos(from), Nanos(from.saturating_add(width).min(end))))
}

async fn find_stretches(context: &RuleContext<'_>) -> SerialStretches {
    let mut found = SerialStretches::default();
    let mut last: Option<Stretch> = None;
    let pauses = context.log.store.account().pauses();
    for step in steps(context.range) {
        context.yielder.yield_if_due().await;
        let times = context.log.times(Some(step));
        let one_ns = times.parallelism_ns.get(1).copied().unwrap_or(0);
        let several_ns: u64 = times.parallelism_ns.iter().skip(2).sum();
        let paused_ns = pauses.paused_in_ns(step.start().0, step.end().0);
        let length = step.duration().0 as f64;
        let open = length - paused_ns as f64;
        let idle_ns = times.all_caps().idle_ns;
        let free = open * context.caps.saturating_sub(1) as f64;
        let kind = if open < (1.0 - COLLECTING) * length {
            StepKind::Inconclusive
        } else if one_ns as f64 >= ALONE * open
            && several_ns as f64 <= TOGETHER * open
            && idle_ns as f64 >= NOBODY_READY * free
        {
            StepKind::OneAtWork
        } else {
            StepKind::Other
        };
        match (kind, &mut last) {
            (StepKind::OneAtWork | StepKind::Inconclusive, Some(last)) => {
                last.range = last.range.hull(step);
                last.idle_ns += idle_ns;
            }
            (StepKind::OneAtWork, None) => {
                last = Some(Stretch {
                    range: step,
                    idle_ns,
                })
            }
            (StepKind::Inconclusive, None) => {}
            (StepKind::Other, _) => {
                found.stretches.extend(last.take());
                found.one_ns += one_ns;
                found.several_ns += several_ns;
            }
        }
    }
    found.stretches.extend(last);
    found
        .stretches
        .retain(|stretch| stretch.range.duration().0 >= LONG_NS);
    found
}

/// Returns the thread with most running time in a stretch, with that time and the running time of all threads.
async fn lone_thread(context: &RuleContext<'_>, range: Interval) -> Option<(ThreadId, [u64; 2])> {
    let mut steps = context.steps();
    let mut by_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let store = &context.log.store;
    for cap in context.cap_ids() {
        let Some(runs) = store.cap(cap).map(|cap| &cap.runs) else {
            continue;
        };
        for index in runs.first_ending_after(range.start().0)..runs.len() {
            steps.step().await;
            let (start, end) = runs.span(index);
            if start >= range.end().0 {
                break;
            }
            if let Some(thread) = store.thread_of(cap, index) {
                let inside = end.min(range.end().0) - start.max(range.start().0);
                *by_thread.entry(thread).or_default() += inside;
            }
        }
    }
    let all_ns: u64 = by_thread.values().sum();
    let most = by_thread.into_iter().max_by_key(|(_, ns)| *ns);
    most.map(|(thread, ns)| (thread, [ns, all_ns]))
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let unclaimed_ns = loss_budget.unclaimed_ns(Pool::Idle);
    if context.caps < 2 || context.share_of_caps(unclaimed_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time, {} not counting other findings; the limit is 10 %",
            format::fraction(context.share_of_caps(loss_budget.all_ns(Pool::Idle))),
            format::fraction(context.share_of_caps(unclaimed_ns))
        ));
    }
    let found = find_stretches(context).await;
    let idle_ns: u64 = found.stretches.iter().map(|stretch| stretch.idle_ns).sum();
    if context.share_of_caps(idle_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle for {} of their time while one thread worked alone for 10 ms or longer; the limit is 10 %",
            format::fraction(context.share_of_caps(idle_ns))
        ));
    }
    let ran_ns = found.one_ns + found.several_ns;
    let open_ns = context.unpaused_ns((context.range.start().0, context.range.end().0));
    let is_enough = |ns: u64| ns as f64 >= MIN_PARALLEL * open_ns as f64;
    let is_parallel =
        found.several_ns as f64 >= PARALLEL * ran_ns as f64 && is_enough(found.several_ns);
    let is_meant = is_parallel || is_enough(ran_ns) && is_work_shared(context, &found).await;
    if !is_meant {
        return Outcome::Clear(format!(
            "the program is not parallel: several threads ran at a time for {} of the time",
            format::fraction(context.share(found.several_ns))
        ));
    }
    let called_ns = in_foreign_calls_ns(context, &found.spans()).await;
    let alone_ns: u64 = found.stretches.iter().map(Stretch::length_ns).sum();
    if called_ns as f64 >= IN_CALLS * alone_ns as f64 {
        return Outcome::Clear(format!(
            "while one thread worked alone, others were in foreign calls for {} of the time; the limit is 50 %",
            format::fraction(called_ns as f64 / alone_ns.max(1) as f64)
        ));
    }
    let mut finding = finding(context, loss_budget, (&found, idle_ns)).await;
    if !is_parallel {
        finding.confidence = Confidence::Probable;
    }
    let sleepers = sleepers(context, &found.spans()).await;
    let slept_ns: u64 = sleepers.values().map(|one| one.ns).sum();
    if slept_ns as f64 >= ASLEEP * idle_ns as f64 {
        explain_by_sleepers(context, &mut finding, &sleepers);
    }
    Outcome::Found(vec![finding])
}

/// Returns how long threads of the program were in foreign calls in the stretches, which may be work; without those that
/// make few long calls, such as to wait for connections.
async fn in_foreign_calls_ns(context: &RuleContext<'_>, stretches: &[(u64, u64)]) -> u64 {
    let mut calls: BTreeMap<ThreadId, Sleeps> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        let ns = overlap_ns(turn.blocked_span(), stretches);
        if ns > 0 && !context.is_runtime_thread(turn.thread()) {
            calls.entry(turn.thread()).or_default().add(ns);
        }
    };
    context
        .each_wait(WaitReason::ForeignCall, MIN_SLEEPS, &mut visit)
        .await;
    let often = calls.values().filter(|calls| calls.count >= MIN_SLEEPS);
    often.map(|calls| calls.ns).fold(0, u64::saturating_add)
}

/// Sleeps of a thread, until a timer, while another one worked alone; or its foreign calls.
#[derive(Clone, Copy, Default)]
struct Sleeps {
    ns: u64,
    count: u64,
}

impl Sleeps {
    const fn add(&mut self, ns: u64) {
        self.ns = self.ns.saturating_add(ns);
        self.count += 1;
    }
}

/// Returns the sleeps in the stretches of the threads that have much of the program's work.
async fn sleepers(
    context: &RuleContext<'_>,
    stretches: &[(u64, u64)],
) -> BTreeMap<ThreadId, Sleeps> {
    let mut sleepers: BTreeMap<ThreadId, Sleeps> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        let ns = overlap_ns(turn.blocked_span(), stretches);
        if ns > 0 {
            sleepers.entry(turn.thread()).or_default().add(ns);
        }
    };
    context
        .each_wait(WaitReason::Delay, MIN_SLEEPS, &mut visit)
        .await;
    let least_ns = SLEEPER * context.program_ran_ns() as f64;
    let ran_ns = |thread| context.run_statistics(thread, context.range).all_ns;
    sleepers
        .retain(|thread, sleeps| sleeps.count >= MIN_SLEEPS && ran_ns(*thread) as f64 >= least_ns);
    sleepers
}

/// Changes a finding of a program whose other threads sleep while one works: they have work, but do not know it.
fn explain_by_sleepers(
    context: &RuleContext<'_>,
    finding: &mut Finding,
    sleepers: &BTreeMap<ThreadId, Sleeps>,
) {
    let count: u64 = sleepers.values().map(|one| one.count).sum();
    let slept_ns: u64 = sleepers.values().map(|one| one.ns).sum();
    let who = match sleepers.keys().next() {
        Some(only) if sleepers.len() == 1 => context.thread_name(*only),
        _ => format::pluralize(sleepers.len() as u64, "thread"),
    };
    finding.title = format!(
        "{who} with work to do slept {} until a timer, while one thread at a time worked",
        format::pluralize(count, "time"),
    );
    finding.meaning = format!(
        "Each sleep took {} on average (threadDelay, or a timeout that expired). A thread that finds a lock taken or a queue empty, and tries again after a while, sleeps on when it could go on, and others take the lock meanwhile.",
        format::duration_ns(slept_ns / count.max(1))
    )
    .into();
    finding.tries = Advice::code_changes([
        "Block until the event: takeMVar or withMVar in place of tryTakeMVar and threadDelay, retry in STM, or a queue that blocks.",
        "To wait for a change or a deadline: registerDelay, or timeout.",
    ]);
    finding.distrust =
        "Threads that sleep on purpose, such as for a time of day or a rate limit, lose nothing."
            .into();
    finding
        .numbers
        .push(("slept meanwhile".into(), Value::Ns(slept_ns)));
}

/// Returns whether several threads share the work between the stretches.
async fn is_work_shared(context: &RuleContext<'_>, found: &SerialStretches) -> bool {
    let starts = found.stretches.iter().map(|stretch| stretch.range.start());
    let ends = found.stretches.iter().map(|stretch| stretch.range.end());
    let starts = starts.chain([context.range.end()]);
    let ends = std::iter::once(context.range.start()).chain(ends);
    let mut parts: Vec<Interval> = { ends.zip(starts) }
        .map(|(end, start)| Interval::new(end, start.max(end)))
        .collect();
    parts.sort_small_by_key(|part| std::cmp::Reverse(part.duration()));
    parts.truncate(MAX_PARTS);
    let mut by_thread: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for part in parts {
        for (thread, ran_ns) in context.log.store.run_times_in(part, context.yielder).await {
            *by_thread.entry(thread).or_default() += ran_ns;
        }
    }
    by_thread.retain(|thread, _| !context.is_runtime_thread(*thread));
    let all_ns: u64 = by_thread.values().sum();
    let is_worker = |ran_ns: &&u64| **ran_ns as f64 >= WORKER * all_ns as f64;
    by_thread.values().filter(is_worker).count() > 1
}

async fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (found, idle_ns): (&SerialStretches, u64),
) -> Finding {
    let alone_ns: u64 = found.stretches.iter().map(Stretch::length_ns).sum();
    let mut longest = found.stretches.clone();
    longest.sort_small_by_key(|stretch| std::cmp::Reverse(stretch.idle_ns));
    longest.truncate(crate::finding::MAX_EVIDENCE);
    let (mut evidence, mut most_ns, mut ran_ns) = (Vec::new(), 0, 0);
    for stretch in longest {
        let most = lone_thread(context, stretch.range).await;
        let lone = most.map(|(thread, [ns, all_ns])| {
            most_ns += ns;
            ran_ns += all_ns;
            thread
        });
        evidence.push(Evidence {
            range: stretch.range,
            subjects: lone.map(Subject::Thread).into_iter().collect(),
            amount: Value::Ns(stretch.range.duration().0),
        });
    }
    let mut threads = evidence.iter().flat_map(|evidence| &evidence.subjects);
    let first = threads.next().copied();
    let lone = match first {
        Some(Subject::Thread(thread))
            if most_ns as f64 >= LONE * ran_ns as f64
                && threads.all(|other| Some(*other) == first) =>
        {
            Some(thread)
        }
        _ => None,
    };
    let lower = |thread| context.thread_name_inside(thread);
    let who = match lone {
        Some(thread) => format!("only {} worked", lower(thread)),
        None => "one thread at a time worked".to_owned(),
    };
    let bound = context.length_ns() as f64 / alone_ns.max(1) as f64;
    let title = format!(
        "For {} of {} {who}: as long as this part is serial, no number of cores makes the program more than {bound:.1} times as fast as in this run",
        format::duration_ns(alone_ns),
        format::duration_ns(context.length_ns())
    );
    let mut finding = context
        .idle_finding((RULE.name, title), loss_budget, (found.spans(), idle_ns))
        .await;
    finding.meaning = "This part is serial: the other capabilities have no work, and it limits the speedup of the whole program.".into();
    finding.tries = vec![
        Advice::code("Parallelize this part."),
        Advice::code(
            "Overlap it with other work: run the preceding or following step at the same time.",
        ),
        Advice::flag(
            "-N2",
            "If it cannot be parallelized: use fewer capabilities.",
            "the parallel parts take longer",
        ),
    ];
    if lone.is_some_and(|lone| context.is_spark_evaluator(lone)) {
        finding.meaning = "A spark has most of the work in this part, and the others had ended: the other capabilities have no work, and it limits the speedup of the whole program.".into();
        finding.tries[0] = Advice::code(
            "Make more and smaller sparks: split the work by its amount, not by the number of items.",
        );
    }
    if let Some(alone) = main_stretch(&evidence, alone_ns)
        && !explain_by_sparks(context, &mut finding, (alone, alone_ns)).await
    {
        add_uneven_shares(context, &mut finding, alone).await;
    }
    finding.distrust =
        "A program that waits for others, such as a server, may have had no more work.".into();
    let count = found.stretches.len() as u64;
    finding.set_numbers([
        ("one thread alone", Value::Ns(alone_ns)),
        ("lost capability time", Value::Ns(idle_ns)),
        ("stretches", Value::Count(count)),
    ]);
    let mut finding = finding.with_evidence(evidence);
    finding.places = count;
    finding
}

/// Returns the thread of the longest stretch, and the start of the first stretch of those that have most of the time and
/// follow each other, all of this thread, with short interruptions. Many stretches, one after each parallel step, are not
/// the rest of one uneven share.
fn main_stretch(evidence: &[Evidence], alone_ns: u64) -> Option<(ThreadId, Nanos)> {
    let subject = |one: &Evidence| match one.subjects.first() {
        Some(Subject::Thread(thread)) => Some(*thread),
        _ => None,
    };
    let lone = subject(evidence.iter().max_by_key(|one| one.range.duration())?)?;
    let mut stretches: Vec<Interval> = { evidence.iter() }
        .filter(|one| subject(one) == Some(lone))
        .map(|one| one.range)
        .collect();
    stretches.sort_small_by_key(|range| range.start());
    let (mut joined, mut of_joined_ns, mut most) = (Interval::default(), 0, (0, Nanos(0)));
    for range in stretches {
        let apart_ns = range.start().since(joined.end()).0;
        let is_near = of_joined_ns > 0 && apart_ns as f64 <= INTERRUPTED * of_joined_ns as f64;
        (joined, of_joined_ns) = match is_near {
            true => (joined.hull(range), of_joined_ns + range.duration().0),
            false => (range, range.duration().0),
        };
        most = most.max((of_joined_ns, joined.start()));
    }
    (most.0 as f64 >= MAIN_STRETCH * alone_ns as f64).then_some((lone, most.1))
}

/// Returns the share of the time before `alone` in which a thread waited for others.
fn waited_before(context: &RuleContext<'_>, life: &FinishedThread, alone: Nanos) -> f64 {
    let before = Interval::new(life.life.start(), alone.max(life.life.start()));
    let lane = context.log.store.thread_lane(life.thread);
    let turns = lane.iter().flat_map(|lane| lane.turns_overlapping(before));
    let waits = turns.filter(|(_, turn)| turn.wait_reason().is_some_and(WaitReason::is_for_thread));
    let waited_ns = waits.map(|(_, turn)| {
        let (from, to) = turn.blocked_span();
        Interval::new(Nanos(from), Nanos(to))
            .clip(before)
            .duration()
            .0
    });
    waited_ns.fold(0, u64::saturating_add) as f64 / before.duration().0.max(1) as f64
}

/// Changes meaning and advice if sparks ran before a thread works alone from `alone` on, but did much less: they may have
/// left the work to it. Returns whether they did.
async fn explain_by_sparks(
    context: &RuleContext<'_>,
    finding: &mut Finding,
    ((lone, alone), alone_ns): ((ThreadId, Nanos), u64),
) -> bool {
    let sparks = context.sparks();
    let converted = sparks.converted;
    // If most were not converted, the thread evaluated these itself.
    let are_few = converted < MIN_SPARKS || converted < sparks.count / 2;
    if are_few || context.is_spark_evaluator(lone) {
        return false;
    }
    let threads = context.finished_threads().await;
    let evaluators = { threads.iter() }.filter(|one| context.is_spark_evaluator(one.thread));
    let (before, later): (Vec<_>, Vec<_>) = evaluators.partition(|one| one.life.start() < alone);
    let ran_ns = |threads: &[&FinishedThread]| threads.iter().map(|one| one.ran_ns).sum::<u64>();
    let sparks_ns = ran_ns(&before);
    let is_little = sparks_ns > 0 && sparks_ns as f64 <= LITTLE_IN_SPARKS * alone_ns as f64;
    if !is_little || ran_ns(&later) > sparks_ns {
        return false;
    }
    finding.meaning = format!(
        "Before, {} ran for {} in all. Perhaps they evaluate only the outermost constructor of each value (rseq, rpar, par or seq), and leave the rest to {}. If that is other work, it is serial.",
        format::pluralize(converted, "spark"),
        format::duration_ns(sparks_ns),
        context.thread_name_inside(lone)
    )
    .into();
    finding.tries[0] = Advice::code(
        "Evaluate the whole value in the spark: rdeepseq in place of rseq (parMap rdeepseq, parList rdeepseq), or force.",
    );
    finding.tries[1] = Advice::code("If it is other work: parallelize it too.");
    true
}

/// Changes meaning and advice if other threads began together with the one that works alone from `alone` on, and
/// finished before it: it had the largest share, or it waited for their results.
async fn add_uneven_shares(
    context: &RuleContext<'_>,
    finding: &mut Finding,
    (lone, alone): (ThreadId, Nanos),
) {
    let threads = context.finished_threads().await;
    let Some(most) = threads.iter().find(|one| one.thread == lone) else {
        return;
    };
    let others = shares_of_work(context, &threads, most);
    let Some(longest) = others.iter().max_by_key(|one| one.ran_ns) else {
        return;
    };
    if waited_before(context, most, alone) >= MOSTLY_WAITED {
        finding.meaning = format!(
            "{} waited for {}, and then works alone, on their results or on work that they left to it. The other capabilities have no work, and it limits the speedup of the whole program.",
            context.thread_name(lone),
            format::pluralize(others.len() as u64, "other thread")
        )
        .into();
        finding.tries[0] = Advice::code(
            "If it is their work: they may have stored values without evaluating them. Evaluate in those threads (evaluate, force or $!) before putMVar, writeIORef and modifyMVar.",
        );
        finding.tries[1] = Advice::code(
            "Let those threads do more of it: merge results in pairs, split them by key so that nothing is left to merge, or write what each has when it is done.",
        );
        return;
    }
    if context.have_different_roles(longest.thread, lone) {
        return;
    }
    finding.meaning = format!(
        "The shares of the work are uneven: {} began together with {}, but the longest of these ran for {}, and this one for {}. When the others finish, one capability works and the rest are idle.",
        context.thread_name(lone),
        format::pluralize(others.len() as u64, "other thread"),
        format::duration_ns(longest.ran_ns),
        format::duration_ns(most.ran_ns)
    )
    .into();
    finding.tries = uneven_advice();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_interruptions_do_not_part_the_main_stretch() {
        let alone = |thread, from, to| {
            Evidence::for_thread(
                ThreadId(thread),
                Interval::new(Nanos(from), Nanos(to)),
                Value::Ns(to - from),
            )
        };
        let main = |next| main_stretch(&[alone(1, 100, 200), next, alone(1, 320, 400)], 250);
        let first = Some((ThreadId(1), Nanos(100)));
        assert_eq!(main(alone(1, 210, 300)), first);
        // Its last stretch comes too late, and so has less than half of the time with it.
        assert_eq!(main(alone(2, 210, 300)), None);
        assert_eq!(
            main_stretch(&[alone(1, 100, 250), alone(1, 300, 310)], 300),
            first
        );
        assert_eq!(main_stretch(&[], 300), None);
    }
}
