//! Events of a log merged in time order: starts and ends of runs on all lanes, threads becoming ready, and the
//! bounds of collections.
//!
//! Columns are read block by block. All events before the end of the data read so far are sorted at once. To make
//! this fast, each event is a single number: its time, followed by the index of its source in the lowest bits. The
//! list to sort is a concatenation of sorted lists, one per source, which the standard sort merges.

use super::TimeAttribution;
use super::runs::NextRun;
use super::sources::{
    Ahead, BecameRunnable, Lost, NEVER, PauseBounds, Runs, Source, Turns, first_step,
};

/// Tournament tree that finds the source with the earliest next event; each node is the minimum of its two
/// children.
#[derive(Clone, Debug)]
struct Earliest {
    /// Binary tree in heap order; the leaves are the second half.
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

    /// Returns the time of the earliest event.
    fn time(&self) -> u64 {
        self.nodes[1]
    }

    /// Returns the time of the next event of a source.
    fn of(&self, source: usize) -> u64 {
        self.nodes[self.nodes.len() / 2 + source]
    }

    /// Returns the source of the earliest event.
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

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Start of the next run of a lane, or end of its current run.
    Run(usize),
    /// Change of a lane's piece or lifetime.
    IdleEdge(usize),
    /// A thread becomes ready.
    BecameRunnable,
    /// The log's information about a ready thread ends.
    Lost,
    /// Start of the next pause, or end of the current one.
    Pause,
}

/// Number of sources that belong to no lane: the last three of [`What`].
const OTHER_SOURCES: usize = 3;

/// Index of the next event of each source that belongs to no lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    pub(super) became_runnable: usize,
    pub(super) lost: usize,
    pub(super) pause: usize,
    /// Whether that pause has begun.
    pub(super) paused: bool,
}

/// Events to be sorted, each as one number: its time relative to `base`, shifted left by `source_bits`, plus the
/// index of its source.
#[derive(Clone, Debug)]
struct Sorting {
    moments: Vec<u64>,
    base: u64,
    source_bits: u32,
}

impl Sorting {
    /// Appends all events of a source before `limit`. Returns the time of its next event.
    fn take(&mut self, number: usize, source: &mut impl Source, limit: u64) -> u64 {
        // Time goes backwards only in damaged logs.
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

/// Merges the events of all sources.
#[derive(Debug)]
pub(super) struct Order<'a> {
    runs: Vec<Runs<'a>>,
    turns: Vec<Turns<'a>>,
    became_runnable: BecameRunnable<'a>,
    lost: Lost<'a>,
    pauses: PauseBounds<'a>,
    /// Time of the next unsorted event of each source.
    next: Earliest,
    /// Time up to which each source has been read ahead.
    known: Earliest,
    sorting: Sorting,
    /// Index of the next sorted event.
    at: usize,
}

impl<'a> Order<'a> {
    /// Starts after a time, with the index of the next run of each lane and whether it has begun.
    pub(super) fn new(
        account: TimeAttribution<'a>,
        now: u64,
        runs: impl Iterator<Item = (usize, bool)>,
        places: Places,
    ) -> Self {
        let attribution_data = account.attribution_data;
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
            became_runnable: BecameRunnable {
                moments: &attribution_data.became_runnable,
                ahead: Ahead::from(places.became_runnable),
            },
            lost: Lost(attribution_data.lost.get(places.lost..).unwrap_or_default()),
            pauses: PauseBounds {
                pauses: attribution_data
                    .pauses
                    .all()
                    .get(places.pause..)
                    .unwrap_or_default(),
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
            // No event is before 0: this only sets the time of the source's next event.
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
            lane if lane < lanes => What::IdleEdge(lane),
            other if other == lanes => What::BecameRunnable,
            other if other == lanes + 1 => What::Lost,
            _ => What::Pause,
        }
    }

    /// Returns the run of a lane that begins or ends now.
    #[inline]
    pub(super) fn run(&self, lane: usize, place: usize) -> Option<&NextRun> {
        self.runs[lane].ahead.get(place)
    }

    /// Returns the thread that becomes ready now.
    #[inline]
    pub(super) fn became_runnable(&self, place: usize) -> Option<u32> {
        self.became_runnable
            .ahead
            .get(place)
            .and_then(|&(_, thread)| thread)
    }

    /// Returns time and kind of each [sorted](Self::arrange) event that is left.
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

    /// Marks the first `moments` of the sorted events as processed.
    pub(super) const fn advance(&mut self, moments: usize) {
        self.at += moments;
    }

    /// Returns whether no event up to a time is left.
    pub(super) fn is_over(&self, to: u64) -> bool {
        self.at >= self.sorting.moments.len() && self.next.time() > (first_step(to) | 1)
    }

    /// Sorts the next batch of events up to the time `to`, if all events sorted before were processed. Returns
    /// whether any event is left.
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

    /// Returns whether enough of a source is buffered to make sorting worthwhile.
    fn has_enough(&self, source: usize) -> bool {
        match self.what(source) {
            What::Run(lane) => self.runs[lane].ahead.has_enough(),
            What::BecameRunnable => self.became_runnable.ahead.has_enough(),
            What::IdleEdge(_) | What::Lost | What::Pause => true,
        }
    }

    /// Reads the next block of a source that is read in blocks.
    fn read_on(&mut self, source: usize) {
        let last = match self.what(source) {
            What::Run(lane) => {
                let Runs { lane, ahead, .. } = &mut self.runs[lane];
                let last = ahead.read_on(|place, next| lane.read(place, next));
                last.map(|run| run.end)
            }
            What::BecameRunnable => {
                let BecameRunnable { moments, ahead } = &mut self.became_runnable;
                let last = ahead.read_on(|place, next| moments.read(place, next));
                last.map(|&(time, _)| time)
            }
            What::IdleEdge(_) | What::Lost | What::Pause => None,
        };
        self.known.set(source, last.map_or(NEVER, first_step));
    }

    /// Moves all events of a source before `limit` to the list to be sorted.
    fn take(&mut self, source: usize, limit: u64) {
        let (what, sorting) = (self.what(source), &mut self.sorting);
        let next = match what {
            What::Run(lane) => sorting.take(source, &mut self.runs[lane], limit),
            What::IdleEdge(lane) => sorting.take(source, &mut self.turns[lane], limit),
            What::BecameRunnable => sorting.take(source, &mut self.became_runnable, limit),
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
    use crate::account::AttributionData;
    use crate::account::runs::{Cap, Run};
    use model::class::StopCode;

    proptest! {
        /// Block boundaries, empty runs, and times far apart do not affect the order.
        #[test]
        fn all_happens_in_the_order_of_time(
            lanes in prop::collection::vec(
                prop::collection::vec((0u64..3, 0u64..3), 0..700), 1..5),
            became_runnable in prop::collection::vec(0u64..4, 0..500),
            unit in prop::sample::select(vec![1u64, 1000, 1 << 49]),
            stops in prop::collection::vec(0u64..2000, 0..4),
        ) {
            let mut expected = Vec::new();
            let mut attribution_data = AttributionData::default();
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
            for gap in became_runnable {
                at += gap * unit;
                attribution_data.became_runnable.push(7, at);
                expected.push((2 * at, What::BecameRunnable));
            }
            let number = |what| match what {
                What::Run(lane) => lane,
                _ => usize::MAX,
            };
            expected.sort_by_key(|&(key, what)| (key, number(what)));
            let expected: Vec<_> = expected.into_iter().map(|(key, what)| (key / 2, what)).collect();

            let account = TimeAttribution::new(&caps, &attribution_data);
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
