//! Table that compares two logs: selection, order, and formatting of the numbers.

use crate::view::compare::{CompareColumn, CompareView};
use eventlog::hash::SeededMap;
use insight::compare::{Claim, Comparison, Difference, MainReason, Trend};
use insight::digest::NumberGroup;
use insight::metrics::{Direction, Unit, Variability};
use model::sorting::CompactSort;
use scene::format;
use session::cells::{Column, Columns};

/// Describes where most of the change of the elapsed time comes from.
pub fn lead(lead: &MainReason<'_>) -> String {
    let MainReason { wall, part, inner } = lead;
    let value = |row: &Difference, value: f64| amount(row.unit, value);
    let times = [wall.before.median, wall.after.median].map(|time| value(wall, time));
    let [before, after] = times;
    let claim = if wall.claim == Claim::TooFewRuns {
        " (no claim)"
    } else {
        ""
    };
    let mut said = format!("From start to end{claim}: {before} before, {after} after.");
    let Some(part) = part else {
        return said;
    };
    let by = |row: &Difference| change(row).unwrap_or_default();
    said += &format!(" Most of the change: {} {}", part.key.full_name(), by(part));
    if let Some(inner) = inner {
        said += &format!(", with {} {}", inner.key.full_name(), by(inner));
    }
    said + "."
}

/// Formats a number with its unit.
pub fn amount(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ns => format::duration_ns(whole(value)),
        Unit::Bytes => format::bytes(whole(value)),
        Unit::Count => format::count(whole(value)),
        Unit::Share => format!("{:.1} %", value * 100.0),
        Unit::PerSecond => format!("{value:.3} /s"),
    }
}

/// Rounds a number; numbers of logs are never negative.
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// Returns the number of the run before; `None` if it is missing.
pub fn before_value(row: &Difference) -> Option<f64> {
    (!row.before.values.is_empty()).then_some(row.before.median)
}

/// Returns the number of the run after; `None` if it is missing.
pub fn after_value(row: &Difference) -> Option<f64> {
    (!row.after.values.is_empty()).then_some(row.after.median)
}

/// Formats the difference with its sign; `None` if one of the numbers is missing.
pub fn change(row: &Difference) -> Option<String> {
    before_value(row).and(after_value(row))?;
    let size = amount(row.unit, row.change.abs());
    Some(match row.change {
        _ if !differs(row) => "0".to_owned(),
        by if by > 0.0 => format!("+{size}"),
        _ => format!("−{size}"),
    })
}

/// Formats the ratio: as a percentage, or as a factor from 2 on.
pub fn ratio(row: &Difference) -> Option<String> {
    let ratio = row.ratio?;
    Some(match ratio {
        _ if !differs(row) => "0 %".to_owned(),
        _ if ratio >= 2.0 => format!("× {ratio:.1}"),
        _ if ratio >= 1.0 => format!("+{:.1} %", (ratio - 1.0) * 100.0),
        _ => format!("−{:.1} %", (1.0 - ratio) * 100.0),
    })
}

/// Describes a number: whether it is better, and whether that is a claim.
pub fn verdict(row: &Difference) -> &'static str {
    if !differs(row) {
        return "the same";
    }
    match (row.claim, row.trend) {
        (Claim::OnlyBefore, _) => "only before",
        (Claim::OnlyAfter, _) => "only after",
        (Claim::NoDifference, _) => "no difference",
        (Claim::Changed, Trend::Better) => "better",
        (Claim::Changed, Trend::Worse) => "worse",
        (Claim::Changed, Trend::Neutral) => "changed",
        (Claim::TooFewRuns, Trend::Better) => "better (too few runs)",
        (Claim::TooFewRuns, Trend::Worse) => "worse (too few runs)",
        (Claim::TooFewRuns, Trend::Neutral) => "other (too few runs)",
    }
}

/// Returns whether the formatted numbers differ, or one is missing. Shares of 0.01 and 0.02 % are both displayed
/// as 0.0 %, and calling one twice the other would not be credible.
pub fn differs(row: &Difference) -> bool {
    let shown =
        [before_value(row), after_value(row)].map(|value| value.map(|of| amount(row.unit, of)));
    shown[0] != shown[1]
}

/// Returns the importance of each number, at least 0: its difference relative to the largest number of its kind. A
/// thread that ran ten times as long matters little if that is only a microsecond. Numbers that the verdict
/// depends on count double, numbers that are neither better nor worse count half.
pub fn importance(comparison: &Comparison) -> Vec<f64> {
    let kind = |row: &Difference| {
        let key = row.key.clone();
        // Every number of the program is a kind of its own.
        let name = (key.group == NumberGroup::Program).then_some(key.name);
        (key.group, name, key.part)
    };
    let size = |row: &Difference| row.before.median.max(row.after.median);
    let mut largest = SeededMap::default();
    for row in &comparison.rows {
        let most: &mut f64 = largest.entry(kind(row)).or_default();
        *most = most.max(size(row));
    }
    let of = |row: &Difference| {
        let both = before_value(row).and(after_value(row)).is_some();
        let far = if both { row.change.abs() } else { size(row) };
        let most = largest.get(&kind(row)).copied().unwrap_or_default();
        let part = if most > 0.0 { far / most } else { 0.0 };
        let weight = match (row.is_gated, row.direction) {
            (true, _) => 2.0,
            (false, Direction::Neutral) => 0.5,
            (false, _) => 1.0,
        };
        part * weight
    };
    comparison.rows.iter().map(of).collect()
}

/// Returns the indices of the numbers that a view shows, in its order.
pub fn visible_rows(comparison: &Comparison, view: &CompareView) -> Vec<usize> {
    let words = view.filter.to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_wanted = |row: &Difference| {
        let text = format!("{} {}", row.name(), row.key.group.title()).to_lowercase();
        (view.is_whole || differs(row)) && words.iter().all(|word| text.contains(word))
    };
    let rows = &comparison.rows;
    let mut places: Vec<usize> = (0..rows.len())
        .filter(|&place| is_wanted(&rows[place]))
        .collect();
    let importance = importance(comparison);
    // Ties keep the order of their groups.
    places.sort_small_by(|&a, &b| importance[b].total_cmp(&importance[a]));
    if let Some((column, descending)) = view.sort {
        places.sort_small_by(|&a, &b| {
            let order = compare(column, &rows[a], &rows[b]);
            if descending { order.reverse() } else { order }
        });
    }
    places
}

fn compare(column: CompareColumn, a: &Difference, b: &Difference) -> std::cmp::Ordering {
    let number = |row: &Difference| match column {
        CompareColumn::Name => None,
        CompareColumn::Before => before_value(row),
        CompareColumn::After => after_value(row),
        CompareColumn::Change => known_change(row),
        CompareColumn::Ratio => row.ratio,
    };
    let order = match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    let by_name = || a.name().to_lowercase().cmp(&b.name().to_lowercase());
    match column {
        CompareColumn::Name => by_name(),
        _ => order,
    }
}

/// Columns of the export: times are in nanoseconds, sizes in bytes.
pub const COLUMNS: Columns<Difference, 9> = Columns([
    Column::text("group", "Kind of its subject").value(|row| row.key.group.title().into()),
    Column::text("name", "Its name").value(|row| row.name().into()),
    Column::text("unit", "Unit of the values").value(|row| unit(row.unit).into()),
    Column::ratio("before", "Value before").value(|row| before_value(row).into()),
    Column::ratio("after", "Value after").value(|row| after_value(row).into()),
    Column::ratio("change", "After minus before").value(|row| known_change(row).into()),
    Column::ratio("ratio", "After divided by before")
        .value(|row| row.ratio.map(|ratio| (ratio * 1e6).round() / 1e6).into()),
    Column::text("verdict", "Whether it is better").value(|row| verdict(row).into()),
    Column::text("deviates between runs", "yes or hardly").value(|row| match row.class {
        Variability::Counted => "hardly".into(),
        Variability::Timed => "yes".into(),
    }),
]);

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "ns",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::Share => "share",
        Unit::PerSecond => "per second",
    }
}

/// Returns the difference; `None` if one of the numbers is missing.
fn known_change(row: &Difference) -> Option<f64> {
    before_value(row).and(after_value(row)).map(|_| row.change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use insight::compare::Options;
    use insight::digest::{Digest, Key, Row};
    use session::cells::RowFormat;

    fn row(group: NumberGroup, name: &str, part: &'static str, value: f64) -> Row {
        Row {
            key: Key {
                group,
                name: name.to_owned(),
                part: part.into(),
            },
            unit: Unit::Ns,
            direction: Direction::Lower,
            class: Variability::Timed,
            is_total: true,
            value,
        }
    }

    fn comparison(before_value: Vec<Row>, after_value: Vec<Row>) -> Comparison {
        let digest = |rows| Digest {
            rows,
            ..Digest::default()
        };
        Comparison::compare(
            &[digest(before_value)],
            &[digest(after_value)],
            &Options::default(),
        )
    }

    fn names(comparison: &Comparison, view: &CompareView) -> Vec<String> {
        let places = visible_rows(comparison, view);
        let names = places.iter().map(|&place| comparison.rows[place].name());
        names.collect()
    }

    #[test]
    fn what_is_large_and_changed_comes_first_and_what_is_equal_not_at_all() {
        let of = |slow: f64, tiny: f64| {
            vec![
                row(NumberGroup::Program, "time.wall", "", 1e9),
                row(NumberGroup::Program, "gc.pause", "p99", slow),
                row(NumberGroup::Threads, "worker-#", "ran", 8e8 + slow),
                row(NumberGroup::Threads, "io", "ran", tiny),
            ]
        };
        let mut after_value = of(4e8, 9e3);
        after_value.push(row(NumberGroup::Threads, "new", "ran", 1e8));
        let comparison = comparison(of(1e8, 1e3), after_value);
        let all = names(&comparison, &CompareView::default());
        assert_eq!(
            all,
            ["gc.pause.p99", "worker-# · ran", "new · ran", "io · ran"]
        );
        let view = CompareView {
            filter: "THREADS ran".to_owned(),
            sort: Some((CompareColumn::Ratio, true)),
            ..CompareView::default()
        };
        assert_eq!(
            names(&comparison, &view),
            ["io · ran", "worker-# · ran", "new · ran"]
        );
        let view = CompareView {
            is_whole: true,
            sort: Some((CompareColumn::Name, false)),
            ..CompareView::default()
        };
        let all = names(&comparison, &view);
        assert_eq!((all.len(), all[4].as_str()), (5, "worker-# · ran"));
    }

    #[test]
    fn a_log_and_itself_have_no_difference() {
        let rows = || {
            vec![
                row(NumberGroup::Program, "gc.time", "", 0.0),
                row(NumberGroup::Spans, "a", "max", 7.0),
            ]
        };
        let comparison = comparison(rows(), rows());
        assert_eq!(
            names(&comparison, &CompareView::default()),
            Vec::<String>::new()
        );
        assert!(comparison.rows.iter().all(|row| verdict(row) == "the same"));
    }

    #[test]
    fn what_looks_the_same_is_called_so() {
        let of = |value| {
            vec![Row {
                unit: Unit::Share,
                ..row(NumberGroup::Program, "cap.idle", "", value)
            }]
        };
        let comparison = comparison(of(0.0001), of(0.0002));
        let row = &comparison.rows[0];
        let said = (change(row), ratio(row), verdict(row));
        let same = (Some("0".to_owned()), Some("0 %".to_owned()), "the same");
        assert_eq!(said, same);
    }

    #[test]
    fn signs_and_words_say_what_the_number_did() {
        let comparison = comparison(
            vec![
                row(NumberGroup::Program, "gc.time", "", 2e6),
                row(NumberGroup::Program, "b", "", 2e6),
                row(NumberGroup::Program, "c", "", 2e6),
            ],
            vec![
                row(NumberGroup::Program, "gc.time", "", 3e6),
                row(NumberGroup::Program, "b", "", 1e6),
            ],
        );
        let said = |place: usize| {
            let row = &comparison.rows[place];
            let words = (change(row), ratio(row));
            (
                words.0.unwrap_or_default(),
                words.1.unwrap_or_default(),
                verdict(row),
            )
        };
        let of = |a: &str, b: &str, c| (a.to_owned(), b.to_owned(), c);
        assert_eq!(
            said(0),
            of("+1.000\u{a0}ms", "+50.0 %", "worse (too few runs)")
        );
        assert_eq!(
            said(1),
            of("−1.000\u{a0}ms", "−50.0 %", "better (too few runs)")
        );
        assert_eq!(said(2), of("", "", "only before"));
        let text = COLUMNS.text(&comparison.rows, RowFormat::Csv, true);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "Program,gc.time,ns,2000000,3000000,1000000,1.5,worse (too few runs),yes"
        );
        assert!(lines[3].starts_with("Program,c,ns,2000000,,,,only before"));
    }
}
