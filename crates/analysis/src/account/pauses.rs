//! The collections of the program: when it stood still, for whom it waited
//! before, and who led.
//!
//! A capability's `StartGC` to `EndGC` is not the collection: a worker's OS
//! thread may come back, and log its end, long after the others run again. The
//! collection is the span of its leader, who posts `GCStatsGHC`. Where no
//! leader is known (GHC before 7.6, logs without these events, lost buffers),
//! it is the longest stretch in which no thread runs within the union of the
//! capabilities' spans that overlap.

use super::Account;
use super::facts::Facts;
use super::search::Ahead;
use eventlog::ids::{CapId, Nanos};
use model::lane::Lane;
use model::place::place32;
use model::sorting::SortSmall;
use model::time::Interval;

/// A collection of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it was asked for; its start if the log does not say.
    pub requested: Nanos,
    /// When all had stopped: the leader's `StartGC`.
    pub start: Nanos,
    /// The leader's `EndGC`.
    pub end: Nanos,
    /// Who led it; where that is not known, who asked for it, or else a
    /// capability that took part.
    pub leader: CapId,
    /// The generation, if a leader told it.
    pub generation: Option<u16>,
    /// The run that was the last to stop after the request: on which capability,
    /// and its place there.
    pub last_to_stop: Option<(CapId, u32)>,
}

impl Pause {
    /// From the request to the end.
    #[must_use]
    pub const fn span(&self) -> Interval {
        Interval::new(self.requested, self.end)
    }
}

/// The collections in order. They do not overlap, with the time before them in
/// which capabilities are stopped.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    all: Vec<Pause>,
    /// The time spent stopping, and the time collected, before each.
    before: Vec<(u64, u64)>,
    total: (u64, u64),
}

impl Pauses {
    /// The collections of a log.
    pub(super) fn of(facts: &Facts, lanes: Account<'_>) -> Self {
        let mut found: Vec<Found> = facts
            .led
            .iter()
            .map(|led| Found {
                span: (led.span.start().0, led.span.end().0),
                generation: Some(led.generation),
                askers: vec![led.cap],
            })
            .collect();
        found.extend(without_leader(&found, lanes));
        found.sort_by_key(|found| found.span);
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
        pauses.who_stopped_last(lanes);
        pauses
    }

    /// Those of several processes. Where two collect at the same time, the later one counts from
    /// the end of the other.
    pub(super) fn together(processes: Vec<Self>) -> Self {
        let mut all: Vec<Pause> = processes.into_iter().flat_map(|own| own.all).collect();
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

    /// Looks among all capabilities for the run that ended last between a
    /// request and the start.
    fn who_stopped_last(&mut self, lanes: Account<'_>) {
        for (cap, lane) in lanes.each_cap() {
            let mut run = Ahead::default();
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
                    let place = place32(last);
                    pause.last_to_stop = Some((cap, place));
                }
            }
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Pause] {
        &self.all
    }

    /// The first whose end is after a time.
    #[must_use]
    pub fn first_ending_after(&self, time: Nanos) -> usize {
        self.all.partition_point(|pause| pause.end <= time)
    }

    /// Those that begin in a range.
    #[must_use]
    pub fn starting_in(&self, range: Interval) -> &[Pause] {
        let before = |time| self.all.partition_point(|pause| pause.start < time);
        let (from, to) = (before(range.start()), before(range.end()));
        self.all.get(from..to).unwrap_or_default()
    }

    /// The one that goes on at a time, or is being stopped for then.
    #[must_use]
    pub fn at(&self, time: Nanos) -> Option<&Pause> {
        let pause = self.all.get(self.first_ending_after(time))?;
        (pause.requested <= time).then_some(pause)
    }

    /// The time before `time` in which capabilities were stopped for
    /// collections, and that of the collections, in nanoseconds.
    #[must_use]
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

    /// The time before `time` of both together.
    #[must_use]
    pub(crate) fn still_before(&self, time: Nanos) -> u64 {
        let (stopping, collecting) = self.before(time);
        stopping.saturating_add(collecting)
    }

    /// The time of both together from one moment to another.
    #[must_use]
    pub fn still_in(&self, from: u64, to: u64) -> u64 {
        let before = self.still_before(Nanos(to));
        before.saturating_sub(self.still_before(Nanos(from)))
    }
}

/// A collection that was found.
struct Found {
    span: (u64, u64),
    generation: Option<u16>,
    /// The capabilities that may have asked for it.
    askers: Vec<CapId>,
}

impl Found {
    /// Who asked for it last, not before the collection before had ended, and when.
    fn request(&self, facts: &Facts, ended: u64, start: u64) -> (CapId, u64) {
        let latest = |cap: &CapId| Some((facts.requests.latest(*cap, ended, start)?, *cap));
        let first = self.askers.first().copied().unwrap_or(CapId(0));
        let asked = self.askers.iter().filter_map(latest).max();
        asked.map_or((first, start), |(at, cap)| (cap, at))
    }
}

/// The collections of which no leader is known: of each union of capabilities'
/// spans that overlap, but none of a leader, the longest stretch without a run.
fn without_leader(led: &[Found], lanes: Account<'_>) -> Vec<Found> {
    let mut spans: Vec<(u64, u64, CapId)> = Vec::new();
    for (cap, lane) in lanes.each_cap() {
        spans.extend((0..lane.gc.len()).map(|i| {
            let (start, end) = lane.gc.span(i);
            (start, end, cap)
        }));
    }
    spans.sort_unstable();
    let mut led_at = Ahead::default();
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
        found.extend(stretch.map(|span| Found {
            span,
            generation: None,
            askers: union.iter().map(|&(.., cap)| cap).collect(),
        }));
    }
    found
}

/// The longest stretch of a time in which no capability runs a thread; the first
/// of equals.
fn quiet_stretch(lanes: Account<'_>, start: u64, end: u64) -> Option<(u64, u64)> {
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
