//! Graphs: each series by its name, with its value.

use crate::scene::chart::short;
use crate::scene::format;
use analysis::timeline::activity::{COLLECTING, series_of};
use analysis::timeline::graphs::{Unit, series};
use analysis::timeline::row::{Graph, Row, SparkGraph};
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

/// What a series of a row is called; `caps` is how many capabilities there are.
#[must_use]
pub fn series_name(row: Row, number: u8, caps: usize) -> String {
    if let Some(list) = series(row) {
        let name = list.names.get(usize::from(number));
        return name.copied().unwrap_or_default().to_owned();
    }
    if number == COLLECTING {
        return "collecting garbage".to_owned();
    }
    let place = |place: &usize| series_of(*place, caps) == usize::from(number);
    let first = (0..caps).find(place).unwrap_or_default();
    let last = (0..caps).rfind(place).unwrap_or_default();
    if first == last {
        format!("capability {first} running")
    } else {
        format!("capabilities {first} to {last} running")
    }
}

/// In what a row's values are.
#[must_use]
pub fn unit(row: Row) -> Unit {
    series(row).map_or(Unit::Capabilities, |list| list.unit)
}

/// What a row shows, in words.
#[must_use]
pub(super) fn title(row: Row) -> String {
    match row {
        Row::Activity => "Activity: how many capabilities run Haskell code".to_owned(),
        Row::Graph(Graph::Heap) => "Heap".to_owned(),
        Row::Graph(Graph::AllocationRate) => "Allocation rate".to_owned(),
        Row::Graph(Graph::MemoryReturned) => "Memory returned".to_owned(),
        Row::Sparks(cap, SparkGraph::Created) => format!("Sparks created on capability {cap}"),
        Row::Sparks(cap, SparkGraph::Converted) => format!("Sparks converted on capability {cap}"),
        Row::Sparks(cap, SparkGraph::Pool) => format!("Sparks in the pool of capability {cap}"),
        Row::Perf(number) => format!("Performance counter {number}"),
        _ => String::new(),
    }
}

/// All that a graph shows at one place, in words: `created 12 k/s, dud 0.5/s`.
#[must_use]
pub fn at_once(row: Row, points: &[(u8, Values)], caps: usize) -> String {
    let unit = unit(row);
    let said = points.iter().map(|(number, of)| {
        let name = series_name(row, *number, caps);
        format!("{name} {}", values(unit, *of))
    });
    said.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::CapId;

    #[test]
    fn values_are_named_and_have_units() {
        let row = Row::Sparks(CapId(1), SparkGraph::Created);
        let changing = Values {
            min: 0.0,
            max: 12_000.0,
            last: 300.0,
        };
        let text = at_once(row, &[(0, changing), (2, Values::one(0.5))], 2);
        let expected = "created 300/s, between 0/s and 12 k/s · overflowed 0.50/s";
        assert_eq!(text.replace(format::NBSP, " "), expected);
        let heap = Row::Graph(Graph::Heap);
        let text = at_once(heap, &[(1, Values::one(3_145_728.0))], 2);
        assert_eq!(text.replace(format::NBSP, " "), "blocks in use 3.0 MiB");
        assert_eq!(series_name(Row::Activity, 3, 4), "capability 3 running");
        assert_eq!(
            series_name(Row::Activity, 15, 32),
            "capabilities 30 to 31 running"
        );
        assert_eq!(
            series_name(Row::Activity, COLLECTING, 4),
            "collecting garbage"
        );
    }
}
