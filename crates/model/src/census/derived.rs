//! Derived bands: sums, groups, and the rest band that the smallest bands are folded into to save memory.

use std::ops::Range;

use super::{Band, BandId, BandState, Censuses};
use crate::sorting::CompactSort;

impl Censuses {
    /// Returns an upper estimate of the heap memory in bytes.
    pub fn size_bytes(&self) -> usize {
        let band = size_of::<Band>() + size_of::<BandState>();
        self.steps_bytes() + self.bands.capacity() * band + self.totals.capacity() * 48
    }

    fn steps_bytes(&self) -> usize {
        self.bands.iter().map(|band| band.steps.size_bytes()).sum()
    }

    /// Returns the sum of some bands in each of some censuses.
    pub fn sum_of(
        &self,
        bands: impl IntoIterator<Item = BandId>,
        censuses: Range<u32>,
    ) -> Vec<u64> {
        let start = censuses.start;
        // Change of the sum at each census.
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

    /// Merges bands into groups; `groups` has the group of each band, and `count` is the number of groups.
    pub fn grouped(&self, groups: &[BandId], count: usize) -> Self {
        let all = 0..self.len() as u32;
        let mut members: Vec<BandId> = (0..self.bands.len().min(groups.len()) as u32)
            .map(BandId)
            .collect();
        members.sort_small_by_key(|band| groups.get(band.index()));
        let group_of = |band: &BandId| groups.get(band.index()).copied().unwrap_or_default();
        let mut bands = vec![(Band::default(), BandState::default()); count];
        for group in members.chunk_by(|a, b| group_of(a) == group_of(b)) {
            let place = group.first().map(group_of).unwrap_or_default();
            let made = match *group {
                [alone] => self.copy_band(alone),
                _ => self.band_from_series(&self.sum_of(group.iter().copied(), all.clone())),
            };
            if let Some(band) = bands.get_mut(place.index()) {
                *band = made;
            }
        }
        let (bands, band_states) = bands.into_iter().unzip();
        Self {
            clock: self.clock.clone(),
            totals: self.totals.clone(),
            bands,
            band_states,
            capped: self.capped,
            ..Self::default()
        }
    }

    fn copy_band(&self, band: BandId) -> (Band, BandState) {
        let steps = self.bands.get(band.index()).map(|band| band.steps.clone());
        let band_of = |steps| Band {
            steps,
            folded_into: None,
        };
        let head = self.band_states.get(band.index()).copied();
        (
            steps.map(band_of).unwrap_or_default(),
            head.unwrap_or_default(),
        )
    }

    /// Creates a band with these bytes, from the first census on.
    fn band_from_series(&self, series: &[u64]) -> (Band, BandState) {
        let (mut band, mut head) = (Band::default(), BandState::default());
        for (census, &bytes) in series.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            let census = census as u32;
            band.steps.record(census, bytes, head.end, &self.clock);
            (head.bytes, head.end) = (bytes, census + 1);
        }
        (band, head)
    }

    /// Folds the bands with the smallest maxima into `rest`, until about half of the memory is freed. Bytes that
    /// a folded band holds later count for `rest` too. Returns how many bands were folded.
    ///
    /// Must be called between two censuses.
    pub fn fold_smallest(&mut self, rest: BandId) -> usize {
        let all = 0..self.len() as u32;
        let is_kept = |band: BandId| band != rest && self.folded_into(band).is_none();
        let mut order: Vec<(u64, BandId)> = (0..self.bands.len() as u32)
            .map(BandId)
            .filter(|&band| is_kept(band))
            .map(|band| (self.sums(band, all.clone()).max, band))
            .collect();
        order.sort_unstable();
        let half = self.steps_bytes() / 2;
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
        let band = self.band_from_series(&series);
        for band in &folded {
            let into = Some(rest);
            self.set_band(
                *band,
                (
                    Band {
                        folded_into: into,
                        ..Band::default()
                    },
                    BandState::default(),
                ),
            );
        }
        self.set_band(rest, band);
        self.folded = true;
        folded.len()
    }

    fn set_band(&mut self, id: BandId, new_band: (Band, BandState)) {
        let place = (self.bands.get_mut(id.index())).zip(self.band_states.get_mut(id.index()));
        if let Some((band, head)) = place {
            (*band, *head) = new_band;
        }
    }

    /// Returns the band that takes the bytes of a folded one; `None` if it was not folded.
    pub fn folded_into(&self, band: BandId) -> Option<BandId> {
        self.bands.get(band.index())?.folded_into
    }
}
