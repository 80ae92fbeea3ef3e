//! Arrows: what woke the thread that is pointed at or selected, and where it
//! moved.

use super::Scene;
use crate::scene::item::Names;
use crate::scene::painter::Painter;

impl<N: Names> Scene<'_, N> {
    /// How the thread came to run.
    pub(super) fn paint_arrows(&self, _painter: &mut impl Painter) {}
}
