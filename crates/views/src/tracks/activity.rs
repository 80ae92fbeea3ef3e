//! How many capabilities run Haskell code, and how many collect.

use serde::{Deserialize, Serialize};

use super::details::{DetailsQuery, Fact};
use super::gauge::bucket_ns;
use super::{Contents, Listed, Shape, TrackKind};
use crate::scene::format;
use crate::scene::gauge::{Gauge, Unit};
use crate::scene::painter::{Painter, Rect};
use crate::session::Session;
use crate::timeline::Scene;
use crate::timeline::legend::{Entry, Sample, Section};
use crate::tracks::group::Group;
use crate::tracks::item::{Item, Names};
use crate::tracks::words;
use analysis::timeline::activity::{COLLECTING, points, series_of};
use eventlog::ids::{CapId, Nanos};
use model::marks::Writer;
use model::time::Interval;

/// The activity of all capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Activity;

/// Of how many capabilities the shares are told one by one.
const MOST_CAPS: usize = 64;

impl TrackKind for Activity {
    type Payload = ();

    const GROUP: Group = Group::Program;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    fn link(self, _: &Contents) -> String {
        "activity".to_owned()
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        (link == "activity").then_some(Self)
    }

    fn of_log(log: &Session) -> Vec<Listed> {
        let of = match log.recording.info.lives.caps().count() {
            1 => "1 capability".to_owned(),
            count => format!("of {count}"),
        };
        vec![Listed::new(Self, "Activity").note(of)]
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: &[],
            unit: Unit::Capabilities,
            stacked: true,
            scale: None,
        })
    }

    fn series_name(self, series: u8, caps: usize) -> String {
        if series == COLLECTING {
            return "collecting garbage".to_owned();
        }
        let place = |place: &usize| series_of(*place, caps) == usize::from(series);
        let first = (0..caps).find(place).unwrap_or_default();
        let last = (0..caps).rfind(place).unwrap_or_default();
        if first == last {
            format!("capability {first} running")
        } else {
            format!("capabilities {first} to {last} running")
        }
    }

    fn answer(self, log: &Session, writer: &mut Writer) {
        let recording = &log.recording;
        let caps: Vec<CapId> = recording.info.lives.caps().map(|(cap, _)| cap).collect();
        points(
            &recording.store,
            &caps,
            writer.buckets(),
            |series, stretch| {
                writer.stretch(series, &stretch);
            },
        );
    }

    fn paint<N: Names>(self, scene: &Scene<'_, N>, area: Rect, painter: &mut impl Painter) {
        scene.paint_activity(area, painter);
    }

    fn describe(self, item: &Item, _: &impl Names) -> (String, String) {
        let name = "Activity: how many capabilities run Haskell code";
        (name.to_owned(), words::when(item))
    }

    /// For what share of the bucket each capability ran Haskell code, and
    /// collected.
    fn details(self, log: &Session, query: &DetailsQuery) -> Vec<Fact> {
        let length = bucket_ns(query.span);
        let start = query.span.start().0 / length * length;
        let span = Interval::new(Nanos(start), Nanos(start.saturating_add(length)));
        let store = &log.recording.store;
        let share = |time: u64| format::fraction(time as f64 / length as f64);
        let (mut running, mut collecting, mut caps) = (0u64, 0u64, 0usize);
        let mut each = Vec::new();
        for (cap, _) in log.recording.info.lives.caps() {
            let times = store.account().cap(cap, span);
            let (ran, gc) = (times.running_ns, times.in_collections_ns());
            running = running.saturating_add(ran);
            collecting = collecting.saturating_add(gc);
            caps += 1;
            if caps <= MOST_CAPS {
                let text = format!("running {}, collecting {}", share(ran), share(gc));
                each.push(Fact::new(format!("capability {cap}"), text));
            }
        }
        let mean = |time: u64| format!("{:.2} of {caps}", time as f64 / length as f64);
        let mut facts = vec![
            Fact::new("running", mean(running)),
            Fact::new("collecting", mean(collecting)),
        ];
        facts.append(&mut each);
        facts
    }

    fn legend() -> Vec<Entry> {
        let busy: [f64; 8] = [0.5, 0.9, 1.0, 1.0, 0.2, 0.9, 1.0, 0.8];
        let other: [f64; 8] = [0.1, 0.6, 0.8, 0.4, 0.1, 0.7, 0.9, 0.2];
        let collecting: [f64; 8] = [0.0, 0.2, 0.0, 0.4, 1.6, 0.1, 0.0, 0.6];
        vec![Entry::new(
            "Activity",
            "How many capabilities run Haskell code, a band for each, and on top how many collect garbage.",
            Sample::graph(Self, &[(0, &busy), (1, &other), (COLLECTING, &collecting)]),
        )]
    }
}
