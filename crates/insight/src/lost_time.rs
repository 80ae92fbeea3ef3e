//! Time of all capabilities by cause: rows that sum to the account of time.
//!
//! The account assigns a class to every nanosecond of a capability. Two of its classes have several causes, which
//! are separated here. *Idle while a thread was ready* is a long wait if some thread was ready for more than a
//! millisecond, otherwise a hand-over. *Idle with no thread ready* is divided by the number of running
//! capabilities; where none ran, by the cause that ended the gap.
//!
//! All sums come from the account's prefix sums. Only the division of the two classes looks at single runs; in a
//! log with more than half a million runs, it looks at evenly spaced slices with about that many.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};
use std::mem;

use serde::{Deserialize, Serialize};

use crate::context::RuleContext;
use analysis::account::runs::Cap;
use analysis::timeline::lives::RunOnCap;
use analysis::timeline::turns::Turn;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{Class, ManagerThread, WaitReason};
use model::lane::Lane;
use model::time::Interval;

/// Limit above which a wait counts as long: the capability is busy or does not take the thread. Waking another
/// capability, with a sleeping OS thread, takes only tens of microseconds.
pub const LONG_WAIT_NS: u64 = 1_000_000;

/// This many runs take a few tenths of a second, even in a browser.
const MAX_RUNS: u64 = 500_000;
/// Number of slices to look at in a log with more than [`MAX_RUNS`] runs.
const SLICES: u64 = 256;

model::named_enum! {
    /// Use or loss of a capability's time.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Cause {
        /// Running threads.
        Running: "Running threads";
        /// Collecting garbage.
        Collecting: "GC work";
        /// Stopped for a collection, waiting for other capabilities to stop.
        GcSync: "GC sync: stopped, others still running";
        /// Without work in a collection, or not yet resumed after it though a thread waited for the capability.
        GcWaiting: "GC wait: no GC work, or resuming";
        /// Heap census for a profile.
        Census: "Heap census";
        /// Idle while some thread was ready for more than a millisecond.
        ReadyLong: "Idle, a thread ready for > 1 ms";
        /// Idle while threads were ready, each for at most a millisecond.
        HandOver: "Idle, a thread ready for ≤ 1 ms (hand-overs)";
        /// Idle with no thread ready, while one other capability ran.
        Serial: "Idle, 1 capability busy (serial)";
        /// Idle with no thread ready, while several others ran.
        FewThreads: "Idle, ≥ 2 capabilities busy";
        /// No capability ran until a timer ended a sleep or timeout.
        Sleeping: "All idle, until a timer";
        /// No capability ran until a file was ready, a foreign call returned, or foreign code called in.
        Outside: "All idle, until I/O or a foreign call";
        /// No capability ran until another thread ended a wait, not a timer or an event outside the program.
        EachOther: "All idle, threads blocked on each other";
        /// Idle before the first run of any thread, or after the last.
        StartEnd: "Before the first and after the last run";
        /// The capability did not exist, or the range exceeds the log.
        Absent: "No capability";
        /// Not covered by the log.
        Unknown: "Unknown: not in the log";
    }
    /// Returns the label of the row.
    fn title;
}

/// Number of causes.
pub const CAUSES: usize = Cause::ALL.len();

/// Capability nanoseconds by [`Cause`].
pub type CauseTimes = [u64; CAUSES];

impl Cause {
    /// Returns whether the capability could have run the program instead, as far as the log shows.
    pub const fn is_lost(self) -> bool {
        !matches!(self, Self::Running | Self::Absent | Self::Unknown)
    }
}

/// Time of all capabilities for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostTime {
    /// Cause of the row.
    pub cause: Cause,
    /// Nanoseconds summed over capabilities; all rows add up to capabilities × length of the range.
    pub cap_ns: u64,
    /// `cap_ns` divided by the number of capabilities.
    pub ns: u64,
    /// Share of all capability time, from 0 to 1.
    pub share: f64,
    /// Part claimed by findings, in capability nanoseconds.
    pub claimed_cap_ns: u64,
    /// Part that no finding claims, in capability nanoseconds.
    pub unexplained_cap_ns: u64,
}

/// Builds the rows from all time and the unclaimed time by cause; causes without time have no row.
pub fn rows(all: &CauseTimes, unclaimed: &CauseTimes, caps: u64) -> Vec<LostTime> {
    let whole: u64 = all.iter().sum();
    let rows = Cause::ALL.into_iter().zip(all.iter().zip(unclaimed));
    let row = |(cause, (&cap_ns, &unclaimed))| LostTime {
        cause,
        cap_ns,
        ns: cap_ns / caps.max(1),
        share: cap_ns as f64 / whole.max(1) as f64,
        claimed_cap_ns: cap_ns.saturating_sub(unclaimed),
        unexplained_cap_ns: unclaimed,
    };
    rows.map(row).filter(|row| row.cap_ns > 0).collect()
}

/// Divides the time of all capabilities by cause. The result sums to capabilities × length of the range.
pub async fn by_cause(context: &RuleContext<'_>) -> CauseTimes {
    let mut times = CauseTimes::default();
    let all = context.times.all_caps();
    let life_ns = context.range.duration().0.saturating_mul(context.caps);
    times[Cause::Running as usize] = all.running_ns;
    times[Cause::Collecting as usize] = all.collecting_ns;
    times[Cause::GcSync as usize] = all.stopping_ns;
    let late = resumed_without_work(context).await;
    let late_ready_ns = late.ready_ns.min(all.returning_ns);
    let late_serial_ns = late.serial_ns.min(all.returning_ns - late_ready_ns);
    let gc_wait_ns = all.waiting_ns.saturating_add(all.returning_ns);
    times[Cause::GcWaiting as usize] = gc_wait_ns - late_ready_ns - late_serial_ns;
    times[Cause::ReadyLong as usize] = late_ready_ns;
    times[Cause::Serial as usize] = late_serial_ns;
    if context.caps == 1 {
        // It waits for nobody: the collection compacts, or frees memory.
        times[Cause::Collecting as usize] += mem::take(&mut times[Cause::GcWaiting as usize]);
    }
    times[Cause::Census as usize] = all.census_ns;
    times[Cause::Unknown as usize] = all.unknown_ns;
    times[Cause::Absent as usize] = life_ns.saturating_sub(all.life_ns);

    let inner = between_runs(context);
    let inside = context.log.times(Some(inner)).all_caps();
    let idle_ns = inside.all_idle_ns().min(all.all_idle_ns());
    times[Cause::StartEnd as usize] = all.all_idle_ns() - idle_ns;
    let slices = slices(context, inner);
    let long = long_share(context, &slices).await;
    let ready_ns = inside.idle_work_available_ns.min(idle_ns);
    divide(
        ready_ns,
        &[(Cause::ReadyLong, long), (Cause::HandOver, 1.0 - long)],
        &mut times,
    );
    divide_idle(context, (inner, idle_ns - ready_ns), &slices, &mut times).await;
    times
}

/// Time in which capabilities seem to resume after collections, but run nothing afterward.
#[derive(Default)]
struct LateWithoutWork {
    /// While threads were ready, for other capabilities.
    ready_ns: u64,
    /// While no thread was ready.
    serial_ns: u64,
}

/// Returns the time in which capabilities seem to resume after collections but have nothing to run, while another one
/// runs: the OS thread of an idle capability may log the end of a collection only when the next one wakes it.
async fn resumed_without_work(context: &RuleContext<'_>) -> LateWithoutWork {
    /// The next run starts at most this long after the capability has resumed, if a thread was waiting for it.
    const AT_ONCE_NS: u64 = 50_000;
    /// Shorter times are left as they are: many of them are little.
    const MIN_NS: u64 = 20_000;
    let store = &context.log.store;
    let mut cursor = store.account().sweep_cursor();
    let (mut sums, mut steps) = (LateWithoutWork::default(), context.steps());
    for cap in context.cap_ids() {
        let (Some(gc_spans), Some(lane)) = (store.account().gc_spans_of(cap), store.cap(cap))
        else {
            continue;
        };
        for (_, gc) in context.collections_where(|_| true) {
            steps.step().await;
            let index = gc_spans.first_ending_after(gc.pause.end.0);
            if index >= gc_spans.len() || gc_spans.class(index) != Class::Returning {
                continue;
            }
            let (from, to) = gc_spans.span(index);
            let next = lane.runs.first_ending_after(to);
            let has_work =
                next < lane.runs.len() && lane.runs.start(next) <= to.saturating_add(AT_ONCE_NS);
            let late = Interval::new(Nanos(from), Nanos(to)).intersection(context.range);
            let is_late = |late: &Interval| {
                !has_work && late.duration().0 >= MIN_NS && another_runs(context, cap, *late)
            };
            let Some(late) = late.filter(is_late) else {
                continue;
            };
            let late_ns = late.duration().0;
            let ready = cursor.levels_in(late.start(), late.end()).ready;
            let sum = match ready.sum_ns >= late_ns / 2 {
                true => &mut sums.ready_ns,
                false => &mut sums.serial_ns,
            };
            *sum = sum.saturating_add(late_ns);
        }
    }
    sums
}

/// Returns whether some other capability runs for most of a span.
fn another_runs(context: &RuleContext<'_>, cap: CapId, span: Interval) -> bool {
    let others = context.cap_ids().filter(|other| *other != cap);
    let lanes = others.filter_map(|other| context.log.store.cap(other));
    let ran_ns = |lane: &Cap| lane.runs.time_in(span).into_iter().sum::<u64>();
    lanes
        .map(ran_ns)
        .any(|ran_ns| ran_ns > span.duration().0 / 2)
}

/// Returns the part of the range from the first run of any thread in the log to the end of the last one.
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

/// Divides a time by weights. The last cause with any weight gets the rounding rest.
fn divide(all_ns: u64, weights: &[(Cause, f64)], times: &mut CauseTimes) {
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let last = weights.iter().rposition(|(_, weight)| *weight > 0.0);
    let last = last.unwrap_or(weights.len().saturating_sub(1));
    let mut rest_ns = all_ns;
    for (index, (cause, weight)) in weights.iter().enumerate() {
        let part_ns = if index == last {
            rest_ns
        } else if sum > 0.0 {
            ((all_ns as f64 * weight / sum).round() as u64).min(rest_ns)
        } else {
            0
        };
        rest_ns -= part_ns;
        times[*cause as usize] += part_ns;
    }
}

/// Returns the parts of the range to sample: all of it, or slices that together have about [`MAX_RUNS`] runs.
fn slices(context: &RuleContext<'_>, inner: Interval) -> Vec<Interval> {
    let runs = context.runs();
    if runs <= MAX_RUNS {
        return vec![inner];
    }
    let (start, length) = (inner.start().0, inner.duration().0);
    let step = (length / SLICES).max(1);
    let width = (step as f64 * MAX_RUNS as f64 / runs as f64).ceil() as u64;
    let from = (0..SLICES).map(|slice| start + slice * step);
    from.map(|from| Interval::new(Nanos(from), Nanos((from + width).min(inner.end().0))))
        .collect()
}

/// Returns the share of the idle time with a thread ready in which one was ready for long.
async fn long_share(context: &RuleContext<'_>, slices: &[Interval]) -> f64 {
    let (mut long_ns, mut all_ns) = (0_u64, 0_u64);
    for slice in slices {
        let all = context
            .log
            .times(Some(*slice))
            .all_caps()
            .idle_work_available_ns;
        if all == 0 {
            continue;
        }
        let waits = long_waits(context, *slice).await;
        let waits = context.stretches(waits).await;
        long_ns += context.idle_in(&waits).await.ready_ns.min(all);
        all_ns += all;
    }
    long_ns as f64 / all_ns.max(1) as f64
}

/// Returns the long waits of ready threads, not counting collections, clipped to a slice.
async fn long_waits(context: &RuleContext<'_>, slice: Interval) -> Vec<(u64, u64)> {
    /// Number of runs after the slice to check for waits that began in it.
    const LATER: usize = 64;
    let (mut waits, mut steps) = (Vec::new(), context.steps());
    for cap in context.cap_ids() {
        let later = Interval::new(slice.start(), Nanos(u64::MAX));
        let mut beyond = 0;
        for (_, run) in context.log.store.runs_overlapping(cap, later) {
            steps.step().await;
            beyond += usize::from(run.start_ns >= slice.end().0);
            if beyond > LATER {
                break;
            }
            let from = run.start_ns.saturating_sub(run.ready_ns.unwrap_or(0));
            let is_long = run.start_ns - from > LONG_WAIT_NS;
            if is_long && context.unpaused_ns((from, run.start_ns)) > LONG_WAIT_NS {
                waits.push((from.max(slice.start().0), run.start_ns.min(slice.end().0)));
            }
        }
    }
    waits.retain(|(from, to)| from < to);
    waits
}

/// Returns how much of a span lies in stretches, which are sorted and disjoint.
pub(crate) fn overlap_ns((from, to): (u64, u64), stretches: &[(u64, u64)]) -> u64 {
    let first = stretches.partition_point(|stretch| stretch.1 <= from);
    let near = stretches
        .iter()
        .skip(first)
        .take_while(|stretch| stretch.0 < to);
    near.map(|stretch| stretch.1.min(to) - stretch.0.max(from))
        .sum()
}

/// Divides the idle time with no thread ready.
async fn divide_idle(
    context: &RuleContext<'_>,
    (inner, idle_ns): (Interval, u64),
    slices: &[Interval],
    times: &mut CauseTimes,
) {
    let whole = [(inner.start().0, inner.end().0)];
    let parts = context.idle_in(&whole).await;
    let serial_ns = parts.serial_ns.min(idle_ns);
    let few_ns = parts.several_ns.min(idle_ns - serial_ns);
    let none_running_ns = idle_ns - serial_ns - few_ns;
    times[Cause::Serial as usize] += serial_ns;
    times[Cause::FewThreads as usize] += few_ns;
    if none_running_ns == 0 {
        return;
    }
    let mut ns_by_end = [0_u64; 3];
    // A sample is too short to tell them from other threads, and the whole of such a log takes too long.
    let none = BTreeSet::new();
    let heartbeats = match context.runs() <= MAX_RUNS {
        true => context.heartbeats().await,
        false => &none,
    };
    for slice in slices {
        add_gaps(context, (*slice, heartbeats), &mut ns_by_end).await;
    }
    let [sleeping, outside, each_other] = ns_by_end.map(|ns| ns as f64);
    let weights = [
        (Cause::Sleeping, sleeping),
        (Cause::EachOther, each_other),
        (Cause::Outside, outside),
    ];
    divide(none_running_ns, &weights, times);
}

/// Kind of event that ended a gap in which no capability ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GapEnd {
    Timer = 0,
    Outside = 1,
    Threads = 2,
}

impl GapEnd {
    /// Returns the cause of lost time in gaps with this end.
    pub(crate) const fn cause(self) -> Cause {
        match self {
            Self::Timer => Cause::Sleeping,
            Self::Outside => Cause::Outside,
            Self::Threads => Cause::EachOther,
        }
    }
}

/// Classifies the end of a gap by the label of the thread that runs next and the turn of that run.
pub(crate) fn gap_end(label: Option<&str>, turn: Option<&Turn>) -> GapEnd {
    match label.and_then(ManagerThread::from_label) {
        Some(ManagerThread::Timer) => return GapEnd::Timer,
        Some(ManagerThread::Io) => return GapEnd::Outside,
        None => {}
    }
    match turn.and_then(Turn::wait_reason) {
        Some(WaitReason::Delay) => GapEnd::Timer,
        Some(reason) if reason.is_for_thread() => GapEnd::Threads,
        // A new thread comes from a call by foreign code.
        _ => GapEnd::Outside,
    }
}

/// Run of a thread, with the gap before it, for [`each_run`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunWithGap {
    pub cap: CapId,
    /// Index on the lane of the capability.
    pub index: usize,
    pub run: RunOnCap,
    /// Gap before the run in which no capability ran and no thread was ready: start, end, and nanoseconds outside
    /// collections.
    pub idle_gap: Option<(u64, u64, u64)>,
}

/// Calls `visit` for each run of any capability in a slice, and for the first one after it, in order of time.
pub(crate) async fn each_run(
    context: &RuleContext<'_>,
    slice: Interval,
    visit: &mut dyn FnMut(RunWithGap),
) {
    let store = &context.log.store;
    let caps: Vec<CapId> = context.cap_ids().collect();
    // The run after the slice may end a gap that starts in it.
    let later = Interval::new(slice.start(), Nanos(u64::MAX));
    let mut lanes: Vec<_> = caps
        .iter()
        .map(|cap| store.runs_overlapping(*cap, later))
        .collect();
    let mut next: Vec<Option<(usize, RunOnCap)>> = lanes.iter_mut().map(Iterator::next).collect();
    let mut order: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let start = |run: &Option<(usize, RunOnCap)>| run.map(|(_, run)| run.start_ns);
    order.extend(
        (0..)
            .zip(&next)
            .filter_map(|(lane, run)| Some(Reverse((start(run)?, lane)))),
    );
    let (mut until, mut steps) = (slice.start().0, context.steps());
    while let Some(&Reverse((_, lane))) = order.peek() {
        steps.step().await;
        let Some((index, run)) = next[lane] else {
            break;
        };
        let mut idle_gap = None;
        if until < run.start_ns.min(slice.end().0) {
            let ready_from = run.start_ns.saturating_sub(run.ready_ns.unwrap_or(0));
            let to = ready_from.min(slice.end().0).max(until);
            let ns = context.unpaused_ns((until, to));
            idle_gap = (ns > 0).then_some((until, to, ns));
        }
        visit(RunWithGap {
            cap: caps[lane],
            index,
            run,
            idle_gap,
        });
        if run.start_ns >= slice.end().0 {
            break;
        }
        until = until.max(run.end_ns);
        next[lane] = lanes[lane].next();
        match (start(&next[lane]), order.peek_mut()) {
            (Some(start), Some(mut first)) => *first = Reverse((start, lane)),
            (_, Some(first)) => {
                PeekMut::pop(first);
            }
            (_, None) => {}
        }
    }
}

/// Adds the time in a slice with no capability running and no thread ready, by what ended it. A heartbeat ends
/// nothing: the program still waits for what ends a later gap.
async fn add_gaps(
    context: &RuleContext<'_>,
    (slice, heartbeats): (Interval, &BTreeSet<ThreadId>),
    ns_by_end: &mut [u64; 3],
) {
    let store = &context.log.store;
    // Ends and lengths of the gaps since a thread of the program ran.
    let mut open: Vec<(GapEnd, u64)> = Vec::new();
    let mut beaten_ns = 0;
    let mut visit = |one: RunWithGap| {
        let thread = one.run.thread;
        if let Some((_, _, ns)) = one.idle_gap {
            let turn = store.turn_of_run(one.cap, one.index);
            open.push((gap_end(store.label_of(thread), turn.as_ref()), ns));
        }
        if heartbeats.contains(&thread) {
            beaten_ns += open.drain(..).map(|(_, ns)| ns).sum::<u64>();
        } else if !context.is_runtime_thread(thread) {
            let last = open.last().map_or(GapEnd::Timer, |(end, _)| *end);
            ns_by_end[last as usize] += mem::take(&mut beaten_ns);
            for (end, ns) in open.drain(..) {
                ns_by_end[end as usize] += ns;
            }
        }
    };
    each_run(context, slice, &mut visit).await;
    ns_by_end[GapEnd::Timer as usize] += beaten_ns;
    for (end, ns) in open {
        ns_by_end[end as usize] += ns;
    }
}

/// Idle time in some stretches, in capability nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleParts {
    /// Idle while a thread was ready.
    pub ready_ns: u64,
    /// No thread ready, one capability running.
    pub serial_ns: u64,
    /// No thread ready, several capabilities running.
    pub several_ns: u64,
    /// No thread ready, no capability running.
    pub none_running_ns: u64,
}

impl IdleParts {
    /// Returns the sum of the parts, saturating.
    pub const fn all_ns(&self) -> u64 {
        (self.ready_ns.saturating_add(self.serial_ns))
            .saturating_add(self.several_ns.saturating_add(self.none_running_ns))
    }

    /// Scales each part by a share.
    pub fn scaled(&self, share: f64) -> Self {
        let part = |ns: u64| (ns as f64 * share) as u64;
        Self {
            ready_ns: part(self.ready_ns),
            serial_ns: part(self.serial_ns),
            several_ns: part(self.several_ns),
            none_running_ns: part(self.none_running_ns),
        }
    }
}

impl RuleContext<'_> {
    /// Merges spans into stretches, which are sorted and disjoint.
    pub(crate) async fn stretches(&self, mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        self.sort(&mut spans).await;
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (from, to) in spans {
            match all.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => all.push((from, to)),
            }
        }
        all
    }

    /// Returns the idle time in stretches, which must be sorted and disjoint.
    pub async fn idle_in(&self, stretches: &[(u64, u64)]) -> IdleParts {
        let mut parts = IdleParts::default();
        let (mut sweep_cursor, mut steps) = (self.log.store.account().sweep_cursor(), self.steps());
        for &(from, to) in stretches {
            steps.step().await;
            let before = sweep_cursor.totals(Nanos(from));
            let totals = sweep_cursor.totals(Nanos(to)).since(&before);
            parts.ready_ns += totals.idle_work_available_ns.iter().sum::<u64>();
            let [none_running_ns, serial_ns, several_ns] = totals.idle_ns;
            parts.none_running_ns += none_running_ns;
            parts.serial_ns += serial_ns;
            parts.several_ns += several_ns;
        }
        parts
    }
}
