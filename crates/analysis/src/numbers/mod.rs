//! Figures of the runtime's own report (`+RTS -s`), for the whole log and for any part of it.
//!
//! [`Numbers`] collects collections and samples of the runtime's counters; the submodules answer queries. The
//! rules are those of `rts/Stats.c`.

mod collections;
pub mod collections_query;
pub mod columns;
pub mod phases;
pub mod process_numbers;
pub(crate) mod process_sums;
pub mod sparks_query;
pub(crate) mod step_function;
pub mod summary;
mod tally;

pub use collections::Collection;
use collections::Collections;
use process_sums::ProcessSums;
use step_function::{CapStepFunctions, Samples, StepFunction, Window};

use crate::account::facts::{LedCollection, Requests};
use crate::account::pauses::Pause;
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, Nanos, OsThreadId};
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::time::Interval;

/// Heap layout from `HeapInfoGHC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeapInfo {
    generations: u16,
    /// Unit in which the runtime gets memory from the operating system, in bytes.
    megablock_bytes: u64,
}

/// State of a capability's spark counters (`SparkCounters`): monotonic counts, and the size of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    created: u64,
    dud: u64,
    overflowed: u64,
    converted: u64,
    gcd: u64,
    fizzled: u64,
    remaining: u64,
}

/// Collects the figures of a log. Takes all events in analysis order.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Where the log begins; counters of the runtime had grown before if that is not 0.
    pub(crate) begin: Nanos,
    collections: Collections,
    heap_info: Option<HeapInfo>,
    /// Whether the log has heap figures, so that none means 0.
    heap_logged: bool,
    /// Bytes allocated since the start, by capability.
    allocated: CapStepFunctions<u64>,
    /// Size and live bytes of the heap of each process, which are added up.
    heaps: ProcessSums<2>,
    /// Live bytes after collections.
    live: Samples,
    /// Memory held from the operating system, in bytes.
    heap_size: StepFunction<u64>,
    /// Every sample of it.
    heap_size_samples: Samples,
    spark_counters: CapStepFunctions<Counters>,
    /// OS threads that have been tasks of the runtime.
    os_threads: SeededSet<OsThreadId>,
    /// Time at which each of these first became a task.
    first_tasks: Vec<u64>,
}

impl Sink for Numbers {
    const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::GC_START,
        EventType::GC_END,
        EventType::REQUEST_SEQ_GC,
        EventType::REQUEST_PAR_GC,
        EventType::SPARK_COUNTERS,
        EventType::HEAP_ALLOCATED,
        EventType::HEAP_SIZE,
        EventType::HEAP_LIVE,
        EventType::HEAP_INFO_GHC,
        EventType::GC_STATS_GHC,
        EventType::TASK_CREATE,
        EventType::CAPSET_CREATE,
        EventType::CAPSET_ASSIGN_CAP,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        match (record.event(), record.cap) {
            (Event::StartGC {}, Some(cap)) => self.collections.start(cap, at),
            (Event::EndGC {}, Some(cap)) => self.collections.end(cap, at),
            (Event::RequestSeqGC {} | Event::RequestParGC {}, Some(cap)) => {
                self.collections.requests.push(cap, at);
            }
            (Event::TaskCreate { tid, .. }, _) => {
                // Each call into Haskell makes a thread a new task.
                if self.os_threads.insert(tid) {
                    self.first_tasks.push(at.0);
                }
            }
            (
                Event::CapsetCreate {
                    capset,
                    capset_type,
                },
                _,
            ) => self.heaps.created(capset, capset_type),
            (Event::CapsetAssignCap { capset, cap }, _) => {
                if let Some(process) = self.heaps.index_of(capset) {
                    self.collections.assign(cap, process);
                }
            }
            (event, cap) => self.counter_event(&event, cap, at),
        }
    }
}

impl Numbers {
    /// Returns how many OS threads first became a task of the runtime at times, in nanoseconds, for which `is_wanted` is
    /// true; `None` if the log has no tasks.
    pub fn os_threads(&self, is_wanted: impl Fn(u64) -> bool) -> Option<u64> {
        let wanted = self.first_tasks.iter().filter(|at| is_wanted(**at));
        (!self.first_tasks.is_empty()).then(|| wanted.count() as u64)
    }

    fn counter_event(&mut self, event: &Event<'_>, cap: Option<CapId>, at: Nanos) {
        match *event {
            Event::SparkCounters {
                created,
                dud,
                overflowed,
                converted,
                gcd,
                fizzled,
                remaining,
            } => {
                let counters = Counters {
                    created,
                    dud,
                    overflowed,
                    converted,
                    gcd,
                    fizzled,
                    remaining,
                };
                if let Some(cap) = cap {
                    let is_late = self.begin > Nanos(0);
                    self.spark_counters.push(cap, at.0, counters, is_late);
                }
                return;
            }
            Event::HeapAllocated { alloc_bytes, .. } => {
                if let Some(cap) = cap {
                    let is_late = self.begin > Nanos(0);
                    let before = self.allocated.push(cap, at.0, alloc_bytes, is_late);
                    let more = alloc_bytes.saturating_sub(before.unwrap_or(0));
                    self.collections.allocated(cap, more);
                }
            }
            Event::HeapSize {
                heap_capset,
                size_bytes,
            } => {
                let together = self.heaps.update(heap_capset, [Some(size_bytes), None])[0];
                self.heap_size.push(at.0, together);
                let at = self.heap_size.last_time().unwrap_or(at.0);
                self.heap_size_samples.push(at, together);
                self.collections.heap_size(cap, size_bytes);
            }
            Event::HeapLive {
                heap_capset,
                live_bytes,
            } => {
                let together = self.heaps.update(heap_capset, [None, Some(live_bytes)])[1];
                self.live.push(at.0, together);
                self.collections.live(cap, live_bytes);
            }
            Event::HeapInfoGHC {
                gens, mblock_size, ..
            } => {
                self.heap_info = Some(HeapInfo {
                    generations: gens,
                    megablock_bytes: mblock_size,
                });
            }
            Event::GCStatsGHC { .. } => self.collections.statistics(cap, event),
            _ => return,
        }
        self.heap_logged = true;
    }

    /// Returns the oldest generation. The runtime calls its collections major.
    fn oldest_generation(&self) -> Option<u16> {
        let declared = self.heap_info.map(|info| info.generations.max(1) - 1);
        declared.or(self.collections.tallies.oldest)
    }

    /// Converts a range to a window of a log whose last event is at `end`; no range is the whole log.
    fn window(&self, end: Nanos, range: Option<Interval>) -> Window {
        let begin = self.begin.0;
        let Some(range) = range else {
            return Window::whole(begin, end.0);
        };
        let [from, to] = [range.start(), range.end()].map(|time| time.0.max(begin));
        Window::part(from, to, end.0)
    }

    /// Returns the collections so far, and moves the requests out, as input for the account of time.
    pub(crate) fn take_led_collections(&mut self) -> (Vec<LedCollection>, Requests) {
        let led = self.collections.all.iter().filter_map(|collection| {
            Some(LedCollection {
                cap: collection.cap,
                span: Interval::new(collection.start, collection.end),
                generation: collection.generation?,
            })
        });
        (
            led.collect(),
            std::mem::take(&mut self.collections.requests),
        )
    }

    /// Adds the collections found by the account of time, once the log has been read to its end.
    pub(crate) fn finish<'a>(&mut self, pauses: impl Iterator<Item = &'a Pause>) {
        self.collections.finish(pauses);
    }

    /// Returns the collections that begin in a window.
    fn collections_in(&self, window: Window) -> impl Iterator<Item = &Collection> {
        let all = &self.collections.all[..];
        let places = self.collections.tallies.indexes_in(all, window);
        let told = all.get(places).unwrap_or_default().iter();
        let all = told.chain(&self.collections.without_statistics);
        all.filter(move |collection| window.contains(collection.start.0))
    }
}
