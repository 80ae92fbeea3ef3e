//! Turns of threads that were read once, for the rules that look at them next.
//!
//! Some twenty rules look at the turns of blocked threads. A turn is unpacked from six columns, which takes longer
//! than what most rules do with it.

use std::cell::RefCell;

use analysis::timeline::thread_table::TurnVisitor;
use analysis::timeline::turn_list::{TurnList, TurnPosition};
use analysis::timeline::turns::Turn;

/// Turns of one thread in a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedTurns {
    /// Number of the first.
    first: u32,
    count: u32,
    /// Offset of the first in the list of all turns; [`NOT_CACHED`](Self::NOT_CACHED) if the cache does not have them.
    offset: u32,
}

impl CachedTurns {
    const NOT_CACHED: u32 = u32::MAX;

    const NONE: Self = Self {
        first: 0,
        count: 0,
        offset: Self::NOT_CACHED,
    };

    const fn position(self) -> TurnPosition {
        TurnPosition::of_thread(self.offset as usize)
    }
}

/// Turns by thread, as many as fit.
#[derive(Debug, Default)]
pub(crate) struct TurnCache {
    /// By [place](analysis::timeline::thread_lane::ThreadLane::place) of the thread, in pages of [`PAGE`](Self::PAGE):
    /// those without any are empty, as rules may look at few of very many threads.
    threads: RefCell<Vec<Vec<CachedTurns>>>,
    turns: RefCell<TurnList>,
}

impl TurnCache {
    /// Of the turns of a busy server, some two million, which is as many as rules look at. Threads beyond are read
    /// again by each rule.
    const MAX_BYTES: usize = 32 << 20;

    /// Threads per page.
    const PAGE: usize = 256;

    /// Returns the turns of a thread with their numbers if they are in the cache.
    pub(crate) fn get(&self, place: u32) -> Option<impl Iterator<Item = (usize, Turn)> + use<'_>> {
        let threads = self.threads.borrow();
        let page = threads.get(place as usize / Self::PAGE)?;
        let turns = *page.get(place as usize % Self::PAGE)?;
        if turns.offset == CachedTurns::NOT_CACHED {
            return None;
        }
        let mut position = turns.position();
        let numbers = turns.first as usize..turns.first as usize + turns.count as usize;
        Some(numbers.map_while(move |number| {
            let turn = self.turns.borrow().read(&mut position)?;
            Some((number, turn))
        }))
    }

    /// Begins to add the turns of a thread; `None` if the cache is full.
    pub(crate) fn begin(&self) -> Option<CachedTurns> {
        let position = self.turns.borrow_mut().begin_thread();
        let offset = u32::try_from(position.offset()).ok()?;
        Some(CachedTurns {
            offset,
            ..CachedTurns::NONE
        })
    }

    /// Adds the next turn, with its number, to those of a thread; removes all of them if it may not fit.
    pub(crate) fn add(
        &self,
        mut thread: CachedTurns,
        (number, turn): (usize, &Turn),
    ) -> Option<CachedTurns> {
        let mut turns = self.turns.borrow_mut();
        let number = u32::try_from(number).ok();
        let fits = turns.len_bytes() + TurnList::MAX_TURN_BYTES <= Self::MAX_BYTES;
        let Some(number) = number.filter(|_| fits) else {
            turns.truncate(thread.position());
            return None;
        };
        turns.push(turn);
        thread.first = number - thread.count;
        thread.count += 1;
        Some(thread)
    }

    fn is_half_empty(&self) -> bool {
        self.turns.borrow().len_bytes() <= Self::MAX_BYTES / 2
    }

    /// Removes the turns of the thread that were added last.
    fn remove(&self, thread: CachedTurns) {
        self.turns.borrow_mut().truncate(thread.position());
    }

    /// Ends to add the turns of a thread: the cache has all of them now.
    pub(crate) fn end(&self, place: u32, turns: CachedTurns) {
        let (number, place) = (place as usize / Self::PAGE, place as usize % Self::PAGE);
        let mut threads = self.threads.borrow_mut();
        if number >= threads.len() {
            threads.resize_with(number + 1, Vec::new);
        }
        if let Some(page) = threads.get_mut(number) {
            page.resize(Self::PAGE, CachedTurns::NONE);
            page[place] = turns;
        }
    }
}

/// Adds the turns of threads that rules will look at, as they are read for sums.
#[derive(Debug)]
pub(crate) struct TurnCacheFiller<'a> {
    cache: &'a TurnCache,
    /// Those of the current thread; `None` if they do not fit.
    turns: Option<CachedTurns>,
}

impl<'a> TurnCacheFiller<'a> {
    pub(crate) const fn new(cache: &'a TurnCache) -> Self {
        Self { cache, turns: None }
    }
}

impl TurnVisitor for TurnCacheFiller<'_> {
    const VISITS: bool = true;

    fn begin(&mut self) {
        self.turns = self.cache.begin();
    }

    fn turn(&mut self, number: usize, turn: &Turn) {
        let turns = self.turns.take();
        self.turns = turns.and_then(|turns| self.cache.add(turns, (number, turn)));
    }

    fn end(&mut self, place: u32, is_listed: bool) {
        match self.turns.take() {
            // Few rules look at other threads.
            Some(turns) if is_listed || self.cache.is_half_empty() => self.cache.end(place, turns),
            Some(turns) => self.cache.remove(turns),
            None => {}
        }
    }
}
