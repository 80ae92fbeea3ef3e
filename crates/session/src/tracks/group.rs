//! Groups into which the timeline sorts tracks.

use super::name::TrackName;

/// Group of tracks, in default order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The whole program: activity, collections, messages.
    Program,
    /// Capabilities with their runs and collections.
    Capabilities,
    /// Numbers of running capabilities and ready threads.
    Scheduling,
    /// Profile samples, by capability.
    Samples,
    /// Announced foreign calls, by OS thread.
    ForeignCalls,
    /// Instantaneous events, by capability.
    Instants,
    /// Spark counters, by capability.
    Sparks,
    /// Memory gauges and heap censuses.
    Heap,
    /// User spans, one track per name.
    Spans,
    /// Threads of the program.
    Threads,
    /// Runtime threads that wait for I/O and timers.
    RuntimeThreads,
    /// Tasks: OS threads of the runtime.
    Tasks,
    /// Performance counters and tracepoints.
    Perf,
    /// Blocks in which events were written.
    Blocks,
}

impl Group {
    /// All groups, in default order.
    pub const ALL: [Self; 14] = [
        Self::Program,
        Self::Capabilities,
        Self::Scheduling,
        Self::Samples,
        Self::ForeignCalls,
        Self::Instants,
        Self::Sparks,
        Self::Heap,
        Self::Spans,
        Self::Threads,
        Self::RuntimeThreads,
        Self::Tasks,
        Self::Perf,
        Self::Blocks,
    ];

    /// Returns the name in links and settings, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Heap => "memory",
            Self::Spans => "spans",
            Self::Capabilities => "caps",
            Self::Scheduling => "scheduling",
            Self::Threads => "threads",
            Self::RuntimeThreads => "runtime",
            Self::Instants => "events",
            Self::Sparks => "sparks",
            Self::Tasks => "tasks",
            Self::Perf => "perf",
            Self::Blocks => "blocks",
            Self::Samples => "samples",
            Self::ForeignCalls => "calls",
        }
    }

    /// Returns the group with that name, with or without the suffix of a process.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let (name, process) = name.split_once('.').unwrap_or((name, "0"));
        let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
        let mut all = Self::ALL.into_iter().filter(|_| is_number);
        all.find(|group| group.name() == name)
    }

    /// Returns the name in links and settings, such as `caps`, or `caps.1` for the process with index 1.
    #[must_use]
    pub fn name_of(self, process: Option<usize>) -> TrackName {
        TrackName::cut(&match process {
            Some(place) => format!("{}.{place}", self.name()),
            None => self.name().to_owned(),
        })
    }

    /// Returns the heading of the group.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Program => "Program",
            Self::Heap => "Heap",
            Self::Spans => "Spans of the program",
            Self::Capabilities => "Capabilities",
            Self::Scheduling => "Scheduling",
            Self::Threads => "Threads",
            Self::RuntimeThreads => "Threads of the runtime",
            Self::Instants => "Events",
            Self::Sparks => "Sparks",
            Self::Tasks => "Tasks (OS threads)",
            Self::Perf => "Performance counters",
            Self::Blocks => "Blocks of the log",
            Self::Samples => "Profile samples",
            Self::ForeignCalls => "Foreign calls",
        }
    }

    /// Returns the heading for narrow screens, such as phones.
    #[must_use]
    pub const fn short_title(self) -> &'static str {
        match self {
            Self::Spans => "Spans",
            Self::Capabilities => "Caps",
            Self::RuntimeThreads => "Runtime",
            Self::Tasks => "OS threads",
            Self::Perf => "Counters",
            Self::Blocks => "Blocks",
            Self::Samples => "Samples",
            Self::ForeignCalls => "C calls",
            _ => self.title(),
        }
    }

    /// Returns whether the group has threads, which have a filter.
    #[must_use]
    pub const fn has_threads(self) -> bool {
        matches!(self, Self::Threads | Self::RuntimeThreads)
    }

    /// Returns whether the group is collapsed by default.
    #[must_use]
    pub const fn starts_folded(self) -> bool {
        matches!(
            self,
            Self::Scheduling
                | Self::Instants
                | Self::Sparks
                | Self::Heap
                | Self::RuntimeThreads
                | Self::Tasks
                | Self::Perf
                | Self::Blocks
        )
    }
}
