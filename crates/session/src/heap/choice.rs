//! Selection of heap profile bands, shared by chart, table, track and command line.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cache::{Bands, HeapCache};
use analysis::heap::groups::GroupBy;
use analysis::heap::ranking::{BandOrder, Ranking};
use analysis::heap::{HeapProfile, Label};
use analysis::recording::Recording;
use eventlog::names::Key;
use model::census::BandId;
use model::sorting::CompactSort;
use model::time::Interval;

model::named_enum! {
    /// Property by which bands are merged into groups.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum Grouping: from_name {
        /// No grouping: the bands of the log.
        #[default]
        Band: "band", "no groups";
        /// Bands with the same display name.
        Name: "name", "by name";
        /// Bands of the same package.
        Package: "package", "by package";
        /// Bands of the same module.
        Module: "module", "by module";
        /// Bands of the same type.
        Type: "type", "by type";
        /// By kind of closure: functions, thunks, constructors, arrays…
        Kind: "kind", "by kind";
    }
    /// Returns the name in links, which never changes.
    fn name;
    /// Returns the display name.
    fn title;
}

impl Grouping {
    /// Returns the property to group by; `None` for no grouping.
    pub const fn group_by(self) -> Option<GroupBy> {
        Some(match self {
            Self::Band => return None,
            Self::Name => GroupBy::Name,
            Self::Package => GroupBy::Package,
            Self::Module => GroupBy::Module,
            Self::Type => GroupBy::Type,
            Self::Kind => GroupBy::Kind,
        })
    }
}

/// Selection and order of bands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeapChoice {
    /// Index of the profile in the log.
    pub profile: u32,
    /// Grouping of the bands.
    pub group: Grouping,
    /// Maximum number of individual bands: those with the most bytes. All others are shown as one.
    pub bands: u32,
    /// Order of the individual bands.
    pub order: BandOrder,
    /// Whether the order is reversed.
    pub reversed: bool,
    /// Text that name, subtitle or key must contain, ignoring case.
    pub filter: String,
    /// Keys of excluded bands.
    pub hidden: Vec<String>,
    /// Key of the only band to show; overrides `hidden` and `filter`.
    pub alone: Option<String>,
    /// Key of a band that is always shown individually.
    pub pinned: Option<String>,
}

impl Default for HeapChoice {
    fn default() -> Self {
        Self {
            profile: 0,
            group: Grouping::Band,
            bands: 15,
            order: BandOrder::Size,
            reversed: false,
            filter: String::new(),
            hidden: Vec::new(),
            alone: None,
            pinned: None,
        }
    }
}

/// Selection of bands together with the range by which they are ranked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapFilter {
    /// Profile, grouping and filter of the bands.
    pub choice: HeapChoice,
    /// Range by which bands are ranked; `None` is the whole log.
    pub range: Option<Interval>,
}

/// Selected bands of a profile, with their sums in a range.
#[derive(Clone, Debug)]
pub struct SelectedBands {
    /// Index of the profile in the log.
    pub profile: u32,
    /// All bands of the profile, with names.
    pub bands: Arc<Bands>,
    /// Sums of each band over the censuses of the range.
    pub ranking: Arc<Ranking>,
    /// Bands shown individually, in display order.
    pub shown: Vec<BandId>,
    /// Bands shown as one.
    pub others: Vec<BandId>,
    /// Excluded bands; `None` if a filter or a single-band selection excludes others too.
    left_out: Option<Vec<BandId>>,
    /// Key of the pinned band.
    pub pinned: Option<String>,
}

/// Heap profiles of a log, with the cache of their queries.
#[derive(Clone, Copy, Debug)]
pub struct HeapLog<'a> {
    /// Results of the analyses.
    pub recording: &'a Recording,
    /// Intermediate results of earlier queries.
    pub cache: &'a HeapCache,
}

impl<'a> HeapLog<'a> {
    /// Returns the label of a band for other programs: as in the log, or for a stack, the names of its cost
    /// centres, innermost first.
    pub fn label(&self, profile: &HeapProfile, band: BandId) -> String {
        let centre = |id| {
            let name = self.recording.names.get(Key::CostCentre(id));
            name.map_or_else(|| format!("cost centre {id}"), str::to_owned)
        };
        match profile.label(band) {
            Some(Label::Text(text)) => text.into_owned(),
            Some(Label::Stack(stack)) if stack.is_empty() => "MAIN".to_owned(),
            Some(Label::Stack(stack)) => {
                let names: Vec<String> = stack.into_iter().map(centre).collect();
                names.join(";")
            }
            Some(Label::Rest) | None => "OTHER".to_owned(),
        }
    }

    /// Returns the selected profile, or else the first one.
    pub fn profile(self, choice: &HeapChoice) -> Option<&'a HeapProfile> {
        self.recording.heap().selected(choice.profile)
    }

    /// Returns all bands of the selected profile and grouping, whether or not they pass the filter.
    pub fn bands(self, choice: &HeapChoice) -> Option<Arc<Bands>> {
        self.cache
            .bands(self.recording, choice.profile, choice.group)
    }

    /// Returns the selected bands with their sums in a range, or in the whole profile; `None` if the log has no
    /// such profile. The range is ignored for profiles without times.
    pub fn select_bands(
        self,
        choice: &HeapChoice,
        range: Option<Interval>,
    ) -> Option<SelectedBands> {
        let bands = self.bands(choice)?;
        let profile = self.profile(choice)?;
        let places = bands.clip_to_named(profile.censuses_in(range, self.recording.end()));
        let ranking = self.cache.ranking(&bands, profile, places);
        Some(SelectedBands::select(bands, ranking, choice))
    }
}

impl SelectedBands {
    /// Returns each census with the individual bands that hold bytes: index in `shown`, and bytes. Some censuses at a
    /// time are extracted from the bands.
    pub fn by_census<'a>(
        &'a self,
        profile: &'a HeapProfile,
    ) -> impl Iterator<Item = (u32, Vec<(usize, u64)>)> + 'a {
        const AT_ONCE: u32 = 64;
        let censuses = self.ranking.censuses().clone();
        censuses
            .clone()
            .step_by(AT_ONCE as usize)
            .flat_map(move |from| {
                let part = from..from.saturating_add(AT_ONCE).min(censuses.end);
                part.clone().zip(self.bands_in(profile, &part))
            })
    }

    fn bands_in(&self, profile: &HeapProfile, part: &Range<u32>) -> Vec<Vec<(usize, u64)>> {
        let mut found = vec![Vec::new(); part.len()];
        let censuses = self.bands.censuses(profile);
        for (place, &band) in self.shown.iter().enumerate() {
            let held = censuses.runs(band, part.clone());
            for run in held.filter(|run| run.bytes > 0) {
                for census in run.censuses.clone() {
                    found[(census - part.start) as usize].push((place, run.bytes));
                }
            }
        }
        found
    }

    fn select(bands: Arc<Bands>, ranking: Arc<Ranking>, choice: &HeapChoice) -> Self {
        let wanted = bands.filter(choice);
        let matching = ranking.bands().iter().filter(|(band, _)| wanted(*band));
        let mut matching: Vec<(u128, BandId)> =
            matching.map(|(band, sums)| (sums.bytes, *band)).collect();
        drop(wanted);
        matching.sort_small_by_key(|&(bytes, band)| (std::cmp::Reverse(bytes), band));
        let mut order: Vec<BandId> = matching.into_iter().map(|(_, band)| band).collect();
        let mut others = order.split_off(order.len().min(choice.bands as usize));
        let pinned = choice.pinned.as_deref();
        let is_pinned = |band: &BandId| pinned.is_some_and(|key| bands.key(*band) == key);
        if let Some(place) = others.iter().position(is_pinned) {
            order.push(others.remove(place));
        }
        ranking.sort(&mut order, (choice.order, choice.reversed), |band| {
            bands.name(band)
        });
        let only_hidden = choice.filter.is_empty() && choice.alone.is_none();
        Self {
            left_out: only_hidden.then(|| bands.find_all(&choice.hidden)),
            profile: choice.profile,
            bands,
            ranking,
            shown: order,
            others,
            pinned: choice.pinned.clone(),
        }
    }

    /// Returns the total of the bands shown as one, in each of some censuses.
    pub fn others_in(&self, profile: &HeapProfile, places: Range<u32>) -> Vec<u64> {
        let censuses = self.bands.censuses(profile);
        let Some(left_out) = &self.left_out else {
            return censuses.sum_of(self.others.iter().copied(), places);
        };
        // Subtracting the few other bands from the totals is cheaper than adding all the rest.
        let few = self.shown.iter().chain(left_out).copied();
        let few = censuses.sum_of(few, places.clone());
        let totals = places.zip(few).map(|(census, few)| {
            let total = censuses.total(census);
            total.saturating_sub(few)
        });
        totals.collect()
    }
}
