//! What a capability does beside running and idling: it stops for
//! collections, collects, waits in them, comes back, and is unknown.
//!
//! | class | when |
//! |---|---|
//! | stopping | from a collection's request, or the last stop of a thread after it, to the start |
//! | census | inside a collection, while the heap is counted: from the leader's last phase mark before `HeapProfSampleBegin`, which comes when all is counted, to `HeapProfSampleEnd`; of a biography, whose events come at the end of the run, from the mark before the time that they tell to the end of the collection |
//! | collecting | inside, in a phase of work, or marked by `StartGC` where no capability logs phases |
//! | waiting | inside, otherwise: idle, done, marked and without work, or not marked at all |
//! | coming back | after the end, until its own `EndGC`, its next run or the next request |
//! | unknown | where the log does not tell of it; in one without the scheduler's events, all the rest |
//!
//! A run comes before all of them, and a collection is over on a capability that
//! runs a thread again.

use super::Account;
use super::columns::Columns;
use super::facts::CapFacts;
use super::pauses::{Pause, Pauses};
use super::runs::Cap;
use super::search::Ahead;
use eventlog::ids::Nanos;
use model::class::Class;
use model::lane::Lane;
use model::time::Interval;

/// These times of one capability. The collection that a piece belongs to reaches
/// from the stopping before it to the coming back after it.
pub type Pieces = Columns<8>;

impl Default for Pieces {
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

/// What is the same for all capabilities.
pub(super) struct Collections<'a> {
    pub(super) pauses: &'a Pauses,
    /// Whether any thread runs in the log: one without the scheduler's events
    /// tells nothing beside collections.
    scheduled: bool,
    /// For each collection, whether any capability logs phases in it.
    pub(super) phased: Vec<bool>,
    pub(super) censuses: Vec<Interval>,
}

impl<'a> Collections<'a> {
    /// Of these capabilities.
    pub(super) fn of(pauses: &'a Pauses, censuses: &[Interval], account: Account<'_>) -> Self {
        let all = pauses.all();
        let mut phased = vec![false; all.len()];
        for (_, cap) in account.each_cap() {
            let mut ahead = Ahead::default();
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
                .map(|census| counting(*census, pauses, account))
                .collect(),
        }
    }
}

/// When the heap was counted for a census, in the pause in which it begins. The
/// runtime logs its begin when it has counted, and only writes down what it has
/// found; it counts when all is collected, so that this is what the leader does
/// after its last phase of work.
fn counting(census: Interval, pauses: &Pauses, account: Account<'_>) -> Interval {
    let begin = census.start();
    let Some(pause) = pauses.at(begin) else {
        return Interval::at(begin);
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

impl Pieces {
    /// Those of a capability.
    pub(super) fn of(cap: &Cap, facts: CapFacts, collections: &Collections<'_>) -> Self {
        let mut making = Making {
            pieces: Self::default(),
            known: (facts.known.start().0, facts.known.end().0),
            cap,
            collections,
            run: Ahead::default(),
            phase: Ahead::default(),
            census: Ahead::default(),
            collection: Ahead::default(),
            told: facts.life.start().0,
        };
        making.tell_up_to(making.known.0);
        let all = collections.pauses.all();
        for (place, pause) in all.iter().enumerate() {
            let next = all.get(place + 1).map_or(u64::MAX, |next| next.requested.0);
            making.pause(place, pause, next);
        }
        if collections.scheduled {
            making.told = making.known.1;
        }
        making.tell_up_to(facts.life.end().0);
        making.pieces
    }
}

/// The pieces of a capability in the making.
struct Making<'a> {
    pieces: Pieces,
    known: (u64, u64),
    cap: &'a Cap,
    collections: &'a Collections<'a>,
    run: Ahead,
    phase: Ahead,
    census: Ahead,
    collection: Ahead,
    /// Up to when the rest is known: all of it, unless the log has no runs.
    told: u64,
}

impl Making<'_> {
    fn push(&mut self, class: Class, start: u64, end: u64) {
        let (from, to) = self.known;
        let (start, end) = (start.max(from), end.min(to));
        if start < end {
            if !self.collections.scheduled {
                self.tell_up_to(start);
                self.told = end;
            }
            self.pieces.push(class, start, end);
        }
    }

    /// What has not been told up to a time is unknown.
    fn tell_up_to(&mut self, time: u64) {
        if self.told < time {
            self.pieces.push(Class::Unknown, self.told, time);
            self.told = time;
        }
    }

    /// The pieces of a collection; the next one is asked for at `next`.
    fn pause(&mut self, place: usize, pause: &Pause, next: u64) {
        let first = self.pieces.len();
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
        self.inside(place, start.max(stopped), end.min(runs_again));
        if runs_again >= end && stopped <= end {
            let back = self.comes_back(end);
            self.push(Class::Returning, end, back.min(runs_again).min(next));
        }
        if self.pieces.len() > first {
            self.pieces.collection_at(first);
        }
    }

    /// When the capability's own collection ends that still goes on at `end`.
    fn comes_back(&mut self, end: u64) -> u64 {
        let gc = &self.cap.gc;
        let at = self.collection.first(gc.len(), |i| gc.span(i).1 <= end);
        let goes_on = at < gc.len() && gc.span(at).0 < end;
        if goes_on { gc.span(at).1 } else { end }
    }

    /// The pieces between two moments of a collection.
    fn inside(&mut self, place: usize, mut from: u64, to: u64) {
        let censuses = &self.collections.censuses[..];
        let mut at = self
            .census
            .first(censuses.len(), |i| censuses[i].end().0 <= from);
        while from < to {
            let census = censuses.get(at).filter(|census| census.start().0 < to);
            let Some(census) = census else {
                return self.phases(place, from, to);
            };
            self.phases(place, from, census.start().0.min(to));
            let end = census.end().0.min(to);
            self.push(Class::Census, census.start().0.max(from), end);
            from = end.max(from);
            at += 1;
        }
    }

    /// The phases between two moments of a collection.
    fn phases(&mut self, place: usize, mut from: u64, to: u64) {
        let (told, phases) = (&self.cap.phases, self.cap.phases.lane());
        let mut at = self.phase.first(phases.len(), |i| phases.span(i).1 <= from);
        while from < to {
            let phase = (at < phases.len()).then(|| phases.span(at));
            let Some((start, end)) = phase.filter(|&(start, _)| start < to) else {
                return self.push(Class::GcStart, from, to);
            };
            self.push(Class::GcStart, from, start.min(to));
            let class = match phases.class(at) {
                Class::Gc if !told.is_logged(at) && self.collections.phased[place] => {
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
