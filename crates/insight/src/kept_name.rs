//! Names as digests keep them.

/// So many letters of a name are kept.
const MOST_LETTERS: usize = 120;

/// A name, as far as it is kept.
pub(crate) fn kept_name(text: &str) -> String {
    text.chars().take(MOST_LETTERS).collect()
}
