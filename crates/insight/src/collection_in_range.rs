//! Collections with their statistics, as rules look at them.

use crate::finding::{Evidence, Subject, Value};
use analysis::account::pauses::Pause;
use analysis::numbers::Collection;
use analysis::recording::Recording;
use model::sorting::CompactSort;
use model::time::Interval;

/// A [`Pause`] of the program that begins in a range, with its statistics. Its lengths are clipped to the range.
#[derive(Clone, Copy, Debug)]
pub struct CollectionInRange<'a> {
    /// Times of the request, the start and the end.
    pub pause: &'a Pause,
    /// Statistics logged by the runtime, if there are any.
    pub statistics: Option<&'a Collection>,
    /// Whether the oldest generation was collected.
    pub is_major: bool,
    range: Interval,
}

impl CollectionInRange<'_> {
    /// Returns the time from the request to the end, in nanoseconds.
    pub fn all_ns(&self) -> u64 {
        self.pause.span().duration().0
    }

    /// Returns the time until all capabilities had stopped, clipped to the range, in nanoseconds.
    pub fn sync_ns(&self) -> u64 {
        let sync = Interval::new(self.pause.requested, self.pause.start);
        sync.clip(self.range).duration().0
    }

    /// Returns whether the log has a request of the collection. Without one, the time until all capabilities had
    /// stopped is unknown, not 0.
    pub(crate) fn has_request(&self) -> bool {
        let is_told = |statistics: &Collection| statistics.sync_ns.is_some();
        self.pause.requested < self.pause.start || self.statistics.is_some_and(is_told)
    }

    /// Returns the time from start to end of the collection, clipped to the range, in nanoseconds.
    pub fn pause_ns(&self) -> u64 {
        let pause = Interval::new(self.pause.start, self.pause.end);
        pause.clip(self.range).duration().0
    }

    /// Returns the subject of evidence, if the runtime logged the number of the collection.
    pub(crate) fn subject(&self) -> Option<Subject> {
        let statistics = self.statistics?;
        Some(Subject::Collection(statistics.number))
    }

    /// Creates evidence of so many nanoseconds.
    pub(crate) fn evidence(&self, ns: u64) -> Evidence {
        Evidence {
            subjects: self.subject().into_iter().collect(),
            ..Evidence::new(self.pause.span(), Value::Ns(ns))
        }
    }

    /// Returns whether several threads collected.
    pub(crate) fn is_parallel(&self) -> bool {
        self.statistics.is_some_and(Collection::is_parallel)
    }
}

/// Returns the collections that begin in a range, in the order of their starts. Those of several processes may overlap.
pub(crate) fn collections_in(log: &Recording, range: Interval) -> Vec<CollectionInRange<'_>> {
    let all = log.numbers.collections_with_statistics();
    let mut collections: Vec<CollectionInRange<'_>> = Vec::new();
    for (_, pauses) in log.store.account().processes() {
        for pause in pauses.starting_in(range) {
            let next = all.partition_point(|statistics| statistics.end < pause.end);
            let rest = all.get(next..).unwrap_or_default().iter();
            let mut same_end = rest.take_while(|statistics| statistics.end == pause.end);
            let statistics = same_end.find(|statistics| {
                statistics.start == pause.start && statistics.cap == pause.leader
            });
            let generation = pause.generation;
            collections.push(CollectionInRange {
                pause,
                statistics,
                is_major: generation.is_some_and(|number| log.numbers.is_oldest(number)),
                range,
            });
        }
    }
    if !collections.is_sorted_by_key(|gc| gc.pause.start) {
        collections.sort_small_by_key(|gc| (gc.pause.start, gc.pause.end, gc.pause.leader));
    }
    collections
}
