//! Do capabilities wait for cores of the machine?
//!
//! If there are fewer cores than capabilities (`-N` in a container counts the cores of the machine,
//! not the limit), or if other programs need them, the operating system keeps a capability waiting
//! for milliseconds. Three things show it that no program does by itself: a thread is ready, and its
//! own capability, which runs nothing, does not take it; a collection was asked for, no thread runs
//! any more, and it does not begin; and in a collection some threads are done, one is not, and none
//! collects.

use std::cmp::Reverse;

use super::par_gc_unbalanced::MOSTLY_ONE;
use super::ready_while_idle::{LONG_NS, queues};
use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::union;
use crate::threads::Wait;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::ids::CapId;
use model::class::Class;
use model::format;
use model::lane::Lane;
use model::time::Interval;

/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.05;
/// Less in all is a matter of chance.
const LEAST_NS: u64 = 10_000_000;
/// Fewer waits are single events of a busy machine, but for those that take much of the time.
const LEAST: usize = 10;
const LEAST_LONG: usize = 5;
const MUCH: f64 = 0.10;
/// Of a collection nobody collects for so much, and of a thread's wait its capability does nothing.
/// In shorter gaps an OS thread is woken, which takes some hundredths of a millisecond.
const HALF: f64 = 0.50;
/// So many collections are looked at, the longest ones.
const MOST: usize = 2_000;

const NAME: &str = "short-of-cores";

/// The number that says for how long no thread collected.
pub(crate) const NOBODY: &str = "collections in which no thread collected";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do capabilities wait for cores of the machine?",
    inputs: &[Input::EachRun, Input::GcStatistics],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// What a collection waited for, and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waited {
    /// At least so long no thread collected, though one was not done.
    nobody_ns: u64,
    /// How long capabilities took to go on when it was over, all together.
    late_ns: u64,
}

/// What one capability did in a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// From when on it collected; the greatest number if it never did.
    first_ns: u64,
    /// How long.
    work_ns: u64,
    /// When it was done.
    done_ns: u64,
    /// How long it took to go on afterwards.
    late_ns: u64,
}

/// Pieces of a capability around a collection from one time to another.
fn part((start, end): (u64, u64), pieces: impl Iterator<Item = (Class, u64, u64)>) -> Part {
    let mut part = Part {
        first_ns: u64::MAX,
        work_ns: 0,
        done_ns: 0,
        late_ns: 0,
    };
    for (class, from, to) in pieces {
        let (from, until) = (from.max(start), to.min(end));
        match class {
            Class::Returning => part.late_ns = to - from,
            Class::Gc => {
                part.first_ns = part.first_ns.min(from);
                part.work_ns = part.work_ns.saturating_add(until.saturating_sub(from));
            }
            // Without an end of its own nothing tells when it was done.
            Class::GcIdle if to < end => part.done_ns = to,
            _ => {}
        }
    }
    part
}

/// Of all capabilities: from the first one's work until the last one was done, less all work.
fn waited(parts: &[Part]) -> Waited {
    let first_ns = parts.iter().map(|part| part.first_ns).min();
    let done_ns = parts.iter().map(|part| part.done_ns).max();
    let work = parts.iter().map(|part| part.work_ns);
    let work_ns = work.fold(0, u64::saturating_add);
    let late = parts.iter().map(|part| part.late_ns);
    let from_first = done_ns.unwrap_or(0).saturating_sub(first_ns.unwrap_or(0));
    Waited {
        nobody_ns: from_first.saturating_sub(work_ns),
        late_ns: late.fold(0, u64::saturating_add),
    }
}

fn part_of(context: &RuleContext<'_>, cap: CapId, stop: &GcPause<'_>) -> Option<Part> {
    let pieces = context.log.store.account().pieces_of(cap)?;
    let (start, end) = (stop.pause.start.0, stop.pause.end.0);
    let first = pieces.first_ending_after(start);
    let all = (first..pieces.len()).map(|place| {
        let (from, to) = pieces.span(place);
        (pieces.class(place), from, to)
    });
    // One that comes back begins where the collection ends.
    Some(part(
        (start, end),
        all.take_while(|(_, from, _)| *from <= end),
    ))
}

/// A collection in which nobody collected for most of the time.
type Hung<'a> = (&'a GcPause<'a>, Waited);

/// A collection that began late, and how late.
type Late<'a> = (&'a GcPause<'a>, u64);

/// Of all of them, at most the greatest number: a damaged log may have any times.
fn sum<T>(stops: &[(&GcPause<'_>, T)], of: impl Fn(&T) -> u64) -> u64 {
    let each = stops.iter().map(|(_, waited)| of(waited));
    each.fold(0, u64::saturating_add)
}

fn late_sum(late: &[Late<'_>]) -> u64 {
    sum(late, |ns| *ns)
}

/// The collections of which a part took long, as many as are looked at.
fn longest<'a>(
    context: &'a RuleContext<'_>,
    is_asked: impl Fn(&GcPause<'_>) -> bool,
    part_ns: impl Fn(&GcPause<'_>) -> u64,
) -> Vec<&'a GcPause<'a>> {
    let all = context.stops_where(|stop| is_asked(stop) && part_ns(stop) > LONG_NS);
    let mut all: Vec<&GcPause<'_>> = all.map(|(_, stop)| stop).collect();
    all.sort_by_key(|stop| Reverse(part_ns(stop)));
    all.truncate(MOST);
    all
}

/// All of them.
async fn hung<'a>(context: &'a RuleContext<'_>, yielder: &dyn Yield) -> Vec<Hung<'a>> {
    let is_parallel = |stop: &GcPause<'_>| stop.told.is_some_and(|told| told.is_parallel());
    let (mut found, mut steps) = (Vec::new(), Steps::new(yielder));
    for stop in longest(context, is_parallel, |stop| stop.pause_ns()) {
        let mut parts = Vec::new();
        for cap in context.cap_ids() {
            steps.step().await;
            parts.extend(part_of(context, cap, stop));
        }
        let waited = waited(&parts);
        let is_most = waited.nobody_ns as f64 >= HALF * stop.pause_ns() as f64;
        if waited.nobody_ns > LONG_NS && is_most {
            found.push((stop, waited));
        }
    }
    found
}

/// For how long a capability neither ran a thread nor had to do with a collection. One that has not
/// come back from a collection while a thread waits for it does nothing: its own thread of the
/// operating system does not run.
fn did_nothing_ns(context: &RuleContext<'_>, (cap, range): (Option<CapId>, Interval)) -> u64 {
    let Some(cap) = cap else { return 0 };
    let runs = context
        .log
        .store
        .cap(cap)
        .map(|cap| cap.runs.time_in(range));
    let pieces = context.log.store.account().pieces_of(cap);
    let pieces = pieces.map(|pieces| {
        let mut times = pieces.time_in(range);
        times[Class::Returning as usize] = 0;
        times
    });
    let busy: u64 = [runs, pieces].into_iter().flatten().flatten().sum();
    range.duration().0.saturating_sub(busy)
}

/// For how long no capability ran a thread before a collection began that was asked for.
fn late_ns(context: &RuleContext<'_>, stop: &GcPause<'_>) -> u64 {
    let (requested, start) = (stop.pause.requested.0, stop.pause.start.0);
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

/// The collections that began late though no thread ran any more.
async fn late<'a>(context: &'a RuleContext<'_>, yielder: &dyn Yield) -> Vec<Late<'a>> {
    let (mut found, mut steps) = (Vec::new(), Steps::new(yielder));
    for stop in longest(context, |_| true, |stop| stop.sync_ns()) {
        steps.step().await;
        let late_ns = late_ns(context, stop).min(stop.sync_ns());
        if late_ns > LONG_NS && late_ns as f64 >= HALF * stop.sync_ns() as f64 {
            found.push((stop, late_ns));
        }
    }
    found
}

/// Long waits of threads that were ready, for a capability that ran nothing.
async fn held_up(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<Wait> {
    let mut waits = Vec::new();
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        if turn.1.ready_parts().idle_ns > 0 && turn.1.duration(1) > LONG_NS {
            let wait = context.wait(life, turn, 1).filter(|wait| wait.ns > LONG_NS);
            let is_free = |wait: &Wait| {
                let idle = queues(context, wait, turn.1).into_iter();
                let idle_ns: u64 = idle.map(|queue| did_nothing_ns(context, queue)).sum();
                idle_ns as f64 >= HALF * wait.ns as f64
            };
            waits.extend(wait.filter(is_free));
        }
    };
    context.each_turn(yielder, look).await;
    waits
}

/// What was found, in nanoseconds of capabilities.
struct Found<'a> {
    hung: Vec<Hung<'a>>,
    late: Vec<Late<'a>>,
    held_up: Vec<Wait>,
    /// Capabilities in collections in which nobody collected, and until they went on.
    in_gc_ns: u64,
    /// Capabilities before collections that began late.
    late_ns: u64,
    /// Capabilities that ran nothing while threads were ready for them.
    waited_ns: u64,
    /// All that ran nothing meanwhile: there was no core for them either.
    idle_ns: u64,
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability".into());
    }
    let hung = hung(context, yielder).await;
    let late = late(context, yielder).await;
    let held_up = held_up(context, yielder).await;
    let late_ns = late_sum(&late).saturating_mul(context.caps);
    let in_gc_ns = sum(&hung, |one| {
        let nobody_ns = one.nobody_ns.saturating_mul(context.caps);
        nobody_ns.saturating_add(one.late_ns)
    });
    let mut spans: Vec<(u64, u64)> = held_up.iter().map(Wait::span).collect();
    let waited_ns = context.beside_idle_ns(spans.iter().copied(), yielder).await;
    sort(&mut spans, yielder).await;
    let idle_ns = context.idle_in(&union(&spans), yielder).await.ready_ns;
    let left_ns = loss_budget.left_ns(Pool::ReadyLong);
    let found = Found {
        in_gc_ns: in_gc_ns.min(loss_budget.left_ns(Pool::GcWaiting)),
        late_ns: late_ns.min(loss_budget.left_ns(Pool::Stopping)),
        waited_ns: waited_ns.min(left_ns),
        idle_ns: idle_ns.min(left_ns),
        hung,
        late,
        held_up,
    };
    let all_ns = found.in_gc_ns + found.late_ns + found.idle_ns;
    let count = found.hung.len() + found.late.len() + found.held_up.len();
    let share = context.share_of_caps(all_ns);
    let least = if share >= MUCH { LEAST_LONG } else { LEAST };
    if count < least || share < LEAST_SHARE || all_ns < LEAST_NS {
        return Outcome::Clear(format!(
            "in {} no thread collected for most of the time, {} began late though no thread ran, and threads were ready in {} for a capability that did nothing: {} of the capabilities' time in all; the limits are 10 of all and 5 %, or 5 and 10 %",
            format::many(found.hung.len() as u64, "parallel collection"),
            found.late.len(),
            format::many(found.held_up.len() as u64, "long wait"),
            format::fraction(share)
        ));
    }
    Outcome::Found(vec![told(context, loss_budget, found)])
}

fn told(context: &RuleContext<'_>, loss_budget: &mut LossBudget, found: Found<'_>) -> Finding {
    let Found {
        hung,
        late,
        held_up,
        in_gc_ns,
        late_ns,
        waited_ns,
        idle_ns,
    } = found;
    let nobody_ns = sum(&hung, |waited| waited.nobody_ns);
    let title = format!(
        "{} waited for cores of the machine",
        format::many(context.caps, "capability")
    );
    let pools = [
        (Pool::GcWaiting, in_gc_ns),
        (Pool::Stopping, late_ns),
        (Pool::ReadyLong, idle_ns),
    ];
    let mut finding = context.of_pools(NAME, title, loss_budget, &pools);
    // Who waits for a core that works loses nothing; all lose what a collection waits.
    let severity = Severity::of_share(context.share(nobody_ns.saturating_add(late_sum(&late))))
        .max(Severity::Medium);
    finding.severity = finding.severity.min(severity);
    finding.confidence = Confidence::Probable;
    let signs = [
        (
            held_up.len(),
            "long wait",
            "of ready threads for a capability that ran nothing",
        ),
        (
            hung.len(),
            "parallel collection",
            "in which threads that were done waited for one that was not running",
        ),
        (
            late.len(),
            "collection",
            "that began late though no thread ran any more",
        ),
    ];
    let signs = signs.into_iter().filter(|(count, ..)| *count > 0);
    let mut signs: Vec<String> = signs
        .map(|(count, what, which)| format!("{} {which}", format::many(count as u64, what)))
        .collect();
    let last = signs.pop().unwrap_or_default();
    let others = match signs.is_empty() {
        true => String::new(),
        false => format!("{}, and ", signs.join(", ")),
    };
    finding.meaning = format!(
        "The operating system had no core for them: there were {others}{last}. There are more capabilities than cores, or other programs need them."
    )
    .into();
    finding.tries = tries(context, !hung.is_empty() || !late.is_empty());
    finding.distrust = "Waiting for a core costs nothing while all cores work; what collections wait does. If other programs needed the cores only this once, another log shows less of it.".into();
    finding.numbers = vec![
        (NOBODY.into(), Value::Ns(nobody_ns)),
        ("such collections".into(), Value::Count(hung.len() as u64)),
        (
            "collections that began late".into(),
            Value::Ns(late_sum(&late)),
        ),
        (
            "idle capabilities with a ready thread".into(),
            Value::Ns(waited_ns),
        ),
        ("long waits".into(), Value::Count(held_up.len() as u64)),
    ];
    let is_hung = |stop: &&GcPause<'_>| hung.iter().any(|(other, _)| std::ptr::eq(*other, *stop));
    let late = late
        .iter()
        .map(|(stop, _)| *stop)
        .filter(|stop| !is_hung(stop));
    let stops = hung.iter().map(|(stop, _)| *stop).chain(late);
    let stops = RuleContext::evidence_of(stops, |stop| Value::Ns(stop.all_ns()));
    finding.seen_in(held_up.iter().map(Wait::evidence).chain(stops))
}

/// What may help. To collect with one thread, or to run on one capability, makes programs that work
/// in parallel slower: `docs/findings.md` has some of them.
fn tries(context: &RuleContext<'_>, in_collections: bool) -> Vec<Try> {
    let is_serial = context.parallelism() <= MOSTLY_ONE;
    let busy = (context.parallelism().ceil() as u64).max(1);
    let mut tries = Vec::new();
    if busy < context.caps {
        tries.push(Try::flag(
            format!("-N{busy}"),
            format!(
                "Use no more capabilities than there are cores for them: while any ran, {:.1} did on average. Measure it. In a container with a CPU limit, -N alone counts all cores of the machine.",
                context.parallelism()
            ),
            "less parallel work, if there are more cores",
        ));
    }
    if in_collections && is_serial {
        tries.push(Try::flag(
            "-qg",
            "Collect with one thread, which waits for no other.",
            "large collections take longer",
        ));
    } else if in_collections && busy < context.caps {
        tries.push(Try::flag(
            format!("-qn{busy}"),
            "Collect with fewer threads.",
            "large collections may take longer",
        ));
    }
    tries.push(Try::code(
        "If other programs ran meanwhile, record the log again where nothing else needs the cores.",
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
        let parts =
            [quick.to_vec(), slow.to_vec()].map(|pieces| part((0, 100), pieces.into_iter()));
        assert_eq!(waited(&parts).nobody_ns, 75);
        // The same time with work in it is no wait.
        let busy = [(work, 0, 85), (idle, 85, 90), (done, 90, 100)];
        let parts =
            [quick.to_vec(), busy.to_vec()].map(|pieces| part((0, 100), pieces.into_iter()));
        assert_eq!(waited(&parts).nobody_ns, 0);
        // What the leader does when all are done is no wait, nor is a log that does not tell.
        let leader = [(work, 0, 10), (idle, 10, 11), (done, 11, 100)];
        let parts = [part((0, 100), leader.into_iter())];
        assert_eq!(waited(&parts).nobody_ns, 1);
        let parts = [part((0, 100), [(work, 0, 10), (idle, 10, 100)].into_iter())];
        assert_eq!(waited(&parts).nobody_ns, 0);
    }

    #[test]
    fn who_goes_on_late_is_late() {
        let late = [(Class::Gc, 0, 100), (Class::Returning, 100, 140)];
        assert_eq!(part((0, 100), late.into_iter()).late_ns, 40);
    }
}
