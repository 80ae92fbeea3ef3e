//! Collections that the machine disturbed: no event has CPU time, but a collection that takes
//! many times as long as others of the same generation that copied as much did not collect
//! meanwhile. Its threads waited for a core, or for memory.

use std::collections::BTreeMap;

use crate::context::RuleContext;

/// So many times the usual pause is no matter of what is alive, or of the cache.
const TIMES: u64 = 20;
/// A shorter excess is one of the operating system's usual interruptions.
const LEAST_EXCESS_NS: u64 = 1_000_000;
/// Fewer collections of a size have no usual pause.
const LEAST: usize = 10;
/// Where more of a size take long, the program has two kinds of them.
const MOST_SHARE: f64 = 0.10;
/// Sizes below are equal: other work than copying takes the time.
const SMALL_BYTES: u64 = 4096;

/// A collection that took much longer than others that copied as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disturbed {
    /// Its place in the scope.
    pub(crate) place: usize,
    /// How long it took, in nanoseconds.
    pub(crate) pause_ns: u64,
    /// How long others of its size took, in nanoseconds: the median.
    pub(crate) usual_ns: u64,
    /// What it copied, in bytes.
    pub(crate) copied_bytes: u64,
}

impl Disturbed {
    /// How much longer than usual it took, in nanoseconds.
    pub(crate) const fn excess_ns(&self) -> u64 {
        self.pause_ns.saturating_sub(self.usual_ns)
    }
}

/// A collection: its place, its pause in nanoseconds, and the bytes that it copied.
type Measured = (usize, u64, u64);

/// All of a scope, by place; none of a log with a heap profile, as censuses take longer than
/// collections, and some GHCs do not say which collections have one.
pub(crate) fn disturbed(context: &RuleContext<'_>) -> Vec<Disturbed> {
    let mut by_size: BTreeMap<(Option<u16>, u32, u32), Vec<Measured>> = BTreeMap::new();
    if !context.log.heap().is_empty() {
        return Vec::new();
    }
    for (place, stop) in context.stops_where(|stop| stop.told.is_some()) {
        let Some(told) = stop.told else { continue };
        let key = (
            told.generation,
            told.threads,
            half_octave(told.copied_bytes),
        );
        let pause = (place, stop.pause_ns(), told.copied_bytes);
        by_size.entry(key).or_default().push(pause);
    }
    let mut found: Vec<Disturbed> = by_size.into_values().flat_map(outliers).collect();
    found.sort_unstable_by_key(|one| one.place);
    found
}

/// Of collections of about the same size, those that took
/// much longer than the others.
fn outliers(group: Vec<Measured>) -> Vec<Disturbed> {
    if group.len() < LEAST {
        return Vec::new();
    }
    let mut pauses: Vec<u64> = group.iter().map(|(_, pause_ns, _)| *pause_ns).collect();
    let middle = pauses.len() / 2;
    let usual_ns = *pauses.select_nth_unstable(middle).1;
    let most = (group.len() as f64 * MOST_SHARE) as usize;
    let all = group
        .into_iter()
        .map(|(place, pause_ns, copied_bytes)| Disturbed {
            place,
            pause_ns,
            usual_ns,
            copied_bytes,
        });
    let is_long = |one: &Disturbed| {
        one.pause_ns >= usual_ns.max(1).saturating_mul(TIMES) && one.excess_ns() >= LEAST_EXCESS_NS
    };
    let found: Vec<Disturbed> = all.filter(is_long).collect();
    if found.len() > most {
        Vec::new()
    } else {
        found
    }
}

/// Equal of sizes that differ by less than the root of two, or by chance a little less.
fn half_octave(bytes: u64) -> u32 {
    ((bytes.max(SMALL_BYTES) as f64).log2() * 2.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(pauses_us: &[u64]) -> Vec<usize> {
        let group = pauses_us.iter().enumerate();
        let group = group.map(|(place, us)| (place, us * 1_000, 5_000));
        outliers(group.collect())
            .iter()
            .map(|one| one.place)
            .collect()
    }

    #[test]
    fn one_of_many_equal_ones_stands_out() {
        let mut pauses = vec![100; 20];
        assert_eq!(places(&pauses), [0; 0]);
        pauses[7] = 2_000;
        assert_eq!(places(&pauses), [7]);
        // Nineteen times as long is not enough, nor is less than a millisecond.
        pauses[7] = 1_900;
        assert_eq!(places(&pauses), [0; 0]);
        assert_eq!(places(&[20, 20, 20, 20, 20, 20, 20, 20, 20, 800]), [0; 0]);
    }

    #[test]
    fn what_is_frequent_or_alone_is_the_programs() {
        let mut pauses = vec![100; 20];
        pauses[..3].fill(5_000);
        assert_eq!(places(&pauses), [0; 0]);
        assert_eq!(places(&[100, 100, 100, 5_000]), [0; 0]);
    }

    #[test]
    fn sizes_that_differ_by_half_are_not_compared() {
        assert_eq!(half_octave(0), half_octave(4_096));
        assert_eq!(half_octave(1 << 20), half_octave((1 << 20) * 5 / 4));
        assert_ne!(half_octave(1 << 20), half_octave((1 << 20) * 3 / 2));
    }
}
