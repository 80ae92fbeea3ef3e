//! What the two rules about closure types ask of a heap profile.

use crate::context::RuleContext;
use crate::finding::{Evidence, Value};
use analysis::heap::{Breakdown, HeapProfile, Label};
use eventlog::ids::Nanos;
use model::format;
use model::gauge::Samples;
use model::sorting::CompactSort;
use model::time::Interval;

/// The largest census of a profile by closure type in a part of a log.
pub(super) struct Peak<'a> {
    profile: &'a HeapProfile,
    census: u32,
    /// Everything that is alive in it.
    pub(super) bytes: u64,
}

impl<'a> Peak<'a> {
    /// `None` if there is no such profile of the whole heap.
    pub(super) fn in_scope(context: &RuleContext<'a>) -> Option<Self> {
        let is_whole = |profile: &&HeapProfile| {
            profile.kind.breakdown == Breakdown::ClosureType && profile.kind.filters.is_empty()
        };
        Self::of(context.log.heap().iter().find(is_whole)?, context)
    }

    fn of(profile: &'a HeapProfile, context: &RuleContext<'a>) -> Option<Self> {
        let places = profile.places(Some(context.range), context.log.end());
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

    /// The bytes of the types of which `wanted` holds, with their names, the most first.
    pub(super) fn types(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
        let bands = self.profile.bands().filter_map(|band| {
            let Some(Label::Text(name)) = self.profile.label(band) else {
                return None;
            };
            let bytes = self.profile.censuses.at(band, self.census);
            (bytes > 0 && wanted(&name)).then(|| (name.into_owned(), bytes))
        });
        let mut bands: Vec<_> = bands.collect();
        bands.sort_small_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        bands
    }

    /// What the collection of the census left alive, in bytes: whole blocks, as the runtime counts
    /// it (`genLiveWords` in `rts/sm/Storage.c`). It is written soon after the census.
    pub(super) fn live_bytes(&self, context: &RuleContext<'_>) -> Option<u64> {
        let live = context.log.numbers.live();
        let next = live.first_at(self.moment().start().0);
        (next < live.len()).then(|| live.value(next))
    }

    /// It as the place where bytes were seen.
    pub(super) fn evidence(&self, bytes: u64) -> Evidence {
        Evidence {
            range: self.moment(),
            subjects: Vec::new(),
            amount: Value::Bytes(bytes),
        }
    }

    /// When it was.
    fn moment(&self) -> Interval {
        let time = self.profile.time(self.census).unwrap_or(Nanos(0));
        Interval::new(time, time)
    }
}

/// The three largest bands of the largest census, of a profile of any kind, with their shares: `:
/// (37 %), I# (25 %)`. `None` without a profile.
pub(super) fn largest_bands(context: &RuleContext<'_>) -> Option<String> {
    const MOST: usize = 3;
    let is_whole = |profile: &&HeapProfile| profile.kind.filters.is_empty();
    let profile = context.log.heap().iter().find(is_whole)?;
    let peak = Peak::of(profile, context)?;
    let names = context.log.band_names();
    let mut bands: Vec<_> = profile
        .bands()
        .filter_map(|band| {
            let name = names.describe(profile.kind.breakdown, &profile.label(band)?);
            Some((name.name, profile.censuses.at(band, peak.census)))
        })
        .collect();
    bands.sort_small_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let share = |bytes: u64| format::fraction(bytes as f64 / peak.bytes.max(1) as f64);
    let largest = bands.into_iter().take(MOST).filter(|(_, bytes)| *bytes > 0);
    let largest = largest.map(|(name, bytes)| format!("{name} ({})", share(bytes)));
    Some(largest.collect::<Vec<String>>().join(", "))
}

/// Why nothing can be told without such a profile.
pub(super) const WITHOUT: &str =
    "the log has no heap profile by closure type: run the program with +RTS -hT -l";
