//! Growth of stacks that are already large.
//!
//! A thread that has used up its stack stops with `StackOverflow`, and continues with another chunk of 32 KiB
//! (`-kc`). The event contains the total size of all chunks in words (`tot_stack_size` in `rts/Schedule.c`). Freed
//! chunks are not logged.

use serde::{Deserialize, Serialize};

/// Overflow of a stack that was already large.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DeepStack {
    pub(super) at_ns: u64,
    /// Index of the thread in the store.
    pub(super) thread: u32,
    pub(super) words: u64,
}

impl DeepStack {
    /// Word size of 64-bit machines. On 32-bit machines the result is twice the true size.
    pub(super) const WORD_BYTES: u64 = 8;
    /// Minimum size to be stored; smaller stacks are not unusual.
    const MIN_BYTES: u64 = 1 << 20;

    /// Returns `None` if the stack is not large.
    pub(super) fn new(thread: u32, at_ns: u64, words: u32) -> Option<Self> {
        let words = u64::from(words);
        let is_large = words * Self::WORD_BYTES >= Self::MIN_BYTES;
        is_large.then_some(Self {
            at_ns,
            thread,
            words,
        })
    }
}
