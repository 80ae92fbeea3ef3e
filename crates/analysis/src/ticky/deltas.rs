//! Counter deltas between samples, with checkpoints for fast sums over any range.

use model::time::Interval;
use serde::{Deserialize, Serialize};

/// Counts of a counter over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of entries into code of this name.
    pub entries: u64,
    /// Bytes allocated by this code.
    pub allocs_bytes: u64,
    /// Bytes of closures of this name, allocated by any code.
    pub allocd_bytes: u64,
}

impl Counts {
    /// Returns whether all counts are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Adds counts.
    ///
    /// Wraps at 2^64, so that the parts of a damaged log with arbitrary numbers still add up to the whole.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries.wrapping_add(other.entries),
            allocs_bytes: self.allocs_bytes.wrapping_add(other.allocs_bytes),
            allocd_bytes: self.allocd_bytes.wrapping_add(other.allocd_bytes),
        }
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            entries: self.entries.wrapping_sub(other.entries),
            allocs_bytes: self.allocs_bytes.wrapping_sub(other.allocs_bytes),
            allocd_bytes: self.allocd_bytes.wrapping_sub(other.allocd_bytes),
        }
    }
}

/// Deltas of a log, in log order.
///
/// A delta takes about nine bytes: the time since the previous one, the distance to its counter (mostly the next,
/// as the runtime iterates over its list of counters), and three numbers, all of variable length. Checkpoints
/// ([`Checkpoint`]) hold the sums of all counters. As a checkpoint is as long as the number of counters, there is one
/// per sixteen times as many deltas: memory and time stay proportional to the log, and any time is reached from a
/// checkpoint by reading few deltas.
#[derive(Clone, Debug, Default)]
pub(super) struct Deltas {
    bytes: Vec<u8>,
    checkpoints: Vec<Checkpoint>,
    /// Sums of all deltas, by counter index.
    sums: Vec<Counts>,
    /// Time and counter of the last delta.
    last: DeltaReference,
    since_checkpoint: usize,
}

/// Reference values for the encoding of the next delta.
#[derive(Clone, Copy, Debug, Default)]
struct DeltaReference {
    time_ns: u64,
    counter: u32,
}

/// Checkpoint between deltas.
#[derive(Clone, Debug)]
struct Checkpoint {
    /// Offset of the next delta.
    byte: usize,
    last: DeltaReference,
    /// Sums of the earlier deltas, for the counters known by then.
    sums: Box<[Counts]>,
}

/// Number of deltas between checkpoints: per counter, and at least.
const CHECKPOINT_EVERY: usize = 16;
const CHECKPOINT_LEAST: usize = 4096;

impl Deltas {
    /// Appends the counts of a counter up to `time_ns`. A time before the last delta's is raised to it.
    pub(super) fn push(&mut self, time_ns: u64, counter: u32, counts: Counts) {
        if self.since_checkpoint >= CHECKPOINT_LEAST.max(self.sums.len() * CHECKPOINT_EVERY) {
            self.since_checkpoint = 0;
            self.checkpoints.push(Checkpoint {
                byte: self.bytes.len(),
                last: self.last,
                sums: self.sums.as_slice().into(),
            });
        }
        self.since_checkpoint += 1;
        let next = DeltaReference {
            time_ns: time_ns.max(self.last.time_ns),
            counter,
        };
        let step = i64::from(counter) - i64::from(self.last.counter);
        write(&mut self.bytes, next.time_ns - self.last.time_ns);
        write(&mut self.bytes, zigzag(step));
        write(&mut self.bytes, counts.entries);
        write(&mut self.bytes, counts.allocs_bytes);
        write(&mut self.bytes, counts.allocd_bytes);
        self.last = next;
        add(&mut self.sums, counter, counts);
    }

    /// Returns the counts in a range, or in the whole log, by counter index.
    ///
    /// Trailing counters without deltas may be missing. A range up to `end_ns`, the end of the log, includes its
    /// end.
    pub(super) fn sums(&self, range: Option<Interval>, end_ns: u64) -> Vec<Counts> {
        let Some(range) = range else {
            return self.sums.clone();
        };
        let (from, to) = (range.start().0, range.end().0);
        let to_the_end = to >= end_ns && !range.is_empty();
        let mut sums = if to_the_end {
            self.sums.clone()
        } else {
            self.before(to)
        };
        for (sum, before) in sums.iter_mut().zip(self.before(from)) {
            *sum = sum.minus(before);
        }
        sums
    }

    /// Returns the total counts so far, by counter index.
    pub(super) fn sums_so_far(&self) -> &[Counts] {
        &self.sums
    }

    /// Returns the counts before a time, by counter index.
    fn before(&self, time_ns: u64) -> Vec<Counts> {
        let passed = self
            .checkpoints
            .partition_point(|checkpoint| checkpoint.last.time_ns < time_ns);
        let checkpoint = passed
            .checked_sub(1)
            .and_then(|place| self.checkpoints.get(place));
        let mut sums = checkpoint.map_or_else(Vec::new, |checkpoint| checkpoint.sums.to_vec());
        let mut bytes = self
            .bytes
            .get(checkpoint.map_or(0, |checkpoint| checkpoint.byte)..);
        let mut last =
            checkpoint.map_or_else(DeltaReference::default, |checkpoint| checkpoint.last);
        while let Some((delta, counts)) = bytes.as_mut().and_then(|bytes| read_delta(bytes, last)) {
            if delta.time_ns >= time_ns {
                break;
            }
            last = delta;
            add(&mut sums, last.counter, counts);
        }
        sums
    }
}

fn add(sums: &mut Vec<Counts>, counter: u32, counts: Counts) {
    let place = counter as usize;
    if place >= sums.len() {
        sums.resize(place + 1, Counts::default());
    }
    if let Some(sum) = sums.get_mut(place) {
        *sum = sum.plus(counts);
    }
}

fn read_delta(bytes: &mut &[u8], last: DeltaReference) -> Option<(DeltaReference, Counts)> {
    let time_ns = last.time_ns + read(bytes)?;
    let step = unzigzag(read(bytes)?);
    let counter = u32::try_from(i64::from(last.counter) + step).ok()?;
    let counts = Counts {
        entries: read(bytes)?,
        allocs_bytes: read(bytes)?,
        allocd_bytes: read(bytes)?,
    };
    Some((DeltaReference { time_ns, counter }, counts))
}

/// Maps signed to unsigned numbers, small ones to small ones.
const fn zigzag(step: i64) -> u64 {
    ((step << 1) ^ (step >> 63)).cast_unsigned()
}

const fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Writes a number in groups of seven bits; the eighth bit marks continuation.
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << (shift & 63);
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use eventlog::ids::Nanos;
    use proptest::prelude::*;

    use super::*;

    fn counts(seed: u64) -> Counts {
        Counts {
            entries: seed,
            allocs_bytes: seed.wrapping_mul(seed),
            allocd_bytes: seed % 3,
        }
    }

    /// Deltas with increasing times, as a list and encoded.
    fn kept(gaps: &[(u8, u16, u64)]) -> (Vec<(u64, u32, Counts)>, Deltas) {
        let mut at = 0;
        let mut deltas = Deltas::default();
        let mut list = Vec::new();
        for &(gap, counter, seed) in gaps {
            at += u64::from(gap % 4);
            let delta = (at, u32::from(counter % 300), counts(seed));
            deltas.push(delta.0, delta.1, delta.2);
            list.push(delta);
        }
        (list, deltas)
    }

    fn plainly(list: &[(u64, u32, Counts)], range: Interval) -> Vec<Counts> {
        let mut sums = Vec::new();
        for &(at, counter, counts) in list {
            let inside = range.start().0 <= at && at < range.end().0;
            add(
                &mut sums,
                counter,
                if inside { counts } else { Counts::default() },
            );
        }
        sums
    }

    fn range(from: u64, to: u64) -> Interval {
        Interval::new(Nanos(from), Nanos(to))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// More deltas than fit between two checkpoints.
        #[test]
        fn a_range_is_the_sum_of_its_deltas(
            gaps in prop::collection::vec(any::<(u8, u16, u64)>(), 0..14_000),
            from in 0..25_000_u64,
            len in 0..25_000_u64,
        ) {
            let (list, deltas) = kept(&gaps);
            let range = range(from, from + len);
            let mut sums = deltas.sums(Some(range), u64::MAX);
            sums.resize(plainly(&list, range).len(), Counts::default());
            prop_assert_eq!(sums, plainly(&list, range));
        }

        #[test]
        fn parts_sum_up_to_the_whole(
            gaps in prop::collection::vec(any::<(u8, u16, u64)>(), 1..9000),
            mut cuts in prop::collection::vec(0..20_000_u64, 0..5),
        ) {
            let (list, deltas) = kept(&gaps);
            let end = list.last().map_or(0, |last| last.0);
            cuts.extend([0, end]);
            cuts.retain(|cut| *cut <= end);
            cuts.sort_unstable();
            let mut sums = vec![Counts::default(); deltas.sums.len()];
            for pair in cuts.windows(2) {
                let part = deltas.sums(Some(range(pair[0], pair[1])), end);
                for (sum, part) in sums.iter_mut().zip(part) {
                    *sum = sum.plus(part);
                }
            }
            if cuts.iter().any(|cut| *cut < end) {
                prop_assert_eq!(sums, deltas.sums(None, end));
            }
        }

        #[test]
        fn numbers_come_back_as_they_were_written(numbers: Vec<u64>, step: i64) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| write(&mut bytes, *number));
            let mut rest = &bytes[..];
            let back: Vec<u64> = std::iter::from_fn(|| read(&mut rest)).collect();
            prop_assert_eq!(back, numbers);
            prop_assert_eq!(unzigzag(zigzag(step)), step);
        }
    }

    #[test]
    fn a_time_that_goes_back_counts_with_the_one_before() {
        let mut deltas = Deltas::default();
        deltas.push(50, 0, counts(1));
        deltas.push(40, 0, counts(2));
        assert_eq!(deltas.sums(Some(range(40, 50)), 100), []);
        assert_eq!(
            deltas.sums(Some(range(50, 51)), 100),
            [counts(1).plus(counts(2))]
        );
    }
}
