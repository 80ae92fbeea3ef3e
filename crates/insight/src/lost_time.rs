//! Where the time of all capabilities went, by cause: rows that sum to the account.
//!
//! The account of time has a class for every nanosecond of a capability. Two of its classes have
//! several causes, which are told apart here. *Idle while a thread was ready* is a long wait, if
//! some thread had been ready for more than a millisecond, and a hand-over else. *Idle with no
//! thread ready* is divided by how many capabilities ran; where none did, by the thread that
//! ran next. All sums are the account's, from its prefix sums. The division of two of them looks at
//! runs: of a log with more than half a million, at evenly spaced slices that hold about so many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::context::RuleContext;
use analysis::timeline::lives::RunOn;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::ids::{CapId, Nanos};
use model::class::{ManagerThread, WaitReason};
use model::lane::Lane;
use model::time::Interval;

/// A thread that is ready for longer waits for a capability that is busy or that does not take it;
/// a wakeup of another capability, with a sleeping OS thread, takes some tens of microseconds.
pub const LONG_WAIT_NS: u64 = 1_000_000;

/// So many runs are looked at within some tenths of a second, also in a browser.
const MOST_RUNS: u64 = 500_000;
/// Of more runs so many slices are looked at.
const SLICES: u64 = 256;

/// What a capability spent its time on, or lost it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It ran threads.
    Running,
    /// It collected garbage.
    Collecting,
    /// It had stopped for a collection, and others had not.
    GcSync,
    /// It had no work in a collection, or had not resumed after it.
    GcWaiting,
    /// The heap was counted for a profile.
    Census,
    /// It was idle beside a thread that had to wait for more than a millisecond.
    ReadyLong,
    /// It was idle beside threads that were ready for less.
    HandOver,
    /// It was idle, no thread was ready, and one other capability ran.
    Serial,
    /// It was idle, no thread was ready, and several others ran.
    FewThreads,
    /// No capability ran, until a timer ended a sleep or timeout.
    Sleeping,
    /// No capability ran, until a file was ready, a foreign call returned or one came in.
    Outside,
    /// No capability ran, and neither a timer nor anything outside of the program ended that.
    EachOther,
    /// Before the first run of any thread, and after the last.
    StartEnd,
    /// It did not exist, or the range lies outside of the log.
    Absent,
    /// The log does not tell.
    Unknown,
}

/// How many causes there are.
pub const CAUSES: usize = 15;

/// Nanoseconds of capabilities by [`Cause`].
pub type CauseTimes = [u64; CAUSES];

impl Cause {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; CAUSES] = [
        Self::Running,
        Self::Collecting,
        Self::GcSync,
        Self::GcWaiting,
        Self::Census,
        Self::ReadyLong,
        Self::HandOver,
        Self::Serial,
        Self::FewThreads,
        Self::Sleeping,
        Self::Outside,
        Self::EachOther,
        Self::StartEnd,
        Self::Absent,
        Self::Unknown,
    ];

    /// Whether a capability could have run the program instead, as far as the log tells.
    #[must_use]
    pub const fn is_lost(self) -> bool {
        !matches!(self, Self::Running | Self::Absent | Self::Unknown)
    }
}

/// A row of the lost time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostTime {
    /// What took the time.
    pub cause: Cause,
    /// Nanoseconds of all capabilities together: rows sum to capabilities × length of the range.
    pub cap_ns: u64,
    /// The same as nanoseconds of the program: divided by the number of capabilities.
    pub ns: u64,
    /// The share of all capability time, 0 to 1.
    pub share: f64,
    /// What findings claim of it, in nanoseconds of capabilities.
    pub claimed_cap_ns: u64,
    /// What no finding claims, in nanoseconds of capabilities.
    pub unexplained_cap_ns: u64,
}

/// The rows, of what there is and what nobody claimed.
#[must_use]
pub fn rows(all: &CauseTimes, left: &CauseTimes, caps: u64) -> Vec<LostTime> {
    let whole: u64 = all.iter().sum();
    let rows = Cause::ALL.into_iter().zip(all.iter().zip(left));
    let row = |(cause, (&cap_ns, &left))| LostTime {
        cause,
        cap_ns,
        ns: cap_ns / caps.max(1),
        share: cap_ns as f64 / whole.max(1) as f64,
        claimed_cap_ns: cap_ns.saturating_sub(left),
        unexplained_cap_ns: left,
    };
    rows.map(row).filter(|row| row.cap_ns > 0).collect()
}

/// The time of all capabilities of a scope, by cause. It sums to capabilities × length.
pub async fn by_cause(context: &RuleContext<'_>, yielder: &dyn Yield) -> CauseTimes {
    let mut times = CauseTimes::default();
    let all = context.times.all_caps();
    let life_ns = context.range.duration().0.saturating_mul(context.caps);
    times[Cause::Running as usize] = all.running_ns;
    times[Cause::Collecting as usize] = all.collecting_ns;
    times[Cause::GcSync as usize] = all.stopping_ns;
    times[Cause::GcWaiting as usize] = all.waiting_ns.saturating_add(all.coming_back_ns);
    times[Cause::Census as usize] = all.census_ns;
    times[Cause::Unknown as usize] = all.unknown_ns;
    times[Cause::Absent as usize] = life_ns.saturating_sub(all.life_ns);

    let inner = between_runs(context);
    let inside = context.log.times(Some(inner)).all_caps();
    let idle_ns = inside.all_idle_ns().min(all.all_idle_ns());
    times[Cause::StartEnd as usize] = all.all_idle_ns() - idle_ns;
    let slices = slices(context, inner);
    let long = long_share(context, &slices, yielder).await;
    let ready_ns = inside.idle_ready_ns.min(idle_ns);
    divide(
        ready_ns,
        &[(Cause::ReadyLong, long), (Cause::HandOver, 1.0 - long)],
        &mut times,
    );
    divide_idle(
        context,
        (inner, idle_ns - ready_ns),
        &slices,
        yielder,
        &mut times,
    )
    .await;
    times
}

/// The part of the scope from the first run of any thread in the log to the end of the last.
fn between_runs(context: &RuleContext<'_>) -> Interval {
    let lanes = context
        .cap_ids()
        .filter_map(|cap| context.log.store.cap(cap));
    let spans = lanes.filter_map(|lane| {
        let last = lane.runs.len().checked_sub(1)?;
        Some(Interval::new(
            Nanos(lane.runs.start(0)),
            Nanos(lane.runs.span(last).1),
        ))
    });
    let all = spans.reduce(Interval::hull);
    let inner = all.and_then(|all| all.intersection(context.range));
    inner.unwrap_or_else(|| Interval::new(context.range.start(), context.range.start()))
}

/// Divides a time by weights; the last one with any weight takes what is left over.
fn divide(all_ns: u64, weights: &[(Cause, f64)], times: &mut CauseTimes) {
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let last = weights.iter().rposition(|(_, weight)| *weight > 0.0);
    let last = last.unwrap_or(weights.len().saturating_sub(1));
    let mut left_ns = all_ns;
    for (place, (cause, weight)) in weights.iter().enumerate() {
        let part_ns = if place == last {
            left_ns
        } else if sum > 0.0 {
            ((all_ns as f64 * weight / sum).round() as u64).min(left_ns)
        } else {
            0
        };
        left_ns -= part_ns;
        times[*cause as usize] += part_ns;
    }
}

/// What is looked at of the range: all of it, or slices of which all together have about as many
/// runs as may be looked at.
fn slices(context: &RuleContext<'_>, inner: Interval) -> Vec<Interval> {
    let runs = context.runs();
    if runs <= MOST_RUNS {
        return vec![inner];
    }
    let (start, length) = (inner.start().0, inner.duration().0);
    let step = (length / SLICES).max(1);
    let width = (step as f64 * MOST_RUNS as f64 / runs as f64).ceil() as u64;
    let from = (0..SLICES).map(|slice| start + slice * step);
    from.map(|from| Interval::new(Nanos(from), Nanos((from + width).min(inner.end().0))))
        .collect()
}

/// The share of the idle time with a thread ready in which one was ready for long.
async fn long_share(context: &RuleContext<'_>, slices: &[Interval], yielder: &dyn Yield) -> f64 {
    let (mut long_ns, mut all_ns) = (0_u64, 0_u64);
    for slice in slices {
        let all = context.log.times(Some(*slice)).all_caps().idle_ready_ns;
        if all == 0 {
            continue;
        }
        let mut waits = long_waits(context, *slice, yielder).await;
        sort(&mut waits, yielder).await;
        long_ns += context
            .idle_in(&union(&waits), yielder)
            .await
            .ready_ns
            .min(all);
        all_ns += all;
    }
    long_ns as f64 / all_ns.max(1) as f64
}

/// When threads were ready for long outside of collections, as far as it lies in a slice.
async fn long_waits(
    context: &RuleContext<'_>,
    slice: Interval,
    yielder: &dyn Yield,
) -> Vec<(u64, u64)> {
    /// Of waits that reach beyond the slice, those of so many later runs are looked at.
    const LATER: usize = 64;
    let pauses = context.log.store.account().pauses();
    let (mut waits, mut steps) = (Vec::new(), Steps::new(yielder));
    for cap in context.cap_ids() {
        let later = Interval::new(slice.start(), Nanos(u64::MAX));
        let mut beyond = 0;
        for (_, run) in context.log.store.runs_over(cap, later) {
            steps.step().await;
            beyond += usize::from(run.start_ns >= slice.end().0);
            if beyond > LATER {
                break;
            }
            let from = run.start_ns.saturating_sub(run.ready_ns.unwrap_or(0));
            let ready_ns = run.start_ns - from;
            if ready_ns > LONG_WAIT_NS
                && ready_ns - pauses.still_in(from, run.start_ns).min(ready_ns) > LONG_WAIT_NS
            {
                waits.push((from.max(slice.start().0), run.start_ns.min(slice.end().0)));
            }
        }
    }
    waits.retain(|(from, to)| from < to);
    waits
}

/// Stretches in which any of some spans lies, which are in order of their starts.
pub(crate) fn union(spans: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for &(from, to) in spans {
        match all.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

/// Divides the idle time with no thread ready.
async fn divide_idle(
    context: &RuleContext<'_>,
    (inner, idle_ns): (Interval, u64),
    slices: &[Interval],
    yielder: &dyn Yield,
    times: &mut CauseTimes,
) {
    let whole = [(inner.start().0, inner.end().0)];
    let parts = context.idle_in(&whole, yielder).await;
    let serial_ns = parts.serial_ns.min(idle_ns);
    let few_ns = parts.several_ns.min(idle_ns - serial_ns);
    let nobody_ns = idle_ns - serial_ns - few_ns;
    times[Cause::Serial as usize] += serial_ns;
    times[Cause::FewThreads as usize] += few_ns;
    if nobody_ns == 0 {
        return;
    }
    let mut ended = [0_u64; 3];
    for slice in slices {
        gaps(context, *slice, &mut ended, yielder).await;
    }
    let [sleeping, outside, each_other] = ended.map(|ns| ns as f64);
    let weights = [
        (Cause::Sleeping, sleeping),
        (Cause::EachOther, each_other),
        (Cause::Outside, outside),
    ];
    divide(nobody_ns, &weights, times);
}

/// What ended a gap in which no capability ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Timer = 0,
    Outside = 1,
    Threads = 2,
}

/// What let a thread run while none was ready: its label, and the turn with its run.
pub(crate) fn ended_by(label: Option<&str>, turn: Option<&WaitRunCycle>) -> Ended {
    match label.and_then(ManagerThread::from_label) {
        Some(ManagerThread::Timer) => return Ended::Timer,
        Some(ManagerThread::Io) => return Ended::Outside,
        None => {}
    }
    match turn.and_then(WaitRunCycle::wait_reason) {
        Some(WaitReason::Delay) => Ended::Timer,
        Some(reason) if reason.is_for_thread() => Ended::Threads,
        // A thread that is new is a call from outside.
        _ => Ended::Outside,
    }
}

/// A run of a thread, as [`each_run`] tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyRun {
    pub cap: CapId,
    /// Its place among the runs of the capability.
    pub place: usize,
    pub run: RunOn,
    /// For how long no capability had run before, and no thread had been ready: from when, to
    /// when, and how many nanoseconds of it are outside of collections.
    pub nobody: Option<(u64, u64, u64)>,
}

/// Tells of each run of any capability in a slice, and of the one after it, in order of time.
pub(crate) async fn each_run(
    context: &RuleContext<'_>,
    slice: Interval,
    yielder: &dyn Yield,
    tell: &mut dyn FnMut(AnyRun),
) {
    let store = &context.log.store;
    let pauses = store.account().pauses();
    let caps: Vec<CapId> = context.cap_ids().collect();
    // The run after the slice ends a gap that reaches beyond it.
    let later = Interval::new(slice.start(), Nanos(u64::MAX));
    let mut lanes: Vec<_> = caps
        .iter()
        .map(|cap| store.runs_over(*cap, later))
        .collect();
    let mut next: Vec<Option<(usize, RunOn)>> = lanes.iter_mut().map(Iterator::next).collect();
    let mut order: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let start = |run: &Option<(usize, RunOn)>| run.map(|(_, run)| run.start_ns);
    order.extend(
        (0..)
            .zip(&next)
            .filter_map(|(lane, run)| Some(Reverse((start(run)?, lane)))),
    );
    let (mut until, mut steps) = (slice.start().0, Steps::new(yielder));
    while let Some(Reverse((_, lane))) = order.pop() {
        steps.step().await;
        let Some((place, run)) = next[lane] else {
            break;
        };
        let mut nobody = None;
        if until < run.start_ns.min(slice.end().0) {
            let ready_from = run.start_ns.saturating_sub(run.ready_ns.unwrap_or(0));
            let to = ready_from.min(slice.end().0).max(until);
            let ns = (to - until).saturating_sub(pauses.still_in(until, to));
            nobody = (ns > 0).then_some((until, to, ns));
        }
        tell(AnyRun {
            cap: caps[lane],
            place,
            run,
            nobody,
        });
        if run.start_ns >= slice.end().0 {
            break;
        }
        until = until.max(run.end_ns);
        next[lane] = lanes[lane].next();
        order.extend(start(&next[lane]).map(|start| Reverse((start, lane))));
    }
}

/// For how long no capability ran in a slice and no thread was ready, by what ended that.
async fn gaps(
    context: &RuleContext<'_>,
    slice: Interval,
    ended: &mut [u64; 3],
    yielder: &dyn Yield,
) {
    let store = &context.log.store;
    let mut tell = |one: AnyRun| {
        if let Some((_, _, ns)) = one.nobody {
            let label = store.label_of(one.run.thread);
            let turn = store.turn_of_run(one.cap, one.place);
            ended[ended_by(label, turn.as_ref()) as usize] += ns;
        }
    };
    each_run(context, slice, yielder, &mut tell).await;
}

/// For how long capabilities were idle in some stretches, in nanoseconds of capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleParts {
    /// While a thread was ready.
    pub ready_ns: u64,
    /// With none ready, while one capability ran.
    pub serial_ns: u64,
    /// With none ready, while several ran.
    pub several_ns: u64,
    /// With none ready, while none ran.
    pub nobody_ns: u64,
}

impl IdleParts {
    /// All of it.
    #[must_use]
    pub const fn all_ns(&self) -> u64 {
        (self.ready_ns.saturating_add(self.serial_ns))
            .saturating_add(self.several_ns.saturating_add(self.nobody_ns))
    }

    /// A share of each part.
    #[must_use]
    pub fn times(&self, share: f64) -> Self {
        let part = |ns: u64| (ns as f64 * share) as u64;
        Self {
            ready_ns: part(self.ready_ns),
            serial_ns: part(self.serial_ns),
            several_ns: part(self.several_ns),
            nobody_ns: part(self.nobody_ns),
        }
    }
}

impl RuleContext<'_> {
    /// How capabilities were idle in stretches that are in order and do not overlap.
    pub async fn idle_in(&self, stretches: &[(u64, u64)], yielder: &dyn Yield) -> IdleParts {
        let mut parts = IdleParts::default();
        let (mut walker, mut steps) = (self.log.store.account().walker(), Steps::new(yielder));
        for &(from, to) in stretches {
            steps.step().await;
            let before = walker.totals(Nanos(from));
            let totals = walker.totals(Nanos(to)).since(&before);
            parts.ready_ns += totals.idle_ready_ns.iter().sum::<u64>();
            let [nobody_ns, serial_ns, several_ns] = totals.idle_ns;
            parts.nobody_ns += nobody_ns;
            parts.serial_ns += serial_ns;
            parts.several_ns += several_ns;
        }
        parts
    }
}
