//! Places in lists and counts as 32 bits, of which there are millions.

use std::sync::atomic::{AtomicU64, Ordering};

static TOO_LARGE: AtomicU64 = AtomicU64::new(0);

/// A place in a list, or how long one is, as 32 bits. No log is known that has more; should
/// one have, the number is the greatest that there is, and [`too_large`] tells.
#[must_use]
pub fn place32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or_else(|_| saturate())
}

#[cold]
fn saturate() -> u32 {
    TOO_LARGE.fetch_add(1, Ordering::Relaxed);
    u32::MAX
}

/// How many places were too large for [`place32`] since the program began.
#[must_use]
pub fn too_large() -> u64 {
    TOO_LARGE.load(Ordering::Relaxed)
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_32_bits_are_told() {
        assert_eq!(place32(u32::MAX as usize), u32::MAX);
        let before = too_large();
        assert_eq!(place32(1 << 32), u32::MAX);
        assert!(too_large() > before);
    }
}
