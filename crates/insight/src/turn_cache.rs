//! Turns of threads that were read once, for the rules that look at them next.
//!
//! Some twenty rules look at the turns of blocked threads. A turn is unpacked from six columns, which takes longer
//! than what most rules do with it.

use std::cell::RefCell;

use analysis::timeline::turn_list::{TurnList, TurnPosition};
use analysis::timeline::turns::Turn;
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;

/// Turns of one thread in a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedTurns {
    /// Number of the first.
    first: usize,
    count: usize,
    position: TurnPosition,
}

/// Turns by thread, as many as fit.
#[derive(Debug, Default)]
pub(crate) struct TurnCache {
    threads: RefCell<SeededMap<ThreadId, CachedTurns>>,
    turns: RefCell<TurnList>,
}

impl TurnCache {
    /// Of the turns of a busy server, some two million, which is as many as rules look at. Threads beyond are read
    /// again by each rule.
    const MAX_BYTES: usize = 32 << 20;

    /// Returns the turns of a thread with their numbers if they are in the cache.
    pub(crate) fn get(
        &self,
        thread: ThreadId,
    ) -> Option<impl Iterator<Item = (usize, Turn)> + use<'_>> {
        let CachedTurns {
            first,
            count,
            mut position,
        } = self.threads.borrow().get(&thread).copied()?;
        let numbers = first..first + count;
        Some(numbers.map_while(move |number| {
            let turn = self.turns.borrow().read(&mut position)?;
            Some((number, turn))
        }))
    }

    /// Begins to add the turns of a thread.
    pub(crate) fn begin(&self) -> CachedTurns {
        CachedTurns {
            first: 0,
            count: 0,
            position: self.turns.borrow().end(),
        }
    }

    /// Adds the next turn, with its number, to those of a thread; removes all of them if it may not fit.
    pub(crate) fn add(
        &self,
        mut thread: CachedTurns,
        (number, turn): (usize, &Turn),
    ) -> Option<CachedTurns> {
        let mut turns = self.turns.borrow_mut();
        if turns.len_bytes() + TurnList::MAX_TURN_BYTES > Self::MAX_BYTES {
            turns.truncate(thread.position);
            return None;
        }
        turns.push(turn);
        thread.first = number - thread.count;
        thread.count += 1;
        Some(thread)
    }

    /// Ends to add the turns of a thread: the cache has all of them now.
    pub(crate) fn end(&self, thread: ThreadId, turns: CachedTurns) {
        self.threads.borrow_mut().insert(thread, turns);
    }
}
