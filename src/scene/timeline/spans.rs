//! Rows of spans that stand for themselves: collections of the program, phases
//! of the concurrent collector, tasks, blocks, spans that the program announced.

use super::Scene;
use crate::scene::item::Names;
use crate::scene::painter::{Painter, Rect};
use crate::timeline::row::Row;

impl<N: Names> Scene<'_, N> {
    pub(super) fn paint_spans(&self, _row: Row, _area: Rect, _painter: &mut impl Painter) {}
}
