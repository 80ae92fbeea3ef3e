//! What the threads of each group waited for in a range of time.

use std::cmp::Reverse;
use std::sync::Arc;

use super::rows::Rows;
use super::store::Store;
use super::threads::Thread;
use super::wait_groups::WaitGroups;
use super::waits::{Wait, WaitSums};
use crate::listen::Listen;
use eventlog::ids::ThreadId;
use model::profile::weights::Weight;
use model::time::Interval;

/// So many threads are named that waited most.
pub(crate) const MOST_NAMED: usize = 64;

/// What threads waited for in a range.
#[derive(Debug)]
pub(crate) struct WaitsIn {
    /// The waits of each group: time and count by kind.
    pub(crate) weights: Vec<[Weight; Wait::KINDS]>,
    /// Those that waited most, the longest first.
    pub(crate) longest: Vec<ThreadId>,
}

impl WaitsIn {
    pub(crate) async fn of(
        store: &Store,
        groups: &WaitGroups,
        range: Option<Interval>,
        listen: &dyn Listen,
    ) -> Self {
        let mut weights = vec![[Weight::default(); Wait::KINDS]; groups.names.len()];
        let mut longest = Rows::new(0..MOST_NAMED as u64);
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
            .waits_in(range, groups.places(store), each, listen)
            .await;
        let longest = longest.finish().into_iter();
        Self {
            weights,
            longest: longest.map(|(.., thread)| thread).collect(),
        }
    }
}

impl Store {
    /// What all threads waited for in a range.
    pub(crate) async fn all_waits_in(
        &self,
        range: Option<Interval>,
        listen: &dyn Listen,
    ) -> Arc<WaitsIn> {
        if let Some(known) = self.waits.get(&range) {
            return known;
        }
        let groups = self.wait_groups();
        let waits = WaitsIn::of(self, groups, range, listen).await;
        let bytes = size_of_val(waits.weights.as_slice()) as u64;
        self.waits.keep(range, Arc::new(waits), bytes)
    }
}
