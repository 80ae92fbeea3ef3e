//! Values that a component emits faster than the page renders.

use std::collections::VecDeque;

/// Queue of values that a component has emitted and that have not yet come back in its properties. On a busy
/// machine, the page still renders an earlier text or current row when newer ones have already been emitted.
#[derive(Debug, Default)]
pub(super) struct PendingValues<T>(VecDeque<T>);

impl<T: PartialEq> PendingValues<T> {
    /// Records an emitted value.
    pub(super) fn push(&mut self, value: T) {
        self.0.push_back(value);
    }

    /// Discards all pending values.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the value emitted last.
    pub(super) fn last(&self) -> Option<&T> {
        self.0.back()
    }

    /// Consumes the value that the properties have now. Returns true if it is one of the pending values; it and
    /// all earlier ones are then removed. Otherwise the value has another source, and the queue is emptied.
    pub(super) fn acknowledge(&mut self, value: &T) -> bool {
        let at = self.0.iter().position(|ahead| ahead == value);
        self.0.drain(..at.map_or(self.0.len(), |at| at + 1));
        at.is_some()
    }
}
