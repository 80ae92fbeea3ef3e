//! The graphs of the timeline: memory, allocation, sparks, performance
//! counters. What [`Numbers`] keeps anyway is drawn from there; only what it
//! does not keep is kept here, 16 bytes a sample or 20.

use std::collections::BTreeMap;

use crate::numbers::Numbers;
use crate::numbers::columns::SparkFates;
use crate::numbers::steps::Steps;
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, EventType, Record, Sink, Subject};
use model::gauge::{Buckets, Extents, Samples, Stretch, growth, levels, rates};

/// A performance counter.
#[derive(Clone, Debug, Default)]
struct Perf {
    name: Option<Box<str>>,
    /// The sum of its periods so far, or how often it was passed.
    sum: Steps<u64>,
}

/// How many performance counters are kept.
const MOST_PERF: usize = 1000;

/// What the graphs are drawn from, beside [`Numbers`].
#[derive(Clone, Debug, Default)]
pub struct Graphs {
    /// Bytes of the blocks in use.
    blocks: Steps<u64>,
    /// Megablocks that are held, needed and returned.
    returned: Steps<[u32; 3]>,
    perf: BTreeMap<u32, Perf>,
    heap_extents: [Extents; 3],
    returned_extents: [Extents; 3],
    pool_extents: Vec<Extents>,
}

impl Sink for Graphs {
    const CONSUMES: EventSet = EventSet::about(Subject::Perf)
        .with(EventType::BLOCKS_SIZE)
        .with(EventType::MEM_RETURN);

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time.0;
        match record.event() {
            Event::BlocksSize { blocks_size, .. } => self.blocks.push(at, blocks_size),
            Event::MemReturn {
                current,
                needed,
                returned,
                ..
            } => self.returned.push(at, [current, needed, returned]),
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
        if self.perf.len() >= MOST_PERF && !self.perf.contains_key(&number) {
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

    /// Brings the indexes up to date with what is read by now.
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
                self.pool_extents.resize_with(place + 1, Extents::default);
            }
            if let Some(waiting) = numbers.sparks_waiting(cap) {
                self.pool_extents[place].extend(&waiting);
            }
        }
    }

    /// Whether anything is known of the heap.
    #[must_use]
    pub fn has_heap(&self, numbers: &Numbers) -> bool {
        !self.blocks.is_empty() || !numbers.heap_sizes().is_empty() || !numbers.live().is_empty()
    }

    /// The series of [`Self::heap`] of which there is nothing.
    #[must_use]
    pub fn lacks(&self, numbers: &Numbers) -> Vec<u8> {
        let empty = [
            numbers.heap_sizes().is_empty(),
            self.blocks.is_empty(),
            numbers.live().is_empty(),
        ];
        let series = (0..).zip(empty).filter(|(_, empty)| *empty);
        series.map(|(series, _)| series).collect()
    }

    /// Whether the runtime told of memory that it gave back.
    #[must_use]
    pub fn has_returned(&self) -> bool {
        !self.returned.is_empty()
    }

    /// The last that the runtime told, by a time, of memory that it gave back: the
    /// megablocks that it held before, needed, and returned.
    pub(crate) fn returned_at(&self, time: Nanos) -> Option<[u32; 3]> {
        let [told, _] = self.returned.around(time.0);
        told.map(|(_, megablocks)| megablocks)
    }

    /// Bytes of the blocks in use.
    #[must_use]
    pub fn blocks(&self) -> impl Samples + use<'_> {
        self.blocks.column(|bytes| *bytes)
    }

    /// Megablocks that the runtime holds, needs, and returned to the system.
    #[must_use]
    pub fn megablocks(&self) -> [impl Samples + use<'_>; 3] {
        RETURNED.map(|of| self.returned.column(of))
    }

    /// The performance counters that counted something, by number, with their
    /// names if the log has them (`PerfName`).
    pub fn counters(&self) -> impl Iterator<Item = (u32, Option<&str>)> {
        let counted = self.perf.iter().filter(|(_, perf)| !perf.sum.is_empty());
        counted.map(|(number, perf)| (*number, perf.name.as_deref()))
    }

    /// Bytes of the heap: 0 its size, 1 its blocks in use, 2 what was live after
    /// the last major collection.
    pub fn heap(&self, numbers: &Numbers, buckets: Buckets, mut emit: impl FnMut(u8, Stretch)) {
        let [size, blocks, live] = &self.heap_extents;
        let in_use = self.blocks.column(|bytes| *bytes);
        levels(&numbers.heap_sizes(), size, buckets, |s| emit(0, s));
        levels(&in_use, blocks, buckets, |s| emit(1, s));
        levels(&numbers.live(), live, buckets, |s| emit(2, s));
    }

    /// Bytes of memory that the runtime 0 holds, 1 needs, 2 returned to the
    /// system.
    pub fn returned(&self, numbers: &Numbers, buckets: Buckets, mut emit: impl FnMut(u8, Stretch)) {
        let bytes = numbers.megablock_bytes() as f64;
        for (series, (extents, column)) in (0..).zip(self.returned_extents.iter().zip(RETURNED)) {
            levels(&self.returned.column(column), extents, buckets, |stretch| {
                let values = stretch.values.times(bytes);
                emit(series, Stretch { values, ..stretch });
            });
        }
    }

    /// How many sparks wait in the pool of a capability.
    pub fn spark_pool(
        &self,
        numbers: &Numbers,
        cap: CapId,
        buckets: Buckets,
        emit: impl FnMut(Stretch),
    ) {
        let extents = self.pool_extents.get(usize::from(cap.0));
        if let (Some(extents), Some(waiting)) = (extents, numbers.sparks_waiting(cap)) {
            levels(&waiting, extents, buckets, emit);
        }
    }

    /// How fast a performance counter counts, in a second.
    pub fn counter(&self, number: u32, buckets: Buckets, emit: impl FnMut(Stretch)) {
        if let Some(perf) = self.perf.get(&number) {
            let sum = perf.sum.column(|sum| *sum);
            rates(&growth(std::iter::once(sum), buckets), buckets, emit);
        }
    }
}

/// Bytes that the program allocates in a second, all capabilities together.
pub fn allocation_rate(numbers: &Numbers, buckets: Buckets, emit: impl FnMut(Stretch)) {
    rates(&growth(numbers.allocations(), buckets), buckets, emit);
}

/// How many sparks of a capability met each of three fates in a second.
pub fn spark_rates(
    numbers: &Numbers,
    cap: CapId,
    fates: SparkFates,
    buckets: Buckets,
    mut emit: impl FnMut(u8, Stretch),
) {
    for (series, counter) in (0..).zip(numbers.sparks_of(cap, fates).into_iter().flatten()) {
        let grown = growth(std::iter::once(counter), buckets);
        rates(&grown, buckets, |s| emit(series, s));
    }
}

/// What `MemReturn` tells, in the order of the series.
const RETURNED: [fn(&[u32; 3]) -> u64; 3] = [
    |[held, ..]| *held as u64,
    |[_, needed, _]| *needed as u64,
    |[.., returned]| *returned as u64,
];
