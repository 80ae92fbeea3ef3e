//! Values that samples of gauges and of shared pixels show.

/// A mebibyte, for gauges of bytes.
pub(super) const MIB: f64 = 1_048_576.0;
/// Great values.
pub(super) const LEVELS: [f64; 8] = [2.0, 3.0, 3.0, 5.0, 6.0, 6.0, 7.0, 6.0];
/// Values below them.
pub(super) const LOWER: [f64; 8] = [1.5, 2.5, 2.0, 4.0, 5.0, 4.5, 6.0, 4.0];
/// Values below those.
pub(super) const LOWEST: [f64; 8] = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0];
/// Small values.
pub(super) const FEW: [f64; 8] = [0.0, 0.5, 1.0, 0.5, 0.0, 1.0, 1.5, 0.5];
/// Other small values.
pub(super) const SOME: [f64; 8] = [1.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 1.0];

/// A share that goes up and down along a row.
pub(super) fn wave(place: f32, most: f32) -> f32 {
    most * (0.55 + 0.45 * (place / 7.0).sin())
}
