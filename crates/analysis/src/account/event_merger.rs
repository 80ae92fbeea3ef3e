//! Events of a log merged in time order: starts and ends of runs on all lanes, threads becoming ready, and the
//! bounds of collections.
//!
//! Columns are read block by block. All events before the end of the data read so far are sorted at once. To make
//! this fast, each event is a single number: its time, followed by the index of its source in the lowest bits. The
//! list to sort is a concatenation of sorted lists, one per source, which the standard sort merges.

use super::TimeAttribution;
use super::runs::SweepRun;
use super::sources::{
    AvailabilityEdges, BecameRunnable, CoverageEnds, NEVER, PauseBounds, ReadAhead, Runs, Source,
    first_step,
};

/// Tournament tree that finds the source with the earliest next event; each node is the minimum of its two
/// children.
#[derive(Clone, Debug)]
struct TournamentTree {
    /// Binary tree in heap order; the leaves are the second half.
    nodes: Vec<u64>,
}

impl TournamentTree {
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
    fn earliest_time(&self) -> u64 {
        self.nodes[1]
    }

    /// Returns the time of the next event of a source.
    fn source_time(&self, source: usize) -> u64 {
        self.nodes[self.nodes.len() / 2 + source]
    }

    /// Returns the source of the earliest event.
    fn earliest_source(&self) -> usize {
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
pub(super) enum EventKind {
    /// Start of the next run of a lane, or end of its current run.
    Run(usize),
    /// Change of a lane's GC span or lifetime.
    AvailabilityEdge(usize),
    /// A thread becomes ready.
    BecameRunnable,
    /// The log's information about a ready thread ends.
    CoverageEnd,
    /// Start of the next pause, or end of the current one.
    Pause,
}

/// Number of sources that belong to no lane: the last three of [`EventKind`].
const OTHER_SOURCES: usize = 3;

/// Index of the next event of each source that belongs to no lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SourcePositions {
    pub(super) became_runnable: usize,
    pub(super) coverage_ends: usize,
    pub(super) pause: usize,
    /// Whether that pause has begun.
    pub(super) paused: bool,
}

/// Events to be sorted, each as one number: its time relative to `base`, shifted left by `source_bits`, plus the
/// index of its source.
#[derive(Clone, Debug)]
struct SortBuffer {
    keys: Vec<u64>,
    base: u64,
    source_bits: u32,
}

impl SortBuffer {
    /// Appends all events of a source before `limit`. Returns the time of its next event.
    fn take(&mut self, index: usize, source: &mut impl Source, limit: u64) -> u64 {
        // Time goes backwards only in damaged logs.
        let mut last = self.base;
        source.take_before(limit, |key| {
            last = last.max(key);
            let key = (last - self.base) << self.source_bits | index as u64;
            self.keys.push(key);
        })
    }
}

/// Merges the events of all sources.
#[derive(Debug)]
pub(super) struct EventMerger<'a> {
    runs: Vec<Runs<'a>>,
    availability_edges: Vec<AvailabilityEdges<'a>>,
    became_runnable: BecameRunnable<'a>,
    coverage_ends: CoverageEnds<'a>,
    pauses: PauseBounds<'a>,
    /// Time of the next unsorted event of each source.
    next: TournamentTree,
    /// Time up to which each source has been read ahead.
    read_until: TournamentTree,
    sort_buffer: SortBuffer,
    /// Index of the next sorted event.
    at: usize,
}

impl<'a> EventMerger<'a> {
    /// Starts after a time, with the index of the next run of each lane and whether it has begun.
    pub(super) fn new(
        account: TimeAttribution<'a>,
        now: u64,
        runs: impl Iterator<Item = (usize, bool)>,
        positions: SourcePositions,
    ) -> Self {
        let attribution_data = account.attribution_data;
        let runs = account.lanes.iter().zip(runs);
        let runs: Vec<Runs<'_>> = runs
            .map(|(cap, (run, has_begun))| Runs {
                lane: &cap.runs,
                ahead: ReadAhead::from(run),
                has_begun,
            })
            .collect();
        let availability_edges = (0..runs.len())
            .map(|lane| AvailabilityEdges::after(now, account.gc_spans(lane), account.life(lane)));
        let sources = 2 * runs.len() + OTHER_SOURCES;
        let mut merger = Self {
            availability_edges: availability_edges.collect(),
            became_runnable: BecameRunnable {
                moments: &attribution_data.became_runnable,
                ahead: ReadAhead::from(positions.became_runnable),
            },
            coverage_ends: CoverageEnds(
                attribution_data
                    .coverage_ends
                    .get(positions.coverage_ends..)
                    .unwrap_or_default(),
            ),
            pauses: PauseBounds {
                pauses: attribution_data
                    .pauses
                    .all()
                    .get(positions.pause..)
                    .unwrap_or_default(),
                has_begun: positions.paused,
            },
            next: TournamentTree::new(sources),
            read_until: TournamentTree::new(sources),
            sort_buffer: SortBuffer {
                keys: Vec::new(),
                base: first_step(now),
                source_bits: sources.next_power_of_two().trailing_zeros(),
            },
            at: 0,
            runs,
        };
        for source in 0..sources {
            merger.read_on(source);
            // No event is before 0: this only sets the time of the source's next event.
            merger.take(source, 0);
        }
        merger
    }

    #[inline]
    fn kind(&self, source: usize) -> EventKind {
        let lanes = self.runs.len();
        if source < lanes {
            return EventKind::Run(source);
        }
        match source - lanes {
            lane if lane < lanes => EventKind::AvailabilityEdge(lane),
            other if other == lanes => EventKind::BecameRunnable,
            other if other == lanes + 1 => EventKind::CoverageEnd,
            _ => EventKind::Pause,
        }
    }

    /// Returns the run of a lane that begins or ends now.
    #[inline]
    pub(super) fn run(&self, lane: usize, place: usize) -> Option<&SweepRun> {
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

    /// Returns time and kind of each [sorted](Self::sort_batch) event that is left.
    #[inline]
    pub(super) fn sorted_events(&self) -> impl Iterator<Item = (u64, EventKind)> {
        let SortBuffer {
            keys,
            base,
            source_bits,
        } = &self.sort_buffer;
        let (base, bits) = (*base, *source_bits);
        let rest = keys.get(self.at..).unwrap_or_default();
        rest.iter().map(move |key| {
            let source = key & ((1 << bits) - 1);
            let time = (base + (key >> bits)) >> 1;
            (time, self.kind(source as usize))
        })
    }

    /// Marks the next `count` of the sorted events as processed.
    pub(super) const fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Returns whether no event up to a time is left.
    pub(super) fn is_exhausted(&self, to: u64) -> bool {
        self.at >= self.sort_buffer.keys.len() && self.next.earliest_time() > (first_step(to) | 1)
    }

    /// Sorts the next batch of events up to the time `to`, if all events sorted before were processed. Returns
    /// whether any event is left.
    pub(super) fn sort_batch(&mut self, to: u64, now: u64) -> bool {
        if self.at < self.sort_buffer.keys.len() {
            return true;
        }
        let end = (first_step(to) | 1) + 1;
        if self.next.earliest_time() >= end {
            return false;
        }
        while self.read_until.earliest_time() <= self.next.earliest_time() {
            self.read_on(self.read_until.earliest_source());
        }
        let base = self.next.earliest_time().max(first_step(now));
        let most = base.saturating_add(u64::MAX >> self.sort_buffer.source_bits);
        let limit = end.min(self.read_until.earliest_time()).min(most);
        self.sort_buffer.base = base;
        self.sort_buffer.keys.clear();
        self.at = 0;
        while self.next.earliest_time() < limit {
            let source = self.next.earliest_source();
            while !self.has_enough(source) && self.read_until.source_time(source) < end {
                self.read_on(source);
            }
            self.take(source, limit);
        }
        self.sort_buffer.keys.sort();
        true
    }

    /// Returns whether enough of a source is buffered to make sorting worthwhile.
    fn has_enough(&self, source: usize) -> bool {
        match self.kind(source) {
            EventKind::Run(lane) => self.runs[lane].ahead.has_enough(),
            EventKind::BecameRunnable => self.became_runnable.ahead.has_enough(),
            EventKind::AvailabilityEdge(_) | EventKind::CoverageEnd | EventKind::Pause => true,
        }
    }

    /// Reads the next block of a source that is read in blocks.
    fn read_on(&mut self, source: usize) {
        let last = match self.kind(source) {
            EventKind::Run(lane) => {
                let Runs { lane, ahead, .. } = &mut self.runs[lane];
                let last = ahead.read_on(|place, next| lane.read(place, next));
                last.map(|run| run.end)
            }
            EventKind::BecameRunnable => {
                let BecameRunnable { moments, ahead } = &mut self.became_runnable;
                let last = ahead.read_on(|place, next| moments.read(place, next));
                last.map(|&(time, _)| time)
            }
            EventKind::AvailabilityEdge(_) | EventKind::CoverageEnd | EventKind::Pause => None,
        };
        self.read_until.set(source, last.map_or(NEVER, first_step));
    }

    /// Moves all events of a source before `limit` to the list to be sorted.
    fn take(&mut self, source: usize, limit: u64) {
        let (kind, sort_buffer) = (self.kind(source), &mut self.sort_buffer);
        let next = match kind {
            EventKind::Run(lane) => sort_buffer.take(source, &mut self.runs[lane], limit),
            EventKind::AvailabilityEdge(lane) => {
                sort_buffer.take(source, &mut self.availability_edges[lane], limit)
            }
            EventKind::BecameRunnable => sort_buffer.take(source, &mut self.became_runnable, limit),
            EventKind::CoverageEnd => sort_buffer.take(source, &mut self.coverage_ends, limit),
            EventKind::Pause => sort_buffer.take(source, &mut self.pauses, limit),
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
                    expected.push((2 * start + u64::from(start < end), EventKind::Run(lane)));
                    expected.push((2 * end, EventKind::Run(lane)));
                    at = end;
                }
                cap
            }).collect();
            let mut at = 0;
            for gap in became_runnable {
                at += gap * unit;
                attribution_data.became_runnable.push(7, at);
                expected.push((2 * at, EventKind::BecameRunnable));
            }
            let number = |kind| match kind {
                EventKind::Run(lane) => lane,
                _ => usize::MAX,
            };
            expected.sort_by_key(|&(key, kind)| (key, number(kind)));
            let expected: Vec<_> = expected.into_iter().map(|(key, kind)| (key / 2, kind)).collect();

            let account = TimeAttribution::new(&caps, &attribution_data);
            let runs = caps.iter().map(|_| (0, false));
            let mut merger = EventMerger::new(account, 0, runs, SourcePositions::default());
            let (mut found, mut now) = (Vec::new(), 0);
            let mut stops: Vec<u64> = stops.into_iter().map(|stop| stop * unit).collect();
            stops.sort_unstable();
            for to in stops.into_iter().chain([u64::MAX]) {
                while merger.sort_batch(to, now) {
                    found.extend(merger.sorted_events());
                    merger.advance(merger.sorted_events().count());
                    now = found.last().map_or(0, |&(time, _)| time);
                    prop_assert!(now <= to);
                }
                now = to;
                let here = expected.iter().filter(|&&(time, _)| time <= to);
                prop_assert_eq!(here.count(), found.len());
            }
            prop_assert!(merger.is_exhausted(u64::MAX));
            prop_assert_eq!(found, expected);
        }
    }
}
