//! The names of tracks in links: a word, or a word with a number behind it.

use eventlog::ids::CapId;

/// The number behind a word.
pub(super) fn number(link: &str, word: &str) -> Option<u64> {
    let digits = link.strip_prefix(word)?;
    // A sign would be another name of the track.
    digits
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(())?;
    digits.parse().ok()
}

/// The capability behind a word.
pub(super) fn cap(link: &str, word: &str) -> Option<CapId> {
    number(link, word)
        .and_then(|cap| u16::try_from(cap).ok())
        .map(CapId)
}
