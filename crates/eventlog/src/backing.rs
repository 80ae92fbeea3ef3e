//! Spill storage for data that does not fit in memory.

use std::fmt::Debug;
use std::sync::Arc;

/// Append-only scratch file that only this program uses.
pub trait Backing: Debug + Send + Sync {
    /// Appends `bytes` and returns their offset, or `None` if there is no space left.
    fn append(&self, bytes: &[u8]) -> Option<u64>;
    /// Fills `into` with the bytes from offset `at` on. Returns whether all of them could be read.
    fn read(&self, at: u64, into: &mut [u8]) -> bool;
}

/// Several owners may append to the same file.
impl<B: Backing + ?Sized> Backing for Arc<B> {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        (**self).append(bytes)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> bool {
        (**self).read(at, into)
    }
}
