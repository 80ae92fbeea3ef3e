//! Garbage collections with their statistics.

use serde::{Deserialize, Serialize};

use super::tally::Tallies;
use crate::account::facts::Requests;
use crate::account::pauses::Pause;
use eventlog::Event;
use eventlog::cap_table::CapTable;
use eventlog::ids::{CapId, Nanos};
use model::saturating::saturating_u32;
use model::sorting::CompactSort;

/// One garbage collection of the whole program, as logged by its leading capability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Number of the collection, from 1, in the order in which collections end; those without statistics come
    /// last.
    pub number: u32,
    /// Leading capability: the one that posts `GCStatsGHC`. Without statistics, the one that requested the
    /// collection, or else one that took part.
    pub cap: CapId,
    /// Its `StartGC`, when all capabilities have stopped.
    pub start: Nanos,
    /// Its `EndGC`, the end of the pause.
    pub end: Nanos,
    /// Oldest generation collected. `None` if the log has no statistics of the collection (GHC before 7.6, logs
    /// without heap events, lost buffers): then only its times are known.
    pub generation: Option<u16>,
    /// Number of threads that collected; more than one for a parallel collection.
    pub threads: u32,
    /// Time from the request (`RequestSeqGC`, `RequestParGC`) to the start, in ns, in which the other capabilities
    /// stop. The runtime counts it as mutator time. The non-threaded runtime logs no requests.
    pub sync_ns: Option<u64>,
    /// Bytes copied by the collection.
    pub copied_bytes: u64,
    /// Unused bytes at the ends of blocks.
    pub slop_bytes: u64,
    /// Bytes of held memory outside of any block.
    pub fragmentation_bytes: u64,
    /// Bytes copied by the busiest thread.
    pub max_copied_bytes: u64,
    /// Bytes copied by all threads.
    pub total_copied_bytes: u64,
    /// Bytes copied in balance (GHC 8.4 and later): all of them if each thread copied the same amount.
    pub balanced_bytes: Option<u64>,
    /// Live bytes afterwards; known only for collections of the oldest generation.
    pub live_bytes: Option<u64>,
    /// Memory that the runtime holds from the operating system afterwards.
    pub heap_size_bytes: Option<u64>,
    /// Bytes allocated by all capabilities of the process since its previous collection.
    pub allocated_bytes: u64,
}

impl Collection {
    /// Returns whether several threads collected.
    pub const fn is_parallel(&self) -> bool {
        self.threads > 1
    }

    /// Returns the pause in ns.
    pub const fn pause_ns(&self) -> u64 {
        self.end.since(self.start).0
    }
}

/// Progress of a capability in a collection.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    start: Option<Nanos>,
    statistics: Option<Collection>,
}

/// What later figures of a process belong to.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessState {
    /// Index of its last collection, while figures still belong to it.
    last: Option<usize>,
    /// End of its last collection.
    ended: Nanos,
    /// Bytes that belong to its next collection.
    allocated_bytes: u64,
}

/// All collections, in the order in which they end.
///
/// The runtime dates the `EndGC` of the leading capability before the `GCStatsGHC` that it writes ahead of it, so
/// only the order of writing shows which events belong together. `StartGC`, `GCStatsGHC` and `EndGC` of one
/// capability form a collection; without statistics, they are the capability's part in a collection led by
/// another. Figures about the heap afterwards come before or after `EndGC`, depending on the GHC version, but
/// always before the next `StartGC` of the process.
#[derive(Clone, Debug, Default)]
pub(super) struct Collections {
    pub(super) all: Vec<Collection>,
    pub(super) tallies: Tallies,
    caps: CapTable<Progress>,
    pub(super) requests: Requests,
    /// Index of the process of each capability; 0 in a log of one process.
    owners: CapTable<usize>,
    processes: Vec<ProcessState>,
    /// Collections without statistics, as found by the account of time once the log has been read.
    pub(super) without_statistics: Vec<Collection>,
    /// Whether there is a `StartGC`.
    pub(super) any: bool,
}

impl Collections {
    fn cap(&mut self, cap: CapId) -> &mut Progress {
        self.caps.get_mut(Some(cap))
    }

    /// Assigns a capability to the process with this index.
    pub(super) fn assign(&mut self, cap: CapId, process: usize) {
        *self.owners.get_mut(Some(cap)) = process;
    }

    /// Returns the state of a capability's process.
    fn process(&mut self, cap: Option<CapId>) -> &mut ProcessState {
        let place = self.owners.get(cap).copied().unwrap_or_default();
        if place >= self.processes.len() {
            self.processes.resize(place + 1, ProcessState::default());
        }
        &mut self.processes[place]
    }

    /// Returns the last collection of a capability's process, if figures still belong to it.
    fn last(&mut self, cap: Option<CapId>) -> Option<&mut Collection> {
        let place = self.process(cap).last?;
        self.all.get_mut(place)
    }

    pub(super) fn start(&mut self, cap: CapId, at: Nanos) {
        self.any = true;
        self.process(Some(cap)).last = None;
        let progress = self.cap(cap);
        progress.statistics = None;
        match &mut progress.start {
            // A repeated start does not shorten the collection; all analyses agree on that.
            Some(start) => *start = at.min(*start),
            None => progress.start = Some(at),
        }
    }

    pub(super) fn statistics(&mut self, cap: Option<CapId>, event: &Event<'_>) {
        let (
            Some(cap),
            &Event::GCStatsGHC {
                gen_no,
                copied,
                slop,
                frag,
                par_n_threads,
                par_max_copied,
                par_tot_copied,
                par_balanced_copied,
                ..
            },
        ) = (cap, event)
        else {
            return;
        };
        let collection = Collection {
            cap,
            generation: Some(gen_no),
            threads: par_n_threads,
            copied_bytes: copied,
            slop_bytes: slop,
            fragmentation_bytes: frag,
            max_copied_bytes: par_max_copied,
            total_copied_bytes: par_tot_copied,
            balanced_bytes: par_balanced_copied,
            ..Collection::default()
        };
        self.cap(cap).statistics = Some(collection);
    }

    pub(super) fn end(&mut self, cap: CapId, at: Nanos) {
        let progress = self.cap(cap);
        let Some(start) = progress.start.take() else {
            return;
        };
        let statistics = progress.statistics.take();
        if let Some(mut collection) = statistics {
            let place = self.all.len();
            collection.number = saturating_u32(place + 1);
            collection.start = start;
            collection.end = at;
            let process = self.process(Some(cap));
            collection.allocated_bytes = std::mem::take(&mut process.allocated_bytes);
            let ended = std::mem::replace(&mut process.ended, at);
            process.last = Some(place);
            let requested = self.requests.latest(cap, ended.0, start.0);
            collection.sync_ns = requested.map(|at| start.0 - at);
            self.tallies.push(place, &collection);
            self.all.push(collection);
        }
    }

    /// Adds the collections without statistics.
    pub(super) fn finish<'a>(&mut self, pauses: impl Iterator<Item = &'a Pause>) {
        let without_statistics = pauses.filter(|pause| pause.generation.is_none());
        let mut without_statistics: Vec<&Pause> = without_statistics.collect();
        without_statistics.sort_small_by_key(|pause| (pause.start, pause.end, pause.leader));
        let numbered = (self.all.len() + 1..).zip(without_statistics);
        let collection = |(number, pause): (usize, &Pause)| Collection {
            number: saturating_u32(number),
            cap: pause.leader,
            start: pause.start,
            end: pause.end,
            sync_ns: (pause.requested < pause.start).then(|| pause.start.since(pause.requested).0),
            ..Collection::default()
        };
        self.without_statistics = numbered.map(collection).collect();
    }

    pub(super) fn allocated(&mut self, cap: CapId, bytes: u64) {
        if let Some(last) = self.last(Some(cap)) {
            last.allocated_bytes = last.allocated_bytes.saturating_add(bytes);
            return;
        }
        let process = self.process(Some(cap));
        process.allocated_bytes = process.allocated_bytes.saturating_add(bytes);
    }

    /// Returns the collection that figures of a capability belong to: the one it leads now, or the last one of its
    /// process.
    fn current(&mut self, cap: Option<CapId>) -> Option<&mut Collection> {
        if self.process(cap).last.is_some() {
            return self.last(cap);
        }
        self.cap(cap?).statistics.as_mut()
    }

    pub(super) fn live(&mut self, cap: Option<CapId>, bytes: u64) {
        if let Some(collection) = self.current(cap) {
            collection.live_bytes.get_or_insert(bytes);
        }
    }

    pub(super) fn heap_size(&mut self, cap: Option<CapId>, bytes: u64) {
        if let Some(collection) = self.current(cap) {
            collection.heap_size_bytes = Some(bytes);
        }
    }
}
