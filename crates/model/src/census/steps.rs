//! The bytes of one band by census, stored compactly as changes only. Most bands of a profile by info table hold
//! the same bytes over thousands of censuses.

use std::ops::Range;

use super::clock::Clock;
use super::sums::Sums;

/// Steps per checkpoint, which is the most that is decoded before a range begins.
const STEPS_PER_MARK: u8 = 64;

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
struct Sealed {
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
    sealed: Vec<Sealed>,
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
    held: Step,
    /// Exclusive end of the last run.
    end: u32,
}

impl Iterator for Reader<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        let Step { census, bytes } = self.held;
        if self.at < self.bytes.len() {
            self.held = Step::read(self.held, self.bytes, &mut self.at);
            return Some(Run {
                censuses: census..self.held.census,
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
    pub(super) fn hold(&mut self, census: u32, bytes: u64, end: u32, clock: &Clock) {
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
        if self.open_steps == STEPS_PER_MARK {
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
        let sealed = Sealed {
            before: self.before,
            sums: self.sums,
            most: self.most,
            steps,
        };
        for run in sealed.runs(self.last.census) {
            self.sums.add(&run, clock);
        }
        self.sealed.push(sealed);
        self.open_steps = 0;
        self.before = self.last;
        self.most = 0;
    }

    /// Returns the heap memory of the steps in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let sealed: usize = self.sealed.iter().map(|sealed| sealed.steps.len()).sum();
        sealed + self.open.capacity() + self.sealed.capacity() * size_of::<Sealed>()
    }
}

impl<'a> Series<'a> {
    /// Iterates over the runs from the last checkpoint before `census` on.
    fn runs_from(self, census: u32) -> impl Iterator<Item = Run> + 'a {
        let mark = self.mark(census);
        let sealed = self.steps.sealed.get(mark..).unwrap_or_default();
        let ends = sealed.iter().skip(1).map(|next| next.before.census);
        let ends = ends.chain([self.steps.before.census]);
        let runs = sealed
            .iter()
            .zip(ends)
            .flat_map(|(sealed, end)| sealed.runs(end));
        runs.chain(self.open_runs())
    }

    fn open_runs(self) -> Reader<'a> {
        Reader {
            bytes: &self.steps.open,
            at: 0,
            held: self.steps.before,
            end: self.end,
        }
    }

    /// Returns the index of the segment that contains a census.
    fn mark(self, census: u32) -> usize {
        let after = self
            .steps
            .sealed
            .partition_point(|sealed| sealed.before.census <= census);
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
    fn start(self, mark: usize) -> (u32, Sums) {
        let steps = self.steps;
        let sealed = steps.sealed.get(mark);
        sealed.map_or((steps.before.census, steps.sums), |sealed| {
            (sealed.before.census, sealed.sums)
        })
    }

    /// Sums up some censuses. Only the segments at both ends are decoded; the sums of those in between come from
    /// checkpoints.
    pub(super) fn sums(self, censuses: &Range<u32>, clock: &Clock) -> Summed {
        let mut summed = Summed::default();
        let Some(last) = censuses
            .end
            .checked_sub(1)
            .filter(|last| censuses.start <= *last)
        else {
            return summed;
        };
        let (from, to) = (self.mark(censuses.start), self.mark(last));
        if from == to {
            summed.read(self, censuses.clone(), clock);
            return summed;
        }
        let ((between, before), (after, sums)) = (self.start(from + 1), self.start(to));
        summed.read(self, censuses.start..between, clock);
        summed.sums = summed.sums.plus(&sums.without(&before));
        let whole = self.steps.sealed.get(from + 1..to).unwrap_or_default();
        let most = whole.iter().map(|sealed| sealed.most).max();
        summed.most = summed.most.max(most.unwrap_or(0));
        summed.last_held = None;
        summed.read(self, after..censuses.end, clock);
        summed.last_held = summed
            .last_held
            .or_else(|| self.last_held(censuses.start..after));
        summed
    }

    /// Returns the bytes of the band in a census.
    pub(super) fn at(self, census: u32) -> u64 {
        let run = self.runs_in(census..census.saturating_add(1)).next();
        run.map_or(0, |run| run.bytes)
    }

    /// Returns the last census of a range in which the band holds anything.
    fn last_held(self, censuses: Range<u32>) -> Option<u32> {
        let mut end = censuses.end;
        let mut mark = self.mark(end.checked_sub(1)?);
        loop {
            let (start, _) = self.start(mark);
            let part = start.max(censuses.start)..end;
            let held = self.runs_in(part).filter(|run| run.bytes > 0).last();
            if let Some(run) = held {
                return Some(run.censuses.end - 1);
            }
            if start <= censuses.start {
                return None;
            }
            end = start;
            mark = mark.checked_sub(1)?;
        }
    }
}

/// Sums of a band over some censuses.
#[derive(Debug, Default)]
pub(super) struct Summed {
    pub(super) sums: Sums,
    pub(super) most: u64,
    /// Bytes in the first census; `None` if the steps do not reach that far.
    pub(super) first: Option<u64>,
    /// Bytes in the last census.
    pub(super) last: u64,
    /// The last census in which the band holds anything.
    pub(super) last_held: Option<u32>,
}

impl Summed {
    /// Adds the next censuses.
    fn read(&mut self, series: Series<'_>, censuses: Range<u32>, clock: &Clock) {
        self.last = 0;
        for run in series.runs_in(censuses.clone()) {
            self.sums.add(&run, clock);
            self.most = run.bytes.max(self.most);
            self.first.get_or_insert(run.bytes);
            if run.bytes > 0 {
                self.last_held = Some(run.censuses.end - 1);
            }
            if run.censuses.end == censuses.end {
                self.last = run.bytes;
            }
        }
    }
}

impl Sealed {
    /// Decodes the runs; the last one ends at `end`, where the next segment begins.
    fn runs(&self, end: u32) -> Reader<'_> {
        Reader {
            bytes: &self.steps,
            at: 0,
            held: self.before,
            end,
        }
    }
}
