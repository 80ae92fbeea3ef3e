//! Turns of threads that were read once, for the rules that look at them next.
//!
//! Some twenty rules look at the turns of blocked threads. A turn is unpacked from six columns, which takes longer
//! than what most rules do with it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use analysis::timeline::turns::Turn;
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;

/// Turns of one thread in a range, with the number of the first.
#[derive(Clone, Debug)]
pub(crate) struct CachedTurns {
    pub first: usize,
    pub turns: Rc<[Turn]>,
}

/// Turns by thread, of all threads together not many more than [`MAX_TURNS`](Self::MAX_TURNS).
#[derive(Debug, Default)]
pub(crate) struct TurnCache {
    threads: RefCell<SeededMap<ThreadId, CachedTurns>>,
    /// Number of turns in the cache.
    turns: Cell<usize>,
}

impl TurnCache {
    /// 34 MB, as a turn takes 56 bytes, and more turns than the sample of a large log has. Threads beyond are read
    /// again by each rule.
    const MAX_TURNS: usize = 600_000;

    /// Returns the turns of a thread if they are in the cache.
    pub(crate) fn get(&self, thread: ThreadId) -> Option<CachedTurns> {
        self.threads.borrow().get(&thread).cloned()
    }

    /// Returns how many more turns it takes.
    pub(crate) fn room(&self) -> usize {
        Self::MAX_TURNS.saturating_sub(self.turns.get())
    }

    /// Adds all turns of a thread in the range, of which the first has the number `first`, if there is room.
    pub(crate) fn insert(&self, thread: ThreadId, first: usize, turns: Vec<Turn>) {
        if turns.len() <= self.room() {
            self.turns.update(|all| all + turns.len());
            let turns = turns.into();
            (self.threads.borrow_mut()).insert(thread, CachedTurns { first, turns });
        }
    }
}
