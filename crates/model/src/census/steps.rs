//! The bytes of one band by census, stored compactly as changes only. Most bands of a profile by info table hold
//! the same bytes over thousands of censuses.

use std::ops::Range;

use super::clock::Clock;
use super::sums::Sums;

/// Steps per checkpoint, which is the most that is decoded before a range begins.
const STEPS_PER_SEGMENT: u8 = 64;

/// The bytes of a band from a census on, until its next step.
///
/// Steps are encoded as differences to the previous one: variable-length integers of 7 bits per byte for the
/// bytes and for the number of censuses. Flags shorten the common cases: nearly all sizes are multiples of the
/// machine word, and an active band changes in every census.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Step {
    census: u32,
    bytes: u64,
}

/// Consecutive censuses in which a band holds the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Census numbers.
    pub censuses: Range<u32>,
    /// Bytes of the band in each of them.
    pub bytes: u64,
}

/// A complete segment of steps, with a checkpoint of the sums before it.
#[derive(Clone, Debug)]
struct Segment {
    /// State before the first step.
    before: Step,
    /// Sums over all censuses before the first step.
    sums: Sums,
    /// Maximum bytes within this segment.
    most: u64,
    steps: Box<[u8]>,
}

/// The steps of one band.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    segments: Vec<Segment>,
    /// Encoded steps since the last checkpoint, and their number.
    open: Vec<u8>,
    open_steps: u8,
    /// State and sums before the open steps, and the maximum since then, without the last step.
    before: Step,
    sums: Sums,
    most: u64,
    /// The most recent step.
    last: Step,
}

/// Steps of a band with the census where they end. That one is kept outside because it changes with every census,
/// while most steps do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'a> {
    pub(super) steps: &'a Steps,
    pub(super) end: u32,
}

const SIZE_OF_WORD: u64 = 8;

fn write_number(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &[u8], at: &mut usize) -> u128 {
    let (mut number, mut shift) = (0_u128, 0_u32);
    while let Some(&byte) = bytes.get(*at) {
        *at += 1;
        number |= u128::from(byte & 0x7f) << shift.min(120);
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    number
}

impl Step {
    fn write(self, before: Self, out: &mut Vec<u8>) {
        let gap = self.census - before.census;
        let sign = u128::from(self.bytes < before.bytes);
        let distance = self.bytes.abs_diff(before.bytes);
        let of_words = distance.is_multiple_of(SIZE_OF_WORD);
        let distance = if of_words {
            distance / SIZE_OF_WORD
        } else {
            distance
        };
        let flags = sign << 2 | u128::from(!of_words) << 1 | u128::from(gap != 1);
        write_number(out, u128::from(distance) << 3 | flags);
        if gap != 1 {
            write_number(out, gap.into());
        }
    }

    #[inline]
    fn read(before: Self, bytes: &[u8], at: &mut usize) -> Self {
        let number = read_number(bytes, at);
        let gap = match number & 1 {
            0 => 1,
            _ => read_number(bytes, at) as u32,
        };
        let distance = (number >> 3) as u64;
        let distance = match number & 2 {
            0 => distance.wrapping_mul(SIZE_OF_WORD),
            _ => distance,
        };
        let bytes = match number & 4 {
            0 => before.bytes.wrapping_add(distance),
            _ => before.bytes.wrapping_sub(distance),
        };
        Self {
            census: before.census.saturating_add(gap),
            bytes,
        }
    }
}

/// Decodes steps into runs.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    current: Step,
    /// Exclusive end of the last run.
    end: u32,
}

impl Iterator for Reader<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        let Step { census, bytes } = self.current;
        if self.at < self.bytes.len() {
            self.current = Step::read(self.current, self.bytes, &mut self.at);
            return Some(Run {
                censuses: census..self.current.census,
                bytes,
            });
        }
        let end = std::mem::replace(&mut self.end, 0);
        (census < end).then_some(Run {
            censuses: census..end,
            bytes,
        })
    }
}

impl Steps {
    /// Records the bytes of a band in a census; between `end` and that census it holds nothing.
    pub(super) fn record(&mut self, census: u32, bytes: u64, end: u32, clock: &Clock) {
        if end < census {
            self.step(
                Step {
                    census: end,
                    bytes: 0,
                },
                clock,
            );
        }
        self.step(Step { census, bytes }, clock);
    }

    fn step(&mut self, step: Step, clock: &Clock) {
        if step.bytes == self.last.bytes {
            return;
        }
        if step.census == self.last.census {
            // Only in the very first census: before it the band holds nothing.
            self.last.bytes = step.bytes;
            self.before = self.last;
            return;
        }
        if self.open_steps == STEPS_PER_SEGMENT {
            self.seal(clock);
        }
        step.write(self.last, &mut self.open);
        self.most = self.most.max(self.last.bytes);
        self.open_steps += 1;
        self.last = step;
    }

    /// Completes the segment and sets a checkpoint. The last run is still open, so it belongs to the next
    /// segment.
    fn seal(&mut self, clock: &Clock) {
        let steps = std::mem::take(&mut self.open).into_boxed_slice();
        let segment = Segment {
            before: self.before,
            sums: self.sums,
            most: self.most,
            steps,
        };
        for run in segment.runs(self.last.census) {
            self.sums.add(&run, clock);
        }
        self.segments.push(segment);
        self.open_steps = 0;
        self.before = self.last;
        self.most = 0;
    }

    /// Returns the heap memory of the steps in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let segments_bytes: usize = self
            .segments
            .iter()
            .map(|segment| segment.steps.len())
            .sum();
        segments_bytes + self.open.capacity() + self.segments.capacity() * size_of::<Segment>()
    }
}

impl<'a> Series<'a> {
    /// Iterates over the runs from the last checkpoint before `census` on.
    fn runs_from(self, census: u32) -> impl Iterator<Item = Run> + 'a {
        let segment_index = self.segment_index(census);
        let segments = self.steps.segments.get(segment_index..).unwrap_or_default();
        let ends = segments.iter().skip(1).map(|next| next.before.census);
        let ends = ends.chain([self.steps.before.census]);
        let runs = segments
            .iter()
            .zip(ends)
            .flat_map(|(segment, end)| segment.runs(end));
        runs.chain(self.open_runs())
    }

    fn open_runs(self) -> Reader<'a> {
        Reader {
            bytes: &self.steps.open,
            at: 0,
            current: self.steps.before,
            end: self.end,
        }
    }

    /// Returns the index of the segment that contains a census.
    fn segment_index(self, census: u32) -> usize {
        let after = self
            .steps
            .segments
            .partition_point(|segment| segment.before.census <= census);
        let after_open = usize::from(self.steps.before.census <= census);
        (after + after_open).saturating_sub(1)
    }

    /// Iterates over the runs of some censuses, clipped to them.
    pub(super) fn runs_in(self, censuses: Range<u32>) -> impl Iterator<Item = Run> + 'a {
        let Range { start, end } = censuses;
        self.runs_from(start)
            .skip_while(move |run| run.censuses.end <= start)
            .take_while(move |run| run.censuses.start < end)
            .map(move |run| Run {
                censuses: run.censuses.start.max(start)..run.censuses.end.min(end),
                ..run
            })
    }

    /// Returns the start of a segment, with the sums before it.
    fn start(self, segment_index: usize) -> (u32, Sums) {
        let steps = self.steps;
        let segment = steps.segments.get(segment_index);
        segment.map_or((steps.before.census, steps.sums), |segment| {
            (segment.before.census, segment.sums)
        })
    }

    /// Sums up some censuses. Only the segments at both ends are decoded; the sums of those in between come from
    /// checkpoints.
    pub(super) fn sums(self, censuses: &Range<u32>, clock: &Clock) -> RangeSums {
        let mut range_sums = RangeSums::default();
        let Some(last) = censuses
            .end
            .checked_sub(1)
            .filter(|last| censuses.start <= *last)
        else {
            return range_sums;
        };
        let (from, to) = (self.segment_index(censuses.start), self.segment_index(last));
        if from == to {
            range_sums.read(self, censuses.clone(), clock);
            return range_sums;
        }
        let ((between, before), (after, sums)) = (self.start(from + 1), self.start(to));
        range_sums.read(self, censuses.start..between, clock);
        range_sums.sums = range_sums.sums.plus(&sums.minus(&before));
        let whole = self.steps.segments.get(from + 1..to).unwrap_or_default();
        let most = whole.iter().map(|segment| segment.most).max();
        range_sums.most = range_sums.most.max(most.unwrap_or(0));
        range_sums.last_nonzero = None;
        range_sums.read(self, after..censuses.end, clock);
        range_sums.last_nonzero = range_sums
            .last_nonzero
            .or_else(|| self.last_nonzero(censuses.start..after));
        range_sums
    }

    /// Returns the bytes of the band in a census.
    pub(super) fn bytes_at(self, census: u32) -> u64 {
        let run = self.runs_in(census..census.saturating_add(1)).next();
        run.map_or(0, |run| run.bytes)
    }

    /// Returns the last census of a range in which the band holds anything.
    fn last_nonzero(self, censuses: Range<u32>) -> Option<u32> {
        let mut end = censuses.end;
        let mut segment_index = self.segment_index(end.checked_sub(1)?);
        loop {
            let (start, _) = self.start(segment_index);
            let part = start.max(censuses.start)..end;
            let current = self.runs_in(part).filter(|run| run.bytes > 0).last();
            if let Some(run) = current {
                return Some(run.censuses.end - 1);
            }
            if start <= censuses.start {
                return None;
            }
            end = start;
            segment_index = segment_index.checked_sub(1)?;
        }
    }
}

/// Sums of a band over some censuses.
#[derive(Debug, Default)]
pub(super) struct RangeSums {
    pub(super) sums: Sums,
    pub(super) most: u64,
    /// Bytes in the first census; `None` if the steps do not reach that far.
    pub(super) first: Option<u64>,
    /// Bytes in the last census.
    pub(super) last: u64,
    /// The last census in which the band holds anything.
    pub(super) last_nonzero: Option<u32>,
}

impl RangeSums {
    /// Adds the next censuses.
    fn read(&mut self, series: Series<'_>, censuses: Range<u32>, clock: &Clock) {
        self.last = 0;
        for run in series.runs_in(censuses.clone()) {
            self.sums.add(&run, clock);
            self.most = run.bytes.max(self.most);
            self.first.get_or_insert(run.bytes);
            if run.bytes > 0 {
                self.last_nonzero = Some(run.censuses.end - 1);
            }
            if run.censuses.end == censuses.end {
                self.last = run.bytes;
            }
        }
    }
}

impl Segment {
    /// Decodes the runs; the last one ends at `end`, where the next segment begins.
    fn runs(&self, end: u32) -> Reader<'_> {
        Reader {
            bytes: &self.steps,
            at: 0,
            current: self.before,
            end,
        }
    }
}
