//! Description of graphs: series, their appearance and unit, and values as text.

use super::chart::short;
use super::color::Rgb;
use super::format;
use super::palette::Palette;
use eventlog::ids::Duration;
use model::marks::Values;

/// Unit of the values of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Number of capabilities or threads, possibly fractional.
    Capabilities,
    /// Number of capabilities out of all of them.
    OfCapabilities,
    /// Size in bytes.
    Bytes,
    /// Bytes per second, with a unit of a power of 1024.
    BytesPerSecond,
    /// Number of items.
    Count,
    /// Items per second.
    PerSecond,
}

/// Shape of a series; series differ by shape in addition to color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Opaque area.
    Filled,
    /// Translucent area under a line.
    Area,
    /// Line at the mean, over a translucent area from minimum to maximum.
    Spread,
    /// Solid line.
    Line,
    /// Dashed line.
    Dashed,
    /// Striped area.
    Striped,
}

/// Appearance of a series.
#[derive(Clone, Copy, Debug)]
pub struct SeriesStyle {
    /// Shape of the line or area.
    pub style: Style,
    /// Color, from a palette.
    pub color: fn(&Palette) -> Rgb,
}

/// One line or area of a gauge.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// Full name, in words.
    pub name: &'static str,
    /// Short name next to the legend key.
    pub key: &'static str,
    /// Appearance, also of the legend key.
    pub look: SeriesStyle,
}

impl Series {
    /// Creates a series whose legend name is `name` too.
    pub const fn new(name: &'static str, style: Style, color: fn(&Palette) -> Rgb) -> Self {
        let look = SeriesStyle { style, color };
        let key = name;
        Self { name, key, look }
    }

    /// Sets a shorter name for the legend.
    #[must_use]
    pub const fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }
}

/// Description of a gauge.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Series, by number.
    pub series: &'static [Series],
    /// Unit of all series.
    pub unit: Unit,
    /// Whether the series are stacked to show their sum.
    pub stacked: bool,
    /// Gauges with the same key share one scale, to be comparable.
    pub scale: Option<&'static str>,
}

impl Gauge {
    /// Returns whether missing points mean zero, as for rates, rather than unknown.
    pub const fn is_missing_zero(&self) -> bool {
        !matches!(self.unit, Unit::Bytes | Unit::Count)
    }
}

/// Formats a value in its unit: `1.5 GiB`, `240 MiB/s`, `12 k/s`.
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

/// Rounds to about three digits.
fn rounded(value: f64) -> String {
    short((value * 100.0).round() / 100.0)
}

/// Describes the values over a stretch of time: the value or its range with the mean; `caps` is the total number
/// of capabilities.
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
