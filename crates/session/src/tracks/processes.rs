//! Ownership of capabilities and threads in a log of several processes.

use serde::{Deserialize, Serialize};

use analysis::recording::Recording;
use eventlog::ids::{CapId, ThreadId};
use model::sorting::CompactSort;
use scene::format;

/// Process in a log of several processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// Display name, unique in the log.
    pub name: String,
    /// Process id in the operating system.
    pub pid: Option<u32>,
    /// GHC version of the process's program.
    pub ghc: Option<String>,
    /// Capabilities of the process, in ascending order.
    pub caps: Vec<CapId>,
}

/// Processes of a log; empty if the log is of a single process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processes {
    /// All processes, in log order.
    pub all: Vec<ProcessInfo>,
    /// First thread of each run of threads with the same process: merging logs numbers the threads of one process
    /// after those of another.
    threads: Vec<(ThreadId, Option<u32>)>,
}

impl Processes {
    /// Returns the processes of a log, as far as it is read. Threads have owners once the log is fully read.
    pub fn from_recording(recording: &Recording) -> Self {
        let all = recording.info.processes.all().into_iter();
        let part = |own: analysis::processes::OsProcess| ProcessInfo {
            name: own.name,
            pid: own.process.pid,
            ghc: own.process.ghc,
            caps: own.caps,
        };
        let mut found = Self {
            all: all.map(part).collect(),
            threads: Vec::new(),
        };
        if found.are_several() && recording.is_finished() {
            found.threads = found.thread_owners(recording);
        }
        found
    }

    /// Returns the threads at which the process changes, in thread order.
    fn thread_owners(&self, recording: &Recording) -> Vec<(ThreadId, Option<u32>)> {
        let homes = recording.store.last_caps();
        let of = |(thread, cap)| {
            (
                thread,
                self.process_of_cap(cap)
                    .and_then(|at| u32::try_from(at).ok()),
            )
        };
        let mut thread_owners: Vec<(ThreadId, Option<u32>)> = homes.map(of).collect();
        thread_owners.sort_small_by_key(|(thread, _)| *thread);
        thread_owners.dedup_by_key(|(_, process)| *process);
        thread_owners
    }

    /// Returns whether the log is of several processes.
    pub const fn are_several(&self) -> bool {
        !self.all.is_empty()
    }

    /// Returns the index of a capability's process.
    pub fn process_of_cap(&self, cap: CapId) -> Option<usize> {
        self.all
            .iter()
            .position(|own| own.caps.binary_search(&cap).is_ok())
    }

    /// Returns the index of a thread's process.
    pub fn process_of_thread(&self, thread: ThreadId) -> Option<usize> {
        let after = self.threads.partition_point(|(from, _)| *from <= thread);
        let (_, process) = self.threads.get(after.checked_sub(1)?)?;
        process.and_then(|place| usize::try_from(place).ok())
    }

    /// Returns the name of a capability with its process, such as `server · cap 0`; `Capability 0` in a log of a
    /// single process.
    pub fn cap_name(&self, cap: CapId) -> String {
        match self
            .process_of_cap(cap)
            .and_then(|place| self.all.get(place))
        {
            Some(own) => format!("{} · cap {cap}", own.name),
            None => format!("Capability {cap}"),
        }
    }

    /// Returns all process names, such as `server + client`; `None` in a log of a single process.
    pub fn names(&self) -> Option<String> {
        let names: Vec<&str> = self.all.iter().map(|own| own.name.as_str()).collect();
        self.are_several().then(|| names.join(" + "))
    }

    /// Returns a sentence that lists the processes, if there are several.
    pub fn about(&self) -> Option<String> {
        let names = self.all.iter().map(|own| own.name.as_str());
        let count = format::count(self.all.len() as u64);
        self.are_several().then(|| {
            let names = names.collect::<Vec<_>>().join(", ");
            format!("This log contains {count} processes: {names}.")
        })
    }
}
