//! The rows of the timeline, and what they are called in links and settings.

use serde::{Deserialize, Serialize};

use super::contents::Contents;
use eventlog::ids::{CapId, OsThreadId, TaskId, ThreadId};
use model::profile::TrackSource;

/// A graph of the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Graph {
    /// What the heap holds: its size, blocks in use, live bytes.
    Heap,
    /// Bytes allocated in a second.
    AllocationRate,
    /// Memory held, needed and given back to the system (`MemReturn`).
    MemoryReturned,
}

/// A graph of the sparks of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SparkGraph {
    /// Created, dud and overflowed sparks in a second.
    Created,
    /// Converted, fizzled and collected sparks in a second.
    Converted,
    /// How many sparks wait in the pool.
    Pool,
}

/// Whose announced foreign calls a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CallsOf {
    /// An OS thread's.
    OsThread(OsThreadId),
    /// Those of OS threads that were not announced. Calls at the same time are
    /// on different lanes, from 0.
    Unknown {
        /// Which.
        lane: u32,
    },
}

impl CallsOf {
    /// The track of the profile with these calls.
    #[must_use]
    pub const fn source(self) -> TrackSource {
        match self {
            Self::OsThread(thread) => TrackSource::OsThread(thread),
            Self::Unknown { lane } => TrackSource::UnknownThread { lane },
        }
    }

    /// Whose calls a track of a profile has; `None` if it has none.
    #[must_use]
    pub const fn of_source(source: TrackSource) -> Option<Self> {
        match source {
            TrackSource::OsThread(thread) => Some(Self::OsThread(thread)),
            TrackSource::UnknownThread { lane } => Some(Self::Unknown { lane }),
            _ => None,
        }
    }
}

/// One row of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Row {
    /// How many capabilities run Haskell code, and how many collect.
    Activity,
    /// The collections of the whole program.
    Collections,
    /// What the concurrent (nonmoving) collector does.
    Nonmoving,
    /// Messages and markers of the program.
    Messages,
    /// A graph of the whole program.
    Graph(Graph),
    /// Spans that the program announced with messages, by the place of their
    /// name in [`Contents::spans`].
    UserSpan(u32),
    /// A capability: its runs and collections.
    Cap(CapId),
    /// What happened on a capability at points in time.
    Instants(CapId),
    /// The sparks of a capability.
    Sparks(CapId, SparkGraph),
    /// A thread.
    Thread(ThreadId),
    /// A task: an OS thread of the runtime.
    Task(TaskId),
    /// A performance counter, by its number in the log.
    Perf(u32),
    /// The blocks in which events were written, of a capability or of none.
    Blocks(Option<CapId>),
    /// The announced foreign calls of an OS thread.
    ForeignCalls(CallsOf),
    /// What a profiler saw run on a capability.
    Samples(CapId),
}

/// How much of the name of a span is used, in bytes.
const MAX_SPAN_NAME: usize = 58;

/// The names of graphs in links.
const GRAPHS: [(&str, Graph); 3] = [
    ("heap", Graph::Heap),
    ("alloc", Graph::AllocationRate),
    ("returned", Graph::MemoryReturned),
];

/// The names of graphs of sparks in links, before the capability.
const SPARKS: [(&str, SparkGraph); 3] = [
    ("created", SparkGraph::Created),
    ("converted", SparkGraph::Converted),
    ("pool", SparkGraph::Pool),
];

/// The rows of which there is one, by their names in links.
const SINGLE: [(&str, Row); 5] = [
    ("activity", Row::Activity),
    ("gc", Row::Collections),
    ("nonmoving", Row::Nonmoving),
    ("messages", Row::Messages),
    ("blocks", Row::Blocks(None)),
];

fn named<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    let found = table.iter().find(|(_, other)| *other == value);
    found.map_or("", |(name, _)| *name)
}

impl Row {
    /// Its name in links and settings, which never changes.
    #[must_use]
    pub fn name(self, contents: &Contents) -> String {
        match self {
            Self::Graph(graph) => named(&GRAPHS, graph).to_owned(),
            Self::Sparks(cap, graph) => format!("{}{cap}", named(&SPARKS, graph)),
            Self::UserSpan(number) => {
                let span = contents.spans.get(number as usize);
                let name = span.map_or("", |span| span.name.as_str());
                let end = name.floor_char_boundary(MAX_SPAN_NAME);
                format!("span:{}", &name[..end])
            }
            Self::Cap(cap) => format!("cap{cap}"),
            Self::Instants(cap) => format!("events{cap}"),
            Self::Thread(thread) => format!("thread{thread}"),
            Self::Task(task) => format!("task{task}"),
            Self::Perf(number) => format!("perf{number}"),
            Self::Blocks(Some(cap)) => format!("blocks{cap}"),
            Self::ForeignCalls(CallsOf::OsThread(thread)) => format!("calls{thread}"),
            Self::ForeignCalls(CallsOf::Unknown { lane }) => format!("callsunknown{lane}"),
            Self::Samples(cap) => format!("samples{cap}"),
            row => named(&SINGLE, row).to_owned(),
        }
    }

    /// The row of that name; a span of the program has to be in `contents`.
    #[must_use]
    pub fn named(name: &str, contents: &Contents) -> Option<Self> {
        if let Some((_, row)) = SINGLE.iter().find(|(other, _)| *other == name) {
            return Some(*row);
        }
        if let Some((_, graph)) = GRAPHS.iter().find(|(other, _)| *other == name) {
            return Some(Self::Graph(*graph));
        }
        if name.starts_with("span:") {
            let count = u32::try_from(contents.spans.len()).ok()?;
            let mut spans = (0..count).map(Self::UserSpan);
            return spans.find(|span| span.name(contents) == name);
        }
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (kind, number) = name.split_at(digits);
        let number: u64 = number.parse().ok()?;
        let cap = || u16::try_from(number).ok().map(CapId);
        let small = u32::try_from(number).ok();
        match kind {
            "cap" => cap().map(Self::Cap),
            "events" => cap().map(Self::Instants),
            "thread" => small.map(|number| Self::Thread(ThreadId(number))),
            "task" => Some(Self::Task(TaskId(number))),
            "perf" => small.map(Self::Perf),
            "calls" => Some(Self::ForeignCalls(CallsOf::OsThread(OsThreadId(number)))),
            "callsunknown" => small.map(|lane| Self::ForeignCalls(CallsOf::Unknown { lane })),
            "samples" => cap().map(Self::Samples),
            "blocks" => cap().map(|cap| Self::Blocks(Some(cap))),
            _ => {
                let (_, graph) = SPARKS.iter().find(|(other, _)| *other == kind)?;
                Some(Self::Sparks(cap()?, *graph))
            }
        }
    }

    /// The capability that it is about.
    #[must_use]
    pub const fn cap(self) -> Option<CapId> {
        match self {
            Self::Cap(cap) | Self::Instants(cap) | Self::Sparks(cap, _) | Self::Samples(cap) => {
                Some(cap)
            }
            Self::Blocks(cap) => cap,
            _ => None,
        }
    }

    /// Whether it is a graph: lines and areas instead of items.
    #[must_use]
    pub const fn is_graph(self) -> bool {
        matches!(
            self,
            Self::Activity | Self::Graph(_) | Self::Sparks(..) | Self::Perf(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::contents::SpanInfo;
    use super::*;

    #[test]
    fn names_lead_back_to_rows() {
        let contents = Contents {
            spans: vec![SpanInfo {
                name: "load 7".into(),
                ..SpanInfo::default()
            }],
            ..Contents::default()
        };
        let cap = CapId(3);
        let rows = [
            Row::Activity,
            Row::Collections,
            Row::Nonmoving,
            Row::Messages,
            Row::Graph(Graph::Heap),
            Row::Graph(Graph::AllocationRate),
            Row::Graph(Graph::MemoryReturned),
            Row::UserSpan(0),
            Row::Cap(cap),
            Row::Instants(cap),
            Row::Sparks(cap, SparkGraph::Created),
            Row::Sparks(cap, SparkGraph::Converted),
            Row::Sparks(cap, SparkGraph::Pool),
            Row::Thread(ThreadId(12)),
            Row::Task(TaskId(u64::MAX)),
            Row::Perf(5),
            Row::Blocks(None),
            Row::Blocks(Some(cap)),
            Row::ForeignCalls(CallsOf::OsThread(OsThreadId(u64::MAX))),
            Row::ForeignCalls(CallsOf::Unknown { lane: 2 }),
            Row::Samples(cap),
        ];
        for row in rows {
            assert_eq!(Row::named(&row.name(&contents), &contents), Some(row));
        }
        for name in [
            "",
            "cap",
            "cap70000",
            "3cap",
            "span:other",
            "thread-1",
            "calls",
            "samples",
            "samples70000",
        ] {
            assert_eq!(Row::named(name, &contents), None, "{name}");
        }
    }
}
