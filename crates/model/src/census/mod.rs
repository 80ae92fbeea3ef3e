//! Heap profiles: in each *census* the runtime reports the live bytes of each *band* (a type, an info table, a
//! cost-centre stack…).
//!
//! A profile by info table may have 50,000 bands and thousands of censuses. So a band is stored as the steps at
//! which its bytes change, with regular checkpoints that hold the sums before them: any range of censuses is
//! summed up exactly by decoding a few steps at both ends.

mod clock;
mod derived;
mod steps;
mod sums;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::time::Interval;
use clock::Clock;
use eventlog::ids::Nanos;
use steps::{Series, Steps};
use sums::RangeInputs;

pub use steps::Run;
pub use sums::{BandSums, Growth};

/// Number of a band of a profile.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct BandId(pub u32);

impl BandId {
    /// Returns the index in columns that have one entry per band.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The censuses of one profile, with the bytes of all bands.
#[derive(Clone, Debug, Default)]
pub struct Censuses {
    clock: Clock,
    totals: Vec<u64>,
    bands: Vec<Band>,
    /// State read for each recorded value; separate from the steps, so that 50,000 bands stay in the CPU cache.
    band_states: Vec<BandState>,
    folded: bool,
    /// Bytes recorded in the current census.
    open: Vec<(BandId, u64)>,
    is_open: bool,
    capped: bool,
}

#[derive(Clone, Debug, Default)]
struct Band {
    steps: Steps,
    /// The band that takes its bytes, if it was folded.
    folded_into: Option<BandId>,
}

/// The most recent state of a band.
#[derive(Clone, Copy, Debug, Default)]
struct BandState {
    bytes: u64,
    /// The census after the last one in which it holds something.
    end: u32,
    /// Its index in the open census plus 1; 0 if it is not in it.
    open: u32,
}

impl Censuses {
    /// Most bytes of a census: 256 TiB, more than any machine has. Values of damaged logs beyond it are cut off,
    /// so that sums never overflow.
    pub const MAX_BYTES: u64 = 1 << 48;

    /// Returns the number of complete censuses.
    pub const fn len(&self) -> usize {
        self.totals.len()
    }

    /// Returns whether there are no complete censuses.
    pub const fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }

    /// Returns the number of bands, including folded ones.
    pub const fn bands(&self) -> usize {
        self.bands.len()
    }

    /// Returns whether bytes beyond [`MAX_BYTES`](Self::MAX_BYTES) were cut off.
    pub const fn is_capped(&self) -> bool {
        self.capped
    }

    /// Returns the time of each census, ascending.
    pub fn times(&self) -> &[Nanos] {
        self.clock.times().get(..self.len()).unwrap_or_default()
    }

    /// Returns the total bytes of each census.
    pub fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// Returns the total bytes of a census; zero if there is no such census.
    pub fn total(&self, census: u32) -> u64 {
        let total = self.totals.get(census as usize);
        total.copied().unwrap_or_default()
    }

    /// Returns the censuses in a range of a log that ends at `log_end`, or all of them without a range.
    pub fn census_range(&self, range: Option<Interval>, log_end: Nanos) -> Range<u32> {
        let times = self.times();
        let before = |limit: Nanos| times.partition_point(|&time| time < limit) as u32;
        match range {
            None => 0..times.len() as u32,
            // A census at the very end of the log counts, though intervals are half open.
            Some(range) if range.end() >= log_end && !range.is_empty() => {
                before(range.start())..times.len() as u32
            }
            Some(range) => before(range.start())..before(range.end()),
        }
    }

    // ---- Writing

    /// Adds a band without bytes in any census, and returns its id.
    pub fn add_band(&mut self) -> BandId {
        self.bands.push(Band::default());
        self.band_states.push(BandState::default());
        BandId((self.bands.len() - 1) as u32)
    }

    /// Begins a census, and ends the current one.
    pub fn begin(&mut self, at: Nanos) {
        self.end();
        self.clock.push(at);
        self.is_open = true;
    }

    /// Adds bytes of a band to the current census.
    pub fn add(&mut self, band: BandId, bytes: u64) {
        let into = match self.folded {
            true => self.folded_into(band),
            false => None,
        };
        let band = into.unwrap_or(band);
        let Some(head) = self.band_states.get_mut(band.index()) else {
            return;
        };
        let place = (head.open as usize).checked_sub(1);
        if let Some((_, sum)) = place.and_then(|place| self.open.get_mut(place)) {
            *sum = sum.saturating_add(bytes);
        } else {
            self.open.push((band, bytes));
            head.open = self.open.len() as u32;
        }
    }

    /// Ends the current census, if there is one.
    pub fn end(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let census = self.totals.len() as u32;
        let mut total = 0;
        let mut open = std::mem::take(&mut self.open);
        for (id, bytes) in open.drain(..) {
            let fits = bytes.min(Self::MAX_BYTES - total);
            self.capped |= fits < bytes;
            total += fits;
            let Some(head) = self.band_states.get_mut(id.index()) else {
                continue;
            };
            head.open = 0;
            if fits == 0 {
                continue;
            }
            if (fits, census) != (head.bytes, head.end)
                && let Some(band) = self.bands.get_mut(id.index())
            {
                band.steps.record(census, fits, head.end, &self.clock);
            }
            (head.bytes, head.end) = (fits, census + 1);
        }
        self.open = open;
        self.totals.push(total);
    }

    // ---- Reading

    /// Returns the bytes of a band in some censuses as runs of equal bytes, in order; after the last run it holds
    /// nothing.
    pub fn runs(&self, band: BandId, censuses: Range<u32>) -> impl Iterator<Item = Run> + '_ {
        let steps = self.steps(band).into_iter();
        steps.flat_map(move |steps| steps.runs_in(censuses.clone()))
    }

    fn steps(&self, band: BandId) -> Option<Series<'_>> {
        let BandState { end, .. } = *self.band_states.get(band.index())?;
        let steps = &self.bands.get(band.index())?.steps;
        Some(Series { steps, end })
    }

    /// Returns the bytes of a band in a census.
    pub fn bytes_at(&self, band: BandId, census: u32) -> u64 {
        self.steps(band).map_or(0, |steps| steps.bytes_at(census))
    }

    /// Returns the bytes of a band in each of some censuses.
    pub fn series(&self, band: BandId, censuses: Range<u32>) -> Vec<u64> {
        let start = censuses.start;
        let mut series = vec![0; censuses.len()];
        for run in self.runs(band, censuses) {
            let places = (run.censuses.start - start) as usize..(run.censuses.end - start) as usize;
            if let Some(part) = series.get_mut(places) {
                part.fill(run.bytes);
            }
        }
        series
    }

    /// Computes the statistics of a band over some censuses.
    pub fn sums(&self, band: BandId, censuses: Range<u32>) -> BandSums {
        let censuses = censuses.start.min(censuses.end)..censuses.end.min(self.len() as u32);
        let Some(steps) = self.steps(band).filter(|_| !censuses.is_empty()) else {
            return BandSums::default();
        };
        let summed = steps.sums(&censuses, &self.clock);
        let (first, last) = (censuses.start, censuses.end - 1);
        let since = |census| self.clock.since_first(census);
        let time = |census: u32| self.clock.times().get(census as usize).copied();
        let ends = RangeInputs {
            censuses: censuses.end - censuses.start,
            first: summed.first.unwrap_or(0),
            last: summed.last,
            max: summed.most,
            origin: time(0).unwrap_or_default(),
            last_nonzero: summed.last_nonzero.and_then(time).unwrap_or_default(),
            before_ns: since(first) - since(first.saturating_sub(1)),
            after_ns: since(last + 1) - since(last),
        };
        BandSums::new(&summed.sums, ends)
    }
}

#[cfg(test)]
mod tests;
