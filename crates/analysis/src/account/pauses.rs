//! Collections of the program: when it was stopped, what it waited for before that, and the leading capability.
//!
//! The time from a capability's `StartGC` to its `EndGC` is not the collection: the OS thread of a worker may
//! return, and log its `EndGC`, long after the others run again. The collection is the span of its leader, which
//! posts `GCStatsGHC`. Where the leader is unknown (GHC before 7.6, logs without these events, lost buffers), it
//! is the longest stretch without a running thread within the union of the overlapping spans of the capabilities.

use super::TimeAttribution;
use super::facts::Facts;
use super::search::GallopingSearch;
use eventlog::ids::{CapId, Nanos};
use model::lane::Lane;
use model::saturating::saturating_u32;
use model::sorting::CompactSort;
use model::time::Interval;

/// One collection of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Time of the request; the start if no request was logged.
    pub requested: Nanos,
    /// Time when all capabilities had stopped: the leader's `StartGC`.
    pub start: Nanos,
    /// Time of the leader's `EndGC`.
    pub end: Nanos,
    /// Leading capability; if it is unknown, the one that requested the collection, or else one that took part.
    pub leader: CapId,
    /// Generation, if a leader logged it.
    pub generation: Option<u16>,
    /// Last run to stop after the request: its capability, and its index on that capability's lane.
    pub last_to_stop: Option<(CapId, u32)>,
}

impl Pause {
    /// Returns the time from the request to the end.
    pub const fn span(&self) -> Interval {
        Interval::new(self.requested, self.end)
    }
}

/// Ordered collections, which do not overlap, including the time for stopping before them.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    all: Vec<Pause>,
    /// Time spent stopping, and time spent collecting, before each collection, in nanoseconds.
    before: Vec<(u64, u64)>,
    total: (u64, u64),
}

impl Pauses {
    /// Finds the collections of a log.
    pub(super) fn find(facts: &Facts, lanes: TimeAttribution<'_>) -> Self {
        let mut found: Vec<CollectionCandidate> = facts
            .led
            .iter()
            .map(|led| CollectionCandidate {
                span: (led.span.start().0, led.span.end().0),
                generation: Some(led.generation),
                requesters: vec![led.cap],
            })
            .collect();
        found.extend(without_leader(&found, lanes));
        found.sort_small_by_key(|found| found.span);
        let mut pauses = Self::default();
        let mut covered = 0;
        for found in found {
            let start = found.span.0.max(covered);
            let end = found.span.1.max(start);
            let (leader, requested) = found.request(facts, covered, start);
            let pause = Pause {
                requested: Nanos(requested),
                start: Nanos(start),
                end: Nanos(end),
                leader,
                generation: found.generation,
                last_to_stop: None,
            };
            covered = end;
            pauses.push(pause);
        }
        pauses.find_last_to_stop(lanes);
        pauses
    }

    /// Merges the collections of several processes. Where two overlap, the later one counts from the end of the
    /// other.
    pub(super) fn merge<'a>(processes: impl Iterator<Item = &'a Self>) -> Self {
        let mut all: Vec<Pause> = processes.flat_map(|own| &own.all).copied().collect();
        all.sort_small_by_key(|pause| (pause.start, pause.end, pause.leader));
        let mut pauses = Self::default();
        let mut covered = Nanos(0);
        for pause in all {
            let start = pause.start.max(covered);
            let end = pause.end.max(start);
            pauses.push(Pause {
                requested: pause.requested.max(covered).min(start),
                start,
                end,
                ..pause
            });
            covered = end;
        }
        pauses
    }

    fn push(&mut self, pause: Pause) {
        self.before.push(self.total);
        self.all.push(pause);
        let (stopping, collecting) = &mut self.total;
        *stopping = stopping.saturating_add(pause.start.since(pause.requested).0);
        *collecting = collecting.saturating_add(pause.end.since(pause.start).0);
    }

    /// Finds, among all capabilities, the run that ended last between each request and start.
    fn find_last_to_stop(&mut self, lanes: TimeAttribution<'_>) {
        for (cap, lane) in lanes.each_cap() {
            let mut run = GallopingSearch::default();
            for pause in &mut self.all {
                let next = run.first(lane.runs.len(), |i| lane.runs.span(i).0 < pause.start.0);
                let Some(last) = next.checked_sub(1) else {
                    continue;
                };
                let end = lane.runs.span(last).1;
                let latest = pause
                    .last_to_stop
                    .map_or(pause.requested.0, |(cap, place)| lanes.run_end(cap, place));
                if end > latest && end <= pause.start.0 {
                    let place = saturating_u32(last);
                    pause.last_to_stop = Some((cap, place));
                }
            }
        }
    }

    /// Returns all collections in order.
    pub fn all(&self) -> &[Pause] {
        &self.all
    }

    /// Returns the index of the first collection that ends after a time.
    pub fn first_ending_after(&self, time: Nanos) -> usize {
        self.all.partition_point(|pause| pause.end <= time)
    }

    /// Returns the collections that begin in a range.
    pub fn starting_in(&self, range: Interval) -> &[Pause] {
        let before = |time| self.all.partition_point(|pause| pause.start < time);
        let (from, to) = (before(range.start()), before(range.end()));
        self.all.get(from..to).unwrap_or_default()
    }

    /// Returns the collection in progress at a time, or the one that capabilities are being stopped for.
    pub fn pause_at(&self, time: Nanos) -> Option<&Pause> {
        let pause = self.all.get(self.first_ending_after(time))?;
        (pause.requested <= time).then_some(pause)
    }

    /// Returns the total time before `time` spent stopping, and that spent collecting, in nanoseconds.
    pub fn before(&self, time: Nanos) -> (u64, u64) {
        let at = self.first_ending_after(time);
        let Some((pause, before)) = self.all.get(at).zip(self.before.get(at)) else {
            return self.total;
        };
        let part = |from: Nanos, to: Nanos| time.min(to).since(from).0;
        (
            before.0.saturating_add(part(pause.requested, pause.start)),
            before.1.saturating_add(part(pause.start, pause.end)),
        )
    }

    /// Returns the total time before `time` spent stopping or collecting, in nanoseconds.
    pub(crate) fn paused_before_ns(&self, time: Nanos) -> u64 {
        let (stopping, collecting) = self.before(time);
        stopping.saturating_add(collecting)
    }

    /// Returns the time between two times spent stopping or collecting, in nanoseconds.
    pub fn paused_in_ns(&self, from: u64, to: u64) -> u64 {
        // Most spans are shorter than the time between two collections.
        let next = self.all.get(self.first_ending_after(Nanos(from)));
        let is_later = |next: &Pause| to <= next.requested.0 && to < next.end.0;
        if from <= to && next.is_none_or(is_later) {
            return 0;
        }
        let before = self.paused_before_ns(Nanos(to));
        before.saturating_sub(self.paused_before_ns(Nanos(from)))
    }
}

/// A collection before its request is known.
struct CollectionCandidate {
    span: (u64, u64),
    generation: Option<u16>,
    /// Capabilities that may have requested it.
    requesters: Vec<CapId>,
}

impl CollectionCandidate {
    /// Returns the capability and time of the last request, not before the previous collection had `ended`.
    /// Without one, returns the first candidate and the start.
    fn request(&self, facts: &Facts, ended: u64, start: u64) -> (CapId, u64) {
        let latest = |cap: &CapId| Some((facts.requests.latest(*cap, ended, start)?, *cap));
        let first = self.requesters.first().copied().unwrap_or(CapId(0));
        let asked = self.requesters.iter().filter_map(latest).max();
        asked.map_or((first, start), |(at, cap)| (cap, at))
    }
}

/// Finds the collections without a known leader: the longest stretch without a run in each union of overlapping
/// spans of capabilities that does not overlap the span of a leader.
fn without_leader(
    led: &[CollectionCandidate],
    lanes: TimeAttribution<'_>,
) -> Vec<CollectionCandidate> {
    let mut spans: Vec<(u64, u64, CapId)> = Vec::new();
    for (cap, lane) in lanes.each_cap() {
        spans.extend((0..lane.gc.len()).map(|i| {
            let (start, end) = lane.gc.span(i);
            (start, end, cap)
        }));
    }
    spans.sort_unstable();
    let mut led_at = GallopingSearch::default();
    let mut found = Vec::new();
    let mut rest = &spans[..];
    while let Some(&(start, mut end, _)) = rest.first() {
        let mut count = 1;
        while let Some(&(_, next_end, _)) = rest.get(count).filter(|next| next.0 < end) {
            end = end.max(next_end);
            count += 1;
        }
        let (union, later) = rest.split_at(count);
        rest = later;
        let led_after = led_at.first(led.len(), |i| led[i].span.1 <= start);
        let has_leader = led
            .get(led_after)
            .is_some_and(|led| led.span.0 < end.max(start + 1));
        let stretch = if has_leader {
            None
        } else {
            quiet_stretch(lanes, start, end)
        };
        found.extend(stretch.map(|span| CollectionCandidate {
            span,
            generation: None,
            requesters: union.iter().map(|&(.., cap)| cap).collect(),
        }));
    }
    found
}

/// Returns the longest stretch in which no capability runs a thread; the first one of equal length.
fn quiet_stretch(lanes: TimeAttribution<'_>, start: u64, end: u64) -> Option<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for (_, lane) in lanes.each_cap() {
        let first = lane.runs.first_ending_after(start);
        let spans = (first..lane.runs.len()).map(|i| lane.runs.span(i));
        runs.extend(spans.take_while(|&(from, _)| from < end));
    }
    runs.sort_unstable();
    runs.push((end, end));
    let (mut quiet_since, mut longest) = (start, (start, start));
    for (from, to) in runs {
        if from.saturating_sub(quiet_since) > longest.1 - longest.0 {
            longest = (quiet_since, from);
        }
        quiet_since = quiet_since.max(to);
    }
    (longest.0 < longest.1).then_some(longest)
}
