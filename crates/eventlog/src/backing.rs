//! Where bytes go that memory has no room for.

use std::fmt::Debug;
use std::sync::Arc;

/// A file that only this program uses. What is appended never changes.
pub trait Backing: Debug + Send + Sync {
    /// Appends bytes; where they begin. `None` if there is no room.
    fn append(&self, bytes: &[u8]) -> Option<u64>;
    /// Fills `into` with what begins there. Whether all of it could be read.
    fn read(&self, at: u64, into: &mut [u8]) -> bool;
}

/// Several may put something into the same file.
impl<B: Backing + ?Sized> Backing for Arc<B> {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        (**self).append(bytes)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> bool {
        (**self).read(at, into)
    }
}
