//! How many threads are ready: they could run, but no capability runs them.

use serde::{Deserialize, Serialize};

use super::Log;
use super::gauge::levels;
use super::legend::{Explained, Sample, Section};
use super::waves;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::gauge::{Gauge, Series, Style, Unit};
use crate::tracks::group::Group;
use model::marks::Writer;

/// The threads that are ready, of the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReadyThreads;

impl TrackKind for ReadyThreads {
    type Payload = ();

    const GROUP: Group = Group::Program;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 40.0;

    fn link(self, _: &Contents) -> String {
        "ready".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "ready").then_some(Self)
    }

    /// The account of time is made when the log is read.
    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let recording = &log.recording;
        let there = recording.is_settled() && recording.store.run_count() > 0;
        let track = there.then(|| Listed::new(Self, "Ready threads").short("Ready"));
        track.into_iter().collect()
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: const {
                &[Series::new("ready threads", Style::Spread, |palette| {
                    palette.ready
                })]
            },
            unit: Unit::Capabilities,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        levels(log, writer, |counts| counts.ready);
    }

    fn legend() -> Vec<Explained> {
        vec![Explained::new(
            "Ready threads",
            "How many threads could run, but no capability runs them: the length of all run queues together. The line is the mean, the light area reaches from the fewest to the most in each pixel.",
            Sample::spread(Self, waves::FEW),
        )]
    }
}
