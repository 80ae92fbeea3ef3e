//! Back and forth through what was in view.

/// How many views are remembered.
const KEPT: usize = 100;

/// The views before and after the one that is shown now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History<T> {
    past: Vec<T>,
    future: Vec<T>,
    now: Option<T>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self {
            past: Vec::new(),
            future: Vec::new(),
            now: None,
        }
    }
}

impl<T: Clone + PartialEq> History<T> {
    /// A view has settled. What was forward is forgotten, unless it is the
    /// view that going back or forward led to. Returns the one before it, if
    /// that is another one.
    pub fn settled(&mut self, view: T) -> Option<T> {
        if self.now.as_ref() == Some(&view) {
            return None;
        }
        self.future.clear();
        let before = self.now.replace(view)?;
        self.past.push(before.clone());
        if self.past.len() > KEPT {
            self.past.remove(0);
        }
        Some(before)
    }

    /// The view before this one.
    pub fn back(&mut self) -> Option<T> {
        let view = self.past.pop()?;
        self.future.extend(self.now.replace(view.clone()));
        Some(view)
    }

    /// The view that was left by [`back`](Self::back).
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
            history.settled(view);
        }
        assert_eq!(history.back(), Some(2));
        history.settled(2);
        assert_eq!(history.back(), Some(1));
        assert_eq!(history.back(), None);
        assert_eq!(history.forward(), Some(2));
        assert_eq!(history.forward(), Some(3));
        assert_eq!(history.forward(), None);
        assert_eq!(history.back(), Some(2));
        history.settled(9);
        assert_eq!(history.forward(), None);
        assert_eq!(history.back(), Some(2));
    }

    #[test]
    fn forgets_what_is_long_ago() {
        let mut history = History::default();
        for view in 0..500 {
            history.settled(view);
        }
        let mut steps = 0;
        while history.back().is_some() {
            steps += 1;
        }
        assert_eq!(steps, KEPT);
    }
}
