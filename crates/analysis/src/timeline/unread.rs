//! Activity of a log whose events have not been read yet, from its block index: when each block was filled, and
//! its size. Where many bytes were written in a short time, the log is busy.

use std::collections::BTreeMap;

use super::block_lanes::joined;
use eventlog::blocks::BlockIndex;
use eventlog::ids::{CapId, Nanos};
use model::saturating::saturating_u32;
use model::sorting::CompactCollect;
use model::time::Interval;

/// Number of parts the log is divided into to measure its density.
const DENSITY_INTERVALS: u64 = 512;

/// Consecutive blocks of a capability, shown as one mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unread {
    /// Time in which they were filled.
    pub span: Interval,
    /// Number of blocks.
    pub blocks: u32,
    /// Size of the events in bytes. For a partly read block, the rest is estimated from the remaining time, as if
    /// the block had been filled evenly.
    pub bytes: u64,
    /// Density, from 0 to 1: bytes per time. 0.5 is the typical density of the log, the mean weighted by bytes.
    /// With this scale, a few peaks (or the small first block of a log) do not flatten the rest.
    pub density: f64,
}

/// Blocks of a log by capability and time.
#[derive(Debug, Default)]
pub struct UnreadBlocks {
    lanes: BTreeMap<Option<CapId>, CapBlocks>,
    /// Typical bytes per nanosecond of one capability: the mean weighted by bytes.
    usual: f64,
    /// Typical bytes per nanosecond of all capabilities together.
    usual_of_all: f64,
}

/// Blocks of one capability in time order. A block that overlaps the previous one counts from the end of that one.
#[derive(Debug, Default)]
struct CapBlocks {
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// Cumulative sizes, including each block.
    bytes: Vec<u64>,
}

impl CapBlocks {
    fn new(mut blocks: Vec<(u64, u64, u64)>) -> Self {
        blocks.sort_unstable();
        let mut filled = Self::default();
        let (mut last_end, mut sum) = (0, 0u64);
        for (start, end, bytes) in blocks {
            let start = start.max(last_end);
            last_end = end.max(start);
            sum = sum.saturating_add(bytes);
            filled.starts.push(start);
            filled.ends.push(last_end);
            filled.bytes.push(sum);
        }
        filled
    }

    /// Returns the total size of the blocks before a block.
    fn before(&self, block: usize) -> u64 {
        let last = block.checked_sub(1);
        last.and_then(|last| self.bytes.get(last))
            .copied()
            .unwrap_or(0)
    }

    /// Returns the bytes of a block written after a time, assuming that it was filled evenly.
    fn bytes_after(&self, block: usize, from: u64) -> u64 {
        let bytes = self.before(block + 1) - self.before(block);
        let (start, end) = (self.starts[block], self.ends[block]);
        if from <= start {
            return bytes;
        }
        let part = u128::from(bytes) * u128::from(end.saturating_sub(from));
        (part / u128::from(end - start).max(1)) as u64
    }

    /// Emits marks for the blocks in `view`, at most two per bucket: one for all blocks shorter than the bucket,
    /// and one for a longer block.
    fn marks(&self, view: Interval, bucket_ns: u64, mut emit: impl FnMut(Interval, u32, u64)) {
        let (from, to) = (view.start().0, view.end().0);
        let bucket_ns = bucket_ns.max(1);
        let mut next = self
            .ends
            .partition_point(|&end| end <= from)
            .min(self.starts.partition_point(|&start| start < from));
        while let Some(&start) = self.starts.get(next)
            && start < to
        {
            let bucket_end = (start.max(from) / bucket_ns)
                .saturating_add(1)
                .saturating_mul(bucket_ns);
            let behind = self.starts.partition_point(|&start| start < bucket_end);
            let is_long = self.ends[behind - 1] - self.starts[behind - 1] >= bucket_ns;
            let short = behind - usize::from(is_long);
            let mut emit = |blocks: std::ops::Range<usize>| {
                let (first, last) = (blocks.start, blocks.end - 1);
                let bytes = self.before(blocks.end) - self.before(first + 1)
                    + self.bytes_after(first, from);
                let span = (self.starts[first].max(from), self.ends[last]);
                let count = saturating_u32(blocks.len());
                emit(Interval::new(Nanos(span.0), Nanos(span.1)), count, bytes);
            };
            if next < short {
                emit(next..short);
            }
            if is_long {
                emit(short..behind);
            }
            next = behind;
        }
    }
}

/// Returns the bytes per nanosecond of a mark, which counts as at least a bucket long.
fn density(span: Interval, bytes: u64, bucket_ns: u64) -> f64 {
    bytes as f64 / span.duration().0.max(bucket_ns) as f64
}

/// Scales a density to 0 to 1, such that the typical density is 0.5.
fn scale_density(density: f64, usual: f64) -> f64 {
    if density < 2.0 * usual {
        density / (2.0 * usual)
    } else {
        1.0
    }
}

/// Returns the mean of densities, weighted by bytes.
fn mean(parts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let sums = parts.fold((0.0, 0.0), |(all, weighed), (bytes, density)| {
        (all + bytes, weighed + bytes * density)
    });
    if sums.0 > 0.0 { sums.1 / sums.0 } else { 0.0 }
}

impl UnreadBlocks {
    /// Builds the index. A block without an end time is placed at its begin time.
    pub fn new(index: &BlockIndex) -> Self {
        let mut by_cap: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (block, bytes) in joined(index) {
            let end = block.end_time.max(block.begin_time);
            let filled = (block.begin_time.0, end.0, bytes);
            by_cap.entry(block.cap).or_default().push(filled);
        }
        let lanes = by_cap.into_iter();
        let mut all = Self {
            lanes: lanes
                .map(|(cap, blocks)| (cap, CapBlocks::new(blocks)))
                .collect_small(),
            ..Self::default()
        };
        let Some(span) = all.span() else { return all };
        let part_ns = (span.duration().0 / DENSITY_INTERVALS).max(1);
        let mut parts = Vec::new();
        for lane in all.lanes.values() {
            lane.marks(span, part_ns, |span, _, bytes| {
                parts.push((bytes as f64, density(span, bytes, part_ns)));
            });
        }
        all.usual = mean(parts.into_iter());
        let parts = all.sums(span, part_ns).into_iter();
        all.usual_of_all = mean(parts.map(|(_, bytes)| (bytes, bytes / part_ns as f64)));
        all
    }

    fn span(&self) -> Option<Interval> {
        let lanes = self.lanes.values();
        let ends = lanes.filter_map(|lane| Some((*lane.starts.first()?, *lane.ends.last()?)));
        let (start, end) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        // Includes the last instant.
        Some(Interval::new(Nanos(start), Nanos(end.saturating_add(1))))
    }

    /// Returns the capabilities with blocks, and the time spans of these.
    pub fn caps(&self) -> impl Iterator<Item = (CapId, Interval)> {
        self.lanes.iter().filter_map(|(cap, lane)| {
            let life = Interval::new(Nanos(*lane.starts.first()?), Nanos(*lane.ends.last()?));
            Some(((*cap)?, life))
        })
    }

    /// Emits marks for the blocks of a capability, or of none, in `view`: at most two per bucket.
    pub fn marks(
        &self,
        cap: Option<CapId>,
        view: Interval,
        bucket_ns: u64,
        mut emit: impl FnMut(Unread),
    ) {
        let Some(lane) = self.lanes.get(&cap) else {
            return;
        };
        lane.marks(view, bucket_ns, |span, blocks, bytes| {
            let density = scale_density(density(span, bytes, bucket_ns), self.usual);
            emit(Unread {
                span,
                blocks,
                bytes,
                density,
            });
        });
    }

    /// Returns the density of all capabilities together in each non-empty bucket, from 0 to 1.
    pub fn all(&self, view: Interval, bucket_ns: u64) -> impl Iterator<Item = (Interval, f64)> {
        let sums = self.sums(view, bucket_ns).into_iter();
        let filled = sums.filter(|(_, bytes)| *bytes > 0.0);
        filled.map(move |(span, bytes)| {
            let length = span.duration().0.max(1) as f64;
            (span, scale_density(bytes / length, self.usual_of_all))
        })
    }

    /// Returns the approximate number of bytes written in a range of time.
    pub fn bytes(&self, span: Interval) -> u64 {
        let sums = self.sums(span, span.duration().0);
        sums.iter().map(|(_, bytes)| bytes).sum::<f64>() as u64
    }

    /// Returns the bytes in each bucket.
    fn sums(&self, view: Interval, bucket_ns: u64) -> Vec<(Interval, f64)> {
        let bucket_ns = bucket_ns.max(1);
        let (from, to) = (view.start().0, view.end().0);
        let first = from / bucket_ns;
        let bucket = |time: u64| (time / bucket_ns - first) as usize;
        let mut sums = vec![0.0; bucket(to.saturating_sub(1).max(from)) + 1];
        for lane in self.lanes.values() {
            lane.marks(view, bucket_ns, |span, _, bytes| {
                let (start, end) = (span.start().0, span.end().0.min(to));
                let each = bytes as f64 / span.duration().0.max(1) as f64;
                if end <= start {
                    sums[bucket(start)] += bytes as f64;
                }
                let mut at = start;
                while at < end {
                    let until = ((at / bucket_ns + 1).saturating_mul(bucket_ns)).min(end);
                    sums[bucket(at)] += each * (until - at) as f64;
                    at = until;
                }
            });
        }
        let spans = (0u64..).zip(sums).map(|(i, sum)| {
            let start = (first + i).saturating_mul(bucket_ns);
            let span = (start.max(from), start.saturating_add(bucket_ns).min(to));
            (Interval::new(Nanos(span.0), Nanos(span.1)), sum)
        });
        spans.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole() -> Interval {
        Interval::new(Nanos(0), Nanos(u64::MAX))
    }

    fn filled() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
        let block = (0..9_000u64, 0..900u64, 0..5_000u64);
        let block = block.prop_map(|(start, length, bytes)| (start, start + length, bytes));
        prop::collection::vec(block, 0..60)
    }

    fn marks(lane: &CapBlocks, view: Interval, bucket_ns: u64) -> Vec<(Interval, u32, u64)> {
        let mut marks = Vec::new();
        lane.marks(view, bucket_ns, |span, blocks, bytes| {
            marks.push((span, blocks, bytes));
        });
        marks
    }

    proptest! {
        #[test]
        fn marks_have_all_blocks_and_bytes(blocks in filled(), bucket_ns in 1..3_000u64) {
            let lane = CapBlocks::new(blocks.clone());
            let marks = marks(&lane, whole(), bucket_ns);
            let bytes: u64 = marks.iter().map(|mark| mark.2).sum();
            prop_assert_eq!(bytes, blocks.iter().map(|block| block.2).sum::<u64>());
            let count: u32 = marks.iter().map(|mark| mark.1).sum();
            prop_assert_eq!(count as usize, blocks.len());
            for pair in marks.windows(2) {
                prop_assert!(pair[0].0.end() <= pair[1].0.start());
            }
            for bucket in marks.chunk_by(|a, b| a.0.start().0 / bucket_ns == b.0.start().0 / bucket_ns) {
                prop_assert!(bucket.len() <= 2);
            }
        }

        /// The marks contain exactly the unread remainder, including that of a split block.
        #[test]
        fn what_is_read_is_missing(blocks in filled(), bucket_ns in 1..3_000u64, from in 0..11_000u64) {
            let lane = CapBlocks::new(blocks);
            let rest = Interval::new(Nanos(from), Nanos(u64::MAX));
            let bytes: u64 = marks(&lane, rest, bucket_ns).iter().map(|mark| mark.2).sum();
            let each = 0..lane.starts.len();
            let expected: u64 = each.filter(|&i| lane.ends[i] > from || lane.starts[i] >= from)
                .map(|i| lane.bytes_after(i, from)).sum();
            prop_assert_eq!(bytes, expected);
        }

        #[test]
        fn buckets_of_all_have_all_bytes(blocks in filled(), bucket_ns in 1..3_000u64) {
            let bytes: u64 = blocks.iter().map(|block| block.2).sum();
            let all = UnreadBlocks {
                lanes: BTreeMap::from([(None, CapBlocks::new(blocks))]),
                ..UnreadBlocks::default()
            };
            if let Some(span) = all.span() {
                let sum: f64 = all.sums(span, bucket_ns).iter().map(|(_, bytes)| bytes).sum();
                prop_assert!((sum - bytes as f64).abs() < 1e-6 * sum.max(1.0), "{} {}", sum, bytes);
            }
        }
    }
}
