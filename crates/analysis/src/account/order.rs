//! What happens in a log, in the order of time: runs begin and end on all lanes, threads
//! become ready, collections come and go.
//!
//! The columns are read a block at a time. All that comes before the end of what was read
//! is put in order at once. For that, each moment is one number: its time, and below it
//! the number of the source that it is from. So lists of numbers are sorted that are in
//! order already but for the lanes, which is the quickest that sorting can be.

use super::Account;
use super::pauses::Pause;
use super::pieces::Pieces;
use super::runs::{NextRun, RunLane};
use model::lane::Lane;
use model::moments::Moments;
use model::pages::BLOCK;

/// No time is later.
pub(super) const MAX_TIME: u64 = u64::MAX >> 2;
const NEVER: u64 = u64::MAX;

/// Times are kept with one bit below them: what happens at one time happens in
/// two steps, so that empty runs come before others.
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
    fn time(&self) -> u64 {
        self.nodes[1]
    }

    /// When the next one of a source is.
    fn of(&self, source: usize) -> u64 {
        self.nodes[self.nodes.len() / 2 + source]
    }

    /// The number of the source that the next one comes from.
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

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The next run of a lane begins, or the one that goes on ends.
    Run(usize),
    /// What a lane's pieces and its life say changes.
    Turn(usize),
    /// A thread becomes ready.
    Readied,
    /// The log ceases to tell of a ready thread.
    Lost,
    /// The next pause begins, or the one that goes on ends.
    Pause,
}

/// Sources beside the lanes: the last three of [`What`].
const OTHER_SOURCES: usize = 3;

/// Which of the moments of each source beside the lanes is the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    pub(super) readied: usize,
    pub(super) lost: usize,
    pub(super) pause: usize,
    /// Whether that pause goes on.
    pub(super) paused: bool,
}

/// Where something comes from, in order.
trait Source {
    /// When the next moment is.
    fn key(&self) -> u64;
    /// On to the moment after it.
    fn step(&mut self);
}

/// The rest of a list, of which some is read ahead.
#[derive(Clone, Debug)]
struct Ahead<T> {
    read: Vec<T>,
    /// The place of the first that is read.
    first: usize,
    /// Which of those that are read comes next.
    at: usize,
}

impl<T> Ahead<T> {
    const fn from(place: usize) -> Self {
        Self {
            read: Vec::new(),
            first: place,
            at: 0,
        }
    }

    /// Reads on, and forgets what came. The last one, if there was more.
    fn read_on(&mut self, read: impl FnOnce(usize, &mut Vec<T>)) -> Option<&T> {
        self.read.drain(..self.at);
        self.first += self.at;
        self.at = 0;
        let before = self.read.len();
        read(self.first + before, &mut self.read);
        self.read.get(before..)?.last()
    }

    fn has_enough(&self) -> bool {
        self.read.len() - self.at >= 2 * BLOCK
    }

    fn next(&self) -> Option<&T> {
        self.read.get(self.at)
    }

    #[inline]
    fn get(&self, place: usize) -> Option<&T> {
        self.read.get(place.wrapping_sub(self.first))
    }
}

/// The begins and ends of a lane's runs.
#[derive(Clone, Debug)]
struct Runs<'a> {
    lane: &'a RunLane,
    ahead: Ahead<NextRun>,
    has_begun: bool,
}

impl Source for Runs<'_> {
    #[inline]
    fn key(&self) -> u64 {
        self.ahead.next().map_or(NEVER, |run| {
            if self.has_begun {
                first_step(run.end)
            } else {
                first_step(run.start) | u64::from(run.start < run.end)
            }
        })
    }

    #[inline]
    fn step(&mut self) {
        self.ahead.at += usize::from(self.has_begun);
        self.has_begun = !self.has_begun;
    }
}

/// When a lane is born and dies, and when it begins and ceases to do what is neither
/// running nor standing by.
#[derive(Clone, Debug)]
struct Turns<'a> {
    pieces: Option<&'a Pieces>,
    piece: usize,
    is_inside: bool,
    life: [u64; 2],
    lived: usize,
}

impl Turns<'_> {
    fn piece(&self) -> Option<(u64, u64)> {
        let pieces = self.pieces.filter(|pieces| self.piece < pieces.len());
        pieces.map(|pieces| pieces.span(self.piece))
    }

    fn piece_key(&self) -> u64 {
        let bound = |(start, end)| if self.is_inside { end } else { start };
        self.piece().map_or(NEVER, |span| first_step(bound(span)))
    }

    fn life_key(&self) -> u64 {
        self.life
            .get(self.lived)
            .map_or(NEVER, |&time| first_step(time))
    }
}

impl Source for Turns<'_> {
    fn key(&self) -> u64 {
        self.piece_key().min(self.life_key())
    }

    fn step(&mut self) {
        if self.life_key() < self.piece_key() {
            self.lived += 1;
            return;
        }
        let Some((_, mut end)) = self.piece() else {
            return;
        };
        self.is_inside = !self.is_inside;
        if !self.is_inside {
            self.piece += 1;
            return;
        }
        // From one piece to another nothing changes.
        while let Some(pieces) = self.pieces
            && self.piece + 1 < pieces.len()
            && pieces.span(self.piece + 1).0 <= end
        {
            self.piece += 1;
            end = pieces.span(self.piece).1;
        }
    }
}

/// When threads become ready.
#[derive(Clone, Debug)]
struct Readied<'a> {
    moments: &'a Moments,
    ahead: Ahead<(u64, Option<u32>)>,
}

impl Source for Readied<'_> {
    fn key(&self) -> u64 {
        self.ahead
            .next()
            .map_or(NEVER, |&(time, _)| first_step(time))
    }
    fn step(&mut self) {
        self.ahead.at += 1;
    }
}

/// When the log ceases to tell of ready threads.
#[derive(Clone, Debug)]
struct Lost<'a>(&'a [u64]);

impl Source for Lost<'_> {
    fn key(&self) -> u64 {
        self.0.first().map_or(NEVER, |&time| first_step(time))
    }
    fn step(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }
}

/// The begins and ends of pauses.
#[derive(Clone, Debug)]
struct PauseBounds<'a> {
    pauses: &'a [Pause],
    has_begun: bool,
}

impl Source for PauseBounds<'_> {
    fn key(&self) -> u64 {
        self.pauses.first().map_or(NEVER, |pause| {
            let time = if self.has_begun {
                pause.end
            } else {
                pause.requested
            };
            first_step(time.0)
        })
    }
    fn step(&mut self) {
        if self.has_begun {
            self.pauses = self.pauses.get(1..).unwrap_or_default();
        }
        self.has_begun = !self.has_begun;
    }
}

/// Moments, to be put in order: each is one number, when it is since `base` above the
/// number of its source.
#[derive(Clone, Debug)]
struct Sorting {
    moments: Vec<u64>,
    base: u64,
    source_bits: u32,
}

impl Sorting {
    /// Takes what comes before a time from a source. When it goes on.
    fn take(&mut self, number: usize, source: &mut impl Source, limit: u64) -> u64 {
        // Times go back only in damaged logs.
        let mut last = self.base;
        loop {
            let key = source.key();
            if key >= limit {
                return key;
            }
            last = last.max(key);
            let moment = (last - self.base) << self.source_bits | number as u64;
            self.moments.push(moment);
            source.step();
        }
    }
}

/// Puts what happens in order.
#[derive(Debug)]
pub(super) struct Order<'a> {
    runs: Vec<Runs<'a>>,
    turns: Vec<Turns<'a>>,
    readied: Readied<'a>,
    lost: Lost<'a>,
    pauses: PauseBounds<'a>,
    /// What each source has next that is not in order yet.
    next: Earliest,
    /// Before when all of each source is read.
    known: Earliest,
    sorting: Sorting,
    /// Which of the moments in order is the next.
    at: usize,
}

impl<'a> Order<'a> {
    /// All after a time; of each lane, which run is next and whether it has begun.
    pub(super) fn new(
        account: Account<'a>,
        now: u64,
        runs: impl Iterator<Item = (usize, bool)>,
        places: Places,
    ) -> Self {
        let ledger = account.ledger;
        let runs = account.lanes.iter().zip(runs);
        let runs: Vec<Runs<'_>> = runs
            .map(|(cap, (run, has_begun))| Runs {
                lane: &cap.runs,
                ahead: Ahead::from(run),
                has_begun,
            })
            .collect();
        let turns = (0..runs.len()).map(|lane| {
            let pieces = account.pieces(lane);
            let (born, dead) = account.life(lane);
            let life = [born, dead.max(born)];
            let piece = pieces.map_or(0, |pieces| pieces.first_ending_after(now));
            let mut turns = Turns {
                pieces,
                piece,
                is_inside: false,
                life,
                lived: life.partition_point(|&time| time <= now),
            };
            if turns.piece_key() <= first_step(now) {
                turns.step();
            }
            turns
        });
        let sources = 2 * runs.len() + OTHER_SOURCES;
        let mut order = Self {
            turns: turns.collect(),
            readied: Readied {
                moments: &ledger.readied,
                ahead: Ahead::from(places.readied),
            },
            lost: Lost(ledger.lost.get(places.lost..).unwrap_or_default()),
            pauses: PauseBounds {
                pauses: ledger.pauses.all().get(places.pause..).unwrap_or_default(),
                has_begun: places.paused,
            },
            next: Earliest::new(sources),
            known: Earliest::new(sources),
            sorting: Sorting {
                moments: Vec::new(),
                base: first_step(now),
                source_bits: sources.next_power_of_two().trailing_zeros(),
            },
            at: 0,
            runs,
        };
        for source in 0..sources {
            order.read_on(source);
            // Nothing is before that.
            order.take(source, 0);
        }
        order
    }

    #[inline]
    fn what(&self, source: usize) -> What {
        let lanes = self.runs.len();
        if source < lanes {
            return What::Run(source);
        }
        match source - lanes {
            lane if lane < lanes => What::Turn(lane),
            other if other == lanes => What::Readied,
            other if other == lanes + 1 => What::Lost,
            _ => What::Pause,
        }
    }

    /// A run of a lane that begins or ends now.
    #[inline]
    pub(super) fn run(&self, lane: usize, place: usize) -> Option<&NextRun> {
        self.runs[lane].ahead.get(place)
    }

    /// The thread that becomes ready now.
    #[inline]
    pub(super) fn readied(&self, place: usize) -> Option<u32> {
        self.readied
            .ahead
            .get(place)
            .and_then(|&(_, thread)| thread)
    }

    /// When each thing happens that is [in order](Self::arrange), and what.
    #[inline]
    pub(super) fn moments(&self) -> impl Iterator<Item = (u64, What)> {
        let Sorting {
            moments,
            base,
            source_bits,
        } = &self.sorting;
        let (base, bits) = (*base, *source_bits);
        let rest = moments.get(self.at..).unwrap_or_default();
        rest.iter().map(move |moment| {
            let source = moment & ((1 << bits) - 1);
            let time = (base + (moment >> bits)) >> 1;
            (time, self.what(source as usize))
        })
    }

    /// So many of them have happened.
    pub(super) const fn advance(&mut self, moments: usize) {
        self.at += moments;
    }

    /// Whether nothing happens any more up to a time.
    pub(super) fn is_over(&self, to: u64) -> bool {
        self.at >= self.sorting.moments.len() && self.next.time() > (first_step(to) | 1)
    }

    /// Puts more in order, but nothing after a time, if all has happened that was.
    /// Whether there is more.
    pub(super) fn arrange(&mut self, to: u64, now: u64) -> bool {
        if self.at < self.sorting.moments.len() {
            return true;
        }
        let end = (first_step(to) | 1) + 1;
        if self.next.time() >= end {
            return false;
        }
        while self.known.time() <= self.next.time() {
            self.read_on(self.known.source());
        }
        let base = self.next.time().max(first_step(now));
        let most = base.saturating_add(u64::MAX >> self.sorting.source_bits);
        let limit = end.min(self.known.time()).min(most);
        self.sorting.base = base;
        self.sorting.moments.clear();
        self.at = 0;
        while self.next.time() < limit {
            let source = self.next.source();
            while !self.has_enough(source) && self.known.of(source) < end {
                self.read_on(source);
            }
            self.take(source, limit);
        }
        self.sorting.moments.sort();
        true
    }

    /// Whether so much of a source is read ahead that it is worth to sort it.
    fn has_enough(&self, source: usize) -> bool {
        match self.what(source) {
            What::Run(lane) => self.runs[lane].ahead.has_enough(),
            What::Readied => self.readied.ahead.has_enough(),
            What::Turn(_) | What::Lost | What::Pause => true,
        }
    }

    /// Reads more of a source, if it must be read.
    fn read_on(&mut self, source: usize) {
        let last = match self.what(source) {
            What::Run(lane) => {
                let Runs { lane, ahead, .. } = &mut self.runs[lane];
                let last = ahead.read_on(|place, next| lane.read(place, next));
                last.map(|run| run.end)
            }
            What::Readied => {
                let Readied { moments, ahead } = &mut self.readied;
                let last = ahead.read_on(|place, next| moments.read(place, next));
                last.map(|&(time, _)| time)
            }
            What::Turn(_) | What::Lost | What::Pause => None,
        };
        self.known.set(source, last.map_or(NEVER, first_step));
    }

    /// Takes from a source what comes before a time.
    fn take(&mut self, source: usize, limit: u64) {
        let (what, sorting) = (self.what(source), &mut self.sorting);
        let next = match what {
            What::Run(lane) => sorting.take(source, &mut self.runs[lane], limit),
            What::Turn(lane) => sorting.take(source, &mut self.turns[lane], limit),
            What::Readied => sorting.take(source, &mut self.readied, limit),
            What::Lost => sorting.take(source, &mut self.lost, limit),
            What::Pause => sorting.take(source, &mut self.pauses, limit),
        };
        self.next.set(source, next);
    }
}
