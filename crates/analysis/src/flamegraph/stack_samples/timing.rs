//! Assigns durations to samples that have none.

use super::Sample;
use eventlog::ids::{Duration, Nanos};
use model::profile::samples::Samples;
use model::profile::stacks::StackId;
use model::time::Interval;

/// Limit of gaps considered; enough for a good median.
const MAX_GAPS: usize = 1 << 20;

/// Returns the median gap between successive samples of one thread, among the first [`MAX_GAPS`] nonzero gaps.
pub(super) fn tick<'a>(
    threads: impl Iterator<Item = &'a Vec<(Nanos, StackId)>>,
) -> Option<Duration> {
    let pairs = threads.flat_map(|samples| samples.windows(2));
    let gaps = pairs.map(|pair| pair[1].0.since(pair[0].0));
    let mut gaps: Vec<Duration> = gaps
        .filter(|gap| *gap > Duration::ZERO)
        .take(MAX_GAPS)
        .collect();
    let middle = gaps.len().checked_sub(1)? / 2;
    Some(*gaps.select_nth_unstable(middle).1)
}

/// Converts the samples of one thread, sorted by time: each lasts one tick.
pub(super) fn thread_samples(thread: &[(Nanos, StackId)], tick: Duration) -> Samples {
    let mut samples = Samples::default();
    for &(at, stack) in thread {
        samples.push(Interval::new(at - tick, at), stack);
    }
    samples
}

/// Converts the samples of a capability, sorted by time.
///
/// Samples of different threads less than half a tick apart belong to one tick, which they share.
pub(super) fn capability_samples(cap: &[Sample], tick: Duration) -> Samples {
    let mut samples = Samples::default();
    let mut rest = cap;
    while let Some(first) = rest.first() {
        let near = |sample: &Sample| sample.at.since(first.at).0 < tick.0.div_ceil(2);
        // A thread that occurs again belongs to the next tick.
        let mut count = 1;
        let mut seen = vec![first.thread];
        for sample in rest.iter().skip(1).take_while(|sample| near(sample)) {
            if seen.len() >= MAX_SHARING || seen.contains(&sample.thread) {
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

/// Limit of threads that share a tick.
const MAX_SHARING: usize = 64;

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
