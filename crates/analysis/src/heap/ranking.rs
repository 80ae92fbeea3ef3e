//! What all bands of a profile come to in a range, and in which order they
//! stand.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use model::census::{BandId, BandSums, Censuses};
use model::sorting::SortSmall;

/// In what order bands stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// Those first that hold the most bytes, summed over the censuses.
    #[default]
    Size,
    /// Those first whose bytes differ the most (standard deviation).
    Deviation,
    /// By name; numbers in it as numbers.
    Name,
    /// Those first that grow the most in bytes per second.
    Growth,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Size, Self::Deviation, Self::Name, Self::Growth];

    /// Its word in links and on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Deviation => "stddev",
            Self::Name => "name",
            Self::Growth => "growth",
        }
    }
}

/// What the bands of a profile come to in some censuses. Bands that hold nothing
/// there are not in it.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    censuses: Range<u32>,
    /// By band.
    sums: Vec<(BandId, BandSums)>,
    bytes: u128,
}

impl Ranking {
    /// Sums up some censuses.
    #[must_use]
    pub fn of(censuses: &Censuses, places: Range<u32>) -> Self {
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

    /// The censuses that it is about.
    #[must_use]
    pub const fn censuses(&self) -> &Range<u32> {
        &self.censuses
    }

    /// All bands with their sums.
    #[must_use]
    pub fn bands(&self) -> &[(BandId, BandSums)] {
        &self.sums
    }

    /// The bytes of all bands, summed over the censuses.
    #[must_use]
    pub const fn bytes(&self) -> u128 {
        self.bytes
    }

    /// The sums of one band; those of a band that holds nothing are all zero.
    #[must_use]
    pub fn sums(&self, band: BandId) -> BandSums {
        let found = self.sums.binary_search_by_key(&band, |&(band, _)| band);
        let sums = found.ok().and_then(|place| self.sums.get(place));
        sums.map(|&(_, sums)| sums).unwrap_or_default()
    }

    /// Puts bands in an order; those that are equal by their numbers.
    pub fn sort<'n>(
        &self,
        bands: &mut [BandId],
        (order, reversed): (Order, bool),
        name: impl Fn(BandId) -> &'n str,
    ) {
        match order {
            Order::Size => by(bands, reversed, |band| self.sums(band).bytes),
            Order::Deviation => by(bands, reversed, |band| Float(self.sums(band).stddev())),
            Order::Growth => by(bands, reversed, |band| {
                let growth = self.sums(band).growth();
                Float(growth.map_or(0.0, |growth| growth.bytes_per_second))
            }),
            Order::Name => {
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

/// The greatest first, or the least.
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

/// Numbers in order; what is no number stands last.
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
