//! Number formatting, the same in the window, on the command line and in tests. A no-break space separates a
//! number from its unit.

use std::borrow::Cow;

use crate::time::Interval;
use eventlog::ids::{Duration, Nanos};
pub use eventlog::quantity::count;
use eventlog::quantity::write_size;

/// No-break space.
pub const NBSP: char = '\u{a0}';

/// Text for an undefined value, such as a share of nothing.
pub const NO_VALUE: &str = "–";

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Abbreviation.
    pub name: &'static str,
    /// Length in nanoseconds, a power of ten.
    pub length: u64,
}

const UNITS: [Unit; 4] = [
    Unit {
        name: "ns",
        length: 1,
    },
    Unit {
        name: "µs",
        length: 1_000,
    },
    Unit {
        name: "ms",
        length: 1_000_000,
    },
    Unit {
        name: "s",
        length: 1_000_000_000,
    },
];

impl Unit {
    /// Returns the longest unit that is not longer than `time`, at least nanoseconds.
    pub fn for_duration(time: Duration) -> Self {
        let fitting = UNITS.into_iter().rfind(|unit| unit.length <= time.0);
        fitting.unwrap_or(UNITS[0])
    }

    /// Returns the next longer unit.
    pub fn next(self) -> Option<Self> {
        UNITS.into_iter().find(|unit| unit.length > self.length)
    }

    /// Returns the number of decimals that make multiples of `step` exact in this unit; at most 9.
    pub fn decimals(self, step: Duration) -> u32 {
        let exact =
            |decimals: &u32| scaled(step.0, *decimals, 1).is_multiple_of(self.length.into());
        (0..9).find(exact).unwrap_or(9)
    }

    /// Formats `time` in this unit, with the decimals that `step` needs.
    pub fn label(self, time: Duration, step: Duration) -> String {
        let decimals = self.decimals(step);
        let digits = scaled(time.0, decimals, self.length);
        format!("{}{NBSP}{}", fixed(digits, decimals), self.name)
    }
}

/// `value * 10^decimals / unit`, rounded.
fn scaled(value: u64, decimals: u32, unit: u64) -> u128 {
    let unit = u128::from(unit);
    (u128::from(value) * 10_u128.pow(decimals) + unit / 2) / unit
}

/// Formats `digits / 10^decimals` with a decimal point.
fn fixed(digits: u128, decimals: u32) -> String {
    let scale = 10_u128.pow(decimals);
    match decimals {
        0 => digits.to_string(),
        _ => format!(
            "{}.{:0width$}",
            digits / scale,
            digits % scale,
            width = decimals as usize
        ),
    }
}

/// Formats a duration in nanoseconds; see [`duration`].
pub fn duration_ns(ns: u64) -> String {
    duration(Duration(ns))
}

/// Formats a duration with three significant digits, four if the first is a 1: `51 ns`, `6.10 µs`, `1.284 ms`,
/// `20.5 ms`; from a minute on `2 min 05 s`, `3 h 20 min`, `2 d 04 h`.
///
/// A value that would round up to the next unit is written in that unit.
pub fn duration(time: Duration) -> String {
    const SECOND: u64 = 1_000_000_000;
    UNITS
        .into_iter()
        .find_map(|unit| short_duration(time, unit))
        .unwrap_or_else(|| {
            long_duration((time.0 / SECOND) + u64::from(time.0 % SECOND >= SECOND / 2))
        })
}

/// Formats a duration in `unit`; `None` if it has more than three digits before the point, or reaches a minute.
fn short_duration(time: Duration, unit: Unit) -> Option<String> {
    // Limiting the digits to below 2000 allows a fourth digit only after a leading 1; the relative error stays
    // below about 1/2000.
    let most = if unit.length == 1 { 0 } else { 3 };
    let limit = if unit.name == "s" { 60 } else { 1000 };
    (0..=most).rev().find_map(|decimals| {
        let digits = scaled(time.0, decimals, unit.length);
        let fits = digits < 2000 && digits < limit * 10_u128.pow(decimals);
        fits.then(|| format!("{}{NBSP}{}", fixed(digits, decimals), unit.name))
    })
}

fn long_duration(seconds: u64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (upper, unit, lower, lower_unit) = match hours {
        0 => (minutes, "min", seconds % 60, "s"),
        1..24 => (hours, "h", minutes % 60, "min"),
        _ => (hours / 24, "d", hours % 24, "h"),
    };
    format!("{upper}{NBSP}{unit}{NBSP}{lower:02}{NBSP}{lower_unit}")
}

/// Formats a point in time, to the nanosecond where that is short: `51 ns`, `56.117 ms`, `12.345678 s`.
pub fn time(time: Nanos) -> String {
    let [_, micro, milli, second] = UNITS;
    let (unit, decimals) = match time.0 {
        0..1_000 => return format!("{}{NBSP}ns", time.0),
        1_000..1_000_000 => (micro, 3),
        1_000_000..1_000_000_000 => (milli, 3),
        _ => (second, 6),
    };
    let digits = scaled(time.0, decimals, unit.length);
    format!("{}{NBSP}{}", fixed(digits, decimals), unit.name)
}

/// Formats an interval with its length: `51.2 ms – 59.6 ms (8.40 ms)`.
pub fn range(range: Interval) -> String {
    let [from, to] = [range.start(), range.end()].map(time);
    format!("{from} – {to} ({})", duration(range.duration()))
}

/// Formats a count where there is little room; from a million on in millions: `14.3 M`.
pub fn short_count(number: u64) -> String {
    const MILLION: u64 = 1_000_000;
    if number < MILLION {
        return count(number);
    }
    let millions = number as f64 / MILLION as f64;
    let decimals = if millions < 100.0 { 1 } else { 0 };
    format!("{millions:.decimals$}\u{a0}M")
}

/// Formats a count with its noun, in the plural if necessary: `1 track`, `1,200 capabilities`.
pub fn pluralize(number: u64, what: &str) -> String {
    let number_text = count(number);
    match what.strip_suffix('y') {
        _ if number == 1 => format!("1 {what}"),
        Some(stem) => format!("{number_text} {stem}ies"),
        None if what.ends_with('s') => format!("{number_text} {what}es"),
        None => format!("{number_text} {what}s"),
    }
}

/// Formats a share from 0 to 1 as a percentage.
pub fn fraction(share: f64) -> String {
    percent((share.clamp(0.0, 1.0) * 1e9) as u64, 1_000_000_000)
}

/// Formats a time for an axis with ticks every `step`, precise enough that neighbors differ: `56.117 ms` for a
/// step of 1 µs, `56 ms` for 2 ms.
///
/// With a `base`, formats the offset from it: `+200 ns`; the base itself is written as without one.
pub fn axis_label(time: Nanos, step: Duration, base: Option<Nanos>) -> String {
    match base {
        Some(base) if base != time => {
            let sign = if time > base { '+' } else { '−' };
            let offset = Duration(time.0.abs_diff(base.0));
            format!("{sign}{}", Unit::for_duration(step).label(offset, step))
        }
        _ => {
            let time = Duration(time.0);
            Unit::for_duration(time.max(step)).label(time, step)
        }
    }
}

/// Formats a size in binary units: `512 B`, `1.5 MiB`, `153 GiB`.
pub fn bytes(size: u64) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_size(&mut text, size, NBSP);
    text
}

/// Formats a share with one decimal: `61.0 %`. `0 %` and `100 %` are exact; values close to them are `<0.1 %` and
/// `>99.9 %`. A share of nothing is a dash.
pub fn percent(part: u64, whole: u64) -> String {
    share(part, whole, 1)
}

/// Formats a share without decimals: `7 %`, `<1 %`, `>99 %`.
pub fn percent_short(part: u64, whole: u64) -> String {
    share(part, whole, 0)
}

fn share(part: u64, whole: u64, decimals: u32) -> String {
    let hundred = 100 * 10_u128.pow(decimals);
    let scaled_part = u128::from(part) * hundred;
    let (whole, half) = (u128::from(whole), u128::from(whole) / 2);
    let digits = match whole {
        0 => return NO_VALUE.to_owned(),
        _ => (scaled_part + half) / whole,
    };
    let number = if part == 0 || u128::from(part) == whole {
        (digits / 10_u128.pow(decimals)).to_string()
    } else if scaled_part < whole {
        format!("<{}", fixed(1, decimals))
    } else if digits == hundred && u128::from(part) < whole {
        format!(">{}", fixed(hundred - 1, decimals))
    } else {
        fixed(digits, decimals)
    };
    format!("{number}{NBSP}%")
}

/// Formats bytes per second: `1.5 MiB/s`. A dash for zero time.
pub fn byte_rate(size: u64, time: Duration) -> String {
    match per_second(size, time, 1) {
        Some(rate) => format!("{}/s", bytes(rate)),
        None => NO_VALUE.to_owned(),
    }
}

/// Formats a rate in the shortest unit of time for which it is at least 1: `1.40 per µs`, `312 per s`. A dash for
/// zero time.
pub fn rate(number: u64, time: Duration) -> String {
    if time.0 == 0 {
        return NO_VALUE.to_owned();
    }
    let per = |unit: &Unit| number as f64 * unit.length as f64 / time.0 as f64;
    let unit = UNITS.into_iter().find(|unit| per(unit) >= 1.0);
    let unit = unit.unwrap_or(UNITS[UNITS.len() - 1]);
    let rate = per(&unit);
    let number = match rate {
        0.0..10.0 => format!("{rate:.2}"),
        10.0..100.0 => format!("{rate:.1}"),
        _ => count(rate.round() as u64),
    };
    format!("{number}{NBSP}per{NBSP}{}", unit.name)
}

/// `number * factor` per second, rounded; `None` for zero time.
fn per_second(number: u64, time: Duration, factor: u128) -> Option<u64> {
    let time = u128::from(time.0);
    let scaled = u128::from(number) * factor * 1_000_000_000 + time / 2;
    let rate = scaled.checked_div(time)?;
    Some(rate.try_into().unwrap_or(u64::MAX))
}

/// Fewest characters that are worth showing next to the ellipsis.
const FEWEST_CHARS: usize = 3;

/// Shortens a text to `max_width` by replacing its middle with `…`; returns an empty text if not even three
/// characters fit.
///
/// `measure` returns the width of a text in the same unit, and is called about log2 of the length times.
pub fn truncate_middle<'a>(
    text: &'a str,
    max_width: f64,
    mut measure: impl FnMut(&str) -> f64,
) -> Cow<'a, str> {
    let mut fits = |text: &str| measure(text) <= max_width;
    if fits(text) {
        return Cow::Borrowed(text);
    }
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let kept = |chars: usize| {
        let head = starts[chars.div_ceil(2)];
        let tail = starts[starts.len() - chars / 2..].first();
        format!("{}…{}", &text[..head], tail.map_or("", |&at| &text[at..]))
    };
    // Invariant: `few` characters fit, `pluralize` do not.
    let (mut few, mut many) = (FEWEST_CHARS, starts.len());
    if few >= many || !fits(&kept(few)) {
        return Cow::Borrowed("");
    }
    while many - few > 1 {
        let middle = usize::midpoint(few, many);
        if fits(&kept(middle)) {
            few = middle;
        } else {
            many = middle;
        }
    }
    Cow::Owned(kept(few))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Replaces no-break spaces by plain ones, for readable tests.
    fn plain(text: &str) -> String {
        assert!(!text.contains(' '), "{text}");
        text.replace(NBSP, " ")
    }

    #[test]
    fn durations() {
        let cases = [
            (0, "0 ns"),
            (51, "51 ns"),
            (999, "999 ns"),
            (1_000, "1.000 µs"),
            (6_100, "6.10 µs"),
            (611_432, "611 µs"),
            (999_499, "999 µs"),
            (999_500, "1.000 ms"),
            (1_284_000, "1.284 ms"),
            (1_999_499, "1.999 ms"),
            (1_999_500, "2.00 ms"),
            (9_995_000, "10.00 ms"),
            (10_090_000, "10.09 ms"),
            (20_510_000, "20.5 ms"),
            (199_960_000, "200 ms"),
            (999_700_000, "1.000 s"),
            (1_200_000_000, "1.200 s"),
            (59_940_000_000, "59.9 s"),
            (59_960_000_000, "1 min 00 s"),
            (125_000_000_000, "2 min 05 s"),
            (3_599_600_000_000, "1 h 00 min"),
            (12_000_000_000_000, "3 h 20 min"),
            (187_200_000_000_000, "2 d 04 h"),
            (u64::MAX, "213503 d 23 h"),
        ];
        for (time, text) in cases {
            assert_eq!(plain(&duration(Duration(time))), text);
        }
    }

    #[test]
    fn axis_labels() {
        let cases = [
            (56_117_000, 1_000, None, "56.117 ms"),
            (56_000_000, 2_000_000, None, "56 ms"),
            (1_500_000_000, 500_000_000, None, "1.5 s"),
            (0, 2_000_000, None, "0 ms"),
            (125_000_000_000, 5_000_000_000, None, "125 s"),
            (12_345_678_901, 1, None, "12.345678901 s"),
            (56_117_200, 100, Some(56_117_000), "+200 ns"),
            (56_116_900, 100, Some(56_117_000), "−100 ns"),
            (56_117_000, 1_000, Some(56_117_000), "56.117 ms"),
            (7, 0, None, "7 ns"),
        ];
        for (time, step, base, text) in cases {
            let label = axis_label(Nanos(time), Duration(step), base.map(Nanos));
            assert_eq!(plain(&label), text);
        }
    }

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_572_864, "1.5 MiB"),
            (102_297, "99.9 KiB"),
            (102_400, "100 KiB"),
            (1_048_575, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (size, text) in cases {
            assert_eq!(plain(&bytes(size)), text);
        }
    }

    #[test]
    fn counts_and_rates() {
        let short = [999_999, 14_276_407, 250_400_000].map(short_count);
        assert_eq!(short, ["999,999", "14.3\u{a0}M", "250\u{a0}M"]);
        assert_eq!(pluralize(2, "census"), "2 censuses");
        assert_eq!(pluralize(1, "capability"), "1 capability");
        assert_eq!(pluralize(1_200, "capability"), "1,200 capabilities");
        assert_eq!(pluralize(0, "track"), "0 tracks");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(70_563_516), "70,563,516");
        let second = Duration(1_000_000_000);
        assert_eq!(plain(&byte_rate(1_572_864, second)), "1.5 MiB/s");
        assert_eq!(byte_rate(1, Duration::ZERO), NO_VALUE);
        assert_eq!(plain(&rate(312, Duration(223_000))), "1.40 per µs");
        assert_eq!(plain(&rate(312, second)), "312 per s");
        assert_eq!(plain(&rate(54_358, second)), "54.4 per ms");
        assert_eq!(plain(&rate(1, Duration(20_000_000_000))), "0.05 per s");
        assert_eq!(rate(1, Duration::ZERO), NO_VALUE);
    }

    #[test]
    fn shares() {
        let cases = [
            (610, 1000, "61.0 %", "61 %"),
            (0, 5, "0 %", "0 %"),
            (5, 5, "100 %", "100 %"),
            (1, 1_000_000, "<0.1 %", "<1 %"),
            (999_999, 1_000_000, ">99.9 %", ">99 %"),
            (1, 1000, "0.1 %", "<1 %"),
            (5, 2, "250.0 %", "250 %"),
            (
                u64::MAX,
                1,
                "1844674407370955161500.0 %",
                "1844674407370955161500 %",
            ),
        ];
        for (part, whole, long, short) in cases {
            assert_eq!(plain(&percent(part, whole)), long);
            assert_eq!(plain(&percent_short(part, whole)), short);
        }
        assert_eq!(percent(0, 0), NO_VALUE);
    }

    #[test]
    fn truncation() {
        let measure = |text: &str| text.chars().count() as f64;
        let cut = |text, width| truncate_middle(text, width, measure).into_owned();
        assert_eq!(cut("capability", 10.0), "capability");
        assert_eq!(cut("capability", 9.0), "capa…lity");
        assert_eq!(cut("capability", 6.0), "cap…ty");
        assert_eq!(cut("capability", 4.0), "ca…y");
        assert_eq!(cut("capability", 3.0), "");
        assert_eq!(cut("capability", f64::NAN), "");
        assert_eq!(cut("ab", 1.0), "");
        assert_eq!(cut("", 0.0), "");
        assert_eq!(cut("größtmögliche", 6.0), "grö…he");
    }

    proptest! {
        #[test]
        fn durations_have_three_or_four_digits(time in 1_000..59_000_000_000_u64) {
            let text = duration(Duration(time));
            let number = text.split(NBSP).next().unwrap_or_default();
            let digits = number.chars().filter(char::is_ascii_digit).count();
            prop_assert_eq!(digits, if number.starts_with('1') { 4 } else { 3 }, "{}", text);
        }

        #[test]
        fn longer_durations_never_look_shorter(time in any::<u64>(), shift in 0..60_u32) {
            let value = |time: u64| {
                let text = duration(Duration(time));
                text.split(NBSP).collect::<Vec<_>>().chunks(2).map(|pair| {
                    let unit = match pair[1] {
                        "ns" => 1e-9, "µs" => 1e-6, "ms" => 1e-3, "s" => 1.0,
                        "min" => 60.0, "h" => 3600.0, _ => 86400.0,
                    };
                    pair[0].parse::<f64>().unwrap_or(f64::NAN) * unit
                }).sum::<f64>()
            };
            let time = time >> shift;
            let shown = value(time);
            prop_assert!(shown <= value(time.saturating_add(1)) * (1.0 + 1e-12));
            let exact = time as f64 / 1e9;
            prop_assert!((shown - exact).abs() <= exact / 24.0 + 1e-12, "{shown} {exact}");
        }

        #[test]
        fn neighbors_on_an_axis_differ(time in any::<u32>(), step in 1..u64::from(u32::MAX)) {
            let (time, next) = (Nanos(time.into()), Nanos(u64::from(time) + step));
            let step = Duration(step);
            prop_assert_ne!(axis_label(time, step, None), axis_label(next, step, None));
        }

        #[test]
        fn truncated_text_fits(text in any::<String>(), width in -5.0..40.0) {
            let measure = |text: &str| text.len() as f64;
            let cut = truncate_middle(&text, width, measure);
            prop_assert!(cut.is_empty() || measure(&cut) <= width);
            if measure(&text) <= width {
                prop_assert_eq!(&*cut, &*text);
            }
        }
    }
}
