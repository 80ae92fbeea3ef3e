//! Groups into which the timeline sorts tracks.

use super::name::TrackName;

model::named_enum! {
    /// Group of tracks, in default order.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum TrackGroup {
        /// The whole program: activity, collections, messages.
        Program: "program", "Program", "Program";
        /// Capabilities with their runs and collections.
        Capabilities: "caps", "Capabilities", "Caps";
        /// Numbers of running capabilities and ready threads.
        Scheduling: "scheduling", "Scheduling", "Scheduling";
        /// Profile samples, by capability.
        Samples: "samples", "Profile samples", "Samples";
        /// Announced foreign calls, by OS thread.
        ForeignCalls: "calls", "Foreign calls", "C calls";
        /// Instantaneous events, by capability.
        Instants: "events", "Events", "Events";
        /// Spark counters, by capability.
        Sparks: "sparks", "Sparks", "Sparks";
        /// Memory gauges and heap censuses.
        Heap: "memory", "Heap", "Heap";
        /// User spans, one track per name.
        Spans: "spans", "Spans of the program", "Spans";
        /// Threads of the program.
        Threads: "threads", "Threads", "Threads";
        /// Runtime threads that wait for I/O and timers.
        RuntimeThreads: "runtime", "Threads of the runtime", "Runtime";
        /// Tasks: OS threads of the runtime.
        Tasks: "tasks", "Tasks (OS threads)", "OS threads";
        /// Performance counters and tracepoints.
        Perf: "perf", "Performance counters", "Counters";
        /// Blocks in which events were written.
        Blocks: "blocks", "Blocks of the log", "Blocks";
    }
    /// Returns the name in links and settings, which never changes.
    fn name;
    /// Returns the heading of the group.
    fn title;
    /// Returns the heading for narrow screens, such as phones.
    fn short_title;
}

impl TrackGroup {
    /// Returns the group with that name, with or without the suffix of a process.
    pub fn from_name(name: &str) -> Option<Self> {
        let (name, process) = name.split_once('.').unwrap_or((name, "0"));
        let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
        let mut all = Self::ALL.into_iter().filter(|_| is_number);
        all.find(|group| group.name() == name)
    }

    /// Returns the name in links and settings, such as `caps`, or `caps.1` for the process with index 1.
    pub fn name_of(self, process: Option<usize>) -> TrackName {
        TrackName::cut(&match process {
            Some(place) => format!("{}.{place}", self.name()),
            None => self.name().to_owned(),
        })
    }

    /// Returns whether the group has threads, which have a filter.
    pub const fn has_threads(self) -> bool {
        matches!(self, Self::Threads | Self::RuntimeThreads)
    }

    /// Returns whether the group is collapsed by default.
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
