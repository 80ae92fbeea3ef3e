//! What tracks that show gauges have in common: series, units, and the values
//! of the bucket that is drawn at a time.

use super::details::{DetailsQuery, Fact};
use super::{TimelineQuery, TrackKind};
use crate::scene::colour::Rgb;
use crate::scene::palette::Palette;
use crate::scene::words;
use crate::session::Session;
use analysis::account::sweep::{Counts, Level};
use eventlog::ids::Nanos;
use model::gauge::Stretch;
use model::marks::{Values, Writer};
use model::time::Span;

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
    /// How it looks.
    pub look: Look,
}

impl Series {
    /// A series.
    #[must_use]
    pub const fn new(name: &'static str, style: Style, colour: fn(&Palette) -> Rgb) -> Self {
        let look = Look { style, colour };
        Self { name, look }
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

/// The bucket that is drawn where a span begins, if the span is a pixel.
pub(super) fn bucket_ns(span: Span) -> u64 {
    let length = span.duration().0.clamp(1, 1 << 62);
    length.next_power_of_two()
}

/// Writes what the account counts at each time: its least, greatest and mean
/// value of each bucket. Of a log that is still being read nothing is counted.
pub(super) fn levels(log: &Session, writer: &mut Writer, of: fn(&Counts) -> Level) {
    if !log.recording.is_settled() {
        return;
    }
    let mut walker = log.recording.store.account().walker();
    let buckets = writer.buckets();
    for (start, end) in buckets.each() {
        let end = end.min(buckets.end_ns.max(start.saturating_add(1)));
        let level = of(&walker.levels_in(Nanos(start), Nanos(end)));
        if level.max == 0 {
            continue;
        }
        let (min, max) = (f64::from(level.min), f64::from(level.max));
        let mean = (level.sum_ns as f64 / (end - start) as f64).clamp(min, max);
        let values = Values {
            min,
            max,
            mean,
            last: mean,
        };
        writer.stretch(0, &Stretch { start, end, values });
    }
}

/// The values of each series in the bucket that is drawn at a time.
pub(super) fn details(track: impl TrackKind, log: &Session, query: &DetailsQuery) -> Vec<Fact> {
    let Some(gauge) = track.gauge() else {
        return Vec::new();
    };
    let start = query.span.start;
    let mut writer = Writer {
        bucket_ns: bucket_ns(query.span),
        ..TimelineQuery::writer(log, Span::new(start, Nanos(start.0.saturating_add(1))))
    };
    track.answer(log, &mut writer);
    let caps = log.recording.info.lives.caps().count();
    let points: Vec<_> = writer.reply.points.of_row(0).collect();
    let fact = |(number, series): (u8, &Series)| {
        let found = points.iter().find(|point| point.series == number);
        let values = match found {
            Some(point) => point.values,
            None if gauge.is_nothing_zero() => Values::one(0.0),
            None => return None,
        };
        Some(Fact::new(
            series.name,
            words::values(gauge.unit, values, caps),
        ))
    };
    (0..).zip(gauge.series).filter_map(fact).collect()
}
