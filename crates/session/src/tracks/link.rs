//! Parsing of track names in links: a word, optionally followed by a number.

use eventlog::ids::CapId;

/// Returns the number after a word.
pub(super) fn number(link: &str, word: &str) -> Option<u64> {
    let digits = link.strip_prefix(word)?;
    // A signed number would be a second name of the same track.
    digits
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(())?;
    digits.parse().ok()
}

/// Returns the capability after a word.
pub(super) fn cap(link: &str, word: &str) -> Option<CapId> {
    number(link, word)
        .and_then(|cap| u16::try_from(cap).ok())
        .map(CapId)
}
