//! Read-ahead for the block index, for drivers with a high cost per read, however short. (A browser takes half a
//! millisecond to read 24 bytes; in that time it also reads half a megabyte.)
//!
//! The position of a marker is known only after the previous one was read. But the runtime's buffers have one size
//! and are written when nearly full, so most markers follow at a regular stride, and several can be fetched at
//! once. Where blocks are small, reading the whole file is faster than jumping through it.

use std::ops::Range;

/// If the mean gap between two reads is smaller than this, the whole file is read.
const DENSE_BYTES: u64 = 512 << 10;
/// Longer jumps count as this length.
const LONGEST_JUMP: u64 = 4 * DENSE_BYTES;
/// Maximum distance of a marker from its predicted position.
const AROUND_BYTES: u64 = 8 << 10;
/// Number of bytes that the indexer reads of each marker.
const MARKER_BYTES: u64 = 24;

/// Predictor for the positions of the next block markers, based on the previous requests.
#[derive(Debug)]
pub struct MarkersAhead {
    len: u64,
    /// Offset of the last request.
    last: u64,
    /// Distance of the last request from the one before it.
    stride: u64,
    /// Whether the previous stride was nearly the same.
    regular: bool,
    /// End of the last read.
    read_to: u64,
    /// Number of bytes skipped between two reads, as an exponential moving average.
    mean_skipped_bytes: u64,
}

impl MarkersAhead {
    /// Creates a predictor for a file of `len` bytes.
    pub const fn new(len: u64) -> Self {
        Self {
            len,
            last: 0,
            stride: 0,
            regular: false,
            read_to: 0,
            mean_skipped_bytes: LONGEST_JUMP,
        }
    }

    /// Records a request at offset `at`.
    pub fn record_request(&mut self, at: u64) {
        let stride = at.saturating_sub(self.last);
        self.regular =
            stride > 4 * AROUND_BYTES && stride.abs_diff(self.stride) <= AROUND_BYTES / 2;
        self.stride = stride;
        self.last = at;
        let mean_skipped_bytes = at.abs_diff(self.read_to).min(LONGEST_JUMP);
        self.mean_skipped_bytes = (3 * self.mean_skipped_bytes + mean_skipped_bytes) / 4;
    }

    /// Records that bytes up to offset `to` were supplied.
    pub const fn record_supply(&mut self, to: u64) {
        self.read_to = to;
    }

    /// Whether blocks are so small that the whole file should be read.
    pub const fn is_dense(&self) -> bool {
        self.mean_skipped_bytes < DENSE_BYTES
    }

    /// Predicts the range of the marker that is `steps` requests ahead; `None` if it is unpredictable or beyond
    /// the end of the file.
    pub fn predict_marker(&self, steps: u64) -> Option<Range<u64>> {
        let at = self.last.checked_add(self.stride.checked_mul(steps)?)?;
        let start = at.saturating_sub(AROUND_BYTES);
        let known = self.regular && start < self.len;
        known.then(|| start..at.saturating_add(AROUND_BYTES).min(self.len))
    }

    /// Whether a marker at offset `at` lies in the range `predict_marker`.
    pub fn is_in(&self, at: u64, place: &Range<u64>) -> bool {
        place.contains(&at) && at.saturating_add(MARKER_BYTES).min(self.len) <= place.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUFFER: u64 = 2 << 20;

    /// Reads markers in sequence and counts those whose position was predicted `ahead` requests before.
    fn found(sizes: &[u64], ahead: u64) -> usize {
        let len = sizes.iter().sum();
        let mut markers = MarkersAhead::new(len);
        let mut places = Vec::new();
        let mut at = 0;
        let mut found = 0;
        for size in sizes {
            found += usize::from(places.iter().any(|place| markers.is_in(at, place)));
            markers.record_request(at);
            markers.record_supply(at + 4096);
            places.extend(markers.predict_marker(ahead));
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
                markers.record_request(at);
                markers.record_supply(at + 24);
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
            markers.record_request(at);
            markers.record_supply((at / page + 1) * page);
            let size = if i < 30 { 2 << 10 } else { BUFFER - 77 };
            at = ((at / page + 1) * page).next_multiple_of(size);
            // The moving average takes a few reads to adapt.
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
                markers.record_request(at);
                markers.record_supply(at);
                if let Some(place) = markers.predict_marker(steps) {
                    prop_assert!(place.start < place.end && place.end <= len);
                }
            }
        }
    }
}
