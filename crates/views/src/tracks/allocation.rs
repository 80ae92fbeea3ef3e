//! Bytes allocated in a second, all capabilities together.

use serde::{Deserialize, Serialize};

use super::Log;
use super::legend::{Explained, Sample, Section};
use super::waves;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::gauge::{Gauge, Series, Style, Unit};
use crate::tracks::group::Group;
use analysis::timeline::graphs::allocation_rate;
use model::marks::Writer;

/// How fast the program allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AllocationRate;

impl TrackKind for AllocationRate {
    type Payload = ();

    const GROUP: Group = Group::Heap;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    fn link(self, _: &Contents) -> String {
        "alloc".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "alloc").then_some(Self)
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let recording = &log.recording;
        let there = recording.numbers.has_allocations();
        there
            .then(|| Listed::new(Self, "Allocation rate").short("Alloc"))
            .into_iter()
            .collect()
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: const {
                &[Series::new("allocated", Style::Filled, |palette| {
                    palette.running
                })]
            },
            unit: Unit::BytesPerSecond,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        allocation_rate(&log.recording.numbers, writer.buckets(), |stretch| {
            writer.stretch(0, &stretch)
        });
    }

    fn legend() -> Vec<Explained> {
        vec![Explained::new(
            "Allocation rate",
            "How much the program allocates in a second, all capabilities together.",
            Sample::graph(Self, &[(0, &waves::LOWER.map(|value| value * waves::MIB))]),
        )]
    }
}
