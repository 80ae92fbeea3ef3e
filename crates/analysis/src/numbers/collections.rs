//! Every collection with its statistics.

use serde::{Deserialize, Serialize};

use super::tally::Tallies;
use crate::account::facts::Requests;
use crate::account::pauses::Pause;
use eventlog::Event;
use eventlog::cap_table::CapTable;
use eventlog::ids::{CapId, Nanos};
use model::place::place32;

/// One garbage collection of the whole program, as the capability that led it
/// tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Which of the log's collections it is, in the order in which they end; the
    /// first is 1. Those without statistics come after the others.
    pub number: u32,
    /// The capability that led it: the one that posts `GCStatsGHC`. Without
    /// statistics the one that asked for it, or else one that took part.
    pub cap: CapId,
    /// Its `StartGC`: all capabilities have stopped.
    pub start: Nanos,
    /// Its `EndGC`.
    pub end: Nanos,
    /// Which generation was collected, with all that are younger. `None` if the
    /// log has no statistics of the collection (GHC before 7.6, logs without heap
    /// events, lost buffers): then only its times are known.
    pub generation: Option<u16>,
    /// How many threads collected; it was parallel if there was more than one.
    pub threads: u32,
    /// From the request (`RequestSeqGC`, `RequestParGC`) to the start, in
    /// nanoseconds: how long the other capabilities took to stop. The runtime
    /// counts that as mutator time. Runtimes without threads request nothing.
    pub sync_ns: Option<u64>,
    /// Bytes copied.
    pub copied_bytes: u64,
    /// Bytes at the ends of blocks that hold nothing.
    pub slop_bytes: u64,
    /// Bytes of memory held that no block uses.
    pub fragmentation_bytes: u64,
    /// What the busiest thread copied.
    pub max_copied_bytes: u64,
    /// What all threads copied.
    pub total_copied_bytes: u64,
    /// What was copied in balance (GHC 8.4 and later): all of it if each thread
    /// copied the same.
    pub balanced_bytes: Option<u64>,
    /// What is live after it; only collections of the oldest generation know.
    pub live_bytes: Option<u64>,
    /// What the runtime holds of the system's memory after it.
    pub heap_size_bytes: Option<u64>,
    /// What all capabilities allocated since the collection before.
    pub allocated_bytes: u64,
}

impl Collection {
    /// Whether several threads collected.
    #[must_use]
    pub const fn is_parallel(&self) -> bool {
        self.threads > 1
    }

    /// How long the program stood still, in nanoseconds.
    #[must_use]
    pub const fn pause_ns(&self) -> u64 {
        self.end.since(self.start).0
    }
}

/// How far a capability is in a collection.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    start: Option<Nanos>,
    statistics: Option<Collection>,
}

/// All collections, in the order in which they end.
///
/// The runtime dates the `EndGC` of the leading capability before the
/// `GCStatsGHC` that it writes in front of it, so that only the order of writing
/// tells which belong together: `StartGC`, `GCStatsGHC`, `EndGC` of one
/// capability are a collection; without statistics it is the part that another
/// capability took in one. What the heap is like afterwards comes before or after
/// `EndGC`, depending on the GHC, but always before the next `StartGC`.
#[derive(Clone, Debug, Default)]
pub(super) struct Collections {
    pub(super) all: Vec<Collection>,
    pub(super) tallies: Tallies,
    caps: CapTable<Progress>,
    pub(super) requests: Requests,
    /// Whether what is told now is still about the last collection.
    afterwards: bool,
    allocated_bytes: u64,
    /// Those without statistics, as the account of time finds them when the log
    /// is read.
    pub(super) untold: Vec<Collection>,
    /// Whether there is a `StartGC`.
    pub(super) any: bool,
}

impl Collections {
    fn cap(&mut self, cap: CapId) -> &mut Progress {
        self.caps.get_mut(Some(cap))
    }

    pub(super) fn start(&mut self, cap: CapId, at: Nanos) {
        self.any = true;
        self.afterwards = false;
        let progress = self.cap(cap);
        progress.statistics = None;
        match &mut progress.start {
            // As everywhere: a repeated start does not shorten the collection.
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
            collection.number = place32(self.all.len() + 1);
            collection.start = start;
            collection.end = at;
            let ended = self.all.last().map_or(0, |last| last.end.0);
            let requested = self.requests.latest(cap, ended, start.0);
            collection.sync_ns = requested.map(|at| start.0 - at);
            collection.allocated_bytes = std::mem::take(&mut self.allocated_bytes);
            self.tallies.push(self.all.len(), &collection);
            self.all.push(collection);
            self.afterwards = true;
        }
    }

    /// Takes the collections of which nobody told statistics.
    pub(super) fn settle(&mut self, pauses: &[Pause]) {
        let untold = pauses.iter().filter(|pause| pause.generation.is_none());
        let numbered = (self.all.len() + 1..).zip(untold);
        let collection = |(number, pause): (usize, &Pause)| Collection {
            number: place32(number),
            cap: pause.leader,
            start: pause.start,
            end: pause.end,
            sync_ns: (pause.requested < pause.start).then(|| pause.start.since(pause.requested).0),
            ..Collection::default()
        };
        self.untold = numbered.map(collection).collect();
    }

    pub(super) fn allocated(&mut self, bytes: u64) {
        match self.all.last_mut() {
            Some(last) if self.afterwards => {
                last.allocated_bytes = last.allocated_bytes.saturating_add(bytes);
            }
            _ => self.allocated_bytes = self.allocated_bytes.saturating_add(bytes),
        }
    }

    /// The collection that a capability speaks of: the one that it leads now, or
    /// the last one.
    fn current(&mut self, cap: Option<CapId>) -> Option<&mut Collection> {
        if self.afterwards {
            return self.all.last_mut();
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
