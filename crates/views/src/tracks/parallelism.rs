//! How many capabilities run threads at each time.

use serde::{Deserialize, Serialize};

use super::Log;
use super::gauge::levels;
use super::legend::{Explained, Sample, Section};
use super::waves;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::gauge::{Gauge, Series, Style, Unit};
use crate::tracks::group::Group;
use model::marks::Writer;

/// The capabilities that run threads, of the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Parallelism;

impl TrackKind for Parallelism {
    type Payload = ();

    const GROUP: Group = Group::Program;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 40.0;

    fn link(self, _: &Contents) -> String {
        "parallelism".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "parallelism").then_some(Self)
    }

    /// Of a single capability its own track says as much.
    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let recording = &log.recording;
        let caps = recording.info.lives.caps().count();
        let there = recording.is_settled() && recording.store.run_count() > 0 && caps > 1;
        let listed = || {
            Listed::new(Self, "Parallelism")
                .short("Par.")
                .note(format!("of {caps}"))
        };
        there.then(listed).into_iter().collect()
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: const {
                &[Series::new(
                    "capabilities running",
                    Style::Spread,
                    |palette| palette.running,
                )]
            },
            unit: Unit::OfCapabilities,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        levels(log, writer, |counts| counts.running);
    }

    fn legend() -> Vec<Explained> {
        vec![Explained::new(
            "Parallelism",
            "How many capabilities run Haskell threads at the same time: the line is their mean, the light area reaches from the fewest to the most in each pixel.",
            Sample::spread(Self, waves::FEW),
        )]
    }
}
