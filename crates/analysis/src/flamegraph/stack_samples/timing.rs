//! How long samples without a duration count.

use super::Sample;
use eventlog::ids::{Duration, Nanos};
use model::profile::samples::Samples;
use model::profile::stacks::StackId;
use model::time::Interval;

/// So many gaps tell the median well enough.
const MOST_GAPS: usize = 1 << 20;

/// The median of the gaps between consecutive samples of one thread.
pub(super) fn tick<'a>(
    threads: impl Iterator<Item = &'a Vec<(Nanos, StackId)>>,
) -> Option<Duration> {
    let pairs = threads.flat_map(|samples| samples.windows(2));
    let gaps = pairs.map(|pair| pair[1].0.since(pair[0].0));
    let mut gaps: Vec<Duration> = gaps
        .filter(|gap| *gap > Duration::ZERO)
        .take(MOST_GAPS)
        .collect();
    let middle = gaps.len().checked_sub(1)? / 2;
    Some(*gaps.select_nth_unstable(middle).1)
}

/// The samples of one thread, by time: each counts for a tick.
pub(super) fn of_thread(thread: &[(Nanos, StackId)], tick: Duration) -> Samples {
    let mut samples = Samples::default();
    for &(at, stack) in thread {
        samples.push(Interval::new(at - tick, at), stack);
    }
    samples
}

/// The samples of a capability, by time. Those of different threads that are
/// less than half a tick apart were taken in one tick, which they share.
pub(super) fn of_capability(cap: &[Sample], tick: Duration) -> Samples {
    let mut samples = Samples::default();
    let mut rest = cap;
    while let Some(first) = rest.first() {
        let near = |sample: &Sample| sample.at.since(first.at).0 < tick.0.div_ceil(2);
        // Threads come again in the next tick: that is where one ends.
        let mut count = 1;
        let mut seen = vec![first.thread];
        for sample in rest.iter().skip(1).take_while(|sample| near(sample)) {
            if seen.len() >= MOST_SHARING || seen.contains(&sample.thread) {
                break;
            }
            seen.push(sample.thread);
            count += 1;
        }
        let (together, later) = rest.split_at(count);
        share(&mut samples, together, tick);
        rest = later;
    }
    samples
}

/// So many threads are told apart in one tick.
const MOST_SHARING: usize = 64;

fn share(samples: &mut Samples, together: &[Sample], tick: Duration) {
    let Some(last) = together.last() else { return };
    let end = last.at.0;
    let start = end.saturating_sub(tick.0).max(samples.end().0).min(end);
    let count = together.len() as u64;
    let edge = |part: u64| {
        let offset = u128::from(end - start) * u128::from(part) / u128::from(count);
        Nanos(start + u64::try_from(offset).unwrap_or(u64::MAX))
    };
    for (part, sample) in (0..).zip(together) {
        samples.push(Interval::new(edge(part), edge(part + 1)), sample.stack);
    }
}
