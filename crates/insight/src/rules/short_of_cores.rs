//! Do capabilities wait for cores of the machine?
//!
//! If there are fewer cores than capabilities (in a container, `-N` counts the cores of the machine, not the
//! limit), or if other programs need them, the operating system keeps a capability waiting for milliseconds. Three
//! signs show it that no program causes by itself:
//!
//! - A thread is ready, and its own capability, which runs nothing, does not take it.
//! - A collection was requested, no thread runs any more, and it does not begin.
//! - In a collection some threads are done, one is not, and none collects.

use std::cmp::Reverse;

use super::par_gc_unbalanced::MOSTLY_ONE;
use super::prelude::*;
use super::ready_while_idle::{LONG_NS, queues};
use crate::collection_in_range::CollectionInRange;
use crate::threads::{ClippedWait, ThreadTurn};
use eventlog::ids::CapId;
use model::class::Class;
use model::lane::Lane;
use model::sorting::CompactSort;

/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Minimum lost capability time; less may be chance.
const MIN_NS: u64 = 10_000_000;
/// Minimum number of waits; fewer are single events of a busy machine. `MIN_LONG` are enough if they take the
/// share `MUCH` of capability time.
const MIN_COUNT: usize = 10;
const MIN_LONG: usize = 5;
const MUCH: f64 = 0.10;
/// Minimum share of its life in which a capability runs threads, so that it has work.
const USED: f64 = 0.05;
/// Minimum share of a collection in which no thread collects, or of a thread's wait in which its capability does
/// nothing. Shorter gaps are normal wakeups of OS threads, which take tens of microseconds.
const HALF: f64 = 0.50;
/// Share of capability time that the log may lack at most, for a count of the capabilities that are needed.
const MAX_UNKNOWN: f64 = 0.20;
/// Maximum number of collections to examine, longest first.
const MAX_EXAMINED: usize = 2_000;

/// Name of the number for the time in which no thread collected.
pub(crate) const NONE_COLLECTING: &str = "collections in which no thread collected";

pub(crate) const RULE: Rule = Rule {
    name: "short-of-cores",
    question: "Do capabilities wait for cores of the machine?",
    inputs: &[Input::EachRun, Input::GcStatistics],
    evaluate: yielding!(evaluate),
};

/// Waiting in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CollectionWaits {
    /// Lower bound of the time in which no thread collected, though one was not done.
    none_collecting_ns: u64,
    /// Sum over capabilities of the delay in resuming after the collection.
    late_ns: u64,
}

/// Work of one capability in a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CapWork {
    /// Start of its first work; `u64::MAX` if it did none.
    first_ns: u64,
    /// Duration of its work.
    work_ns: u64,
    /// Time at which it was done.
    done_ns: u64,
    /// Delay in resuming after the collection.
    late_ns: u64,
}

/// Summarizes the GC spans of a capability around a collection from `start` to `end`.
fn cap_work(
    (start, end): (u64, u64),
    gc_spans: impl Iterator<Item = (Class, u64, u64)>,
) -> CapWork {
    let mut part = CapWork {
        first_ns: u64::MAX,
        work_ns: 0,
        done_ns: 0,
        late_ns: 0,
    };
    for (class, from, to) in gc_spans {
        let (from, until) = (from.max(start), to.min(end));
        match class {
            Class::Returning => part.late_ns = to - from,
            Class::Gc => {
                part.first_ns = part.first_ns.min(from);
                part.work_ns = part.work_ns.saturating_add(until.saturating_sub(from));
            }
            // A GC span that lasts until the end does not show when the capability was done.
            Class::GcIdle if to < end => part.done_ns = to,
            _ => {}
        }
    }
    part
}

/// Combines all capabilities: the time from the first one's first work until the last one was done, minus all
/// work.
fn collection_waits(parts: &[CapWork]) -> CollectionWaits {
    let first_ns = parts.iter().map(|part| part.first_ns).min();
    let done_ns = parts.iter().map(|part| part.done_ns).max();
    let work = parts.iter().map(|part| part.work_ns);
    let work_ns = work.fold(0, u64::saturating_add);
    let late = parts.iter().map(|part| part.late_ns);
    let from_first = done_ns.unwrap_or(0).saturating_sub(first_ns.unwrap_or(0));
    CollectionWaits {
        none_collecting_ns: from_first.saturating_sub(work_ns),
        late_ns: late.fold(0, u64::saturating_add),
    }
}

fn work_of_cap(
    context: &RuleContext<'_>,
    cap: CapId,
    gc: &CollectionInRange<'_>,
) -> Option<CapWork> {
    let gc_spans = context.log.store.account().gc_spans_of(cap)?;
    let (start, end) = (gc.pause.start.0, gc.pause.end.0);
    let first = gc_spans.first_ending_after(start);
    let all = (first..gc_spans.len()).map(|index| {
        let (from, to) = gc_spans.span(index);
        (gc_spans.class(index), from, to)
    });
    // A capability that is still resuming has a GC span that starts at the end of the collection.
    Some(cap_work(
        (start, end),
        all.take_while(|(_, from, _)| *from <= end),
    ))
}

/// Collection in which no thread collected for most of the time.
type HungCollection<'a> = (&'a CollectionInRange<'a>, CollectionWaits);

/// Collection that began late, with the delay.
type LateCollection<'a> = (&'a CollectionInRange<'a>, u64);

/// Sums over collections, saturating: a damaged log may have any times.
fn sum<T>(collections: &[(&CollectionInRange<'_>, T)], of: impl Fn(&T) -> u64) -> u64 {
    let each = collections.iter().map(|(_, waited)| of(waited));
    each.fold(0, u64::saturating_add)
}

fn total_late_ns(late: &[LateCollection<'_>]) -> u64 {
    sum(late, |ns| *ns)
}

/// Returns collections in which a phase was long, at most [`MAX_EXAMINED`], longest first.
fn longest<'a>(
    context: &'a RuleContext<'_>,
    is_wanted: impl Fn(&CollectionInRange<'_>) -> bool,
    part_ns: impl Fn(&CollectionInRange<'_>) -> u64,
) -> Vec<&'a CollectionInRange<'a>> {
    let all = context.collections_where(|gc| is_wanted(gc) && part_ns(gc) > LONG_NS);
    let mut all: Vec<&CollectionInRange<'_>> = all.map(|(_, gc)| gc).collect();
    all.sort_small_by_key(|gc| Reverse(part_ns(gc)));
    all.truncate(MAX_EXAMINED);
    all
}

/// Returns the long parallel collections in which no thread collected for most of the time.
async fn hung_collections<'a>(context: &'a RuleContext<'_>) -> Vec<HungCollection<'a>> {
    let (mut found, mut steps) = (Vec::new(), context.steps());
    for gc in longest(context, |gc| gc.is_parallel(), |gc| gc.pause_ns()) {
        let mut parts = Vec::new();
        for cap in context.cap_ids() {
            steps.step().await;
            parts.extend(work_of_cap(context, cap, gc));
        }
        let waited = collection_waits(&parts);
        let is_most = waited.none_collecting_ns as f64 >= HALF * gc.pause_ns() as f64;
        if waited.none_collecting_ns > LONG_NS && is_most {
            found.push((gc, waited));
        }
    }
    found
}

/// Returns how long a capability neither ran a thread nor took part in a collection. A capability that has not
/// resumed after a collection while a thread waits for it does nothing: its OS thread does not run.
fn inactive_ns(context: &RuleContext<'_>, (cap, range): (Option<CapId>, Interval)) -> u64 {
    let Some(cap) = cap else { return 0 };
    let store = &context.log.store;
    let runs = store.cap(cap).map(|cap| cap.runs.time_in(range));
    let gc_spans = store.account().gc_spans_of(cap);
    let gc_spans = gc_spans.map(|gc_spans| {
        let mut times = gc_spans.time_in(range);
        times[Class::Returning as usize] = 0;
        times
    });
    let busy: u64 = [runs, gc_spans].into_iter().flatten().flatten().sum();
    range.duration().0.saturating_sub(busy)
}

/// Returns for how long no capability ran a thread before a requested collection began.
fn late_ns(context: &RuleContext<'_>, gc: &CollectionInRange<'_>) -> u64 {
    let (requested, start) = (gc.pause.requested.0, gc.pause.start.0);
    let last_stop = |cap| {
        let runs = &context.log.store.cap(cap)?.runs;
        let next = runs.first_ending_after(start);
        if next < runs.len() && runs.start(next) < start {
            return Some(start);
        }
        next.checked_sub(1).map(|last| runs.span(last).1)
    };
    let stopped = context.cap_ids().filter_map(last_stop).max();
    start.saturating_sub(requested.max(stopped.unwrap_or(0)))
}

/// Returns the collections that began late although no thread ran any more.
async fn late_collections<'a>(context: &'a RuleContext<'_>) -> Vec<LateCollection<'a>> {
    let (mut found, mut steps) = (Vec::new(), context.steps());
    for gc in longest(context, |_| true, |gc| gc.sync_ns()) {
        steps.step().await;
        let late_ns = late_ns(context, gc).min(gc.sync_ns());
        if late_ns > LONG_NS && late_ns as f64 >= HALF * gc.sync_ns() as f64 {
            found.push((gc, late_ns));
        }
    }
    found
}

/// Returns long waits of runnable threads for a capability that ran nothing.
async fn held_up_waits(context: &RuleContext<'_>) -> Vec<ClippedWait> {
    let mut waits = Vec::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.runnable_ns() > LONG_NS {
            let wait = context.wait(turn, 1).filter(|wait| wait.ns > LONG_NS);
            let is_free = |wait: &ClippedWait| {
                let idle = queues(context, wait, &turn).into_iter();
                let idle_ns: u64 = idle.map(|queue| inactive_ns(context, queue)).sum();
                idle_ns as f64 >= HALF * wait.ns as f64
            };
            waits.extend(wait.filter(is_free));
        }
    };
    context.each_turn_queued(&mut visit).await;
    waits
}

/// Signs found, with the lost time in capability nanoseconds.
struct Signs<'a> {
    hung: Vec<HungCollection<'a>>,
    late: Vec<LateCollection<'a>>,
    held_up: Vec<ClippedWait>,
    /// Capability time in collections without a collecting thread, and in resuming after them.
    in_gc_ns: u64,
    /// Capability time stopped before collections that began late.
    late_ns: u64,
    /// Idle capability time while threads were ready, at most one capability per thread.
    waited_ns: u64,
    /// Idle time of all capabilities meanwhile: there was no core for them either.
    idle_ns: u64,
    /// Time in which capabilities had not resumed after a collection, though threads were ready for long.
    resuming_ns: u64,
    /// The rest of the idle time with a thread that is ready for long, if it has the same cause.
    rest_ns: u64,
}

/// Returns for how long capabilities did not resume after collections, without those that hardly ever run: these have
/// no work, and log the end of a collection late.
fn resuming_ns(context: &RuleContext<'_>) -> u64 {
    let caps = context.times.caps.iter().map(|(_, times)| times);
    let used = caps.filter(|times| times.running_ns as f64 >= USED * times.life_ns as f64);
    let each = used.map(|times| times.returning_ns);
    each.fold(0, u64::saturating_add)
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability".into());
    }
    let hung = hung_collections(context).await;
    let late = late_collections(context).await;
    let held_up = held_up_waits(context).await;
    let late_ns = total_late_ns(&late).saturating_mul(context.caps);
    let in_gc_ns = sum(&hung, |one| {
        let none_collecting_ns = one.none_collecting_ns.saturating_mul(context.caps);
        none_collecting_ns.saturating_add(one.late_ns)
    });
    let spans: Vec<(u64, u64)> = held_up.iter().map(ClippedWait::span).collect();
    let waited_ns = context.overlapping_idle_ns(&spans).await;
    let stretches = context.stretches(spans).await;
    let idle_ns = context.idle_in(&stretches).await.ready_ns;
    let unclaimed_ns = loss_budget.unclaimed_ns(Pool::ReadyLong);
    let idle_ns = idle_ns.min(unclaimed_ns);
    let resuming_ns = resuming_ns(context).min(unclaimed_ns - idle_ns);
    let is_resuming = context.share_of_caps(resuming_ns) >= MUCH;
    let resuming_ns = if is_resuming { resuming_ns } else { 0 };
    // If these waits are most of the long ones, the rest has the same cause.
    let is_most = idle_ns as f64 >= HALF * unclaimed_ns as f64 && held_up.len() >= MIN_COUNT;
    let rest_ns = if is_most {
        unclaimed_ns - idle_ns - resuming_ns
    } else {
        0
    };
    let found = Signs {
        rest_ns,
        in_gc_ns: in_gc_ns.min(loss_budget.unclaimed_ns(Pool::GcWaiting)),
        late_ns: late_ns.min(loss_budget.unclaimed_ns(Pool::Stopping)),
        waited_ns: waited_ns.min(unclaimed_ns),
        idle_ns,
        resuming_ns,
        hung,
        late,
        held_up,
    };
    let all_ns = found.in_gc_ns + found.late_ns + found.idle_ns + found.resuming_ns;
    let count = found.hung.len() + found.late.len() + found.held_up.len();
    let share = context.share_of_caps(all_ns);
    let least = if share >= MUCH { MIN_LONG } else { MIN_COUNT };
    if count < least && !is_resuming || share < MIN_SHARE || all_ns < MIN_NS {
        return Outcome::Clear(format!(
            "in {} no thread collected for most of the time, {} began late although no thread ran, and threads were ready in {} for a capability that ran nothing: {} of the capabilities' time in total; the limits are 10 in total and 5 %, or 5 and 10 %",
            format::pluralize(found.hung.len() as u64, "parallel collection"),
            found.late.len(),
            format::pluralize(found.held_up.len() as u64, "long wait"),
            format::fraction(share)
        ));
    }
    Outcome::Found(vec![signs_finding(context, loss_budget, found)])
}

fn signs_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    found: Signs<'_>,
) -> Finding {
    let none_collecting_ns = sum(&found.hung, |waited| waited.none_collecting_ns);
    let began_late_ns = total_late_ns(&found.late);
    let title = format!(
        "{} waited for cores of the machine",
        format::pluralize(context.caps, "capability")
    );
    let pools = [
        (Pool::GcWaiting, found.in_gc_ns),
        (Pool::Stopping, found.late_ns),
        (
            Pool::ReadyLong,
            found.idle_ns + found.resuming_ns + found.rest_ns,
        ),
    ];
    let mut finding = context.time_finding_from_pools(RULE.name, title, loss_budget, &pools);
    // Waiting for a busy core loses nothing; only the waits of collections affect all capabilities.
    let waited_ns = none_collecting_ns.saturating_add(began_late_ns);
    let severity = Severity::of_share(context.share(waited_ns)).max(Severity::Medium);
    let is_in_collections = found.in_gc_ns + found.late_ns >= found.idle_ns + found.resuming_ns;
    // Most machines have two cores: other programs use them, or both OS threads are put on one for a moment, and this
    // program's own problems come first.
    let most = match (context.caps > 2, is_in_collections) {
        (true, _) => severity,
        (false, true) => Severity::Medium,
        (false, false) => Severity::Low,
    };
    finding.severity = finding.severity.min(most);
    finding.confidence = Confidence::Probable;
    let is_hung = |gc: &&CollectionInRange<'_>| {
        let mut hung = found.hung.iter();
        hung.any(|(other, _)| std::ptr::eq(*other, *gc))
    };
    // A collection can be both; it counts once.
    let late = found.late.iter().map(|(gc, _)| *gc);
    let late: Vec<&CollectionInRange<'_>> = late.filter(|gc| !is_hung(gc)).collect();
    let signs = [
        (
            found.held_up.len(),
            "long wait",
            "of ready threads for a capability that ran nothing",
        ),
        (
            found.hung.len(),
            "parallel collection",
            "in which one of the collecting OS threads did not run, and the others waited for it",
        ),
        (
            late.len(),
            "collection",
            "that began late although no thread ran any more",
        ),
    ];
    let signs = signs.into_iter().filter(|(count, ..)| *count > 0);
    let mut signs: Vec<String> = signs
        .map(|(count, what, which)| format!("{} {which}", format::pluralize(count as u64, what)))
        .collect();
    let last = signs.pop().unwrap_or_default();
    let others = match signs.is_empty() {
        true => String::new(),
        false => format!("{}, and ", signs.join(", ")),
    };
    let signs = match found.resuming_ns {
        0 => format!("the log has {others}{last}"),
        _ => format!(
            "for {} of their time they had not resumed after a collection, though threads were ready",
            format::fraction(context.share_of_caps(found.resuming_ns))
        ),
    };
    finding.meaning = format!(
        "The operating system did not run their OS threads: {signs}. There are more capabilities than cores, other programs use the cores, or the system puts two OS threads on one core, as when threads wake each other often."
    )
    .into();
    finding.tries = tries(context, is_in_collections);
    finding.distrust = "Waiting for a core costs nothing while all cores work, except in collections. If other programs used the cores only this once, another log shows less of it.".into();
    finding.set_numbers([
        (NONE_COLLECTING, Value::Ns(none_collecting_ns)),
        ("such collections", Value::Count(found.hung.len() as u64)),
        ("collections that began late", Value::Ns(began_late_ns)),
        (
            "idle capabilities with a ready thread",
            Value::Ns(found.waited_ns),
        ),
        ("long waits", Value::Count(found.held_up.len() as u64)),
    ]);
    let collections = found.hung.iter().map(|(gc, _)| *gc).chain(late);
    let collections = collections.map(|gc| gc.evidence(gc.all_ns()));
    finding.with_evidence(
        found
            .held_up
            .iter()
            .map(ClippedWait::evidence)
            .chain(collections),
    )
}

/// Returns advice. Collecting with one thread, or using one capability, slows programs that work in parallel;
/// `docs/findings.md` has some of them.
fn tries(context: &RuleContext<'_>, in_collections: bool) -> Vec<Advice> {
    let is_serial = context.parallelism() <= MOSTLY_ONE;
    let busy = (context.parallelism().ceil() as u64).max(1);
    let mut tries = Vec::new();
    // Capabilities whose events are missing may have run as much as the others.
    let unknown_ns = context.times.all_caps().unknown_ns;
    let is_known = context.share_of_caps(unknown_ns) < MAX_UNKNOWN;
    if busy < context.caps && is_known {
        tries.push(Advice::flag(
            format!("-N{busy}"),
            format!(
                "Use no more capabilities than available cores: while any ran, {:.1} ran on average. Measure it. In a container with a CPU limit, -N alone counts all cores of the machine.",
                context.parallelism()
            ),
            "less parallel work, if there are more cores",
        ));
    }
    if in_collections && is_serial {
        tries.push(Advice::flag(
            "-qg",
            "Collect with one thread, which need not wait for others.",
            "large collections take longer",
        ));
    } else if in_collections && busy < context.caps {
        tries.push(Advice::flag(
            format!("-qn{busy}"),
            "Collect with fewer threads.",
            "large collections may take longer",
        ));
    }
    tries.push(Advice::code(
        "If other programs ran meanwhile, record the log again on an idle machine.",
    ));
    tries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_wait_for_the_one_that_is_not_done() {
        let (work, idle, done) = (Class::Gc, Class::GcIdle, Class::GcDone);
        let quick = [(work, 0, 10), (idle, 10, 90), (done, 90, 100)];
        let slow = [
            (Class::GcStart, 0, 80),
            (work, 80, 85),
            (idle, 85, 90),
            (done, 90, 100),
        ];
        let parts = [quick.to_vec(), slow.to_vec()]
            .map(|gc_spans| cap_work((0, 100), gc_spans.into_iter()));
        assert_eq!(collection_waits(&parts).none_collecting_ns, 75);
        // The same time spent working is no wait.
        let busy = [(work, 0, 85), (idle, 85, 90), (done, 90, 100)];
        let parts = [quick.to_vec(), busy.to_vec()]
            .map(|gc_spans| cap_work((0, 100), gc_spans.into_iter()));
        assert_eq!(collection_waits(&parts).none_collecting_ns, 0);
        // The leader's own work after all are done is no wait, nor is a log without the end of a capability's
        // work.
        let leader = [(work, 0, 10), (idle, 10, 11), (done, 11, 100)];
        let parts = [cap_work((0, 100), leader.into_iter())];
        assert_eq!(collection_waits(&parts).none_collecting_ns, 1);
        let parts = [cap_work(
            (0, 100),
            [(work, 0, 10), (idle, 10, 100)].into_iter(),
        )];
        assert_eq!(collection_waits(&parts).none_collecting_ns, 0);
    }

    #[test]
    fn who_goes_on_late_is_late() {
        let late = [(Class::Gc, 0, 100), (Class::Returning, 100, 140)];
        assert_eq!(cap_work((0, 100), late.into_iter()).late_ns, 40);
    }
}
