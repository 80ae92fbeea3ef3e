//! Sortable list of collections, and distribution of their pauses.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Collection, Numbers};
use eventlog::ids::Nanos;
use model::sorting::rows_in_order;
use model::time::Interval;

/// Column by which collections are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CollectionColumn {
    /// Time at which the collection began.
    #[default]
    Start,
    /// Number of the collection.
    Number,
    /// Oldest generation collected.
    Generation,
    /// Sequential collections before parallel ones.
    Kind,
    /// Length of the pause.
    Pause,
    /// Number of threads that collected.
    Threads,
    /// Time from the request to the start.
    Sync,
    /// Bytes copied by the collection.
    Copied,
    /// Unused bytes at the ends of blocks.
    Slop,
    /// Live bytes after the collection.
    Live,
    /// Bytes allocated since the previous collection.
    Allocated,
}

impl CollectionColumn {
    /// Returns a number that sorts like the column; unknown values come first.
    fn key(self, gc: &Collection) -> u64 {
        let known = |number: Option<u64>| number.map_or(0, |number| number.saturating_add(1));
        match self {
            Self::Start => gc.start.0,
            Self::Number => gc.number.into(),
            Self::Generation => known(gc.generation.map(u64::from)),
            Self::Kind => gc.is_parallel().into(),
            Self::Pause => gc.pause_ns(),
            Self::Threads => gc.threads.into(),
            Self::Sync => known(gc.sync_ns),
            Self::Copied => gc.copied_bytes,
            Self::Slop => gc.slop_bytes,
            Self::Live => known(gc.live_bytes),
            Self::Allocated => gc.allocated_bytes,
        }
    }
}

impl Collection {
    /// Returns the share of bytes copied in balance; `None` for sequential collections, and before GHC 8.4.
    pub fn balance(&self) -> Option<f64> {
        let known = self.is_parallel() && self.copied_bytes > 0;
        let balanced = self.balanced_bytes.filter(|_| known)?;
        Some(balanced as f64 / self.copied_bytes as f64)
    }
}

/// Query for a list of collections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionsQuery {
    /// Restricts the list to collections that begin in this range.
    pub range: Option<Interval>,
    /// Sort column; ties are sorted by time.
    pub sort: CollectionColumn,
    /// Whether the largest values come first.
    pub descending: bool,
    /// Rows of the sorted list to return.
    pub rows: Range<u64>,
    /// Restricts the list to pauses of this length in ns.
    pub pause_ns: Option<Range<u64>>,
    /// Whether to return the distribution of pauses, of any length. It is the same for all rows.
    pub pauses: bool,
}

/// Histogram bin of pauses, by length in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseBin {
    /// Lower bound in ns, inclusive.
    pub from_ns: u64,
    /// Upper bound in ns, exclusive.
    pub to_ns: u64,
    /// Number of pauses in the bin.
    pub count: u64,
    /// Total length of these pauses in ns.
    pub total_ns: u64,
}

/// Pause of a collection. Ordered by length, then by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RankedPause {
    /// Length in ns.
    pub ns: u64,
    /// Start time.
    pub start: Nanos,
    /// Number of the collection.
    pub collection: u32,
}

impl RankedPause {
    const fn from_collection(gc: &Collection) -> Self {
        Self {
            ns: gc.pause_ns(),
            start: gc.start,
            collection: gc.number,
        }
    }

    /// Returns the time range.
    pub const fn span(&self) -> Interval {
        Interval::new(self.start, Nanos(self.start.0.saturating_add(self.ns)))
    }
}

/// Distribution of the pauses of some collections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseDistribution {
    /// Generation collected. `None` for all collections together, and for those of unknown generation.
    pub generation: Option<u16>,
    /// Number of pauses.
    pub count: u64,
    /// Total length in ns.
    pub total_ns: u64,
    /// Median by nearest rank.
    pub median: RankedPause,
    /// 90th percentile by nearest rank.
    pub p90: RankedPause,
    /// 99th percentile by nearest rank.
    pub p99: RankedPause,
    /// Longest pause.
    pub longest: RankedPause,
    /// Histogram; all generations have the same bins.
    pub bins: Vec<PauseBin>,
}

/// Answer to a [`CollectionsQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionsReply {
    /// Index of the first row in the sorted list.
    pub first: u64,
    /// Requested rows, as far as the list has them.
    pub rows: Vec<Collection>,
    /// Length of the whole list.
    pub total: u64,
    /// Distribution for all collections first, then by generation; empty if there are none, or it was not
    /// requested.
    pub pauses: Vec<PauseDistribution>,
}

impl Numbers {
    /// Lists collections of a log whose last event is at `end`.
    pub fn collections(&self, end: Nanos, query: &CollectionsQuery) -> CollectionsReply {
        let window = self.window(end, query.range);
        let mut found: Vec<(u64, Nanos, u32)> = Vec::new();
        let wanted = |gc: &&Collection| match &query.pause_ns {
            Some(lengths) => lengths.contains(&gc.pause_ns()),
            None => true,
        };
        for gc in self.collections_in(window).filter(wanted) {
            let key = query.sort.key(gc);
            let key = if query.descending { !key } else { key };
            found.push((key, gc.start, gc.number));
        }
        let pauses = if query.pauses {
            pauses(self.collections_in(window))
        } else {
            Vec::new()
        };
        let total = found.len() as u64;
        let places = rows_in_order(found.len(), &query.rows, &mut |a, b| {
            found[a].cmp(&found[b])
        });
        let rows = places.into_iter().map(|place| found[place].2);
        CollectionsReply {
            first: query.rows.start,
            rows: rows
                .filter_map(|number| self.collection(number).copied())
                .collect(),
            total,
            pauses,
        }
    }
}

fn pauses<'a>(collections: impl Iterator<Item = &'a Collection>) -> Vec<PauseDistribution> {
    let mut generations: Vec<(Option<u16>, Vec<RankedPause>)> = Vec::new();
    for gc in collections {
        let found = generations.binary_search_by_key(&gc.generation, |&(of, _)| of);
        let place = found.unwrap_or_else(|place| {
            generations.insert(place, (gc.generation, Vec::new()));
            place
        });
        if let Some((_, list)) = generations.get_mut(place) {
            list.push(RankedPause::from_collection(gc));
        }
    }
    let lists: Vec<&[RankedPause]> = generations.iter().map(|(_, list)| &list[..]).collect();
    let mut all = lists.concat();
    let (Some(&least), Some(&most)) = (all.iter().min(), all.iter().max()) else {
        return Vec::new();
    };
    let bounds = bounds(least.ns, most.ns);
    let mut pauses = vec![distribution(None, &mut all, &bounds)];
    for (generation, mut list) in generations {
        pauses.push(distribution(generation, &mut list, &bounds));
    }
    pauses
}

/// Returns bounds of bins from at most `least` to above `most`: 0, and 1, 2 and 5 times the powers of ten.
fn bounds(least: u64, most: u64) -> Vec<u64> {
    let decades = (0..20).filter_map(|power| 10u64.checked_pow(power));
    let steps = decades.flat_map(|decade| [1u64, 2, 5].map(|step| step.saturating_mul(decade)));
    let steps: Vec<u64> = std::iter::once(0).chain(steps).collect();
    let first = steps.partition_point(|&step| step <= least);
    let last = steps.partition_point(|&step| step <= most);
    let bounds = steps.get(first.saturating_sub(1)..=last);
    bounds.unwrap_or(&[0, u64::MAX]).to_vec()
}

/// Computes the distribution of a non-empty list, and reorders it.
fn distribution(
    generation: Option<u16>,
    list: &mut [RankedPause],
    bounds: &[u64],
) -> PauseDistribution {
    let mut bins = empty_bins(bounds);
    for &pause in &*list {
        let bin = bounds.partition_point(|&bound| bound <= pause.ns);
        if let Some(bin) = bin.checked_sub(1).and_then(|bin| bins.get_mut(bin)) {
            bin.count += 1;
            bin.total_ns = bin.total_ns.saturating_add(pause.ns);
        }
    }
    let len = list.len();
    // Percentile by nearest rank. Selection leaves all longer pauses behind the selected one, so the next search
    // continues from there.
    let mut from = 0;
    let mut percentile = |percent: usize| {
        let place = (len * percent).div_ceil(100).max(1) - 1;
        let rest = list.get_mut(from..).unwrap_or_default();
        let within = place - from;
        from = place;
        if within < rest.len() {
            *rest.select_nth_unstable(within).1
        } else {
            RankedPause::default()
        }
    };
    let (median, p90) = (percentile(50), percentile(90));
    let (p99, longest) = (percentile(99), percentile(100));
    PauseDistribution {
        generation,
        count: len as u64,
        total_ns: sum(list),
        median,
        p90,
        p99,
        longest,
        bins,
    }
}

fn empty_bins(bounds: &[u64]) -> Vec<PauseBin> {
    let bin = |bounds: &[u64]| {
        let (from_ns, to_ns) = (*bounds.first()?, *bounds.get(1)?);
        Some(PauseBin {
            from_ns,
            to_ns,
            count: 0,
            total_ns: 0,
        })
    };
    bounds.windows(2).filter_map(bin).collect()
}

fn sum(pauses: &[RankedPause]) -> u64 {
    let lengths = pauses.iter().map(|pause| pause.ns);
    lengths.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_every_pause() {
        for (least, most) in [(0, 0), (1, 1), (7, 30_000), (999, 1000), (3, u64::MAX / 2)] {
            let bounds = bounds(least, most);
            assert!(bounds[0] <= least && bounds[bounds.len() - 1] > most);
            assert!(bounds.is_sorted());
        }
        assert_eq!(bounds(7, 30), [5, 10, 20, 50]);
    }

    #[test]
    fn percentiles_are_pauses_with_their_places() {
        let pause = |ns: u64, at: u64| RankedPause {
            ns,
            start: Nanos(at),
            collection: at as u32,
        };
        let mut list: Vec<RankedPause> = (1..=200).map(|i| pause(i * 77 % 201, i)).collect();
        let pauses = distribution(None, &mut list, &bounds(1, 200));
        let found = [pauses.median, pauses.p90, pauses.p99, pauses.longest];
        assert_eq!(found.map(|pause| pause.ns), [100, 180, 198, 200]);
        for pause in found {
            assert_eq!(pause.start.0 * 77 % 201, pause.ns);
        }
        assert_eq!(pauses.bins.iter().map(|bin| bin.count).sum::<u64>(), 200);
        // The earlier of equal pauses comes first, independent of input order.
        let one = distribution(None, &mut [pause(5, 9), pause(5, 7)], &bounds(5, 5));
        assert_eq!((one.median, one.p99), (pause(5, 7), pause(5, 9)));
    }
}
