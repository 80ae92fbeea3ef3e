//! Tasks of the runtime, which are OS threads, and their capabilities over time.

use crate::automata::task::{Input, State, step};
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, OsThreadId, TaskId};
use eventlog::{Event, EventSet, Record, Sink, Subject};
use model::class::Class;
use model::span_lane::{SpanLane, TimelineSpan};
use model::time::Interval;

/// Maximum number of listed tasks; the first ones are listed. A program that calls into Haskell from many OS
/// threads may have any number of them.
pub(crate) const MAX_TASKS: usize = 1000;

/// Code of a span that was open when the log ended.
pub const OPEN: u8 = 1;

#[derive(Clone, Debug, Default)]
struct Task {
    state: State,
    os_thread: Option<OsThreadId>,
    lane: SpanLane,
}

impl Task {
    fn push(&mut self, cap: CapId, span: Interval, code: u8) {
        self.lane.push(TimelineSpan {
            start: span.start().0,
            end: span.end().0,
            detail: cap.0.into(),
            class: Class::Other,
            code,
        });
    }
}

/// Timeline rows of tasks.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    places: SeededMap<TaskId, usize>,
    all: Vec<(TaskId, Task)>,
}

impl Sink for Tasks {
    const CONSUMES: EventSet = EventSet::for_subject(Subject::Task);

    fn event(&mut self, record: &Record<'_>) {
        let (task, input) = match record.event() {
            Event::TaskCreate { task, cap, tid } => {
                if let Some(known) = self.task(task) {
                    known.os_thread = Some(tid);
                }
                (task, Input::Arrive(cap))
            }
            Event::TaskMigrate { task, new_cap, .. } => (task, Input::Arrive(new_cap)),
            Event::TaskDelete { task } => (task, Input::Delete),
            _ => return,
        };
        let Some(known) = self.task(task) else { return };
        let (next, was) = step(known.state, input, record.time);
        known.state = next;
        if let Some((cap, span)) = was {
            known.push(cap, span, 0);
        }
    }
}

impl Tasks {
    fn task(&mut self, task: TaskId) -> Option<&mut Task> {
        let all = self.all.len();
        let place = match self.places.get(&task) {
            Some(place) => *place,
            None if all < MAX_TASKS => {
                self.places.insert(task, all);
                self.all.push((task, Task::default()));
                all
            }
            None => return None,
        };
        self.all.get_mut(place).map(|(_, task)| task)
    }

    /// Completes the rows once the log has been read to its end.
    pub(super) fn finish(&mut self, end: Nanos) {
        for (_, task) in &mut self.all {
            if let State::On(cap, since) = std::mem::take(&mut task.state) {
                task.push(cap, Interval::new(since, end.max(since)), OPEN);
            }
            task.lane.sort_and_clip();
        }
    }

    /// Returns the tasks with their OS threads, in order of first appearance.
    pub fn all(&self) -> impl Iterator<Item = (TaskId, Option<OsThreadId>)> {
        let all = self.all.iter();
        all.map(|(task, known)| (*task, known.os_thread))
    }

    /// Returns the lane of a task: the detail of each span is the capability, the code is 0 or [`OPEN`].
    pub fn lane(&self, task: TaskId) -> Option<&SpanLane> {
        let place = *self.places.get(&task)?;
        Some(&self.all.get(place)?.1.lane)
    }

    /// Returns the OS thread of a task, if its creation was logged.
    pub fn os_thread(&self, task: TaskId) -> Option<OsThreadId> {
        let place = *self.places.get(&task)?;
        self.all.get(place)?.1.os_thread
    }
}
