//! Graphs: each series by its name, with its value.

use crate::scene::chart::short;
use crate::scene::format;
use crate::tracks::{Row, Unit};
use eventlog::ids::Nanos;
use model::marks::Values;

/// A value of a graph in its unit: `1.5 GiB`, `240 MiB/s`, `12 k/s`.
#[must_use]
pub fn value(unit: Unit, value: f64) -> String {
    let whole = value.round().max(0.0) as u64;
    match unit {
        Unit::Bytes => format::bytes(whole),
        Unit::BytesPerSecond => format::byte_rate(whole, Nanos(1_000_000_000)),
        Unit::PerSecond => format!("{}/s", rounded(value)),
        Unit::Capabilities => rounded(value),
        Unit::Count => format::count(whole),
    }
}

/// Three digits or so are enough.
fn rounded(value: f64) -> String {
    short((value * 100.0).round() / 100.0)
}

/// The values of a stretch of time in words: the last of them, and between
/// what they were if they changed.
#[must_use]
pub fn values(unit: Unit, values: Values) -> String {
    let [min, max, last] = [values.min, values.max, values.last].map(|number| value(unit, number));
    if min == max {
        last
    } else {
        format!("{last}, between {min} and {max}")
    }
}

/// In what a row's values are.
fn unit(row: Row) -> Unit {
    row.gauge().map_or(Unit::Count, |gauge| gauge.unit)
}

/// All that a graph shows at one place, in words: `created 12 k/s, dud 0.5/s`.
#[must_use]
pub fn at_once(row: Row, points: &[(u8, Values)], caps: usize) -> String {
    let unit = unit(row);
    let said = points.iter().map(|(number, of)| {
        let name = row.series_name(*number, caps);
        format!("{name} {}", values(unit, *of))
    });
    said.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracks::Activity;
    use crate::tracks::heap::Heap;
    use crate::tracks::sparks::{Of, Sparks};
    use analysis::timeline::activity::COLLECTING;
    use eventlog::ids::CapId;

    #[test]
    fn values_are_named_and_have_units() {
        let cap = CapId(1);
        let row = Row::from(Sparks {
            cap,
            of: Of::Created,
        });
        let changing = Values {
            min: 0.0,
            max: 12_000.0,
            mean: 1_000.0,
            last: 300.0,
        };
        let text = at_once(row, &[(0, changing), (2, Values::one(0.5))], 2);
        let expected = "created 300/s, between 0/s and 12 k/s · overflowed 0.50/s";
        assert_eq!(text.replace(format::NBSP, " "), expected);
        let activity = Row::from(Activity);
        let heap = Row::from(Heap);
        let text = at_once(heap, &[(1, Values::one(3_145_728.0))], 2);
        assert_eq!(text.replace(format::NBSP, " "), "blocks in use 3.0 MiB");
        assert_eq!(activity.series_name(3, 4), "capability 3 running");
        assert_eq!(
            activity.series_name(15, 32),
            "capabilities 30 to 31 running"
        );
        assert_eq!(
            activity.series_name(COLLECTING, 4),
            "collecting garbage"
        );
    }
}
