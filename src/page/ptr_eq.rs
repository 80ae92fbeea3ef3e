//! Values that are handed to components and are large: they are equal if they
//! are the same one, so that no rendering compares what they hold.

use std::ops::Deref;
use std::rc::Rc;

/// A shared value that is equal to itself alone.
#[derive(Debug)]
pub(super) struct PtrEq<T>(Rc<T>);

impl<T> PtrEq<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Rc::new(value))
    }

    /// Another one, made of this.
    pub(super) fn changed(&self, change: impl FnOnce(&mut T)) -> Self
    where
        T: Clone,
    {
        let mut value = T::clone(self);
        change(&mut value);
        Self::new(value)
    }

    /// The value, shared.
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
