//! Order of the rows of the thread table.
//!
//! The sort keys of all threads take as long as all their sums, which is seconds for millions of threads. They are
//! computed once for each order, so that scrolling reads only the visible rows, and step by step: a query that
//! arrives while another one computes the same order continues its work instead of starting from the first thread.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::store::{FEW_THREADS, Store};
use super::thread_table::{PreparedRange, ThreadColumn, ThreadSums, ThreadTableQuery};
use super::threads::Thread;
use crate::yielder::Yield;
use eventlog::ids::ThreadId;
use model::byte_lru::ByteLru;
use model::sorting::rows_in_order;

/// Sort key of a row, with the index of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    value: u64,
    thread: ThreadId,
    index: u32,
}

impl Key {
    /// Encodes missing values such that they come last in both directions.
    fn new(value: Option<u64>, descending: bool, thread: ThreadId, index: u32) -> Self {
        const LAST: u64 = u64::MAX - 1;
        let value = value.map_or(u64::MAX, |value| match value.min(LAST) {
            value if descending => LAST - value,
            value => value,
        });
        Self {
            value,
            thread,
            index,
        }
    }
}

/// Sort keys of the rows of a table, with their sums.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedThreads {
    /// Keys of the rows, in order of thread index.
    keys: Vec<Key>,
    /// Sums over all rows.
    pub(super) all: ThreadSums,
    /// Thread with the longest wait for a capability of all rows.
    pub(super) longest_ready_of: Option<ThreadId>,
    /// Number of threads processed so far.
    processed: u32,
}

impl SortedThreads {
    /// Returns the number of rows.
    pub(super) const fn total(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Returns the thread indexes of the rows at the given positions, in order.
    pub(super) fn rows(&self, wanted: &Range<u64>) -> impl Iterator<Item = u32> {
        let keys = &self.keys;
        let places = rows_in_order(keys.len(), wanted, &mut |a, b| keys[a].cmp(&keys[b]));
        places.into_iter().map(|place| keys[place].index)
    }

    fn push(&mut self, key: Key, sums: &ThreadSums) {
        self.keys.push(key);
        if sums.longest_ready_ns > self.all.longest_ready_ns {
            self.longest_ready_of = Some(key.thread);
        }
        self.all.add(sums);
    }
}

/// Cache of orders by query, disregarding its rows. A clone begins empty.
#[derive(Debug, Default)]
pub(super) struct SortedThreadsCache {
    complete: ByteLru<ThreadTableQuery, SortedThreads>,
    /// Orders that are being computed, while the computations yield. The most recently used one is last.
    begun: Mutex<Vec<(ThreadTableQuery, SortedThreads)>>,
}

impl Clone for SortedThreadsCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl SortedThreadsCache {
    /// Takes what was computed so far.
    fn take(&self, query: &ThreadTableQuery) -> Option<SortedThreads> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let place = begun.iter().position(|(other, _)| other == query)?;
        Some(begun.remove(place).1)
    }

    /// Stores an incomplete order. Two queries that computed the same part keep the longer one.
    fn put_back(&self, query: &ThreadTableQuery, order: SortedThreads) {
        /// Maximum number of incomplete orders: canceled queries leave theirs behind.
        const MAX_BEGUN: usize = 2;
        let other = self.take(query);
        let other = other.filter(|other| other.processed > order.processed);
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.len() >= MAX_BEGUN {
            begun.remove(0);
        }
        begun.push((query.clone(), other.unwrap_or(order)));
    }
}

impl Store {
    /// Returns the order of the rows of a table, from the cache if possible. The log must be read to its end.
    pub(super) async fn thread_order(
        &self,
        query: &ThreadTableQuery,
        yielder: &dyn Yield,
    ) -> Arc<SortedThreads> {
        let query = ThreadTableQuery {
            rows: 0..0,
            ..query.clone()
        };
        let orders = &self.thread_orders;
        if let Some(known) = orders.complete.get(&query) {
            return known;
        }
        let range = PreparedRange::new(self, query.range);
        let by_label = query.sort == ThreadColumn::Label;
        let ranks = by_label.then(|| self.threads.label_ranks());
        let mut only = query.only.clone();
        only.sort_unstable();
        let matches = self.threads.matching(&query.filter);
        let is_row = |thread: &Thread| {
            matches(thread) && (only.is_empty() || only.binary_search(&thread.id).is_ok())
        };
        let mut threads = self.threads.reader();
        loop {
            let mut order = orders.take(&query).unwrap_or_default();
            let end = order.processed.saturating_add(FEW_THREADS);
            while order.processed < end {
                let index = order.processed;
                let Some(thread) = threads.get(index) else {
                    let bytes = size_of_val(order.keys.as_slice()) as u64;
                    return orders.complete.insert(query, Arc::new(order), bytes);
                };
                order.processed += 1;
                if !is_row(&thread) {
                    continue;
                }
                if let Some(sums) = range.sums(self, (index, &thread), yielder).await {
                    let value = match &ranks {
                        Some(ranks) => thread.label.entry_of(ranks).map(u64::from),
                        None => self.value(query.sort, index, &thread, &sums),
                    };
                    let key = Key::new(value, query.descending, thread.id, index);
                    order.push(key, &sums);
                }
            }
            orders.put_back(&query, order);
            yielder.yield_if_due().await;
            if let Some(known) = orders.complete.get(&query) {
                return known;
            }
        }
    }
}
