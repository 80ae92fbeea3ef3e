//! Counter tracks: processor performance counters and tracepoints (Linux perf).

use serde::{Deserialize, Serialize};

use super::legend::{LegendEntry, LegendSample, Section};
use super::{Log, Shape, TrackEntry, TrackKind, link, sample_data};
use crate::tracks::group::TrackGroup;
use model::marks::MarkWriter;
use scene::gauge::{Gauge, Series, Style, Unit};

/// Performance counter, by its number in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Counter(pub u32);

impl TrackKind for Counter {
    type Payload = ();

    const GROUP: TrackGroup = TrackGroup::Perf;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 40.0;

    link::number_link!("perf", Self);

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |(number, name): (u32, Option<&str>)| {
            let name = name.map_or_else(|| format!("counter {number}"), str::to_owned);
            TrackEntry::new(Self(number), name)
        };
        log.recording.tracks.graphs.counters().map(listed)
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: const { &[Series::new("counted", Style::Filled, |palette| palette.io)] },
            unit: Unit::PerSecond,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let graphs = &log.recording.tracks.graphs;
        graphs.counter(self.0, writer.buckets(), |stretch| {
            writer.gauge_segment(0, &stretch);
        });
    }

    fn legend() -> Vec<LegendEntry> {
        vec![LegendEntry::new(
            "Performance counter",
            "The rate of a processor counter or a tracepoint.",
            LegendSample::graph(Self(0), &[(0, &sample_data::LOWER)]),
        )]
    }
}
