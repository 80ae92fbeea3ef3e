//! Sums and sort orders of the bands of a profile in a range.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use model::census::{BandId, BandSums, Censuses};
use model::sorting::CompactSort;

model::named_enum! {
    /// Sort order of bands.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum BandOrder: from_name {
        /// Most bytes first, summed over the censuses.
        #[default]
        Size: "size";
        /// Largest standard deviation first.
        Deviation: "stddev";
        /// By name, with numbers in numeric order.
        Name: "name";
        /// Fastest growth in bytes per second first.
        Growth: "growth";
    }
    /// Returns the word for the order in links and on the command line.
    fn name;
}

/// Sums of the bands of a profile over some censuses, without bands that hold nothing there.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    censuses: Range<u32>,
    /// Sorted by band.
    sums: Vec<(BandId, BandSums)>,
    bytes: u128,
}

impl Ranking {
    /// Computes the sums over some censuses.
    pub fn compute(censuses: &Censuses, places: Range<u32>) -> Self {
        let all = (0..censuses.bands() as u32).map(BandId);
        let sums = all.map(|band| (band, censuses.sums(band, places.clone())));
        let sums: Vec<_> = sums.filter(|(_, sums)| sums.held > 0).collect();
        let bytes = sums.iter().map(|(_, sums)| sums.bytes).sum();
        Self {
            censuses: places,
            sums,
            bytes,
        }
    }

    /// Returns the range of censuses.
    pub const fn censuses(&self) -> &Range<u32> {
        &self.censuses
    }

    /// Returns all bands with their sums.
    pub fn bands(&self) -> &[(BandId, BandSums)] {
        &self.sums
    }

    /// Returns the bytes of all bands, summed over the censuses.
    pub const fn bytes(&self) -> u128 {
        self.bytes
    }

    /// Returns the sums of a band; all zero for a band that holds nothing.
    pub fn sums(&self, band: BandId) -> BandSums {
        let found = self.sums.binary_search_by_key(&band, |&(band, _)| band);
        let sums = found.ok().and_then(|place| self.sums.get(place));
        sums.map(|&(_, sums)| sums).unwrap_or_default()
    }

    /// Sorts bands. Equal bands are ordered by number.
    pub fn sort<'n>(
        &self,
        bands: &mut [BandId],
        (order, reversed): (BandOrder, bool),
        name: impl Fn(BandId) -> &'n str,
    ) {
        match order {
            BandOrder::Size => by(bands, reversed, |band| self.sums(band).bytes),
            BandOrder::Deviation => by(bands, reversed, |band| Float(self.sums(band).stddev())),
            BandOrder::Growth => by(bands, reversed, |band| {
                let growth = self.sums(band).growth();
                Float(growth.map_or(0.0, |growth| growth.bytes_per_second))
            }),
            BandOrder::Name => {
                bands.sort_small_by(|a, b| {
                    alphanumeric_sort::compare_str(name(*a), name(*b)).then(a.cmp(b))
                });
                if reversed {
                    bands.reverse();
                }
            }
        }
    }
}

/// Sorts by descending key, or ascending if `reversed`.
fn by<K: Ord>(bands: &mut [BandId], reversed: bool, key: impl Fn(BandId) -> K) {
    let mut keyed: Vec<(K, BandId)> = bands.iter().map(|&band| (key(band), band)).collect();
    keyed.sort_small_by(|(key, band), (other_key, other)| {
        let order = key.cmp(other_key);
        let order = if reversed { order } else { order.reverse() };
        order.then(band.cmp(other))
    });
    for (place, (_, band)) in bands.iter_mut().zip(keyed) {
        *place = band;
    }
}

/// Total order of floats; positive NaN is greatest.
#[derive(PartialEq)]
struct Float(f64);

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
