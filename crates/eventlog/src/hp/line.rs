//! Parser for a line of a textual heap profile.

use crate::ids::Nanos;
use crate::problem::LineFlaw;
use crate::record::DECADE;

/// Time unit, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit(f64);

impl Unit {
    /// The unit that the runtime writes.
    pub(super) const SECOND: Self = Self(1e9);

    fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"seconds" | b"second" | b"s" => Some(Self::SECOND),
            b"milliseconds" | b"ms" => Some(Self(1e6)),
            b"microseconds" | b"us" => Some(Self(1e3)),
            b"nanoseconds" | b"ns" => Some(Self(1.0)),
            _ => None,
        }
    }
}

/// A parsed line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    Blank,
    /// The text between the outermost quotation marks.
    Job(&'a [u8]),
    Date(&'a [u8]),
    /// `None` for an unknown unit.
    TimeUnit(Option<Unit>),
    /// Whether the unit is bytes.
    ValueUnit(bool),
    /// `None` for an unreadable time.
    Begin(Option<Nanos>),
    End,
    Mark(Option<Nanos>),
    Band(&'a [u8], u64),
}

impl<'a> Line<'a> {
    /// Parses a line, inside or outside a census.
    pub(super) fn parse(line: &'a [u8], in_census: bool, unit: Unit) -> Result<Self, LineFlaw> {
        if line.trim_ascii().is_empty() {
            return Ok(Self::Blank);
        }
        // Inside a census, anything before a tab is a label, even `END_SAMPLE`.
        let keyword = if in_census && line.contains(&b'\t') {
            None
        } else {
            Self::keyword(line.trim_ascii(), unit)
        };
        match keyword {
            Some(line) => Ok(line),
            None if in_census => band(line),
            None => Err(band(line).map_or(LineFlaw::Unknown, |_| LineFlaw::Outside)),
        }
    }

    fn keyword(line: &'a [u8], unit: Unit) -> Option<Self> {
        let end = line.iter().position(u8::is_ascii_whitespace);
        let (word, rest) = line.split_at(end.unwrap_or(line.len()));
        let rest = rest.trim_ascii();
        Some(match word {
            b"JOB" => Self::Job(quoted(rest)),
            b"DATE" => Self::Date(quoted(rest)),
            b"SAMPLE_UNIT" => Self::TimeUnit(Unit::from_name(quoted(rest))),
            b"VALUE_UNIT" => Self::ValueUnit(quoted(rest) == b"bytes"),
            b"BEGIN_SAMPLE" => Self::Begin(time(rest, unit)),
            b"END_SAMPLE" => Self::End,
            b"MARK" => Self::Mark(time(rest, unit)),
            _ => return None,
        })
    }
}

/// Parses a label with its size. Files of other programs, and the examples in GHC's manual, have blanks instead of
/// the tab, and before the label.
fn band(line: &[u8]) -> Result<Line<'_>, LineFlaw> {
    let (label, number) = match memchr::memrchr(b'\t', line) {
        Some(tab) => (&line[..tab], &line[tab + 1..]),
        None => {
            let line = line.trim_ascii();
            let blank = memchr::memrchr(b' ', line).ok_or(LineFlaw::Unknown)?;
            (line[..blank].trim_ascii_end(), &line[blank + 1..])
        }
    };
    let bytes = bytes(number.trim_ascii()).ok_or(LineFlaw::Number)?;
    Ok(Line::Band(label, bytes))
}

/// Strips the outermost quotation marks, if there are any.
fn quoted(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    text.strip_suffix(b"\"").unwrap_or(text)
}

fn text(number: &[u8]) -> Option<&str> {
    std::str::from_utf8(number).ok()
}

/// Whole numbers are parsed exactly, whatever their size.
fn bytes(number: &[u8]) -> Option<u64> {
    let number = text(number)?;
    number.parse().ok().or_else(|| {
        let value = finite(number)?.round();
        // 2⁶⁴, the first value beyond a u64.
        const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
        (0.0..TOO_LARGE).contains(&value).then_some(value as u64)
    })
}

/// Parses a time, which must be less than ten years, as in an eventlog.
fn time(number: &[u8], unit: Unit) -> Option<Nanos> {
    let ns = (finite(text(number)?)? * unit.0).round();
    (0.0..DECADE.0 as f64)
        .contains(&ns)
        .then_some(Nanos(ns as u64))
}

/// Parses a finite number with digits; rejects `inf` and `nan`, which Rust accepts.
fn finite(number: &str) -> Option<f64> {
    let value: f64 = number.parse().ok()?;
    (value.is_finite() && number.contains(|c: char| c.is_ascii_digit())).then_some(value)
}
