//! Axes and paths of small charts.

use std::fmt::Write;

use super::format::NBSP;

/// Returns the ticks of an axis from 0 to at least `max`: 0 and at most `most` multiples of 1, 2 or 5 times a
/// power of ten. The last one is the end of the axis.
pub fn value_ticks(max: f64, most: u32) -> Vec<f64> {
    let max = if max.is_finite() && max > 0.0 {
        max
    } else {
        1.0
    };
    let least = max / f64::from(most.max(1));
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| (max / step).ceil() <= f64::from(most.max(1)));
    let step = step.unwrap_or(max);
    let count = (max / step).ceil().max(1.0) as u32;
    (0..=count).map(|i| step * f64::from(i)).collect()
}

/// Returns ticks like [`value_ticks`], but round in the binary unit of `max`.
pub fn byte_ticks(max: f64, most: u32) -> Vec<f64> {
    let power = (max.max(1.0).log2() / 10.0).floor().min(6.0);
    let unit = 1024_f64.powf(power);
    let ticks = value_ticks(max / unit, most).into_iter();
    ticks.map(|tick| tick * unit).collect()
}

/// Returns ticks like [`value_ticks`], but whole numbers only.
pub fn count_ticks(max: u64, most: u32) -> Vec<f64> {
    let mut ticks = value_ticks(max as f64, most);
    ticks.retain(|tick| tick.fract() == 0.0);
    ticks
}

/// Formats a number for an axis in few characters: `0.5`, `20`, `1.5 k`, `20 M`.
pub fn short(value: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let unit = units.into_iter().find(|&(unit, _)| value >= unit);
    let (unit, name) = unit.unwrap_or((1.0, ""));
    let number = value / unit;
    let rounded = match number {
        _ if number >= 100.0 || number == number.round() => format!("{number:.0}"),
        _ if number >= 1.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    };
    if name.is_empty() {
        rounded
    } else {
        format!("{rounded}{NBSP}{name}")
    }
}

/// Returns the SVG path of a stepped band: the columns between neighboring `edges`, filled from `lower` to
/// `upper`, all in pixels.
pub fn steps(edges: &[f64], lower: &[f64], upper: &[f64]) -> String {
    let columns: Vec<(f64, f64)> = edges.windows(2).map(|edge| (edge[0], edge[1])).collect();
    let mut path = String::new();
    let mut begun = false;
    let mut line = |columns: &mut dyn Iterator<Item = ((f64, f64), &f64)>| {
        for ((from, to), y) in columns {
            let letter = if begun { 'L' } else { 'M' };
            begun = true;
            // Writing to a string cannot fail.
            let _ = write!(path, "{letter}{from:.1} {y:.1}H{to:.1}");
        }
    };
    line(&mut columns.iter().copied().zip(upper));
    let back = columns.iter().zip(lower).rev();
    line(&mut back.map(|(&(from, to), y)| ((to, from), y)));
    if begun {
        path.push('Z');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(value_ticks(7.0, 4), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(value_ticks(0.3, 3), [0.0, 0.1, 0.2, 0.30000000000000004]);
        assert_eq!(value_ticks(1000.0, 2), [0.0, 500.0, 1000.0]);
        assert_eq!(value_ticks(0.0, 4).last(), Some(&1.0));
        assert_eq!(value_ticks(f64::NAN, 4).last(), Some(&1.0));
        assert_eq!(byte_ticks(7.0 * 1024.0, 4).last(), Some(&8192.0));
        assert_eq!(byte_ticks(0.0, 4).last(), Some(&1.0));
        assert_eq!(count_ticks(1, 4), [0.0, 1.0]);
        assert_eq!(count_ticks(3, 4), [0.0, 1.0, 2.0, 3.0]);
        for max in [1e-3, 0.7, 1.0, 9.99, 123.0, 4e9, 1e19] {
            for most in 1..8 {
                let ticks = value_ticks(max, most);
                let last = ticks.last().copied().unwrap_or_default();
                assert!(last >= max * 0.999_999, "{max} {most} {ticks:?}");
                assert!(ticks.len() as u32 <= most + 1, "{max} {most} {ticks:?}");
            }
        }
    }

    #[test]
    fn axis_numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (1.5, "1.5"),
            (20.0, "20"),
            (999.0, "999"),
            (1500.0, "1.5 k"),
            (2e7, "20 M"),
            (1.8e19, "18000000 T"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value).replace(NBSP, " "), text);
        }
    }

    #[test]
    fn a_band_goes_there_and_back() {
        let path = steps(&[0.0, 10.0, 20.0], &[9.0, 8.0], &[1.0, 2.0]);
        assert_eq!(
            path,
            "M0.0 1.0H10.0L10.0 2.0H20.0L20.0 8.0H10.0L10.0 9.0H0.0Z"
        );
        assert_eq!(steps(&[], &[], &[]), "");
    }
}
