//! 32-bit indices and counts, which halve the memory of columns with millions of entries.

use std::cell::Cell;

thread_local! {
    /// Whether an index did not fit since the innermost [`watch_saturation`] began.
    static TOO_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Converts an index or a length to 32 bits.
///
/// Saturates at `u32::MAX` and sets the flag that [`watch_saturation`] returns. No known log is that large.
pub fn saturating_u32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or_else(|_| saturate())
}

#[cold]
fn saturate() -> u32 {
    TOO_LARGE.set(true);
    u32::MAX
}

/// Runs `then` for one log, and returns with its result whether [`saturating_u32`] saturated meanwhile.
///
/// Calls nest, and the flag is per thread: other threads, and work before or after, do not count.
pub fn watch_saturation<T>(then: impl FnOnce() -> T) -> (T, bool) {
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
            watch_saturation(|| saturating_u32(u32::MAX as usize)),
            (u32::MAX, false)
        );
        let (inside, outside) = watch_saturation(|| watch_saturation(|| saturating_u32(1 << 32)));
        assert_eq!((inside, outside), ((u32::MAX, true), false));
        assert!(!watch_saturation(|| ()).1);
        assert_eq!(saturating_u32(1 << 32), u32::MAX);
        assert!(!watch_saturation(|| ()).1);
    }
}
