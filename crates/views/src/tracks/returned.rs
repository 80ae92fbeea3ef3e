//! Memory held, needed and given back to the system (`MemReturn`).

use serde::{Deserialize, Serialize};

use super::Log;
use super::legend::{Explained, Sample, Section};
use super::waves;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::gauge::{Gauge, Series, Style, Unit};
use crate::tracks::group::Group;
use model::marks::Writer;

/// The memory that the runtime has of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemoryReturned;

impl TrackKind for MemoryReturned {
    type Payload = ();

    const GROUP: Group = Group::Heap;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    fn link(self, _: &Contents) -> String {
        "returned".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "returned").then_some(Self)
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let recording = &log.recording;
        let there = recording.tracks.graphs.has_returned();
        there
            .then(|| Listed::new(Self, "Memory returned").short("Returned"))
            .into_iter()
            .collect()
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: const {
                &[
                    Series::new("held", Style::Area, |palette| palette.io),
                    Series::new("needed", Style::Line, |palette| palette.ink2),
                    Series::new("returned to the system", Style::Dashed, |palette| {
                        palette.gc
                    }),
                ]
            },
            unit: Unit::Bytes,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        graphs.returned(numbers, writer.buckets(), |series, stretch| {
            writer.stretch(series, &stretch)
        });
    }

    fn legend() -> Vec<Explained> {
        vec![Explained::new(
            "Memory returned",
            "The area is what the runtime holds of the system's memory, the line what it needs, the dashes what it gave back.",
            Sample::three(Self, waves::MIB, [waves::LEVELS, waves::LOWER, waves::FEW]),
        )]
    }
}
