//! Graphs as values: their series, how these look, in what they are, and a
//! value in words.

use super::chart::short;
use super::colour::Rgb;
use super::format;
use super::palette::Palette;
use eventlog::ids::Duration;
use model::marks::Values;

/// In what the values of a gauge are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Capabilities or threads, also parts of one.
    Capabilities,
    /// How many capabilities, of all that there are.
    OfCapabilities,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    BytesPerSecond,
    /// Things.
    Count,
    /// Things in a second.
    PerSecond,
}

/// How a series is drawn: beside the colour there is always a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A filled area.
    Filled,
    /// A light area under a line.
    Area,
    /// A line at the mean, over a light area from the least to the greatest value.
    Spread,
    /// A line.
    Line,
    /// A line of dashes.
    Dashed,
    /// An area with stripes.
    Striped,
}

/// How a series looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Its shape.
    pub style: Style,
    /// Its colour in a palette.
    pub colour: fn(&Palette) -> Rgb,
}

/// One line or area of a gauge.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// What it is called, in words.
    pub name: &'static str,
    /// What it is called beside its key, where there is little room.
    pub key: &'static str,
    /// How it looks.
    pub look: Look,
}

impl Series {
    /// A series.
    #[must_use]
    pub const fn new(name: &'static str, style: Style, colour: fn(&Palette) -> Rgb) -> Self {
        let look = Look { style, colour };
        let key = name;
        Self { name, key, look }
    }

    /// With a shorter name beside its key.
    #[must_use]
    pub const fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }
}

/// What a gauge shows.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Its series, by number.
    pub series: &'static [Series],
    /// In what they are.
    pub unit: Unit,
    /// Whether they stand on each other, so that their sum is seen.
    pub stacked: bool,
    /// Gauges with the same word here are drawn to one scale, so that they can
    /// be compared.
    pub scale: Option<&'static str>,
}

impl Gauge {
    /// Whether a stretch without a point means nothing at all, as of rates,
    /// and not that nothing is known.
    #[must_use]
    pub const fn is_nothing_zero(&self) -> bool {
        !matches!(self.unit, Unit::Bytes | Unit::Count)
    }
}

/// A value of a graph in its unit: `1.5 GiB`, `240 MiB/s`, `12 k/s`.
#[must_use]
pub fn value(unit: Unit, value: f64) -> String {
    let whole = value.round().max(0.0) as u64;
    match unit {
        Unit::Bytes => format::bytes(whole),
        Unit::BytesPerSecond => format::byte_rate(whole, Duration(1_000_000_000)),
        Unit::PerSecond => format!("{}/s", rounded(value)),
        Unit::Capabilities | Unit::OfCapabilities => rounded(value),
        Unit::Count => format::count(whole),
    }
}

/// Three digits or so are enough.
fn rounded(value: f64) -> String {
    short((value * 100.0).round() / 100.0)
}

/// The values of a stretch of time in words: what they were, and their mean if
/// they changed; of `caps` capabilities how many.
#[must_use]
pub fn values(unit: Unit, values: Values, caps: usize) -> String {
    let [min, max, mean] = [values.min, values.max, values.mean].map(|number| value(unit, number));
    let all = match unit {
        Unit::OfCapabilities => format!(" of {caps}"),
        _ => String::new(),
    };
    if min == max {
        format!("{min}{all}")
    } else {
        format!("{min} to {max}{all}, {mean} on average")
    }
}
