//! Events that rules need.

use analysis::info::Info;
use eventlog::{EventSet, EventType};

/// Events that rules need, by the options that enable them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Thread events: `+RTS -l` or `-ls`.
    Threads,
    /// Same as [`Threads`](Self::Threads), for rules that look at each run.
    EachRun,
    /// Collections: `+RTS -l` or `-lg`.
    Collections,
    /// Statistics of collections: `+RTS -l` or `-lg`, GHC 7.6 and later.
    GcStatistics,
    /// Spark counters: `+RTS -l` or `-lp`.
    Sparks,
    /// Single sparks: `+RTS -lf`.
    EachSpark,
    /// Heap censuses: `+RTS -hT -l` or another `-h`.
    Censuses,
    /// Concurrent collector: `+RTS --nonmoving-gc -l`, GHC 8.10 and later.
    Nonmoving,
}

/// Event types of the GC class. The runtime logs some of them even before the first collection, so a log with any
/// of these and no collection is from a program without collections (GHC 7.6 and later).
const GC_CLASS_EVENTS: [EventType; 6] = [
    EventType::HEAP_INFO_GHC,
    EventType::HEAP_ALLOCATED,
    EventType::HEAP_SIZE,
    EventType::HEAP_LIVE,
    EventType::GC_STATS_GHC,
    EventType::GC_START,
];

impl Input {
    const fn events(self) -> &'static [EventType] {
        match self {
            Self::Threads | Self::EachRun => &[EventType::RUN_THREAD],
            Self::Collections => &GC_CLASS_EVENTS,
            Self::GcStatistics => GC_CLASS_EVENTS.split_at(5).0,
            Self::Sparks => &[EventType::SPARK_COUNTERS],
            Self::EachSpark => &[EventType::SPARK_RUN, EventType::SPARK_STEAL],
            Self::Censuses => &[EventType::HEAP_PROF_SAMPLE_BEGIN],
            Self::Nonmoving => &[EventType::CONC_MARK_BEGIN],
        }
    }

    /// Returns whether a log has any of the events.
    pub fn is_in(self, info: &Info) -> bool {
        info.has(EventSet::from_types(self.events()))
    }

    /// Returns how to run the program to get the first of these inputs that a log does not have.
    pub(crate) fn missing_in(all: &[Self], info: &Info) -> Option<&'static str> {
        let missing = all.iter().find(|input| !input.is_in(info));
        missing.map(|input| input.missing_message())
    }

    /// Returns a message on how to run the program to get the events.
    pub const fn missing_message(self) -> &'static str {
        match self {
            Self::Threads | Self::EachRun => {
                "the log has no events of threads: run the program with +RTS -ls"
            }
            Self::Collections => "the log has no collections: run the program with +RTS -lg",
            Self::GcStatistics => {
                "the log has no statistics of collections: run the program with +RTS -lg (GHC 7.6 or later)"
            }
            Self::Sparks => {
                "the log has no sparks: the program creates none, or ran without +RTS -lp"
            }
            Self::EachSpark => {
                "the log has no events of single sparks: run the program with +RTS -lf"
            }
            Self::Nonmoving => {
                "the nonmoving collector did not run: run the program with +RTS --nonmoving-gc -l"
            }
            Self::Censuses => {
                "the log has no census of the heap: run the program with +RTS -hT -l, or another kind of heap profile"
            }
        }
    }
}
