//! One account of time: every nanosecond of every capability, and of every
//! thread, has exactly one class, in any range, the same wherever it is shown.
//!
//! **Of a capability** a run comes first; then what has to do with collections,
//! and what is unknown ([`pieces`]); the rest is idle, with a thread ready or
//! without. **Of a thread** the turns say when it was blocked, ready or running;
//! ready time is in a collection, else while some capability stood by, else
//! behind other threads. **Of the program** there are the collections
//! ([`pauses`]), how many capabilities ran at a time, and how many threads were
//! ready.
//!
//! Runs stand in columns already. Beside them are kept the pieces of each
//! capability, for each run how long its thread was ready before it, and how
//! much of that while some capability stood by, all wakeups and creations, and
//! the marks of the walk ([`sweep`]) by which sums at any moment are found. All intervals are half-open.

pub mod columns;
pub mod costs;
pub mod facts;
mod order;
pub mod pauses;
pub mod phases;
pub mod pieces;
pub mod report;
pub mod runs;
mod search;
mod sources;
pub mod sweep;
pub mod totals;

use facts::Facts;
use pauses::Pauses;
use pieces::{Collections, Pieces};
use sweep::{Marks, Sweep, Walker, Watcher};

use eventlog::cap_table::CapLanes;
use eventlog::ids::{CapId, Nanos};
use model::moments::Moments;
use model::shelf::Shelf;
use model::time::Interval;
use runs::Cap;

/// What is kept of the account, beside the runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    log: Interval,
    /// The capabilities, by number.
    caps: Vec<CapId>,
    cap_lanes: CapLanes,
    /// From when to when each lives; like the next, by lane.
    lives: Vec<(u64, u64)>,
    pieces: Vec<Pieces>,
    pauses: Pauses,
    /// When threads became ready by a wakeup or their creation.
    readied: Moments,
    /// When the log ceased to tell of threads that were ready, in order.
    lost: Vec<u64>,
    marks: Marks,
    /// Whether several processes have written the log: then whether any thread is ready says
    /// nothing of an idle capability, as it may be another process' thread.
    is_of_several: bool,
}

impl Ledger {
    /// The account of a log up to `end`; `watcher` is told of every run on the
    /// way. `readied` is when threads became ready, and which; `lost` when the
    /// log ceased to tell of ready threads.
    pub(crate) fn make(
        facts: &Facts,
        end: Nanos,
        (lanes, cap_lanes): (&[Cap], &CapLanes),
        readied: Moments,
        mut lost: Vec<u64>,
        watcher: &mut impl Watcher,
        shelf: &Shelf,
    ) -> Self {
        lost.sort_unstable();
        let start = facts.log.map_or(Nanos(0), |log| log.start());
        let mut ledger = Self {
            log: Interval::new(start, end.max(start)),
            caps: facts.caps.iter().map(|facts| facts.cap).collect(),
            cap_lanes: cap_lanes.clone(),
            lives: vec![(0, 0); lanes.len()],
            pieces: Vec::new(),
            readied,
            lost,
            ..Self::default()
        };
        let several = facts.by_process();
        ledger.pieces = vec![Pieces::default(); lanes.len()];
        ledger.pauses = if several.is_empty() {
            ledger.collect(facts, lanes)
        } else {
            ledger.is_of_several = true;
            let all = ledger.caps.clone();
            let mut pauses = Vec::new();
            for own in &several {
                ledger.caps = own.caps.iter().map(|facts| facts.cap).collect();
                pauses.push(ledger.collect(own, lanes));
            }
            ledger.caps = all;
            Pauses::together(pauses)
        };
        let account = Account {
            lanes,
            ledger: &ledger,
        };
        let marks = Marks::make(Sweep::new(account), ledger.log.end().0, watcher, shelf);
        ledger.marks = marks;
        ledger.readied.forget_threads();
        ledger
    }

    /// The collections of a process, whose capabilities these are; their pieces are made.
    fn collect(&mut self, facts: &Facts, lanes: &[Cap]) -> Pauses {
        let account = Account {
            lanes,
            ledger: self,
        };
        let pauses = Pauses::of(facts, account);
        let collections = Collections::of(&pauses, &facts.censuses, account);
        let mut made = Vec::new();
        for of in &facts.caps {
            let lane = account
                .lane(of.cap)
                .and_then(|lane| Some((lane, lanes.get(lane)?)));
            let pieces =
                lane.map(|(lane, cap)| (lane, Pieces::of(cap, *of, &collections), of.life));
            made.extend(pieces);
        }
        drop(collections);
        for (lane, pieces, life) in made {
            self.pieces[lane] = pieces;
            self.lives[lane] = (life.start().0, life.end().0);
        }
        pauses
    }
}

/// How time divides in which a thread was ready; the rest of it went by behind
/// other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyParts {
    /// In collections, or while they were being stopped for, in nanoseconds.
    pub paused_ns: u64,
    /// Outside of them, while some capability stood by.
    pub idle_ns: u64,
}

/// The account of a log, to be asked.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    lanes: &'a [Cap],
    ledger: &'a Ledger,
}

impl<'a> Account<'a> {
    pub(crate) const fn new(lanes: &'a [Cap], ledger: &'a Ledger) -> Self {
        Self { lanes, ledger }
    }

    /// The log's first and last moment.
    #[must_use]
    pub const fn log(&self) -> Interval {
        self.ledger.log
    }

    /// The collections of the program.
    #[must_use]
    pub const fn pauses(&self) -> &'a Pauses {
        &self.ledger.pauses
    }

    /// The capabilities, by number.
    #[must_use]
    pub fn caps(&self) -> &'a [CapId] {
        &self.ledger.caps
    }

    /// From when to when a capability lives.
    #[must_use]
    pub fn life_of(&self, cap: CapId) -> Interval {
        let lane = self.lane(cap);
        let (start, end) = lane.map_or((0, 0), |lane| self.life(lane));
        Interval::new(Nanos(start), Nanos(end))
    }

    /// What a capability does beside running and idling, as a lane.
    #[must_use]
    pub fn pieces_of(&self, cap: CapId) -> Option<&'a Pieces> {
        self.pieces(self.lane(cap)?)
    }

    /// A place from which moments near each other are found quickly.
    #[must_use]
    pub fn walker(&self) -> Walker<'a> {
        Walker::new(*self)
    }

    /// How the time divides from one moment to another.
    pub(crate) fn ready_parts(&self, from: u64, to: u64) -> ReadyParts {
        if from >= to {
            return ReadyParts::default();
        }
        let mut walker = self.walker();
        let before_ns = walker.some_idle_ns(Nanos(from));
        ReadyParts {
            paused_ns: self.pauses().still_in(from, to),
            idle_ns: walker.some_idle_ns(Nanos(to)).saturating_sub(before_ns),
        }
    }

    /// The number of the lane of a capability.
    fn lane(&self, cap: CapId) -> Option<usize> {
        self.ledger.cap_lanes.lane(Some(cap))
    }

    /// The lane of a capability.
    fn lane_of(&self, cap: CapId) -> Option<&'a Cap> {
        self.lanes.get(self.lane(cap)?)
    }

    fn pieces(&self, lane: usize) -> Option<&'a Pieces> {
        self.ledger.pieces.get(lane)
    }

    fn life(&self, lane: usize) -> (u64, u64) {
        self.ledger.lives.get(lane).copied().unwrap_or_default()
    }

    /// The lanes of the capabilities.
    fn each_cap(self) -> impl Iterator<Item = (CapId, &'a Cap)> {
        let caps = self.ledger.caps.iter();
        caps.filter_map(move |cap| Some((*cap, self.lane_of(*cap)?)))
    }

    /// When a run of a capability ended; 0 if there is no such run.
    fn run_end(self, cap: CapId, place: u32) -> u64 {
        let lane = self.lane_of(cap);
        let span = lane.and_then(|lane| lane.runs.span_at(place as usize));
        span.map_or(0, |(_, end)| end)
    }
}
