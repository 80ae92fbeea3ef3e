//! Collections that the machine disturbed. Events have no CPU time, but a collection that takes many times as long
//! as others of the same generation that copied as much was not working all that time: its threads waited for a
//! core, or for memory.

use std::collections::BTreeMap;

use crate::context::RuleContext;
use crate::threads::median;
use model::sorting::CompactSort;

/// A pause this many times the usual one is not explained by what is alive, or by cache misses.
const TIMES: u64 = 20;
/// Shorter excesses are ordinary interruptions by the operating system.
const MIN_EXCESS_NS: u64 = 1_000_000;
/// Minimum group size: fewer collections have no meaningful usual pause.
const MIN_GROUP: usize = 10;
/// If a greater share of a group is long, the program has two kinds of collections of that size.
const MAX_SHARE: f64 = 0.10;
/// Smaller sizes are treated as equal: work other than copying takes the time.
const SMALL_BYTES: u64 = 4096;

/// Allocation beyond the allocation areas from which on a collection may walk through new large objects, which it does
/// not copy. The next one does so again, before they are old.
const LARGE_BYTES: u64 = 4_000_000;

/// Collection that took much longer than others that copied as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DisturbedCollection {
    /// Index in [`RuleContext::collections`].
    pub(crate) index: usize,
    /// Length of the pause, in nanoseconds.
    pub(crate) pause_ns: u64,
    /// Median pause of the collections of its size, in nanoseconds.
    pub(crate) usual_ns: u64,
    /// Bytes that it copied.
    pub(crate) copied_bytes: u64,
}

impl DisturbedCollection {
    /// Returns the excess over the usual pause, in nanoseconds.
    pub(crate) const fn excess_ns(&self) -> u64 {
        self.pause_ns.saturating_sub(self.usual_ns)
    }
}

/// Collection: index, pause in nanoseconds, copied bytes.
type PauseMeasurement = (usize, u64, u64);

/// Finds all disturbed collections, by index. Returns none for a log with a heap profile: censuses take longer
/// than collections, and some GHC versions do not log which collections include one.
pub(crate) fn find_disturbed(context: &RuleContext<'_>) -> Vec<DisturbedCollection> {
    let mut by_size: BTreeMap<(Option<u16>, u32, u32), Vec<PauseMeasurement>> = BTreeMap::new();
    if !context.log.heap().is_empty() {
        return Vec::new();
    }
    let areas = { context.allocation_area_bytes() }.saturating_mul(context.caps);
    let mut was_large = false;
    for (index, gc) in context.collections_where(|gc| gc.statistics.is_some()) {
        let Some(statistics) = gc.statistics else {
            continue;
        };
        let is_large = statistics.allocated_bytes >= areas.saturating_add(LARGE_BYTES);
        if std::mem::replace(&mut was_large, is_large) || is_large {
            continue;
        }
        let key = (
            statistics.generation,
            statistics.threads,
            half_octave(statistics.copied_bytes),
        );
        let pause = (index, gc.pause_ns(), statistics.copied_bytes);
        by_size.entry(key).or_default().push(pause);
    }
    let mut found: Vec<DisturbedCollection> = by_size.into_values().flat_map(outliers).collect();
    found.sort_small_by_key(|one| one.index);
    found
}

/// Filters a group of collections of about the same size to those much longer than the median.
fn outliers(group: Vec<PauseMeasurement>) -> Vec<DisturbedCollection> {
    if group.len() < MIN_GROUP {
        return Vec::new();
    }
    let mut pauses: Vec<u64> = group.iter().map(|(_, pause_ns, _)| *pause_ns).collect();
    let usual_ns = median(&mut pauses);
    let most = (group.len() as f64 * MAX_SHARE) as usize;
    let all = group
        .into_iter()
        .map(|(index, pause_ns, copied_bytes)| DisturbedCollection {
            index,
            pause_ns,
            usual_ns,
            copied_bytes,
        });
    let is_long = |one: &DisturbedCollection| {
        one.pause_ns >= usual_ns.max(1).saturating_mul(TIMES) && one.excess_ns() >= MIN_EXCESS_NS
    };
    let found: Vec<DisturbedCollection> = all.filter(is_long).collect();
    if found.len() > most {
        Vec::new()
    } else {
        found
    }
}

/// Returns a key that is equal for most sizes within a factor of √2; sizes near a boundary may still differ.
fn half_octave(bytes: u64) -> u32 {
    ((bytes.max(SMALL_BYTES) as f64).log2() * 2.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(pauses_us: &[u64]) -> Vec<usize> {
        let group = pauses_us.iter().enumerate();
        let group = group.map(|(index, us)| (index, us * 1_000, 5_000));
        outliers(group.collect())
            .iter()
            .map(|one| one.index)
            .collect()
    }

    #[test]
    fn one_of_many_equal_ones_stands_out() {
        let mut pauses = vec![100; 20];
        assert_eq!(indices(&pauses), [0; 0]);
        pauses[7] = 2_000;
        assert_eq!(indices(&pauses), [7]);
        // Nineteen times as long is not enough, nor is an excess below a millisecond.
        pauses[7] = 1_900;
        assert_eq!(indices(&pauses), [0; 0]);
        assert_eq!(indices(&[20, 20, 20, 20, 20, 20, 20, 20, 20, 800]), [0; 0]);
    }

    #[test]
    fn what_is_frequent_or_alone_is_the_programs() {
        let mut pauses = vec![100; 20];
        pauses[..3].fill(5_000);
        assert_eq!(indices(&pauses), [0; 0]);
        assert_eq!(indices(&[100, 100, 100, 5_000]), [0; 0]);
    }

    #[test]
    fn sizes_that_differ_by_half_are_not_compared() {
        assert_eq!(half_octave(0), half_octave(4_096));
        assert_eq!(half_octave(1 << 20), half_octave((1 << 20) * 5 / 4));
        assert_ne!(half_octave(1 << 20), half_octave((1 << 20) * 3 / 2));
    }
}
