//! Heap profiles: in each *census* the runtime tells how many bytes each *band*
//! holds (a type, an info table, a cost-centre stack…).
//!
//! A profile by info table may have 50,000 bands and thousands of censuses. So a
//! band is kept as the [steps](steps) at which its bytes change, with a mark every
//! so often that has the sums before it: any range of censuses is summed up
//! exactly by reading some steps at both of its ends.

mod clock;
mod steps;
mod sums;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::time::Interval;
use clock::Clock;
use eventlog::ids::Nanos;
use steps::Steps;
use sums::Ends;

pub use steps::Run;
pub use sums::{BandSums, Growth};

/// A band of a profile, by its number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct BandId(pub u32);

impl BandId {
    /// Its place in columns that have one entry per band.
    #[must_use]
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
    /// What the census that goes on has so far.
    open: Vec<(BandId, u64)>,
    is_open: bool,
    capped: bool,
}

#[derive(Clone, Debug, Default)]
struct Band {
    steps: Steps,
    /// Its place in the open census, if it has been told there.
    open: Option<u32>,
    /// Where its bytes count, if it was folded.
    into: Option<BandId>,
}

/// The most bytes that a census may have: 256 TiB, more than any machine has.
/// What a damaged log tells beyond that is left out, so that sums never overflow.
const MOST_BYTES: u64 = 1 << 48;

impl Censuses {
    /// How many censuses there are; one that is not at its end does not count.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.totals.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.totals.is_empty()
    }

    /// How many bands there are, also those that were folded.
    #[must_use]
    pub const fn bands(&self) -> usize {
        self.bands.len()
    }

    /// Whether a log told more bytes than there can be; the rest is left out.
    #[must_use]
    pub const fn is_capped(&self) -> bool {
        self.capped
    }

    /// When each census was; times never go back.
    #[must_use]
    pub fn times(&self) -> &[Nanos] {
        self.clock.times().get(..self.len()).unwrap_or_default()
    }

    /// The bytes of all bands, by census.
    #[must_use]
    pub fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// The censuses of a range of a log that ends at `log_end`, or all.
    #[must_use]
    pub fn places(&self, range: Option<Interval>, log_end: Nanos) -> Range<u32> {
        let times = self.times();
        let before = |limit: Nanos| times.partition_point(|&time| time < limit) as u32;
        match range {
            None => 0..times.len() as u32,
            // What is at the log's very end is in no moment of it, but counts.
            Some(range) if range.end() >= log_end && !range.is_empty() => {
                before(range.start())..times.len() as u32
            }
            Some(range) => before(range.start())..before(range.end()),
        }
    }

    // ---- Writing

    /// A new band.
    pub fn add_band(&mut self) -> BandId {
        self.bands.push(Band::default());
        BandId((self.bands.len() - 1) as u32)
    }

    /// Begins a census, and ends the one before.
    pub fn begin(&mut self, at: Nanos) {
        self.end();
        self.clock.push(at);
        self.is_open = true;
    }

    /// A band holds so many more bytes in the census that goes on.
    pub fn add(&mut self, band: BandId, bytes: u64) {
        let into = self.bands.get(band.index()).and_then(|band| band.into);
        let band = into.unwrap_or(band);
        let Some(Band { open, .. }) = self.bands.get_mut(band.index()) else {
            return;
        };
        match open.and_then(|place| self.open.get_mut(place as usize)) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => {
                *open = Some(self.open.len() as u32);
                self.open.push((band, bytes));
            }
        }
    }

    /// Ends the census that goes on, if one does.
    pub fn end(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let census = self.totals.len() as u32;
        let mut total = 0;
        let mut open = std::mem::take(&mut self.open);
        for (id, bytes) in open.drain(..) {
            let Some(band) = self.bands.get_mut(id.index()) else {
                continue;
            };
            band.open = None;
            let fits = bytes.min(MOST_BYTES - total);
            self.capped |= fits < bytes;
            total += fits;
            if fits > 0 {
                band.steps.hold(census, fits, &self.clock);
            }
        }
        self.open = open;
        self.totals.push(total);
    }

    // ---- Reading

    /// The bytes of a band in some censuses, as stretches of equal bytes, in
    /// order; what is left out at the end holds nothing.
    pub fn runs(&self, band: BandId, censuses: Range<u32>) -> impl Iterator<Item = Run> + '_ {
        let band = self.bands.get(band.index());
        band.into_iter()
            .flat_map(move |band| band.steps.runs_in(censuses.clone()))
    }

    /// The bytes of a band in a census.
    #[must_use]
    pub fn at(&self, band: BandId, census: u32) -> u64 {
        self.bands
            .get(band.index())
            .map_or(0, |band| band.steps.at(census))
    }

    /// The bytes of a band in each of some censuses.
    #[must_use]
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

    /// What a band comes to in some censuses.
    #[must_use]
    pub fn sums(&self, band: BandId, censuses: Range<u32>) -> BandSums {
        let censuses = censuses.start.min(censuses.end)..censuses.end.min(self.len() as u32);
        let Some(band) = self
            .bands
            .get(band.index())
            .filter(|_| !censuses.is_empty())
        else {
            return BandSums::default();
        };
        let steps = &band.steps;
        let (sums, max) = steps.sums(&censuses, &self.clock);
        let (first, last) = (censuses.start, censuses.end - 1);
        let since = |census| self.clock.since_first(census);
        let time = |census: u32| self.clock.times().get(census as usize).copied();
        let last_held = steps.last_held(&censuses).and_then(time);
        let ends = Ends {
            censuses: censuses.end - censuses.start,
            first: steps.at(first),
            last: steps.at(last),
            max,
            origin: time(0).unwrap_or_default(),
            last_held: last_held.unwrap_or_default(),
            before_ns: since(first) - since(first.saturating_sub(1)),
            after_ns: since(last + 1) - since(last),
        };
        BandSums::new(&sums, ends)
    }

    // ---- Bands made of others

    /// How many bytes of memory it takes, or a little more.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let steps: usize = self.bands.iter().map(|band| band.steps.size_bytes()).sum();
        steps + self.bands.capacity() * size_of::<Band>() + self.totals.capacity() * 48
    }

    /// The sum of some bands in each of some censuses.
    #[must_use]
    pub fn sum_of(
        &self,
        bands: impl IntoIterator<Item = BandId>,
        censuses: Range<u32>,
    ) -> Vec<u64> {
        let start = censuses.start;
        // What is added at each census, and taken away.
        let mut changes = vec![0_i64; censuses.len() + 1];
        let mut change = |census: u32, by: i64| {
            if let Some(sum) = changes.get_mut((census - start) as usize) {
                *sum = sum.wrapping_add(by);
            }
        };
        for band in bands {
            for run in self
                .runs(band, censuses.clone())
                .filter(|run| run.bytes > 0)
            {
                change(run.censuses.start, run.bytes as i64);
                change(run.censuses.end, (run.bytes as i64).wrapping_neg());
            }
        }
        changes.pop();
        let mut sum = 0_i64;
        for value in &mut changes {
            sum = sum.wrapping_add(*value);
            *value = sum;
        }
        changes.into_iter().map(i64::cast_unsigned).collect()
    }

    /// The profile with one band for each group of bands. `groups` has the group
    /// of each band.
    #[must_use]
    pub fn grouped(&self, groups: &[BandId], count: usize) -> Self {
        let all = 0..self.len() as u32;
        let mut members: Vec<BandId> = (0..self.bands.len().min(groups.len()) as u32)
            .map(BandId)
            .collect();
        members.sort_by_key(|band| groups.get(band.index()));
        let group_of = |band: &BandId| groups.get(band.index()).copied().unwrap_or_default();
        let mut bands = vec![Band::default(); count];
        for group in members.chunk_by(|a, b| group_of(a) == group_of(b)) {
            let place = group.first().map(group_of).unwrap_or_default();
            if let Some(band) = bands.get_mut(place.index()) {
                band.steps = self.steps_of(&self.sum_of(group.iter().copied(), all.clone()));
            }
        }
        Self {
            clock: self.clock.clone(),
            totals: self.totals.clone(),
            bands,
            open: Vec::new(),
            is_open: false,
            capped: self.capped,
        }
    }

    fn steps_of(&self, series: &[u64]) -> Steps {
        let mut steps = Steps::default();
        for (census, &bytes) in series.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            steps.hold(census as u32, bytes, &self.clock);
        }
        steps
    }

    /// Makes one band of all that never held as much as others, so that about
    /// half of the memory is freed; what they hold later counts there too. Returns
    /// how many were folded. To be called between two censuses.
    pub fn fold_smallest(&mut self, rest: BandId) -> usize {
        let all = 0..self.len() as u32;
        let is_kept = |band: BandId| {
            band != rest
                && self
                    .bands
                    .get(band.index())
                    .is_some_and(|band| band.into.is_none())
        };
        let mut order: Vec<(u64, BandId)> = (0..self.bands.len() as u32)
            .map(BandId)
            .filter(|&band| is_kept(band))
            .map(|band| (self.sums(band, all.clone()).max, band))
            .collect();
        order.sort_unstable();
        let half = self.size_bytes() / 2;
        let mut freed = 0;
        let few = order.into_iter().take_while(|(_, band)| {
            let enough = freed >= half;
            freed += self
                .bands
                .get(band.index())
                .map_or(0, |band| band.steps.size_bytes());
            !enough
        });
        let folded: Vec<BandId> = few.map(|(_, band)| band).collect();
        let series = self.sum_of(folded.iter().copied().chain([rest]), all);
        let steps = self.steps_of(&series);
        for band in &folded {
            if let Some(band) = self.bands.get_mut(band.index()) {
                *band = Band {
                    into: Some(rest),
                    ..Band::default()
                };
            }
        }
        if let Some(rest) = self.bands.get_mut(rest.index()) {
            rest.steps = steps;
        }
        folded.len()
    }

    /// The band in which the bytes of a folded one count.
    #[must_use]
    pub fn folded_into(&self, band: BandId) -> Option<BandId> {
        self.bands.get(band.index())?.into
    }
}

#[cfg(test)]
mod tests;
