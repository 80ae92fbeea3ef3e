//! The groups that tracks stand in.

use super::name::TrackName;

/// The groups of tracks, in their usual order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The whole program: activity, collections, messages.
    Program,
    /// Capabilities.
    Capabilities,
    /// How many capabilities run, and how many threads could.
    Scheduling,
    /// Profile samples, by capability.
    Samples,
    /// Announced foreign calls, by OS thread.
    ForeignCalls,
    /// Events at points in time, by capability.
    Instants,
    /// Sparks, by capability.
    Sparks,
    /// Memory.
    Heap,
    /// Spans that the program announced.
    Spans,
    /// Threads.
    Threads,
    /// Threads by which the runtime waits for files and time.
    RuntimeThreads,
    /// Tasks: OS threads of the runtime.
    Tasks,
    /// Performance counters.
    Perf,
    /// The blocks in which events were written.
    Blocks,
}

impl Group {
    /// All of them, in their usual order.
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

    /// Its name in links and settings, which never changes.
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

    /// The group of that name, of all processes or of one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (name, process) = name.split_once('.').unwrap_or((name, "0"));
        let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
        let mut all = Self::ALL.into_iter().filter(|_| is_number);
        all.find(|group| group.name() == name)
    }

    /// Its name in links and settings, of the process at that place if the log is of several:
    /// `caps`, `caps.1`.
    #[must_use]
    pub fn name_of(self, process: Option<usize>) -> TrackName {
        TrackName::cut(&match process {
            Some(place) => format!("{}.{place}", self.name()),
            None => self.name().to_owned(),
        })
    }

    /// What its heading says.
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

    /// The same where there is little room, as on a phone.
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

    /// Whether its tracks are threads, which are filtered where they are listed.
    #[must_use]
    pub const fn has_threads(self) -> bool {
        matches!(self, Self::Threads | Self::RuntimeThreads)
    }

    /// Whether it is folded until it is asked for.
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
