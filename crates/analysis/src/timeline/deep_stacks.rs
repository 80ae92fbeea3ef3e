//! When stacks grew that were large already.
//!
//! A thread that has used up its stack stops with `StackOverflow`, and goes on with another
//! chunk of 32 KiB (`-kc`). The event says how many words all chunks have by then
//! (`tot_stack_size` in `rts/Schedule.c`); that a chunk is given back is not logged.

use serde::{Deserialize, Serialize};

/// A stack that was large already was used up.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DeepStack {
    pub(super) at_ns: u64,
    /// The thread by its number in the store.
    pub(super) thread: u32,
    pub(super) words: u64,
}

impl DeepStack {
    /// The word of the machines that GHC is used on; on others it is half of that.
    pub(super) const WORD_BYTES: u64 = 8;
    /// Smaller ones are nothing out of the ordinary, and not kept.
    const LEAST_BYTES: u64 = 1 << 20;

    /// `None` if it is not large.
    pub(super) fn new(thread: u32, at_ns: u64, words: u32) -> Option<Self> {
        let words = u64::from(words);
        let is_large = words * Self::WORD_BYTES >= Self::LEAST_BYTES;
        is_large.then_some(Self {
            at_ns,
            thread,
            words,
        })
    }
}
