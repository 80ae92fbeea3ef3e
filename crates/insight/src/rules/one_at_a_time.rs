//! Does the program wait for one thing after the other?
//!
//! A program that queries a database, a service or a disk, waits for the answer and queries again takes as long as
//! all answers together. Nothing runs while it waits, and the same thread continues each time.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::few_calls::calls_finding;
use super::polling::{CHECK_NS, is_polling};
use super::prelude::*;
use super::sleeping_threads::{Answers, WORKING, several_threads};
use crate::lost_time::{Cause, GapEnd, RunWithGap, each_run, gap_end};
use crate::threads::ThreadTurn;
use analysis::timeline::user_spans::UserSpan;

/// Maximum length of a wait; longer ones are for users, or for a time of day.
pub(super) const LONGEST_NS: u64 = 2_000_000_000;
/// Minimum length of a wait; nothing outside the program answers sooner.
pub(super) const SHORTEST_NS: u64 = 50_000;
/// Minimum length of a sleep that counts by itself.
const LONG_SLEEP_NS: u64 = 100_000_000;
/// Minimum number of waits; fewer may be the start of the program.
pub(super) const MIN_COUNT: u64 = 20;
/// Minimum share of capability time; less is not worth a change.
pub(super) const MIN_SHARE: f64 = 0.20;
/// Maximum number of gaps in one wait for an answer: a command prints, closes its output and ends.
const MAX_GAPS: usize = 4;
/// If all other threads sleep and wake more often than this share of the thread's waits, the program waits for
/// several things simultaneously.
const OTHERS: f64 = 0.50;
/// A thread with a smaller share of the program's running time, which also wakes or creates others after a smaller share
/// of its waits, merely checks whether something has happened.
const WORK: f64 = 0.50;

/// Minimum number of threads that one which sleeps serves, and of those that it wakes each time.
const MIN_SERVED: usize = 2;
/// Minimum mean length of its sleeps; a shorter one may be the time of a device.
const INTERVAL_NS: u64 = 3_000_000;

const BY_TIMER: &str = "A timer ended each of these waits (threadDelay, or a timeout that expired), and no thread had work meanwhile: a program that waits for an event this way waits longer than necessary.";
const INSTEAD_OF_SLEEPING: &str = "Wait for the event itself, with an MVar or STM, and use the time only as a limit (timeout, registerDelay).";
const FIXED_PAUSE: &str = "If it is a fixed pause after each piece of work, such as a rate limit: shorten it or leave it out.";

pub(super) const RULE: Rule = Rule {
    name: "one-at-a-time",
    question: "Does the program wait for I/O or timers sequentially?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Waits of a thread while nothing ran.
#[derive(Debug, Default)]
pub(super) struct IdleWaits {
    /// A wait has several gaps if the runtime's own threads ran in between.
    pub(super) gaps: Vec<Gap>,
    waits: u64,
    ns: u64,
    /// Long gaps that a timer ended, also those that are too long to be waits for an answer.
    long_sleeps: Vec<Gap>,
    /// Part of `ns` that a timer ended.
    timer_ns: u64,
    pub(super) ran_ns: u64,
    pub(super) answers: Answers,
}

impl IdleWaits {
    const fn is_by_timer(&self) -> bool {
        self.timer_ns * 2 > self.ns
    }
}

/// Stretch in which nothing ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) ns: u64,
    pub(super) end: GapEnd,
    /// Whether the run after it was a mere check.
    pub(super) is_check: bool,
    /// Whether it is the last one of a wait.
    pub(super) is_last: bool,
}

impl Gap {
    /// Creates evidence about a thread that waited.
    pub(super) fn evidence(&self, thread: ThreadId) -> Evidence {
        let range = Interval::new(Nanos(self.from), Nanos(self.to));
        Evidence::for_thread(thread, range, Value::Ns(self.ns))
    }
}

/// Collects the gaps by the thread that runs next, except heartbeats: what they interrupt is one wait. Also returns
/// the total length of gaps.
async fn idle_waits_by_thread(
    context: &RuleContext<'_>,
    heartbeats: &BTreeSet<ThreadId>,
) -> (BTreeMap<ThreadId, IdleWaits>, u64) {
    let store = &context.log.store;
    let mut all: BTreeMap<ThreadId, IdleWaits> = BTreeMap::new();
    let mut all_ns = 0;
    // The runtime's own threads run first, and wake the waiting thread.
    let mut before: Vec<Gap> = Vec::new();
    // Gaps that ended with a heartbeat, since a thread of the program ran.
    let mut beaten: Vec<Gap> = Vec::new();
    // Gaps after which these threads ran without waking another one yet.
    let mut unanswered: BTreeMap<ThreadId, Vec<Gap>> = BTreeMap::new();
    let mut visit = |one: RunWithGap| {
        if let Some((from, to, ns)) = one.idle_gap {
            all_ns += ns;
            let label = store.label_of(one.run.thread);
            let turn = store.turn_of_run(one.cap, one.index);
            // What an unlabelled manager waited for is unknown.
            let is_unknown = label.is_none() && context.is_runtime_thread(one.run.thread);
            let end = match is_unknown {
                true => GapEnd::Threads,
                false => gap_end(label, turn.as_ref()),
            };
            before.push(Gap {
                from,
                to,
                ns,
                end,
                is_check: false,
                is_last: false,
            });
        }
        if heartbeats.contains(&one.run.thread) {
            beaten.append(&mut before);
            return;
        }
        if context.is_runtime_thread(one.run.thread) {
            return;
        }
        let thread = all.entry(one.run.thread).or_default();
        thread.ran_ns += one.run.end_ns - one.run.start_ns;
        let mut waited = mem::take(&mut before);
        match waited.last_mut() {
            Some(last) => {
                last.is_last = true;
                unanswered.retain(|thread, _| *thread == one.run.thread);
            }
            None if !unanswered.contains_key(&one.run.thread) => return,
            None => {}
        }
        let are_few = waited.len() <= MAX_GAPS;
        add_beaten(&mut waited, mem::take(&mut beaten));
        let ns = thread.ns;
        let outside = waited.iter().filter(|gap| gap.end != GapEnd::Threads);
        // The kernel returns from many calls sooner.
        let is_wait = outside.map(|gap| gap.ns).fold(0, u64::saturating_add) >= SHORTEST_NS;
        let counts = |gap: &&Gap| is_wait || gap.end == GapEnd::Timer;
        for &gap in waited.iter().filter(counts) {
            if gap.end == GapEnd::Timer && gap.ns >= LONG_SLEEP_NS {
                thread.long_sleeps.push(gap);
            }
            if gap.end != GapEnd::Threads && gap.ns <= LONGEST_NS {
                thread.ns += gap.ns;
                thread.timer_ns += if gap.end == GapEnd::Timer { gap.ns } else { 0 };
                let is_check = one.run.end_ns - one.run.start_ns < CHECK_NS;
                thread.gaps.push(Gap { is_check, ..gap });
            }
        }
        thread.waits += u64::from(thread.ns - ns >= SHORTEST_NS);
        let during = Interval::new(Nanos(one.run.start_ns), Nanos(one.run.end_ns));
        let mut woken = store.wakeups_on(one.cap, during).map(|(_, woken)| woken);
        let is_other =
            |woken: &ThreadId| *woken != one.run.thread && !context.is_runtime_thread(*woken);
        waited.extend(unanswered.remove(&one.run.thread).unwrap_or_default());
        if let Some(asker) = woken.find(is_other) {
            let asker = &mut all.entry(asker).or_default().answers;
            let is_wait = |gap: &Gap| gap.end != GapEnd::Threads && gap.ns <= LONGEST_NS;
            // They are one wait for an answer, whatever their number.
            let first = asker.gaps.len();
            let gaps = waited.into_iter().filter(is_wait);
            asker.gaps.extend(gaps.map(|gap| Gap {
                is_last: false,
                ..gap
            }));
            if let Some(gap) = asker.gaps.get_mut(first) {
                gap.is_last = true;
            }
            asker.by.insert(one.run.thread);
        } else if are_few {
            unanswered.insert(one.run.thread, waited);
        }
    };
    each_run(context, context.range, &mut visit).await;
    (all, all_ns)
}

/// Adds the gaps that ended with a heartbeat to those of the wait that they belong to, which ends as the last of them
/// does.
fn add_beaten(waited: &mut Vec<Gap>, beaten: Vec<Gap>) {
    let Some(end) = waited.last().map(|gap| gap.end) else {
        return;
    };
    let all_ns = { beaten.iter() }.chain(waited.iter()).map(|gap| gap.ns);
    if all_ns.fold(0, u64::saturating_add) <= LONGEST_NS {
        waited.splice(0..0, beaten.into_iter().map(|gap| Gap { end, ..gap }));
    }
}

/// Returns whether a thread does the main work of the program, or passes on what it waited for. A thread that the
/// timer wakes again and again, and that only checks something, polls.
async fn is_worker(
    context: &RuleContext<'_>,
    (thread, idle_waits): (ThreadId, &IdleWaits),
    ran_ns: u64,
) -> bool {
    let is_polling = || idle_waits.is_by_timer() && is_polling(context, thread, idle_waits.waits);
    if idle_waits.ran_ns as f64 >= WORK * ran_ns as f64 && !is_polling() {
        return true;
    }
    context.gave_work(thread).await as f64 >= WORK * idle_waits.waits as f64
}

/// Returns how often all other threads continued after a sleep, I/O or a foreign call, except heartbeats.
async fn sleeps_of_others(
    context: &RuleContext<'_>,
    (thread, heartbeats): (ThreadId, &BTreeSet<ThreadId>),
) -> u64 {
    let mut sleeps = 0;
    let mut visit = |turn: ThreadTurn<'_>| {
        let is_other = turn.thread() != thread && !heartbeats.contains(&turn.thread());
        sleeps += u64::from(turn.code.is_some() && is_other);
    };
    context.each_sleep(&mut visit).await;
    sleeps
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let idle = context.share_of_caps(loss_budget.unclaimed_ns(Pool::Idle));
    if idle < MIN_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time, not counting other findings; the limit is 20 %",
            format::fraction(idle)
        ));
    }
    let none = BTreeSet::new();
    let mut heartbeats = &none;
    loop {
        let outcome = find(context, loss_budget, heartbeats).await;
        if matches!(outcome, Outcome::Found(_)) || !heartbeats.is_empty() {
            return outcome;
        }
        heartbeats = context.heartbeats().await;
        if heartbeats.is_empty() {
            return outcome;
        }
    }
}

/// Finds the thread that waits most. The gaps that heartbeats end belong to the waits of others.
async fn find(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    heartbeats: &BTreeSet<ThreadId>,
) -> Outcome {
    let (all, all_ns) = idle_waits_by_thread(context, heartbeats).await;
    let ran_ns = all.values().map(|idle_waits| idle_waits.ran_ns).sum();
    let most = all.iter().max_by_key(|(_, idle_waits)| idle_waits.ns);
    let Some((&thread, idle_waits)) = most else {
        return Outcome::Clear("at least one thread ran or was ready at all times".into());
    };
    let share = idle_waits.ns as f64 / context.length_ns() as f64;
    let waits = idle_waits.waits;
    let name = context.thread_name(thread);
    if waits < MIN_COUNT
        && let Some(found) = long_sleeps(context, loss_budget, &all).await
    {
        return Outcome::Found(vec![found]);
    }
    if (waits < MIN_COUNT || share < MIN_SHARE)
        && let Some(found) = several_or_calls(context, loss_budget, (&all, WORKING)).await
    {
        return Outcome::Found(vec![found]);
    }
    if waits < MIN_COUNT || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "nothing ran for {} of the time, {} of the time until {name} continued, after {} of up to 2 s; the limits are 20 % and 20",
            format::fraction(all_ns as f64 / context.length_ns() as f64),
            format::fraction(share),
            format::pluralize(waits, "wait")
        ));
    }
    let others = sleeps_of_others(context, (thread, heartbeats)).await;
    if others as f64 > OTHERS * waits as f64 {
        if let Some(found) = several_or_calls(context, loss_budget, (&all, 0.0)).await {
            return Outcome::Found(vec![found]);
        }
        return Outcome::Clear(format!(
            "{name} waited {} while nothing ran, but other threads slept {} meanwhile",
            format::pluralize(waits, "time"),
            format::pluralize(others, "time")
        ));
    }
    if !is_worker(context, (thread, idle_waits), ran_ns).await {
        return Outcome::Clear(format!(
            "nothing ran while {name} waited, but it does little of the program's work"
        ));
    }
    let mut finding = finding(context, loss_budget, (thread, idle_waits)).await;
    if idle_waits.is_by_timer() {
        let served = served_by(context, (thread, ran_ns)).await;
        // It sleeps while others run, too: a clock that gives one piece of work each time serves nobody.
        let sleeps = waits.max(sleeps_of(context, thread));
        let is_each_time = served.wakeups >= sleeps.saturating_mul(MIN_SERVED as u64);
        let is_long = idle_waits.ns >= waits.saturating_mul(INTERVAL_NS);
        let are_served = served.threads.len() >= MIN_SERVED
            && !wait_mostly_in_stm(context, &served.threads).await;
        if is_each_time && is_long && are_served {
            explain_served(&mut finding, served.threads.len());
        }
    }
    Outcome::Found(vec![finding])
}

/// Finds several threads that wait while nothing runs.
async fn several_or_calls(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (all, least_work): (&BTreeMap<ThreadId, IdleWaits>, f64),
) -> Option<Finding> {
    let several = several_threads(context, loss_budget, (all, least_work)).await;
    match several {
        Some(found) => Some(found),
        None => calls_finding(context, loss_budget, all).await,
    }
}

/// Returns how often a thread slept.
fn sleeps_of(context: &RuleContext<'_>, thread: ThreadId) -> u64 {
    let life = context.log.store.thread_lane(thread);
    let turns = life
        .iter()
        .flat_map(|life| life.turns_overlapping(context.range));
    let slept = turns.filter(|(_, turn)| turn.wait_reason().is_some_and(WaitReason::is_asleep));
    slept.count() as u64
}

/// Threads that do much of the program's work and are woken by one thread, with the number of these wakeups.
struct Served {
    threads: BTreeSet<ThreadId>,
    wakeups: u64,
}

/// Returns what a thread serves: the threads that it wakes again and again, if they do most of the work.
async fn served_by(context: &RuleContext<'_>, (thread, ran_ns): (ThreadId, u64)) -> Served {
    let mut woken = context.woken_by(&|waker| waker == thread).await;
    woken.retain(|_, count| *count >= MIN_COUNT);
    let did_ns: u64 = { woken.keys() }
        .map(|one| context.run_statistics(*one, context.range).all_ns)
        .sum();
    if (did_ns as f64) < WORK * ran_ns as f64 {
        woken.clear();
    }
    Served {
        wakeups: woken.values().sum(),
        threads: woken.into_keys().collect(),
    }
}

/// Returns whether threads mostly wait in STM: a commit wakes all that wait, and one of them gets the work.
async fn wait_mostly_in_stm(context: &RuleContext<'_>, threads: &BTreeSet<ThreadId>) -> bool {
    let (mut in_stm, mut others) = (0, 0);
    let mut visit = |turn: ThreadTurn<'_>| match turn.wait_reason() {
        Some(WaitReason::Stm) => in_stm += 1,
        Some(_) => others += 1,
        None => {}
    };
    context.each_turn_of(threads, &mut visit).await;
    in_stm > others
}

/// Changes a finding about a thread that sleeps, and then wakes several others that do the work: they wait for it.
fn explain_served(finding: &mut Finding, served: usize) {
    finding.severity = Severity::of_share(finding.share).min(Severity::Medium);
    let others = format::pluralize(served as u64, "other thread");
    finding.title = format!("{}: {others} waited for it", finding.title);
    finding.meaning = format!("{BY_TIMER} Each time it then woke several of {others} that do most of the work, and that had nothing to do until then. If they wait for its answer, as for a batch that is written at intervals, each of them waits for half an interval or more.").into();
    finding.tries = Advice::code_changes([
        "Begin as soon as there is something to do: block on the queue (readTQueue, takeMVar), then take all that is there.",
        "If a batch should fill: wait for its size or a short time, whichever comes first (registerDelay).",
    ]);
}

async fn finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (thread, idle_waits): (ThreadId, &IdleWaits),
) -> Finding {
    let waits = idle_waits.waits;
    let by_timer = idle_waits.is_by_timer();
    let name = context.thread_name(thread);
    let title = format!(
        "{name} waited {} for {}, one after the other, and nothing ran meanwhile",
        format::pluralize(waits, "time"),
        if by_timer {
            "a timer"
        } else {
            "I/O or a foreign call"
        }
    );
    let gaps = idle_waits.gaps.iter();
    let (mut finding, cap_ns) = gaps_finding(context, loss_budget, (title, gaps)).await;
    finding.subject = Some(name);
    let answers = "If each wait is for an answer (from a database, service or disk), the program takes as long as all answers together: it sends each request only after the previous answer.";
    finding.meaning = match by_timer {
        true => BY_TIMER.into(),
        false => answers.into(),
    };
    let at_once = Advice::code(
        "Send several requests at once: mapConcurrently from the package async, or a few threads that share the work.",
    );
    finding.tries = match by_timer {
        true => vec![
            Advice::code(INSTEAD_OF_SLEEPING),
            Advice::code(FIXED_PAUSE),
            at_once,
        ],
        false => vec![at_once, Advice::code("Request more at a time.")],
    };
    finding.distrust =
        "If the program waits for users, or for a clock time, nothing is lost.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("waits", Value::Count(waits)),
        (
            "a wait, on average",
            Value::Ns(idle_waits.ns / waits.max(1)),
        ),
    ]);
    finding.with_evidence(evidence_by_wait(thread, &idle_waits.gaps))
}

/// Returns one piece of evidence for each wait, which may have several gaps.
fn evidence_by_wait(thread: ThreadId, gaps: &[Gap]) -> impl Iterator<Item = Evidence> {
    gaps.split_inclusive(|gap| gap.is_last)
        .filter_map(move |wait| {
            let (first, last) = (wait.first()?, wait.last()?);
            let ns = wait.iter().map(|gap| gap.ns).fold(0, u64::saturating_add);
            let whole = Gap {
                to: last.to,
                ns,
                ..*first
            };
            (ns >= SHORTEST_NS).then(|| whole.evidence(thread))
        })
}

/// Finds a few long sleeps of one thread in which nothing else ran.
async fn long_sleeps(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    all: &BTreeMap<ThreadId, IdleWaits>,
) -> Option<Finding> {
    let slept_ns =
        |idle_waits: &IdleWaits| idle_waits.long_sleeps.iter().map(|gap| gap.ns).sum::<u64>();
    let (thread, idle_waits) = all
        .iter()
        .max_by_key(|(_, idle_waits)| slept_ns(idle_waits))?;
    let slept = context.share(slept_ns(idle_waits));
    let longest = idle_waits.long_sleeps.iter().max_by_key(|gap| gap.ns)?;
    if slept < MIN_SHARE || idle_waits.long_sleeps.len() as u64 >= MIN_COUNT {
        return None;
    }
    let name = context.thread_name(*thread);
    let span = span_around(context, longest);
    let title = format!(
        "Nothing ran for {} of the time while {name} slept: {}, the longest {}{}",
        format::fraction(slept),
        format::pluralize(idle_waits.long_sleeps.len() as u64, "sleep"),
        format::duration_ns(longest.ns),
        span.map_or(String::new(), |span| format!(", in the span {span}")),
    );
    let gaps = idle_waits.long_sleeps.iter();
    let (mut finding, cap_ns) = gaps_finding(context, loss_budget, (title, gaps)).await;
    finding.subject = Some(name);
    finding.meaning = BY_TIMER.into();
    finding.tries = vec![Advice::code(INSTEAD_OF_SLEEPING)];
    finding.distrust = "A program that waits for users, or for a clock time, loses nothing.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("sleeps", Value::Count(idle_waits.long_sleeps.len() as u64)),
    ]);
    let sleeps = idle_waits.long_sleeps.iter();
    Some(finding.with_evidence(sleeps.map(|gap| gap.evidence(*thread))))
}

/// Returns the name of the shortest span of the program that covers most of a gap.
fn span_around<'a>(context: &RuleContext<'a>, gap: &Gap) -> Option<&'a str> {
    let listed = context.log.tracks.spans.listed().iter();
    let around = listed.flat_map(|listed| {
        let covers = |span: &&UserSpan| {
            let inside = span
                .end
                .min(gap.to)
                .saturating_sub(span.start.max(gap.from));
            inside * 10 >= (gap.to - gap.from) * 9
        };
        let spans = listed.spans.iter().filter(covers);
        spans.map(|span| (span.end - span.start, listed.info.name.as_str()))
    });
    around.min().map(|(_, name)| name)
}

/// Creates the finding about gaps, and returns it with the capability time lost in them. It is a hint of low
/// severity: a program that waits for its users, or sleeps on purpose, loses nothing.
pub(super) async fn gaps_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (title, gaps): (String, impl Iterator<Item = &Gap>),
) -> (Finding, u64) {
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    let mut ns_by_end = [0_u64; 3];
    for gap in gaps {
        stretches.push((gap.from, gap.to));
        let ns = &mut ns_by_end[gap.end as usize];
        *ns = ns.saturating_add(gap.ns);
    }
    context.sort(&mut stretches).await;
    let cap_ns = context.idle_in(&stretches).await.none_running_ns;
    let ends = [GapEnd::Timer, GapEnd::Outside, GapEnd::Threads];
    let most = ends.into_iter().max_by_key(|end| ns_by_end[*end as usize]);
    let cause = most.map_or(Cause::EachOther, GapEnd::cause);
    let stretches = (stretches, cap_ns, cause);
    let mut finding = context
        .asleep_finding((RULE.name, title), loss_budget, stretches)
        .await;
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    (finding, cap_ns)
}
