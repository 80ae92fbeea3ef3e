//! Synthetic values for the legend samples of gauges and merged marks.

/// One mebibyte, the unit of byte gauges.
pub(super) const MIB: f64 = 1_048_576.0;
/// Large values, such as heap sizes.
pub(super) const LEVELS: [f64; 8] = [2.0, 3.0, 3.0, 5.0, 6.0, 6.0, 7.0, 6.0];
/// Values a little below [`LEVELS`].
pub(super) const LOWER: [f64; 8] = [1.5, 2.5, 2.0, 4.0, 5.0, 4.5, 6.0, 4.0];
/// Values further below [`LOWER`].
pub(super) const LOWEST: [f64; 8] = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0];
/// Small values around 1.
pub(super) const FEW: [f64; 8] = [0.0, 0.5, 1.0, 0.5, 0.0, 1.0, 1.5, 0.5];
/// A second series of small values.
pub(super) const SOME: [f64; 8] = [1.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 1.0];

/// Returns a share that oscillates along a row, up to `most`.
pub(super) fn wave(place: f32, most: f32) -> f32 {
    most * (0.55 + 0.45 * (place / 7.0).sin())
}
