//! Formatting of the numbers of bands.

use scene::format;
use session::heap::census_range::CensusInfo;
use session::heap::table::BandNumbers;

/// Formats a gain or loss in bytes: `+1.5 MiB`, `−12 B`, `0 B`.
pub fn gained(bytes: i64) -> String {
    let size = format::bytes(bytes.unsigned_abs());
    format!("{}{size}", sign(bytes as f64))
}

const fn sign(number: f64) -> &'static str {
    if number > 0.0 {
        "+"
    } else if number < 0.0 {
        "−"
    } else {
        ""
    }
}

/// Formats a slope: `+1.5 MiB/s`, `−<1 B/s`.
pub fn slope(bytes_per_second: f64) -> String {
    format!("{}{}", sign(bytes_per_second), rate(bytes_per_second.abs()))
}

fn rate(bytes_per_second: f64) -> String {
    if bytes_per_second > 0.0 && bytes_per_second < 1.0 {
        return format!("<{}/s", format::bytes(1));
    }
    // The conversion saturates.
    format!("{}/s", format::bytes(bytes_per_second.round() as u64))
}

/// Formats a fractional number of bytes, rounded.
pub fn about(bytes: f64) -> String {
    format::bytes(bytes.round() as u64)
}

/// Formats an integral over time: `1.5 GiB·s`.
pub fn integral(byte_seconds: f64) -> String {
    let size = format::bytes(byte_seconds.round() as u64);
    format!("{size}·s")
}

/// Formats a coefficient of determination with two digits: `0.98`; values below 1 are never rounded up to 1.
pub fn fit(r2: f64) -> String {
    let hundredths = (r2.clamp(0.0, 1.0) * 100.0).round();
    let at_most = if r2 < 1.0 { 99.0 } else { 100.0 };
    format!("{:.2}", hundredths.min(at_most) / 100.0)
}

/// Describes the growth of a band: `grows by 1.2 MiB/s, steadily (R² 0.98)`. The thresholds of the wording are our
/// choice: the line explains at least nine tenths of the variance, or half.
pub fn growth(numbers: &BandNumbers) -> String {
    let Some((slope, r2)) = numbers.bytes_per_second.zip(numbers.r2) else {
        return match numbers.held {
            0 | 1 => "in one census only: no slope".to_owned(),
            _ if numbers.stddev > 0.0 => "no slope: the censuses have no times".to_owned(),
            _ => "never changes".to_owned(),
        };
    };
    let how = match r2 {
        r2 if r2 >= 0.9 => "steadily",
        r2 if r2 >= 0.5 => "with ups and downs",
        _ => "but with larger ups and downs",
    };
    let verb = if slope < 0.0 { "shrinks" } else { "grows" };
    let rate = rate(slope.abs());
    format!("{verb} by {rate}, {how} (R² {})", fit(r2))
}

/// Formats a census with its number, counted from 1: `census 12 at 1.2 s`.
pub fn census(moment: &CensusInfo) -> String {
    let number = format::count(u64::from(moment.census) + 1);
    match moment.time {
        Some(time) => format!("census {number} at {}", format::time(time)),
        None => format!("census {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;

    #[test]
    fn slopes_and_gains_have_a_sign() {
        let plain = |text: String| text.replace('\u{a0}', " ");
        assert_eq!(plain(slope(1_572_864.0)), "+1.5 MiB/s");
        assert_eq!(plain(slope(-0.2)), "−<1 B/s");
        assert_eq!(plain(slope(0.0)), "0 B/s");
        assert_eq!(plain(gained(-12)), "−12 B");
        assert_eq!(plain(gained(i64::MIN)), "−8.0 EiB");
        assert_eq!(plain(gained(0)), "0 B");
        assert_eq!(plain(integral(2048.4)), "2.0 KiB·s");
        assert_eq!(fit(0.9999), "0.99");
        assert_eq!(fit(1.0), "1.00");
    }

    #[test]
    fn growth_is_a_sentence() {
        let numbers = |bytes_per_second, r2| BandNumbers {
            bytes_per_second,
            r2,
            held: 9,
            ..BandNumbers::default()
        };
        let say = |slope, r2| growth(&numbers(slope, r2)).replace('\u{a0}', " ");
        assert_eq!(
            say(Some(1_258_291.0), Some(0.98)),
            "grows by 1.2 MiB/s, steadily (R² 0.98)"
        );
        assert_eq!(
            say(Some(-2048.0), Some(0.6)),
            "shrinks by 2.0 KiB/s, with ups and downs (R² 0.60)"
        );
        assert_eq!(say(None, None), "never changes");
        assert_eq!(
            growth(&BandNumbers::default()),
            "in one census only: no slope"
        );
        let moment = CensusInfo {
            census: 1_999,
            time: Some(Nanos(1_200_000_000)),
            bytes: 0,
        };
        assert_eq!(
            census(&moment).replace('\u{a0}', " "),
            "census 2,000 at 1.200000 s"
        );
    }
}
