//! Which tracks a log has something for.

use serde::{Deserialize, Serialize};

use super::row::{CallsOf, Graph};
use eventlog::ids::{CapId, OsThreadId, TaskId};
use model::profile::frames::Frame;

/// What there is to be shown beside capabilities and threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Whether there are collections.
    pub collections: bool,
    /// Whether the concurrent collector ran.
    pub nonmoving: bool,
    /// The graphs of the whole program.
    pub graphs: Vec<Graph>,
    /// The capabilities with events at points in time.
    pub instants: Vec<CapId>,
    /// The capabilities with counters of sparks.
    pub sparks: Vec<CapId>,
    /// The tasks, in the order of their creation.
    pub tasks: Vec<TaskInfo>,
    /// Spans that the program announced, in the order in which they first begin.
    pub spans: Vec<SpanInfo>,
    /// Performance counters.
    pub perf: Vec<PerfInfo>,
    /// Whose events were written in blocks.
    pub blocks: Vec<Option<CapId>>,
    /// Whose announced foreign calls there are.
    pub calls: Vec<CallsInfo>,
    /// The foreign functions of most of these calls, by the number that marks
    /// have for them.
    pub foreign_functions: Vec<Frame>,
    /// The capabilities that a profiler took samples of.
    pub samples: Vec<SamplesInfo>,
    /// The functions of most of these samples, by the number that marks have
    /// for them.
    pub sampled_functions: Vec<Frame>,
}

/// The foreign calls of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsInfo {
    /// Whose.
    pub of: CallsOf,
    /// How many; one that was interrupted by a callback's counts again.
    pub calls: u64,
}

/// The profile samples of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplesInfo {
    /// Of which capability.
    pub cap: CapId,
    /// How many.
    pub samples: u64,
}

/// A task of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInfo {
    /// The task.
    pub task: TaskId,
    /// Its OS thread, if its creation was logged.
    pub os_thread: Option<OsThreadId>,
}

/// Spans of the program with one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanInfo {
    /// The name: what stands after `START`.
    pub name: String,
    /// How many there are.
    pub count: u64,
    /// How long they lasted together, in nanoseconds.
    pub total_ns: u64,
}

/// A performance counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfInfo {
    /// Its number in the log.
    pub number: u32,
    /// Its name (`PerfName`).
    pub name: String,
}
