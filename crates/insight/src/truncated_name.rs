//! Truncation of names for digests.

/// Maximum number of characters of a name.
const MAX_LETTERS: usize = 120;

/// Truncates a name.
pub(crate) fn truncated_name(text: &str) -> String {
    text.chars().take(MAX_LETTERS).collect()
}
