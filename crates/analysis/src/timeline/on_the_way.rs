//! What is known of threads on the way through the log, while their runs are listed. Of
//! millions of threads few are on the way at a time, so that it is kept for those that
//! were met about when these were, from the first thing that is told of one of them to
//! the last run.

use super::threads::{NEVER_NS, Thread, Threads};

/// A thread on the way through the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnTheWay {
    /// When it became ready, if it is; [`NEVER_NS`] if it is not.
    pub(super) ready_since: u64,
    /// For how long some capability had stood by until then.
    pub(super) idle_ns: u64,
    /// The place of its next run in the list of all threads' runs.
    pub(super) next: u32,
}

impl OnTheWay {
    const fn new(thread: Thread) -> Self {
        Self {
            ready_since: NEVER_NS,
            idle_ns: 0,
            next: thread.first,
        }
    }
}

/// So many threads are a page.
const PAGE: usize = 1024;

#[derive(Debug)]
struct Page {
    threads: Vec<OnTheWay>,
    /// How many of their runs are still to be told.
    runs: u64,
}

impl Page {
    fn of(table: &Threads, page: usize) -> Self {
        let mut reader = table.reader();
        let places = page * PAGE..(page + 1) * PAGE;
        let mut runs = 0;
        let threads = places.map_while(|at| {
            let thread = reader.get(u32::try_from(at).ok()?)?;
            runs += u64::from(thread.runs);
            Some(OnTheWay::new(thread))
        });
        Self {
            threads: threads.collect(),
            runs,
        }
    }

    /// Whether nothing of it is of use any more.
    fn is_over(&self) -> bool {
        let is_ready = |thread: &OnTheWay| thread.ready_since != NEVER_NS;
        self.runs == 0 && !self.threads.iter().any(is_ready)
    }
}

/// The threads that are on the way.
#[derive(Debug)]
pub(super) struct AllOnTheWay {
    pages: Vec<Option<Page>>,
}

impl AllOnTheWay {
    /// The log begins: nothing was told of any thread of the table.
    pub(super) fn new(table: &Threads) -> Self {
        let mut pages = Vec::new();
        pages.resize_with(table.len().div_ceil(PAGE), || None);
        Self { pages }
    }

    /// A thread of the table of which something is told.
    #[inline]
    pub(super) fn at_mut(&mut self, table: &Threads, thread: u32) -> Option<&mut OnTheWay> {
        let (page, place) = (thread as usize / PAGE, thread as usize % PAGE);
        let slot = self.pages.get_mut(page)?;
        let page = slot.get_or_insert_with(|| Page::of(table, page));
        page.threads.get_mut(place)
    }

    /// A thread, as far as something was told of it.
    pub(super) fn get(&self, thread: u32) -> Option<OnTheWay> {
        let page = self.pages.get(thread as usize / PAGE)?.as_ref()?;
        page.threads.get(thread as usize % PAGE).copied()
    }

    /// A run of a thread was told.
    #[inline]
    pub(super) fn told_run(&mut self, thread: u32) {
        if let Some(slot) = self.pages.get_mut(thread as usize / PAGE)
            && let Some(page) = slot
        {
            page.runs = page.runs.saturating_sub(1);
            if page.runs == 0 && page.is_over() {
                *slot = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::ThreadId;
    use model::shelf::Shelf;

    #[test]
    fn threads_are_forgotten_behind_their_last_run() {
        let mut table = Threads::default();
        for i in 0..3000 {
            let index = table.index(ThreadId(i + 1));
            table.at_mut(index).expect("a thread").runs = 2;
        }
        table.settle(&Shelf::default());
        let mut all = AllOnTheWay::new(&table);
        for thread in 0..3000 {
            for run in 0..2 {
                let one = all.at_mut(&table, thread).expect("a thread");
                assert_eq!(one.next, 2 * thread + run);
                one.next += 1;
                one.ready_since = if thread == 1500 { 7 } else { NEVER_NS };
                all.told_run(thread);
            }
        }
        let kept: Vec<bool> = all.pages.iter().map(Option::is_some).collect();
        assert_eq!(kept, [false, true, false]);
        assert_eq!(all.get(1500).expect("it is ready").ready_since, 7);
        assert!(all.get(5).is_none() && all.get(9999).is_none());
        // It is woken behind its last run.
        all.at_mut(&table, 5).expect("a thread").ready_since = 9;
        assert_eq!(all.get(5).expect("it is ready").ready_since, 9);
    }
}
