//! Memory tracks of the whole program: heap, allocation rate, and memory held from the system.

use serde::{Deserialize, Serialize};

use super::legend::{LegendEntry, LegendSample, Section};
use super::{Log, LogContents, Shape, TrackEntry, TrackKind, sample_data};
use crate::tracks::group::TrackGroup;
use analysis::timeline::graphs::allocation_rate;
use model::marks::MarkWriter;
use scene::gauge::{Gauge, Series, Style, Unit};

model::named_enum! {
    /// Gauge of one aspect of memory.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Memory: from_name {
        /// Heap size, blocks in use, and live bytes.
        Heap: "heap";
        /// Bytes allocated per second by all capabilities together.
        Allocated: "alloc";
        /// Memory held, needed and returned to the system (`MemReturn`).
        Returned: "returned";
    }
    /// Returns the name in links, which never changes.
    fn name;
}

impl Memory {
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

    const GROUP: TrackGroup = TrackGroup::Heap;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    fn link(self, _: &LogContents) -> String {
        self.name().to_owned()
    }

    fn parse(link: &str, _: &LogContents) -> Option<Self> {
        Self::from_name(link)
    }

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = move |graph: Self| {
            let (title, short) = match graph {
                Self::Heap => ("Heap", "Heap"),
                Self::Allocated => ("Allocation rate", "Alloc"),
                Self::Returned => ("Memory returned", "Returned"),
            };
            let missing_series = match graph {
                Self::Heap => log
                    .recording
                    .tracks
                    .graphs
                    .missing_series(&log.recording.numbers),
                Self::Allocated | Self::Returned => Vec::new(),
            };
            TrackEntry::new(graph, title)
                .short(short)
                .with_missing_series(missing_series)
        };
        let there = Self::ALL.into_iter().filter(move |graph| graph.is_in(log));
        there.map(listed)
    }

    fn gauge(self) -> Option<Gauge> {
        const LIVE: &str = "live after the last major collection";
        const HEAP: &[Series] = &[
            Series::new("heap size", Style::Area, |palette| palette.io).key("size"),
            Series::new("blocks in use", Style::Line, |palette| palette.ink2).key("blocks"),
            Series::new(LIVE, Style::Dashed, |palette| palette.gc).key("live"),
        ];
        const ALLOCATED: &[Series] = &[Series::new("allocated", Style::Filled, |it| it.running)];
        const RETURNED: &[Series] = &[
            Series::new("held", Style::Area, |palette| palette.io),
            Series::new("needed", Style::Line, |palette| palette.ink2),
            Series::new("returned to the system", Style::Dashed, |it| it.gc).key("returned"),
        ];
        let (series, unit) = match self {
            Self::Heap => (HEAP, Unit::Bytes),
            Self::Allocated => (ALLOCATED, Unit::BytesPerSecond),
            Self::Returned => (RETURNED, Unit::Bytes),
        };
        Some(Gauge {
            series,
            unit,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        let buckets = writer.buckets();
        let mut write = |series, stretch| writer.gauge_segment(series, &stretch);
        match self {
            Self::Heap => graphs.heap(numbers, buckets, write),
            Self::Allocated => allocation_rate(numbers, buckets, |stretch| write(0, stretch)),
            Self::Returned => graphs.returned(numbers, buckets, write),
        }
    }

    fn legend() -> Vec<LegendEntry> {
        let rate = sample_data::LOWER.map(|value| value * sample_data::MIB);
        vec![
            LegendEntry::new(
                "Heap",
                "Area: heap size; line: blocks in use; dashes: live data after the last major collection.",
                LegendSample::three(
                    Self::Heap,
                    sample_data::MIB,
                    [sample_data::LEVELS, sample_data::LOWER, sample_data::LOWEST],
                ),
            ),
            LegendEntry::new(
                "Allocation rate",
                "Allocation rate per second, of all capabilities.",
                LegendSample::graph(Self::Allocated, &[(0, &rate)]),
            ),
            LegendEntry::new(
                "Memory returned",
                "Area: memory that the runtime holds from the system; line: its need; dashes: returned memory.",
                LegendSample::three(
                    Self::Returned,
                    sample_data::MIB,
                    [sample_data::LEVELS, sample_data::LOWER, sample_data::FEW],
                ),
            ),
        ]
    }
}
