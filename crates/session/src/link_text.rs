//! Encoding of texts, numbers and time ranges in links.

use std::fmt::Write as _;

use eventlog::ids::Nanos;
use model::time::Interval;

/// Maximum length of a name, a filter or a search in a link, in bytes.
pub const MAX_TEXT: usize = 200;

/// Units of a range, coarsest first, with their length in nanoseconds.
const UNITS: [(char, u64); 4] = [
    ('s', 1_000_000_000),
    ('m', 1_000_000),
    ('u', 1_000),
    ('n', 1),
];

/// Formats a range in the coarsest unit that is exact.
pub fn write_range(range: Interval) -> Option<String> {
    let (start, duration) = (range.start().0, range.end().0.checked_sub(range.start().0)?);
    let (unit, length) = UNITS
        .into_iter()
        .find(|(_, length)| start % length == 0 && duration % length == 0)?;
    Some(format!("{}{unit}{}", start / length, duration / length))
}

/// Parses a range; a missing start is 0.
pub fn read_range(text: &str) -> Option<Interval> {
    let (at, length) = text.char_indices().find_map(|(at, c)| {
        let (_, length) = UNITS.into_iter().find(|(unit, _)| *unit == c)?;
        Some((at, length))
    })?;
    let start = if at == 0 { 0 } else { number(&text[..at])? };
    let start = start.checked_mul(length)?;
    let duration = number(&text[at + 1..])?.checked_mul(length)?;
    Some(Interval::new(
        Nanos(start),
        Nanos(start.checked_add(duration)?),
    ))
}

/// Parses a number of decimal digits only (`str::parse` would accept a sign).
pub fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Returns the longest prefix of at most `MAX_TEXT` bytes.
pub fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Percent-encodes every byte except the unreserved ones of RFC 3986 (section 2.3), which programs that detect
/// links in text leave alone.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Reverses [`escape`]; returns `None` for an incomplete escape or invalid UTF-8.
pub fn unescape(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut out = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.as_bytes().split_at_checked(2)?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        out.push((digit(0)? * 16 + digit(1)?) as u8);
        out.extend(rest);
    }
    String::from_utf8(out).ok()
}

/// Returns a value unless it is the default.
pub fn unless<T: PartialEq>(value: T, usual: T) -> Option<T> {
    (value != usual).then_some(value)
}

/// Formats a sort column, with its direction unless that is the default.
pub fn order_words(word: &str, descending: bool, usual: bool) -> String {
    let direction = match (descending, usual) {
        (true, false) => ".down",
        (false, true) => ".up",
        _ => "",
    };
    format!("{word}{direction}")
}

/// Parses a column with an optional direction, else that in which a click on the column sorts first. The result is
/// true for a descending order.
pub fn read_order<C: Copy>(
    words: &str,
    from_name: fn(&str) -> Option<C>,
    largest_first: fn(C) -> bool,
) -> Option<(C, bool)> {
    let (name, direction) = words.split_once('.').unwrap_or((words, ""));
    let column = from_name(name)?;
    match direction {
        "" => Some((column, largest_first(column))),
        "up" => Some((column, false)),
        "down" => Some((column, true)),
        _ => None,
    }
}

/// Truncates and escapes a text; returns `None` if it is empty.
pub fn escape_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| escape(cut(text)))
}
