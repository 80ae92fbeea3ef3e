//! The account of time, worked out a second time from the events, on every log:
//! slowly, moment by moment, by the definitions as they are written down. Both
//! must be equal to the nanosecond, for every class.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use analysis::account::facts::Condition;
use common::{for_all, known, store_of};
use eventlog::source::read_log;
use eventlog::{Event, Record, Sink, StopStatus};

/// From when to when, in nanoseconds; the end is not part of it.
type Interval = (u64, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Work,
    Idle,
    Done,
}

/// What a thread does since when.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Unseen,
    Runs(u64, Option<u16>),
    /// It waits, after this stop (or its creation), and was woken then.
    Waits(u64, Option<StopStatus>, Option<u64>),
    Finished,
}

/// One stretch of a thread's life.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Runs(Option<u16>),
    Ready,
    Blocked,
    Foreign,
    Unknown,
}

/// What the events of a log say.
#[derive(Debug, Default)]
struct Told {
    first: Option<u64>,
    last: u64,
    created: BTreeMap<u16, u64>,
    deleted: BTreeMap<u16, u64>,
    /// The first and last event of each capability.
    events: BTreeMap<u16, Interval>,
    threads: BTreeMap<u32, State>,
    /// The capability that each thread was on last.
    homes: BTreeMap<u32, Option<u16>>,
    parts: Vec<(u32, Part, Interval)>,
    collecting: BTreeMap<u16, u64>,
    statistics: BTreeSet<u16>,
    /// What each capability says of its collections.
    spans: BTreeMap<u16, Vec<Interval>>,
    phases: BTreeMap<u16, Vec<(u64, Phase)>>,
    requests: BTreeMap<u16, Vec<u64>>,
    led: Vec<(Interval, u16)>,
    census: Option<u64>,
    censuses: Vec<Interval>,
}

const RUNNABLE: [StopStatus; 4] = [
    StopStatus::HeapOverflow,
    StopStatus::StackOverflow,
    StopStatus::ThreadYielding,
    StopStatus::ThreadMigrating,
];

fn is_runnable(stop: Option<StopStatus>) -> bool {
    let code = |stop: StopStatus| stop.code();
    stop.is_none_or(|stop| RUNNABLE.map(code).contains(&stop.code()))
}

fn is_foreign(stop: Option<StopStatus>) -> bool {
    stop.is_some_and(|stop| [6, 14, 15].contains(&stop.code()))
}

impl Told {
    fn wait_ends(
        &mut self,
        thread: u32,
        (since, end): Interval,
        stop: Option<StopStatus>,
        woken: Option<u64>,
    ) {
        let ready = match (is_runnable(stop), is_foreign(stop)) {
            (true, _) => since,
            (_, true) => end,
            _ => woken.map_or(end, |woken| woken.clamp(since, end)),
        };
        let waits = if is_foreign(stop) {
            Part::Foreign
        } else {
            Part::Blocked
        };
        self.parts.push((thread, waits, (since, ready)));
        self.parts.push((thread, Part::Ready, (ready, end)));
    }

    fn runs(&mut self, thread: u32, cap: Option<u16>, at: u64) {
        match self.threads.get(&thread).copied().unwrap_or_default() {
            State::Finished | State::Runs(..) => return,
            State::Unseen => {}
            State::Waits(since, stop, woken) => self.wait_ends(thread, (since, at), stop, woken),
        }
        self.threads.insert(thread, State::Runs(at, cap));
        self.homes.insert(thread, cap);
    }

    fn stops(&mut self, thread: u32, stop: StopStatus, at: u64) {
        match self.threads.get(&thread).copied().unwrap_or_default() {
            State::Finished | State::Unseen => return,
            State::Runs(since, cap) => self.parts.push((thread, Part::Runs(cap), (since, at))),
            State::Waits(since, before, woken) => {
                self.wait_ends(thread, (since, at), before, woken)
            }
        }
        let next = match stop {
            StopStatus::ThreadFinished => State::Finished,
            _ => State::Waits(at, Some(stop), None),
        };
        self.threads.insert(thread, next);
    }

    fn wakes(&mut self, thread: u32, at: u64) {
        if let Some(State::Waits(_, _, woken @ None)) = self.threads.get_mut(&thread) {
            *woken = Some(at);
        }
    }

    fn phase(&mut self, cap: u16, phase: Phase, at: u64) {
        if self.collecting.contains_key(&cap) {
            self.phases.entry(cap).or_default().push((at, phase));
        }
    }

    fn census_ends(&mut self, at: u64) {
        if let Some(begin) = self.census.take() {
            self.censuses.push((begin, at));
        }
    }
}

impl Sink for Told {
    fn event(&mut self, record: &Record<'_>) {
        let at = record.time.0;
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = self.last.max(at);
        let cap = record.cap.map(|cap| cap.0);
        if let Some(cap) = cap {
            let (first, last) = self.events.entry(cap).or_insert((at, at));
            (*first, *last) = (at.min(*first), at.max(*last));
        }
        match (record.event(), cap) {
            (Event::CapCreate { cap }, _) => {
                self.created.entry(cap.0).or_insert(at);
            }
            (Event::CapDelete { cap }, _) => {
                self.deleted.insert(cap.0, at);
            }
            (Event::CreateThread { thread }, cap) => {
                let known = self.threads.entry(thread.0).or_default();
                if *known == State::Unseen {
                    *known = State::Waits(at, None, None);
                    self.homes.insert(thread.0, cap);
                }
            }
            (Event::RunThread { thread }, cap) => self.runs(thread.0, cap, at),
            (Event::StopThread { thread, status }, _) => self.stops(thread.0, status, at),
            (Event::ThreadRunnable { thread } | Event::WakeupThread { thread, .. }, _) => {
                self.wakes(thread.0, at);
            }
            (Event::MigrateThread { thread, new_cap }, _) => {
                self.wakes(thread.0, at);
                self.homes.insert(thread.0, Some(new_cap.0));
            }
            (Event::RequestSeqGC {} | Event::RequestParGC {}, Some(cap)) => {
                self.requests.entry(cap).or_default().push(at);
            }
            (Event::StartGC {}, Some(cap)) => {
                let start = self.collecting.entry(cap).or_insert(at);
                *start = at.min(*start);
                self.statistics.remove(&cap);
            }
            (Event::GCWork {}, Some(cap)) => self.phase(cap, Phase::Work, at),
            (Event::GCIdle {}, Some(cap)) => self.phase(cap, Phase::Idle, at),
            (Event::GCDone {}, Some(cap)) => self.phase(cap, Phase::Done, at),
            (Event::GCStatsGHC { .. }, Some(cap)) => {
                self.statistics.insert(cap);
            }
            (Event::EndGC {}, Some(cap)) => {
                if let Some(start) = self.collecting.remove(&cap) {
                    self.spans.entry(cap).or_default().push((start, at));
                    if self.statistics.remove(&cap) {
                        self.led.push(((start, at), cap));
                    }
                }
            }
            (Event::HeapProfSampleBegin { .. } | Event::HeapBioProfSampleBegin { .. }, _) => {
                self.census_ends(at);
                self.census = Some(at);
            }
            (Event::HeapProfSampleEnd { .. }, _) => self.census_ends(at),
            _ => {}
        }
    }
}

/// A collection: when it was asked for, when it began and ended, who led it.
#[derive(Clone, Copy, Debug)]
struct Pause {
    asked: u64,
    start: u64,
    end: u64,
    leader: u16,
}

/// Everything put together.
#[derive(Debug)]
struct Slow {
    told: Told,
    log: Interval,
    lives: BTreeMap<u16, Interval>,
    known: BTreeMap<u16, Interval>,
    runs: BTreeMap<u16, Vec<Interval>>,
    pauses: Vec<Pause>,
    censuses: Vec<Interval>,
    scheduled: bool,
}

fn covers((start, end): Interval, at: u64) -> bool {
    start <= at && at < end
}

/// The one of sorted intervals that covers a time.
fn find(intervals: &[Interval], at: u64) -> Option<Interval> {
    let after = intervals.partition_point(|&(start, _)| start <= at);
    let last = *intervals.get(after.checked_sub(1)?)?;
    covers(last, at).then_some(last)
}

impl Slow {
    fn new(mut told: Told, condition: Condition) -> Self {
        let log = (told.first.unwrap_or(0), told.last);
        told.census_ends(u64::MAX);
        let names: BTreeSet<u16> = told
            .events
            .keys()
            .chain(told.created.keys())
            .copied()
            .collect();
        let names: BTreeSet<u16> = names
            .into_iter()
            .chain(told.deleted.keys().copied())
            .collect();
        let mut lives = BTreeMap::new();
        let mut known = BTreeMap::new();
        for cap in names {
            let start = told.created.get(&cap).copied().unwrap_or(log.0);
            let end = told.deleted.get(&cap).copied().unwrap_or(log.1).max(start);
            lives.insert(cap, (start, end));
            let events = told.events.get(&cap).copied();
            let whole = condition.ends && !condition.damaged;
            let from = events
                .filter(|_| condition.damaged)
                .map_or(start, |events| events.0.clamp(start, end));
            let to = match events {
                _ if whole => end,
                Some(events) => events.1.clamp(start, end),
                None => start,
            };
            known.insert(cap, (from, to.max(from)));
        }
        let mut slow = Self {
            log,
            lives,
            known,
            runs: BTreeMap::new(),
            pauses: Vec::new(),
            censuses: Vec::new(),
            scheduled: false,
            told,
        };
        slow.end_of_log();
        slow.find_runs();
        slow.find_pauses();
        slow.find_censuses();
        slow
    }

    /// What is open at the end goes on as long as the log tells of it.
    fn end_of_log(&mut self) {
        let end = self.log.1;
        let known = |cap: Option<u16>| {
            cap.and_then(|cap| self.known.get(&cap))
                .map_or(end, |known| known.1.min(end))
        };
        let threads: Vec<(u32, State)> = self
            .told
            .threads
            .iter()
            .map(|(id, state)| (*id, *state))
            .collect();
        let mut ends = Vec::new();
        for (thread, state) in threads {
            let home = self.told.homes.get(&thread).copied().flatten();
            match state {
                State::Runs(since, cap) => {
                    let runs_to = known(cap).max(since);
                    let home_to = known(home).max(runs_to);
                    ends.push((thread, state, runs_to, home_to));
                }
                State::Waits(since, ..) => {
                    ends.push((thread, state, since, known(home).max(since)))
                }
                State::Unseen | State::Finished => {}
            }
        }
        for (thread, state, middle, known) in ends {
            match state {
                State::Runs(since, cap) => {
                    self.told
                        .parts
                        .push((thread, Part::Runs(cap), (since, middle)));
                    self.told
                        .parts
                        .push((thread, Part::Blocked, (middle, known)));
                }
                State::Waits(since, stop, woken) => {
                    self.told.wait_ends(thread, (since, known), stop, woken)
                }
                State::Unseen | State::Finished => {}
            }
            self.told.parts.push((thread, Part::Unknown, (known, end)));
        }
        let collecting = std::mem::take(&mut self.told.collecting);
        for (cap, start) in collecting {
            let end = self.known.get(&cap).map_or(end, |known| known.1);
            if start < end {
                self.told.spans.entry(cap).or_default().push((start, end));
            }
        }
        for spans in self.told.spans.values_mut() {
            spans.retain(|(start, end)| start < end);
            spans.sort_unstable();
        }
        self.told.parts.retain(|(.., (start, end))| start < end);
    }

    fn find_runs(&mut self) {
        for &(_, part, interval) in &self.told.parts {
            if let Part::Runs(cap) = part {
                self.scheduled = true;
                if let Some(cap) = cap {
                    self.runs.entry(cap).or_default().push(interval);
                }
            }
        }
        for runs in self.runs.values_mut() {
            runs.sort_unstable();
        }
    }

    fn find_pauses(&mut self) {
        let mut found: Vec<(Interval, Vec<u16>)> = Vec::new();
        for &(span, cap) in &self.told.led {
            found.push((span, vec![cap]));
        }
        let spans = self.told.spans.iter();
        let mut all: Vec<(Interval, u16)> = spans
            .flat_map(|(cap, spans)| spans.iter().map(|span| (*span, *cap)))
            .collect();
        all.sort_unstable();
        let mut unions: Vec<(Interval, Vec<u16>)> = Vec::new();
        for (span, cap) in all {
            match unions.last_mut().filter(|(union, _)| span.0 < union.1) {
                Some((union, caps)) => {
                    union.1 = union.1.max(span.1);
                    caps.push(cap);
                }
                None => unions.push((span, vec![cap])),
            }
        }
        for (union, caps) in unions {
            let led = self
                .told
                .led
                .iter()
                .any(|((start, end), _)| *start < union.1 && union.0 < *end);
            let quiet = if led { (0, 0) } else { self.quiet(union) };
            if quiet.0 < quiet.1 {
                found.push((quiet, caps));
            }
        }
        found.sort();
        let mut ended = 0;
        for ((start, end), caps) in found {
            let asked = caps.iter().flat_map(|cap| {
                let requests = self.told.requests.get(cap).into_iter().flatten();
                requests.map(|at| (*at, *cap))
            });
            let asked = asked.filter(|(at, _)| ended <= *at && *at <= start).max();
            let (asked, leader) = asked.unwrap_or((start, caps[0]));
            self.pauses.push(Pause {
                asked,
                start,
                end,
                leader,
            });
            ended = end;
        }
    }

    /// The longest stretch without a run.
    fn quiet(&self, union: Interval) -> Interval {
        let mut runs: Vec<Interval> = self.runs.values().flatten().copied().collect();
        runs.retain(|run| run.0 < union.1 && union.0 < run.1);
        runs.sort_unstable();
        runs.push((union.1, union.1));
        let (mut since, mut longest) = (union.0, (union.0, union.0));
        for run in runs {
            if run.0.saturating_sub(since) > longest.1 - longest.0 {
                longest = (since, run.0);
            }
            since = since.max(run.1);
        }
        longest
    }

    /// The phase of a capability at a time, and since when; `None` before the
    /// first of its collection.
    fn phase(&self, cap: u16, at: u64) -> Option<(Phase, u64)> {
        let span = find(self.told.spans.get(&cap)?, at)?;
        let marks = self.told.phases.get(&cap)?;
        let first = marks.partition_point(|(time, _)| *time < span.0);
        let marks = marks.iter().skip(first);
        let mut now: Option<(Phase, u64)> = None;
        for &(time, phase) in marks.take_while(|(time, _)| *time <= at) {
            if now.is_none_or(|(same, _)| same != phase) {
                now = Some((phase, time));
            }
        }
        now
    }

    fn find_censuses(&mut self) {
        for &(begin, end) in &self.told.censuses {
            let pause = self
                .pauses
                .iter()
                .find(|pause| covers((pause.asked, pause.end), begin));
            let phase = pause.and_then(|pause| self.phase(pause.leader, begin));
            let since = phase
                .filter(|(phase, _)| *phase != Phase::Work)
                .map_or(begin, |(_, since)| since);
            self.censuses.push((since, end));
        }
    }

    /// Whether anybody logs phases in a collection.
    fn is_phased(&self, pause: &Pause) -> bool {
        self.told.phases.iter().any(|(cap, marks)| {
            let marks = marks
                .iter()
                .filter(|(time, _)| pause.start <= *time && *time < pause.end);
            let mut marks = marks.filter(|(time, _)| find(&self.told.spans[cap], *time).is_some());
            marks.next().is_some() || self.phase(*cap, pause.start).is_some()
        })
    }

    /// What a capability does at a time of its life.
    fn cap_at(&self, cap: u16, at: u64, phased: &BTreeMap<u64, bool>) -> &'static str {
        let none = Vec::new();
        let runs = self.runs.get(&cap).unwrap_or(&none);
        let ran_in = |from: u64, to: u64| {
            let first = runs.partition_point(|run| run.0 < from);
            runs.get(first).is_some_and(|run| run.0 <= to)
        };
        if !covers(self.known[&cap], at) {
            return "unknown";
        }
        if find(runs, at).is_some() {
            return "running";
        }
        let after = self.pauses.partition_point(|pause| pause.end <= at);
        let spans = self.told.spans.get(&cap).unwrap_or(&none);
        let idle = if self.scheduled { "idle" } else { "unknown" };
        if let Some(pause) = self.pauses.get(after).filter(|pause| pause.asked <= at) {
            if at < pause.start {
                let stays = pause.start <= at + 1 || !ran_in(at + 1, pause.start - 1);
                return if stays { "stopping" } else { idle };
            }
            if ran_in(pause.start, at) {
                return idle;
            }
            if find(&self.censuses, at).is_some() {
                return "census";
            }
            let marked = find(spans, at).is_some();
            return match self.phase(cap, at) {
                Some((Phase::Work, _)) => "collecting",
                None if marked && !phased[&pause.start] => "collecting",
                _ => "waiting_in_collection",
            };
        }
        let before = after.checked_sub(1).and_then(|at| self.pauses.get(at));
        let back = before.is_some_and(|pause| {
            let still = spans
                .iter()
                .any(|span| span.0 < pause.end && pause.end < span.1 && at < span.1);
            still && !ran_in(pause.start, at)
        });
        if back { "coming_back" } else { idle }
    }

    /// Every moment at which something changes.
    fn moments(&self) -> Vec<u64> {
        let mut moments = vec![self.log.0, self.log.1];
        let both = |interval: &Interval| [interval.0, interval.1];
        moments.extend(
            self.told
                .parts
                .iter()
                .flat_map(|(.., interval)| both(interval)),
        );
        moments.extend(self.told.spans.values().flatten().flat_map(both));
        moments.extend(self.told.phases.values().flatten().map(|(at, _)| *at));
        moments.extend(
            self.pauses
                .iter()
                .flat_map(|pause| [pause.asked, pause.start, pause.end]),
        );
        moments.extend(self.censuses.iter().flat_map(both));
        moments.extend(
            self.lives
                .values()
                .chain(self.known.values())
                .flat_map(both),
        );
        moments.retain(|&at| self.log.0 <= at && at <= self.log.1);
        moments.sort_unstable();
        moments.dedup();
        moments
    }
}

type Classes = BTreeMap<(String, &'static str), u64>;

/// The time of each class of each capability and thread, and of the program.
fn worked_out(slow: &Slow) -> Classes {
    let mut classes = Classes::new();
    let mut starts: Vec<(u64, usize)> = Vec::new();
    for (place, (.., interval)) in slow.told.parts.iter().enumerate() {
        starts.push((interval.0, place));
    }
    starts.sort_unstable();
    let mut starts = starts.into_iter().peekable();
    let mut now: Vec<usize> = Vec::new();
    let phased = slow
        .pauses
        .iter()
        .map(|pause| (pause.start, slow.is_phased(pause)))
        .collect();
    for pair in slow.moments().windows(2) {
        let (at, time) = (pair[0], pair[1] - pair[0]);
        let mut add =
            |who: String, class: &'static str| *classes.entry((who, class)).or_default() += time;
        while let Some((_, place)) = starts.next_if(|(start, _)| *start <= at) {
            now.push(place);
        }
        now.retain(|place| covers(slow.told.parts[*place].2, at));
        let parts: Vec<(u32, Part)> = now
            .iter()
            .map(|place| (slow.told.parts[*place].0, slow.told.parts[*place].1))
            .collect();
        let any_ready = parts.iter().any(|(_, part)| *part == Part::Ready);
        let caps = slow.lives.iter().filter(|(_, life)| covers(**life, at));
        let caps: Vec<(u16, &str)> = caps
            .map(|(cap, _)| (*cap, slow.cap_at(*cap, at, &phased)))
            .collect();
        let paused = slow.pauses.partition_point(|pause| pause.end <= at);
        let paused = slow
            .pauses
            .get(paused)
            .is_some_and(|pause| pause.asked <= at);
        let some_idle = caps.iter().any(|(_, class)| *class == "idle");
        let running = caps.iter().filter(|(_, class)| *class == "running").count();
        add(format!("{running} running"), "parallelism");
        for (cap, class) in caps {
            let class = if class == "idle" && any_ready {
                "idle_work_ready"
            } else {
                class
            };
            add(format!("capability {cap}"), class);
        }
        for (thread, part) in parts {
            let class = match part {
                Part::Runs(_) => "running",
                Part::Ready if paused => "ready_in_collection",
                Part::Ready if some_idle => "ready_while_idle",
                Part::Ready => "ready_behind_thread",
                Part::Blocked => "blocked",
                Part::Foreign => "foreign_call",
                Part::Unknown => "unknown",
            };
            add(format!("thread {thread}"), class);
        }
    }
    classes
}

/// Logs whose times go back, or whose threads run twice at once: they are clipped.
const CLIPPED: [&str; 0] = [];

#[test]
fn both_accounts_are_equal() {
    for_all(known([0, 0], [0, 0]), |case| {
        let bytes = case.bytes();
        let Ok(store) = store_of(&bytes) else {
            return Ok(0);
        };
        if CLIPPED.iter().any(|name| case.name.ends_with(name)) {
            return Ok(0);
        }
        let mut told = Told::default();
        let reader =
            read_log(&mut bytes.as_slice(), &mut told).map_err(|error| error.to_string())?;
        let condition = Condition::of(&reader.damage(), reader.inflate_error().is_none());
        let theirs = worked_out(&Slow::new(told, condition));
        let program = store.account().program(None);
        let mut ours = Classes::new();
        for (cap, times) in &program.caps {
            for (class, time) in times.classes() {
                ours.insert((format!("capability {cap}"), class), time);
            }
        }
        for (count, time) in program.parallelism_ns.iter().enumerate() {
            ours.insert((format!("{count} running"), "parallelism"), *time);
        }
        for thread in store.thread_accounts(None) {
            let blocked = thread.blocked_ns.values().sum();
            for (class, time) in [
                ("running", thread.running_ns),
                ("ready_in_collection", thread.ready_paused_ns),
                ("ready_behind_thread", thread.ready_behind_ns),
                ("ready_while_idle", thread.ready_idle_ns),
                ("blocked", blocked),
                ("foreign_call", thread.foreign_ns),
                ("unknown", thread.unknown_ns),
            ] {
                ours.insert((format!("thread {}", thread.id), class), time);
            }
        }
        ours.retain(|_, time| *time > 0);
        let things = ours.len();
        let differ: Vec<String> = ours
            .keys()
            .chain(theirs.keys())
            .filter(|key| ours.get(key) != theirs.get(key))
            .map(|key| {
                format!(
                    "{key:?}: {:?}, expected {:?}",
                    ours.get(key),
                    theirs.get(key)
                )
            })
            .take(8)
            .collect();
        if !differ.is_empty() {
            return Err(differ.join("; "));
        }
        Ok(things)
    });
}
