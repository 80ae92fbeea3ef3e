//! Memory tracks of the whole program: heap, allocation rate, and memory held from the system.

use serde::{Deserialize, Serialize};

use super::legend::{Explained, Sample, Section};
use super::{Contents, Listed, Log, Shape, TrackKind, waves};
use crate::tracks::group::Group;
use analysis::timeline::graphs::allocation_rate;
use model::marks::Writer;
use scene::gauge::{Gauge, Series, Style, Unit};

/// Gauge of one aspect of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Memory {
    /// Heap size, blocks in use, and live bytes.
    Heap,
    /// Bytes allocated per second by all capabilities together.
    Allocated,
    /// Memory held, needed and returned to the system (`MemReturn`).
    Returned,
}

impl Memory {
    /// All gauges, in display order.
    const ALL: [Self; 3] = [Self::Heap, Self::Allocated, Self::Returned];

    const fn word(self) -> &'static str {
        match self {
            Self::Heap => "heap",
            Self::Allocated => "alloc",
            Self::Returned => "returned",
        }
    }

    /// Returns whether a log has data for the gauge.
    fn is_in(self, log: &Log<'_>) -> bool {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        match self {
            Self::Heap => graphs.has_heap(numbers),
            Self::Allocated => numbers.has_allocations(),
            Self::Returned => graphs.has_returned(),
        }
    }
}

impl TrackKind for Memory {
    type Payload = ();

    const GROUP: Group = Group::Heap;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    fn link(self, _: &Contents) -> String {
        self.word().to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        Self::ALL.into_iter().find(|graph| graph.word() == link)
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let listed = |graph: Self| {
            let (title, short) = match graph {
                Self::Heap => ("Heap", "Heap"),
                Self::Allocated => ("Allocation rate", "Alloc"),
                Self::Returned => ("Memory returned", "Returned"),
            };
            let lacks = match graph {
                Self::Heap => log.recording.tracks.graphs.lacks(&log.recording.numbers),
                Self::Allocated | Self::Returned => Vec::new(),
            };
            Listed::new(graph, title).short(short).lacking(lacks)
        };
        let there = Self::ALL.into_iter().filter(|graph| graph.is_in(log));
        there.map(listed).collect()
    }

    fn gauge(self) -> Option<Gauge> {
        let series: &'static [Series] = match self {
            Self::Heap => {
                const {
                    &[
                        Series::new("heap size", Style::Area, |palette| palette.io).key("size"),
                        Series::new("blocks in use", Style::Line, |palette| palette.ink2)
                            .key("blocks"),
                        Series::new(
                            "live after the last major collection",
                            Style::Dashed,
                            |palette| palette.gc,
                        )
                        .key("live"),
                    ]
                }
            }
            Self::Allocated => {
                const {
                    &[Series::new("allocated", Style::Filled, |palette| {
                        palette.running
                    })]
                }
            }
            Self::Returned => {
                const {
                    &[
                        Series::new("held", Style::Area, |palette| palette.io),
                        Series::new("needed", Style::Line, |palette| palette.ink2),
                        Series::new("returned to the system", Style::Dashed, |palette| {
                            palette.gc
                        })
                        .key("returned"),
                    ]
                }
            }
        };
        let unit = match self {
            Self::Allocated => Unit::BytesPerSecond,
            Self::Heap | Self::Returned => Unit::Bytes,
        };
        Some(Gauge {
            series,
            unit,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        let buckets = writer.buckets();
        let mut write = |series, stretch| writer.stretch(series, &stretch);
        match self {
            Self::Heap => graphs.heap(numbers, buckets, write),
            Self::Allocated => allocation_rate(numbers, buckets, |stretch| write(0, stretch)),
            Self::Returned => graphs.returned(numbers, buckets, write),
        }
    }

    fn legend() -> Vec<Explained> {
        let rate = waves::LOWER.map(|value| value * waves::MIB);
        vec![
            Explained::new(
                "Heap",
                "The area is the size of the heap, the line the blocks in use, the dashes what was live after the last major collection.",
                Sample::three(
                    Self::Heap,
                    waves::MIB,
                    [waves::LEVELS, waves::LOWER, waves::LOWEST],
                ),
            ),
            Explained::new(
                "Allocation rate",
                "How much the program allocates in a second, all capabilities together.",
                Sample::graph(Self::Allocated, &[(0, &rate)]),
            ),
            Explained::new(
                "Memory returned",
                "The area is what the runtime holds of the system's memory, the line what it needs, the dashes what it gave back.",
                Sample::three(
                    Self::Returned,
                    waves::MIB,
                    [waves::LEVELS, waves::LOWER, waves::FEW],
                ),
            ),
        ]
    }
}
