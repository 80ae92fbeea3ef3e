//! Uniform format of sizes, durations and dates in event descriptions and on the page.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// Formats a number with commas: `70,563,516`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a size in binary units with `space` before the unit: `512 B`, `1.5 MiB`, `153 GiB`.
///
/// # Errors
/// If `out` cannot be written to; a `String` always can.
pub fn write_size(out: &mut impl Write, size: u64, space: char) -> fmt::Result {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size < 1024 {
        return write!(out, "{size}{space}B");
    }
    let size = u128::from(size);
    for (power, name) in (1_u32..).zip(UNITS) {
        let unit = 1_u128 << (10 * power);
        let whole = (size + unit / 2) / unit;
        let tenths = (size * 10 + unit / 2) / unit;
        match (tenths, whole) {
            (..1000, _) => return write!(out, "{}.{}{space}{name}", tenths / 10, tenths % 10),
            (_, ..1024) => return write!(out, "{whole}{space}{name}"),
            _ => {}
        }
    }
    Ok(())
}

/// Displays a number of bytes exactly: `1 byte`, `512 bytes`, `1.2 MiB (1258291 bytes)`. The exact number has no
/// separators, so that a search for it finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCount(pub u64);

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 byte"),
            few @ ..1024 => write!(f, "{few} bytes"),
            many => {
                write_size(f, many, ' ')?;
                write!(f, " ({many} bytes)")
            }
        }
    }
}

/// Displays a duration in the longest unit in which it is a whole number: `10 ms`, `1500 µs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactDuration {
    /// Duration in nanoseconds.
    pub ns: u64,
}

impl fmt::Display for ExactDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
        let whole = |(length, _): &(u64, &str)| self.ns > 0 && self.ns.is_multiple_of(*length);
        let (length, name) = units.into_iter().find(whole).unwrap_or((1, "ns"));
        write!(f, "{} {name}", self.ns / length)
    }
}

/// Wall clock time, displayed in UTC to the nanosecond: `2026-11-20 09:47:03.231095000 UTC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Utc {
    /// Whole seconds since 1970-01-01 00:00 UTC, without leap seconds.
    pub seconds: u64,
    /// Nanoseconds within the second.
    pub nanoseconds: u32,
}

impl Utc {
    /// Converts nanoseconds since 1970-01-01 UTC; `None` for earlier times.
    pub fn from_nanoseconds(ns: i128) -> Option<Self> {
        const SECOND: i128 = 1_000_000_000;
        Some(Self {
            seconds: u64::try_from(ns.div_euclid(SECOND)).ok()?,
            nanoseconds: u32::try_from(ns.rem_euclid(SECOND)).ok()?,
        })
    }

    /// Formats date and time to the millisecond for clocks that are `ahead_minutes` ahead of UTC: `2026-11-20
    /// 09:47:03.231`.
    pub fn clock_text(self, ahead_minutes: i32) -> String {
        let seconds = self
            .seconds
            .saturating_add_signed(i64::from(ahead_minutes) * 60);
        let (year, month, day) = date(seconds / 86_400);
        let second = seconds % 86_400;
        format!(
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:03}",
            second / 3600,
            second / 60 % 60,
            second % 60,
            self.nanoseconds / 1_000_000
        )
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.seconds / 86_400);
        let second = self.seconds % 86_400;
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:09} UTC",
            second / 3600,
            second / 60 % 60,
            second % 60,
            self.nanoseconds
        )
    }
}

/// Converts days since 1970-01-01 to year, month and day in the Gregorian calendar. Years are counted from March,
/// so that the leap day comes last.
fn date(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    /// Days from March 1 of year 0 to 1970-01-01.
    const TO_1970: u64 = 719_468;
    let days = days_since_1970 + TO_1970;
    let day_of_era = days % DAYS_OF_400_YEARS;
    let leap_days = day_of_era / 1460 + day_of_era / 146_096 - day_of_era / 36_524;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, each five months have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = days / DAYS_OF_400_YEARS * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB (1024 bytes)"),
            (1_258_291, "1.2 MiB (1258291 bytes)"),
            (1_048_575, "1.0 MiB (1048575 bytes)"),
            (153 << 30, "153 GiB (164282499072 bytes)"),
            (u64::MAX, "16.0 EiB (18446744073709551615 bytes)"),
        ];
        for (size, text) in cases {
            assert_eq!(ByteCount(size).to_string(), text);
        }
    }

    #[test]
    fn durations() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500_000, "1500 µs"),
            (10_000_000, "10 ms"),
            (60_000_000_000, "60 s"),
        ];
        for (ns, text) in cases {
            assert_eq!(ExactDuration { ns }.to_string(), text);
        }
    }

    /// Compared with `date -u -d @…`.
    #[test]
    fn dates() {
        let cases = [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_795_168_023, "2026-11-20 09:47:03"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ];
        for (seconds, text) in cases {
            let utc = Utc {
                seconds,
                nanoseconds: 7,
            };
            assert_eq!(utc.to_string(), format!("{text}.000000007 UTC"));
        }
        assert_eq!(Utc::from_nanoseconds(-1), None);
        let late = Utc::from_nanoseconds(1_795_168_023_000_000_007).expect("after 1970");
        assert_eq!(late.to_string(), "2026-11-20 09:47:03.000000007 UTC");
        assert_eq!(late.clock_text(0), "2026-11-20 09:47:03.000");
        assert_eq!(late.clock_text(330), "2026-11-20 15:17:03.000");
        assert_eq!(late.clock_text(-600), "2026-11-19 23:47:03.000");
        let far = Utc {
            seconds: u64::MAX,
            nanoseconds: u32::MAX,
        };
        assert!(far.to_string().ends_with("UTC"));
    }
}
