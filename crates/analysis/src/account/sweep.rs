//! A walk through the log in the order of time, over the runs of all
//! capabilities at once: how many run, how many stand by, how many threads are
//! ready. It counts for how long each was so.
//!
//! What it needs it reads from the columns of runs. It is done once when the log
//! is read, and leaves marks behind; any moment is then found by going on
//! from the mark before it, over a few hundred ends of runs at most.

use super::Account;
use eventlog::ids::{CapId, Nanos};
use model::class::StopCode;
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
    /// When that can change next: it is not looked at before.
    turn: u64,
    /// The time with ready threads before it began to stand by.
    free_since_work_ns: u64,
}

impl Track {
    const fn stands_by(&self) -> bool {
        self.open && !self.runs
    }
}

/// What whoever walks through all of the log wants to know on the way.
pub(crate) trait Watcher {
    /// A run of a lane begins.
    fn starts(&mut self, lane: usize, run: usize, totals: &Totals) {
        let _ = (lane, run, totals);
    }
    /// A run of a lane ends.
    fn ends(&mut self, lane: usize, run: usize, totals: &Totals, now: u64) {
        let _ = (lane, run, totals, now);
    }
    /// The thread of that index can run again, or for the first time.
    fn readied(&mut self, thread: u32, totals: &Totals, now: u64) {
        let _ = (thread, totals, now);
    }
}

/// Nobody.
pub(super) struct NoWatcher;

impl Watcher for NoWatcher {}

/// Times are kept with one bit below them: what happens at one time happens in
/// two steps, so that empty runs come before others.
const MAX_TIME: u64 = u64::MAX >> 2;
const NEVER: u64 = u64::MAX;

const fn first_step(time: u64) -> u64 {
    let time = if time > MAX_TIME { MAX_TIME } else { time };
    time << 1
}

/// Which of several sources is the next, by a tree of which each node is the
/// earlier of two.
#[derive(Clone, Debug)]
struct Earliest {
    /// The leaves are in the second half.
    nodes: Vec<u64>,
}

impl Earliest {
    fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two();
        Self {
            nodes: vec![NEVER; 2 * leaves],
        }
    }

    #[inline]
    fn set(&mut self, source: usize, time: u64) {
        let mut at = self.nodes.len() / 2 + source;
        self.nodes[at] = time;
        while at > 1 {
            let least = self.nodes[at].min(self.nodes[at ^ 1]);
            at /= 2;
            self.nodes[at] = least;
        }
    }

    /// When the next one is.
    #[inline]
    fn time(&self) -> u64 {
        self.nodes[1]
    }

    /// When the next one is of all but this source.
    #[inline]
    fn time_beside(&self, source: usize) -> u64 {
        let (mut at, mut least) = (self.nodes.len() / 2 + source, NEVER);
        while at > 1 {
            least = least.min(self.nodes[at ^ 1]);
            at /= 2;
        }
        least
    }

    /// The number of the source that the next one comes from.
    #[inline]
    fn source(&self) -> usize {
        let leaves = self.nodes.len() / 2;
        let mut at = 1;
        while at < leaves {
            at *= 2;
            at += usize::from(self.nodes[at] != self.nodes[at / 2]);
        }
        at - leaves
    }
}

/// Sources beside the lanes: threads that become ready, ready threads of which
/// the log tells no more, pauses.
const OTHER_SOURCES: usize = 3;

/// The walk.
#[derive(Debug)]
pub(super) struct Sweep<'a> {
    account: Account<'a>,
    tracks: Vec<Track>,
    next: Earliest,
    /// Up to when all is counted.
    pub(super) now: u64,
    running: usize,
    free: usize,
    ready: i64,
    /// The moments that came: threads that became ready, and ready ones of
    /// which the log tells no more.
    readied: usize,
    lost: usize,
    pause: usize,
    paused: bool,
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
        let mut sweep = Self::unbegun(account);
        sweep.begin();
        sweep
    }

    /// A walk at the beginning of the log, of which no source was asked.
    fn unbegun(account: Account<'a>) -> Self {
        let lanes = account.lanes.len();
        Self {
            account,
            tracks: vec![Track::default(); lanes],
            next: Earliest::new(lanes + OTHER_SOURCES),
            now: account.ledger.log.start().0.min(MAX_TIME),
            running: 0,
            free: 0,
            ready: 0,
            readied: 0,
            lost: 0,
            pause: 0,
            paused: false,
            work_ns: 0,
            totals: Totals::new(lanes.saturating_sub(1)),
            levels: Levels::NONE,
            steps: 0,
        }
    }

    /// A walk that goes on from the last mark that is not after `time`.
    fn from_mark(account: Account<'a>, marks: &Marks, time: u64) -> Self {
        let after = marks.times.partition_point(|&at| at <= time);
        let Some(mark) = after.checked_sub(1).filter(|&mark| mark > 0) else {
            return Self::new(account);
        };
        let mut sweep = Self::unbegun(account);
        let lanes = sweep.tracks.len();
        let caps = lanes.saturating_sub(1);
        fn row<T>(all: &[T], mark: usize, width: usize) -> &[T] {
            let row = all.get(mark * width..(mark + 1) * width);
            row.unwrap_or_default()
        }
        let now = marks.times[mark];
        let ledger = account.ledger;
        sweep.now = now;
        sweep.ready = marks.ready[mark];
        sweep.totals = Totals {
            running_ns: row(&marks.running_ns, mark, caps + 1).to_vec(),
            idle_ready_ns: row(&marks.idle_ready_ns, mark, caps).to_vec(),
            some_idle_ns: marks.some_idle_ns[mark],
            ready_ns: marks.ready_ns[mark],
            paused_ns: ledger.pauses.still_before(Nanos(now)),
        };
        sweep.readied = ledger.readied.up_to(now);
        sweep.lost = ledger.lost.partition_point(|&at| at <= now);
        sweep.pause = ledger.pauses.first_ending_after(Nanos(now));
        let pause = ledger.pauses.all().get(sweep.pause);
        sweep.paused = pause.is_some_and(|pause| pause.requested.0 <= now);
        let runs = row(&marks.runs, mark, lanes);
        for (lane, (track, run)) in sweep.tracks.iter_mut().zip(runs).enumerate() {
            track.run = *run as usize;
            let spans = &account.lanes[lane].runs;
            track.runs = track.run < spans.len() && spans.span(track.run).0 <= now;
            if let Some(pieces) = account.pieces(lane) {
                track.piece = pieces.first_ending_after(now);
            }
        }
        sweep.begin();
        sweep
    }

    /// Asks all sources.
    fn begin(&mut self) {
        for lane in 0..self.tracks.len() {
            self.turn(lane);
        }
        for source in 0..self.tracks.len() + OTHER_SOURCES {
            self.next.set(source, self.next_of(source));
        }
    }

    /// Goes on up to a time, or to the first moment after so many steps at which
    /// all is done that happens then.
    fn walk(&mut self, to: u64, steps: usize, watcher: &mut impl Watcher) {
        let to = to.min(MAX_TIME);
        let limit = self.steps.saturating_add(steps);
        loop {
            let mut key = self.next.time();
            if key == NEVER || key >> 1 > to {
                break;
            }
            // As long as nothing else comes before it, it is this one again.
            let source = self.next.source();
            let others = self.next.time_beside(source);
            loop {
                let time = key >> 1;
                if time > self.now {
                    if self.steps >= limit {
                        self.next.set(source, key);
                        return;
                    }
                    self.pass(time);
                }
                self.steps += 1;
                self.step(source, watcher);
                key = self.next_of(source);
                if key >= others || key >> 1 > to {
                    break;
                }
            }
            self.next.set(source, key);
        }
        if to > self.now {
            self.pass(to);
        }
    }

    /// What is next of a source happens now.
    #[inline]
    fn step(&mut self, source: usize, watcher: &mut impl Watcher) {
        match source.checked_sub(self.tracks.len()) {
            None if self.tracks[source].turn >> 1 <= self.now => self.turn(source),
            None => self.toggle_run(source, watcher),
            Some(0) => {
                let thread = self.account.ledger.readied.thread(self.readied);
                if let Some(thread) = thread {
                    watcher.readied(thread, &self.totals, self.now);
                }
                self.readied += 1;
                self.ready += 1;
            }
            Some(1) => {
                self.lost += 1;
                self.ready -= 1;
            }
            Some(_) => {
                self.pause += usize::from(self.paused);
                self.paused = !self.paused;
            }
        }
    }

    /// Nothing changes up to a time.
    #[inline]
    fn pass(&mut self, to: u64) {
        let time = to - self.now;
        self.now = to;
        self.totals.running_ns[self.running] += time;
        if self.paused {
            self.totals.paused_ns += time;
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

    /// When something happens next to a lane or another source.
    #[inline]
    fn next_of(&self, source: usize) -> u64 {
        let ledger = self.account.ledger;
        let time = match source.checked_sub(self.tracks.len()) {
            None => {
                let track = &self.tracks[source];
                let runs = &self.account.lanes[source].runs;
                let run = runs.span_at(track.run).map(|(start, end)| {
                    if track.runs {
                        first_step(end)
                    } else {
                        first_step(start) | u64::from(start < end)
                    }
                });
                Some(run.unwrap_or(NEVER).min(track.turn))
            }
            Some(0) => ledger.readied.time_ns(self.readied).map(first_step),
            Some(1) => ledger.lost.get(self.lost).copied().map(first_step),
            Some(_) => ledger.pauses.all().get(self.pause).map(|pause| {
                let time = if self.paused {
                    pause.end
                } else {
                    pause.requested
                };
                first_step(time.0)
            }),
        };
        time.map_or(NEVER, |time| time.max(first_step(self.now)))
    }

    /// A run of a lane begins or ends now.
    #[inline]
    fn toggle_run(&mut self, lane: usize, watcher: &mut impl Watcher) {
        let runs = &self.account.lanes[lane].runs;
        let (run, ends) = (self.tracks[lane].run, self.tracks[lane].runs);
        if ends {
            watcher.ends(lane, run, &self.totals, self.now);
            let again = runs.code_at(run).is_some_and(StopCode::stays_ready);
            self.ready += i64::from(again);
        } else {
            watcher.starts(lane, run, &self.totals);
            self.ready -= i64::from(runs.was_ready(run));
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
        let mut track = self.tracks[lane];
        let mut stands = false;
        let mut next = NEVER;
        if let Some(pieces) = self.account.pieces(lane) {
            let ended = |piece: usize| pieces.span(piece).1.min(MAX_TIME) <= now;
            while track.piece < pieces.len() && ended(track.piece) {
                track.piece += 1;
            }
            if track.piece < pieces.len() {
                let (start, end) = pieces.span(track.piece);
                stands = start <= now;
                next = first_step(if stands { end } else { start });
            }
        }
        let (born, dead) = self.account.life(lane);
        for time in [born, dead].map(first_step) {
            if time > first_step(now) {
                next = next.min(time);
            }
        }
        track.turn = next;
        let is_cap = lane > 0;
        let open = is_cap && born <= now && now < dead && !stands;
        self.tracks[lane] = track;
        self.leave(lane);
        self.tracks[lane].open = open;
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
            let next = sweep.next.time();
            if next == NEVER || next >> 1 > end.min(MAX_TIME) {
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
