//! A walk through the log in the order of time, over the runs of all
//! capabilities at once: how many run, how many stand by, how many threads are
//! ready. It counts for how long each was so.
//!
//! What it needs it reads from the columns of runs. It is done once when the log
//! is read, and leaves marks behind; any moment is then found by going on
//! from the mark before it, over a few hundred ends of runs at most.

use super::Account;
use super::order::{MAX_TIME, Order, Places, What};
use super::runs::NextRun;
use eventlog::ids::{CapId, Nanos};
use model::forest::{Aggregate, Forest};
use model::lane::Lane;

/// What was summed up from the beginning of the log to some moment, in
/// nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// For how long exactly so many capabilities ran threads.
    pub running_ns: Vec<u64>,
    /// For how long each capability, by its place among all, stood by while a
    /// thread was ready.
    pub idle_ready_ns: Vec<u64>,
    /// For how long, outside of pauses, some capability stood by.
    pub some_idle_ns: u64,
    /// How long threads were ready, all together.
    pub ready_ns: u64,
    /// How long a collection went on or was being stopped for.
    pub paused_ns: u64,
}

/// The capabilities' time, of the time for which exactly so many of them ran.
pub(super) fn capability_time(parallelism_ns: &[u64]) -> u64 {
    let each = (0u64..).zip(parallelism_ns);
    each.map(|(count, time)| count.saturating_mul(*time))
        .fold(0, u64::saturating_add)
}

impl Totals {
    fn new(caps: usize) -> Self {
        Self {
            running_ns: vec![0; caps + 1],
            idle_ready_ns: vec![0; caps],
            ..Self::default()
        }
    }

    /// What came after an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |a: &[u64], b: &[u64]| {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| a.saturating_sub(*b)).collect()
        };
        Self {
            running_ns: minus(&self.running_ns, &earlier.running_ns),
            idle_ready_ns: minus(&self.idle_ready_ns, &earlier.idle_ready_ns),
            some_idle_ns: self.some_idle_ns.saturating_sub(earlier.some_idle_ns),
            ready_ns: self.ready_ns.saturating_sub(earlier.ready_ns),
            paused_ns: self.paused_ns.saturating_sub(earlier.paused_ns),
        }
    }
}

/// What a number that changes was from one moment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
    /// The number times how long it was so, in nanoseconds: its mean over time
    /// is this divided by the length.
    pub sum_ns: u64,
}

/// What the walk counts, from one moment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Threads that are ready.
    pub ready: Level,
    /// Capabilities that run threads.
    pub running: Level,
}

/// The least and the most of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Levels {
    /// Of ready threads.
    ready: (u32, u32),
    /// Of capabilities that run.
    running: (u32, u32),
}

impl Levels {
    /// Of no time at all.
    const NONE: Self = Self {
        ready: (u32::MAX, 0),
        running: (u32::MAX, 0),
    };
}

impl Aggregate for Levels {
    fn combine(self, later: Self) -> Self {
        let both = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            ready: both(self.ready, later.ready),
            running: both(self.running, later.running),
        }
    }
}

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
    /// The time with ready threads before it began to stand by.
    free_since_work_ns: u64,
}

impl Track {
    const fn stands_by(&self) -> bool {
        self.open && !self.runs
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

/// The walk.
#[derive(Debug)]
pub(super) struct Sweep<'a> {
    account: Account<'a>,
    order: Order<'a>,
    tracks: Vec<Track>,
    /// Up to when all is counted.
    pub(super) now: u64,
    running: usize,
    free: usize,
    ready: i64,
    places: Places,
    paused_until: u64,
    /// The time in which any thread was ready.
    work_ns: u64,
    totals: Totals,
    /// Since it was last taken.
    levels: Levels,
    /// How many ends and beginnings came.
    steps: usize,
}

impl<'a> Sweep<'a> {
    /// A walk that begins where the log does.
    pub(super) fn new(account: Account<'a>) -> Self {
        let lanes = account.lanes.len();
        let now = account.ledger.log.start().0.min(MAX_TIME);
        let totals = Totals::new(lanes.saturating_sub(1));
        let tracks = vec![Track::default(); lanes];
        Self::from(account, now, totals, tracks, Places::default())
    }

    /// A walk that begins at some moment.
    fn from(
        account: Account<'a>,
        now: u64,
        totals: Totals,
        tracks: Vec<Track>,
        places: Places,
    ) -> Self {
        let runs = tracks.iter().map(|track| (track.run, track.runs));
        let mut sweep = Self {
            account,
            order: Order::new(account, now, runs, places),
            tracks,
            now,
            running: 0,
            free: 0,
            ready: 0,
            places,
            paused_until: 0,
            work_ns: 0,
            totals,
            levels: Levels::NONE,
            steps: 0,
        };
        for lane in 0..sweep.tracks.len() {
            sweep.turn(lane);
        }
        sweep
    }

    /// A walk that goes on from the last mark that is not after `time`.
    fn from_mark(account: Account<'a>, marks: &Marks, time: u64) -> Self {
        let after = marks.times.partition_point(|&at| at <= time);
        let Some(mark) = after.checked_sub(1).filter(|&mark| mark > 0) else {
            return Self::new(account);
        };
        let lanes = account.lanes.len();
        let caps = lanes.saturating_sub(1);
        fn row<T>(all: &[T], mark: usize, width: usize) -> &[T] {
            let row = all.get(mark * width..(mark + 1) * width);
            row.unwrap_or_default()
        }
        let now = marks.times[mark];
        let ledger = account.ledger;
        let totals = Totals {
            running_ns: row(&marks.running_ns, mark, caps + 1).to_vec(),
            idle_ready_ns: row(&marks.idle_ready_ns, mark, caps).to_vec(),
            some_idle_ns: marks.some_idle_ns[mark],
            ready_ns: marks.ready_ns[mark],
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
        let runs = row(&marks.runs, mark, lanes);
        let tracks = runs.iter().zip(account.lanes).enumerate();
        let tracks = tracks.map(|(lane, (&run, cap))| {
            let run = run as usize;
            let pieces = account.pieces(lane);
            Track {
                run,
                runs: run < cap.runs.len() && cap.runs.start(run) <= now,
                piece: pieces.map_or(0, |pieces| pieces.first_ending_after(now)),
                ..Track::default()
            }
        });
        let mut sweep = Self::from(account, now, totals, tracks.collect(), places);
        sweep.ready = marks.ready[mark];
        sweep
    }

    /// Goes on up to a time, or to the first moment after so many steps at which
    /// all is done that happens then.
    fn walk(&mut self, to: u64, steps: usize, watcher: &mut impl Watcher) {
        let to = to.min(MAX_TIME);
        let limit = self.steps.saturating_add(steps);
        while self.order.arrange(to, self.now) {
            while let Some((time, what)) = self.order.next() {
                if time > self.now {
                    if self.steps >= limit {
                        return;
                    }
                    self.pass(time);
                }
                self.order.advance();
                self.steps += 1;
                self.step(what, watcher);
            }
        }
        if to > self.now {
            self.pass(to);
        }
    }

    const fn moment(&self) -> Moment {
        Moment {
            time: self.now,
            some_idle_ns: self.totals.some_idle_ns,
            paused_until: self.paused_until,
        }
    }

    /// Something happens now.
    #[inline]
    fn step(&mut self, what: What, watcher: &mut impl Watcher) {
        let places = &mut self.places;
        match what {
            What::Run(lane) => self.toggle_run(lane, watcher),
            What::Turn(lane) => self.turn(lane),
            What::Readied => {
                if let Some(thread) = self.order.readied(places.readied) {
                    places.readied += 1;
                    watcher.readied(thread, self.moment());
                } else {
                    places.readied += 1;
                }
                self.ready += 1;
            }
            What::Lost => {
                places.lost += 1;
                self.ready -= 1;
            }
            What::Pause => {
                places.pause += usize::from(places.paused);
                places.paused = !places.paused;
            }
        }
    }

    /// Nothing changes up to a time.
    #[inline]
    fn pass(&mut self, to: u64) {
        let time = to - self.now;
        self.now = to;
        self.totals.running_ns[self.running] += time;
        if self.places.paused {
            self.totals.paused_ns += time;
            self.paused_until = to;
        } else if self.free > 0 {
            self.totals.some_idle_ns += time;
        }
        let ready = u32::try_from(self.ready.max(0)).unwrap_or(u32::MAX);
        if ready > 0 {
            self.work_ns += time;
            let sum = u64::from(ready).saturating_mul(time);
            self.totals.ready_ns = self.totals.ready_ns.saturating_add(sum);
        }
        let running = u32::try_from(self.running).unwrap_or(u32::MAX);
        self.levels = self.levels.combine(Levels {
            ready: (ready, ready),
            running: (running, running),
        });
    }

    /// A run of a lane begins or ends now.
    #[inline]
    fn toggle_run(&mut self, lane: usize, watcher: &mut impl Watcher) {
        let (place, ends) = (self.tracks[lane].run, self.tracks[lane].runs);
        let Some(run) = self.order.run(lane, place) else {
            return;
        };
        if !ends {
            watcher.starts(lane, place, run, self.moment());
            self.ready -= i64::from(run.was_ready);
        } else if run.stays_ready {
            watcher.stays_ready(run, self.moment());
            self.ready += 1;
        }
        self.leave(lane);
        let track = &mut self.tracks[lane];
        track.run += usize::from(ends);
        track.runs = !ends;
        self.enter(lane);
    }

    /// What a lane's pieces and its life say from now on.
    #[cold]
    fn turn(&mut self, lane: usize) {
        let now = self.now;
        let mut stands = false;
        if let Some(pieces) = self.account.pieces(lane) {
            let piece = &mut self.tracks[lane].piece;
            let ended = |piece: usize| pieces.span(piece).1.min(MAX_TIME) <= now;
            while *piece < pieces.len() && ended(*piece) {
                *piece += 1;
            }
            stands = *piece < pieces.len() && pieces.span(*piece).0 <= now;
        }
        let (born, dead) = self.account.life(lane);
        let is_cap = lane > 0;
        self.leave(lane);
        self.tracks[lane].open = is_cap && born <= now && now < dead && !stands;
        self.enter(lane);
    }

    /// Before what a capability does changes.
    #[inline]
    fn leave(&mut self, lane: usize) {
        let track = &self.tracks[lane];
        if track.open && track.runs {
            self.running -= 1;
        } else if track.open {
            self.free -= 1;
            self.totals.idle_ready_ns[lane - 1] += self.work_ns - track.free_since_work_ns;
        }
    }

    /// After what a capability does has changed.
    #[inline]
    fn enter(&mut self, lane: usize) {
        let track = &mut self.tracks[lane];
        if track.open && track.runs {
            self.running += 1;
        } else if track.open {
            self.free += 1;
            track.free_since_work_ns = self.work_ns;
        }
    }

    /// How many threads were ready since this was last asked, if any time went by.
    fn take_levels(&mut self) -> Option<Levels> {
        let levels = std::mem::replace(&mut self.levels, Levels::NONE);
        (levels != Levels::NONE).then_some(levels)
    }

    /// What was summed up to now.
    fn totals(&self) -> Totals {
        let mut totals = self.totals.clone();
        let tracks = self.tracks.iter().skip(1);
        for (track, time) in tracks.zip(&mut totals.idle_ready_ns) {
            if track.stands_by() {
                *time += self.work_ns - track.free_since_work_ns;
            }
        }
        totals
    }
}

/// The state of the walk at some moments.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// For each, up to when all was counted.
    times: Vec<u64>,
    ready: Vec<i64>,
    some_idle_ns: Vec<u64>,
    ready_ns: Vec<u64>,
    /// For each as many as there are lanes.
    runs: Vec<u32>,
    /// For each one more than there are capabilities.
    running_ns: Vec<u64>,
    /// For each as many as there are capabilities.
    idle_ready_ns: Vec<u64>,
    /// From one to the next.
    levels: Forest<Levels>,
}

impl Marks {
    /// Walks through all of the log.
    pub(super) fn make(mut sweep: Sweep<'_>, end: u64, watcher: &mut impl Watcher) -> Self {
        // A mark costs about twenty bytes a capability: some for each of them.
        let steps = 64 * (sweep.tracks.len() + 1);
        let mut marks = Self::default();
        loop {
            marks.push(&sweep);
            sweep.walk(end, steps, watcher);
            marks.levels.push(sweep.take_levels().unwrap_or_default());
            if sweep.order.is_over(end) {
                break;
            }
        }
        marks
    }

    fn push(&mut self, sweep: &Sweep<'_>) {
        let totals = sweep.totals();
        self.times.push(sweep.now);
        self.ready.push(sweep.ready);
        self.some_idle_ns.push(totals.some_idle_ns);
        self.ready_ns.push(totals.ready_ns);
        let runs = sweep.tracks.iter();
        self.runs
            .extend(runs.map(|track| u32::try_from(track.run).unwrap_or(u32::MAX)));
        self.running_ns.extend(totals.running_ns);
        self.idle_ready_ns.extend(totals.idle_ready_ns);
    }
}

/// A place in the log from which later moments are found in a few steps.
#[derive(Debug)]
pub struct Walker<'a> {
    account: Account<'a>,
    sweep: Sweep<'a>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(account: Account<'a>) -> Self {
        Self {
            account,
            sweep: Sweep::new(account),
        }
    }

    /// Goes to a time.
    fn go(&mut self, time: u64) {
        let marks = &self.account.ledger.marks;
        let time = time.min(self.account.ledger.log.end().0).min(MAX_TIME);
        let mark = marks.times.partition_point(|&at| at <= time);
        let mark = mark.checked_sub(1).and_then(|mark| marks.times.get(mark));
        let nearer = mark.is_some_and(|&mark| mark > self.sweep.now);
        if nearer || time < self.sweep.now {
            self.sweep = Sweep::from_mark(self.account, marks, time);
        }
        self.sweep.walk(time, usize::MAX, &mut NoWatcher);
    }

    /// What was summed up from the log's beginning to a time.
    pub fn totals(&mut self, time: Nanos) -> Totals {
        self.go(time.0);
        self.sweep.totals()
    }

    /// For how long, up to a time, some capability stood by outside of pauses.
    pub(crate) fn some_idle_ns(&mut self, time: Nanos) -> u64 {
        self.go(time.0);
        self.sweep.totals.some_idle_ns
    }

    /// For how long, up to a time, a capability stood by while a thread was ready.
    pub fn idle_ready_ns(&mut self, cap: CapId, time: Nanos) -> u64 {
        self.go(time.0);
        let place = usize::from(cap.0);
        let known = self.sweep.totals.idle_ready_ns.get(place);
        let open = self.sweep.tracks.get(place + 1);
        let open = open.filter(|track| track.stands_by());
        let open_ns = open.map_or(0, |track| self.sweep.work_ns - track.free_since_work_ns);
        known.copied().unwrap_or_default() + open_ns
    }

    /// How many threads are ready, and how many capabilities run threads, from a
    /// time to another.
    pub fn levels_in(&mut self, from: Nanos, to: Nanos) -> Counts {
        self.go(from.0);
        let sums = |totals: &Totals| (totals.ready_ns, capability_time(&totals.running_ns));
        let (ready_ns, ran_ns) = sums(&self.sweep.totals);
        self.sweep.take_levels();
        let marks = &self.account.ledger.marks;
        let next = marks.times.partition_point(|&at| at <= self.sweep.now);
        let last = marks.times.partition_point(|&at| at <= to.0);
        let mut levels = None;
        if next < last {
            // To the first mark, over whole stretches, and on from the last.
            self.sweep
                .walk(marks.times[next], usize::MAX, &mut NoWatcher);
            levels = self.sweep.take_levels();
            let whole = marks.levels.query(next, last - 1);
            levels = levels.into_iter().chain(whole).reduce(Levels::combine);
        }
        self.go(to.0);
        let rest = self.sweep.take_levels();
        let levels = levels.into_iter().chain(rest).reduce(Levels::combine);
        let levels = levels.unwrap_or_default();
        let level = |(min, max), sum_ns| Level { min, max, sum_ns };
        let (ready_now_ns, ran_now_ns) = sums(&self.sweep.totals);
        Counts {
            ready: level(levels.ready, ready_now_ns.saturating_sub(ready_ns)),
            running: level(levels.running, ran_now_ns.saturating_sub(ran_ns)),
        }
    }
}
