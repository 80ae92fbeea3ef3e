//! Which capabilities and threads are whose, in a log of several processes.

use serde::{Deserialize, Serialize};

use analysis::recording::Recording;
use eventlog::ids::{CapId, ThreadId};
use scene::format;

/// A process of a log that is of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPart {
    /// What it is called; each has another name.
    pub name: String,
    /// Its number in the operating system.
    pub pid: Option<u32>,
    /// Its GHC.
    pub ghc: Option<String>,
    /// Its capabilities, by number.
    pub caps: Vec<CapId>,
}

/// The processes of a log, if it is of several; none otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processes {
    /// All of them, in the order of the log.
    pub all: Vec<ProcessPart>,
    /// From which number on threads are of which process: what merges logs numbers the threads of
    /// one behind those of the other.
    threads: Vec<(ThreadId, Option<u32>)>,
}

impl Processes {
    /// Those of a log, as far as it is read; whose its threads are once all of it is.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let all = recording.info.processes.all().into_iter();
        let part = |own: analysis::processes::OsProcess| ProcessPart {
            name: own.name,
            pid: own.process.pid,
            ghc: own.process.ghc,
            caps: own.caps,
        };
        let mut found = Self {
            all: all.map(part).collect(),
            threads: Vec::new(),
        };
        if found.are_several() && recording.is_settled() {
            found.threads = found.owners(recording);
        }
        found
    }

    /// Where in the order of threads the process changes.
    fn owners(&self, recording: &Recording) -> Vec<(ThreadId, Option<u32>)> {
        let homes = recording.store.homes();
        let of = |(thread, cap)| {
            (
                thread,
                self.of_cap(cap).and_then(|at| u32::try_from(at).ok()),
            )
        };
        let mut owners: Vec<(ThreadId, Option<u32>)> = homes.map(of).collect();
        owners.sort_unstable_by_key(|(thread, _)| *thread);
        owners.dedup_by_key(|(_, process)| *process);
        owners
    }

    /// Whether there are several.
    #[must_use]
    pub const fn are_several(&self) -> bool {
        !self.all.is_empty()
    }

    /// The place of the process that a capability belongs to.
    #[must_use]
    pub fn of_cap(&self, cap: CapId) -> Option<usize> {
        self.all
            .iter()
            .position(|own| own.caps.binary_search(&cap).is_ok())
    }

    /// The place of the process that a thread belongs to.
    #[must_use]
    pub fn of_thread(&self, thread: ThreadId) -> Option<usize> {
        let after = self.threads.partition_point(|(from, _)| *from <= thread);
        let (_, process) = self.threads.get(after.checked_sub(1)?)?;
        process.and_then(|place| usize::try_from(place).ok())
    }

    /// A capability with its process: `server · cap 0`; `Capability 0` if the log is of one.
    #[must_use]
    pub fn cap_name(&self, cap: CapId) -> String {
        match self.of_cap(cap).and_then(|place| self.all.get(place)) {
            Some(own) => format!("{} · cap {cap}", own.name),
            None => format!("Capability {cap}"),
        }
    }

    /// What they are called, one after the other: `server + client`; `None` if the log is of one.
    #[must_use]
    pub fn names(&self) -> Option<String> {
        let names: Vec<&str> = self.all.iter().map(|own| own.name.as_str()).collect();
        self.are_several().then(|| names.join(" + "))
    }

    /// That there are several, in a sentence.
    #[must_use]
    pub fn about(&self) -> Option<String> {
        let names = self.all.iter().map(|own| own.name.as_str());
        let count = format::count(self.all.len() as u64);
        self.are_several().then(|| {
            let names = names.collect::<Vec<_>>().join(", ");
            format!("This log is of {count} processes: {names}.")
        })
    }
}
