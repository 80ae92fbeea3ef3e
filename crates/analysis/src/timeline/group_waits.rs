//! Wait times of each group of threads in a range of time.

use std::cmp::Reverse;
use std::sync::Arc;

use super::row_selection::RowSelection;
use super::store::Store;
use super::threads::Thread;
use super::wait_groups::WaitGroups;
use super::waits::{WaitKind, WaitSums};
use crate::yielder::Yield;
use eventlog::ids::ThreadId;
use model::profile::weights::Weight;
use model::time::Interval;

/// Number of threads with the longest waits that are listed.
pub(crate) const MAX_NAMED: usize = 64;

/// Waits of threads in a range.
#[derive(Debug)]
pub(crate) struct RangeWaits {
    /// Waits of each group: time and count by kind.
    pub(crate) weights: Vec<[Weight; WaitKind::KINDS]>,
    /// Threads with the longest waits, longest first.
    pub(crate) longest: Vec<ThreadId>,
}

impl RangeWaits {
    pub(crate) async fn compute(
        store: &Store,
        groups: &WaitGroups,
        range: Option<Interval>,
        yielder: &dyn Yield,
    ) -> Self {
        let mut weights = vec![[Weight::default(); WaitKind::KINDS]; groups.names.len()];
        let mut longest = RowSelection::new(MAX_NAMED);
        let each = |place: u32, thread: &Thread, sums: &WaitSums| {
            longest.push((Reverse(sums.all_ns()), place, thread.id));
            let group = groups.group_of(store, place, thread);
            let Some(weights) = group.and_then(|group| weights.get_mut(group)) else {
                return;
            };
            for (weight, (_, amount, count)) in weights.iter_mut().zip(sums.iter()) {
                weight.add(Weight { amount, count });
            }
        };
        store
            .waits_in(range, groups.thread_indexes(store), each, yielder)
            .await;
        let longest = longest.finish().into_iter();
        Self {
            weights,
            longest: longest.map(|(.., thread)| thread).collect(),
        }
    }
}

impl Store {
    /// Returns the waits of all threads in a range, from the cache if possible.
    pub(crate) async fn all_waits_in(
        &self,
        range: Option<Interval>,
        yielder: &dyn Yield,
    ) -> Arc<RangeWaits> {
        if let Some(known) = self.waits.get(&range) {
            return known;
        }
        let groups = self.wait_groups();
        let waits = RangeWaits::compute(self, groups, range, yielder).await;
        let bytes = size_of_val(waits.weights.as_slice()) as u64;
        self.waits.insert(range, Arc::new(waits), bytes)
    }
}
