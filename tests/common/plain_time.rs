//! Reference implementation of the account of time: slow, computed from the plain events of a log by painting. It
//! shares only the decoding of events with `analysis::account`, so that the two can be compared.
//!
//! Time is cut at every boundary: at every event and at every cut that a test requests. Between two boundaries
//! nothing changes, so each capability has one class there, kept in a list. The lists are painted in order of
//! increasing priority: idle, unknown, classes of collections, runs. The life of a thread is a list of spans.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use std::collections::BTreeMap;

use analysis::timeline::thread_account::BlockedFor;
use eventlog::ids::{CapId, ThreadId};
use eventlog::source::read_log;
use eventlog::{DamageKind, Event, LogError, Record, StopStatus};
use model::class::StopCode;

/// Half-open interval in nanoseconds.
pub type NsRange = (u64, u64);

/// Class of a capability between two boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapClass {
    /// Not alive.
    Nothing,
    /// Runs a thread.
    Running,
    /// Works in a collection.
    Collecting,
    /// Stopped in a collection, without working.
    Waiting,
    /// Stopped until all capabilities are.
    Stopping,
    /// Stopped during a heap census.
    Census,
    /// Not yet released from a collection that has ended.
    ComingBack,
    /// Idle while a thread is runnable.
    IdleWorkReady,
    /// Idle while no thread is runnable.
    Idle,
    /// Not covered by the log.
    Unknown,
}

/// State of a thread during a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadState {
    /// Runs on a capability.
    Running,
    /// Runnable, but not running.
    Ready,
    /// Blocked: the standard code of the stop, and the thread that ended the wait.
    Blocked(u8, Option<u32>),
    /// In a foreign call.
    Foreign,
    /// Not covered by the log.
    Unknown,
}

/// Events that affect the account.
enum SchedulerEvent {
    Create(u32),
    Run(u32),
    Stop(u32, StopStatus),
    /// Made runnable (`ThreadRunnable` or `WakeupThread`).
    Wake(u32),
    Migrate(u32, u16),
    Label(u32, String),
    Request,
    StartGc,
    EndGc,
    Phase(Phase),
    /// Statistics of a collection, which only its leader posts.
    Stats,
    CensusBegin,
    /// Start time of a biographical census (ns), logged at the end of the run.
    CensusWas(u64),
    CensusEnd,
    CapCreate(u16),
    CapDelete(u16),
    Startup(u16),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Inside a collection, before the first logged phase.
    Marked,
    /// Collection without any logged phase.
    Whole,
    Work,
    Idle,
    Done,
}

impl SchedulerEvent {
    fn from_record(record: &Record<'_>) -> Option<Self> {
        Some(match record.event() {
            Event::CreateThread { thread } => Self::Create(thread.0),
            Event::RunThread { thread } => Self::Run(thread.0),
            Event::StopThread { thread, status } => Self::Stop(thread.0, status),
            Event::ThreadRunnable { thread } | Event::WakeupThread { thread, .. } => {
                Self::Wake(thread.0)
            }
            Event::MigrateThread { thread, new_cap } => Self::Migrate(thread.0, new_cap.0),
            Event::ThreadLabel { thread, label } => {
                Self::Label(thread.0, String::from_utf8_lossy(label.0).into_owned())
            }
            Event::RequestSeqGC {} | Event::RequestParGC {} => Self::Request,
            Event::StartGC {} => Self::StartGc,
            Event::EndGC {} => Self::EndGc,
            Event::GCWork {} => Self::Phase(Phase::Work),
            Event::GCIdle {} => Self::Phase(Phase::Idle),
            Event::GCDone {} => Self::Phase(Phase::Done),
            Event::GCStatsGHC { .. } => Self::Stats,
            Event::HeapProfSampleBegin { .. } => Self::CensusBegin,
            Event::HeapBioProfSampleBegin { time, .. } => Self::CensusWas(time),
            Event::HeapProfSampleEnd { .. } => Self::CensusEnd,
            Event::CapCreate { cap } => Self::CapCreate(cap.0),
            Event::CapDelete { cap } => Self::CapDelete(cap.0),
            Event::Startup { n_caps } => Self::Startup(n_caps),
            _ => return None,
        })
    }
}

/// Capability while the events are read.
#[derive(Default)]
struct PlainCap {
    created: Option<u64>,
    deleted: Option<u64>,
    events: Option<NsRange>,
    life: NsRange,
    /// Part of its life that the log covers.
    known: NsRange,
    runs: Vec<NsRange>,
    /// Collections by its own events, with the logged phases inside.
    marked: Vec<(NsRange, Vec<(u64, Phase)>)>,
    open: Option<(u64, Vec<(u64, Phase)>)>,
    has_stats: bool,
    led: Vec<NsRange>,
    requests: Vec<u64>,
}

impl PlainCap {
    fn request(&mut self, at: u64) {
        let latest = self.requests.last().copied().unwrap_or(0);
        self.requests.push(at.max(latest));
    }

    fn start_gc(&mut self, at: u64) {
        self.has_stats = false;
        match &mut self.open {
            Some((start, _)) => *start = (*start).min(at),
            None => self.open = Some((at, Vec::new())),
        }
    }

    fn end_gc(&mut self, at: u64) {
        let Some((start, phases)) = self.open.take() else {
            return;
        };
        let span = (start, at.max(start));
        if std::mem::take(&mut self.has_stats) {
            self.led.push(span);
        }
        self.marked.push((span, phases));
    }

    /// Returns the phases of its collections without overlap, in order of time.
    fn phases(&self) -> Vec<(NsRange, Phase)> {
        let mut all = Vec::new();
        let mut marked = self.marked.clone();
        marked.sort_by_key(|(span, _)| *span);
        let mut covered = 0;
        for ((start, end), marks) in marked {
            let first = if marks.is_empty() {
                Phase::Whole
            } else {
                Phase::Marked
            };
            let (mut from, mut phase) = (start.max(covered), first);
            for (at, next) in marks {
                if next == phase {
                    continue;
                }
                let at = at.clamp(from, end.max(from));
                all.push(((from, at), phase));
                (from, phase) = (at, next);
            }
            all.push(((from, end.max(from)), phase));
            covered = covered.max(end);
        }
        all
    }
}

/// Thread while the events are read.
struct PlainThread {
    state: State,
    /// Creation, or else first run.
    began: Option<u64>,
    /// End of the recorded spans: the last run or the creation.
    recorded_until: u64,
    wait_cause: WaitCause,
    /// First wakeup since the last stop.
    woken: Option<u64>,
    /// Thread that ran on the capability that posted the wakeup.
    waker: Option<u32>,
    home: Option<u16>,
    spans: Vec<(NsRange, ThreadState)>,
    finished: bool,
}

#[derive(Clone, Copy)]
enum State {
    Unseen,
    Waiting,
    Running(u64, Option<u16>),
    Finished,
}

/// Reason why a thread does not run.
#[derive(Clone, Copy)]
enum WaitCause {
    Created,
    Stopped(StopStatus),
    /// No reason: its run did not end in the log.
    LogEnded,
}

impl PlainThread {
    fn new() -> Self {
        Self {
            state: State::Unseen,
            began: None,
            recorded_until: 0,
            wait_cause: WaitCause::Created,
            woken: None,
            waker: None,
            home: None,
            spans: Vec::new(),
            finished: false,
        }
    }

    /// Records the wait from `recorded_until` to `to`.
    fn waits(&mut self, to: u64) {
        if self.began.is_none() {
            return;
        }
        let from = self.recorded_until;
        let to = to.max(from);
        let mut ready = to;
        let mut thread_state = ThreadState::Ready;
        match self.wait_cause {
            WaitCause::Created => ready = from,
            WaitCause::LogEnded => thread_state = ThreadState::Unknown,
            WaitCause::Stopped(status) => match status {
                StopStatus::HeapOverflow
                | StopStatus::StackOverflow(_)
                | StopStatus::ThreadYielding
                | StopStatus::ThreadMigrating => ready = from,
                StopStatus::ForeignCall
                | StopStatus::BlockedOnCCall
                | StopStatus::BlockedOnCCallNoUnblockExc => thread_state = ThreadState::Foreign,
                status => {
                    let waker = self.woken.and(self.waker);
                    thread_state = ThreadState::Blocked(status.code(), waker);
                    ready = self.woken.map_or(to, |woken| woken.clamp(from, to));
                }
            },
        }
        self.spans.push(((from, ready), thread_state));
        self.spans.push(((ready, to), ThreadState::Ready));
        self.recorded_until = to;
    }

    /// Records a run; `span` must not overlap an earlier run.
    fn ran(&mut self, span: NsRange, wait_cause: WaitCause) {
        self.waits(span.0);
        self.began.get_or_insert(span.0);
        self.spans.push((span, ThreadState::Running));
        self.recorded_until = span.1;
        self.wait_cause = wait_cause;
        self.finished = matches!(wait_cause, WaitCause::Stopped(StopStatus::ThreadFinished));
    }
}

/// Stop-the-world collection.
#[derive(Clone, Copy, Debug)]
pub struct PlainPause {
    /// Time of the request (ns).
    pub requested: u64,
    /// Start, after all capabilities have stopped (ns).
    pub start: u64,
    /// End of the pause (ns).
    pub end: u64,
    leader: u16,
}

/// Time of a thread by class, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadSums {
    /// Part of its life in the range.
    pub life: u64,
    /// Running on a capability.
    pub running: u64,
    /// Runnable during a collection, or during the stop before it.
    pub ready_in_collection: u64,
    /// Runnable while all capabilities were busy.
    pub ready_behind_thread: u64,
    /// Runnable while some capability was idle.
    pub ready_while_idle: u64,
    /// Blocked, by the reason of the wait.
    pub blocked: BTreeMap<BlockedFor, u64>,
    /// In foreign calls.
    pub foreign_call: u64,
    /// Not covered by the log.
    pub unknown: u64,
}

/// Time of a capability in a range by class; classes without time have no entry.
pub type CapSums = BTreeMap<CapClass, u64>;

/// Sums over the collections of a range; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionSums {
    /// Collections that begin in the range.
    pub count: u64,
    /// Time from request to start, in which capabilities stop.
    pub stopping: u64,
    /// Time from start to end.
    pub pause: u64,
    /// Time that all capabilities spent for collections.
    pub capability_time: u64,
}

/// Account of a whole log.
pub struct PlainTime {
    /// Sorted, distinct boundaries.
    grid: Vec<u64>,
    /// Times of the first and the last event.
    pub log: NsRange,
    /// Class of each capability from each boundary to the next.
    caps: BTreeMap<u16, Vec<CapClass>>,
    /// Collections in order of time.
    pub pauses: Vec<PlainPause>,
    /// Life and spans of each thread.
    threads: BTreeMap<u32, (NsRange, Vec<(NsRange, ThreadState)>)>,
    /// Last label of each thread.
    labels: BTreeMap<u32, String>,
    /// Prefix sums by boundary: time in pauses and in the stops before them.
    paused_ns: Vec<u64>,
    /// Prefix sums by boundary: time outside of those in which some capability was idle.
    idle_ns: Vec<u64>,
    /// Number of events in the log.
    pub events: usize,
}

/// Result of the pass over the events, before anything is painted.
#[derive(Default)]
struct EventSummary {
    times: Vec<u64>,
    log: Option<NsRange>,
    caps: BTreeMap<u16, PlainCap>,
    threads: BTreeMap<u32, PlainThread>,
    /// Threads in order of first appearance.
    threads_in_order: Vec<u32>,
    labels: BTreeMap<u32, String>,
    /// Running thread of each capability.
    running: BTreeMap<Option<u16>, u32>,
    /// End of the last run on each capability, or on none.
    last_run: BTreeMap<Option<u16>, u64>,
    censuses: Vec<NsRange>,
    counting_since: Option<u64>,
    ran: bool,
}

const NEVER: u64 = u64::MAX;

fn grown(span: Option<NsRange>, at: u64) -> Option<NsRange> {
    let (from, to) = span.unwrap_or((at, at));
    Some((from.min(at), to.max(at)))
}

impl EventSummary {
    fn thread(&mut self, thread: u32) -> &mut PlainThread {
        if !self.threads.contains_key(&thread) {
            self.threads_in_order.push(thread);
        }
        self.threads.entry(thread).or_insert_with(PlainThread::new)
    }

    /// Records the end of a run. A capability runs one thread at a time: of overlapping runs, which only damaged
    /// logs have, the one that ends later is cut.
    fn run_ended(
        &mut self,
        thread: u32,
        cap: Option<u16>,
        (start, end): NsRange,
        wait_cause: WaitCause,
    ) {
        let free = self.last_run.get(&cap).copied().unwrap_or(0);
        let start = start.max(free).max(self.thread(thread).recorded_until);
        let span = (start, end.max(start));
        self.last_run.insert(cap, span.1);
        let known = self.thread(thread);
        known.ran(span, wait_cause);
        known.home = cap.or(known.home);
        self.ran = true;
        if let Some(cap) = cap {
            self.caps.entry(cap).or_default().runs.push(span);
        }
    }

    fn event(&mut self, record: &Record<'_>) {
        let (at, cap) = (record.time.0, record.cap.map(|cap| cap.0));
        self.log = grown(self.log, at);
        if let Some(cap) = cap {
            let cap = self.caps.entry(cap).or_default();
            cap.events = grown(cap.events, at);
        }
        let Some(event) = SchedulerEvent::from_record(record) else {
            return;
        };
        self.times.push(at);
        match event {
            SchedulerEvent::Create(thread) => self.create(thread, cap, at),
            SchedulerEvent::Run(thread) => {
                self.running.insert(cap, thread);
                let known = self.thread(thread);
                known.state = match known.state {
                    State::Running(start, cap) => State::Running(start.min(at), cap),
                    State::Finished => State::Finished,
                    State::Unseen | State::Waiting => State::Running(at, cap),
                };
            }
            SchedulerEvent::Stop(thread, status) => {
                self.running.retain(|_, running| *running != thread);
                self.stop(thread, status, at);
            }
            SchedulerEvent::Label(thread, label) => {
                self.labels.insert(thread, label);
            }
            SchedulerEvent::Wake(thread) => self.wake(thread, cap, at),
            SchedulerEvent::Migrate(thread, to) => {
                self.wake(thread, cap, at);
                self.thread(thread).home = Some(to);
            }
            SchedulerEvent::CensusBegin => {
                self.census(NEVER);
                self.counting_since = Some(at);
            }
            SchedulerEvent::CensusWas(time) => {
                self.census(NEVER);
                self.censuses.push((time.min(at), NEVER));
            }
            SchedulerEvent::CensusEnd => self.census(at),
            SchedulerEvent::CapCreate(cap) => {
                let cap = self.caps.entry(cap).or_default();
                cap.created = cap.created.or(Some(at));
                cap.deleted = None;
            }
            SchedulerEvent::CapDelete(cap) => self.caps.entry(cap).or_default().deleted = Some(at),
            SchedulerEvent::Startup(caps) => {
                for cap in 0..caps.min(1024) {
                    self.caps.entry(cap).or_default();
                }
            }
            event => {
                if let Some(cap) = cap {
                    let cap = self.caps.entry(cap).or_default();
                    match event {
                        SchedulerEvent::Request => cap.request(at),
                        SchedulerEvent::StartGc => cap.start_gc(at),
                        SchedulerEvent::EndGc => cap.end_gc(at),
                        SchedulerEvent::Stats => cap.has_stats = cap.open.is_some(),
                        SchedulerEvent::Phase(phase) => {
                            if let Some((_, phases)) = &mut cap.open {
                                phases.push((at, phase));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn create(&mut self, thread: u32, cap: Option<u16>, at: u64) {
        let known = self.thread(thread);
        if matches!(known.state, State::Unseen) {
            known.state = State::Waiting;
            known.began = Some(at);
            known.recorded_until = at;
            known.home = cap;
        }
    }

    fn stop(&mut self, thread: u32, status: StopStatus, at: u64) {
        let next = match status {
            StopStatus::ThreadFinished => State::Finished,
            _ => State::Waiting,
        };
        let wait_cause = WaitCause::Stopped(status);
        match self.thread(thread).state {
            State::Running(start, cap) => {
                self.run_ended(thread, cap, (start, at.max(start)), wait_cause);
            }
            // A stop without a run: only the reason of the wait changes.
            State::Waiting => {
                let known = self.thread(thread);
                let at = at.max(known.recorded_until);
                known.ran((at, at), wait_cause);
            }
            State::Unseen | State::Finished => return,
        }
        let known = self.thread(thread);
        known.state = next;
        known.woken = None;
    }

    fn wake(&mut self, thread: u32, cap: Option<u16>, at: u64) {
        let waker = self.running.get(&cap).copied();
        let known = self.thread(thread);
        if matches!(known.state, State::Waiting) && known.woken.is_none() {
            known.woken = Some(at);
            known.waker = waker;
        }
    }

    fn census(&mut self, end: u64) {
        if let Some(begin) = self.counting_since.take() {
            self.censuses.push((begin, end.max(begin)));
        }
    }

    /// Determines the part of each capability's life that the log covers, closes what is still open, and returns
    /// the range of the log.
    fn finish(&mut self, is_whole: bool, is_damaged: bool) -> NsRange {
        let log = self.log.unwrap_or((0, 0));
        for cap in self.caps.values_mut() {
            let start = cap.created.unwrap_or(log.0);
            cap.life = (start, cap.deleted.unwrap_or(log.1).max(start));
            let (from, to) = cap.life;
            cap.known = match cap.events {
                _ if is_whole => cap.life,
                None => (from, from),
                Some((first, last)) => {
                    let first = if is_damaged { first } else { from };
                    let first = first.clamp(from, to);
                    (first, last.clamp(first, to))
                }
            };
            if let Some((start, phases)) = cap.open.take() {
                let end = log.1.min(cap.known.1);
                if start < end {
                    cap.marked.push(((start, end), phases));
                }
            }
        }
        let known_end = |caps: &BTreeMap<u16, PlainCap>, cap: Option<u16>| {
            let cap = cap.and_then(|cap| caps.get(&cap));
            cap.map_or(log.1, |cap| cap.known.1).min(log.1)
        };
        for thread in self.threads_in_order.clone() {
            if let State::Running(start, cap) = self.thread(thread).state {
                let end = known_end(&self.caps, cap).max(start);
                self.run_ended(thread, cap, (start, end), WaitCause::LogEnded);
            }
        }
        for thread in self.threads.values_mut() {
            if thread.began.is_some() && !thread.finished {
                let known = known_end(&self.caps, thread.home).max(thread.recorded_until);
                thread.waits(known);
                let end = log.1.max(known);
                thread.spans.push(((known, end), ThreadState::Unknown));
                thread.recorded_until = end;
            }
        }
        self.census(NEVER);
        self.censuses.sort_unstable();
        let mut next = NEVER;
        for census in self.censuses.iter_mut().rev() {
            census.1 = census.1.min(next).max(census.0);
            next = census.0;
        }
        log
    }

    /// Returns the stop-the-world collections: the spans of their leaders, or, where no leader is known, the
    /// longest stretch without a run.
    fn pauses(&self) -> Vec<PlainPause> {
        let mut found: Vec<(NsRange, Vec<u16>)> = Vec::new();
        for (number, cap) in &self.caps {
            found.extend(cap.led.iter().map(|led| (*led, vec![*number])));
        }
        let led: Vec<NsRange> = found.iter().map(|(led, _)| *led).collect();
        for (union, caps) in self.unions() {
            let meets = |led: &NsRange| led.0 < union.1.max(union.0 + 1) && union.0 < led.1;
            if !led.iter().any(meets) {
                found.extend(self.quiet(union).map(|quiet| (quiet, caps)));
            }
        }
        found.sort();
        let mut ended = 0;
        let mut pauses = Vec::new();
        for ((start, end), askers) in found {
            let start = start.max(ended);
            let end = end.max(start);
            let asked = askers.iter().filter_map(|cap| {
                let requests = self.caps[cap].requests.iter();
                let latest = requests.filter(|&&at| at <= start).max()?;
                (*latest >= ended).then_some((*latest, *cap))
            });
            let (requested, leader) = asked.max().unwrap_or((start, askers[0]));
            pauses.push(PlainPause {
                requested,
                start,
                end,
                leader,
            });
            ended = end;
        }
        pauses
    }

    /// Returns the unions of overlapping collection spans, with their capabilities.
    fn unions(&self) -> Vec<(NsRange, Vec<u16>)> {
        let mut spans: Vec<(NsRange, u16)> = Vec::new();
        for (number, cap) in &self.caps {
            let mut covered = 0;
            let mut marked: Vec<NsRange> = cap.marked.iter().map(|(span, _)| *span).collect();
            marked.sort_unstable();
            for (start, end) in marked {
                let start = start.max(covered);
                covered = end.max(start);
                spans.push(((start, covered), *number));
            }
        }
        spans.sort_unstable();
        let mut unions: Vec<(NsRange, Vec<u16>)> = Vec::new();
        for ((start, end), cap) in spans {
            match unions.last_mut() {
                Some((union, caps)) if start < union.1 => {
                    union.1 = union.1.max(end);
                    caps.push(cap);
                }
                _ => unions.push(((start, end), vec![cap])),
            }
        }
        unions
    }

    /// Returns the longest stretch of a union in which no capability runs a thread.
    fn quiet(&self, (start, end): NsRange) -> Option<NsRange> {
        let runs = self.caps.values().flat_map(|cap| &cap.runs);
        let mut runs: Vec<NsRange> = runs
            .filter(|run| run.0 < end && run.1 > start)
            .copied()
            .collect();
        runs.sort_unstable();
        runs.push((end, end));
        let (mut since, mut longest) = (start, (start, start));
        for (from, to) in runs {
            if from.saturating_sub(since) > longest.1 - longest.0 {
                longest = (since, from);
            }
            since = since.max(to);
        }
        (longest.0 < longest.1).then_some(longest)
    }
}

impl PlainTime {
    /// Computes the account of a log. `cuts` returns further boundaries, given the first and last moment of the
    /// log: queries must begin and end at boundaries.
    pub fn compute(
        mut bytes: &[u8],
        cuts: impl FnOnce(NsRange) -> Vec<u64>,
    ) -> Result<Self, LogError> {
        let mut reading = EventSummary::default();
        let mut events = 0;
        let reader = read_log(&mut bytes, &mut |record: &Record<'_>| {
            events += 1;
            reading.event(record);
        })?;
        let damage = reader.damage();
        let is_cut = reader.inflate_error().is_some()
            || damage.kept.iter().any(|damage| {
                matches!(damage.kind, DamageKind::NoEndMarker | DamageKind::Truncated)
            });
        let is_damaged = damage.loses_data();
        let log = reading.finish(!is_cut && !is_damaged, is_damaged);
        let mut grid = std::mem::take(&mut reading.times);
        grid.extend(cuts(log));
        grid.extend([log.0, log.1]);
        for cap in reading.caps.values() {
            grid.extend([cap.life.0, cap.life.1, cap.known.0, cap.known.1]);
        }
        // A biographical census begins at a time that differs from that of its event.
        let begins = reading.censuses.iter().map(|census| census.0);
        grid.extend(begins.filter(|at| (log.0..=log.1).contains(at)));
        grid.sort_unstable();
        grid.dedup();
        let mut time = Self {
            grid,
            log,
            caps: BTreeMap::new(),
            pauses: reading.pauses(),
            threads: BTreeMap::new(),
            labels: std::mem::take(&mut reading.labels),
            paused_ns: Vec::new(),
            idle_ns: Vec::new(),
            events,
        };
        time.paint(&reading);
        for (number, thread) in reading.threads {
            if let Some(began) = thread.began {
                time.threads
                    .insert(number, ((began, thread.recorded_until), thread.spans));
            }
        }
        Ok(time)
    }

    /// Returns the index of a boundary.
    fn index_of(&self, time: u64) -> usize {
        self.grid.partition_point(|&at| at < time)
    }

    fn paint(&mut self, reading: &EventSummary) {
        let phases: BTreeMap<u16, Vec<(NsRange, Phase)>> = reading
            .caps
            .iter()
            .map(|(number, cap)| (*number, cap.phases()))
            .collect();
        let is_phased: Vec<bool> = self
            .pauses
            .iter()
            .map(|pause| {
                phases
                    .values()
                    .flat_map(|phases| inside(phases, pause))
                    .any(|&(span, phase)| {
                        matches!(phase, Phase::Work | Phase::Idle | Phase::Done)
                            && span.0.max(pause.start) < span.1.min(pause.end)
                    })
            })
            .collect();
        let censuses: Vec<NsRange> = reading
            .censuses
            .iter()
            .map(|census| self.counting(*census, &phases))
            .collect();
        let mut caps = BTreeMap::new();
        for (number, cap) in &reading.caps {
            let mut classes = vec![CapClass::Nothing; self.grid.len()];
            self.paint_cap(
                &mut classes,
                reading,
                cap,
                &phases[number],
                &is_phased,
                &censuses,
            );
            caps.insert(*number, classes);
        }
        // Number of runnable threads from each boundary on.
        let mut change = vec![0i64; self.grid.len() + 1];
        for thread in reading.threads.values() {
            for &((from, to), thread_state) in &thread.spans {
                if thread_state == ThreadState::Ready && from < to {
                    change[self.index_of(from)] += 1;
                    change[self.index_of(to)] -= 1;
                }
            }
        }
        let mut ready = 0;
        for (index, change) in change.iter().take(self.grid.len()).enumerate() {
            ready += change;
            for classes in caps.values_mut() {
                if classes[index] == CapClass::Idle && ready > 0 {
                    classes[index] = CapClass::IdleWorkReady;
                }
            }
        }
        self.caps = caps;
        self.sum_up();
    }

    /// Returns the time of a census, whose event at `begin` is logged only when its result is written: from the
    /// moment at which the leader stopped working, within one pause.
    fn counting(
        &self,
        (begin, end): NsRange,
        phases: &BTreeMap<u16, Vec<(NsRange, Phase)>>,
    ) -> NsRange {
        let mut pauses = self.pauses.iter();
        let pause = pauses.find(|pause| pause.requested <= begin && begin < pause.end);
        let Some(pause) = pause else {
            return (begin, begin);
        };
        let mut phases = phases.get(&pause.leader).into_iter().flatten();
        let during = phases.find(|(span, _)| span.0 <= begin && begin < span.1);
        let since = match during {
            Some(((since, _), Phase::Idle | Phase::Done)) => (*since).max(pause.start).min(begin),
            _ => begin,
        };
        (since, end.min(pause.end))
    }

    fn fill(&self, classes: &mut [CapClass], (from, to): NsRange, with: CapClass) {
        if from < to {
            classes[self.index_of(from)..self.index_of(to)].fill(with);
        }
    }

    fn paint_cap(
        &self,
        classes: &mut [CapClass],
        reading: &EventSummary,
        cap: &PlainCap,
        phases: &[(NsRange, Phase)],
        is_phased: &[bool],
        censuses: &[NsRange],
    ) {
        let (from, to) = cap.known;
        let known = |(start, end): NsRange| (start.max(from), end.min(to));
        self.fill(classes, cap.life, CapClass::Unknown);
        if reading.ran {
            self.fill(classes, cap.known, CapClass::Idle);
        }
        let mut runs = cap.runs.clone();
        runs.sort_unstable();
        let next_request = self.pauses.iter().skip(1).map(|next| next.requested);
        let next_request = next_request.chain([NEVER]);
        for ((pause, &is_phased), next_request) in
            self.pauses.iter().zip(is_phased).zip(next_request)
        {
            let next = runs.partition_point(|run| run.0 < pause.start);
            let stopped = next.checked_sub(1).map_or(0, |last| runs[last].1);
            let runs_again = runs.get(next).map_or(NEVER, |run| run.0);
            let stopping = (pause.requested.max(stopped), pause.start);
            self.fill(classes, known(stopping), CapClass::Stopping);
            // The pause ends early on a capability that already runs again.
            let stopped_range = (pause.start.max(stopped), pause.end.min(runs_again));
            let of_it = |(start, end): NsRange| {
                known((start.max(stopped_range.0), end.min(stopped_range.1)))
            };
            self.fill(classes, of_it(stopped_range), CapClass::Waiting);
            for &(span, phase) in inside(phases, pause) {
                let collects = match phase {
                    Phase::Work => true,
                    Phase::Whole => !is_phased,
                    Phase::Marked | Phase::Idle | Phase::Done => false,
                };
                if collects {
                    self.fill(classes, of_it(span), CapClass::Collecting);
                }
            }
            for census in censuses {
                self.fill(classes, of_it(*census), CapClass::Census);
            }
            if runs_again >= pause.end && stopped <= pause.end {
                let marked = inside(phases, pause);
                let own = marked
                    .iter()
                    .find(|(span, _)| span.0 < pause.end && pause.end < span.1);
                if own.is_some() {
                    let own_end = cap.marked.iter().map(|(span, _)| *span);
                    let own_end = own_end.filter(|span| span.0 < pause.end && pause.end < span.1);
                    let back = own_end.map(|span| span.1).max().unwrap_or(pause.end);
                    let back = (pause.end, back.min(runs_again).min(next_request));
                    self.fill(classes, known(back), CapClass::ComingBack);
                }
            }
        }
        for run in &cap.runs {
            let run = (run.0.max(cap.life.0), run.1.min(cap.life.1));
            self.fill(classes, run, CapClass::Running);
        }
    }

    fn sum_up(&mut self) {
        let mut is_paused = vec![false; self.grid.len()];
        for pause in &self.pauses {
            let indices = self.index_of(pause.requested)..self.index_of(pause.end);
            is_paused[indices].fill(true);
        }
        let (mut paused_ns, mut idle_ns) = (0, 0);
        self.paused_ns = vec![0];
        self.idle_ns = vec![0];
        for (index, ends) in self.grid.windows(2).enumerate() {
            let length = ends[1] - ends[0];
            let idle = |classes: &Vec<CapClass>| {
                matches!(classes[index], CapClass::Idle | CapClass::IdleWorkReady)
            };
            if is_paused[index] {
                paused_ns += length;
            } else if self.caps.values().any(idle) {
                idle_ns += length;
            }
            self.paused_ns.push(paused_ns);
            self.idle_ns.push(idle_ns);
        }
    }

    /// Returns the pieces of a range: index of the boundary and length in nanoseconds.
    fn pieces(&self, (from, to): NsRange) -> impl Iterator<Item = (usize, u64)> + '_ {
        let indices = self.index_of(from)..self.index_of(to);
        indices.map(|index| (index, self.grid[index + 1] - self.grid[index]))
    }

    /// Returns the time of each capability in a range by class.
    pub fn caps(&self, range: NsRange) -> BTreeMap<CapId, CapSums> {
        let sums = |classes: &Vec<CapClass>| {
            let mut sums = CapSums::new();
            for (index, length) in self.pieces(range) {
                *sums.entry(classes[index]).or_default() += length;
            }
            sums.remove(&CapClass::Nothing);
            sums
        };
        let caps = self.caps.iter();
        caps.map(|(cap, classes)| (CapId(*cap), sums(classes)))
            .collect()
    }

    /// Returns the time in which exactly `i` capabilities ran, for each `i`.
    pub fn parallelism(&self, range: NsRange) -> Vec<u64> {
        let mut sums = vec![0; self.caps.len() + 1];
        for (index, length) in self.pieces(range) {
            let running = self.caps.values();
            let running = running.filter(|classes| classes[index] == CapClass::Running);
            sums[running.count()] += length;
        }
        sums
    }

    /// Returns the sums of the collections in a range. A collection that begins with the last event counts for a
    /// range that ends there.
    pub fn collections(&self, range: NsRange) -> CollectionSums {
        let mut sums = CollectionSums::default();
        for pause in &self.pauses {
            let begins = range.0 <= pause.start && pause.start < range.1;
            let at_end = range.1 == self.log.1 && pause.start == range.1;
            sums.count += u64::from(begins || at_end);
            sums.stopping += overlap((pause.requested, pause.start), range);
            sums.pause += overlap((pause.start, pause.end), range);
        }
        for cap in self.caps(range).values() {
            for class in [
                CapClass::Stopping,
                CapClass::Collecting,
                CapClass::Waiting,
                CapClass::ComingBack,
            ] {
                sums.capability_time += cap.get(&class).copied().unwrap_or(0);
            }
        }
        sums
    }

    /// Returns the time by class of each thread that lived in the range.
    pub fn threads(&self, range: NsRange) -> BTreeMap<ThreadId, ThreadSums> {
        let mut threads = BTreeMap::new();
        for (number, (life, spans)) in &self.threads {
            let life = overlap(*life, range);
            if life == 0 && range != self.log {
                continue;
            }
            let mut sums = ThreadSums {
                life,
                ..ThreadSums::default()
            };
            for &((from, to), thread_state) in spans {
                let (from, to) = (from.max(range.0), to.min(range.1));
                if from >= to {
                    continue;
                }
                let length = to - from;
                match thread_state {
                    ThreadState::Running => sums.running += length,
                    ThreadState::Foreign => sums.foreign_call += length,
                    ThreadState::Unknown => sums.unknown += length,
                    ThreadState::Blocked(code, waker) => {
                        let of = self.blocked_for(code, waker);
                        *sums.blocked.entry(of).or_default() += length;
                    }
                    ThreadState::Ready => {
                        let (first, last) = (self.index_of(from), self.index_of(to));
                        let paused_ns = self.paused_ns[last] - self.paused_ns[first];
                        let idle_ns = self.idle_ns[last] - self.idle_ns[first];
                        sums.ready_in_collection += paused_ns;
                        sums.ready_while_idle += idle_ns;
                        sums.ready_behind_thread += length - paused_ns - idle_ns;
                    }
                }
            }
            threads.insert(ThreadId(*number), sums);
        }
        threads
    }

    /// Classifies a wait for an `MVar` or in STM: sleep if the runtime's timer manager ends it, I/O if an I/O
    /// manager does.
    fn blocked_for(&self, code: u8, waker: Option<u32>) -> BlockedFor {
        let label = waker.and_then(|waker| self.labels.get(&waker));
        match (code, label.map(String::as_str)) {
            (7 | 12 | 20, Some("TimerManager")) => BlockedFor::SLEEPING,
            (7 | 12 | 20, Some(label)) if label.starts_with("IOManager") => BlockedFor::IO,
            _ => BlockedFor::stop(StopCode(code)),
        }
    }

    /// Returns the total time in which threads were runnable in a range.
    pub fn ready(&self, range: NsRange) -> u64 {
        let spans = self.threads.values().flat_map(|(_, spans)| spans);
        let ready = spans.filter(|(_, thread_state)| *thread_state == ThreadState::Ready);
        ready.map(|(span, _)| overlap(*span, range)).sum()
    }
}

/// Returns the phases that may overlap a collection; `phases` must be sorted.
fn inside<'a>(phases: &'a [(NsRange, Phase)], pause: &PlainPause) -> &'a [(NsRange, Phase)] {
    let first = phases.partition_point(|(span, _)| span.1 < pause.start);
    let last = phases.partition_point(|(span, _)| span.0 < pause.end);
    &phases[first..last.max(first)]
}

/// Returns the length of the intersection of two intervals.
fn overlap(a: NsRange, b: NsRange) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}
