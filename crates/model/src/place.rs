//! Places in lists and counts as 32 bits, of which there are millions.

use std::cell::Cell;

thread_local! {
    /// Whether a place was too large since [`watch_places`] began.
    static TOO_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// A place in a list, or how long one is, as 32 bits. No log is known that has more; should
/// one have, the number is the greatest that there is, and [`watch_places`] tells.
#[must_use]
pub fn place32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or_else(|_| saturate())
}

#[cold]
fn saturate() -> u32 {
    TOO_LARGE.set(true);
    u32::MAX
}

/// Does something for one log, and returns whether a place was too large for [`place32`] in it.
/// What other threads do meanwhile, or the same one before and after, does not count.
pub fn watch_places<T>(then: impl FnOnce() -> T) -> (T, bool) {
    let outside = TOO_LARGE.replace(false);
    let result = then();
    (result, TOO_LARGE.replace(outside))
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_32_bits_are_told_where_they_are() {
        assert_eq!(
            watch_places(|| place32(u32::MAX as usize)),
            (u32::MAX, false)
        );
        let (inside, outside) = watch_places(|| watch_places(|| place32(1 << 32)));
        assert_eq!((inside, outside), ((u32::MAX, true), false));
        assert!(!watch_places(|| ()).1);
        assert_eq!(place32(1 << 32), u32::MAX);
        assert!(!watch_places(|| ()).1);
    }
}
