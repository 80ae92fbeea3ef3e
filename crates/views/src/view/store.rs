//! The current view and its history.

use std::rc::Rc;

use super::View;
use super::history::History;

/// Maximum time between two views that only differ in the visible time and share one entry of the browser's
/// history, in milliseconds.
const NAVIGATION_MERGE_MS: f64 = 3_000.0;

/// Effect of a settled view on the browser's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Replaces the current entry.
    Replace,
    /// Adds an entry: the browser's Back button leads to the previous view.
    New,
}

/// The current view and its history.
#[derive(Debug, Default)]
pub struct ViewStore {
    view: Rc<View>,
    history: History<Rc<View>>,
    /// Time of the last settled view that differed from its predecessor only in the visible time, in milliseconds.
    last_navigation_ms: Option<f64>,
}

impl ViewStore {
    /// Returns the current view.
    pub const fn view(&self) -> &Rc<View> {
        &self.view
    }

    /// Replaces the current view; it enters the history once it has settled.
    pub fn set(&mut self, view: View) {
        if *self.view != view {
            self.view = Rc::new(view);
        }
    }

    /// Gives mutable access to the current view, for example while the selected range is being dragged.
    pub fn edit(&mut self) -> &mut View {
        Rc::make_mut(&mut self.view)
    }

    /// Clears the history because another log was opened.
    pub fn restart(&mut self) {
        self.history = History::default();
        self.last_navigation_ms = None;
    }

    /// Records the current view in the history; `now_ms` is the current time.
    pub fn record(&mut self, now_ms: f64) -> Entry {
        let Some(before) = self.history.record(Rc::clone(&self.view)) else {
            return Entry::Replace;
        };
        let elsewhere = View {
            visible: self.view.visible,
            ..View::clone(&before)
        };
        if elsewhere != *self.view {
            self.last_navigation_ms = None;
            return Entry::New;
        }
        let last = self.last_navigation_ms.replace(now_ms);
        match last.filter(|last| now_ms - last <= NAVIGATION_MERGE_MS) {
            Some(_) => Entry::Replace,
            None => Entry::New,
        }
    }

    /// Goes back to the previous view, if there is one.
    pub fn back(&mut self) -> Option<View> {
        self.history.record(Rc::clone(&self.view));
        self.history.back().map(Rc::unwrap_or_clone)
    }

    /// Returns to the view that [`back`](Self::back) left.
    pub fn forward(&mut self) -> Option<View> {
        self.history.forward().map(Rc::unwrap_or_clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::panel::PanelName;
    use eventlog::ids::Nanos;
    use model::time::Interval;

    fn looking(store: &mut ViewStore, at: u64, now_ms: f64) -> Entry {
        store.edit().visible = Some(Interval::new(Nanos(at), Nanos(at + 10)));
        store.record(now_ms)
    }

    #[test]
    fn looking_around_is_one_entry_and_anything_else_its_own() {
        let mut store = ViewStore::default();
        assert_eq!(store.record(0.0), Entry::Replace, "the log was just opened");
        assert_eq!(looking(&mut store, 1, 1_000.0), Entry::New);
        assert_eq!(looking(&mut store, 2, 2_000.0), Entry::Replace);
        assert_eq!(looking(&mut store, 3, 4_900.0), Entry::Replace);
        assert_eq!(looking(&mut store, 4, 9_000.0), Entry::New);
        store.edit().panel = PanelName("flame");
        assert_eq!(store.record(9_100.0), Entry::New);
        assert_eq!(store.record(9_200.0), Entry::Replace, "nothing changed");
        assert_eq!(looking(&mut store, 5, 9_300.0), Entry::New);
    }

    #[test]
    fn every_view_that_settled_is_gone_back_to() {
        let mut store = ViewStore::default();
        store.record(0.0);
        looking(&mut store, 1, 1.0);
        store.edit().panel = PanelName("flame");
        // This one has not settled yet.
        let now = View::clone(store.view());
        let before = store.back().expect("a view");
        assert_eq!(before.panel, PanelName::default());
        assert!(before.visible.is_some());
        store.set(before);
        let first = store.back().expect("a view");
        assert_eq!(first, View::default());
        store.set(first);
        assert_eq!(store.back(), None);
        store.forward();
        assert_eq!(store.forward(), Some(now));
        store.restart();
        assert_eq!(store.back(), None);
    }
}
