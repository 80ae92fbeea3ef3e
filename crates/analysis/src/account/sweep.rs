//! Sweep over the runs of all capabilities in time order. It maintains how many capabilities run, how many are
//! idle, and how many threads are ready, and sums the time of each state.
//!
//! The sweep reads the columns of runs. It runs once when the log has been read, and stores checkpoints. The state
//! at any time is then computed from the checkpoint before it, over a few hundred ends of runs at most.

use super::TimeAttribution;
use super::event_merger::{EventKind, EventMerger, SourcePositions};
use super::runs::SweepRun;
use super::sources::MAX_TIME;
use super::totals::{Counts, IDLE_CLASSES, MinMaxCounts, MinMaxSum, Totals, capability_time};
use eventlog::ids::{CapId, Nanos};
use model::forest::{Aggregate, Forest};
use model::lane::Lane;
use model::packed_column::PackedColumn;
use model::saturating::saturating_u32;
use model::spill_store::SpillStore;

/// Position and state of the sweep on one lane.
#[derive(Clone, Copy, Debug, Default)]
struct LaneState {
    /// Index of the current or next run.
    run: usize,
    runs: bool,
    /// Index of the current or next GC span.
    gc_span: usize,
    /// Whether the capability is alive and in no GC span: it is then running or idle.
    open: bool,
    /// Idle time with ready threads, up to the last update.
    idle_work_available_ns: u64,
    /// Total time with ready threads when its current idle time began.
    any_ready_at_idle_start_ns: u64,
}

impl LaneState {
    /// Returns its idle time with ready threads, given the total time with ready threads `any_ready_ns`.
    const fn idle_work_available_ns(&self, any_ready_ns: u64) -> u64 {
        if self.open && !self.runs {
            self.idle_work_available_ns + (any_ready_ns - self.any_ready_at_idle_start_ns)
        } else {
            self.idle_work_available_ns
        }
    }
}

/// Sweep state passed to a [`SweepVisitor`] at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepInstant {
    pub(crate) time: u64,
    /// Time so far, outside of pauses, in which some capability was idle.
    pub(crate) some_idle_ns: u64,
    /// End of the last non-empty pause; the current time during a pause.
    pub(crate) paused_until: u64,
}

/// Callbacks of a sweep.
pub(crate) trait SweepVisitor {
    /// Called when a run of a lane starts.
    fn run_starts(&mut self, lane: usize, place: usize, run: &SweepRun, now: SweepInstant) {
        let _ = (lane, place, run, now);
    }
    /// Called when a run ends whose thread can run again immediately.
    fn stays_ready(&mut self, run: &SweepRun, now: SweepInstant) {
        let _ = (run, now);
    }
    /// Called when a thread, given by index, becomes ready by a wakeup or its creation.
    fn became_runnable(&mut self, thread: u32, now: SweepInstant) {
        let _ = (thread, now);
    }
}

/// [`SweepVisitor`] that ignores all calls.
pub(super) struct NoVisitor;

impl SweepVisitor for NoVisitor {}

/// State of a sweep: levels, and sums up to now.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Time up to which everything is counted.
    now: u64,
    /// Number of capabilities that run threads.
    running: usize,
    /// Number of capabilities that are running or idle.
    open: usize,
    ready: i64,
    paused: bool,
    paused_until: u64,
    paused_ns: u64,
    some_idle_ns: u64,
    /// Sum over all capabilities of their idle time without ready threads, by the number of running capabilities.
    idle_ns: [u64; IDLE_CLASSES],
    ready_ns: u64,
    /// Time in which any thread was ready.
    any_ready_ns: u64,
    /// Minimum and maximum levels since the last [`Sweep::take_levels`].
    levels: MinMaxCounts,
}

impl State {
    /// Advances to a time without changes in between.
    #[inline]
    fn advance_time(&mut self, to: u64, running_ns: &mut [u64]) {
        let time = to - self.now;
        self.now = to;
        if let Some(sum) = running_ns.get_mut(self.running) {
            *sum += time;
        }
        if self.paused {
            self.paused_ns += time;
            self.paused_until = to;
        } else if self.running < self.open {
            self.some_idle_ns += time;
        }
        if self.ready > 0 {
            self.any_ready_ns += time;
            let sum = (self.ready as u64).saturating_mul(time);
            self.ready_ns = self.ready_ns.saturating_add(sum);
        } else {
            let idle = self.open.saturating_sub(self.running) as u64;
            let sum = &mut self.idle_ns[self.running.min(IDLE_CLASSES - 1)];
            *sum = sum.saturating_add(idle.saturating_mul(time));
        }
        let count = |count: i64| u32::try_from(count.max(0)).unwrap_or(u32::MAX);
        let (ready, running) = (count(self.ready), count(self.running as i64));
        self.levels = self.levels.combine(MinMaxCounts {
            ready: (ready, ready),
            running: (running, running),
        });
    }

    const fn instant(&self) -> SweepInstant {
        SweepInstant {
            time: self.now,
            some_idle_ns: self.some_idle_ns,
            paused_until: self.paused_until,
        }
    }

    /// Processes the start or end of a run on a lane.
    #[inline]
    fn toggle_run(
        &mut self,
        lane: usize,
        lane_state: &mut LaneState,
        run: &SweepRun,
        watcher: &mut impl SweepVisitor,
    ) {
        if lane_state.runs {
            if run.stays_ready {
                watcher.stays_ready(run, self.instant());
                self.ready += 1;
            }
            lane_state.run += 1;
            self.running -= usize::from(lane_state.open);
            lane_state.any_ready_at_idle_start_ns = self.any_ready_ns;
        } else {
            watcher.run_starts(lane, lane_state.run, run, self.instant());
            self.ready -= i64::from(run.was_ready);
            lane_state.idle_work_available_ns =
                lane_state.idle_work_available_ns(self.any_ready_ns);
            self.running += usize::from(lane_state.open);
        }
        lane_state.runs = !lane_state.runs;
    }

    /// Updates a lane to the GC span and lifetime at the current time.
    #[cold]
    fn update_lane(
        mut self,
        lane: usize,
        lane_state: &mut LaneState,
        account: TimeAttribution<'_>,
    ) -> Self {
        let now = self.now;
        let mut is_in_gc_span = false;
        if let Some(gc_spans) = account.gc_spans(lane) {
            let ended = |gc_span: usize| gc_spans.span(gc_span).1.min(MAX_TIME) <= now;
            while lane_state.gc_span < gc_spans.len() && ended(lane_state.gc_span) {
                lane_state.gc_span += 1;
            }
            is_in_gc_span =
                lane_state.gc_span < gc_spans.len() && gc_spans.span(lane_state.gc_span).0 <= now;
        }
        let (born, dead) = account.life(lane);
        let is_cap = lane > 0;
        let open = is_cap && born <= now && now < dead && !is_in_gc_span;
        lane_state.idle_work_available_ns = lane_state.idle_work_available_ns(self.any_ready_ns);
        lane_state.any_ready_at_idle_start_ns = self.any_ready_ns;
        self.open -= usize::from(lane_state.open);
        self.running -= usize::from(lane_state.open && lane_state.runs);
        lane_state.open = open;
        self.open += usize::from(open);
        self.running += usize::from(open && lane_state.runs);
        self
    }
}

/// Sweep in progress.
#[derive(Debug)]
pub(super) struct Sweep<'a> {
    account: TimeAttribution<'a>,
    events: EventMerger<'a>,
    state: State,
    lane_states: Vec<LaneState>,
    /// Number of threads that have become ready.
    became_runnable: usize,
    /// Time in which exactly `i` capabilities ran threads, by `i`.
    running_ns: Vec<u64>,
    /// Number of events processed.
    steps: usize,
}

impl<'a> Sweep<'a> {
    /// Starts a sweep at the beginning of the log.
    pub(super) fn new(account: TimeAttribution<'a>) -> Self {
        let lanes = account.lanes.len();
        let now = account.attribution_data.log.start().0.min(MAX_TIME);
        let lane_states = vec![LaneState::default(); lanes];
        let totals = Totals::new(lanes.saturating_sub(1));
        Self::from(
            account,
            now,
            totals,
            0,
            lane_states,
            SourcePositions::default(),
        )
    }

    /// Starts a sweep from a given state.
    fn from(
        account: TimeAttribution<'a>,
        now: u64,
        totals: Totals,
        ready: i64,
        mut lane_states: Vec<LaneState>,
        positions: SourcePositions,
    ) -> Self {
        let mut state = State {
            now,
            running: 0,
            open: 0,
            ready,
            paused: positions.paused,
            paused_until: 0,
            paused_ns: totals.paused_ns,
            some_idle_ns: totals.some_idle_ns,
            idle_ns: totals.idle_ns,
            ready_ns: totals.ready_ns,
            any_ready_ns: 0,
            levels: MinMaxCounts::NONE,
        };
        let idle_ready = lane_states
            .iter_mut()
            .skip(1)
            .zip(totals.idle_work_available_ns);
        idle_ready.for_each(|(lane_state, sum)| lane_state.idle_work_available_ns = sum);
        for (lane, lane_state) in lane_states.iter_mut().enumerate() {
            state = state.update_lane(lane, lane_state, account);
        }
        let runs = lane_states
            .iter()
            .map(|lane_state| (lane_state.run, lane_state.runs));
        Self {
            account,
            events: EventMerger::new(account, now, runs, positions),
            state,
            lane_states,
            became_runnable: positions.became_runnable,
            running_ns: totals.running_ns,
            steps: 0,
        }
    }

    /// Starts a sweep at the last checkpoint that is not after `time`.
    fn from_checkpoint(account: TimeAttribution<'a>, checkpoints: &Checkpoints, time: u64) -> Self {
        let after = checkpoints.times.partition_point(|at| at <= time);
        let Some(checkpoint) = after.checked_sub(1).filter(|&checkpoint| checkpoint > 0) else {
            return Self::new(account);
        };
        let at = |list: &PackedColumn<u64>| list.get(checkpoint).unwrap_or_default();
        let now = at(&checkpoints.times);
        let attribution_data = account.attribution_data;
        let totals = Totals {
            running_ns: checkpoints.running_ns.iter().map(at).collect(),
            idle_work_available_ns: checkpoints.idle_work_available_ns.iter().map(at).collect(),
            some_idle_ns: at(&checkpoints.some_idle_ns),
            idle_ns: std::array::from_fn(|class| at(&checkpoints.idle_ns[class])),
            ready_ns: at(&checkpoints.ready_ns),
            paused_ns: attribution_data.pauses.paused_before_ns(Nanos(now)),
        };
        let pause = attribution_data.pauses.first_ending_after(Nanos(now));
        let next = attribution_data.pauses.all().get(pause);
        let positions = SourcePositions {
            became_runnable: attribution_data.became_runnable.count_up_to(now),
            coverage_ends: attribution_data
                .coverage_ends
                .partition_point(|&at| at <= now),
            pause,
            paused: next.is_some_and(|pause| pause.requested.0 <= now),
        };
        let runs = checkpoints.runs.iter().enumerate();
        let lane_states = runs.zip(account.lanes).map(|((lane, runs), cap)| {
            let run = runs.get(checkpoint).unwrap_or_default() as usize;
            let gc_spans = account.gc_spans(lane);
            LaneState {
                run,
                runs: run < cap.runs.len() && cap.runs.start(run) <= now,
                gc_span: gc_spans.map_or(0, |gc_spans| gc_spans.first_ending_after(now)),
                ..LaneState::default()
            }
        });
        let ready = at(&checkpoints.ready).cast_signed();
        Self::from(
            account,
            now,
            totals,
            ready,
            lane_states.collect(),
            positions,
        )
    }

    /// Advances to a time; or, after `steps` events, to the end of the instant reached.
    ///
    /// Not inlined into the loop over the log: a browser replaces a function by its optimized code at the next call.
    #[inline(never)]
    fn advance_to(&mut self, to: u64, steps: usize, watcher: &mut impl SweepVisitor) {
        let to = to.min(MAX_TIME);
        let limit = self.steps.saturating_add(steps);
        while self.events.sort_batch(to, self.state.now) {
            if !self.process_events(limit, watcher) {
                return;
            }
        }
        if to > self.state.now {
            self.state.advance_time(to, &mut self.running_ns);
        }
    }

    /// Processes the sorted events. Returns whether all were processed before the step limit.
    fn process_events(&mut self, limit: usize, watcher: &mut impl SweepVisitor) -> bool {
        // Copied to a local variable so that it is kept in registers.
        let mut state = self.state;
        let mut done = 0;
        let mut all = true;
        for (time, kind) in self.events.sorted_events() {
            if time > state.now {
                if self.steps + done >= limit {
                    all = false;
                    break;
                }
                state.advance_time(time, &mut self.running_ns);
            }
            done += 1;
            match kind {
                EventKind::Run(lane) => {
                    let lane_state = &mut self.lane_states[lane];
                    if let Some(run) = self.events.run(lane, lane_state.run) {
                        state.toggle_run(lane, lane_state, run, watcher);
                    }
                }
                EventKind::AvailabilityEdge(lane) => {
                    state = state.update_lane(lane, &mut self.lane_states[lane], self.account);
                }
                EventKind::BecameRunnable => {
                    if let Some(thread) = self.events.became_runnable(self.became_runnable) {
                        watcher.became_runnable(thread, state.instant());
                    }
                    self.became_runnable += 1;
                    state.ready += 1;
                }
                EventKind::CoverageEnd => state.ready -= 1,
                EventKind::Pause => state.paused = !state.paused,
            }
        }
        self.events.advance(done);
        self.steps += done;
        self.state = state;
        all
    }

    /// Returns the minimum and maximum levels since the last call; `None` if no time passed.
    fn take_levels(&mut self) -> Option<MinMaxCounts> {
        let levels = std::mem::replace(&mut self.state.levels, MinMaxCounts::NONE);
        (levels != MinMaxCounts::NONE).then_some(levels)
    }

    /// Returns the idle time with ready threads of each capability.
    fn idle_work_available_ns(&self) -> impl Iterator<Item = u64> {
        let lane_states = self.lane_states.iter().skip(1);
        lane_states.map(|lane_state| lane_state.idle_work_available_ns(self.state.any_ready_ns))
    }

    /// Returns the sums up to now.
    fn totals(&self) -> Totals {
        Totals {
            running_ns: self.running_ns.clone(),
            idle_work_available_ns: self.idle_work_available_ns().collect(),
            some_idle_ns: self.state.some_idle_ns,
            idle_ns: self.state.idle_ns,
            ready_ns: self.state.ready_ns,
            paused_ns: self.state.paused_ns,
        }
    }
}

/// Checkpoints of the sweep, in columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Checkpoints {
    /// Time of each checkpoint.
    times: PackedColumn<u64>,
    /// Ready threads; signed numbers, stored as unsigned.
    ready: PackedColumn<u64>,
    some_idle_ns: PackedColumn<u64>,
    idle_ns: [PackedColumn<u64>; IDLE_CLASSES],
    ready_ns: PackedColumn<u64>,
    /// Index of the current or next run, by lane.
    runs: Vec<PackedColumn<u32>>,
    /// Run time by number of running capabilities.
    running_ns: Vec<PackedColumn<u64>>,
    /// Idle time with ready threads, by capability.
    idle_work_available_ns: Vec<PackedColumn<u64>>,
    /// Minimum and maximum levels between each checkpoint and the next.
    levels: Forest<MinMaxCounts>,
}

impl Checkpoints {
    /// Sweeps over the whole log and stores checkpoints.
    pub(super) fn make(
        mut sweep: Sweep<'_>,
        end: u64,
        watcher: &mut impl SweepVisitor,
        spill_store: &SpillStore,
    ) -> Self {
        // A checkpoint takes about ten bytes per capability, so checkpoints are rarer with more capabilities.
        let steps = 64 * (sweep.lane_states.len() + 1);
        let mut checkpoints = Self {
            runs: vec![PackedColumn::new(); sweep.lane_states.len()],
            running_ns: vec![PackedColumn::new(); sweep.running_ns.len()],
            idle_work_available_ns: vec![
                PackedColumn::new();
                sweep.lane_states.len().saturating_sub(1)
            ],
            ..Self::default()
        };
        loop {
            checkpoints.push(&sweep, spill_store);
            sweep.advance_to(end, steps, watcher);
            checkpoints
                .levels
                .push(sweep.take_levels().unwrap_or_default());
            if sweep.events.is_exhausted(end) {
                break;
            }
        }
        checkpoints
    }

    fn push(&mut self, sweep: &Sweep<'_>, spill_store: &SpillStore) {
        let state = &sweep.state;
        self.times.push_packing(state.now, spill_store);
        self.ready
            .push_packing(state.ready.cast_unsigned(), spill_store);
        self.some_idle_ns
            .push_packing(state.some_idle_ns, spill_store);
        for (times, time) in self.idle_ns.iter_mut().zip(state.idle_ns) {
            times.push_packing(time, spill_store);
        }
        self.ready_ns.push_packing(state.ready_ns, spill_store);
        for (runs, lane_state) in self.runs.iter_mut().zip(&sweep.lane_states) {
            runs.push_packing(saturating_u32(lane_state.run), spill_store);
        }
        for (times, &time) in self.running_ns.iter_mut().zip(&sweep.running_ns) {
            times.push_packing(time, spill_store);
        }
        for (times, time) in self
            .idle_work_available_ns
            .iter_mut()
            .zip(sweep.idle_work_available_ns())
        {
            times.push_packing(time, spill_store);
        }
    }
}

/// Cursor over the state of the sweep. Queries at nearby later times take few steps.
#[derive(Debug)]
pub struct SweepCursor<'a> {
    account: TimeAttribution<'a>,
    /// `None` before the first query.
    sweep: Option<Sweep<'a>>,
}

impl<'a> SweepCursor<'a> {
    pub(super) const fn new(account: TimeAttribution<'a>) -> Self {
        Self {
            account,
            sweep: None,
        }
    }

    /// Moves to a time.
    fn move_to(&mut self, time: u64) -> &mut Sweep<'a> {
        let checkpoints = &self.account.attribution_data.checkpoints;
        let time = time
            .min(self.account.attribution_data.log.end().0)
            .min(MAX_TIME);
        let checkpoint = checkpoints.times.partition_point(|at| at <= time);
        let checkpoint = checkpoint
            .checked_sub(1)
            .and_then(|checkpoint| checkpoints.times.get(checkpoint));
        let near = self.sweep.take().filter(|sweep| {
            let now = sweep.state.now;
            now <= time && checkpoint.is_none_or(|checkpoint| checkpoint <= now)
        });
        let sweep = near.unwrap_or_else(|| Sweep::from_checkpoint(self.account, checkpoints, time));
        let sweep = self.sweep.insert(sweep);
        sweep.advance_to(time, usize::MAX, &mut NoVisitor);
        sweep
    }

    /// Returns the sums from the beginning of the log to a time.
    pub fn totals(&mut self, time: Nanos) -> Totals {
        self.move_to(time.0).totals()
    }

    /// Returns the time, up to `time` and outside of pauses, in which some capability was idle.
    pub(crate) fn some_idle_ns(&mut self, time: Nanos) -> u64 {
        self.move_to(time.0).state.some_idle_ns
    }

    /// Returns the time, up to `time`, in which a capability was idle while a thread was ready.
    pub fn idle_work_available_ns(&mut self, cap: CapId, time: Nanos) -> u64 {
        let lane = self.account.lane(cap);
        let sweep = self.move_to(time.0);
        let lane_state = lane.and_then(|lane| sweep.lane_states.get(lane));
        lane_state.map_or(0, |lane_state| {
            lane_state.idle_work_available_ns(sweep.state.any_ready_ns)
        })
    }

    /// Returns the levels of ready threads and running capabilities between two times.
    pub fn levels_in(&mut self, from: Nanos, to: Nanos) -> Counts {
        let sums = |sweep: &Sweep<'_>| (sweep.state.ready_ns, capability_time(&sweep.running_ns));
        let checkpoints = &self.account.attribution_data.checkpoints;
        let sweep = self.move_to(from.0);
        let (ready_ns, running_ns_before) = sums(sweep);
        sweep.take_levels();
        let next = checkpoints
            .times
            .partition_point(|at| at <= sweep.state.now);
        let last = checkpoints.times.partition_point(|at| at <= to.0);
        let mut levels = None;
        if next < last {
            // To the first checkpoint, over whole intervals, and on from the last checkpoint.
            sweep.advance_to(
                checkpoints.times.get(next).unwrap_or_default(),
                usize::MAX,
                &mut NoVisitor,
            );
            levels = sweep.take_levels();
            let whole = checkpoints.levels.query(next, last - 1);
            levels = levels
                .into_iter()
                .chain(whole)
                .reduce(MinMaxCounts::combine);
        }
        let sweep = self.move_to(to.0);
        let rest = sweep.take_levels();
        let levels = levels.into_iter().chain(rest).reduce(MinMaxCounts::combine);
        let levels = levels.unwrap_or_default();
        let level = |(min, max), sum_ns| MinMaxSum { min, max, sum_ns };
        let (ready_ns_after, running_ns_after) = sums(sweep);
        Counts {
            ready: level(levels.ready, ready_ns_after.saturating_sub(ready_ns)),
            running: level(
                levels.running,
                running_ns_after.saturating_sub(running_ns_before),
            ),
        }
    }
}
