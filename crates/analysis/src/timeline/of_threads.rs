//! The threads of a log, listed, and what their lives are looked at with.

use std::sync::Arc;

use super::rows::Rows;
use super::store::{FEW_THREADS, Store};
use super::thread_lane::{ThreadFilter, ThreadLane, ThreadOrder, ThreadRow};
use super::threads::{NEVER_NS, Thread};
use super::turns::{Indexing, TurnIndex};
use crate::listen::{Alone, Listen, at_once};
use eventlog::ids::ThreadId;
use model::lane::BLOCK;

impl Store {
    /// The threads that `filter` lets through, in its order, and how many
    /// there are without its limit.
    pub async fn threads(
        &self,
        filter: &ThreadFilter,
        listen: &dyn Listen,
    ) -> (Vec<ThreadRow>, usize) {
        let by_label = filter.order == ThreadOrder::Label;
        let ranks = by_label.then(|| self.threads.label_ranks());
        let mut found = Rows::new(0..filter.limit as u64);
        let matches = self.threads.matching(&filter.text);
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
            }
            if !matches(&thread) {
                continue;
            }
            let key = match filter.order {
                ThreadOrder::Activity => u64::MAX - thread.run_ns,
                ThreadOrder::FirstRun => self.first_run(&thread),
                ThreadOrder::Id => 0,
                ThreadOrder::Label => {
                    let rank = thread.label.of(ranks.as_deref().unwrap_or_default());
                    rank.map_or(u64::MAX, u64::from)
                }
            };
            found.push((key, thread.id, index));
        }
        let total = usize::try_from(found.total()).unwrap_or(usize::MAX);
        let found = found.finish().into_iter();
        let rows = found.filter_map(|(.., index)| self.threads.get(index));
        let rows = rows.map(|thread| ThreadRow {
            id: thread.id,
            label: self.threads.label(&thread).map(str::to_owned),
            created: thread.created(),
            finished: thread.finished,
            run_ns: thread.run_ns,
            runs: thread.runs,
        });
        (rows.collect(), total)
    }

    /// When a thread first ran; threads that never did come last.
    fn first_run(&self, thread: &Thread) -> u64 {
        if !self.settled || thread.runs == 0 {
            return thread
                .began_ns
                .max(if thread.runs == 0 { NEVER_NS } else { 0 });
        }
        self.run_span(self.thread_run(thread.first as usize)).0
    }

    /// The life of a thread; only once the log is read to its end.
    #[must_use]
    pub fn thread_lane(&self, thread: ThreadId) -> Option<ThreadLane<'_>> {
        let at = self.threads.find(thread)?;
        self.lane_at(at)
    }

    /// The life of the thread of that index.
    pub(crate) fn lane_at(&self, index: u32) -> Option<ThreadLane<'_>> {
        self.life_of(index, self.threads.get(index)?)
    }

    /// The life of a thread that has that index.
    pub(super) fn life_of(&self, index: u32, thread: Thread) -> Option<ThreadLane<'_>> {
        let lane = self.bare_life_of(thread)?;
        if lane.runs() <= BLOCK {
            return Some(lane);
        }
        let kept = self.indexes.get(&index);
        let turns = kept.unwrap_or_else(|| at_once(self.make_index(index, &lane, &Alone)));
        Some(ThreadLane::new(self, thread, Some(turns)))
    }

    /// Makes what the life of a thread is looked at with, if it is not there yet. How many
    /// of its runs had to be read for that.
    pub async fn prepare_life(&self, thread: ThreadId, listen: &dyn Listen) -> usize {
        let index = self.threads.find(thread);
        match index.and_then(|index| Some((index, self.threads.get(index)?))) {
            Some((index, thread)) => self.prepare_life_of(index, thread, listen).await,
            None => 0,
        }
    }

    /// Whether the life of a thread can be looked at without reading all of its runs.
    #[must_use]
    pub fn is_prepared(&self, thread: ThreadId) -> bool {
        let Some(index) = self.threads.find(thread) else {
            return true;
        };
        let thread = self.threads.get(index);
        thread.is_none_or(|thread| thread.runs as usize <= BLOCK)
            || self.indexes.get(&index).is_some()
    }

    /// [`prepare_life`](Self::prepare_life) of a thread that has that index.
    pub(super) async fn prepare_life_of(
        &self,
        index: u32,
        thread: Thread,
        listen: &dyn Listen,
    ) -> usize {
        if thread.runs as usize <= BLOCK || self.indexes.get(&index).is_some() {
            return 0;
        }
        let Some(lane) = self.bare_life_of(thread) else {
            return 0;
        };
        self.make_index(index, &lane, listen).await;
        lane.runs()
    }

    async fn make_index(
        &self,
        index: u32,
        lane: &ThreadLane<'_>,
        listen: &dyn Listen,
    ) -> Arc<TurnIndex> {
        const AT_ONCE: usize = 1024;
        let runs = lane.runs();
        let mut indexing = Indexing::new(runs);
        for first in (0..runs).step_by(AT_ONCE) {
            for turn in lane.turns(first..runs.min(first + AT_ONCE)) {
                indexing.push(&turn);
            }
            listen.listen().await;
        }
        let turns = Arc::new(indexing.finish());
        let bytes = turns.bytes();
        self.indexes.keep(index, turns, bytes)
    }

    /// The life of a thread without an index, for who looks at few of its
    /// turns, or has another index.
    pub(super) fn bare_life_of(&self, thread: Thread) -> Option<ThreadLane<'_>> {
        self.settled.then(|| ThreadLane::new(self, thread, None))
    }
}
