//! What the heap holds: its size, blocks in use, live bytes.

use serde::{Deserialize, Serialize};

use super::Log;
use super::legend::{Explained, Sample, Section};
use super::waves;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::gauge::{Gauge, Series, Style, Unit};
use crate::tracks::group::Group;
use model::marks::Writer;

/// The heap of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Heap;

impl TrackKind for Heap {
    type Payload = ();

    const GROUP: Group = Group::Heap;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    fn link(self, _: &Contents) -> String {
        "heap".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "heap").then_some(Self)
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let recording = &log.recording;
        let there = recording.tracks.graphs.has_heap(&recording.numbers);
        there
            .then(|| Listed::new(Self, "Heap").short("Heap"))
            .into_iter()
            .collect()
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: const {
                &[
                    Series::new("heap size", Style::Area, |palette| palette.io),
                    Series::new("blocks in use", Style::Line, |palette| palette.ink2),
                    Series::new(
                        "live after the last major collection",
                        Style::Dashed,
                        |palette| palette.gc,
                    ),
                ]
            },
            unit: Unit::Bytes,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        graphs.heap(numbers, writer.buckets(), |series, stretch| {
            writer.stretch(series, &stretch)
        });
    }

    fn legend() -> Vec<Explained> {
        vec![Explained::new(
            "Heap",
            "The area is the size of the heap, the line the blocks in use, the dashes what was live after the last major collection.",
            Sample::three(
                Self,
                waves::MIB,
                [waves::LEVELS, waves::LOWER, waves::LOWEST],
            ),
        )]
    }
}
