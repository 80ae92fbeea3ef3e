//! The graphs of the timeline: memory, allocation, sparks, performance
//! counters. What [`Numbers`] keeps anyway is drawn from there; only what it
//! does not keep is kept here, 16 bytes a sample or 20.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contents::{Contents, PerfInfo};
use super::row::{Graph, Row, SparkGraph};
use crate::numbers::Numbers;
use crate::numbers::steps::Steps;
use eventlog::ids::CapId;
use eventlog::{Event, EventSet, EventType, Record, Sink, Subject};
use model::gauge::{Buckets, Extents, Samples, Stretch, growth, levels, rates};
use model::marks::{Values, Writer};

/// In what a graph's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Capabilities.
    Capabilities,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    BytesPerSecond,
    /// Things.
    Count,
    /// Things in a second.
    PerSecond,
}

/// The series of a graph, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesList {
    /// What each is called, in words.
    pub names: &'static [&'static str],
    /// In what they are.
    pub unit: Unit,
    /// Whether they stand on each other, so that their sum is seen.
    pub stacked: bool,
}

impl SeriesList {
    /// Whether its values are growth in a second.
    #[must_use]
    pub const fn is_rate(&self) -> bool {
        matches!(self.unit, Unit::BytesPerSecond | Unit::PerSecond)
    }
}

/// What a row shows as a graph; `None` if it is none, or the activity, whose
/// series are capabilities.
#[must_use]
pub const fn series(row: Row) -> Option<SeriesList> {
    let (names, unit, stacked): (&[&str], Unit, bool) = match row {
        Row::Graph(Graph::Heap) => (
            &[
                "heap size",
                "blocks in use",
                "live after the last major collection",
            ],
            Unit::Bytes,
            false,
        ),
        Row::Graph(Graph::AllocationRate) => (&["allocated"], Unit::BytesPerSecond, false),
        Row::Graph(Graph::MemoryReturned) => (
            &["held", "needed", "returned to the system"],
            Unit::Bytes,
            false,
        ),
        Row::Sparks(_, SparkGraph::Created) => {
            (&["created", "dud", "overflowed"], Unit::PerSecond, true)
        }
        Row::Sparks(_, SparkGraph::Converted) => (
            &["converted", "fizzled", "garbage collected"],
            Unit::PerSecond,
            true,
        ),
        Row::Sparks(_, SparkGraph::Pool) => (&["sparks in the pool"], Unit::Count, false),
        Row::Perf(_) => (&["counted"], Unit::PerSecond, false),
        _ => return None,
    };
    Some(SeriesList {
        names,
        unit,
        stacked,
    })
}

/// A performance counter.
#[derive(Debug, Default)]
struct Perf {
    name: Option<Box<str>>,
    /// The sum of its periods so far, or how often it was passed.
    sum: Steps<u64>,
}

/// How many performance counters are kept.
const MOST_PERF: usize = 1000;

/// What the graphs are drawn from, beside [`Numbers`].
#[derive(Debug, Default)]
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
            if let Some([waiting, ..]) = numbers.sparks_of(cap, SparkGraph::Pool) {
                self.pool_extents[place].extend(&waiting);
            }
        }
    }

    /// Says which graphs there are.
    pub(super) fn contents(&self, numbers: &Numbers, contents: &mut Contents) {
        let heap = !self.blocks.is_empty()
            || !numbers.heap_sizes().is_empty()
            || !numbers.live().is_empty();
        let graphs = [
            (Graph::Heap, heap),
            (
                Graph::AllocationRate,
                numbers.allocations().next().is_some(),
            ),
            (Graph::MemoryReturned, !self.returned.is_empty()),
        ];
        let there = graphs.into_iter().filter(|(_, there)| *there);
        contents.graphs = there.map(|(graph, _)| graph).collect();
        contents.sparks = numbers.spark_caps().collect();
        let counted = self.perf.iter().filter(|(_, perf)| !perf.sum.is_empty());
        let info = |(&number, perf): (&u32, &Perf)| PerfInfo {
            number,
            name: match &perf.name {
                Some(name) => name.to_string(),
                None => format!("counter {number}"),
            },
        };
        contents.perf = counted.map(info).collect();
    }

    /// The stretches of a graph, by series.
    pub(crate) fn stretches(
        &self,
        numbers: &Numbers,
        row: Row,
        buckets: Buckets,
        mut emit: impl FnMut(u8, Stretch),
    ) {
        match row {
            Row::Graph(Graph::Heap) => {
                let [size, blocks, live] = &self.heap_extents;
                let in_use = self.blocks.column(|bytes| *bytes);
                levels(&numbers.heap_sizes(), size, buckets, |s| emit(0, s));
                levels(&in_use, blocks, buckets, |s| emit(1, s));
                levels(&numbers.live(), live, buckets, |s| emit(2, s));
            }
            Row::Graph(Graph::AllocationRate) => {
                let grown = growth(numbers.allocations(), buckets);
                rates(&grown, buckets, |s| emit(0, s));
            }
            Row::Graph(Graph::MemoryReturned) => {
                let bytes = numbers.megablock_bytes() as f64;
                for (series, (extents, column)) in
                    (0..).zip(self.returned_extents.iter().zip(RETURNED))
                {
                    let blocks = self.returned.column(column);
                    levels(&blocks, extents, buckets, |s| emit(series, times(s, bytes)));
                }
            }
            Row::Sparks(cap, SparkGraph::Pool) => {
                let extents = self.pool_extents.get(usize::from(cap.0));
                if let (Some(extents), Some([waiting, ..])) =
                    (extents, numbers.sparks_of(cap, SparkGraph::Pool))
                {
                    levels(&waiting, extents, buckets, |s| emit(0, s));
                }
            }
            Row::Sparks(cap, graph) => spark_rates(numbers, cap, graph, buckets, emit),
            Row::Perf(number) => {
                if let Some(perf) = self.perf.get(&number) {
                    let sum = perf.sum.column(|sum| *sum);
                    let grown = growth(std::iter::once(sum), buckets);
                    rates(&grown, buckets, |s| emit(0, s));
                }
            }
            _ => {}
        }
    }

    /// The points of a graph.
    pub fn points(&self, numbers: &Numbers, row: Row, buckets: Buckets, writer: &mut Writer) {
        self.stretches(numbers, row, buckets, |series, stretch| {
            writer.stretch(series, &stretch);
        });
    }
}

/// What `MemReturn` tells, in the order of the series.
const RETURNED: [fn(&[u32; 3]) -> u64; 3] = [
    |[held, ..]| *held as u64,
    |[_, needed, _]| *needed as u64,
    |[.., returned]| *returned as u64,
];

fn times(stretch: Stretch, factor: f64) -> Stretch {
    let Values { min, max, last } = stretch.values;
    let values = Values {
        min: min * factor,
        max: max * factor,
        last: last * factor,
    };
    Stretch { values, ..stretch }
}

fn spark_rates(
    numbers: &Numbers,
    cap: CapId,
    graph: SparkGraph,
    buckets: Buckets,
    mut emit: impl FnMut(u8, Stretch),
) {
    for (series, counter) in (0..).zip(numbers.sparks_of(cap, graph).into_iter().flatten()) {
        let grown = growth(std::iter::once(counter), buckets);
        rates(&grown, buckets, |s| emit(series, s));
    }
}
