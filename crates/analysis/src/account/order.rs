//! What happens in a log, in the order of time: runs begin and end on all lanes, threads
//! become ready, collections come and go.
//!
//! The columns are read a block at a time. All that comes before the end of what was read
//! is put in order at once. For that, each moment is one number: its time, and below it
//! the number of the source that it is from. So lists of numbers are sorted that are in
//! order already but for the lanes, which is the quickest that sorting can be.

use super::Account;
use super::runs::NextRun;
use super::sources::{Ahead, Lost, NEVER, PauseBounds, Readied, Runs, Source, Turns, first_step};

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
        let turns =
            (0..runs.len()).map(|lane| Turns::after(now, account.pieces(lane), account.life(lane)));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::account::Ledger;
    use crate::account::runs::{Cap, Run};
    use model::class::StopCode;

    proptest! {
        /// Blocks of runs, runs without a length and times far from each other change
        /// nothing.
        #[test]
        fn all_happens_in_the_order_of_time(
            lanes in prop::collection::vec(
                prop::collection::vec((0u64..3, 0u64..3), 0..700), 1..5),
            readied in prop::collection::vec(0u64..4, 0..500),
            unit in prop::sample::select(vec![1u64, 1000, 1 << 49]),
            stops in prop::collection::vec(0u64..2000, 0..4),
        ) {
            let mut expected = Vec::new();
            let mut ledger = Ledger::default();
            let caps: Vec<Cap> = lanes.iter().enumerate().map(|(lane, gaps)| {
                let (mut cap, mut at) = (Cap::default(), 0);
                for (gap, length) in gaps {
                    let start = at + gap * unit;
                    let end = start + length * unit;
                    let (code, ready_ns, idle_ns) = (StopCode(1), None, None);
                    let run = Run { start, end, code, ready_ns, idle_ns, paused: false, woken_by: None };
                    cap.runs.push(7, run);
                    expected.push((2 * start + u64::from(start < end), What::Run(lane)));
                    expected.push((2 * end, What::Run(lane)));
                    at = end;
                }
                cap
            }).collect();
            let mut at = 0;
            for gap in readied {
                at += gap * unit;
                ledger.readied.push(7, at);
                expected.push((2 * at, What::Readied));
            }
            let number = |what| match what {
                What::Run(lane) => lane,
                _ => usize::MAX,
            };
            expected.sort_by_key(|&(key, what)| (key, number(what)));
            let expected: Vec<_> = expected.into_iter().map(|(key, what)| (key / 2, what)).collect();

            let account = Account::new(&caps, &ledger);
            let runs = caps.iter().map(|_| (0, false));
            let mut order = Order::new(account, 0, runs, Places::default());
            let (mut found, mut now) = (Vec::new(), 0);
            let mut stops: Vec<u64> = stops.into_iter().map(|stop| stop * unit).collect();
            stops.sort_unstable();
            for to in stops.into_iter().chain([u64::MAX]) {
                while order.arrange(to, now) {
                    found.extend(order.moments());
                    order.advance(order.moments().count());
                    now = found.last().map_or(0, |&(time, _)| time);
                    prop_assert!(now <= to);
                }
                now = to;
                let here = expected.iter().filter(|&&(time, _)| time <= to);
                prop_assert_eq!(here.count(), found.len());
            }
            prop_assert!(order.is_over(u64::MAX));
            prop_assert_eq!(found, expected);
        }
    }
}
