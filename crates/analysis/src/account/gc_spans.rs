//! Activities of a capability other than running and idling: stopping for collections, collecting, waiting in
//! collections and returning from them; and unknown time.
//!
//! | class | when |
//! |---|---|
//! | stopping | from the request, or the last stop of a thread after it, to the start of the collection |
//! | census | in a collection, while the heap is counted |
//! | collecting | in a phase of work, or marked by `StartGC` in a collection for which no capability logs phases |
//! | waiting | otherwise inside a collection: idle, done, marked but without work, or not marked at all |
//! | coming back | from the end until its own `EndGC`, its next run, or the next request |
//! | unknown | not covered by the log; in a log without scheduler events, all remaining time |
//!
//! A census lasts from the leader's last phase event before `HeapProfSampleBegin`, which is logged when counting
//! is done, to `HeapProfSampleEnd`. The events of a biographical profile are logged at the end of the run; its
//! censuses last from the phase event before the time that they contain to the end of the collection.
//!
//! Running takes precedence over all of these, and a collection is over on a capability once it runs a thread
//! again.

use super::TimeAttribution;
use super::columns::SpanColumns;
use super::facts::CapFacts;
use super::pauses::{Pause, Pauses};
use super::runs::Cap;
use super::search::GallopingSearch;
use eventlog::ids::Nanos;
use model::class::Class;
use model::lane::Lane;
use model::time::Interval;

/// Spans in which a capability neither runs nor idles. Those of a collection include the stopping before it and the
/// return after it.
pub type GcSpans = SpanColumns<8>;

impl Default for GcSpans {
    fn default() -> Self {
        Self::new([
            Class::Gc,
            Class::GcStart,
            Class::GcIdle,
            Class::GcDone,
            Class::GcSync,
            Class::Census,
            Class::Returning,
            Class::Unknown,
        ])
    }
}

/// Data about collections that all capabilities share.
pub(super) struct CollectionContext<'a> {
    pub(super) pauses: &'a Pauses,
    /// Whether any thread runs in the log. A log without scheduler events covers nothing but collections.
    scheduled: bool,
    /// Whether any capability logs phases, by collection.
    pub(super) phased: Vec<bool>,
    pub(super) censuses: Vec<Interval>,
}

impl<'a> CollectionContext<'a> {
    /// Collects the data for the capabilities of `account`.
    pub(super) fn new(
        pauses: &'a Pauses,
        censuses: &[Interval],
        account: TimeAttribution<'_>,
    ) -> Self {
        let all = pauses.all();
        let mut phased = vec![false; all.len()];
        for (_, cap) in account.each_cap() {
            let mut ahead = GallopingSearch::default();
            let phases = cap.phases.lane();
            for i in 0..phases.len() {
                let (start, end) = phases.span(i);
                if start == end || !cap.phases.is_logged(i) {
                    continue;
                }
                let at = ahead.first(all.len(), |i| all[i].end.0 <= start);
                let met = all[at..].iter().take_while(|pause| pause.start.0 < end);
                let met = met.count();
                phased[at..at + met].fill(true);
            }
        }
        Self {
            pauses,
            scheduled: account.lanes.iter().any(|cap| !cap.runs.is_empty()),
            phased,
            censuses: censuses
                .iter()
                .map(|census| census_span(*census, pauses, account))
                .collect(),
        }
    }
}

/// Returns the time in which the heap was counted for a census, within the pause in which the census begins.
///
/// The runtime logs the begin of a census when counting is done, before it writes the result. It counts after the
/// collection itself, so counting is what the leader does after its last phase of work.
fn census_span(census: Interval, pauses: &Pauses, account: TimeAttribution<'_>) -> Interval {
    let begin = census.start();
    let Some(pause) = pauses.pause_at(begin) else {
        return Interval::empty_at(begin);
    };
    let lane = account.lane_of(pause.leader);
    let since = lane.map_or(begin, |cap| {
        let phases = cap.phases.lane();
        let at = phases.first_ending_after(begin.0);
        let done = at < phases.len() && matches!(phases.class(at), Class::GcIdle | Class::GcDone);
        let since = if done { phases.span(at).0 } else { begin.0 };
        Interval::new(pause.start, begin).nearest(Nanos(since))
    });
    Interval::new(since, census.end().min(pause.end))
}

impl GcSpans {
    /// Computes the GC spans of a capability.
    pub(super) fn compute(cap: &Cap, facts: CapFacts, collections: &CollectionContext<'_>) -> Self {
        let mut making = GcSpansBuilder {
            gc_spans: Self::default(),
            known: (facts.known.start().0, facts.known.end().0),
            cap,
            collections,
            run: GallopingSearch::default(),
            phase: GallopingSearch::default(),
            census: GallopingSearch::default(),
            collection: GallopingSearch::default(),
            accounted_until: facts.life.start().0,
        };
        making.push_unknown_until(making.known.0);
        let all = collections.pauses.all();
        for (place, pause) in all.iter().enumerate() {
            let next = all.get(place + 1).map_or(u64::MAX, |next| next.requested.0);
            making.pause(place, pause, next);
        }
        if collections.scheduled {
            making.accounted_until = making.known.1;
        }
        making.push_unknown_until(facts.life.end().0);
        making.gc_spans
    }
}

/// GC spans of a capability while they are computed.
struct GcSpansBuilder<'a> {
    gc_spans: GcSpans,
    known: (u64, u64),
    cap: &'a Cap,
    collections: &'a CollectionContext<'a>,
    run: GallopingSearch,
    phase: GallopingSearch,
    census: GallopingSearch,
    collection: GallopingSearch,
    /// End of the time accounted for so far: the next gap from here on is unknown. Only logs without runs have
    /// gaps within `known`.
    accounted_until: u64,
}

impl GcSpansBuilder<'_> {
    fn push(&mut self, class: Class, start: u64, end: u64) {
        let (from, to) = self.known;
        let (start, end) = (start.max(from), end.min(to));
        if start < end {
            if !self.collections.scheduled {
                self.push_unknown_until(start);
                self.accounted_until = end;
            }
            self.gc_spans.push(class, start, end);
        }
    }

    /// Emits the time since `accounted_until` as unknown.
    fn push_unknown_until(&mut self, time: u64) {
        if self.accounted_until < time {
            self.gc_spans
                .push(Class::Unknown, self.accounted_until, time);
            self.accounted_until = time;
        }
    }

    /// Emits the spans of a collection; `next` is the time of the request for the following one.
    fn pause(&mut self, place: usize, pause: &Pause, next: u64) {
        let first = self.gc_spans.len();
        let runs = &self.cap.runs;
        let (start, end) = (pause.start.0, pause.end.0);
        let run = self.run.first(runs.len(), |i| runs.span(i).0 < start);
        let stopped = run.checked_sub(1).map_or(0, |last| runs.span(last).1);
        let runs_again = if run < runs.len() {
            runs.span(run).0
        } else {
            u64::MAX
        };
        self.push(Class::GcSync, pause.requested.0.max(stopped), start);
        self.push_inside(place, start.max(stopped), end.min(runs_again));
        if runs_again >= end && stopped <= end {
            let back = self.return_end(end);
            self.push(Class::Returning, end, back.min(runs_again).min(next));
        }
        if self.gc_spans.len() > first {
            self.gc_spans.mark_collection_start(first);
        }
    }

    /// Returns the end of the capability's own collection span that is in progress at `end`.
    fn return_end(&mut self, end: u64) -> u64 {
        let gc = &self.cap.gc;
        let at = self.collection.first(gc.len(), |i| gc.span(i).1 <= end);
        let goes_on = at < gc.len() && gc.span(at).0 < end;
        if goes_on { gc.span(at).1 } else { end }
    }

    /// Emits the spans between two times of a collection.
    fn push_inside(&mut self, place: usize, mut from: u64, to: u64) {
        let censuses = &self.collections.censuses[..];
        let mut at = self
            .census
            .first(censuses.len(), |i| censuses[i].end().0 <= from);
        while from < to {
            let census = censuses.get(at).filter(|census| census.start().0 < to);
            let Some(census) = census else {
                return self.push_phases(place, from, to);
            };
            self.push_phases(place, from, census.start().0.min(to));
            let end = census.end().0.min(to);
            self.push(Class::Census, census.start().0.max(from), end);
            from = end.max(from);
            at += 1;
        }
    }

    /// Emits the phases between two times of a collection.
    fn push_phases(&mut self, place: usize, mut from: u64, to: u64) {
        let (phase_lane, phases) = (&self.cap.phases, self.cap.phases.lane());
        let mut at = self.phase.first(phases.len(), |i| phases.span(i).1 <= from);
        while from < to {
            let phase = (at < phases.len()).then(|| phases.span(at));
            let Some((start, end)) = phase.filter(|&(start, _)| start < to) else {
                return self.push(Class::GcStart, from, to);
            };
            self.push(Class::GcStart, from, start.min(to));
            let class = match phases.class(at) {
                Class::Gc if !phase_lane.is_logged(at) && self.collections.phased[place] => {
                    Class::GcStart
                }
                class => class,
            };
            self.push(class, start.max(from), end.min(to));
            from = end.min(to).max(from);
            at += 1;
        }
    }
}
