//! Heap census data: shared code of rules about closure types.

use super::prelude::*;
use analysis::heap::{Breakdown, HeapProfile, Label};
use model::gauge::Samples;
use model::sorting::CompactSort;

/// Largest census of a heap profile in the range.
pub(super) struct Peak<'a> {
    pub(super) profile: &'a HeapProfile,
    pub(super) census: u32,
    /// All live data in the census, in bytes.
    pub(super) bytes: u64,
}

impl<'a> Peak<'a> {
    /// Returns the largest census by closure type; `None` if there is no such profile of the whole heap.
    pub(super) fn find(context: &RuleContext<'a>) -> Option<Self> {
        let is_whole = |profile: &&HeapProfile| {
            profile.kind.breakdown == Breakdown::ClosureType && profile.kind.filters.is_empty()
        };
        Self::in_profile(context.log.heap().iter().find(is_whole)?, context)
    }

    /// Returns the largest census of a profile in the range; `None` if it has none.
    pub(super) fn in_profile(profile: &'a HeapProfile, context: &RuleContext<'a>) -> Option<Self> {
        let places = profile.censuses_in(Some(context.range), context.log.end());
        let total = |census: &u32| profile.censuses.totals().get(*census as usize).copied();
        let (bytes, census) = places
            .filter_map(|census| Some((total(&census)?, census)))
            .max()?;
        Some(Self {
            profile,
            census,
            bytes,
        })
    }

    /// Returns the bytes of all closure types for which `wanted` holds.
    pub(super) fn bytes_of(&self, wanted: impl Fn(&str) -> bool) -> u64 {
        let types = self.types(wanted);
        let bytes = types.iter().map(|(_, bytes)| *bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns bytes as a share of the census.
    pub(super) fn share(&self, bytes: u64) -> f64 {
        bytes as f64 / self.bytes.max(1) as f64
    }

    /// Returns name and bytes of the closure types for which `wanted` holds, largest first.
    pub(super) fn types(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
        let bands = self.profile.bands().filter_map(|band| {
            let Some(Label::Text(name)) = self.profile.label(band) else {
                return None;
            };
            let bytes = self.profile.censuses.bytes_at(band, self.census);
            (bytes > 0 && wanted(&name)).then(|| (name.into_owned(), bytes))
        });
        let mut bands: Vec<_> = bands.collect();
        bands.sort_small_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        bands
    }

    /// Returns the bytes of the closure types for which `wanted` holds, in each census up to this one.
    pub(super) fn series(&self, wanted: impl Fn(&str) -> bool) -> Vec<u64> {
        let mut sums = vec![0_u64; self.census as usize + 1];
        for band in self.profile.bands() {
            let Some(Label::Text(name)) = self.profile.label(band) else {
                continue;
            };
            if wanted(&name) {
                let series = self.profile.censuses.series(band, 0..self.census + 1);
                for (sum, bytes) in sums.iter_mut().zip(series) {
                    *sum = sum.saturating_add(bytes);
                }
            }
        }
        sums
    }

    /// Returns the live data after the collection with the census, in bytes. The runtime counts whole blocks
    /// (`genLiveWords` in `rts/sm/Storage.c`), and logs it soon after the census.
    pub(super) fn live_bytes(&self, context: &RuleContext<'_>) -> Option<u64> {
        let live = context.log.numbers.live();
        let next = live.first_at(self.moment().start().0);
        (next < live.len()).then(|| live.value(next))
    }

    /// Returns evidence of these bytes at the time of the census.
    pub(super) fn evidence(&self, bytes: u64) -> Evidence {
        Evidence::new(self.moment(), Value::Bytes(bytes))
    }

    /// Returns the time of the census.
    fn moment(&self) -> Interval {
        let time = self.profile.time(self.census).unwrap_or(Nanos(0));
        Interval::empty_at(time)
    }
}

/// Returns the three largest bands of the largest census with their shares, from a profile of any kind. Example:
/// `: (37 %), I# (25 %)`. Returns `None` without a profile.
pub(super) fn largest_bands(context: &RuleContext<'_>) -> Option<String> {
    const MAX_BANDS: usize = 3;
    let is_whole = |profile: &&HeapProfile| profile.kind.filters.is_empty();
    let profile = context.log.heap().iter().find(is_whole)?;
    let peak = Peak::in_profile(profile, context)?;
    let names = context.log.band_names();
    let mut bands: Vec<_> = profile
        .bands()
        .filter_map(|band| {
            let name = names.describe(profile.kind.breakdown, &profile.label(band)?);
            Some((name.name, profile.censuses.bytes_at(band, peak.census)))
        })
        .collect();
    bands.sort_small_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let largest = bands
        .into_iter()
        .take(MAX_BANDS)
        .filter(|(_, bytes)| *bytes > 0);
    let share = |bytes: u64| format::fraction(peak.share(bytes));
    let largest = largest.map(|(name, bytes)| format!("{name} ({})", share(bytes)));
    Some(largest.collect::<Vec<String>>().join(", "))
}

/// Reason why a rule cannot answer without a profile by closure type.
pub(super) const NO_PROFILE_MESSAGE: &str =
    "the log has no heap profile by closure type: run the program with +RTS -hT -l";
