//! Parsing of track names in links: a word, optionally followed by a number.

use crate::link_text;
use eventlog::ids::CapId;

/// Returns the number after a word.
pub(super) fn number<T: TryFrom<u64>>(link: &str, word: &str) -> Option<T> {
    let number = link_text::number(link.strip_prefix(word)?)?;
    T::try_from(number).ok()
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

/// Implements the names in links of a kind with a track for each number, from which `make` creates it: a word and the
/// number.
macro_rules! number_link {
    ($word:literal, $make:expr) => {
        fn link(self, _: &$crate::tracks::LogContents) -> String {
            format!(concat!($word, "{}"), self.0)
        }

        fn parse(link: &str, _: &$crate::tracks::LogContents) -> Option<Self> {
            $crate::tracks::link::number(link, $word).map($make)
        }
    };
}

pub(super) use {number_link, word_link};
