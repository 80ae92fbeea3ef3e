//! Which bands of a heap profile are shown: what chart, table, track and command
//! line have in common.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cache::{Bands, HeapCache};
use analysis::heap::groups::GroupBy;
use analysis::heap::ranking::{Order, Ranking};
use analysis::heap::{HeapProfile, Label};
use analysis::recording::Recording;
use eventlog::names::Key;
use model::census::BandId;
use model::sorting::SortSmall;
use model::time::Interval;

/// What makes one band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Grouping {
    /// Nothing: the bands of the log.
    #[default]
    Band,
    /// What has one name.
    Name,
    /// What is of one package.
    Package,
    /// What is of one module.
    Module,
    /// What is of one type.
    Type,
    /// Closures of one kind: functions, thunks, constructors, arrays…
    Kind,
}

/// Each with its word in links, and its title.
const GROUPINGS: [(Grouping, &str, &str); 6] = [
    (Grouping::Band, "band", "no groups"),
    (Grouping::Name, "name", "by name"),
    (Grouping::Package, "package", "by package"),
    (Grouping::Module, "module", "by module"),
    (Grouping::Type, "type", "by type"),
    (Grouping::Kind, "kind", "by kind"),
];

impl Grouping {
    /// All of them, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        GROUPINGS.iter().map(|(grouping, ..)| *grouping)
    }

    /// By what bands are put together; `None` if they are not.
    #[must_use]
    pub const fn by(self) -> Option<GroupBy> {
        Some(match self {
            Self::Band => return None,
            Self::Name => GroupBy::Name,
            Self::Package => GroupBy::Package,
            Self::Module => GroupBy::Module,
            Self::Type => GroupBy::Type,
            Self::Kind => GroupBy::Kind,
        })
    }

    fn row(self) -> (&'static str, &'static str) {
        let found = GROUPINGS.iter().find(|(grouping, ..)| *grouping == self);
        found.map_or(("", ""), |&(_, word, title)| (word, title))
    }

    /// Its word in links, which never changes.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.row().0
    }

    /// What it is called.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.row().1
    }

    /// The one of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::all().find(|grouping| grouping.word() == word)
    }
}

/// Which bands, and in which order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeapChoice {
    /// Which profile of the log, from 0.
    pub profile: u32,
    /// What is put together.
    pub group: Grouping,
    /// How many bands are shown by themselves: those with the most bytes. All
    /// others are shown as one.
    pub bands: u32,
    /// In which order.
    pub order: Order,
    /// Whether in the opposite order.
    pub reversed: bool,
    /// What names must have in them, in upper or lower case.
    pub filter: String,
    /// Bands that are left out, by their keys.
    pub hidden: Vec<String>,
    /// The only band that is shown, by its key.
    pub alone: Option<String>,
    /// A band that is followed: it is always shown, by its key.
    pub pinned: Option<String>,
}

impl Default for HeapChoice {
    fn default() -> Self {
        Self {
            profile: 0,
            group: Grouping::Band,
            bands: 15,
            order: Order::Size,
            reversed: false,
            filter: String::new(),
            hidden: Vec::new(),
            alone: None,
            pinned: None,
        }
    }
}

/// Which bands are shown of a range; the whole log without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapAsked {
    /// Which bands.
    pub choice: HeapChoice,
    /// The range that decides about them.
    pub range: Option<Interval>,
}

/// The bands of a profile that were chosen, with their sums in a range.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The number of the profile.
    pub profile: u32,
    /// All bands of the profile, with names.
    pub bands: Arc<Bands>,
    /// What each comes to in the range.
    pub ranking: Arc<Ranking>,
    /// Those that are shown by themselves, in order.
    pub shown: Vec<BandId>,
    /// Those that are shown as one.
    pub others: Vec<BandId>,
    /// Those that are not shown at all, if they are no more than those that are
    /// hidden.
    left_out: Option<Vec<BandId>>,
    /// The key of the band that is followed.
    pub pinned: Option<String>,
}

/// The heap profiles of a log, with what questions about them keep.
#[derive(Clone, Copy, Debug)]
pub struct HeapLog<'a> {
    /// What was read of the log.
    pub recording: &'a Recording,
    /// What earlier questions left.
    pub cache: &'a HeapCache,
}

impl<'a> HeapLog<'a> {
    /// What a band is called for other programs: its label in the log; a stack by the names
    /// of its cost centres, innermost first.
    #[must_use]
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

    /// The profile of a choice, if the log has it.
    #[must_use]
    pub fn profile(self, choice: &HeapChoice) -> Option<&'a HeapProfile> {
        self.recording.heap().get(choice.profile as usize)
    }

    /// The bands of a choice, also those that it does not let through.
    #[must_use]
    pub fn bands(self, choice: &HeapChoice) -> Option<Arc<Bands>> {
        self.cache
            .bands(self.recording, choice.profile, choice.group)
    }

    /// The bands that were chosen of a range, or of the whole profile; `None` if
    /// the log has no such profile. Profiles without times have no ranges.
    #[must_use]
    pub fn chosen(self, choice: &HeapChoice, range: Option<Interval>) -> Option<Chosen> {
        let bands = self.bands(choice)?;
        let profile = self.profile(choice)?;
        let places = bands.known(profile.places(range, self.recording.end()));
        let ranking = self.cache.ranking(&bands, profile, places);
        Some(Chosen::of(bands, ranking, choice))
    }
}

impl Chosen {
    /// For each of some censuses the bands in it that are shown by themselves, by their places
    /// among those, with their bytes.
    #[must_use]
    pub fn by_census(&self, profile: &HeapProfile, part: &Range<u32>) -> Vec<Vec<(usize, u64)>> {
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

    fn of(bands: Arc<Bands>, ranking: Arc<Ranking>, choice: &HeapChoice) -> Self {
        let wanted = bands.wanted(choice);
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
            left_out: only_hidden.then(|| bands.of_keys(&choice.hidden)),
            profile: choice.profile,
            bands,
            ranking,
            shown: order,
            others,
            pinned: choice.pinned.clone(),
        }
    }

    /// What the bands that are shown as one hold together in each of some censuses
    /// of their profile.
    #[must_use]
    pub fn others_in(&self, profile: &HeapProfile, places: Range<u32>) -> Vec<u64> {
        let censuses = self.bands.censuses(profile);
        let Some(left_out) = &self.left_out else {
            return censuses.sum_of(self.others.iter().copied(), places);
        };
        // All but a few: it is less work to take those from the totals.
        let few = self.shown.iter().chain(left_out).copied();
        let few = censuses.sum_of(few, places.clone());
        let totals = places.zip(few).map(|(census, few)| {
            let total = censuses.totals().get(census as usize).copied();
            total.unwrap_or_default().saturating_sub(few)
        });
        totals.collect()
    }
}
