//! Spark tracks of a capability: created sparks, converted sparks, and the size of the pool.

use serde::{Deserialize, Serialize};

use super::legend::{LegendEntry, LegendSample, Section};
use super::{Log, LogContents, Shape, TrackEntry, TrackKind, link, sample_data};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names};
use crate::tracks::words;
use analysis::numbers::columns::SparkFates;
use analysis::timeline::graphs::spark_rates;
use eventlog::ids::CapId;
use model::marks::MarkWriter;
use scene::gauge::{Gauge, Series, Style, Unit};

model::named_enum! {
    /// Quantity of a spark gauge.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum SparkQuantity {
        /// Created, dud and overflowed sparks per second.
        Created: "created";
        /// Converted, fizzled and garbage-collected sparks per second.
        Converted: "converted";
        /// Number of sparks in the pool.
        Pool: "pool";
    }
    /// Returns the name in links, which never changes.
    fn name;
}

/// Gauge of the sparks of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sparks {
    /// Capability of the sparks.
    pub cap: CapId,
    /// Quantity that the gauge shows.
    pub quantity: SparkQuantity,
}

impl TrackKind for Sparks {
    type Payload = ();

    const GROUP: TrackGroup = TrackGroup::Sparks;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 40.0;

    fn link(self, _: &LogContents) -> String {
        format!("{}{}", self.quantity.name(), self.cap)
    }

    fn parse(link: &str, _: &LogContents) -> Option<Self> {
        SparkQuantity::ALL.into_iter().find_map(|of| {
            let cap = link::cap(link, of.name())?;
            Some(Self { cap, quantity: of })
        })
    }

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let of_cap = |cap: CapId| {
            SparkQuantity::ALL.map(|of| {
                let (what, sign) = match of {
                    SparkQuantity::Created => ("created", "+"),
                    SparkQuantity::Converted => ("converted", "→"),
                    SparkQuantity::Pool => ("in the pool", "∑"),
                };
                TrackEntry::new(
                    Self { cap, quantity: of },
                    format!("Sparks {what}, cap {cap}"),
                )
                .short(format!("{sign} cap {cap}"))
            })
        };
        log.recording.numbers.spark_caps().flat_map(of_cap)
    }

    fn cap(self) -> Option<CapId> {
        Some(self.cap)
    }

    fn gauge(self) -> Option<Gauge> {
        const CREATED: &[Series] = &[
            Series::new("created", Style::Filled, |palette| palette.running),
            Series::new("dud", Style::Area, |palette| palette.io),
            Series::new("overflowed", Style::Striped, |palette| palette.gc),
        ];
        const CONVERTED: &[Series] = &[
            Series::new("converted", Style::Filled, |palette| palette.running),
            Series::new("fizzled", Style::Area, |palette| palette.mvar),
            Series::new("garbage collected", Style::Striped, |palette| palette.gc).key("GC’d"),
        ];
        const POOL: &[Series] = &[Series::new("sparks in the pool", Style::Area, |it| it.io)];
        let (series, unit) = match self.quantity {
            SparkQuantity::Created => (CREATED, Unit::PerSecond),
            SparkQuantity::Converted => (CONVERTED, Unit::PerSecond),
            SparkQuantity::Pool => (POOL, Unit::Count),
        };
        Some(Gauge {
            series,
            unit,
            stacked: self.quantity != SparkQuantity::Pool,
            scale: Some(self.quantity.name()),
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        let fates = match self.quantity {
            SparkQuantity::Created => SparkFates::AtBirth,
            SparkQuantity::Converted => SparkFates::AtEnd,
            SparkQuantity::Pool => {
                return graphs.spark_pool(numbers, self.cap, writer.buckets(), |stretch| {
                    writer.gauge_segment(0, &stretch);
                });
            }
        };
        spark_rates(
            numbers,
            self.cap,
            fates,
            writer.buckets(),
            |series, stretch| {
                writer.gauge_segment(series, &stretch);
            },
        );
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let cap = self.cap;
        let name = match self.quantity {
            SparkQuantity::Created => format!("Sparks created on capability {cap}"),
            SparkQuantity::Converted => format!("Sparks converted on capability {cap}"),
            SparkQuantity::Pool => format!("Sparks in the pool of capability {cap}"),
        };
        (name, words::when(item))
    }

    fn legend() -> Vec<LegendEntry> {
        let sparks = |of| Self {
            cap: CapId(0),
            quantity: of,
        };
        let values = [sample_data::LOWER, sample_data::SOME, sample_data::FEW];
        vec![
            LegendEntry::new(
                "Sparks created",
                "Per second, from the bottom: created; dud, because the value was already computed; overflowed, because the pool was full (striped).",
                LegendSample::three(sparks(SparkQuantity::Created), 1.0, values),
            ),
            LegendEntry::new(
                "Sparks converted",
                "Per second, from the bottom: converted, that is run in parallel; fizzled, because the value was already computed; garbage collected, because it was unreachable (striped).",
                LegendSample::three(sparks(SparkQuantity::Converted), 1.0, values),
            ),
            LegendEntry::new(
                "Sparks in the pool",
                "Number of sparks in the pool of a capability.",
                LegendSample::graph(sparks(SparkQuantity::Pool), &[(0, &sample_data::LEVELS)]),
            ),
        ]
    }
}
