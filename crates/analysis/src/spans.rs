//! Runs one automaton of each kind per capability or thread over a log, and passes each span to a sink when it
//! ends.

use crate::automata::gc_phase::{self, Phase};
use crate::automata::thread_state::{Activity, Input, Reason, State, ThreadSpan};
use crate::automata::{Anomaly, gc, mutator, thread_state};
use eventlog::cap_table::CapTable;
use eventlog::cursor::Cursor;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::thread_map::ThreadMap;
use eventlog::{Event, EventSet, EventType, Record, Sink, StopStatus};
use model::class::{ManagerThread, WaitReason};
use model::time::Interval;

/// Receiver of spans, called in the order in which the spans end.
pub trait SpanSink {
    /// Called when a garbage collection of a capability ends.
    fn gc(&mut self, cap: CapId, span: Interval) {
        let _ = (cap, span);
    }
    /// Called when a phase of a collection ends: for all phases in order, before [`gc`](Self::gc) for their
    /// collection.
    fn gc_phase(&mut self, cap: CapId, phase: Phase, span: Interval) {
        let _ = (cap, phase, span);
    }
    /// Called when a span of a thread's life ends.
    ///
    /// `woken` is the time of the first wakeup after the thread had stopped; it applies to spans of waiting and to
    /// runs. It may be `None` after stops that need no wakeup, and after a foreign call, whose return is not
    /// logged.
    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, woken: Option<Nanos>) {
        let _ = (thread, span, woken);
    }
    /// Called when a capability stops running a thread (mutator spans by capability).
    fn mutator(&mut self, cap: CapId, thread: ThreadId, span: Interval) {
        let _ = (cap, thread, span);
    }
    /// Called when a thread migrates from one capability to another.
    fn migration(&mut self, thread: ThreadId, from: Option<CapId>, to: Option<CapId>, at: Nanos) {
        let _ = (thread, from, to, at);
    }
    /// Called when a thread is created (lifecycle only).
    fn created(&mut self, thread: ThreadId, cap: Option<CapId>, at: Nanos) {
        let _ = (thread, cap, at);
    }
    /// Called at the first wakeup of a thread that waits for `reason`.
    fn woken(&mut self, thread: ThreadId, reason: Reason, at: Nanos) {
        let _ = (thread, reason, at);
    }
    /// Called after [`woken`](Self::woken) if a manager thread of the runtime caused the wakeup, which reveals the
    /// reason of the wait. The span of the wait ends later ([`thread`](Self::thread)); [`WaitReasons`] keeps the
    /// manager until then.
    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        let _ = (thread, manager);
    }
    /// Called when `WakeupThread` is logged for a thread on a capability.
    fn wakeup(&mut self, thread: ThreadId, cap: Option<CapId>, at: Nanos) {
        let _ = (thread, cap, at);
    }
    /// Called when an automaton meets an unexpected event.
    fn anomaly(&mut self, at: Nanos, cap: Option<CapId>, anomaly: Anomaly) {
        let _ = (at, cap, anomaly);
    }
    /// Called for each span still open at the end of the log, as if it ended there.
    fn open(&mut self, open: OpenSpan) {
        let _ = open;
    }
}

/// A span cut off by the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenSpan {
    /// A collection of a capability.
    Gc(CapId, Interval),
    /// A span of a thread's life, and the time of the wakeup ([`SpanSink::thread`]).
    Thread(ThreadId, ThreadSpan, Option<Nanos>),
}

/// Manager threads that ended waits whose spans have not ended yet.
#[derive(Clone, Debug, Default)]
pub struct WaitReasons(SeededMap<ThreadId, ManagerThread>);

impl WaitReasons {
    /// Records a call of [`SpanSink::woken_by`].
    pub fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.0.insert(thread, manager);
    }

    /// Returns the reason of the wait that a finished span shows; `None` if the thread ran or was runnable.
    pub fn end(&mut self, thread: ThreadId, span: &ThreadSpan) -> Option<WaitReason> {
        let Activity::Blocked(reason) = span.activity else {
            return None;
        };
        let manager = self.0.remove(&thread);
        let by_stop = reason.wait_reason()?;
        Some(manager.map_or(by_stop, |manager| manager.reason_of_wait(by_stop)))
    }
}

/// Tracks which capabilities run manager threads of the runtime.
#[derive(Clone, Debug, Default)]
struct Managers {
    /// Manager threads, recognized by their labels.
    labelled: SeededMap<ThreadId, ManagerThread>,
    /// Thread that each capability currently runs.
    running: CapTable<Option<ThreadId>>,
}

impl Managers {
    /// Processes the next event in analysis order. Returns the manager thread that logged it if it is a wakeup.
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

/// Selection of the automata to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analyses {
    /// Starts threads at their creation (lifecycle) instead of at their first run.
    pub lifecycle: bool,
    /// Computes mutator spans by capability.
    pub mutator_by_cap: bool,
}

#[derive(Clone, Debug, Default)]
struct CapMachines {
    gc: gc::State,
    phase: gc_phase::State,
    mutator: mutator::State,
}

/// Kept small, as a log may have millions of threads.
#[derive(Clone, Copy, Debug)]
struct Thread {
    state: State,
    /// Time of the first wakeup since the thread stopped; [`NEVER`] if there was none.
    woken: Nanos,
    /// First capability that logged the end of the thread.
    finished_on: Option<CapId>,
}

/// Sentinel time, later than any event.
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

/// All automata of a log.
#[derive(Clone, Debug)]
pub struct SpanAnalysis {
    analyses: Analyses,
    caps: CapTable<CapMachines>,
    threads: ThreadMap<Thread>,
    /// Ends of threads logged by further capabilities; none in a sound log.
    finished_again: SeededSet<(CapId, ThreadId)>,
    /// Manager thread that logged the current event.
    manager: Option<ManagerThread>,
}

impl SpanAnalysis {
    /// Creates all automata in their initial states.
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

    /// Event types that [`event`](Self::event) processes.
    pub const CONSUMES: EventSet = EventSet::from_types(&[
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

    /// Processes the next event in analysis order.
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
        // Decoded by hand for speed: most events of a log are of these few types.
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
        if let Some(anomaly) = step.anomaly {
            sink.anomaly(record.time, record.cap, anomaly);
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

    /// Handles a wakeup of a waiting thread.
    ///
    /// Only the first wakeup before the next run counts: a wakeup for a thread of another capability is forwarded
    /// there as a message, and logged again.
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
        if let Some(anomaly) = step.anomaly {
            sink.anomaly(record.time, record.cap, anomaly);
        }
    }

    /// Processes the start of a run of `thread`, or with `stop` its end.
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
        if let Some(anomaly) = step.anomaly {
            sink.anomaly(record.time, record.cap, anomaly);
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

    /// Reports the spans still open, as if they ended at `end`, the time of the last event.
    pub fn finish(self, end: Nanos, sink: &mut impl SpanSink) {
        for (cap, machines) in self.caps.iter() {
            if let (Some(cap), gc::State::Collecting(since)) = (cap, machines.gc) {
                if let Some((phase, span)) = machines.phase.open(end) {
                    sink.gc_phase(cap, phase, span);
                }
                sink.open(OpenSpan::Gc(cap, Interval::new(since, end)));
            }
        }
        for (thread, known) in self.threads.into_sorted() {
            if let Some(span) = known.state.open(end) {
                sink.open(OpenSpan::Thread(thread, span, known.woken()));
            }
        }
    }
}

/// Runs one set of automata with one sink, as the command line does.
#[derive(Clone, Debug)]
pub struct Spans<S> {
    analysis: SpanAnalysis,
    managers: Managers,
    /// Receiver of the spans.
    pub sink: S,
    end: Nanos,
}

impl<S: SpanSink> Spans<S> {
    /// Creates all automata in their initial states.
    pub fn new(analyses: Analyses, sink: S) -> Self {
        Self {
            analysis: SpanAnalysis::new(analyses),
            managers: Managers::default(),
            sink,
            end: Nanos(0),
        }
    }

    /// Reports the open spans and returns the sink.
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
