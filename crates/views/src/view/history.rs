//! History of views, for going back and forward.

/// Maximum number of earlier views kept.
const MAX_PAST_VIEWS: usize = 100;

/// History of views: those before and after the current one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History<T> {
    past: Vec<T>,
    future: Vec<T>,
    now: Option<T>,
}

impl<T: Clone + PartialEq> History<T> {
    /// Records a view that has settled and returns the one before it, or `None` if it equals the current view or
    /// is the first one. Clears the forward history, unless the view is the one that [`back`](Self::back) or
    /// [`forward`](Self::forward) led to.
    pub fn record(&mut self, view: T) -> Option<T> {
        if self.now.as_ref() == Some(&view) {
            return None;
        }
        self.future.clear();
        let before = self.now.replace(view)?;
        self.past.push(before.clone());
        if self.past.len() > MAX_PAST_VIEWS {
            self.past.remove(0);
        }
        Some(before)
    }

    /// Goes back to the previous view.
    pub fn back(&mut self) -> Option<T> {
        let view = self.past.pop()?;
        self.future.extend(self.now.replace(view.clone()));
        Some(view)
    }

    /// Returns to the view that [`back`](Self::back) left.
    pub fn forward(&mut self) -> Option<T> {
        let view = self.future.pop()?;
        self.past.extend(self.now.replace(view.clone()));
        Some(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_back_and_forth() {
        let mut history = History::default();
        assert_eq!(history.back(), None);
        for view in [1, 1, 2, 3] {
            history.record(view);
        }
        assert_eq!(history.back(), Some(2));
        history.record(2);
        assert_eq!(history.back(), Some(1));
        assert_eq!(history.back(), None);
        assert_eq!(history.forward(), Some(2));
        assert_eq!(history.forward(), Some(3));
        assert_eq!(history.forward(), None);
        assert_eq!(history.back(), Some(2));
        history.record(9);
        assert_eq!(history.forward(), None);
        assert_eq!(history.back(), Some(2));
    }

    #[test]
    fn forgets_what_is_long_ago() {
        let mut history = History::default();
        for view in 0..500 {
            history.record(view);
        }
        let mut steps = 0;
        while history.back().is_some() {
            steps += 1;
        }
        assert_eq!(steps, MAX_PAST_VIEWS);
    }
}
