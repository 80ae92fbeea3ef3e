//! A walk through the log in the order of time, over the runs of all
//! capabilities at once: how many run, how many stand by, how many threads are
//! ready. It counts for how long each was so.
//!
//! What it needs it reads from the columns of runs. It is done once when the log
//! is read, and leaves marks behind; any moment is then found by going on
//! from the mark before it, over a few hundred ends of runs at most.

use super::Account;
use super::order::{Order, Places, What};
use super::runs::NextRun;
use super::sources::MAX_TIME;
use super::totals::{Counts, IDLE_BESIDE, Level, Levels, Totals, capability_time};
use eventlog::ids::{CapId, Nanos};
use model::forest::{Aggregate, Forest};
use model::lane::Lane;
use model::pages::Pages;
use model::place::place32;
use model::shelf::Shelf;

/// Where the walk is on one lane.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    /// The run that goes on or comes next.
    run: usize,
    runs: bool,
    /// The piece that goes on or comes next.
    piece: usize,
    /// Whether it lives and no piece goes on: it runs or stands by.
    open: bool,
    /// For how long it had stood by while a thread was ready when it last ran.
    idle_ready_ns: u64,
    /// The time with ready threads before it began to stand by.
    free_since_work_ns: u64,
}

impl Track {
    /// For how long it stood by while a thread was ready, if that was so for
    /// `work_ns`.
    const fn idle_ready_ns(&self, work_ns: u64) -> u64 {
        if self.open && !self.runs {
            self.idle_ready_ns + (work_ns - self.free_since_work_ns)
        } else {
            self.idle_ready_ns
        }
    }
}

/// A moment, as who walks through all of the log is told of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) time: u64,
    /// For how long, up to then, some capability stood by outside of pauses.
    pub(crate) some_idle_ns: u64,
    /// When the last pause ended that lasted at all; the same moment, if it goes on.
    pub(crate) paused_until: u64,
}

/// What whoever walks through all of the log wants to know on the way.
pub(crate) trait Watcher {
    /// A run of a lane begins.
    fn starts(&mut self, lane: usize, place: usize, run: &NextRun, now: Moment) {
        let _ = (lane, place, run, now);
    }
    /// A run ends whose thread can run again at once.
    fn stays_ready(&mut self, run: &NextRun, now: Moment) {
        let _ = (run, now);
    }
    /// The thread of that index can run again, or for the first time.
    fn readied(&mut self, thread: u32, now: Moment) {
        let _ = (thread, now);
    }
}

/// Nobody.
pub(super) struct NoWatcher;

impl Watcher for NoWatcher {}

/// What goes on at a moment, and what was summed up to it.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Up to when all is counted.
    now: u64,
    /// Capabilities that run threads.
    running: usize,
    /// Capabilities that run or stand by.
    open: usize,
    ready: i64,
    paused: bool,
    paused_until: u64,
    paused_ns: u64,
    some_idle_ns: u64,
    /// Of all capabilities together, with no thread ready, by how many ran.
    idle_ns: [u64; IDLE_BESIDE],
    ready_ns: u64,
    /// The time in which any thread was ready.
    work_ns: u64,
    /// Since it was last taken.
    levels: Levels,
}

impl State {
    /// Nothing changes up to a time.
    #[inline]
    fn pass(&mut self, to: u64, running_ns: &mut [u64]) {
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
            self.work_ns += time;
            let sum = (self.ready as u64).saturating_mul(time);
            self.ready_ns = self.ready_ns.saturating_add(sum);
        } else {
            let idle = self.open.saturating_sub(self.running) as u64;
            let sum = &mut self.idle_ns[self.running.min(IDLE_BESIDE - 1)];
            *sum = sum.saturating_add(idle.saturating_mul(time));
        }
        let count = |count: i64| u32::try_from(count.max(0)).unwrap_or(u32::MAX);
        let (ready, running) = (count(self.ready), count(self.running as i64));
        self.levels = self.levels.combine(Levels {
            ready: (ready, ready),
            running: (running, running),
        });
    }

    const fn moment(&self) -> Moment {
        Moment {
            time: self.now,
            some_idle_ns: self.some_idle_ns,
            paused_until: self.paused_until,
        }
    }

    /// A run of a lane begins or ends now.
    #[inline]
    fn toggle_run(
        &mut self,
        lane: usize,
        track: &mut Track,
        run: &NextRun,
        watcher: &mut impl Watcher,
    ) {
        if track.runs {
            if run.stays_ready {
                watcher.stays_ready(run, self.moment());
                self.ready += 1;
            }
            track.run += 1;
            self.running -= usize::from(track.open);
            track.free_since_work_ns = self.work_ns;
        } else {
            watcher.starts(lane, track.run, run, self.moment());
            self.ready -= i64::from(run.was_ready);
            track.idle_ready_ns = track.idle_ready_ns(self.work_ns);
            self.running += usize::from(track.open);
        }
        track.runs = !track.runs;
    }

    /// What a lane's pieces and its life say from now on.
    #[cold]
    fn turn(mut self, lane: usize, track: &mut Track, account: Account<'_>) -> Self {
        let now = self.now;
        let mut stands = false;
        if let Some(pieces) = account.pieces(lane) {
            let ended = |piece: usize| pieces.span(piece).1.min(MAX_TIME) <= now;
            while track.piece < pieces.len() && ended(track.piece) {
                track.piece += 1;
            }
            stands = track.piece < pieces.len() && pieces.span(track.piece).0 <= now;
        }
        let (born, dead) = account.life(lane);
        let is_cap = lane > 0;
        let open = is_cap && born <= now && now < dead && !stands;
        track.idle_ready_ns = track.idle_ready_ns(self.work_ns);
        track.free_since_work_ns = self.work_ns;
        self.open -= usize::from(track.open);
        self.running -= usize::from(track.open && track.runs);
        track.open = open;
        self.open += usize::from(open);
        self.running += usize::from(open && track.runs);
        self
    }
}

/// The walk.
#[derive(Debug)]
pub(super) struct Sweep<'a> {
    account: Account<'a>,
    order: Order<'a>,
    state: State,
    tracks: Vec<Track>,
    /// How many threads became ready.
    readied: usize,
    /// For how long exactly so many capabilities ran threads.
    running_ns: Vec<u64>,
    /// How many ends and beginnings came.
    steps: usize,
}

impl<'a> Sweep<'a> {
    /// A walk that begins where the log does.
    pub(super) fn new(account: Account<'a>) -> Self {
        let lanes = account.lanes.len();
        let now = account.ledger.log.start().0.min(MAX_TIME);
        let tracks = vec![Track::default(); lanes];
        let totals = Totals::new(lanes.saturating_sub(1));
        Self::from(account, now, totals, 0, tracks, Places::default())
    }

    /// A walk that begins at some moment.
    fn from(
        account: Account<'a>,
        now: u64,
        totals: Totals,
        ready: i64,
        mut tracks: Vec<Track>,
        places: Places,
    ) -> Self {
        let mut state = State {
            now,
            running: 0,
            open: 0,
            ready,
            paused: places.paused,
            paused_until: 0,
            paused_ns: totals.paused_ns,
            some_idle_ns: totals.some_idle_ns,
            idle_ns: totals.idle_ns,
            ready_ns: totals.ready_ns,
            work_ns: 0,
            levels: Levels::NONE,
        };
        let idle_ready = tracks.iter_mut().skip(1).zip(totals.idle_ready_ns);
        idle_ready.for_each(|(track, sum)| track.idle_ready_ns = sum);
        for (lane, track) in tracks.iter_mut().enumerate() {
            state = state.turn(lane, track, account);
        }
        let runs = tracks.iter().map(|track| (track.run, track.runs));
        Self {
            account,
            order: Order::new(account, now, runs, places),
            state,
            tracks,
            readied: places.readied,
            running_ns: totals.running_ns,
            steps: 0,
        }
    }

    /// A walk that goes on from the last mark that is not after `time`.
    fn from_mark(account: Account<'a>, marks: &Marks, time: u64) -> Self {
        let after = marks.times.partition_point(|at| at <= time);
        let Some(mark) = after.checked_sub(1).filter(|&mark| mark > 0) else {
            return Self::new(account);
        };
        let at = |list: &Pages<u64>| list.get(mark).unwrap_or_default();
        let now = at(&marks.times);
        let ledger = account.ledger;
        let totals = Totals {
            running_ns: marks.running_ns.iter().map(at).collect(),
            idle_ready_ns: marks.idle_ready_ns.iter().map(at).collect(),
            some_idle_ns: at(&marks.some_idle_ns),
            idle_ns: std::array::from_fn(|beside| at(&marks.idle_ns[beside])),
            ready_ns: at(&marks.ready_ns),
            paused_ns: ledger.pauses.still_before(Nanos(now)),
        };
        let pause = ledger.pauses.first_ending_after(Nanos(now));
        let next = ledger.pauses.all().get(pause);
        let places = Places {
            readied: ledger.readied.up_to(now),
            lost: ledger.lost.partition_point(|&at| at <= now),
            pause,
            paused: next.is_some_and(|pause| pause.requested.0 <= now),
        };
        let runs = marks.runs.iter().enumerate();
        let tracks = runs.zip(account.lanes).map(|((lane, runs), cap)| {
            let run = runs.get(mark).unwrap_or_default() as usize;
            let pieces = account.pieces(lane);
            Track {
                run,
                runs: run < cap.runs.len() && cap.runs.start(run) <= now,
                piece: pieces.map_or(0, |pieces| pieces.first_ending_after(now)),
                ..Track::default()
            }
        });
        let ready = at(&marks.ready).cast_signed();
        Self::from(account, now, totals, ready, tracks.collect(), places)
    }

    /// Goes on up to a time, or to the first moment after so many steps at which
    /// all is done that happens then.
    fn walk(&mut self, to: u64, steps: usize, watcher: &mut impl Watcher) {
        let to = to.min(MAX_TIME);
        let limit = self.steps.saturating_add(steps);
        while self.order.arrange(to, self.state.now) {
            if !self.happen(limit, watcher) {
                return;
            }
        }
        if to > self.state.now {
            self.state.pass(to, &mut self.running_ns);
        }
    }

    /// What is in order happens. Whether all of it did before there were so many steps.
    fn happen(&mut self, limit: usize, watcher: &mut impl Watcher) -> bool {
        // What changes at each step is held in registers.
        let mut state = self.state;
        let mut done = 0;
        let mut all = true;
        for (time, what) in self.order.moments() {
            if time > state.now {
                if self.steps + done >= limit {
                    all = false;
                    break;
                }
                state.pass(time, &mut self.running_ns);
            }
            done += 1;
            match what {
                What::Run(lane) => {
                    let track = &mut self.tracks[lane];
                    if let Some(run) = self.order.run(lane, track.run) {
                        state.toggle_run(lane, track, run, watcher);
                    }
                }
                What::Turn(lane) => {
                    state = state.turn(lane, &mut self.tracks[lane], self.account);
                }
                What::Readied => {
                    if let Some(thread) = self.order.readied(self.readied) {
                        watcher.readied(thread, state.moment());
                    }
                    self.readied += 1;
                    state.ready += 1;
                }
                What::Lost => state.ready -= 1,
                What::Pause => state.paused = !state.paused,
            }
        }
        self.order.advance(done);
        self.steps += done;
        self.state = state;
        all
    }

    /// How many threads were ready since this was last asked, if any time went by.
    fn take_levels(&mut self) -> Option<Levels> {
        let levels = std::mem::replace(&mut self.state.levels, Levels::NONE);
        (levels != Levels::NONE).then_some(levels)
    }

    /// For how long each capability stood by while a thread was ready.
    fn idle_ready_ns(&self) -> impl Iterator<Item = u64> {
        let tracks = self.tracks.iter().skip(1);
        tracks.map(|track| track.idle_ready_ns(self.state.work_ns))
    }

    /// What was summed up to now.
    fn totals(&self) -> Totals {
        Totals {
            running_ns: self.running_ns.clone(),
            idle_ready_ns: self.idle_ready_ns().collect(),
            some_idle_ns: self.state.some_idle_ns,
            idle_ns: self.state.idle_ns,
            ready_ns: self.state.ready_ns,
            paused_ns: self.state.paused_ns,
        }
    }
}

/// The state of the walk at some moments.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// For each, up to when all was counted.
    times: Pages<u64>,
    /// Signed numbers.
    ready: Pages<u64>,
    some_idle_ns: Pages<u64>,
    idle_ns: [Pages<u64>; IDLE_BESIDE],
    ready_ns: Pages<u64>,
    /// One list for each lane.
    runs: Vec<Pages<u32>>,
    /// One list for each number of capabilities.
    running_ns: Vec<Pages<u64>>,
    /// One list for each capability.
    idle_ready_ns: Vec<Pages<u64>>,
    /// From one to the next.
    levels: Forest<Levels>,
}

impl Marks {
    /// Walks through all of the log.
    pub(super) fn make(
        mut sweep: Sweep<'_>,
        end: u64,
        watcher: &mut impl Watcher,
        shelf: &Shelf,
    ) -> Self {
        // A mark costs about ten bytes a capability: some for each of them.
        let steps = 64 * (sweep.tracks.len() + 1);
        let mut marks = Self {
            runs: vec![Pages::new(); sweep.tracks.len()],
            running_ns: vec![Pages::new(); sweep.running_ns.len()],
            idle_ready_ns: vec![Pages::new(); sweep.tracks.len().saturating_sub(1)],
            ..Self::default()
        };
        loop {
            marks.push(&sweep, shelf);
            sweep.walk(end, steps, watcher);
            marks.levels.push(sweep.take_levels().unwrap_or_default());
            if sweep.order.is_over(end) {
                break;
            }
        }
        marks
    }

    fn push(&mut self, sweep: &Sweep<'_>, shelf: &Shelf) {
        let state = &sweep.state;
        self.times.put(state.now, shelf);
        self.ready.put(state.ready.cast_unsigned(), shelf);
        self.some_idle_ns.put(state.some_idle_ns, shelf);
        for (times, time) in self.idle_ns.iter_mut().zip(state.idle_ns) {
            times.put(time, shelf);
        }
        self.ready_ns.put(state.ready_ns, shelf);
        for (runs, track) in self.runs.iter_mut().zip(&sweep.tracks) {
            runs.put(place32(track.run), shelf);
        }
        for (times, &time) in self.running_ns.iter_mut().zip(&sweep.running_ns) {
            times.put(time, shelf);
        }
        for (times, time) in self.idle_ready_ns.iter_mut().zip(sweep.idle_ready_ns()) {
            times.put(time, shelf);
        }
    }
}

/// A place in the log from which later moments are found in a few steps.
#[derive(Debug)]
pub struct Walker<'a> {
    account: Account<'a>,
    /// None before the first question.
    sweep: Option<Sweep<'a>>,
}

impl<'a> Walker<'a> {
    pub(super) const fn new(account: Account<'a>) -> Self {
        Self {
            account,
            sweep: None,
        }
    }

    /// Goes to a time.
    fn go(&mut self, time: u64) -> &mut Sweep<'a> {
        let marks = &self.account.ledger.marks;
        let time = time.min(self.account.ledger.log.end().0).min(MAX_TIME);
        let mark = marks.times.partition_point(|at| at <= time);
        let mark = mark.checked_sub(1).and_then(|mark| marks.times.get(mark));
        let near = self.sweep.take().filter(|sweep| {
            let now = sweep.state.now;
            now <= time && mark.is_none_or(|mark| mark <= now)
        });
        let sweep = near.unwrap_or_else(|| Sweep::from_mark(self.account, marks, time));
        let sweep = self.sweep.insert(sweep);
        sweep.walk(time, usize::MAX, &mut NoWatcher);
        sweep
    }

    /// What was summed up from the log's beginning to a time.
    pub fn totals(&mut self, time: Nanos) -> Totals {
        self.go(time.0).totals()
    }

    /// For how long, up to a time, some capability stood by outside of pauses.
    pub(crate) fn some_idle_ns(&mut self, time: Nanos) -> u64 {
        self.go(time.0).state.some_idle_ns
    }

    /// For how long, up to a time, a capability stood by while a thread was ready.
    pub fn idle_ready_ns(&mut self, cap: CapId, time: Nanos) -> u64 {
        let lane = self.account.lane(cap);
        let sweep = self.go(time.0);
        let track = lane.and_then(|lane| sweep.tracks.get(lane));
        track.map_or(0, |track| track.idle_ready_ns(sweep.state.work_ns))
    }

    /// How many threads are ready, and how many capabilities run threads, from a
    /// time to another.
    pub fn levels_in(&mut self, from: Nanos, to: Nanos) -> Counts {
        let sums = |sweep: &Sweep<'_>| (sweep.state.ready_ns, capability_time(&sweep.running_ns));
        let marks = &self.account.ledger.marks;
        let sweep = self.go(from.0);
        let (ready_ns, ran_ns) = sums(sweep);
        sweep.take_levels();
        let next = marks.times.partition_point(|at| at <= sweep.state.now);
        let last = marks.times.partition_point(|at| at <= to.0);
        let mut levels = None;
        if next < last {
            // To the first mark, over whole stretches, and on from the last.
            sweep.walk(
                marks.times.get(next).unwrap_or_default(),
                usize::MAX,
                &mut NoWatcher,
            );
            levels = sweep.take_levels();
            let whole = marks.levels.query(next, last - 1);
            levels = levels.into_iter().chain(whole).reduce(Levels::combine);
        }
        let sweep = self.go(to.0);
        let rest = sweep.take_levels();
        let levels = levels.into_iter().chain(rest).reduce(Levels::combine);
        let levels = levels.unwrap_or_default();
        let level = |(min, max), sum_ns| Level { min, max, sum_ns };
        let (ready_now_ns, ran_now_ns) = sums(sweep);
        Counts {
            ready: level(levels.ready, ready_now_ns.saturating_sub(ready_ns)),
            running: level(levels.running, ran_now_ns.saturating_sub(ran_ns)),
        }
    }
}
