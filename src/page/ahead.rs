//! What is done faster than the page renders.

use std::collections::VecDeque;

/// Values that a component has handed on, and that have not come back in its properties yet. On a busy machine the
/// page renders what was typed some letters ago, or the row before the one that the keyboard is on.
#[derive(Debug, Default)]
pub(super) struct Ahead<T>(VecDeque<T>);

impl<T: PartialEq> Ahead<T> {
    /// A value is handed on.
    pub(super) fn push(&mut self, value: T) {
        self.0.push_back(value);
    }

    /// Nothing is awaited any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The value that was handed on last.
    pub(super) fn last(&self) -> Option<&T> {
        self.0.back()
    }

    /// Takes the value that the properties have now. Returns whether it is one that was handed on: it, and all before
    /// it, is awaited no more. Else it comes from elsewhere, and what is awaited will not come.
    pub(super) fn comes_back(&mut self, value: &T) -> bool {
        let at = self.0.iter().position(|ahead| ahead == value);
        self.0.drain(..at.map_or(self.0.len(), |at| at + 1));
        at.is_some()
    }
}
