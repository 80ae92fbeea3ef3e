//! Runs the state machines of [`validity`] over a log and reports every event that violates one of them. In files
//! with several logs, the machines are reset at each section.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::automata::validity::{self, Tolerated, Transition, Verdict};
use crate::diagnostics::{Diagnostic, Fact, Subject};
use eventlog::hash::SeededMap;
use eventlog::header::Header;
use eventlog::ids::{CapId, TaskId, ThreadId};
use eventlog::thread_map::ThreadMap;
use eventlog::{Event, EventSet, EventType, Record, Subject as EventSubject};
use validity::{capability, spark, task, thread};

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    state: thread::State,
    runs_sparks: bool,
    is_created: bool,
}

/// State machines of one log.
#[derive(Debug, Default)]
struct Machines {
    threads: ThreadMap<Thread>,
    /// Smallest ID among the threads whose creation was logged.
    first_created: Option<ThreadId>,
    /// Whether the header declares the log a part cut out of another one; any thread may then have been created
    /// before it.
    is_cut: bool,
    caps: SeededMap<Option<CapId>, capability::State>,
    tasks: SeededMap<TaskId, task::State>,
}

/// Validity check of a log.
#[derive(Debug, Default)]
pub struct Check {
    header: Option<Arc<Header>>,
    machines: Machines,
    /// Number of events that violated a machine.
    pub diagnostics: u64,
    /// Number of tolerated violations by reason.
    pub tolerated: BTreeMap<Tolerated, u64>,
}

impl Check {
    /// Event types that [`event`](Self::event) judges.
    pub const CONSUMES: EventSet =
        EventSet::for_subject(EventSubject::Task).union(EventSet::from_types(&[
            EventType::CREATE_THREAD,
            EventType::RUN_THREAD,
            EventType::STOP_THREAD,
            EventType::THREAD_RUNNABLE,
            EventType::MIGRATE_THREAD,
            EventType::THREAD_WAKEUP,
            EventType::CREATE_SPARK_THREAD,
            EventType::SPARK_RUN,
            EventType::SPARK_STEAL,
        ]));

    /// Processes the next event in analysis order, and passes each violation to `found`.
    #[inline]
    pub fn event(&mut self, record: &Record<'_>, found: &mut impl FnMut(Diagnostic)) {
        if Self::CONSUMES.contains(record.id) {
            self.relevant_event(record, found);
        }
    }

    fn relevant_event(&mut self, record: &Record<'_>, found: &mut impl FnMut(Diagnostic)) {
        let known = self.header.as_ref();
        if !known.is_some_and(|header| Arc::ptr_eq(header, record.header)) {
            self.end_section();
            self.header = Some(Arc::clone(record.header));
            self.machines.is_cut = record.header.knows(EventType::CUT_RANGE);
        }
        let cap = record.cap;
        let mut judged: Judgements = [None, None];
        self.machines.event(record, &mut judged);
        for (subject, verdict) in judged.into_iter().flatten() {
            match verdict {
                Verdict::Fine => {}
                Verdict::Tolerated(what) => *self.tolerated.entry(what).or_default() += 1,
                Verdict::Broken(problem) => {
                    self.diagnostics += 1;
                    let fact = Fact::Order { subject, problem };
                    found(Diagnostic::at_time(record.time, fact).with_cap(cap));
                }
            }
        }
    }

    /// Ends a section. Open states are no violation, as the log ends there; tasks still alive are counted as
    /// tolerated.
    fn end_section(&mut self) {
        let machines = std::mem::take(&mut self.machines);
        let alive = |state: &&task::State| matches!(state, task::State::Alive(_));
        let alive = machines.tasks.values().filter(alive).count() as u64;
        if alive > 0 {
            *self.tolerated.entry(Tolerated::TaskWithoutEnd).or_default() += alive;
        }
    }

    /// Ends the log and its last section.
    pub fn finish(&mut self) {
        self.end_section();
        self.header = None;
    }
}

/// Verdicts on one event, which at most two machines judge.
type Judgements = [Option<Judgement>; 2];
/// A verdict and its subject; `None` for an unnamed capability.
type Judgement = (Option<Subject>, Verdict);

impl Machines {
    fn event(&mut self, record: &Record<'_>, judged: &mut Judgements) {
        let cap = record.cap;
        let (subject, verdict) = match record.event() {
            Event::CreateThread { thread } => {
                let first = self.first_created.unwrap_or(thread);
                self.first_created = Some(first.min(thread));
                self.threads.get_mut(thread).is_created = true;
                self.thread(thread, thread::Input::Create)
            }
            Event::RunThread { thread } => {
                judged[1] = self.run(cap, thread, true);
                self.thread(thread, thread::Input::Run(cap))
            }
            Event::StopThread { thread, status } => {
                judged[1] = self.run(cap, thread, false);
                self.thread(thread, thread::Input::Stop(cap, status))
            }
            Event::ThreadRunnable { thread } | Event::WakeupThread { thread, .. } => {
                self.thread(thread, thread::Input::Wakeup)
            }
            Event::MigrateThread { thread, .. } => self.thread(thread, thread::Input::Migrate),
            Event::CreateSparkThread { spark_thread } => self.spark_thread(spark_thread),
            Event::SparkRun {} | Event::SparkSteal { .. } => self.take_spark(cap),
            Event::TaskCreate { task, cap, .. } => self.task(task, task::Input::Create(cap)),
            Event::TaskMigrate { task, cap, new_cap } => {
                let to = new_cap;
                self.task(task, task::Input::Move { from: cap, to })
            }
            Event::TaskDelete { task } => self.task(task, task::Input::Delete),
            _ => return,
        };
        judged[0] = Some((subject, verdict));
    }

    /// Returns whether a thread may have been created before the log begins.
    fn is_older(&mut self, id: ThreadId) -> bool {
        let may_be_older = self.is_cut && !self.threads.get_mut(id).is_created;
        may_be_older || self.first_created.is_none_or(|first| id < first)
    }

    fn thread(&mut self, id: ThreadId, input: thread::Input) -> Judgement {
        let older = self.is_older(id);
        let thread = self.threads.get_mut(id);
        if let (thread::State::Running(cap), thread::Input::Run(other)) = (thread.state, input)
            && cap != other
        {
            // The thread is on `other` now, so the next event of its old capability is no violation.
            self.caps.insert(cap, capability::State::Idle);
        }
        let Transition { next, verdict } = thread::step(thread.state, input, older);
        thread.state = next;
        (Some(Subject::Thread(id)), verdict)
    }

    /// Processes the start (`runs`) or stop of a thread on a capability.
    fn run(&mut self, cap: Option<CapId>, thread: ThreadId, runs: bool) -> Option<Judgement> {
        // Without a capability, any number of threads may run.
        cap?;
        let state = self.caps.entry(cap).or_default();
        let Transition { next, verdict } = capability::step(*state, thread, runs);
        let before = std::mem::replace(state, next);
        if let (Verdict::Broken(_), capability::State::Runs(displaced)) = (verdict, before) {
            // The stop of the displaced thread is missing; its next run must not raise another diagnostic.
            let displaced = self.threads.get_mut(displaced);
            if displaced.state == thread::State::Running(cap) {
                displaced.state = thread::State::Stopped;
            }
        }
        Some((cap.map(Subject::Capability), verdict))
    }

    fn spark_thread(&mut self, id: ThreadId) -> Judgement {
        let older = self.is_older(id);
        let thread = self.threads.get_mut(id);
        let created = older || thread.state != thread::State::Unseen;
        let verdict = spark::become_spark_thread(created, thread.runs_sparks).verdict;
        thread.runs_sparks = true;
        if !created {
            thread.state = thread::State::Queued;
        }
        (Some(Subject::Thread(id)), verdict)
    }

    fn take_spark(&mut self, cap: Option<CapId>) -> Judgement {
        let running = match self.caps.get(&cap) {
            Some(capability::State::Runs(id)) => {
                let thread = self.threads.get_mut(*id);
                let runs_sparks = thread.runs_sparks || (self.is_cut && !thread.is_created);
                Some((*id, runs_sparks))
            }
            _ => None,
        };
        (cap.map(Subject::Capability), spark::take(running).verdict)
    }

    fn task(&mut self, id: TaskId, input: task::Input) -> Judgement {
        let state = self.tasks.entry(id).or_default();
        let Transition { next, verdict } = task::step(*state, input);
        *state = next;
        (Some(Subject::Task(id)), verdict)
    }
}
