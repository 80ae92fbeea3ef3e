//! What a driver should read while the index of blocks is made, if each read costs it much,
//! however short it is. (A browser takes half a millisecond to read 24 bytes, in which time it
//! also reads half a megabyte.)
//!
//! Where a marker stands is known only when the one before it was read. But the runtime's
//! buffers have one size and are written when they are nearly full, so that most markers stand
//! where a regular stride leads to: several places can be read at once. And where blocks are
//! small, reading all of the file is faster than jumping through it.

use std::ops::Range;

/// If less is passed over between two reads, on average, all of the file is better read.
const DENSE_BYTES: u64 = 512 << 10;
/// A longer jump counts as one of this length.
const LONGEST_JUMP: u64 = 4 * DENSE_BYTES;
/// How far a marker may stand from where it is looked for.
const AROUND_BYTES: u64 = 8 << 10;
/// Whoever looks for markers wants this many bytes of each.
const MARKER_BYTES: u64 = 24;

/// Where the next block markers probably stand, learned from where the last ones were wanted.
#[derive(Debug)]
pub struct MarkersAhead {
    len: u64,
    /// Where bytes were wanted last.
    last: u64,
    /// How far that was from the place before it.
    stride: u64,
    /// Whether the stride before was nearly the same.
    regular: bool,
    /// Up to where the file was read last.
    read_to: u64,
    /// How many bytes are passed over between two reads: a mean in which newer ones count more.
    passed_over: u64,
}

impl MarkersAhead {
    /// Knows nothing yet of a file of `len` bytes.
    #[must_use]
    pub const fn new(len: u64) -> Self {
        Self {
            len,
            last: 0,
            stride: 0,
            regular: false,
            read_to: 0,
            passed_over: LONGEST_JUMP,
        }
    }

    /// Learns where bytes are wanted now.
    pub fn wanted(&mut self, at: u64) {
        let stride = at.saturating_sub(self.last);
        self.regular =
            stride > 4 * AROUND_BYTES && stride.abs_diff(self.stride) <= AROUND_BYTES / 2;
        self.stride = stride;
        self.last = at;
        let passed_over = at.abs_diff(self.read_to).min(LONGEST_JUMP);
        self.passed_over = (3 * self.passed_over + passed_over) / 4;
    }

    /// Learns up to where bytes were supplied.
    pub const fn supplied(&mut self, to: u64) {
        self.read_to = to;
    }

    /// Whether blocks are so small that the file is better read as a whole.
    #[must_use]
    pub const fn is_dense(&self) -> bool {
        self.passed_over < DENSE_BYTES
    }

    /// Where the marker probably stands that is wanted `steps` after the present one; `None` if
    /// there is no telling, or if that is behind the end.
    #[must_use]
    pub fn place(&self, steps: u64) -> Option<Range<u64>> {
        let at = self.last.checked_add(self.stride.checked_mul(steps)?)?;
        let start = at.saturating_sub(AROUND_BYTES);
        let known = self.regular && start < self.len;
        known.then(|| start..at.saturating_add(AROUND_BYTES).min(self.len))
    }

    /// Whether a marker that begins at `at` is in a place that was read.
    #[must_use]
    pub fn is_in(&self, at: u64, place: &Range<u64>) -> bool {
        place.contains(&at) && at.saturating_add(MARKER_BYTES).min(self.len) <= place.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUFFER: u64 = 2 << 20;

    /// Reads markers one after the other, and tells of how many it was known where they stand,
    /// `ahead` of them.
    fn found(sizes: &[u64], ahead: u64) -> usize {
        let len = sizes.iter().sum();
        let mut markers = MarkersAhead::new(len);
        let mut places = Vec::new();
        let mut at = 0;
        let mut found = 0;
        for size in sizes {
            found += usize::from(places.iter().any(|place| markers.is_in(at, place)));
            markers.wanted(at);
            markers.supplied(at + 4096);
            places.extend(markers.place(ahead));
            at += size;
        }
        found
    }

    #[test]
    fn full_buffers_are_found_ahead() {
        let sizes: Vec<u64> = (0..100).map(|i| BUFFER - 1 - i * 7919 % 200).collect();
        for ahead in 1..24 {
            assert!(found(&sizes, ahead) >= 90 - ahead as usize, "{ahead}");
        }
    }

    #[test]
    fn small_blocks_are_dense_and_large_ones_are_not() {
        for (size, dense) in [(2 << 10, true), (64 << 10, true), (1 << 20, false)] {
            let mut markers = MarkersAhead::new(1 << 30);
            for at in (0..100).map(|i| i * size) {
                markers.wanted(at);
                markers.supplied(at + 24);
            }
            assert_eq!(markers.is_dense(), dense, "{size}");
        }
    }

    #[test]
    fn large_blocks_behind_small_ones_are_noticed_while_all_is_read() {
        let mut markers = MarkersAhead::new(1 << 30);
        let page = 8 << 20;
        let mut at = 0;
        for i in 0..60 {
            markers.wanted(at);
            markers.supplied((at / page + 1) * page);
            let size = if i < 30 { 2 << 10 } else { BUFFER - 77 };
            at = ((at / page + 1) * page).next_multiple_of(size);
            // It takes a few reads to notice.
            if (5..30).contains(&i) || i > 40 {
                assert_eq!(markers.is_dense(), i < 30, "{i}");
            }
        }
    }

    proptest! {
        #[test]
        fn places_lie_in_the_file(len: u64, wanted in prop::collection::vec(any::<u64>(), 0..9), steps: u64) {
            let mut markers = MarkersAhead::new(len);
            for at in wanted {
                markers.wanted(at);
                markers.supplied(at);
                if let Some(place) = markers.place(steps) {
                    prop_assert!(place.start < place.end && place.end <= len);
                }
            }
        }
    }
}
