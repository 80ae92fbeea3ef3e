//! Cache shared by heap profile queries: band names, groups of bands, and sums over ranges.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::choice::{Grouping, HeapChoice};
use super::tree::TreeSums;
use crate::count_lru::CountLru;
use analysis::heap::names::BandDescription;
use analysis::heap::ranking::Ranking;
use analysis::heap::{HeapProfile, Label};
use analysis::recording::Recording;
use eventlog::hash::SeededMap;
use model::census::{BandId, Censuses};
use model::profile::heap::CensusRanges;

/// Capacity of each cache.
const MAX_ENTRIES: usize = 4;

/// Intermediate results of heap profile queries.
#[derive(Debug, Default)]
pub struct HeapCache {
    bands: CountLru<BandsKey, Bands, MAX_ENTRIES>,
    rankings: CountLru<(BandsKey, Range<u32>), Ranking, MAX_ENTRIES>,
    trees: CountLru<(u32, CensusRanges), TreeSums, MAX_ENTRIES>,
}

impl HeapCache {
    /// Returns the sums of a profile's stacks over some censuses.
    pub(super) fn tree(
        &self,
        of: (u32, CensusRanges),
        make: impl FnOnce() -> TreeSums,
    ) -> Arc<TreeSums> {
        self.trees.get(of, |_| make())
    }
}

/// Cache key: selection of bands, and how much of the log was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BandsKey {
    profile: u32,
    group: Grouping,
    /// Number of censuses, rounded down while the log is being read.
    censuses: usize,
    complete: bool,
}

/// Rounds the number of censuses down by at most an eighth while a log is being read. Bands are renamed and summed
/// again only when the rounded number changes: with 50,000 bands that takes longer than reading a census.
fn stable_census_count(censuses: usize, complete: bool) -> usize {
    let digits = usize::BITS - censuses.leading_zeros();
    let shift = if complete {
        0
    } else {
        digits.saturating_sub(4)
    };
    censuses >> shift << shift
}

/// Named bands of a profile, or named groups of bands.
#[derive(Debug)]
pub struct Bands {
    key: BandsKey,
    /// Number of censuses when the bands were named.
    seen: u32,
    /// Censuses of groups; `None` if the bands are those of the profile.
    groups: Option<Censuses>,
    names: Vec<BandName>,
}

/// Names of a band.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BandName {
    /// Key in links, which never changes for a log.
    pub key: String,
    /// Display name, unique among the bands.
    pub name: String,
    /// Description, module and source location; may be empty.
    pub subtitle: String,
}

impl Bands {
    /// Returns the censuses to which the band ids refer.
    pub fn censuses<'a>(&'a self, profile: &'a HeapProfile) -> &'a Censuses {
        self.groups.as_ref().unwrap_or(&profile.censuses)
    }

    /// Clips a range of censuses to those that existed when the bands were named.
    pub fn clip_to_named(&self, places: Range<u32>) -> Range<u32> {
        places.start.min(self.seen)..places.end.min(self.seen)
    }

    /// Returns whether the bands are those of the profile rather than groups.
    pub(super) const fn are_single(&self) -> bool {
        self.groups.is_none()
    }

    /// Returns the key of a band; empty for an unknown one.
    pub fn key(&self, band: BandId) -> &str {
        self.names.get(band.index()).map_or("", |name| &name.key)
    }

    /// Returns the band with that key.
    pub fn find(&self, key: &str) -> Option<BandId> {
        let place = self.names.iter().position(|name| name.key == key)?;
        Some(BandId(place as u32))
    }

    /// Returns the display name of a band; empty for an unknown one.
    pub fn name(&self, band: BandId) -> &str {
        self.names.get(band.index()).map_or("", |name| &name.name)
    }

    /// Returns description, module and source location of a band; may be empty.
    pub fn subtitle(&self, band: BandId) -> &str {
        let name = self.names.get(band.index());
        name.map_or("", |name| &name.subtitle)
    }

    /// Returns the bands with those keys.
    pub(super) fn find_all(&self, keys: &[String]) -> Vec<BandId> {
        if keys.is_empty() {
            return Vec::new();
        }
        let places = 0..self.names.len() as u32;
        let all = places.map(BandId);
        all.filter(|&band| keys.iter().any(|key| key == self.key(band)))
            .collect()
    }

    /// Returns a predicate for the bands that pass the selection and its filter.
    pub(super) fn filter<'a>(&'a self, choice: &'a HeapChoice) -> impl Fn(BandId) -> bool + 'a {
        let filter = choice.filter.to_lowercase();
        move |band| {
            let (key, name) = (self.key(band), self.name(band));
            if let Some(alone) = &choice.alone {
                return key == alone;
            }
            let is_hidden = choice.hidden.iter().any(|hidden| hidden == key);
            let said = [name, self.subtitle(band), key];
            let has_filter = || {
                said.iter()
                    .any(|text| text.to_lowercase().contains(&filter))
            };
            !is_hidden && (filter.is_empty() || has_filter())
        }
    }

    fn new(recording: &Recording, profile: &HeapProfile, key: BandsKey) -> Self {
        let seen = profile.censuses.len() as u32;
        let all = (0..profile.censuses.bands() as u32).map(BandId);
        let described = all.map(|band| (key_of(profile, band), describe(recording, profile, band)));
        let Some(by) = key.group.group_by() else {
            return Self {
                key,
                seen,
                groups: None,
                names: disambiguate(described),
            };
        };
        let mut groups: Vec<BandName> = Vec::new();
        let mut known: SeededMap<String, BandId> = SeededMap::default();
        let of_band: Vec<BandId> = described
            .map(|(_, band)| {
                let name = by.group_of(&band).unwrap_or(Cow::Borrowed(by.unknown()));
                if let Some(group) = known.get(&*name) {
                    return *group;
                }
                let group = BandId(groups.len() as u32);
                known.insert(name.to_string(), group);
                groups.push(BandName {
                    key: name.to_string(),
                    name: name.into_owned(),
                    subtitle: String::new(),
                });
                group
            })
            .collect();
        let censuses = profile.censuses.grouped(&of_band, groups.len());
        Self {
            key,
            seen,
            groups: Some(censuses),
            names: groups,
        }
    }
}

/// Returns the description of a band.
pub fn describe(recording: &Recording, profile: &HeapProfile, band: BandId) -> BandDescription {
    let label = profile.label(band).unwrap_or(Label::Rest);
    let names = recording.band_names();
    names.describe(profile.kind.breakdown, &label)
}

/// Returns the key of a band in links.
fn key_of(profile: &HeapProfile, band: BandId) -> String {
    match profile.label(band) {
        Some(Label::Text(text)) => text.into_owned(),
        Some(Label::Stack(stack)) => {
            let key: Vec<String> = stack.iter().map(|id| id.0.to_string()).collect();
            key.join(";")
        }
        Some(Label::Rest) | None => "rest".to_owned(),
    }
}

/// Makes names unique: repeated names get a distinguishing detail, and if that does not suffice, the address.
fn disambiguate(all: impl Iterator<Item = (String, BandDescription)>) -> Vec<BandName> {
    let all: Vec<(String, BandDescription)> = all.collect();
    let names = || all.iter().map(|(_, band)| band.name.as_str());
    let long = names().zip(several(names()));
    let long: Vec<String> = (all.iter().zip(long))
        .map(|((_, band), (name, several))| match several {
            true => band.long_name(),
            false => name.to_owned(),
        })
        .collect();
    let still = several(long.iter().map(String::as_str));
    let named = all.into_iter().zip(long).zip(still);
    named
        .map(|(((key, band), name), several)| BandName {
            subtitle: band.subtitle(),
            name: match several && key.starts_with("0x") && name != key {
                true => format!("{name} {key}"),
                false => name,
            },
            key,
        })
        .collect()
}

/// Returns for each text whether it occurs more than once.
fn several<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Vec<bool> {
    let mut counts: SeededMap<&str, u32> = SeededMap::default();
    texts
        .clone()
        .for_each(|text| *counts.entry(text).or_default() += 1);
    texts
        .map(|text| counts.get(text).is_some_and(|count| *count > 1))
        .collect()
}

impl HeapCache {
    /// Returns the bands of a profile; `None` if the log has no such profile.
    pub(super) fn bands(
        &self,
        recording: &Recording,
        profile: u32,
        group: Grouping,
    ) -> Option<Arc<Bands>> {
        let found = recording.heap().selected(profile)?;
        let complete = recording.is_finished();
        let censuses = stable_census_count(found.censuses.len(), complete);
        let key = BandsKey {
            profile,
            group,
            censuses,
            complete,
        };
        Some(self.bands.get(key, |_| Bands::new(recording, found, key)))
    }

    /// Returns the sums of bands over some censuses.
    pub(super) fn ranking(
        &self,
        bands: &Bands,
        profile: &HeapProfile,
        places: Range<u32>,
    ) -> Arc<Ranking> {
        let key = (bands.key, places.clone());
        self.rankings
            .get(key, |_| Ranking::compute(bands.censuses(profile), places))
    }

    /// Clears everything that depends on names.
    pub(crate) fn forget(&self) {
        self.bands.clear();
        self.rankings.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::stable_census_count;

    #[test]
    fn while_a_log_is_read_few_of_its_censuses_are_waited_for() {
        for censuses in 0..5_000 {
            assert_eq!(stable_census_count(censuses, true), censuses);
            let known = stable_census_count(censuses, false);
            assert!(
                known <= censuses && censuses - known <= censuses / 8,
                "{known} of {censuses}"
            );
        }
        let mut all: Vec<usize> = (0..5_000)
            .map(|censuses| stable_census_count(censuses, false))
            .collect();
        all.dedup();
        assert!(all.len() < 100, "{}", all.len());
    }
}
