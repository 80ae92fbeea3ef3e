//! How many threads are ready: they could run, but no capability runs them.

use serde::{Deserialize, Serialize};

use super::Log;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::gauge::{Gauge, Series, Style, Unit};
use crate::timeline::legend::{Entry, Sample, Section, waves};
use crate::tracks::group::Group;
use eventlog::ids::Nanos;
use model::gauge::Stretch;
use model::marks::{Values, Writer};

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
                &[Series::new("ready threads", Style::Area, |palette| {
                    palette.ready
                })]
            },
            unit: Unit::Capabilities,
            stacked: false,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        if !log.recording.is_settled() {
            return;
        }
        let mut walker = log.recording.store.account().walker();
        let buckets = writer.buckets();
        for (start, end) in buckets.each() {
            let end = end.min(buckets.end_ns.max(start.saturating_add(1)));
            let (levels, sum_ns) = walker.ready_in(Nanos(start), Nanos(end));
            if levels.max == 0 {
                continue;
            }
            let (min, max) = (f64::from(levels.min), f64::from(levels.max));
            let mean = (sum_ns as f64 / (end - start) as f64).clamp(min, max);
            let values = Values {
                min,
                max,
                mean,
                last: mean,
            };
            writer.stretch(0, &Stretch { start, end, values });
        }
    }

    fn legend() -> Vec<Entry> {
        vec![Entry::new(
            "Ready threads",
            "How many threads could run, but no capability runs them: the length of all run queues together.",
            Sample::graph(Self, &[(0, &waves::LOWER)]),
        )]
    }
}
