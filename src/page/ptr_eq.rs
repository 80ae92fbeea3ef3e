//! Pointer equality for large component properties, so that rendering never compares their contents.

use std::ops::Deref;
use std::rc::Rc;

/// Shared value that is equal only to clones of itself.
#[derive(Debug)]
pub(super) struct PtrEq<T>(Rc<T>);

impl<T> PtrEq<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Rc::new(value))
    }

    /// Returns a modified copy.
    pub(super) fn changed(&self, change: impl FnOnce(&mut T)) -> Self
    where
        T: Clone,
    {
        let mut value = T::clone(self);
        change(&mut value);
        Self::new(value)
    }

    /// Returns the shared value.
    pub(super) fn shared(&self) -> Rc<T> {
        Rc::clone(&self.0)
    }
}

impl<T> Clone for PtrEq<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> PartialEq for PtrEq<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Default> Default for PtrEq<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for PtrEq<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
