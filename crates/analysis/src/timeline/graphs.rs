//! Graphs of the timeline: memory, allocation, sparks, performance counters.
//!
//! Data that [`Numbers`] stores anyway is drawn from there; only the remaining series are stored here, at 16 or 20
//! bytes per sample.

use std::collections::BTreeMap;

use crate::numbers::Numbers;
use crate::numbers::columns::SparkFates;
use crate::numbers::process_sums::ProcessSums;
use crate::numbers::step_function::StepFunction;
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, EventType, Record, Sink, Subject};
use model::gauge::{Buckets, ExtentIndex, GaugeSegment, Samples, growth, levels, rates};

/// A performance counter.
#[derive(Clone, Debug, Default)]
struct Perf {
    name: Option<Box<str>>,
    /// Cumulative sum of its periods; of a tracepoint, the number of hits.
    sum: StepFunction<u64>,
}

/// Maximum number of performance counters.
const MAX_PERF: usize = 1000;

/// Samples of the graphs that [`Numbers`] does not store.
#[derive(Clone, Debug, Default)]
pub struct Graphs {
    /// Size of the blocks in use, in bytes.
    blocks: StepFunction<u64>,
    /// Bytes of blocks, and megablocks held, needed and returned of each process, which are added up.
    processes: ProcessSums<4>,
    /// Megablocks held, needed and returned.
    returned: StepFunction<[u32; 3]>,
    perf: BTreeMap<u32, Perf>,
    heap_extents: [ExtentIndex; 3],
    returned_extents: [ExtentIndex; 3],
    pool_extents: Vec<ExtentIndex>,
}

impl Sink for Graphs {
    const CONSUMES: EventSet = EventSet::for_subject(Subject::Perf)
        .with(EventType::CAPSET_CREATE)
        .with(EventType::BLOCKS_SIZE)
        .with(EventType::MEM_RETURN);

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time.0;
        match record.event() {
            Event::CapsetCreate {
                capset,
                capset_type,
            } => self.processes.created(capset, capset_type),
            Event::BlocksSize {
                heap_capset,
                blocks_size,
            } => {
                let blocks = [Some(blocks_size), None, None, None];
                let [all, ..] = self.processes.update(heap_capset, blocks);
                self.blocks.push(at, all);
            }
            Event::MemReturn {
                heap_capset,
                current,
                needed,
                returned,
            } => {
                let megablocks = [current, needed, returned].map(|count| Some(u64::from(count)));
                let [current, needed, returned] = megablocks;
                let figures = [None, current, needed, returned];
                let [_, all @ ..] = self.processes.update(heap_capset, figures);
                let all = all.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
                self.returned.push(at, all);
            }
            Event::PerfName { perf_num, name } => {
                if let Some(perf) = self.perf(perf_num) {
                    perf.name = Some(name.to_str().into());
                }
            }
            Event::PerfCounter {
                perf_num, period, ..
            } => self.count(perf_num, at, period),
            Event::PerfTracepoint { perf_num, .. } => self.count(perf_num, at, 1),
            _ => {}
        }
    }
}

impl Graphs {
    fn perf(&mut self, number: u32) -> Option<&mut Perf> {
        if self.perf.len() >= MAX_PERF && !self.perf.contains_key(&number) {
            return None;
        }
        Some(self.perf.entry(number).or_default())
    }

    fn count(&mut self, number: u32, at: u64, by: u64) {
        if let Some(perf) = self.perf(number) {
            let sum = perf.sum.last().unwrap_or(0);
            perf.sum.push(at, sum.saturating_add(by));
        }
    }

    /// Extends the indexes to all samples read so far.
    pub(super) fn extend(&mut self, numbers: &Numbers) {
        let [size, blocks, live] = &mut self.heap_extents;
        size.extend(&numbers.heap_sizes());
        blocks.extend(&self.blocks.column(|bytes| *bytes));
        live.extend(&numbers.live());
        for (extents, column) in self.returned_extents.iter_mut().zip(RETURNED) {
            extents.extend(&self.returned.column(column));
        }
        for cap in numbers.spark_caps() {
            let place = usize::from(cap.0);
            if place >= self.pool_extents.len() {
                self.pool_extents
                    .resize_with(place + 1, ExtentIndex::default);
            }
            if let Some(waiting) = numbers.sparks_waiting(cap) {
                self.pool_extents[place].extend(&waiting);
            }
        }
    }

    /// Returns whether there are any samples of the heap.
    pub fn has_heap(&self, numbers: &Numbers) -> bool {
        !self.blocks.is_empty() || !numbers.heap_sizes().is_empty() || !numbers.live().is_empty()
    }

    /// Returns the series of [`Self::heap`] without samples.
    pub fn missing_series(&self, numbers: &Numbers) -> Vec<u8> {
        let empty = [
            numbers.heap_sizes().is_empty(),
            self.blocks.is_empty(),
            numbers.live().is_empty(),
        ];
        let series = (0..).zip(empty).filter(|(_, empty)| *empty);
        series.map(|(series, _)| series).collect()
    }

    /// Returns whether the log has `MemReturn` events.
    pub fn has_returned(&self) -> bool {
        !self.returned.is_empty()
    }

    /// Returns the latest values of `MemReturn` up to a time: megablocks held before, needed, and returned.
    pub(crate) fn returned_at(&self, time: Nanos) -> Option<[u32; 3]> {
        let [told, _] = self.returned.around(time.0);
        told.map(|(_, megablocks)| megablocks)
    }

    /// Returns the size of the blocks in use, in bytes.
    pub fn blocks(&self) -> impl Samples + use<'_> {
        self.blocks.column(|bytes| *bytes)
    }

    /// Returns the megablocks that the runtime holds, needs, and returned to the operating system.
    pub fn megablocks(&self) -> [impl Samples + use<'_>; 3] {
        RETURNED.map(|of| self.returned.column(of))
    }

    /// Returns the performance counters with samples by number, with their names if the log has them (`PerfName`).
    pub fn counters(&self) -> impl Iterator<Item = (u32, Option<&str>)> {
        let counted = self.perf.iter().filter(|(_, perf)| !perf.sum.is_empty());
        counted.map(|(number, perf)| (*number, perf.name.as_deref()))
    }

    /// Emits the heap series in bytes: 0 is its size, 1 its blocks in use, 2 the live data after the last major
    /// collection.
    pub fn heap(
        &self,
        numbers: &Numbers,
        buckets: Buckets,
        mut emit: impl FnMut(u8, GaugeSegment),
    ) {
        let [size, blocks, live] = &self.heap_extents;
        let in_use = self.blocks.column(|bytes| *bytes);
        levels(&numbers.heap_sizes(), size, buckets, |s| emit(0, s));
        levels(&in_use, blocks, buckets, |s| emit(1, s));
        levels(&numbers.live(), live, buckets, |s| emit(2, s));
    }

    /// Emits the memory series in bytes: 0 is held by the runtime, 1 needed, 2 returned to the operating system.
    pub fn returned(
        &self,
        numbers: &Numbers,
        buckets: Buckets,
        mut emit: impl FnMut(u8, GaugeSegment),
    ) {
        let bytes = numbers.megablock_bytes() as f64;
        for (series, (extents, column)) in (0..).zip(self.returned_extents.iter().zip(RETURNED)) {
            levels(&self.returned.column(column), extents, buckets, |stretch| {
                let values = stretch.values.scaled(bytes);
                emit(series, GaugeSegment { values, ..stretch });
            });
        }
    }

    /// Emits the number of sparks in the pool of a capability.
    pub fn spark_pool(
        &self,
        numbers: &Numbers,
        cap: CapId,
        buckets: Buckets,
        emit: impl FnMut(GaugeSegment),
    ) {
        let extents = self.pool_extents.get(usize::from(cap.0));
        if let (Some(extents), Some(waiting)) = (extents, numbers.sparks_waiting(cap)) {
            levels(&waiting, extents, buckets, emit);
        }
    }

    /// Emits the rate of a performance counter per second.
    pub fn counter(&self, number: u32, buckets: Buckets, emit: impl FnMut(GaugeSegment)) {
        if let Some(perf) = self.perf.get(&number) {
            let sum = perf.sum.column(|sum| *sum);
            rates(&growth(std::iter::once(sum), buckets), buckets, emit);
        }
    }
}

/// Emits the allocation rate of all capabilities together, in bytes per second.
pub fn allocation_rate(numbers: &Numbers, buckets: Buckets, emit: impl FnMut(GaugeSegment)) {
    rates(&growth(numbers.allocations(), buckets), buckets, emit);
}

/// Emits the rates per second at which sparks of a capability meet each of three fates.
pub fn spark_rates(
    numbers: &Numbers,
    cap: CapId,
    fates: SparkFates,
    buckets: Buckets,
    mut emit: impl FnMut(u8, GaugeSegment),
) {
    for (series, counter) in (0..).zip(numbers.sparks_of(cap, fates).into_iter().flatten()) {
        let grown = growth(std::iter::once(counter), buckets);
        rates(&grown, buckets, |s| emit(series, s));
    }
}

/// Fields of `MemReturn`, in the order of the series.
const RETURNED: [fn(&[u32; 3]) -> u64; 3] = [
    |[held, ..]| *held as u64,
    |[_, needed, _]| *needed as u64,
    |[.., returned]| *returned as u64,
];
