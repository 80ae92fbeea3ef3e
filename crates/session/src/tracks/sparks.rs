//! Spark tracks of a capability: created sparks, converted sparks, and the size of the pool.

use serde::{Deserialize, Serialize};

use super::legend::{Explained, Sample, Section};
use super::{Contents, Listed, Log, Shape, TrackKind, link, waves};
use crate::tracks::group::Group;
use crate::tracks::item::{Item, Names};
use crate::tracks::words;
use analysis::numbers::columns::SparkFates;
use analysis::timeline::graphs::spark_rates;
use eventlog::ids::CapId;
use model::marks::Writer;
use scene::gauge::{Gauge, Series, Style, Unit};

/// Quantity of a spark gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Of {
    /// Created, dud and overflowed sparks per second.
    Created,
    /// Converted, fizzled and garbage-collected sparks per second.
    Converted,
    /// Number of sparks in the pool.
    Pool,
}

impl Of {
    /// All quantities, in display order.
    pub const ALL: [Self; 3] = [Self::Created, Self::Converted, Self::Pool];

    const fn link(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Converted => "converted",
            Self::Pool => "pool",
        }
    }
}

/// Gauge of the sparks of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sparks {
    /// Capability of the sparks.
    pub cap: CapId,
    /// Quantity that the gauge shows.
    pub of: Of,
}

impl TrackKind for Sparks {
    type Payload = ();

    const GROUP: Group = Group::Sparks;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 40.0;

    fn link(self, _: &Contents) -> String {
        format!("{}{}", self.of.link(), self.cap)
    }

    fn parse(link: &str, _: &Contents) -> Option<Self> {
        Of::ALL.into_iter().find_map(|of| {
            let cap = link::cap(link, of.link())?;
            Some(Self { cap, of })
        })
    }

    fn of_log(log: &Log<'_>) -> Vec<Listed> {
        let of_cap = |cap: CapId| {
            Of::ALL.map(|of| {
                let (what, sign) = match of {
                    Of::Created => ("created", "+"),
                    Of::Converted => ("converted", "→"),
                    Of::Pool => ("in the pool", "∑"),
                };
                Listed::new(Self { cap, of }, format!("Sparks {what}, cap {cap}"))
                    .short(format!("{sign} cap {cap}"))
            })
        };
        log.recording
            .numbers
            .spark_caps()
            .flat_map(of_cap)
            .collect()
    }

    fn cap(self) -> Option<CapId> {
        Some(self.cap)
    }

    fn gauge(self) -> Option<Gauge> {
        let (series, unit): (&'static [Series], Unit) = match self.of {
            Of::Created => (
                const {
                    &[
                        Series::new("created", Style::Filled, |palette| palette.running),
                        Series::new("dud", Style::Area, |palette| palette.io),
                        Series::new("overflowed", Style::Striped, |palette| palette.gc),
                    ]
                },
                Unit::PerSecond,
            ),
            Of::Converted => (
                const {
                    &[
                        Series::new("converted", Style::Filled, |palette| palette.running),
                        Series::new("fizzled", Style::Area, |palette| palette.mvar),
                        Series::new("garbage collected", Style::Striped, |palette| palette.gc)
                            .key("GC’d"),
                    ]
                },
                Unit::PerSecond,
            ),
            Of::Pool => (
                const {
                    &[Series::new("sparks in the pool", Style::Area, |palette| {
                        palette.io
                    })]
                },
                Unit::Count,
            ),
        };
        Some(Gauge {
            series,
            unit,
            stacked: self.of != Of::Pool,
            scale: Some(self.of.link()),
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut Writer) {
        let (graphs, numbers) = (&log.recording.tracks.graphs, &log.recording.numbers);
        let fates = match self.of {
            Of::Created => SparkFates::AtBirth,
            Of::Converted => SparkFates::AtEnd,
            Of::Pool => {
                return graphs.spark_pool(numbers, self.cap, writer.buckets(), |stretch| {
                    writer.stretch(0, &stretch);
                });
            }
        };
        spark_rates(
            numbers,
            self.cap,
            fates,
            writer.buckets(),
            |series, stretch| {
                writer.stretch(series, &stretch);
            },
        );
    }

    fn describe(self, item: &Item, _: &impl Names) -> (String, String) {
        let cap = self.cap;
        let name = match self.of {
            Of::Created => format!("Sparks created on capability {cap}"),
            Of::Converted => format!("Sparks converted on capability {cap}"),
            Of::Pool => format!("Sparks in the pool of capability {cap}"),
        };
        (name, words::when(item))
    }

    fn legend() -> Vec<Explained> {
        let sparks = |of| Self { cap: CapId(0), of };
        let values = [waves::LOWER, waves::SOME, waves::FEW];
        vec![
            Explained::new(
                "Sparks created",
                "In a second, from below: created; dud, as the value was there already; overflowed, as the pool was full (striped).",
                Sample::three(sparks(Of::Created), 1.0, values),
            ),
            Explained::new(
                "Sparks converted",
                "In a second, from below: converted, that is run in parallel; fizzled, as the value was computed meanwhile; garbage collected, as nobody needed it (striped).",
                Sample::three(sparks(Of::Converted), 1.0, values),
            ),
            Explained::new(
                "Sparks in the pool",
                "How many sparks of a capability wait.",
                Sample::graph(sparks(Of::Pool), &[(0, &waves::LEVELS)]),
            ),
        ]
    }
}
