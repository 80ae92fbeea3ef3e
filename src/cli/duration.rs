//! Parsers for durations and times in options.

/// Hint for a text that is not a time.
const TIME_FORMS: &str =
    "write nanoseconds, or a number with ns, us, ms, s, min or h, such as 1.5s";

/// Parses a number with a unit into nanoseconds; the number may have a sign and decimals.
pub(super) fn nanoseconds(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit_at);
    let unit: i128 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_short = whole.len() <= 15 && decimals.len() <= 9;
    let digits: i128 = format!("{whole}{decimals}").parse().ok()?;
    let places = 10_i128.pow(u32::try_from(decimals.len()).ok().filter(|_| is_short)?);
    Some(sign * digits * unit / places)
}

/// Parses a time on the log's clock: a number with a unit, or in nanoseconds.
pub(super) fn parse_time(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let plain = text.parse().ok();
    let with_unit = || nanoseconds(text).and_then(|ns| u64::try_from(ns).ok());
    plain
        .or_else(with_unit)
        .ok_or_else(|| format!("not a time: {TIME_FORMS}"))
}

/// Parses a duration into seconds: a number with a unit, or in seconds.
pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let plain = text.parse().ok();
    let with_unit = || nanoseconds(text).map(|ns| ns as f64 / 1e9);
    plain.or_else(with_unit).ok_or_else(|| {
        "not a duration: write seconds, or a number with ns, us, ms, s, min or h, such as 250ms"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ns) in [
            ("250us", 250_000),
            ("-1.5ms", -1_500_000),
            ("+2s", 2_000_000_000),
            ("0.000000001s", 1),
            ("1min", 60_000_000_000),
            ("7 ns", 7),
        ] {
            assert_eq!(nanoseconds(text), Some(ns), "{text}");
        }
        for text in [
            "",
            "5",
            "ms",
            "1.2.3s",
            "--1s",
            "1 day",
            "99999999999999999s",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_nanoseconds_or_have_a_unit() {
        for (text, ns) in [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("1s", 1_000_000_000),
            ("10 ms", 10_000_000),
            ("5us", 5_000),
            ("1.5s", 1_500_000_000),
        ] {
            assert_eq!(parse_time(text), Ok(ns), "{text}");
        }
        for text in [
            "",
            "1.5",
            "-1s",
            "soon",
            "1 parsec",
            "18446744073709551616",
            "999999999h",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_need_no_unit() {
        assert_eq!(parse_seconds("1.5"), Ok(1.5));
        assert_eq!(parse_seconds("250 ms"), Ok(0.25));
        assert!(parse_seconds("soon").is_err());
    }
}
