//! Helpers for rules about threads: iteration without the runtime's own threads, sums over all threads, and waits
//! that overlap idle capabilities.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::context::RuleContext;
use crate::finding::{Evidence, Subject, Value};
use analysis::account::pauses::Pause;
use analysis::process::Change;
use analysis::timeline::RunCursor;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::{PARTS, Turn};
use analysis::timeline::user_spans::UserSpan;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{ManagerThread, WaitReason};
use model::format;
use model::lane::Lane;
use model::sorting::CompactSort;
use model::time::Interval;

/// Stretch of time in which a thread could not run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClippedWait {
    pub thread: ThreadId,
    /// Capability of the run after the wait, if there was one.
    pub cap: Option<CapId>,
    pub range: Interval,
    /// Part that counts, in nanoseconds; less than the range if collections overlap it.
    pub ns: u64,
}

impl ClippedWait {
    pub(crate) fn evidence(&self) -> Evidence {
        let cap = self.cap.map(Subject::Capability);
        Evidence {
            range: self.range,
            subjects: std::iter::once(Subject::Thread(self.thread))
                .chain(cap)
                .collect(),
            amount: Value::Ns(self.ns),
        }
    }

    pub(crate) const fn span(&self) -> (u64, u64) {
        (self.range.start().0, self.range.end().0)
    }
}

/// Several waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitSum {
    /// Hull of their ranges.
    pub range: Interval,
    pub count: u64,
    pub ns: u64,
}

impl WaitSum {
    const fn new(range: Interval) -> Self {
        Self {
            range,
            count: 0,
            ns: 0,
        }
    }

    fn add(&mut self, wait: &ClippedWait) {
        self.range = self.range.hull(wait.range);
        self.count += 1;
        self.ns = self.ns.saturating_add(wait.ns);
    }

    pub(crate) fn evidence(&self, thread: ThreadId) -> Evidence {
        Evidence::for_thread(thread, self.range, Value::Ns(self.ns))
    }
}

/// Aggregates waits into one piece of evidence for each list of threads, such as the waiting one and the one that it
/// waits for.
pub(crate) fn evidence_by_threads<'a, const N: usize>(
    waits: impl Iterator<Item = ([ThreadId; N], &'a ClippedWait)>,
) -> Vec<Evidence> {
    let mut sums: BTreeMap<[ThreadId; N], WaitSum> = BTreeMap::new();
    for (threads, wait) in waits {
        let sum = sums.entry(threads).or_insert(WaitSum::new(wait.range));
        sum.add(wait);
    }
    let evidence = |(threads, sum): ([ThreadId; N], WaitSum)| Evidence {
        subjects: threads.map(Subject::Thread).into(),
        ..Evidence::new(sum.range, Value::Ns(sum.ns))
    };
    sums.into_iter().map(evidence).collect()
}

/// Returns whether a label is that of a runtime thread, which waits for files and time, or of a ghc-stack-profiler
/// thread, which waits for its next sample. Such waits are normal.
pub fn is_runtime_label(label: &str) -> bool {
    let is_sampler = ["Sample Profiler Thread ", "Stack Sampler "]
        .into_iter()
        .any(|begin| label.starts_with(begin));
    is_sampler || ManagerThread::from_label(label).is_some()
}

/// Thread of the program that was created and finished in the range. Ordered by start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FinishedThread {
    pub life: Interval,
    pub thread: ThreadId,
    pub ran_ns: u64,
}

impl FinishedThread {
    /// Returns the life as evidence, with the run time as its amount.
    pub(crate) fn evidence(&self) -> Evidence {
        Evidence::for_thread(self.thread, self.life, Value::Ns(self.ran_ns))
    }
}

/// Turn of a thread: a wait, and the run after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadTurn<'a> {
    pub life: &'a ThreadLane<'a>,
    /// Number of the turn in that life.
    number: usize,
    turn: &'a Turn,
}

impl ThreadTurn<'_> {
    pub(crate) fn thread(&self) -> ThreadId {
        self.life.id()
    }

    /// Returns the capability of the run.
    pub(crate) fn cap(&self) -> Option<CapId> {
        self.life.cap(PARTS * self.number + 2)
    }

    /// Returns the thread that evaluates the thunk that the thread waits for.
    pub(crate) fn owner(&self) -> Option<ThreadId> {
        self.life.owner(PARTS * self.number)
    }
}

impl Deref for ThreadTurn<'_> {
    type Target = Turn;

    fn deref(&self) -> &Turn {
        self.turn
    }
}

/// Formats the sum of the waits of some threads, which may exceed the length of the log.
pub(crate) fn summed(threads: usize, ns: u64) -> String {
    let ns = format::duration_ns(ns);
    match threads {
        1 => format!("{ns} in all"),
        _ => format!("{ns} summed over threads"),
    }
}

/// Returns the median of numbers, which it rearranges: of an even number of them, the upper one; 0 if there are none.
pub(crate) fn median(numbers: &mut [u64]) -> u64 {
    let middle = numbers.len() / 2;
    match numbers.is_empty() {
        true => 0,
        false => *numbers.select_nth_unstable(middle).1,
    }
}

/// Statistics of the runs of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunStatistics {
    /// Median length of the runs.
    pub median_ns: u64,
    pub all_ns: u64,
}

impl<'a> RuleContext<'a> {
    /// Returns statistics of the runs of a thread in a range.
    pub(crate) fn run_statistics(&self, thread: ThreadId, range: Interval) -> RunStatistics {
        let life = self.log.store.thread_lane(thread);
        let turns = life.iter().flat_map(|life| life.turns_overlapping(range));
        let mut runs: Vec<u64> = turns.map(|(_, turn)| turn.run_ns()).collect();
        RunStatistics {
            all_ns: runs.iter().sum(),
            median_ns: median(&mut runs),
        }
    }

    /// Returns the turns of a thread in the range with their numbers if an earlier rule has read them.
    pub(crate) fn cached_turns(
        &self,
        thread: ThreadId,
    ) -> Option<impl Iterator<Item = (usize, Turn)>> {
        let place = self.log.store.place_of(thread)?;
        self.turn_cache.get(place)
    }

    /// Returns the threads that are most likely the runtime's managers of I/O and timers, in a log that does not have
    /// their labels as it was begun after they were.
    ///
    /// They are among the first threads of a program, wait outside only, and do little in between.
    pub(crate) fn unlabelled_managers(&self) -> impl Iterator<Item = ThreadId> {
        /// Limit of the numbers looked at: a damaged log can have any number of capabilities.
        const MAX_NUMBER: u32 = 600;
        let last = u32::try_from(4 + 2 * self.caps).map_or(MAX_NUMBER, |last| last.min(MAX_NUMBER));
        let threads = (0..=last).map(ThreadId);
        threads.filter(|&thread| self.is_unlabelled_manager(thread).unwrap_or(false))
    }

    /// Returns whether a thread is most likely one of the runtime's managers; `None` if it is not in the log.
    fn is_unlabelled_manager(&self, thread: ThreadId) -> Option<bool> {
        /// Upper bound of the median run of a manager.
        const RUN_NS: u64 = 100_000;
        let store = &self.log.store;
        let lane = store.thread_lane(thread)?;
        if lane.created().is_some() || store.label_of(thread).is_some() {
            return Some(false);
        }
        let reasons = lane.turns_overlapping(self.range);
        let mut reasons = reasons
            .filter_map(|(_, turn)| turn.wait_reason())
            .peekable();
        let waits_outside =
            reasons.peek().is_some() && reasons.all(|reason| reason == WaitReason::ForeignCall);
        Some(waits_outside && self.run_statistics(thread, self.range).median_ns < RUN_NS)
    }

    /// Returns the threads that were both created and finished in the range, except the runtime's own.
    pub(crate) async fn finished_threads(&self) -> Vec<FinishedThread> {
        let (mut all, mut steps) = (Vec::new(), self.steps());
        for life in self.log.store.lives() {
            steps.step().await;
            let Some((range, ran_ns)) = life.complete_life() else {
                continue;
            };
            let is_outside = range.start() < self.range.start() || self.range.end() < range.end();
            if is_outside || self.is_runtime_thread(life.id()) {
                continue;
            }
            all.push(FinishedThread {
                thread: life.id(),
                life: range,
                ran_ns,
            });
        }
        all
    }

    /// Returns the total run time of threads, except the runtime's own, in nanoseconds.
    pub(crate) fn program_ran_ns(&self) -> u64 {
        let own = self.runtime_threads().iter();
        let own_ns: u64 = own
            .map(|one| self.run_statistics(*one, self.range).all_ns)
            .sum();
        self.times.all_caps().running_ns.saturating_sub(own_ns)
    }

    /// Calls `visit` for each turn in the range of each thread, except the runtime's own.
    pub(crate) async fn each_turn(&self, visit: &mut dyn FnMut(ThreadTurn<'_>)) {
        self.each_turn_in(&mut self.log.store.lives(), visit).await;
    }

    /// Same as [`each_turn`](Self::each_turn), only for threads that were blocked for a wanted reason and ran at
    /// least `least_runs` times.
    pub(crate) async fn each_turn_blocked(
        &self,
        (is_wanted, least_runs): (&dyn Fn(WaitReason) -> bool, u64),
        visit: &mut dyn FnMut(ThreadTurn<'_>),
    ) {
        let all = self.threads().await;
        let reasons = WaitReason::ALL
            .into_iter()
            .filter(|reason| is_wanted(*reason));
        let lives = self.log.store.lives_blocked(all, reasons);
        let mut lives = lives.filter(|life| life.runs() as u64 >= least_runs);
        self.each_turn_in(&mut lives, visit).await;
    }

    /// Same as [`each_turn`](Self::each_turn), only for threads that waited for a capability.
    pub(crate) async fn each_turn_queued(&self, visit: &mut dyn FnMut(ThreadTurn<'_>)) {
        let mut lives = self.log.store.lives_queued(self.threads().await);
        self.each_turn_in(&mut lives, visit).await;
    }

    /// Calls `visit` for each turn in the range that begins with a wait for this reason, of threads that ran at least
    /// `least_runs` times.
    pub(crate) async fn each_wait(
        &self,
        reason: WaitReason,
        least_runs: u64,
        visit: &mut dyn FnMut(ThreadTurn<'_>),
    ) {
        self.each_wanted_wait((&|one| one == reason, least_runs), visit)
            .await;
    }

    /// Sums up the wanted waits for a reason by thread, of threads with at least `least` of them.
    pub(crate) async fn waits_by_thread(
        &self,
        reason: WaitReason,
        least: u64,
        is_wanted: impl Fn(ThreadTurn<'_>) -> bool,
    ) -> BTreeMap<ThreadId, WaitSum> {
        let mut sums: BTreeMap<ThreadId, WaitSum> = BTreeMap::new();
        let mut visit = |turn: ThreadTurn<'_>| {
            if let Some(wait) = self.wait(turn, 0).filter(|_| is_wanted(turn)) {
                let sum = sums.entry(wait.thread).or_insert(WaitSum::new(wait.range));
                sum.add(&wait);
            }
        };
        self.each_wait(reason, least, &mut visit).await;
        sums.retain(|_, sum| sum.count >= least);
        sums
    }

    /// Calls `visit` for each turn in the range that begins with a wait for time, I/O or a foreign call.
    pub(crate) async fn each_sleep(&self, visit: &mut dyn FnMut(ThreadTurn<'_>)) {
        self.each_wanted_wait((&WaitReason::is_asleep, 0), visit)
            .await;
    }

    pub(crate) async fn each_wanted_wait(
        &self,
        (is_wanted, least_runs): (&dyn Fn(WaitReason) -> bool, u64),
        visit: &mut dyn FnMut(ThreadTurn<'_>),
    ) {
        let mut visit = |turn: ThreadTurn<'_>| {
            if turn.wait_reason().is_some_and(is_wanted) {
                visit(turn);
            }
        };
        self.each_turn_blocked((is_wanted, least_runs), &mut visit)
            .await;
    }

    /// Same as [`each_turn`](Self::each_turn), only for these threads.
    pub(crate) async fn each_turn_of<'b>(
        &self,
        threads: impl IntoIterator<Item = &'b ThreadId>,
        visit: &mut dyn FnMut(ThreadTurn<'_>),
    ) {
        let threads = threads.into_iter();
        let mut lives = threads.filter_map(|thread| self.log.store.thread_lane(*thread));
        self.each_turn_in(&mut lives, visit).await;
    }

    /// Same as [`each_turn`](Self::each_turn), only for these lives. Callers filter by number of runs first: in a
    /// program with a hundred thousand threads, most ran only a few times.
    pub(crate) async fn each_turn_in<'b>(
        &self,
        lives: &mut dyn Iterator<Item = ThreadLane<'b>>,
        visit: &mut dyn FnMut(ThreadTurn<'_>),
    ) {
        let mut steps = self.steps();
        for life in lives {
            steps.step().await;
            if self.is_runtime_thread(life.id()) {
                continue;
            }
            if let Some(cached) = self.turn_cache.get(life.place()) {
                for (number, turn) in cached {
                    visit(ThreadTurn {
                        life: &life,
                        number,
                        turn: &turn,
                    });
                    steps.step().await;
                }
                continue;
            }
            let mut cached = self.turn_cache.begin();
            for (number, turn) in life.turns_overlapping(self.range) {
                visit(ThreadTurn {
                    life: &life,
                    number,
                    turn: &turn,
                });
                cached = cached.and_then(|turns| self.turn_cache.add(turns, (number, &turn)));
                steps.step().await;
            }
            if let Some(turns) = cached {
                self.turn_cache.end(life.place(), turns);
            }
        }
    }

    /// Returns the runs of a capability that overlap the range, with their indices.
    pub(crate) fn runs_on(
        &self,
        cap: CapId,
    ) -> impl Iterator<Item = (usize, (u64, u64))> + use<'a> {
        let end = self.range.end().0;
        let lane = self.log.store.cap(cap).map(|cap| &cap.runs);
        let first = lane.map_or(0, |runs| runs.first_ending_after(self.range.start().0));
        let all = { lane.into_iter() }.flat_map(move |runs| runs.spans_at(first..runs.len()));
        all.take_while(move |(_, (start, _))| *start < end)
    }

    /// Returns the thread that logged a span, if the same thread logged begin and end.
    pub(crate) fn thread_of(&self, span: &UserSpan) -> Option<ThreadId> {
        let ran = |message: usize| {
            let message = self.log.messages.get(message)?;
            let runs = &self.log.store.cap(message.cap?)?.runs;
            let mut index = runs.first_ending_after(message.time.0);
            (self.log.store).running(message.cap?, message.time, &mut index)
        };
        let first = ran(span.first)?;
        (span.last.and_then(ran) == Some(first)).then_some(first)
    }

    /// Returns capability nanoseconds as a share of all capability time.
    pub(crate) fn share_of_caps(&self, cap_ns: u64) -> f64 {
        cap_ns as f64 / self.length_ns().saturating_mul(self.caps) as f64
    }

    /// Returns one of the parts of a turn, clipped to the range and without collections; `None` if nothing of it
    /// remains.
    pub(crate) fn wait(&self, turn: ThreadTurn<'_>, part: usize) -> Option<ClippedWait> {
        let (from, to) = turn.part(part);
        let range = Interval::new(Nanos(from), Nanos(to)).intersection(self.range)?;
        let ns = self.unpaused_ns((range.start().0, range.end().0));
        (ns > 0).then(|| ClippedWait {
            thread: turn.thread(),
            cap: turn.cap(),
            range,
            ns,
        })
    }

    /// Returns the safe foreign calls that took at least `min_ns`.
    pub(crate) async fn foreign_calls(&self, min_ns: u64) -> Vec<ClippedWait> {
        let mut calls = Vec::new();
        let mut visit = |turn: ThreadTurn<'_>| {
            let wait = self.wait(turn, 0);
            calls.extend(wait.filter(|wait| wait.ns >= min_ns));
        };
        self.each_wait(WaitReason::ForeignCall, 0, &mut visit).await;
        calls
    }

    /// Returns the idle time of capabilities while threads waited, counting at most one capability per waiting
    /// thread, in capability nanoseconds outside collections.
    pub(crate) async fn overlapping_idle_ns(&self, waits: &[(u64, u64)]) -> u64 {
        let waits = waits.iter().filter(|(from, to)| from < to);
        let (mut starts, mut ends): (Vec<u64>, Vec<u64>) = waits.copied().unzip();
        self.sort(&mut starts).await;
        self.sort(&mut ends).await;
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
        // Time that the log does not cover is not idle; only the account knows of it.
        let all = self.times.all_caps();
        let most_ns = all.idle_ns.saturating_add(all.idle_work_available_ns);
        let (mut caps, mut steps) = (CapCursors::new(self), self.steps());
        let (mut waiting, mut since, mut sum_ns) = (0_u64, 0, 0_u64);
        while let Some(end) = ends.peek().copied().filter(|_| sum_ns < most_ns) {
            steps.step().await;
            let start = starts.next_if(|start| *start <= end);
            let time = start.unwrap_or(end);
            if waiting > 0 {
                caps.each_idle_piece((since, time), |idle, ns| sum_ns += idle.min(waiting) * ns);
            }
            match start {
                Some(_) => waiting += 1,
                None => {
                    ends.next();
                    waiting = waiting.saturating_sub(1);
                }
            }
            since = time;
        }
        sum_ns.min(most_ns)
    }
}

/// Cursors over the runs of all capabilities and over the collections.
struct CapCursors<'a> {
    lanes: Vec<RunCursor<'a>>,
    pauses: &'a [Pause],
    /// Times at which capabilities are opened or closed, latest first; `open` is the current number.
    changes: Vec<(u64, bool)>,
    open: u64,
}

impl<'a> CapCursors<'a> {
    fn new(context: &RuleContext<'a>) -> Self {
        let store = &context.log.store;
        let account = store.account();
        let lives = context.cap_ids().map(|cap| account.life_of(cap));
        let lives = lives.flat_map(|life| [(life.start().0, true), (life.end().0, false)]);
        let settings = context.log.info.process().capability_changes;
        let settings = settings.iter().filter_map(|change| {
            let opens = match change.change {
                Change::Enabled => true,
                Change::Disabled => false,
                Change::Created | Change::Deleted => return None,
            };
            Some((change.at.0, opens))
        });
        let mut changes: Vec<(u64, bool)> = lives.chain(settings).collect();
        changes.sort_small_by(|a, b| b.cmp(a));
        Self {
            lanes: context.cap_ids().map(|cap| store.run_cursor(cap)).collect(),
            pauses: account.pauses().all(),
            changes,
            open: 0,
        }
    }

    /// Calls `visit` with the number of idle capabilities and nanoseconds for each piece of a stretch outside
    /// collections. Stretches must come in order of time.
    fn each_idle_piece(&mut self, (from, to): (u64, u64), mut visit: impl FnMut(u64, u64)) {
        let mut now = from;
        while now < to {
            let over = self.pauses.iter().take_while(|pause| pause.end.0 <= now);
            let over = over.count();
            self.pauses = self.pauses.get(over..).unwrap_or_default();
            let pause = self.pauses.first();
            let still = pause.is_some_and(|pause| pause.requested.0 <= now);
            let bound = |pause: &Pause| if still { pause.end } else { pause.requested };
            let mut next = pause.map_or(to, |pause| bound(pause).0.min(to));
            while let Some((_, opens)) = self.changes.pop_if(|change| change.0 <= now) {
                self.open = if opens {
                    self.open + 1
                } else {
                    self.open.saturating_sub(1)
                };
            }
            next = self
                .changes
                .last()
                .map_or(next, |change| change.0.min(next));
            let mut running = 0;
            for runs in &mut self.lanes {
                let Some((start, end)) = runs.span_after(now) else {
                    continue;
                };
                let is_running = start <= now;
                next = next.min(if is_running { end } else { start });
                running += u64::from(is_running);
            }
            if !still {
                visit(self.open.saturating_sub(running), next - now);
            }
            now = next;
        }
    }
}
