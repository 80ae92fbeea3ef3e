//! Shared code of gauge tracks: descriptions of values, and the values of a drawn bucket.

use super::details::{DetailField, DetailsQuery};
use super::{Log, TimelineQuery, TrackId, TrackKind};
use crate::tracks::item::PaintInput;
use eventlog::ids::Duration;
use model::marks::{MarkWriter, Values};
use model::sorting::CompactSort;
use model::time::Interval;
use scene::gauge::{Series, Unit, value, values};
use scene::painter::Painter;

/// Returns the bucket length that is drawn if a pixel has the length of `span`.
pub(super) fn bucket_ns(span: Interval) -> u64 {
    let length = span.duration().0.clamp(1, 1 << 62);
    length.next_power_of_two()
}

/// Returns the values of each series in the bucket drawn at a time.
pub(super) fn details(
    track: impl TrackKind,
    log: &Log<'_>,
    query: &DetailsQuery,
) -> Vec<DetailField> {
    let Some(gauge) = track.gauge() else {
        return Vec::new();
    };
    let start = query.span.start();
    let mut writer = MarkWriter {
        bucket_ns: bucket_ns(query.span),
        ..TimelineQuery::writer(log, Interval::new(start, start + Duration(1)))
    };
    track.answer(log, &mut writer);
    let caps = log.recording.info.lives.caps().count();
    let points: Vec<_> = writer.reply.points.row_points(0).collect();
    let fact = |(number, series): (u8, &Series)| {
        let found = points.iter().find(|point| point.series == number);
        let shown = match found {
            Some(point) => point.values,
            None if gauge.is_missing_zero() => Values::constant(0.0),
            None => return None,
        };
        Some(DetailField::new(
            series.name,
            values(gauge.unit, shown, caps),
        ))
    };
    (0..).zip(gauge.series).filter_map(fact).collect()
}

/// Paints lines and areas of a gauge. Rows with the same scale, such as the sparks of all capabilities, share
/// their maximum so that they can be compared; the maximum for running capabilities is their total number.
pub(super) fn paint(row: TrackId, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
    let strip = &shown.strip;
    let Some(gauge) = row.gauge() else { return };
    let marks = shown.marks;
    let scale = |row: TrackId| row.gauge().and_then(|gauge| gauge.scale);
    let alike = |other: &&TrackId| {
        **other == row || (gauge.scale.is_some() && scale(**other) == gauge.scale)
    };
    let graph = |row: TrackId| strip.graph(gauge, marks.points(row));
    let rows = marks.rows.iter().filter(alike);
    let greatest = match gauge.unit {
        Unit::OfCapabilities => shown.caps as f64,
        _ => rows.map(|row| graph(*row).greatest()).fold(0.0, f64::max),
    };
    strip.paint_graph(&graph(row), greatest, painter);
}

/// Returns the unit of a row's values.
fn unit(row: TrackId) -> Unit {
    row.gauge().map_or(Unit::Count, |gauge| gauge.unit)
}

/// Describes all values of a gauge at one position, such as `created: 12 k/s · dud: 0.5/s`. Of many series, only
/// those with the largest values are included. `name` returns the name of a series.
pub fn describe_values(
    row: TrackId,
    points: &[(u8, Values)],
    caps: usize,
    name: impl Fn(u8) -> String,
) -> String {
    let unit = unit(row);
    let mut order: Vec<&(u8, Values)> = points.iter().collect();
    if points.len() > MAX_AT_ONCE {
        order.sort_small_by(|a, b| b.1.max.total_cmp(&a.1.max));
        order.truncate(MAX_AT_ONCE);
    }
    let said = order.into_iter().map(|(number, of)| {
        if let Some(instead) = row.value_override(*number) {
            return instead.to_owned();
        }
        let name = name(*number);
        format!("{name}: {}", values(unit, *of, caps))
    });
    let mut said: Vec<String> = said.collect();
    if points.len() > said.len() {
        said.push(format!("{} more", points.len() - said.len()));
    }
    said.join(" · ")
}

/// Maximum number of series in a description.
const MAX_AT_ONCE: usize = 5;

/// Describes a series over a time range by its mean, minimum and maximum, from the points that overlap the range.
pub fn describe_range(
    row: TrackId,
    points: &[(Interval, Values)],
    seen: Interval,
    name: &str,
) -> String {
    let gauge = row.gauge();
    let nothing_is_zero = gauge.is_some_and(|gauge| gauge.is_missing_zero());
    let (mut known_ns, mut sum) = (0, 0.0);
    let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
    for (span, values) in points {
        let inside = span.clip(seen).duration().0;
        known_ns += inside;
        sum += values.mean * inside as f64;
        (min, max) = (min.min(values.min), max.max(values.max));
    }
    let all_ns = seen.duration().0;
    if nothing_is_zero && known_ns < all_ns {
        (known_ns, min) = (all_ns, 0.0);
    }
    let mean = match known_ns {
        0 => points.last().map_or(0.0, |(_, values)| values.last),
        length => (sum / length as f64).clamp(min, max),
    };
    let [mean, min, max] = [mean, min, max].map(|number| value(unit(row), number));
    format!("{name}: {mean} on average, {min} to {max}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracks::activity::Activity;
    use crate::tracks::concurrency::Concurrency;
    use crate::tracks::memory::Memory;
    use crate::tracks::sparks::{SparkQuantity, Sparks};
    use analysis::timeline::activity::COLLECTING;
    use eventlog::ids::CapId;
    use eventlog::ids::Nanos;
    use scene::format;

    #[test]
    fn values_are_named_and_have_units() {
        let cap = CapId(1);
        let row = TrackId::from(Sparks {
            cap,
            quantity: SparkQuantity::Created,
        });
        let changing = Values {
            min: 0.0,
            max: 12_000.0,
            mean: 1_000.0,
            last: 300.0,
        };
        let describe_values = |row: TrackId, points: &[(u8, Values)], caps| {
            describe_values(row, points, caps, |series| row.series_name(series, caps))
        };
        let text = describe_values(row, &[(0, changing), (2, Values::constant(0.5))], 2);
        let expected = "created: 0/s to 12 k/s, 1 k/s on average · overflowed: 0.50/s";
        assert_eq!(text.replace(format::NBSP, " "), expected);
        let parallelism = TrackId::from(Concurrency::Running);
        let running = Values {
            min: 0.0,
            max: 2.0,
            mean: 1.7,
            last: 1.7,
        };
        let text = describe_values(parallelism, &[(0, running)], 4);
        assert_eq!(text, "capabilities running: 0 to 2 of 4, 1.7 on average");
        let text = describe_values(parallelism, &[(0, Values::constant(2.0))], 4);
        assert_eq!(text, "capabilities running: 2 of 4");
        let activity = TrackId::from(Activity);
        let heap = TrackId::from(Memory::Heap);
        let text = describe_values(heap, &[(1, Values::constant(3_145_728.0))], 2);
        assert_eq!(text.replace(format::NBSP, " "), "blocks in use: 3.0 MiB");
        assert_eq!(activity.series_name(3, 4), "capability 3 running");
        assert_eq!(
            activity.series_name(15, 32),
            "capabilities 30 to 31 running"
        );
        assert_eq!(activity.series_name(COLLECTING, 4), "collecting garbage");
    }

    #[test]
    fn a_view_has_a_mean() {
        let span = |from, to| Interval::new(Nanos(from), Nanos(to));
        let seen = span(100, 200);
        let text = |row: TrackId, points: &[(Interval, Values)]| {
            describe_range(row, points, seen, &row.series_name(0, 2)).replace(format::NBSP, " ")
        };
        let peak = Values {
            min: 0.0,
            max: 9.0,
            mean: 2.0,
            last: 7.0,
        };
        // Before its first value, the size of the pool is unknown, while a rate is zero. Values outside the view
        // do not count.
        let points = [
            (span(150, 170), peak),
            (span(170, 250), Values::constant(4.0)),
        ];
        let cap = CapId(0);
        let pool = Sparks {
            cap,
            quantity: SparkQuantity::Pool,
        };
        let pool = text(pool.into(), &points);
        assert_eq!(pool, "sparks in the pool: 3 on average, 0 to 9");
        let created = Sparks {
            cap,
            quantity: SparkQuantity::Created,
        };
        let created = text(created.into(), &points[1..]);
        assert_eq!(created, "created: 1.2/s on average, 0/s to 4/s");
    }
}
