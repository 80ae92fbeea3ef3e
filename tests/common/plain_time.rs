//! Where time went, computed a second time: slowly, from the plain events of a
//! log, by painting. It shares no code with the engine's account of time beyond
//! the decoding of events, so that the two can be compared.
//!
//! Time is cut at every boundary there is: at every event and at every cut that
//! a test wants. Between two boundaries nothing changes, so each capability has
//! one class there, and that is kept in a list. The lists are painted from what
//! matters least to what matters most: idle, unknown, what has to do with
//! collections, runs. A thread's life is a list of spans.
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

/// From a time to a time, in nanoseconds; the second is not part of it.
pub type Stretch = (u64, u64);

/// What a capability does between two boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Does {
    /// It does not live.
    Nothing,
    /// It runs a thread.
    Running,
    /// It collects.
    Collecting,
    /// It stands still in a collection.
    Waiting,
    /// It stands still so that all do.
    Stopping,
    /// It stands still while the heap is counted.
    Census,
    /// It has not come back from a collection that is over.
    ComingBack,
    /// It stands by, and a thread is ready.
    IdleWorkReady,
    /// It stands by, and no thread is ready.
    Idle,
    /// The log does not tell.
    Unknown,
}

/// What a thread does for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lives {
    /// It runs.
    Running,
    /// It could run.
    Ready,
    /// It waits: the standard code of the stop that says for what, and the thread that
    /// ended the wait.
    Blocked(u8, Option<u32>),
    /// It is in a foreign call.
    Foreign,
    /// The log does not tell.
    Unknown,
}

/// One event, of those that matter.
enum What {
    Create(u32),
    Run(u32),
    Stop(u32, StopStatus),
    /// Said to be runnable again.
    Wake(u32),
    Migrate(u32, u16),
    Label(u32, String),
    Request,
    StartGc,
    EndGc,
    Phase(Phase),
    /// Only the leader of a collection posts its statistics.
    Stats,
    CensusBegin,
    /// Told at the end of the run, with its true time.
    CensusWas(u64),
    CensusEnd,
    CapCreate(u16),
    CapDelete(u16),
    Startup(u16),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Marked as collecting: no phase is logged yet.
    Marked,
    /// Marked as collecting, without any phase to the end.
    Whole,
    Work,
    Idle,
    Done,
}

impl What {
    fn of(record: &Record<'_>) -> Option<Self> {
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

/// A capability while its events are read.
#[derive(Default)]
struct PlainCap {
    created: Option<u64>,
    deleted: Option<u64>,
    events: Option<Stretch>,
    life: Stretch,
    /// The part of its life that the log tells of.
    known: Stretch,
    runs: Vec<Stretch>,
    /// Where its own marks say that it collects, with the phases inside.
    marked: Vec<(Stretch, Vec<(u64, Phase)>)>,
    open: Option<(u64, Vec<(u64, Phase)>)>,
    has_stats: bool,
    led: Vec<Stretch>,
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

    /// What its own marks say, from the one time to the other, in order.
    fn phases(&self) -> Vec<(Stretch, Phase)> {
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

/// A thread while its events are read.
struct PlainThread {
    state: State,
    /// Its creation, or else its first run.
    began: Option<u64>,
    /// The end of its last run, or its creation.
    told: u64,
    why: Why,
    /// When it was first said to be runnable, since its last stop.
    woken: Option<u64>,
    /// The thread that ran where that was said.
    waker: Option<u32>,
    home: Option<u16>,
    spans: Vec<(Stretch, Lives)>,
    finished: bool,
}

#[derive(Clone, Copy)]
enum State {
    Unseen,
    Waiting,
    Running(u64, Option<u16>),
    Finished,
}

/// Why a thread waits.
#[derive(Clone, Copy)]
enum Why {
    Created,
    Stopped(StopStatus),
    /// It does not: its run did not end in the log.
    LogEnded,
}

impl PlainThread {
    fn new() -> Self {
        Self {
            state: State::Unseen,
            began: None,
            told: 0,
            why: Why::Created,
            woken: None,
            waker: None,
            home: None,
            spans: Vec::new(),
            finished: false,
        }
    }

    /// It waits from where it was told of last up to `to`.
    fn waits(&mut self, to: u64) {
        if self.began.is_none() {
            return;
        }
        let from = self.told;
        let to = to.max(from);
        let mut ready = to;
        let mut lives = Lives::Ready;
        match self.why {
            Why::Created => ready = from,
            Why::LogEnded => lives = Lives::Unknown,
            Why::Stopped(status) => match status {
                StopStatus::HeapOverflow
                | StopStatus::StackOverflow(_)
                | StopStatus::ThreadYielding
                | StopStatus::ThreadMigrating => ready = from,
                StopStatus::ForeignCall
                | StopStatus::BlockedOnCCall
                | StopStatus::BlockedOnCCallNoUnblockExc => lives = Lives::Foreign,
                status => {
                    let waker = self.woken.and(self.waker);
                    lives = Lives::Blocked(status.code(), waker);
                    ready = self.woken.map_or(to, |woken| woken.clamp(from, to));
                }
            },
        }
        self.spans.push(((from, ready), lives));
        self.spans.push(((ready, to), Lives::Ready));
        self.told = to;
    }

    /// It ran: `span` is where no run before is in its way.
    fn ran(&mut self, span: Stretch, why: Why) {
        self.waits(span.0);
        self.began.get_or_insert(span.0);
        self.spans.push((span, Lives::Running));
        self.told = span.1;
        self.why = why;
        self.finished = matches!(why, Why::Stopped(StopStatus::ThreadFinished));
    }
}

/// A collection of the program.
#[derive(Clone, Copy, Debug)]
pub struct PlainPause {
    /// When it was asked for.
    pub requested: u64,
    /// When it began.
    pub start: u64,
    /// When it was over.
    pub end: u64,
    leader: u16,
}

/// The classes of a thread's time, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadSums {
    /// The part of its life.
    pub life: u64,
    /// Running.
    pub running: u64,
    /// Ready in a collection, or while one was stopped for.
    pub ready_in_collection: u64,
    /// Ready behind other threads.
    pub ready_behind_thread: u64,
    /// Ready while some capability was idle.
    pub ready_while_idle: u64,
    /// Blocked, by what for.
    pub blocked: BTreeMap<BlockedFor, u64>,
    /// In foreign calls.
    pub foreign_call: u64,
    /// Not told of.
    pub unknown: u64,
}

/// A capability's time in a range, by class; a class without time has no entry.
pub type CapSums = BTreeMap<Does, u64>;

/// Collections in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionSums {
    /// How many begin in it.
    pub count: u64,
    /// The time in which they were stopped for.
    pub stopping: u64,
    /// Their own time.
    pub pause: u64,
    /// What all capabilities spent for them.
    pub capability_time: u64,
}

/// The account of a log.
pub struct PlainTime {
    /// Every boundary once, in order.
    grid: Vec<u64>,
    /// The first and the last event.
    pub log: Stretch,
    /// What each capability does between each boundary and the next.
    caps: BTreeMap<u16, Vec<Does>>,
    /// The collections.
    pub pauses: Vec<PlainPause>,
    /// The life of each thread, and its spans.
    threads: BTreeMap<u32, (Stretch, Vec<(Stretch, Lives)>)>,
    /// The last label of each thread.
    labels: BTreeMap<u32, String>,
    /// Up to each boundary: the time of pauses and of stopping for them.
    still: Vec<u64>,
    /// Up to each boundary: the time outside of those in which some capability
    /// stood by.
    stood_by: Vec<u64>,
    /// How many events the log has.
    pub events: usize,
}

/// Everything of a log that is read before anything is painted.
#[derive(Default)]
struct Reading {
    times: Vec<u64>,
    log: Option<Stretch>,
    caps: BTreeMap<u16, PlainCap>,
    threads: BTreeMap<u32, PlainThread>,
    /// Threads in the order in which they were met.
    met: Vec<u32>,
    labels: BTreeMap<u32, String>,
    /// The thread that runs on each capability.
    running: BTreeMap<Option<u16>, u32>,
    /// When the last run ended on each capability, or on none.
    last_run: BTreeMap<Option<u16>, u64>,
    censuses: Vec<Stretch>,
    counting_since: Option<u64>,
    ran: bool,
}

const NEVER: u64 = u64::MAX;

fn grown(span: Option<Stretch>, at: u64) -> Option<Stretch> {
    let (from, to) = span.unwrap_or((at, at));
    Some((from.min(at), to.max(at)))
}

impl Reading {
    fn thread(&mut self, thread: u32) -> &mut PlainThread {
        if !self.threads.contains_key(&thread) {
            self.met.push(thread);
        }
        self.threads.entry(thread).or_insert_with(PlainThread::new)
    }

    /// A run ended. A capability runs one thread at a time: of runs that overlap,
    /// which only damaged logs have, the one that ends later is cut.
    fn run_ended(&mut self, thread: u32, cap: Option<u16>, (start, end): Stretch, why: Why) {
        let free = self.last_run.get(&cap).copied().unwrap_or(0);
        let start = start.max(free).max(self.thread(thread).told);
        let span = (start, end.max(start));
        self.last_run.insert(cap, span.1);
        let known = self.thread(thread);
        known.ran(span, why);
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
        let Some(what) = What::of(record) else { return };
        self.times.push(at);
        match what {
            What::Create(thread) => self.create(thread, cap, at),
            What::Run(thread) => {
                self.running.insert(cap, thread);
                let known = self.thread(thread);
                known.state = match known.state {
                    State::Running(start, cap) => State::Running(start.min(at), cap),
                    State::Finished => State::Finished,
                    State::Unseen | State::Waiting => State::Running(at, cap),
                };
            }
            What::Stop(thread, status) => {
                self.running.retain(|_, running| *running != thread);
                self.stop(thread, status, at);
            }
            What::Label(thread, label) => {
                self.labels.insert(thread, label);
            }
            What::Wake(thread) => self.wake(thread, cap, at),
            What::Migrate(thread, to) => {
                self.wake(thread, cap, at);
                self.thread(thread).home = Some(to);
            }
            What::CensusBegin => {
                self.census(NEVER);
                self.counting_since = Some(at);
            }
            What::CensusWas(time) => {
                self.census(NEVER);
                self.censuses.push((time.min(at), NEVER));
            }
            What::CensusEnd => self.census(at),
            What::CapCreate(cap) => {
                let cap = self.caps.entry(cap).or_default();
                cap.created = cap.created.or(Some(at));
                cap.deleted = None;
            }
            What::CapDelete(cap) => self.caps.entry(cap).or_default().deleted = Some(at),
            What::Startup(caps) => {
                for cap in 0..caps.min(1024) {
                    self.caps.entry(cap).or_default();
                }
            }
            what => {
                if let Some(cap) = cap {
                    let cap = self.caps.entry(cap).or_default();
                    match what {
                        What::Request => cap.request(at),
                        What::StartGc => cap.start_gc(at),
                        What::EndGc => cap.end_gc(at),
                        What::Stats => cap.has_stats = cap.open.is_some(),
                        What::Phase(phase) => {
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
            known.told = at;
            known.home = cap;
        }
    }

    fn stop(&mut self, thread: u32, status: StopStatus, at: u64) {
        let next = match status {
            StopStatus::ThreadFinished => State::Finished,
            _ => State::Waiting,
        };
        let why = Why::Stopped(status);
        match self.thread(thread).state {
            State::Running(start, cap) => {
                self.run_ended(thread, cap, (start, at.max(start)), why);
            }
            // Stopped again while it did not run: it waits for something else now.
            State::Waiting => {
                let known = self.thread(thread);
                let at = at.max(known.told);
                known.ran((at, at), why);
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

    /// What of each capability's life the log tells, and what is still open at
    /// its end.
    fn finish(&mut self, is_whole: bool, is_damaged: bool) -> Stretch {
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
        for thread in self.met.clone() {
            if let State::Running(start, cap) = self.thread(thread).state {
                let end = known_end(&self.caps, cap).max(start);
                self.run_ended(thread, cap, (start, end), Why::LogEnded);
            }
        }
        for thread in self.threads.values_mut() {
            if thread.began.is_some() && !thread.finished {
                let known = known_end(&self.caps, thread.home).max(thread.told);
                thread.waits(known);
                let end = log.1.max(known);
                thread.spans.push(((known, end), Lives::Unknown));
                thread.told = end;
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

    /// The collections of the program: the spans of their leaders, and where there
    /// is none the longest stretch without a run.
    fn pauses(&self) -> Vec<PlainPause> {
        let mut found: Vec<(Stretch, Vec<u16>)> = Vec::new();
        for (number, cap) in &self.caps {
            found.extend(cap.led.iter().map(|led| (*led, vec![*number])));
        }
        let led: Vec<Stretch> = found.iter().map(|(led, _)| *led).collect();
        for (union, caps) in self.unions() {
            let meets = |led: &Stretch| led.0 < union.1.max(union.0 + 1) && union.0 < led.1;
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

    /// Stretches in which some capability is marked as collecting, with these
    /// capabilities.
    fn unions(&self) -> Vec<(Stretch, Vec<u16>)> {
        let mut spans: Vec<(Stretch, u16)> = Vec::new();
        for (number, cap) in &self.caps {
            let mut covered = 0;
            let mut marked: Vec<Stretch> = cap.marked.iter().map(|(span, _)| *span).collect();
            marked.sort_unstable();
            for (start, end) in marked {
                let start = start.max(covered);
                covered = end.max(start);
                spans.push(((start, covered), *number));
            }
        }
        spans.sort_unstable();
        let mut unions: Vec<(Stretch, Vec<u16>)> = Vec::new();
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

    /// The longest stretch of a union in which no capability runs a thread.
    fn quiet(&self, (start, end): Stretch) -> Option<Stretch> {
        let runs = self.caps.values().flat_map(|cap| &cap.runs);
        let mut runs: Vec<Stretch> = runs
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
    /// The account of a log. `cuts` names further boundaries, given the first and
    /// last moment of the log: only between boundaries can anything be asked.
    pub fn of(mut bytes: &[u8], cuts: impl FnOnce(Stretch) -> Vec<u64>) -> Result<Self, LogError> {
        let mut reading = Reading::default();
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
        // Some are not when their events are.
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
            still: Vec::new(),
            stood_by: Vec::new(),
            events,
        };
        time.paint(&reading);
        for (number, thread) in reading.threads {
            if let Some(began) = thread.began {
                time.threads
                    .insert(number, ((began, thread.told), thread.spans));
            }
        }
        Ok(time)
    }

    /// The place of a boundary.
    fn place(&self, time: u64) -> usize {
        self.grid.partition_point(|&at| at < time)
    }

    fn paint(&mut self, reading: &Reading) {
        let phases: BTreeMap<u16, Vec<(Stretch, Phase)>> = reading
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
        let censuses: Vec<Stretch> = reading
            .censuses
            .iter()
            .map(|census| self.counting(*census, &phases))
            .collect();
        let mut caps = BTreeMap::new();
        for (number, cap) in &reading.caps {
            let mut does = vec![Does::Nothing; self.grid.len()];
            self.paint_cap(
                &mut does,
                reading,
                cap,
                &phases[number],
                &is_phased,
                &censuses,
            );
            caps.insert(*number, does);
        }
        // How many threads are ready from each boundary on.
        let mut change = vec![0i64; self.grid.len() + 1];
        for thread in reading.threads.values() {
            for &((from, to), lives) in &thread.spans {
                if lives == Lives::Ready && from < to {
                    change[self.place(from)] += 1;
                    change[self.place(to)] -= 1;
                }
            }
        }
        let mut ready = 0;
        for (place, change) in change.iter().take(self.grid.len()).enumerate() {
            ready += change;
            for does in caps.values_mut() {
                if does[place] == Does::Idle && ready > 0 {
                    does[place] = Does::IdleWorkReady;
                }
            }
        }
        self.caps = caps;
        self.sum_up();
    }

    /// When the heap was counted for a census that says at `begin` that it is
    /// written down: since the leader did not work any more, in one pause.
    fn counting(
        &self,
        (begin, end): Stretch,
        phases: &BTreeMap<u16, Vec<(Stretch, Phase)>>,
    ) -> Stretch {
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

    fn fill(&self, does: &mut [Does], (from, to): Stretch, with: Does) {
        if from < to {
            does[self.place(from)..self.place(to)].fill(with);
        }
    }

    fn paint_cap(
        &self,
        does: &mut [Does],
        reading: &Reading,
        cap: &PlainCap,
        phases: &[(Stretch, Phase)],
        is_phased: &[bool],
        censuses: &[Stretch],
    ) {
        let (from, to) = cap.known;
        let known = |(start, end): Stretch| (start.max(from), end.min(to));
        self.fill(does, cap.life, Does::Unknown);
        if reading.ran {
            self.fill(does, cap.known, Does::Idle);
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
            self.fill(does, known(stopping), Does::Stopping);
            // It is over on a capability that runs again.
            let still = (pause.start.max(stopped), pause.end.min(runs_again));
            let of_it = |(start, end): Stretch| known((start.max(still.0), end.min(still.1)));
            self.fill(does, of_it(still), Does::Waiting);
            for &(span, phase) in inside(phases, pause) {
                let collects = match phase {
                    Phase::Work => true,
                    Phase::Whole => !is_phased,
                    Phase::Marked | Phase::Idle | Phase::Done => false,
                };
                if collects {
                    self.fill(does, of_it(span), Does::Collecting);
                }
            }
            for census in censuses {
                self.fill(does, of_it(*census), Does::Census);
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
                    self.fill(does, known(back), Does::ComingBack);
                }
            }
        }
        for run in &cap.runs {
            let run = (run.0.max(cap.life.0), run.1.min(cap.life.1));
            self.fill(does, run, Does::Running);
        }
    }

    fn sum_up(&mut self) {
        let mut still_now = vec![false; self.grid.len()];
        for pause in &self.pauses {
            let places = self.place(pause.requested)..self.place(pause.end);
            still_now[places].fill(true);
        }
        let (mut still, mut stood_by) = (0, 0);
        self.still = vec![0];
        self.stood_by = vec![0];
        for (place, ends) in self.grid.windows(2).enumerate() {
            let length = ends[1] - ends[0];
            let idle = |does: &Vec<Does>| matches!(does[place], Does::Idle | Does::IdleWorkReady);
            if still_now[place] {
                still += length;
            } else if self.caps.values().any(idle) {
                stood_by += length;
            }
            self.still.push(still);
            self.stood_by.push(stood_by);
        }
    }

    /// Stretches between boundaries, by their places, in a range.
    fn pieces(&self, (from, to): Stretch) -> impl Iterator<Item = (usize, u64)> + '_ {
        let places = self.place(from)..self.place(to);
        places.map(|place| (place, self.grid[place + 1] - self.grid[place]))
    }

    /// What each capability did in a range.
    pub fn caps(&self, range: Stretch) -> BTreeMap<CapId, CapSums> {
        let sums = |does: &Vec<Does>| {
            let mut sums = CapSums::new();
            for (place, length) in self.pieces(range) {
                *sums.entry(does[place]).or_default() += length;
            }
            sums.remove(&Does::Nothing);
            sums
        };
        let caps = self.caps.iter();
        caps.map(|(cap, does)| (CapId(*cap), sums(does))).collect()
    }

    /// For how long exactly so many capabilities ran.
    pub fn parallelism(&self, range: Stretch) -> Vec<u64> {
        let mut sums = vec![0; self.caps.len() + 1];
        for (place, length) in self.pieces(range) {
            let running = self.caps.values();
            let running = running.filter(|does| does[place] == Does::Running);
            sums[running.count()] += length;
        }
        sums
    }

    /// The collections of a range; one that begins with the last event counts to
    /// what comes before it.
    pub fn collections(&self, range: Stretch) -> CollectionSums {
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
                Does::Stopping,
                Does::Collecting,
                Does::Waiting,
                Does::ComingBack,
            ] {
                sums.capability_time += cap.get(&class).copied().unwrap_or(0);
            }
        }
        sums
    }

    /// How each thread spent a range that lived in it.
    pub fn threads(&self, range: Stretch) -> BTreeMap<ThreadId, ThreadSums> {
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
            for &((from, to), lives) in spans {
                let (from, to) = (from.max(range.0), to.min(range.1));
                if from >= to {
                    continue;
                }
                let length = to - from;
                match lives {
                    Lives::Running => sums.running += length,
                    Lives::Foreign => sums.foreign_call += length,
                    Lives::Unknown => sums.unknown += length,
                    Lives::Blocked(code, waker) => {
                        let of = self.blocked_for(code, waker);
                        *sums.blocked.entry(of).or_default() += length;
                    }
                    Lives::Ready => {
                        let (first, last) = (self.place(from), self.place(to));
                        let still = self.still[last] - self.still[first];
                        let stood_by = self.stood_by[last] - self.stood_by[first];
                        sums.ready_in_collection += still;
                        sums.ready_while_idle += stood_by;
                        sums.ready_behind_thread += length - still - stood_by;
                    }
                }
            }
            threads.insert(ThreadId(*number), sums);
        }
        threads
    }

    /// A wait for an `MVar` or in STM that the runtime's timer manager ends is sleep, one
    /// that an I/O manager ends is a wait for I/O.
    fn blocked_for(&self, code: u8, waker: Option<u32>) -> BlockedFor {
        let label = waker.and_then(|waker| self.labels.get(&waker));
        match (code, label.map(String::as_str)) {
            (7 | 12 | 20, Some("TimerManager")) => BlockedFor::SLEEPING,
            (7 | 12 | 20, Some(label)) if label.starts_with("IOManager") => BlockedFor::IO,
            _ => BlockedFor::stop(StopCode(code)),
        }
    }

    /// How long threads were ready in a range, all together.
    pub fn ready(&self, range: Stretch) -> u64 {
        let spans = self.threads.values().flat_map(|(_, spans)| spans);
        let ready = spans.filter(|(_, lives)| *lives == Lives::Ready);
        ready.map(|(span, _)| overlap(*span, range)).sum()
    }
}

/// The phases that a collection may have a part of; they are in order.
fn inside<'a>(phases: &'a [(Stretch, Phase)], pause: &PlainPause) -> &'a [(Stretch, Phase)] {
    let first = phases.partition_point(|(span, _)| span.1 < pause.start);
    let last = phases.partition_point(|(span, _)| span.0 < pause.end);
    &phases[first..last.max(first)]
}

/// How much of a stretch is in another.
fn overlap(a: Stretch, b: Stretch) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}
