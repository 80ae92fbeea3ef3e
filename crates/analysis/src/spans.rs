//! Runs the automata over a log, one of each kind per capability or thread,
//! and hands every span on as it ends.

use crate::automata::gc_phase::{self, Phase};
use crate::automata::thread_state::{Activity, Input, Reason, State, ThreadSpan};
use crate::automata::{Oddity, gc, mutator, thread_state};
use eventlog::cap_table::CapTable;
use eventlog::cursor::Cursor;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::thread_map::ThreadMap;
use eventlog::{Event, EventSet, EventType, Record, Sink, StopStatus};
use model::class::{ManagerThread, WaitReason};
use model::time::Interval;

/// Takes the spans in the order in which they end.
pub trait SpanSink {
    /// A garbage collection of a capability ended.
    fn gc(&mut self, cap: CapId, span: Interval) {
        let _ = (cap, span);
    }
    /// A phase of a collection ended. The phases of a collection come before it ([`gc`](Self::gc)), in their order.
    fn gc_phase(&mut self, cap: CapId, phase: Phase, span: Interval) {
        let _ = (cap, phase, span);
    }
    /// A span of a thread's life ended. `woken` is when the thread, after it
    /// had stopped, was first said to be runnable again: during a span of
    /// waiting, or before a run. Stops after which it need not be woken, and
    /// a foreign call, of whose return the log says nothing, may have `None`.
    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, woken: Option<Nanos>) {
        let _ = (thread, span, woken);
    }
    /// A capability stopped running a thread (the version by capability).
    fn mutator(&mut self, cap: CapId, thread: ThreadId, span: Interval) {
        let _ = (cap, thread, span);
    }
    /// A thread was moved away from a capability to another.
    fn migration(&mut self, thread: ThreadId, from: Option<CapId>, to: Option<CapId>, at: Nanos) {
        let _ = (thread, from, to, at);
    }
    /// A thread was created (lifecycle only).
    fn created(&mut self, thread: ThreadId, cap: Option<CapId>, at: Nanos) {
        let _ = (thread, cap, at);
    }
    /// A thread that waits for this reason was first said to be runnable again.
    fn woken(&mut self, thread: ThreadId, reason: Reason, at: Nanos) {
        let _ = (thread, reason, at);
    }
    /// It was woken by a manager thread of the runtime, which tells for what it waited. The span of the wait
    /// ends later ([`thread`](Self::thread)); [`WaitReasons`] keeps this until then.
    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        let _ = (thread, manager);
    }
    /// A thread was woken, or told to wake up, on a capability.
    fn wakeup(&mut self, thread: ThreadId, cap: Option<CapId>, at: Nanos) {
        let _ = (thread, cap, at);
    }
    /// Something odd happened.
    fn oddity(&mut self, at: Nanos, cap: Option<CapId>, oddity: Oddity) {
        let _ = (at, cap, oddity);
    }
    /// What is still open at the end of the log, as if it ended there.
    fn open(&mut self, open: Open) {
        let _ = open;
    }
}

/// A span that the end of the log cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A collection.
    Gc(CapId, Interval),
    /// A span of a thread's life, and when the thread was woken
    /// ([`SpanSink::thread`]).
    Thread(ThreadId, ThreadSpan, Option<Nanos>),
}

/// Which waits the runtime's managers ended, until the spans of these end.
#[derive(Clone, Debug, Default)]
pub struct WaitReasons(SeededMap<ThreadId, ManagerThread>);

impl WaitReasons {
    /// Takes what [`SpanSink::woken_by`] tells.
    pub fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.0.insert(thread, manager);
    }

    /// For what a thread waited in a span that has ended; `None` if it ran or could run.
    pub fn end(&mut self, thread: ThreadId, span: &ThreadSpan) -> Option<WaitReason> {
        let Activity::Blocked(reason) = span.activity else {
            return None;
        };
        let manager = self.0.remove(&thread);
        let by_stop = reason.wait_reason()?;
        Some(manager.map_or(by_stop, |manager| manager.reason_of_wait(by_stop)))
    }
}

/// Where the manager threads of the runtime run.
#[derive(Clone, Debug, Default)]
struct Managers {
    /// By their labels.
    labelled: SeededMap<ThreadId, ManagerThread>,
    /// The thread that each capability runs.
    running: CapTable<Option<ThreadId>>,
}

impl Managers {
    /// Takes the next event in analysis order. The result is the manager that logged it.
    fn offer(&mut self, record: &Record<'_>) -> Option<ManagerThread> {
        match record.id {
            EventType::THREAD_LABEL => {
                if let Event::ThreadLabel { thread, label } = record.event() {
                    match ManagerThread::from_label(&label.to_str()) {
                        Some(manager) => self.labelled.insert(thread, manager),
                        None => self.labelled.remove(&thread),
                    };
                }
                None
            }
            EventType::RUN_THREAD | EventType::STOP_THREAD => {
                let thread = match record.event() {
                    Event::RunThread { thread } => Some(thread),
                    _ => None,
                };
                *self.running.get_mut(record.cap) = thread;
                None
            }
            EventType::THREAD_WAKEUP | EventType::MIGRATE_THREAD | EventType::THREAD_RUNNABLE
                if !self.labelled.is_empty() =>
            {
                let thread = (*self.running.get_mut(record.cap))?;
                self.labelled.get(&thread).copied()
            }
            _ => None,
        }
    }
}

/// Which automata run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analyses {
    /// Threads begin with their creation (lifecycle) instead of their first run.
    pub lifecycle: bool,
    /// Mutator spans by capability.
    pub mutator_by_cap: bool,
}

#[derive(Clone, Debug, Default)]
struct CapMachines {
    gc: gc::State,
    phase: gc_phase::State,
    mutator: mutator::State,
}

/// A log may have millions of them: kept small.
#[derive(Clone, Copy, Debug)]
struct Thread {
    state: State,
    /// When it was first woken since it stopped; [`NEVER`] if it was not.
    woken: Nanos,
    /// The capability that saw it finish.
    finished_on: Option<CapId>,
}

/// Later than anything in a log.
const NEVER: Nanos = Nanos(u64::MAX);

impl Default for Thread {
    fn default() -> Self {
        Self {
            state: State::default(),
            woken: NEVER,
            finished_on: None,
        }
    }
}

impl Thread {
    fn woken(&self) -> Option<Nanos> {
        (self.woken != NEVER).then_some(self.woken)
    }
}

/// The automata of a log.
#[derive(Clone, Debug)]
pub struct SpanAnalysis {
    analyses: Analyses,
    caps: CapTable<CapMachines>,
    threads: ThreadMap<Thread>,
    /// Threads that further capabilities saw finish: none in a sound log.
    finished_again: SeededSet<(CapId, ThreadId)>,
    /// The manager that logged the event at hand.
    manager: Option<ManagerThread>,
}

impl SpanAnalysis {
    /// All automata in their initial states.
    #[must_use]
    pub fn new(analyses: Analyses) -> Self {
        Self {
            analyses,
            caps: CapTable::default(),
            threads: ThreadMap::default(),
            finished_again: SeededSet::default(),
            manager: None,
        }
    }

    fn cap(&mut self, cap: CapId) -> &mut CapMachines {
        self.caps.get_mut(Some(cap))
    }

    /// The types of events that [`event`](Self::event) takes.
    pub const CONSUMES: EventSet = EventSet::of(&[
        EventType::CREATE_THREAD,
        EventType::RUN_THREAD,
        EventType::STOP_THREAD,
        EventType::THREAD_RUNNABLE,
        EventType::MIGRATE_THREAD,
        EventType::THREAD_WAKEUP,
        EventType::GC_START,
        EventType::GC_END,
        EventType::GC_IDLE,
        EventType::GC_WORK,
        EventType::GC_DONE,
    ]);

    /// Takes the next event in analysis order.
    #[inline]
    pub fn event(&mut self, record: &Record<'_>, sink: &mut impl SpanSink) {
        if Self::CONSUMES.contains(record.id) {
            self.scheduling_event(record, sink);
        }
    }

    fn scheduling_event(&mut self, record: &Record<'_>, sink: &mut impl SpanSink) {
        if !record.header.knows(record.id) {
            return;
        }
        // Decoded by hand: most events of a log are of these few types.
        let mut fields = Cursor::new(record.payload, record.header.stop_codes);
        match (record.id, fields.field::<ThreadId>()) {
            (EventType::GC_START, _) => self.gc(record, gc::Input::Start, sink),
            (EventType::GC_END, _) => self.gc(record, gc::Input::End, sink),
            (EventType::GC_IDLE, _) => self.gc_phase(record, gc_phase::Input::Idle, sink),
            (EventType::GC_WORK, _) => self.gc_phase(record, gc_phase::Input::Work, sink),
            (EventType::GC_DONE, _) => self.gc_phase(record, gc_phase::Input::Done, sink),
            (EventType::CREATE_THREAD, Some(thread)) if self.analyses.lifecycle => {
                let known = self.threads.get_mut(thread);
                if known.state == State::Unseen {
                    sink.created(thread, record.cap, record.time);
                }
                self.thread(record, thread, Input::Create, sink);
            }
            (EventType::RUN_THREAD, Some(thread)) => {
                self.thread(record, thread, Input::Run(record.cap), sink);
                if self.analyses.mutator_by_cap {
                    self.mutator(record, thread, None, sink);
                }
            }
            (EventType::STOP_THREAD, Some(thread)) => {
                if let Some(status) = fields.field() {
                    self.thread(record, thread, Input::Stop(status), sink);
                    if self.analyses.mutator_by_cap {
                        self.mutator(record, thread, Some(status), sink);
                    }
                }
            }
            (EventType::THREAD_RUNNABLE, Some(thread)) => self.wake(thread, record, sink),
            (EventType::MIGRATE_THREAD, Some(thread)) => {
                self.wake(thread, record, sink);
                sink.migration(thread, record.cap, fields.field(), record.time);
            }
            (EventType::THREAD_WAKEUP, Some(thread)) => {
                self.wake(thread, record, sink);
                sink.wakeup(thread, record.cap, record.time);
            }
            _ => {}
        }
    }

    fn gc(&mut self, record: &Record<'_>, input: gc::Input, sink: &mut impl SpanSink) {
        let Some(cap) = record.cap else { return };
        let phase = match input {
            gc::Input::Start => gc_phase::Input::Start,
            gc::Input::End => gc_phase::Input::End,
        };
        self.gc_phase(record, phase, sink);
        let state = &mut self.cap(cap).gc;
        let step = gc::step(*state, input, record.time);
        *state = step.next;
        if let Some(span) = step.yields {
            sink.gc(cap, span);
        }
        if let Some(oddity) = step.oddity {
            sink.oddity(record.time, record.cap, oddity);
        }
    }

    fn gc_phase(&mut self, record: &Record<'_>, input: gc_phase::Input, sink: &mut impl SpanSink) {
        let Some(cap) = record.cap else { return };
        let state = &mut self.cap(cap).phase;
        let step = gc_phase::step(*state, input, record.time);
        *state = step.next;
        if let Some((phase, span)) = step.yields {
            sink.gc_phase(cap, phase, span);
        }
    }

    /// A thread that waits can run again. Further wakeups before it runs
    /// only repeat that: one on another capability is sent on as a message.
    fn wake(&mut self, thread: ThreadId, record: &Record<'_>, sink: &mut impl SpanSink) {
        let known = self.threads.get_mut(thread);
        let State::Active(_, Activity::Blocked(reason)) = known.state else {
            return;
        };
        if known.woken == NEVER {
            known.woken = record.time;
            sink.woken(thread, reason, record.time);
            if let Some(manager) = self.manager {
                sink.woken_by(thread, manager);
            }
        }
    }

    #[inline]
    fn thread(
        &mut self,
        record: &Record<'_>,
        thread: ThreadId,
        input: Input,
        sink: &mut impl SpanSink,
    ) {
        let known = self.threads.get_mut(thread);
        let step = thread_state::step(known.state, input, record.time, thread);
        known.state = step.next;
        let woken = known.woken();
        if matches!(input, Input::Stop(_)) {
            known.woken = NEVER;
        }
        if let Some(span) = step.yields {
            sink.thread(thread, span, woken);
        }
        if let Some(oddity) = step.oddity {
            sink.oddity(record.time, record.cap, oddity);
        }
    }

    /// A run of `thread`, or its stop with a status.
    fn mutator(
        &mut self,
        record: &Record<'_>,
        thread: ThreadId,
        stop: Option<StopStatus>,
        sink: &mut impl SpanSink,
    ) {
        let Some(cap) = record.cap else { return };
        let input = match stop {
            None => mutator::Input::Run {
                thread,
                finished: self.has_finished(cap, thread),
            },
            Some(_) => mutator::Input::Stop { thread },
        };
        let machines = self.cap(cap);
        let step = mutator::step(machines.mutator, input, record.time);
        machines.mutator = step.next;
        if let Some((thread, span)) = step.yields {
            if stop == Some(StopStatus::ThreadFinished) {
                self.finish_thread(cap, thread);
            }
            sink.mutator(cap, thread, span);
        }
        if let Some(oddity) = step.oddity {
            sink.oddity(record.time, record.cap, oddity);
        }
    }

    fn has_finished(&mut self, cap: CapId, thread: ThreadId) -> bool {
        let finished_on = self.threads.get_mut(thread).finished_on;
        finished_on
            .is_some_and(|first| first == cap || self.finished_again.contains(&(cap, thread)))
    }

    fn finish_thread(&mut self, cap: CapId, thread: ThreadId) {
        let finished_on = &mut self.threads.get_mut(thread).finished_on;
        if *finished_on.get_or_insert(cap) != cap {
            self.finished_again.insert((cap, thread));
        }
    }

    /// Reports what is still open, as if it ended at `end`, the last event's time.
    pub fn finish(self, end: Nanos, sink: &mut impl SpanSink) {
        for (cap, machines) in self.caps.iter() {
            if let (Some(cap), gc::State::Collecting(since)) = (cap, machines.gc) {
                if let Some((phase, span)) = machines.phase.open(end) {
                    sink.gc_phase(cap, phase, span);
                }
                sink.open(Open::Gc(cap, Interval::new(since, end)));
            }
        }
        for (thread, known) in self.threads.into_sorted() {
            if let Some(span) = known.state.open(end) {
                sink.open(Open::Thread(thread, span, known.woken()));
            }
        }
    }
}

/// Runs one set of automata into one sink: what the command line does.
#[derive(Clone, Debug)]
pub struct Spans<S> {
    analysis: SpanAnalysis,
    managers: Managers,
    /// Where the spans go.
    pub sink: S,
    end: Nanos,
}

impl<S: SpanSink> Spans<S> {
    /// All automata in their initial states.
    pub fn new(analyses: Analyses, sink: S) -> Self {
        Self {
            analysis: SpanAnalysis::new(analyses),
            managers: Managers::default(),
            sink,
            end: Nanos(0),
        }
    }

    /// Reports open spans and gives the sink back.
    pub fn finish(mut self) -> S {
        self.analysis.finish(self.end, &mut self.sink);
        self.sink
    }
}

impl<S: SpanSink> Sink for Spans<S> {
    fn event(&mut self, record: &Record<'_>) {
        self.end = self.end.max(record.time);
        self.analysis.manager = self.managers.offer(record);
        self.analysis.event(record, &mut self.sink);
    }
}
