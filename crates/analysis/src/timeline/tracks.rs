//! Timeline rows other than capabilities, threads and messages: graphs, collections of the program, the nonmoving
//! collector, tasks, spans of the program, blocks.

use super::block_lanes::BlockLanes;
use super::collections::CollectionLane;
use super::graphs::Graphs;
use super::messages::Messages;
use super::nonmoving::Nonmoving;
use super::tasks::Tasks;
use super::user_spans::{SpanPrefixes, UserSpans};
use crate::numbers::Numbers;
use eventlog::blocks::BlockIndex;
use eventlog::ids::{CapId, Nanos};
use eventlog::{EventSet, Record, Sink};

/// Timeline rows of a log other than capabilities, threads and messages.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    /// Graphs of memory, allocation, sparks and performance counters.
    pub graphs: Graphs,
    /// Collections of the program.
    pub collections: CollectionLane,
    /// Phases and events of the nonmoving collector.
    pub nonmoving: Nonmoving,
    /// Tasks: OS threads of the runtime.
    pub tasks: Tasks,
    /// Spans announced by messages of the program.
    pub spans: UserSpans,
    prefixes: SpanPrefixes,
    /// Blocks in which events were written.
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
    /// Adds the figures collected since the last call.
    pub fn extend(&mut self, numbers: &Numbers) {
        self.graphs.extend(numbers);
        self.collections.extend(numbers);
    }

    /// Completes all rows but the spans of the program once the log has been read to its end; what is open ends
    /// there.
    pub fn finish(&mut self, numbers: &Numbers, blocks: &BlockIndex, end: Nanos) {
        self.graphs.extend(numbers);
        self.collections.finish(numbers);
        self.nonmoving.finish(end);
        self.tasks.finish(end);
        self.blocks = BlockLanes::new(blocks);
    }

    /// Finds the spans of the program in all messages of the log. `end_of` returns the end of open spans that began
    /// on a capability.
    pub fn find_spans(&mut self, messages: &Messages, end_of: impl Fn(Option<CapId>) -> Nanos) {
        self.spans = UserSpans::find(messages, &self.prefixes, end_of);
    }

    /// Changes the prefixes of span messages, for the next search.
    pub fn set_prefixes(&mut self, prefixes: SpanPrefixes) {
        self.prefixes = prefixes;
    }

    /// Returns the prefixes of span messages.
    pub const fn prefixes(&self) -> &SpanPrefixes {
        &self.prefixes
    }
}
