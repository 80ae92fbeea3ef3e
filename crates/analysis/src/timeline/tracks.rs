//! What is shown beside capabilities, threads and messages: graphs,
//! collections of the program, the concurrent collector, tasks, spans of the
//! program, blocks.

use super::block_lanes::BlockLanes;
use super::collections::CollectionLane;
use super::graphs::Graphs;
use super::messages::Messages;
use super::nonmoving::Nonmoving;
use super::tasks::Tasks;
use super::user_spans::{SpanPrefixes, UserSpans};
use crate::numbers::Numbers;
use eventlog::blocks::BlockIndex;
use eventlog::ids::Nanos;
use eventlog::{EventSet, Record, Sink};

/// The rows of a log beside capabilities, threads and messages.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    /// Memory, allocation, sparks, performance counters.
    pub graphs: Graphs,
    /// The collections of the program.
    pub collections: CollectionLane,
    /// The concurrent collector.
    pub nonmoving: Nonmoving,
    /// The OS threads of the runtime.
    pub tasks: Tasks,
    /// Spans that the program announced.
    pub spans: UserSpans,
    prefixes: SpanPrefixes,
    /// The blocks in which events were written.
    pub blocks: BlockLanes,
}

impl Sink for Tracks {
    const CONSUMES: EventSet = Tasks::CONSUMES
        .union(Graphs::CONSUMES)
        .union(Nonmoving::CONSUMES);

    fn event(&mut self, record: &Record<'_>) {
        self.tasks.offer(record);
        self.graphs.offer(record);
        self.nonmoving.offer(record);
    }
}

impl Tracks {
    /// Takes what the numbers have got since the last time.
    pub fn extend(&mut self, numbers: &Numbers) {
        self.graphs.extend(numbers);
        self.collections.extend(numbers);
    }

    /// The log is read to its end: what is still open ends there.
    pub fn settle(
        &mut self,
        numbers: &Numbers,
        messages: &Messages,
        blocks: &BlockIndex,
        end: Nanos,
    ) {
        self.graphs.extend(numbers);
        self.collections.settle(numbers);
        self.nonmoving.settle(end);
        self.tasks.settle(end);
        self.spans = UserSpans::of(messages, &self.prefixes, end);
        self.blocks = BlockLanes::of(blocks);
    }

    /// Looks for spans of the program with other words. They are looked for
    /// once the log is read: `end` is its end, if it is.
    pub fn set_prefixes(
        &mut self,
        prefixes: SpanPrefixes,
        messages: &Messages,
        end: Option<Nanos>,
    ) {
        self.prefixes = prefixes;
        if let Some(end) = end {
            self.spans = UserSpans::of(messages, &self.prefixes, end);
        }
    }

    /// With which words the spans of the program were looked for.
    pub const fn prefixes(&self) -> &SpanPrefixes {
        &self.prefixes
    }
}
