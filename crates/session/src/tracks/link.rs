//! Parsing of track names in links: a word, optionally followed by a number.

use eventlog::ids::CapId;

/// Returns the number after a word.
pub(super) fn number<T: TryFrom<u64>>(link: &str, word: &str) -> Option<T> {
    let digits = link.strip_prefix(word)?;
    // A signed number would be a second name of the same track.
    digits
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(())?;
    T::try_from(digits.parse().ok()?).ok()
}

/// Returns the capability after a word.
pub(super) fn cap(link: &str, word: &str) -> Option<CapId> {
    number(link, word).map(CapId)
}

/// Implements the names in links of a kind with one track: a word.
macro_rules! word_link {
    ($word:literal) => {
        fn link(self, _: &$crate::tracks::LogContents) -> String {
            $word.to_owned()
        }

        fn parse(link: &str, _: &$crate::tracks::LogContents) -> Option<Self> {
            (link == $word).then_some(Self)
        }
    };
}

/// Implements the names in links of a kind with a track for each capability: a word and the capability.
macro_rules! cap_link {
    ($word:literal) => {
        fn link(self, _: &$crate::tracks::LogContents) -> String {
            format!(concat!($word, "{}"), self.0)
        }

        fn parse(link: &str, _: &$crate::tracks::LogContents) -> Option<Self> {
            $crate::tracks::link::cap(link, $word).map(Self)
        }
    };
}

pub(super) use {cap_link, word_link};
