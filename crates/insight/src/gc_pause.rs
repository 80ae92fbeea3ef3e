//! Collections with their statistics, as rules look at them.

use crate::finding::{Evidence, Subject, Value};
use analysis::account::pauses::Pause;
use analysis::numbers::Collection;
use analysis::recording::Recording;
use model::time::Interval;

/// Collection: the program is stopped, at first until all capabilities have stopped.
#[derive(Clone, Copy, Debug)]
pub struct GcPause<'a> {
    /// Times of the request, the start and the end.
    pub pause: &'a Pause,
    /// Statistics logged by the runtime, if there are any.
    pub statistics: Option<&'a Collection>,
    /// Whether the oldest generation was collected.
    pub is_major: bool,
    range: Interval,
}

impl GcPause<'_> {
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

/// Returns the collections that begin in a range.
pub(crate) fn gc_pauses_in(log: &Recording, range: Interval) -> Vec<GcPause<'_>> {
    let statistics = log.numbers.collections_with_statistics();
    let pauses = log.store.account().pauses().starting_in(range).iter();
    let gc = |pause| GcPause {
        pause,
        statistics: None,
        is_major: false,
        range,
    };
    let mut gc_pauses: Vec<GcPause<'_>> = pauses.map(gc).collect();
    let mut next = statistics.partition_point(|statistics| statistics.start < range.start());
    for gc in &mut gc_pauses {
        while statistics
            .get(next)
            .is_some_and(|statistics| statistics.start < gc.pause.start)
        {
            next += 1;
        }
        gc.statistics = statistics
            .get(next)
            .filter(|statistics| statistics.start == gc.pause.start);
        let generation = gc.pause.generation;
        gc.is_major = generation.is_some_and(|number| log.numbers.is_oldest(number));
    }
    gc_pauses
}
