//! Converts the results of the automata about threads and collections to lanes of runs.

use super::deep_stacks::DeepStack;
use super::store::Store;
use super::threads::NEVER_NS;
use super::turns::Turn;
use crate::account::runs::{Run, RunRef};
use crate::automata::Anomaly;
use crate::automata::gc_phase::Phase;
use crate::automata::thread_state::{self, Activity, Input, Reason, ThreadSpan};
use crate::diagnostics::Diagnostic;
use crate::spans::{OpenSpan, SpanSink};
use eventlog::StopStatus;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::StopCode;
use model::lane::Lane;
use model::saturating::saturating_u32;
use model::time::Interval;

impl Store {
    /// Appends a run. `stop` is `None` if it was cut off by the end of the log; `woken` is the time of the wakeup
    /// before it, if one was needed.
    #[inline]
    fn push_run(
        &mut self,
        index: u32,
        cap: Option<CapId>,
        span: Interval,
        stop: Option<StopStatus>,
        woken: Option<Nanos>,
    ) {
        let code = stop.map_or(StopCode::OPEN, |status| StopCode(status.code()));
        let lane = self.make_lane(cap);
        let (Some(lanes), Some(thread)) = (self.lanes.get_mut(lane), self.threads.at_mut(index))
        else {
            return;
        };
        let runs = &mut lanes.runs;
        let (last_stop, last_run_end_ns) = (thread.last_stop, thread.last_run_end_ns);
        let has_begun = thread.began_ns != NEVER_NS;
        // Runs overlap only in damaged logs; the later one is clipped.
        let start = span.start().0.max(runs.last_end()).max(last_run_end_ns);
        let end = span.end().0.max(start);
        let place = runs.len();
        let woken = woken.map(|woken| woken.0);
        let ready = Turn::ready_since(last_stop, last_run_end_ns, woken).filter(|_| has_begun);
        let run = Run {
            start,
            end,
            code,
            ready_ns: ready.map(|ready| start.saturating_sub(ready)),
            idle_ns: None,
            paused: false,
            woken_by: None,
        };
        runs.push(index, run);
        thread.runs += 1;
        thread.began_ns = thread.began_ns.min(start);
        thread.last_run_end_ns = end;
        thread.last_stop = code;
        thread.last_cap = cap.or(thread.last_cap);
        if stop.is_some() {
            thread.run_ns += end - start;
        }
        thread.finished = code == StopCode::FINISHED;
        if let Some(StopStatus::BlockedOnBlackHole(Some(owner))) = stop {
            let run = RunRef {
                lane: saturating_u32(lane),
                place: saturating_u32(place),
            };
            self.black_hole_owners.insert(run, owner);
        }
        if let Some(StopStatus::StackOverflow(Some(words))) = stop {
            self.deep_stacks.extend(DeepStack::new(index, end, words));
        }
    }

    /// Records the creation of a thread.
    fn begin(&mut self, index: u32, at: Nanos) {
        if let Some(thread) = self.threads.at_mut(index) {
            thread.created = true;
            thread.last_stop = StopCode::CREATED;
            thread.began_ns = at.0;
            thread.last_run_end_ns = at.0;
        }
    }

    /// Records the stop of a thread that was not running, as an empty run that keeps the reason.
    #[cold]
    fn push_repeated_stop(
        &mut self,
        index: u32,
        at: Nanos,
        stop: Option<StopStatus>,
        woken: Option<Nanos>,
    ) {
        let run = self.threads.get(index).map_or(0, |thread| thread.runs);
        self.repeated_stops.entry(index).or_default().push(run);
        self.push_run(index, None, Interval::empty_at(at), stop, woken);
    }

    /// Passes the next input to the automaton of a thread. Inlined, so that the kind of the input is a constant.
    #[inline(always)]
    pub(super) fn step(&mut self, index: u32, input: Input, at: Nanos, cap: Option<CapId>) {
        let Some(thread) = self.threads.at_mut(index) else {
            return;
        };
        let step = thread_state::step(thread.state, input, at, thread.id);
        thread.state = step.next;
        let woken = thread.woken();
        if matches!(input, Input::Stop(_)) {
            thread.woken_ns = NEVER_NS;
        }
        if let Some(span) = step.yields {
            self.thread(index, span, woken);
        }
        if let Some(anomaly) = step.anomaly {
            self.anomalies
                .push(Diagnostic::at_time(at, anomaly).with_cap(cap));
        }
    }

    /// Processes a finished span of a thread's life. `woken` is the time of the first wakeup after its stop.
    #[inline]
    fn thread(&mut self, index: u32, span: ThreadSpan, woken: Option<Nanos>) {
        let ThreadSpan {
            activity,
            span,
            stop,
        } = span;
        match activity {
            Activity::Running(cap) => self.push_run(index, cap, span, stop, woken),
            Activity::Blocked(reason) => {
                // Other waits are derived from the runs around them.
                if reason == Reason::Created {
                    self.begin(index, span.start());
                }
                if stop.is_some() {
                    self.push_repeated_stop(index, span.end(), stop, woken);
                }
            }
        }
    }

    /// Processes a finished span, whatever the state of the thread's automaton.
    #[cfg(test)]
    pub(crate) fn add_span(&mut self, thread: ThreadId, span: ThreadSpan, woken: Option<Nanos>) {
        let index = self.threads.index(thread);
        self.thread(index, span, woken);
    }

    /// Returns whether a thread that stopped for this reason becomes ready by a wakeup.
    pub(super) fn wakeup_makes_ready(reason: Reason) -> bool {
        let Reason::Stopped(status) = reason else {
            return false;
        };
        let last_stop = StopCode(status.code());
        !last_stop.stays_ready() && Turn::ready_since(last_stop, 0, Some(0)).is_some()
    }

    /// Reports the spans still open at the end of the log, and adds them to the lanes.
    pub(crate) fn end_spans(&mut self, end: Nanos, mut report: impl FnMut(OpenSpan)) {
        let mut open: Vec<(ThreadId, u32)> = self
            .threads
            .unfinished()
            .filter(|(_, thread)| thread.state.open(end).is_some())
            .map(|(index, thread)| (thread.id, index))
            .collect();
        open.sort_unstable();
        for (id, index) in open {
            let Some(thread) = self.threads.get(index) else {
                continue;
            };
            let woken = thread.woken();
            if let Some(span) = thread.state.open(end) {
                report(OpenSpan::Thread(id, span, woken));
                self.open_thread(index, span, woken);
            }
        }
    }

    fn open_thread(&mut self, index: u32, mut span: ThreadSpan, woken: Option<Nanos>) {
        if let Activity::Running(cap) = span.activity {
            // The stop may be in a lost buffer, so the run ends where the log's information about the capability
            // ends.
            let known = cap.and_then(|cap| self.facts.known(cap));
            let end = known.map_or(span.span.end(), |known| known.end());
            span.span = span.span.part_before(end);
            return self.thread(index, span, woken);
        }
        self.thread(index, span, woken);
        if let (Some(woken), Some(thread)) = (woken, self.threads.get(index)) {
            self.woken_at_end_ns.insert(thread.id, woken.0);
        }
    }
}

impl SpanSink for Store {
    fn gc(&mut self, cap: CapId, span: Interval) {
        let lane = self.lane_mut(Some(cap));
        lane.gc.push(span);
        lane.phases.collection(span);
    }

    fn gc_phase(&mut self, cap: CapId, phase: Phase, span: Interval) {
        self.lane_mut(Some(cap)).phases.push(phase, span);
    }

    fn anomaly(&mut self, at: Nanos, cap: Option<CapId>, anomaly: Anomaly) {
        self.gc_anomalies
            .push(Diagnostic::at_time(at, anomaly).with_cap(cap));
    }

    fn open(&mut self, open: OpenSpan) {
        if let OpenSpan::Gc(cap, span) = open {
            let known = self.facts.known(cap);
            let span = span.part_before(known.map_or(span.end(), |known| known.end()));
            if !span.is_empty() {
                self.gc(cap, span);
            }
        }
    }
}
