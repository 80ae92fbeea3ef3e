//! List of the threads of a log, and access to their lives with cached indexes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::row_selection::RowSelection;
use super::store::{FEW_THREADS, ReadCursors, Store};
use super::thread_lane::{ThreadLane, ThreadListQuery, ThreadListRow, ThreadOrder};
use super::threads::{NEVER_NS, Reader, Thread};
use super::turns::{TurnIndex, TurnIndexBuilder};
use crate::yielder::{NoYield, Yield, block_on};
use eventlog::ids::ThreadId;
use model::lane::BLOCK;

impl Store {
    /// Returns the threads that match `filter`, in its order, and their number without its limit.
    pub async fn threads(
        &self,
        filter: &ThreadListQuery,
        yielder: &dyn Yield,
    ) -> (Vec<ThreadListRow>, usize) {
        let by_label = filter.order == ThreadOrder::Label;
        let ranks = by_label.then(|| self.threads.label_ranks());
        let mut found = RowSelection::new(filter.limit);
        let matches = self.threads.matching(&filter.text);
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            if !matches(&thread) {
                continue;
            }
            let key = match filter.order {
                ThreadOrder::Activity => u64::MAX - thread.run_ns,
                ThreadOrder::FirstRun => self.first_run(&thread),
                ThreadOrder::Id => 0,
                ThreadOrder::Label => {
                    let rank = thread.label.entry_of(ranks.as_deref().unwrap_or_default());
                    rank.map_or(u64::MAX, u64::from)
                }
            };
            found.push((key, thread.id, index));
        }
        let total = usize::try_from(found.total()).unwrap_or(usize::MAX);
        let found = found.finish().into_iter();
        let rows = found.filter_map(|(.., index)| self.threads.get(index));
        let rows = rows.map(|thread| ThreadListRow {
            id: thread.id,
            label: self.threads.label(&thread).map(str::to_owned),
            created: thread.created(),
            finished: thread.finished,
            run_ns: thread.run_ns,
            runs: thread.runs,
        });
        (rows.collect(), total)
    }

    /// Returns the start of a thread's first run, for sorting; the maximum if it never ran. Until the log has been
    /// read to its end, returns the creation time if that was logged.
    fn first_run(&self, thread: &Thread) -> u64 {
        if !self.is_finished || thread.runs == 0 {
            return thread
                .began_ns
                .max(if thread.runs == 0 { NEVER_NS } else { 0 });
        }
        self.run_span(self.thread_run(thread.first_run as usize)).0
    }

    /// Returns the life of a thread; `None` until the log has been read to its end.
    pub fn thread_lane(&self, thread: ThreadId) -> Option<ThreadLane<'_>> {
        let at = self.threads.find(thread)?;
        self.lane_at(at)
    }

    /// Returns the [place](ThreadLane::place) of a thread, if it is in the log.
    pub fn place_of(&self, thread: ThreadId) -> Option<u32> {
        self.threads.find(thread)
    }

    /// Returns a reader of the lives of many threads.
    pub fn life_reader(&self) -> LifeReader<'_> {
        LifeReader {
            store: self,
            threads: self.threads.reader(),
            cursors: Rc::default(),
        }
    }

    /// Returns the life of a thread, given by index.
    pub(crate) fn lane_at(&self, index: u32) -> Option<ThreadLane<'_>> {
        self.life_of(index, self.threads.get(index)?)
    }

    /// Returns the life of a thread with its index, which is built if necessary.
    pub(super) fn life_of(&self, index: u32, thread: Thread) -> Option<ThreadLane<'_>> {
        let lane = self.bare_life_of(index, thread)?;
        if lane.runs() <= BLOCK {
            return Some(lane);
        }
        let kept = self.indexes.get(&index);
        let turns = kept.unwrap_or_else(|| block_on(self.make_index(index, &lane, &NoYield)));
        Some(ThreadLane::new(self, (index, thread), Some(turns)))
    }

    /// Builds the index of a thread's life, unless it is cached or not needed. Returns the number of runs read for
    /// it.
    pub async fn prepare_life(&self, thread: ThreadId, yielder: &dyn Yield) -> usize {
        let index = self.threads.find(thread);
        match index.and_then(|index| Some((index, self.threads.get(index)?))) {
            Some((index, thread)) => self.prepare_life_of(index, thread, yielder).await,
            None => 0,
        }
    }

    /// Returns whether a thread's life can be queried without reading all of its runs.
    pub fn is_prepared(&self, thread: ThreadId) -> bool {
        let Some(index) = self.threads.find(thread) else {
            return true;
        };
        let thread = self.threads.get(index);
        thread.is_none_or(|thread| thread.runs as usize <= BLOCK)
            || self.indexes.get(&index).is_some()
    }

    /// [`prepare_life`](Self::prepare_life) for a thread with a known index.
    pub(super) async fn prepare_life_of(
        &self,
        index: u32,
        thread: Thread,
        yielder: &dyn Yield,
    ) -> usize {
        if thread.runs as usize <= BLOCK || self.indexes.get(&index).is_some() {
            return 0;
        }
        let Some(lane) = self.bare_life_of(index, thread) else {
            return 0;
        };
        self.make_index(index, &lane, yielder).await;
        lane.runs()
    }

    async fn make_index(
        &self,
        index: u32,
        lane: &ThreadLane<'_>,
        yielder: &dyn Yield,
    ) -> Arc<TurnIndex> {
        const AT_ONCE: usize = 1024;
        let runs = lane.runs();
        let mut builder = TurnIndexBuilder::new(runs);
        for first in (0..runs).step_by(AT_ONCE) {
            for turn in lane.turns(first..runs.min(first + AT_ONCE)) {
                builder.push(&turn);
            }
            yielder.yield_if_due().await;
        }
        let turns = Arc::new(builder.finish());
        let bytes = turns.bytes();
        self.indexes.insert(index, turns, bytes)
    }

    /// Returns the life of a thread without an index, for callers that read only a few turns or have another
    /// index.
    pub(super) fn bare_life_of(&self, index: u32, thread: Thread) -> Option<ThreadLane<'_>> {
        self.is_finished
            .then(|| ThreadLane::new(self, (index, thread), None))
    }

    /// [`bare_life_of`](Self::bare_life_of) one of many threads, whose lives share read cursors.
    pub(super) fn bare_life_with(
        &self,
        (index, thread): (u32, Thread),
        cursors: &Rc<RefCell<ReadCursors>>,
    ) -> Option<ThreadLane<'_>> {
        self.is_finished
            .then(|| ThreadLane::sharing(self, (index, thread), cursors))
    }
}

/// Reader of the lives of many threads, mostly in the order in which they appear. Lives have no index.
#[derive(Debug)]
pub struct LifeReader<'a> {
    store: &'a Store,
    threads: Reader<'a>,
    cursors: Rc<RefCell<ReadCursors>>,
}

impl<'a> LifeReader<'a> {
    /// Returns the life of a thread; `None` until the log has been read to its end.
    pub fn life(&mut self, thread: ThreadId) -> Option<ThreadLane<'a>> {
        let place = self.store.threads.find(thread)?;
        let thread = self.threads.get(place)?;
        self.store.bare_life_with((place, thread), &self.cursors)
    }
}
